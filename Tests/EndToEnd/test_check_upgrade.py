"""`switchboard check --upgrade`: what an operator is told before a version is replaced, each from a real Redis."""

import json
import re
import subprocess
import time

import pytest

from Fixtures.clients.tokens import SECRET
from Fixtures.processes.gateway import API_KEY, Gateway
from Fixtures.processes.node import BINARY, ENVIRONMENT
from Fixtures.processes.ports import free_port
from Fixtures.redis.server import RedisServer
from Fixtures.waiting import eventually

NOTHING = "upgrade: nothing is to be changed"


@pytest.fixture
def server(tmp_path):
    """A Redis of its own: its processes must know of no others."""
    with RedisServer(tmp_path / "own").running() as server:
        yield server


def check(url: str, *flags: str) -> subprocess.CompletedProcess:
    return subprocess.run([str(BINARY), "check", "--upgrade", "--redis", url, "--listen-plain", "127.0.0.1:1", *flags],
                          capture_output=True, text=True, timeout=60, env=ENVIRONMENT)


def steps(done: subprocess.CompletedProcess) -> list[str]:
    return re.findall(r"^upgrade, step \d of \d: (.*)$", done.stdout, re.M)


def tell_of(db, *words: str) -> None:
    """Writes an entry as a live process of that kind, version and format does; its name is the text."""
    db.hset("#nodes", " ".join(words), f"{int(time.time() + 600) * 1_000} {' '.join(words)} 0")


def test_processes_of_an_earlier_version_are_replaced_in_this_order(server, gateway):
    gateway(server=server)
    assert NOTHING in check(server.url).stdout, "a gateway of this version is no step"
    with server.client() as db:
        for words in (("gateway", "0.0.9", "1"), ("worker", "0.0.9", "1"), ("worker", "0.0.8", "1")):
            tell_of(db, *words)
        done = check(server.url)
    assert done.returncode == 0, done.stdout
    [step] = steps(done)
    assert "1 worker of 0.0.8, 1 worker of 0.0.9, 1 gateway of 0.0.9" in step
    assert step.endswith("workers first, then couriers, then gateways.") and NOTHING not in done.stdout


def test_a_later_version_beside_is_told_with_the_way_back(server):
    with server.client() as db:
        tell_of(db, "gateway", "99.0.0", "1")
        tell_of(db, "courier", "99.0.0", "1")
        [step] = steps(check(server.url))
    assert "1 courier of 99.0.0, 1 gateway of 99.0.0" in step
    assert step.endswith("To roll back, replace them one by one: gateways first, then couriers, then workers.")


def test_the_nodes_of_a_cluster_are_asked_too(cluster):
    """Only the master that has the key of the live processes knows them."""
    owner = cluster.owner("{sb}#nodes")
    with owner.client() as db:
        try:
            db.hset("{sb}#nodes", "old", f"{int(time.time() + 600) * 1_000} worker 0.0.9 1 0")
            done = check(cluster.url)
            assert "processes of version 0.0.9 work on the same keys" in done.stdout
            assert any("1 worker of 0.0.9" in step for step in steps(done)), done.stdout
            db.hset("{sb}#nodes", "old", f"{int(time.time() + 600) * 1_000} worker 0.0.9 99 0")
            done = check(cluster.url, "--limit", "redisConnectMs=300", "--limit", "redisCallMs=300")
            assert done.returncode == 1
            assert f"127.0.0.1:{owner.port} cannot be used: format a worker of version 0.0.9" in done.stdout
        finally:
            db.hdel("{sb}#nodes", "old")


@pytest.mark.parametrize("mark", ["plain 2", "moving:plain 2"])
def test_data_of_a_later_format_are_refused_after_its_processes_have_ended(server, tmp_path, certificate, mark):
    """The mark stays in Redis: a way back to a version that would misread the data ends at once, and says why."""
    with server.client() as db:
        db.set("#layout", mark)
        done = check(server.url, "--limit", "redisConnectMs=300", "--limit", "redisCallMs=300")
        assert done.returncode == 1 and "cannot be used: format the data here have format 2" in done.stdout
        assert "upgrade: not known until the errors above are mended" in done.stdout and NOTHING not in done.stdout
        node = Gateway(tmp_path / "earlier", server.url, certificate, SECRET, limits={"listenGraceMs": 0})
        node.start()
        eventually(lambda: "the data here have format 2" in node.log_text, 10, "the refusal in the log")
        # Between two attempts it is `connecting`.
        answers = (node.ops("/readyz") for _ in iter(int, 1))
        answer = eventually(lambda: (one := next(answers)).json()["reason"] == "format" and one, 10, "the reason")
        assert answer.status_code == 503
        moved = subprocess.run(
            [str(BINARY), "move-data", "--from", server.url, "--to", server.url, "--redis-layout", "tagged"],
            capture_output=True, text=True, timeout=60, env=ENVIRONMENT)
        node.stop()
        assert moved.returncode != 0, moved.stdout
        moved = subprocess.run(
            [str(BINARY), "move-data", "--from", server.url, "--to", server.url, "--redis-layout", "tagged"],
            capture_output=True, text=True, timeout=60, env=ENVIRONMENT)
        assert moved.returncode != 0 and "the data here have format 2" in moved.stdout + moved.stderr
        assert db.get("#layout") == mark.encode(), "nobody has changed it"


def test_settings_that_this_version_does_not_have_are_named_all_at_once(server, tmp_path):
    """A file of another version: nothing is ignored, and each line says what to write."""
    file = tmp_path / "gateway.json"
    file.write_text(json.dumps({"redis": server.url, "listen-plan": "127.0.0.1:1", "limits": {"drainMS": 5},
                                "removed-long-ago": True}))
    done = subprocess.run([str(BINARY), "check", "--upgrade", "--config", str(file)], capture_output=True, text=True,
                          timeout=60, env=ENVIRONMENT | {"SWITCHBOARD_REDIS_PREFX": "a"})
    assert done.returncode == 64
    for words in ("listen-plan: unknown key; did you mean listen-plain?", "limits.drainMS: unknown limit; did you mean",
                  "removed-long-ago: unknown key", "SWITCHBOARD_REDIS_PREFX: unknown variable"):
        assert words in done.stderr, done.stderr


def test_a_redis_that_does_not_answer_leaves_the_steps_unknown():
    done = check(f"redis://127.0.0.1:{free_port()}", "--limit", "redisConnectMs=300", "--limit", "redisCallMs=300")
    assert done.returncode == 1 and "cannot be used" in done.stdout
    assert "upgrade: not known until the errors above are mended" in done.stdout and NOTHING not in done.stdout


def test_the_files_of_the_command_line_that_are_wrong_leave_them_unknown(server, tmp_path):
    (tmp_path / "keys").write_text(f"backend:{API_KEY}:nonsense\n")
    done = check(server.url, "--api-keys", str(tmp_path / "keys"))
    assert done.returncode == 1 and "upgrade: not known" in done.stdout, done.stdout + done.stderr
