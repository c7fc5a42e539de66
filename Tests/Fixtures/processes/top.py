"""`switchboard top`: run once for its text, or in a terminal of its own."""

import subprocess

import pytest

from Fixtures.processes.asked_fleet import Fleet
from Fixtures.processes.node import BINARY, ENVIRONMENT
from Fixtures.processes.terminal import TerminalProcess

# A busy machine answers late.
PATIENT = ("--limit", "fleetWaitMs=5000")


@pytest.fixture(scope="module")
def fleet(tmp_path_factory, certificate):
    """Two gateways, with what belongs to them."""
    with Fleet(tmp_path_factory.mktemp("fleet"), certificate, count=2) as fleet:
        fleet.all_nodes(0)
        yield fleet


@pytest.fixture(scope="module")
def nodes(fleet):
    """The rows of both gateways."""
    return [fleet.node(0), fleet.node(1)]


def top(url, *flags, **environment):
    """Runs it to its end."""
    return subprocess.run(
        [BINARY, "top", "--redis", url, *PATIENT, *flags], capture_output=True, text=True, timeout=40,
        env=ENVIRONMENT | {"LANG": "C.UTF-8"} | environment, stdin=subprocess.DEVNULL)


def once(url, *flags):
    """The lines of one text; it must succeed, and say nothing else."""
    run = top(url, "--once", *flags)
    assert (run.returncode, run.stderr) == (0, ""), run.stderr
    return run.stdout.splitlines()


def fails(url, *flags):
    """The one sentence for which there is no text."""
    run = top(url, "--once", *flags)
    assert (run.returncode, run.stdout) == (1, ""), run.stdout
    lines = run.stderr.splitlines()
    assert len(lines) == 1 and lines[0].startswith("switchboard: "), run.stderr
    return lines[0]


def on_screen(url, *flags, **options):
    """It in a terminal."""
    return TerminalProcess([str(BINARY), "top", "--redis", url, "--interval", "1", *PATIENT, *flags], **options)


def name_of(gateway):
    """The id of a gateway."""
    with gateway.http() as http:
        return http.get("/v1/health").json()["node"]


def row(lines, node):
    """The line of a node."""
    found = [line for line in lines if line.startswith(node)]
    assert len(found) == 1, lines
    return found[0]
