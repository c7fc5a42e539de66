"""A worker's own port: metrics, health, and the outbox that only its log told of."""

import json
import socket
import subprocess

import httpx

from Fixtures.processes.node import BINARY, ENVIRONMENT
from Fixtures.waiting import eventually


def ask(worker, path, **options):
    ops = json.loads(worker.ready_path.read_text())["ops"][0]
    return httpx.get(f"http://{ops['host']}:{ops['port']}{path}", timeout=5, trust_env=False, **options)


def figures(worker):
    text = ask(worker, "/metrics").text
    return {line.split(" ")[0]: float(line.split(" ")[1]) for line in text.splitlines() if not line.startswith("#")}


def test_the_outbox_can_be_watched(worker, server):
    """The outbox's figures were in the worker's log only, once a minute."""
    one = worker("--worker-ops", "127.0.0.1:0", server=server)
    with server.client() as db:
        eventually(lambda: "switchboard_outbox_entries" in figures(one), 10, "the outbox's length")
        first = figures(one)
        assert (first["switchboard_outbox_entries"], first["switchboard_outbox_dead_entries"]) == (0, 0)
        assert first["switchboard_worker_ready"] == 1 and first["switchboard_workers"] == 1
        assert first["switchboard_worker_partitions"] == 65
        # A call of a command that no worker knows is given up.
        db.xadd("#outbox", {"c": "unknown_to_all", "a": "{}"})
        db.publish("#outbox", "1")
        eventually(lambda: figures(one)["switchboard_worker_outbox_dead_total"] == 1, 10, "a dead entry")
        eventually(lambda: figures(one)["switchboard_outbox_dead_entries"] == 1, 15, "it is counted in Redis")


def test_health_follows_redis(worker, server):
    one = worker("--worker-ops", "127.0.0.1:0", server=server)
    assert ask(one, "/readyz").json() == {"status": "ready"}
    server.stop()
    eventually(lambda: ask(one, "/readyz").status_code == 503, 10, "not ready")
    assert ask(one, "/readyz").json()["reason"] in ("disconnected", "timeout", "starting")
    assert ask(one, "/livez").status_code == 200
    server.start()
    eventually(lambda: ask(one, "/readyz").status_code == 200, 10, "ready again")


def test_what_else_is_asked_is_refused(worker, server):
    one = worker("--worker-ops", "127.0.0.1:0", server=server)
    assert ask(one, "/").status_code == 404
    ops = json.loads(one.ready_path.read_text())["ops"][0]
    assert httpx.post(f"http://{ops['host']}:{ops['port']}/metrics", trust_env=False).status_code == 405
    with socket.create_connection((ops["host"], ops["port"]), timeout=5) as raw:
        raw.sendall(b"nonsense\r\n\r\n")
        assert raw.recv(4096).startswith(b"HTTP/1.1 400 ")
    # More connections than it takes at once hurt nobody.
    crowd = [socket.create_connection((ops["host"], ops["port"]), timeout=5) for _ in range(80)]
    for raw in crowd:
        raw.close()
    assert eventually(lambda: ask(one, "/livez").status_code == 200, 10)


def test_a_worker_without_the_flag_has_no_port(worker, server):
    assert "ops" not in json.loads(worker(server=server).ready_path.read_text())


def test_an_address_that_is_taken_is_told_at_the_start(server):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        done = subprocess.run(
            [str(BINARY), "worker", "--redis", server.url, "--worker-ops", address], capture_output=True, text=True,
            timeout=30, env=ENVIRONMENT)
    assert done.returncode == 1 and f"cannot listen on {address}" in done.stderr
