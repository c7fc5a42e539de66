"""The files of a release: what is in them, what they need, and that they tell nothing of where they were built."""

import hashlib
import json
import os
import re
import subprocess
import tarfile

import pytest

from Fixtures.processes import deploy_files
from Fixtures.processes.node import BINARY
from Fixtures.processes.released import EPOCH, ROOT, run

PROGRAMS = ("switchboard", "switchboard-courier")
# The loader, which Debian counts to the C library.
LOADER = "ld-linux-x86-64.so.2"

pytestmark = pytest.mark.shipped


@pytest.fixture(scope="module")
def files(released, tmp_path_factory):
    """The package's files."""
    return released.unpacked(tmp_path_factory.mktemp("unpacked") / "files")


@pytest.fixture(scope="module")
def bill(released):
    return json.loads(released.file(".cdx.json").read_text())


def members(archive: tarfile.TarFile, strip: int) -> dict[str, tuple]:
    """By name without its first parts: kind, mode, owner, time, digest of the bytes."""
    found = {}
    for one in archive:
        name = "/".join(one.name.split("/")[strip:])
        body = hashlib.sha256(archive.extractfile(one).read()).hexdigest() if one.isfile() else ""
        found[name] = (one.type, oct(one.mode), one.uid, one.gid, one.mtime, body)
    found.pop("", None)
    return found


def needed(program) -> set[str]:
    return set(re.findall(r"\(NEEDED\).*\[(.*)\]", run("readelf", "--dynamic", "--wide", program).stdout))


def test_the_release_is_whole_and_its_sums_are_right(released):
    names = {path.name for path in released.folder.iterdir()}
    assert names == {"Containerfile", "SHA256SUMS"} | {
        released.name + ending for ending in (".deb", ".tar.xz", ".debug.tar.xz", ".cdx.json")}
    sums = dict(reversed(line.split("  ")) for line in (released.folder / "SHA256SUMS").read_text().splitlines())
    assert set(sums) == names - {"SHA256SUMS"}
    for name, digest in sums.items():
        assert hashlib.sha256((released.folder / name).read_bytes()).hexdigest() == digest, name
    done = run("sha256sum", "--check", "--strict", "SHA256SUMS", cwd=released.folder)
    assert done.stdout.count(": OK") == len(sums)


def test_the_tarball_has_the_packages_files_with_one_owner_and_one_time(released):
    package = subprocess.Popen(["dpkg-deb", "--fsys-tarfile", released.package], stdout=subprocess.PIPE)
    with tarfile.open(fileobj=package.stdout, mode="r|") as archive:
        in_package = members(archive, 1)
    assert package.wait(30) == 0
    with tarfile.open(released.file(".tar.xz")) as archive:
        assert members(archive, 1) == in_package
        names = archive.getnames()
    # Each folder stands before the file whose name goes on behind its own.
    in_order = sorted(names, key=lambda name: name.split("/"))
    assert names == in_order and {name.partition("/")[0] for name in names} == {released.name}
    for name, (kind, mode, owner, group, time, _) in in_package.items():
        assert (owner, group, time) == (0, 0, EPOCH), name
        assert kind in (tarfile.REGTYPE, tarfile.DIRTYPE) and not int(mode, 8) & 0o6022, f"{name}: {mode}"


@pytest.mark.thorough
def test_a_second_release_of_the_same_programs_is_the_same(released, tmp_path):
    """No time, order, owner or folder of this run is in it. `make reproducible` also compiles a second time."""
    again = tmp_path / "elsewhere" / "again"
    run(ROOT / "scripts/release.sh", "--binaries", BINARY.absolute().parent, "--out", again, "--level", "0",
        env=os.environ | {"SOURCE_DATE_EPOCH": str(EPOCH), "TMPDIR": str(tmp_path)}, cwd=tmp_path)
    assert (again / "SHA256SUMS").read_text() == (released.folder / "SHA256SUMS").read_text()


def test_nothing_names_the_folder_in_which_it_was_built(released, files, tmp_path):
    """The symbols for a debugger name sources by the project's own folders."""
    run("tar", "--extract", "--file", released.file(".debug.tar.xz"), "--directory", tmp_path)
    symbols = [tmp_path / f"{released.name}.debug" / f"{name}.debug" for name in PROGRAMS]
    places = {str(ROOT).encode(), os.path.expanduser("~").encode() + b"/.", str(tmp_path.parent).encode()}
    # Their names are made of the name or the path of the folder.
    places |= {b".build/plugins/outputs/", b"/release/ModuleCache/"}
    for path in [*symbols, *(path for path in files.rglob("*") if path.is_file())]:
        found = {place for place in places if place in path.read_bytes()}
        assert not found, f"{path}: {found}"
    assert b"switchboard/Sources/Core/" in symbols[0].read_bytes()


def test_objects_have_no_digest_of_their_path(tmp_path):
    """The compiler's digest covers the object's path. Those of the toolchain's own objects are everywhere the same."""
    objects = sorted((BINARY.parent / "Core.build").glob("*.o"))
    if not objects:
        pytest.skip("the programs were compiled elsewhere")
    for number, path in enumerate(objects):
        digest = tmp_path / f"{number}.digest"
        run("objcopy", "--dump-section", f".swift_modhash={digest}", path, tmp_path / "copy")
        assert digest.stat().st_size == 16 and not digest.read_bytes().strip(b"\0"), path


