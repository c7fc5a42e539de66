"""clients/js: the table of conformance, the module that is made of its sources, and Node at a real gateway."""

import gzip
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from Fixtures.clients.js_client import CLIENT, InNode, lives_through, renews_its_token

ROOT = Path(__file__).resolve().parents[2]
# What a page loads, as a server sends it.
MODULE_BYTES_MAX = 15_000


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


def test_random_histories_and_the_promises_around_the_machine(node):
    """A model of a gateway that cuts, drains and forgets; then sockets and storages that a test plays."""
    node("--test", CLIENT / "test/histories.js", CLIENT / "test/client.js")


def test_hostile_storages(node):
    """Full at marking, torn, without an end: what the caller is told is what happens, also after a restart."""
    node("--test", CLIENT / "test/storage.js")


def test_odd_values_end_with_their_caller(node):
    """A BigInt in `track`, `call` or `publish` once left a client that heard nothing and could not be stopped."""
    node("--test", CLIENT / "test/fuzz.js")


def test_the_module_is_what_its_sources_make():
    subprocess.run([sys.executable, ROOT / "scripts/join-js.py", "--check"], check=True)
    assert len(gzip.compress((CLIENT / "switchboard.js").read_bytes(), 9)) < MODULE_BYTES_MAX


def test_the_types_are_those_of_the_module():
    """What the types export is there, and programs that use it as they should pass a strict compiler."""
    module = (CLIENT / "switchboard.js").read_text()
    exported = set(re.search(r"^export \{ (.*) \};$", module, re.MULTILINE)[1].split(", "))
    types = (CLIENT / "index.d.ts").read_text()
    assert exported == set(re.findall(r"^export (?:class|function) (\w+)", types, re.MULTILINE))
    compiler = shutil.which("tsc") or pytest.fail("no tsc on PATH (scripts/packages.sh test installs it)")
    options = ("--noEmit", "--strict", "--target", "es2022", "--module", "es2022", "--moduleResolution", "node",
               "--lib", "es2022,dom,dom.iterable", "--skipDefaultLibCheck")
    done = subprocess.run([compiler, *options, CLIENT / "test/uses.ts"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout


@pytest.fixture
def start(gateway):
    """Starts a gateway, at the port of another if one is given."""
    return lambda port=0, **more: gateway(listen=f"127.0.0.1:{port}", **more)


def test_in_node_nothing_is_missed_or_done_twice(certificate, start, token):
    with InNode(certificate) as driven:
        lives_through(lambda _: driven, start, token, "js-node")


def test_in_node_a_token_is_renewed(certificate, start, token):
    with InNode(certificate) as driven:
        renews_its_token(lambda _: driven, start, token)
