"""`switchboard top --once`: the nodes and their load as a text, and the sentence when there is none."""

import json
import re
import subprocess
import time

import pytest

from Fixtures.clients.tokens import SECRET, sign
from Fixtures.processes.gateway import Gateway
from Fixtures.processes.node import BINARY, ENVIRONMENT
from Fixtures.processes.ports import free_port
from Fixtures.processes.top import PATIENT, fails, fleet, name_of, nodes, on_screen, once, row, top  # noqa: F401
from Fixtures.redis.cluster import RedisCluster
from Fixtures.redis.server import RedisServer
from Fixtures.samples import ROOT, samples

SAMPLES = {one.name: one.text for one in samples(ROOT / "docs" / "top.md")}


# A text


def test_a_text_has_headings_and_a_line_for_each_node(fleet, nodes):
    clients = [fleet.gateways[0].client(token=sign(SECRET, "ann")) for _ in range(3)]
    try:
        for client in clients:
            client.subscribe("shop:top-1")
        fleet.gateways[1].publish("shop:top-1", "e", {"pad": "x" * 100})
        for client in clients:
            client.expect("e")
        lines = once(fleet.redis.url)
    finally:
        for client in clients:
            client.close()
    heading = next(line for line in lines if line.startswith("NODE"))
    columns = heading.split()
    assert columns == ["NODE", "HOST", "STATE", "CONN", "IN/s", "OUT/s", "BYTES/s", "MEM", "CPU", "LAG", "SLOW", "UP",
                       "VERSION"]
    for number, node in enumerate(nodes):
        cells = dict(zip(columns, row(lines, node).split(), strict=True))
        assert cells["STATE"] == "ready" and cells["CONN"] == ("3" if number == 0 else "0")
        assert re.fullmatch(r"[\d.]+", cells["IN/s"]) and cells["CPU"].endswith("%") and cells["LAG"].endswith("ms")
    assert "gateways 2" in lines[1] and "connections 3" in lines[1]
    assert re.search(r"redis [\d.]+ms  memory [\d.]+[KMG]  outbox 0  dead letters 0", lines[2])
    topic = row(lines, "shop:top-1").split()
    assert topic[1] == "3" and int(topic[2]) >= 1
    talker = row(lines, "ann").split()
    assert len(talker) == 5 and talker[4].endswith("ms"), "the time of Redis that her requests took"
    assert "no session is behind" in lines and row(lines, "outbox")


def test_json_is_one_line_for_programs(fleet, nodes):
    run = top(fleet.redis.url, "--once", "--json")
    assert run.returncode == 0 and run.stdout.count("\n") == 1
    answer = json.loads(run.stdout)
    assert {node["id"] for node in answer["nodes"]} == set(nodes)
    assert answer["unanswered"] == [] and answer["trouble"] is None and answer["redis"]["usedBytes"] > 0
    assert all(node["traffic"]["uptimeMs"] > 0 for node in answer["nodes"])


@pytest.mark.parametrize("line", SAMPLES["docs/top.md#all-nodes-in-a-terminal:sh"].splitlines())
def test_the_lines_of_the_page_work(fleet, nodes, tmp_path, line):
    """With the address of the test's Redis in place of theirs; a gateway's file has much that it does not use."""
    config = tmp_path / "gateway.json"
    config.write_text(json.dumps({"redis": fleet.redis.url, "listen": "0.0.0.0:443", "api-keys": "keys"}))
    line = line.replace("redis://127.0.0.1:6379", fleet.redis.url).replace("/etc/switchboard/gateway.json", str(config))
    words = line.split()[1:]
    named = any(word in words for word in ("--redis", "--config"))
    run = subprocess.run(
        [BINARY, *words, *PATIENT, *(() if "--once" in words else ("--once",))], capture_output=True, text=True,
        timeout=40, env=ENVIRONMENT | ({} if named else {"SWITCHBOARD_REDIS": fleet.redis.url}),
        stdin=subprocess.DEVNULL)
    assert run.returncode == 0 and all(row(run.stdout.splitlines(), node) for node in nodes), run.stderr


def test_dead_letters_are_counted_with_the_last_cause(fleet, nodes):
    with fleet.redis.client() as redis:
        for reason in ("first", "NOSCRIPT \x1b[2J"):
            redis.xadd("#outbox-dead", {"reason": reason})
        try:
            lines = once(fleet.redis.url)
        finally:
            redis.delete("#outbox-dead")
    assert "dead letters 2" in lines[2] and row(lines, "Queues and dead letters by dead, 1 to ")
    assert row(lines, "outbox").split() == ["outbox", "2", "0", "0s", "NOSCRIPT", "?[2J"]