def test_programs_have_no_symbols_and_a_debugger_finds_them(released, files, tmp_path):
    run("tar", "--extract", "--file", released.file(".debug.tar.xz"), "--directory", tmp_path)
    for name in PROGRAMS:
        program = files / "usr/bin" / name
        symbols = tmp_path / f"{released.name}.debug" / f"{name}.debug"
        numbers = [re.search(r"Build ID: (\w+)", run("readelf", "--notes", path).stdout)[1]
                   for path in (program, symbols)]
        assert numbers[0] == numbers[1]
        assert ".symtab" not in run("readelf", "--sections", "--wide", program).stdout
        assert re.search(r" main$", run("readelf", "--symbols", "--wide", symbols).stdout, re.M)


def test_programs_need_what_the_package_depends_on(released, files):
    depends = run("dpkg-deb", "--field", released.package, "Depends").stdout
    names = {re.match(r"[^ ]+", one.strip())[0] for one in depends.split(",")}
    libraries = set()
    for name in PROGRAMS:
        dynamic = run("readelf", "--dynamic", "--wide", files / "usr/bin" / name).stdout
        assert "RUNPATH" not in dynamic and "RPATH" not in dynamic
        libraries |= needed(files / "usr/bin" / name)
    owners = {run("dpkg-query", "--search", f"*/{library}").stdout.partition(":")[0]
              for library in libraries - {LOADER}}
    # Beside them the program that makes the user.
    assert names == owners | {"passwd"}
    assert all(">=" in one for one in depends.split(",") if one.strip() != "passwd")


def test_the_bill_names_each_library_with_its_version(released, files, bill):
    assert (bill["bomFormat"], bill["specVersion"], bill["version"]) == ("CycloneDX", "1.5", 1)
    assert re.fullmatch(r"urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}",
                        bill["serialNumber"])
    product = bill["metadata"]["component"]
    assert (product["name"], product["version"], product["type"]) == ("switchboard", released.version, "application")
    components = {one["name"]: one for one in bill["components"]}
    swift = re.search(r"Swift version (\S+)", run("swift", "--version").stdout)[1]
    assert components["swift-runtime"]["version"] == swift
    links = {one["ref"]: set(one["dependsOn"]) for one in bill["dependencies"]}
    libraries = set()
    for name in PROGRAMS:
        program = files / "usr/bin" / name
        entry = components[f"usr/bin/{name}"]
        assert entry["hashes"] == [
            {"alg": "SHA-256", "content": hashlib.sha256(program.read_bytes()).hexdigest()}]
        owners = {run("dpkg-query", "--search", f"*/{library}").stdout.partition(":")[0]
                  for library in needed(program) - {LOADER}}
        assert links[entry["bom-ref"]] == {components[one]["bom-ref"] for one in owners | {"swift-runtime"}}
        libraries |= owners
    for name in libraries:
        version = run("dpkg-query", "--show", "--showformat", "${Version}\n", name).stdout.split("\n")[0]
        assert components[name]["version"] == version, name
    assert {"libssl3", "libhiredis0.14", "zlib1g", "libcurl4"} <= libraries
    assert set(components) == libraries | {"swift-runtime"} | {f"usr/bin/{name}" for name in PROGRAMS}


def test_the_bill_is_one_that_tools_can_read(released, files, bill):
    """What CycloneDX demands of a bill: unique references that lead somewhere, and a license for each component."""
    references = [one["bom-ref"] for one in bill["components"]] + [bill["metadata"]["component"]["bom-ref"]]
    assert len(references) == len(set(references))
    for one in bill["dependencies"]:
        assert {one["ref"], *one["dependsOn"]} <= set(references)
    for one in bill["components"]:
        assert one["type"] in ("file", "library") and one["name"] and one["version"]
        assert one["type"] == "file" or (one["licenses"][0]["expression"] and one["purl"].startswith("pkg:"))
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", bill["metadata"]["timestamp"])
    inside = files / "usr/share/doc/switchboard/switchboard.cdx.json"
    assert inside.read_bytes() == released.file(".cdx.json").read_bytes()


def test_the_container_file_installs_the_package_beside_it(released):
    text = (released.folder / "Containerfile").read_text()
    assert set(re.findall(r"switchboard_\S*?\.deb", text)) == {released.package.name}
    sources = deploy_files.stages()["switchboard"]
    assert re.search(r"^FROM (\S+)$", text, re.M)[1] == sources.base
    assert re.search(r"^USER (\d+)$", text, re.M)[1] == sources.user and f"--uid {sources.user} " in text
    assert re.search(r"^STOPSIGNAL (\S+)$", text, re.M)[1] == sources.stop_signal
    assert json.loads(re.search(r"^ENTRYPOINT (.*)$", text, re.M)[1]) == ["/usr/bin/switchboard"]
    # Both images have what the health check of compose.yaml is called, on the path.
    assert (ROOT / "deploy/health").read_bytes() and "switchboard-health" in " ".join(
        target for _, _, target in sources.copies)


def test_a_release_of_other_programs_than_the_sources_is_refused(tmp_path):
    for name in PROGRAMS:
        (tmp_path / name).write_text("#!/bin/sh\necho switchboard 0.0.1\n")
        (tmp_path / name).chmod(0o755)
    done = run(ROOT / "scripts/release.sh", "--binaries", tmp_path, "--out", tmp_path / "dist", check=False,
               env=os.environ | {"SOURCE_DATE_EPOCH": str(EPOCH)})
    assert done.returncode == 1 and "build it anew" in done.stderr
    assert not (tmp_path / "dist").exists()
