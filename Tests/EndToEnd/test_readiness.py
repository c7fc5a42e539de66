"""The table of readiness: each row is broken by its real cause, told in words, mended, and told again.

Without the table a gateway stayed ready, and silent, while Redis evicted its revocations or could not tell them.
"""

import dataclasses
import datetime
import json
import re
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from Fixtures.clients.certificates import write_certificate
from Fixtures.processes.gateway import API_KEY
from Fixtures.waiting import eventually

ROOT = Path(__file__).resolve().parents[2]
QUICK = {"redisProbeMs": 100, "rightsPollMs": 100}
MEGABYTE = 1 << 20


def config(name, value):
    """Sets a value at a running Redis."""
    def set_value(server):
        with server.client() as db:
            db.config_set(name, value)
    return set_value


def forbid_revocations(server):
    """The key of the revocations is another type: nobody can tell what was revoked."""
    with server.client() as db:
        db.set("#revoked", "x")


def allow_revocations(server):
    with server.client() as db:
        db.delete("#revoked")


def evict(server):
    """A Redis that is a cache: its oldest keys go."""
    with server.client() as db:
        db.config_set("maxmemory-policy", "allkeys-lru")
        db.config_set("maxmemory", db.info("memory")["used_memory"] + 4 * MEGABYTE)
        for number in range(20):
            db.set(f"filler:{number}", b"x" * MEGABYTE)
        assert db.info("stats")["evicted_keys"] > 0


def keep(server):
    with server.client() as db:
        db.config_set("maxmemory", 0)
        db.config_set("maxmemory-policy", "noeviction")


def fill(server):
    with server.client() as db:
        db.config_set("maxmemory", int(db.info("memory")["used_memory"] / 0.95))


@dataclasses.dataclass
class Case:
    """A row, its cause and its mend."""
    row: str
    is_red: bool
    spoil: Callable
    mend: Callable
    # Words of the log when it breaks.
    words: str
    redis: tuple = ()
    limits: dict = dataclasses.field(default_factory=dict)

    def __str__(self):
        return f"{self.row}-{self.words.split()[0]}"


CASES = [
    Case("rights", True, forbid_revocations, allow_revocations, "changes of rights cannot be read"),
    Case("redis_eviction", False, config("maxmemory-policy", "allkeys-lru"), keep, "redis may evict keys"),
    Case("redis_eviction", False, evict, keep, "redis has evicted keys", limits={"evictionWarnMs": 2_000}),
    Case("redis_memory", False, fill, keep, "redis is near its maxmemory"),
    Case("redis_persistence", False, config("appendonly", "no"), config("appendonly", "yes"),
         "redis no longer writes its append-only file", redis=("--appendonly", "yes")),
]


def state(gw, row):
    """What `/v1/health` says of a row."""
    with gw.http() as http:
        rows = {one["name"]: one for one in http.get("/v1/health").json()["rows"]}
    return rows[row]


def is_told(gw, row, is_red):
    """Whether `/readyz` names the row, and `/v1/health` and the metric agree with it."""
    answer = gw.ops("/readyz")
    body = answer.json()
    if is_red:
        named = answer.status_code == 503 and row in body["reasons"]
    else:
        named = answer.status_code == 200 and row in [one["name"] for one in body.get("warnings", ())]
    return named and state(gw, row)["state"] == ("red" if is_red else "warned") and \
        gw.metric("switchboard_ready", row=row) == 0


def is_fine(gw, row):
    """Whether the node is ready and nothing is said of the row."""
    answer = gw.ops("/readyz")
    return answer.status_code == 200 and f'"{row}"' not in answer.text and \
        state(gw, row)["state"] == "fine" and gw.metric("switchboard_ready", row=row) == 1


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_row_is_told_while_its_promise_is_broken(gateway, server, case):
    server.stop()
    server.start(*case.redis)
    gw = gateway(server=server, limits=QUICK | case.limits)
    assert is_fine(gw, case.row)
    # The first look of all has to be over: evictions and switches are differences between two.
    eventually(lambda: "switchboard_redis_used_bytes{" in gw.metrics().text, 10, "a look at Redis")
    case.spoil(server)
    eventually(lambda: is_told(gw, case.row, case.is_red), 10, f"{case.row} told")
    eventually(lambda: case.words in gw.log_text, 5, "the log")
    health = state(gw, case.row)
    assert health["mend"] and health["since"]
    case.mend(server)
    eventually(lambda: is_fine(gw, case.row), 15, f"{case.row} fine again")


