"""clients/js: the table of conformance, and the module that is made of its sources."""

import gzip
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CLIENT = ROOT / "clients/js"
# What a page loads, as a server sends it.
MODULE_BYTES_MAX = 12_288


@pytest.fixture(scope="module")
def node():
    """Runs a program of Node, and returns what it said."""
    path = shutil.which("node") or pytest.fail("no node on PATH (scripts/packages.sh test installs it)")

    def run(*arguments, **options):
        done = subprocess.run([path, *map(str, arguments)], capture_output=True, text=True, timeout=60, **options)
        assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-4000:]
        return done.stdout

    return run


def test_the_table_of_conformance(node):
    """Every case, in time of its own, with the shortest, the middle and the longest of all random pauses."""
    said = node("--test", "--test-reporter=tap", CLIENT / "test/conformance.js")
    played = set(re.findall(r"^ *# Subtest: (.*) \(\d", said, re.MULTILINE))
    named = {name for file in sorted((ROOT / "clients/conformance").glob("[0-9]*.json"))
             for name in re.findall(r'^ *"name": "(.*)",$', file.read_text(), re.MULTILINE)}
    assert played == named and named


def test_the_module_is_what_its_sources_make():
    subprocess.run([sys.executable, ROOT / "scripts/join-js.py", "--check"], check=True)
    assert len(gzip.compress((CLIENT / "switchboard.js").read_bytes(), 9)) < MODULE_BYTES_MAX
