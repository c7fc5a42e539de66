"""The surface of the product against `Tests/Golden`: what a refactoring must not change, and a change must show.

`GOLDEN=write` writes the files anew; the difference belongs into the same commit.
"""

import hashlib
import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from Fixtures.clients import generated_requests
from Fixtures.processes.node import BINARY, ENVIRONMENT
from Fixtures.waiting import eventually

GOLDEN = Path(__file__).resolve().parents[1] / "Golden"


def compare(name, text):
    path = GOLDEN / name
    if os.environ.get("GOLDEN") == "write":
        path.write_text(text)
    assert text.splitlines() == path.read_text().splitlines(), f"GOLDEN=write writes {name} anew"


def metric_lines(page):
    """Each metric with its type and meaning; labels come and go with the traffic."""
    return sorted(line for line in page.splitlines() if line.startswith("# "))


@pytest.fixture(scope="module")
def described(tmp_path_factory, shared_server, certificate):
    gateway = generated_requests.serve(tmp_path_factory.mktemp("golden"), shared_server.url, certificate)
    yield gateway
    gateway.stop()


def prints(node, *path, depth):
    """A line for each part of a document at a depth: its place, and the beginning of its digest."""
    if depth and isinstance(node, dict):
        return [line for name in sorted(node) for line in prints(node[name], *path, name, depth=depth - 1)]
    text = json.dumps(node, sort_keys=True).encode()
    return [f"{' '.join(path)} {hashlib.sha256(text).hexdigest()[:16]}"]


def test_the_description_of_all_routes_is_the_same(described):
    """An operation each line, and each schema; the whole is a megabyte."""
    compare("openapi.txt", "\n".join(prints(generated_requests.document(described), depth=3)) + "\n")


def test_each_process_has_the_same_metrics(gateway, worker):
    # Some families begin once their first answer of Redis is there: the page is compared when all have.
    late = ("switchboard_calls_dead_entries", "switchboard_couriers_live", "switchboard_outbox_entries",
            "switchboard_workers_live", "switchboard_redis_used_bytes")
    node, derives = gateway(), worker("--worker-ops", "127.0.0.1:0")
    eventually(lambda: all(name in node.metrics().text for name in late), 30, "every family of metrics")
    eventually(lambda: "switchboard_worker_scan_seconds" in derives.metrics().text, 30, "the worker's first scan")
    pages = [node.metrics().text, derives.metrics().text]
    compare("metrics.txt", "\n".join(line for page in pages for line in metric_lines(page)) + "\n")


def test_the_help_of_all_commands_is_the_same():
    """Flags, their defaults and their meaning."""
    run = lambda *words: subprocess.run(  # noqa: E731
        [BINARY, *words], capture_output=True, text=True, check=True, env=ENVIRONMENT).stdout
    whole = run("help")
    commands = re.findall(r"^  ([a-z-]+)  ", whole, re.M)
    texts = [whole] + [run("help", command) for command in commands if command not in ("help", "version")]
    compare("help.txt", "\n".join(texts))