def test_persistence_that_was_switched_is_told_until_redis_restarts(gateway, server):
    """Such a run has lost the proof that it syncs every write, for good."""
    server.stop()
    server.start("--appendonly", "yes", "--appendfsync", "always")
    gw = gateway(server=server, limits=QUICK)
    with server.client() as db:
        eventually(lambda: db.exists("#sealed"), 10, "the seal")
    config("appendonly", "no")(server)
    eventually(lambda: state(gw, "redis_persistence")["reason"] == "appendonly", 10, "the switch told")
    config("appendonly", "yes")(server)
    eventually(lambda: state(gw, "redis_persistence")["reason"] == "sync", 10, "the run told")
    server.stop()
    server.start("--appendonly", "yes", "--appendfsync", "always")
    eventually(lambda: is_fine(gw, "redis_persistence"), 15, "fine again")


def test_no_live_worker_is_warned_of(gateway, worker, server):
    """Dead entries of `#workers` count for nothing."""
    with server.client() as db:
        db.zadd("#workers", {"dead": 1})
    gw = gateway(server=server, limits=QUICK | {"workersMissingMs": 500})
    eventually(lambda: is_told(gw, "workers", False), 10, "the warning")
    assert gw.metric("switchboard_workers_live") == 0 and "no worker is alive" in gw.log_text
    worker(server=server)
    eventually(lambda: is_fine(gw, "workers"), 10, "fine again")
    assert gw.metric("switchboard_workers_live") == 1


def test_a_certificate_near_its_end_is_warned_of(gateway, server, tmp_path):
    made = write_certificate(tmp_path, ends=datetime.timedelta(days=2))
    gw = gateway(server=server, certificate=made)
    eventually(lambda: is_told(gw, "certificate", False), 10, "the warning")
    assert "the certificate ends soon" in gw.log_text
    left = gw.metric("switchboard_certificate_ends_seconds") - datetime.datetime.now().timestamp()
    assert 86_400 < left <= 2 * 86_400
    write_certificate(tmp_path, ends=datetime.timedelta(days=90))
    gw.signal(signal.SIGHUP)
    eventually(lambda: not gw.ops("/readyz").json().get("warnings"), 10, "fine again")


def test_health_is_told_to_services_alone(gw, token):
    with gw.http(key=None) as http:
        assert http.get("/v1/health").status_code == 401
        mine = {"authorization": f"Bearer {token('ann')}"}
        assert http.get("/v1/health", headers=mine).status_code == 403
        answer = http.get("/v1/health", headers={"apikey": API_KEY}).json()
    assert answer["status"] == "ready" and answer["node"] and answer["version"] and answer["uptimeSeconds"] >= 0
    assert {"redis", "rights", "memory", "descriptors", "outbox"} <= {row["name"] for row in answer["rows"]}


def test_the_page_lists_the_rows_of_the_code():
    """Name, severity, log line and mend of `docs/readiness.md` are those of the code."""
    code = (ROOT / "Sources/Operations/ReadinessRow.swift").read_text()
    page = (ROOT / "docs/readiness.md").read_text()
    cases = re.findall(r"^    case (\w+)(?: = \"(\w+)\")?$", code, re.M)
    names = [raw or name for name, raw in cases]
    rows = [[cell.strip() for cell in line.strip("|").split("|")]
            for line in page.splitlines() if line.startswith("| `") and line.count("|") == 7]
    assert [row[0].strip("`") for row in rows] == names
    red = re.search(r"case ((?:\.\w+,?\s*)+): \.red", code)[1]
    for (name, _), row in zip(cases, rows, strict=True):
        assert row[1] == ("red" if f".{name}" in re.findall(r"\.\w+", red) else "warned"), row
        log = re.search(rf"case \.{name}:\s*\((\"[^\"]+\"),", code)
        if log:
            assert json.loads(log[1]) in row[4], row