def test_it_needs_no_key_and_announces_itself_to_nobody(fleet, nodes):
    with fleet.redis.client() as redis:
        once(fleet.redis.url)
        names = {name.decode() for name in redis.hkeys("#nodes")}
        assert names == set(nodes)
    assert fleet.ask("nodes")["total"] == 2


def test_a_name_from_redis_controls_no_terminal(fleet, nodes):
    """Whoever writes to Redis can put a node there whose name clears the screen of an operator."""
    name = b"\x1b[2J\x1b]0;own\x07\xc2\x9b31m\xe2\x80\xae\r\nevil"
    with fleet.redis.client() as redis:
        redis.hset("#nodes", name, f"{int(time.time() * 1000) + 60_000} gateway 9.9 1 0")
        try:
            run = top(fleet.redis.url, "--once")
            with on_screen(fleet.redis.url) as screen:
                lines = screen.shows("evil")
        finally:
            redis.hdel("#nodes", name)
    assert run.returncode == 0 and "no answer of ?[2J?]0;own??31m???evil" in run.stdout
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", run.stdout)
    assert not any(re.search(r"[\x00-\x1f\x7f-\x9f\u202e]", line) for line in lines)


# No answer


def test_without_redis_one_sentence_says_so():
    port = free_port()
    assert fails(f"redis://127.0.0.1:{port}").startswith(
        f"switchboard: redis://127.0.0.1:{port}/0: Redis cannot be used: ")


def test_a_wrong_password_is_named_and_not_shown(fleet):
    url = f"unix://{fleet.redis.socket_path}?user=nobody&password=top-secret-word"
    said = fails(url)
    assert "wrongpass" in said and "top-secret-word" not in said


def test_without_gateways_one_sentence_says_so(fleet, nodes, tmp_path):
    empty = RedisServer(tmp_path / "redis").start()
    try:
        assert fails(empty.url).endswith("no gateway works on this Redis")
        assert fails(empty.url, "--redis-prefix", "app:").endswith("with keys that begin with app:")
        with empty.client() as redis, fleet.redis.client() as known:
            redis.set("#node-secret", known.get("#node-secret"))
            redis.hset("#nodes", "lonely", f"{int(time.time() * 1000) + 60_000} gateway 1.0 1 0")
            assert "no gateway answers: no answer of lonely" in fails(empty.url)
            assert redis.keys("*layout*") == [], "it writes nothing"
    finally:
        empty.stop()


def test_another_layout_is_named(fleet):
    assert "--redis-layout" in fails(fleet.redis.url, "--redis-layout", "tagged")


def test_a_user_of_redis_for_it_alone(fleet, nodes):
    """The rights in docs/top.md suffice, and without the channel a sentence says what is missing."""
    user = SAMPLES["docs/top.md#a-user-of-redis-for-it:text"].replace(">PASSWORD", ">seen").split()[1:]
    url = f"unix://{fleet.redis.socket_path}?user=viewer&password=seen"
    with fleet.redis.client() as redis:
        redis.execute_command("ACL", "SETUSER", *user)
        try:
            assert all(row(once(url), node) for node in nodes)
            redis.execute_command("ACL", "SETUSER", "viewer", "resetchannels")
            assert "does not take a message for the nodes: noperm" in fails(url)
        finally:
            redis.execute_command("ACL", "DELUSER", "viewer")


@pytest.mark.parametrize("server", ["group", "cluster"], indirect=True)
def test_it_finds_the_nodes_on_every_kind_of_redis(server, gateway):
    name = name_of(gateway(server=server))
    assert "ready" in row(once(server.url), name)


def test_a_cluster_by_tls_as_a_user_for_it_alone(tmp_path, certificate, monkeypatch):
    monkeypatch.setitem(ENVIRONMENT, "SSL_CERT_FILE", str(certificate.cert))
    more = re.findall(r"`(\+[a-z|]+)`", (ROOT / "docs" / "top.md").read_text())
    assert len(more) == 3, "the rights that a Cluster needs beside"
    text = SAMPLES["docs/top.md#a-user-of-redis-for-it:text"].replace(">PASSWORD", ">seen")
    user = text.replace("~#", "~{sb}#").replace("&#", "&{sb}#").split() + more
    cluster = RedisCluster(tmp_path / "cluster", "--user", *user[1:], replicas=0, certificate=certificate)
    gateway = Gateway(tmp_path / "gateway", f"rediss+cluster://{cluster.hosts}", certificate, SECRET, "--shards", "1")
    try:
        cluster.start()
        name = name_of(gateway.start().wait_ready(20))
        assert "ready" in row(once(f"rediss+cluster://viewer:seen@{cluster.hosts}"), name)
        assert "wrongpass" in fails(f"rediss+cluster://viewer:wrong@{cluster.hosts}")
    finally:
        gateway.stop()
        cluster.stop()
