"""scripts/packages.sh: a Debian with the toolchain, and with the packages that it names, builds the gateway."""

import os
import re
import shutil
import subprocess

import pytest

from Fixtures.processes.packages import SCRIPT, named_packages

ROOT = SCRIPT.parents[1]


@pytest.mark.skipif(not shutil.which("dpkg-query"), reason="the packages are Debian's")
def test_every_library_of_the_link_is_in_a_package_that_is_named():
    """A fresh Debian with what swift.org lists for the toolchain compiled for minutes, then could not link."""
    libraries = set(re.findall(r'linkedLibrary\("([^"]+)"', (ROOT / "Package.swift").read_text()))
    assert {"ssl", "hiredis", "curl", "z"} <= libraries
    # The Swift runtime that is linked in is partly C++.
    for library in sorted(libraries | {"stdc++"}):
        found = subprocess.run(["gcc", f"-print-file-name=lib{library}.so"], capture_output=True, text=True,
                               check=True).stdout.strip()
        assert found.startswith("/"), f"lib{library}.so is not here"
        owner = subprocess.run(["dpkg-query", "--search", os.path.normpath(found)], capture_output=True, text=True,
                               check=True).stdout.split(":")[0]
        assert owner in named_packages("build"), f"lib{library}.so is in {owner}, which no list names"


def test_each_kind_asks_for_what_the_gateway_needs_and_says_what_is_missing(tmp_path):
    """Run as on a Debian where nothing is installed, by a user who may install nothing."""
    programs = {"swift": "exit 0", "dpkg-query": "exit 1", "id": "echo 1000", "apt-get": "exit 9"}
    for name, text in programs.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / name).chmod(0o755)
    for kind in ("build", "test", "bench", "release"):
        done = subprocess.run([shutil.which("bash"), SCRIPT, kind], env={"PATH": str(tmp_path)}, capture_output=True,
                              text=True, timeout=10)
        assert done.returncode == 1, done.stderr
        advice = re.search(r"as root, run: apt-get install -y (.*)$", done.stderr, re.M)
        assert named_packages("build") | named_packages(kind) <= set(advice[1].split()), done.stderr
