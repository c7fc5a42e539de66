#!/usr/bin/env python3
"""Writes the bill of materials of built programs, as CycloneDX 1.5: what they link, and from which package it comes.

usage: scripts/sbom.py --version VERSION PROGRAM...

Libraries are those that the programs themselves name (`readelf --dynamic`), with the version of the Debian package that
has them here. The Swift runtime is inside the programs. SOURCE_DATE_EPOCH is the time of the bill.
"""

import argparse
import datetime
import hashlib
import json
import os
import re
import subprocess
import sys
import uuid
from pathlib import Path

SWIFT = "pkg:generic/swift-runtime"
#: Licenses by the source package's name; a library of another one is an error, so that somebody looks.
LICENSES = {
    "curl": "curl", "gcc-12": "GPL-3.0-or-later WITH GCC-exception-3.1", "glibc": "LGPL-2.1-or-later",
    "hiredis": "BSD-3-Clause", "openssl": "Apache-2.0", "zlib": "Zlib",
}


def said(*words: str) -> str:
    return subprocess.run(words, check=True, capture_output=True, text=True, env=os.environ | {"LC_ALL": "C"}).stdout


def libraries(program: Path) -> set[str]:
    """The shared libraries that a program names."""
    return set(re.findall(r"\(NEEDED\).*\[(.*)\]", said("readelf", "--dynamic", "--wide", str(program))))


def owner(library: str, program: Path) -> str:
    """The package of a library, at the place where the loader finds it."""
    found = re.search(rf"{re.escape(library)} => (\S+)", said("ldd", str(program)))
    # The loader itself stands without an arrow.
    path = found[1] if found else re.search(rf"(\S*{re.escape(library)}) ", said("ldd", str(program)))[1]
    for name in dict.fromkeys([path, os.path.realpath(path), path.removeprefix("/usr"), "/usr" + path]):
        result = subprocess.run(["dpkg-query", "--search", name], capture_output=True, text=True)
        if result.returncode == 0:
            return result.stdout.partition(": ")[0].split(",")[0]
    sys.exit(f"sbom: no package has {path}")


def library_component(package: str) -> dict:
    fields = ("Package", "Version", "Architecture", "source:Package", "source:Version")
    name, version, architecture, source, source_version = said(
        "dpkg-query", "--show", "--showformat", "\t".join(f"${{{field}}}" for field in fields), package).split("\t")
    if source not in LICENSES:
        sys.exit(f"sbom: {name} comes from {source}, whose license is not known here")
    purl = f"pkg:deb/debian/{name}@{version}?arch={architecture}&upstream={source}@{source_version}"
    purl = purl.replace("+", "%2B").replace("~", "%7E")
    return {"type": "library", "bom-ref": purl, "name": name, "version": version, "scope": "required",
            "licenses": [{"expression": LICENSES[source]}], "purl": purl}


def swift_component() -> dict:
    version = re.search(r"Swift version (\S+)", said("swift", "--version"))[1]
    purl = f"{SWIFT}@{version}"
    return {"type": "library", "bom-ref": purl, "name": "swift-runtime", "version": version, "scope": "required",
            "description": "the Swift standard library and runtime, linked into the programs",
            "licenses": [{"expression": "Apache-2.0 WITH Swift-exception"}], "purl": purl}


def program_component(program: Path, version: str) -> dict:
    digest = hashlib.sha256(program.read_bytes()).hexdigest()
    return {"type": "file", "bom-ref": f"file:usr/bin/{program.name}", "name": f"usr/bin/{program.name}",
            "version": version, "hashes": [{"alg": "SHA-256", "content": digest}]}


def bill(programs: list[Path], version: str) -> dict:
    product = f"pkg:generic/switchboard@{version}"
    swift = swift_component()
    needs = {program: sorted({owner(library, program) for library in libraries(program)}) for program in programs}
    found = {package: library_component(package) for package in sorted(set().union(*needs.values()))}
    files = [program_component(program, version) for program in programs]
    dependencies = [{"ref": product, "dependsOn": [file["bom-ref"] for file in files]}]
    for file, packages in zip(files, needs.values(), strict=True):
        links = [swift["bom-ref"], *(found[package]["bom-ref"] for package in packages)]
        dependencies.append({"ref": file["bom-ref"], "dependsOn": sorted(links)})
    moment = datetime.datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), datetime.UTC)
    whole = {
        "$schema": "http://cyclonedx.org/schema/bom-1.5.schema.json", "bomFormat": "CycloneDX", "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "timestamp": moment.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "component": {"type": "application", "bom-ref": product, "name": "switchboard", "version": version,
                          "licenses": [{"expression": "Apache-2.0"}], "purl": product}},
        "components": [*files, swift, *found.values()], "dependencies": dependencies,
        # Libraries have libraries of their own, and Debian keeps those.
        "compositions": [{"aggregate": "incomplete", "assemblies": [product]}]}
    # One bill has one number, whoever makes it.
    number = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(whole, sort_keys=True))
    return whole | {"serialNumber": f"urn:uuid:{number}"}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--version", required=True)
    parser.add_argument("programs", nargs="+", type=Path)
    options = parser.parse_args()
    print(json.dumps(bill(options.programs, options.version), indent=2, sort_keys=True))
    return 0


if __name__ == "__main__":
    sys.exit(main())
