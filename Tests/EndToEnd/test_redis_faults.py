"""Redis that is there and misbehaves: paused, mute, out of memory, with keys of the wrong kind."""

import json
import signal
import time

import pytest

from Fixtures.clients import raw
from Fixtures.waiting import eventually


def broadcast(http, topic, **more):
    return http.post("/v1/broadcast", json={"topic": topic, "event": "e", "data": {}, **more})


def test_paused_redis(gateway, server, topic):
    """R7: publishers are answered within the deadline, clients' pings at once; afterwards everything goes on."""
    gw = gateway(server=server, limits={
        "redisCallMs": 500, "redisProbeMs": 200, "redisProbeTimeoutMs": 1_000, "messagesPerSecond": 1_000})
    with gw.client() as client, gw.http() as http:
        client.subscribe(topic)
        server.process.send_signal(signal.SIGSTOP)
        try:
            started = time.monotonic()
            response = broadcast(http, topic, id="op-1")
            assert response.status_code == 503 and "retry-after" in response.headers
            assert time.monotonic() - started >= 0.4, "the command's deadline"
            seconds = []
            for _ in range(50):
                started = time.monotonic()
                assert client.request("ping")["event"] == "pong"
                seconds.append(time.monotonic() - started)
            # A busy host may delay some; a loop that waited for Redis would delay all of them by its deadline.
            assert sorted(seconds)[40] < 0.25, "the loop never waits for Redis"
            eventually(lambda: gw.ops("/readyz").status_code == 503, 5, "readiness red")
        finally:
            server.process.send_signal(signal.SIGCONT)
        gw.wait_ready()
        # The paused command may have run after all; with its id it has one position and arrives once.
        offset = eventually(
            lambda: (answer := broadcast(http, topic, id="op-1")).status_code == 200 and answer.json()["offset"], 5)
        client.expect("e", offset=offset)
        client.expect_nothing()


def test_every_subscriber_link_killed_under_load(gateway, server, topic):
    """R8: what was published while the subscription was gone is repaired from the log, in order, once."""
    gw = gateway(server=server)
    with gw.client() as client, gw.http() as http, server.client() as redis:
        client.subscribe(topic)
        for number in range(1, 201):
            if number % 20 == 0:
                redis.execute_command("CLIENT", "KILL", "TYPE", "pubsub")
            assert broadcast(http, topic).json()["offset"] == number
        for number in range(1, 201):
            client.expect("e", offset=number, timeout=10)
        client.expect_nothing()


def test_keys_of_another_kind(gateway, server, topics):
    """R11: refused without a trace; other topics are not touched."""
    wrong, right = topics(), topics()
    gw = gateway(server=server)
    with gw.http() as http, server.client() as redis, gw.client() as client:
        redis.set(wrong + "#meta", "not a hash")
        response = broadcast(http, wrong)
        assert response.status_code == 500 and response.json()["error"]["code"] == "internal"
        client.refused("subscribe", {"topic": wrong}, "internal")
        assert redis.keys(wrong + "*") == [(wrong + "#meta").encode()]
        assert broadcast(http, right).status_code == 200


def test_out_of_memory(gateway, server, topic):
    gw = gateway(server=server)
    with gw.http() as http, server.client() as redis:
        redis.config_set("maxmemory", "1")
        response = broadcast(http, topic)
        assert response.status_code == 503 and "retry-after" in response.headers
        redis.config_set("maxmemory", "0")
        assert broadcast(http, topic).json()["offset"] == 1


def test_hostile_channel_messages(gateway, server, topic):
    """Redis bytes are untrusted: what is no message is dropped and counted, and delivery goes on."""
    gw = gateway(server=server)
    garbage = [
        b"", b"x", b"P", b"P\n", b"Pe 1 e -", b"Pe 0 e -\n{}", b"Pe 01 e -\n{}", b"Pe 1 e -\n[]", b"Pe 1 e -\nnull",
        b"Pe 99999999999999999999 e -\n{}", b"Pe -1 e -\n{}", b"Pe 1 bad event - x\n{}", b"{", b"{}", b'{"event":1}',
        b'{"event":"e","data":[]}', b'{"event":"e","event":"f"}', b"{" * 1_000, b'{"event":"e","data":{"a":"\xff"}}',
        b"\x00" * 100_000, b'{"event":"' + b"e" * 65 + b'"}', b"[" * 100_000,
    ]
    with gw.client() as client, server.client() as redis:
        client.subscribe(topic)
        for message in garbage:
            redis.publish(topic, message)
        gw.publish(topic, "e", {})
        client.expect("e", offset=1)
    assert gw.metric("switchboard_channel_messages_refused_total") == len(garbage)


def test_idempotency_ends_with_its_key(gateway, topic):
    gw = gateway(limits={"idempotencySeconds": 1})
    with gw.http() as http:
        first = broadcast(http, topic, id="op-1").json()
        assert broadcast(http, topic, id="op-1").json()["offset"] == first["offset"]
        eventually(lambda: broadcast(http, topic, id="op-1").json()["offset"] != first["offset"], 5, "a new event")


@pytest.mark.parametrize("size, recovered", [(1_000, True), (30_000, False)])
def test_recovery_bytes(gateway, topic, size, recovered):
    """All or nothing: what is larger than the bound is told, not cut."""
    gw = gateway(limits={"recoveryBytesMax": 100_000})
    with gw.client() as client:
        position = client.subscribe(topic)
    for _ in range(5):
        gw.publish(topic, "e", {"pad": "x" * size})
    with gw.client() as client:
        since = {"epoch": position["epoch"], "offset": position["offset"]}
        answer = client.subscribe(topic, since)
        assert answer["recovered"] is recovered and answer["offset"] == 5
        for offset in range(1, 6) if recovered else []:
            client.expect("e", offset=offset)
        client.expect_nothing()


def test_bytes_of_all_queues_together(gateway, token, topics):
    """Slow readers together may not fill the memory: over the total each is closed as a slow consumer."""
    gw = gateway("--shards", "1", limits={"outboundTotalBytesMax": 1_000_000, "outboundBytesMax": 1_000_000})
    topic = topics("order")
    slow = []
    for _ in range(5):
        connection, _, _ = raw.upgrade(
            gw, "Authorization: Bearer " + token("u1", topics=[topic]), receive_buffer=4_096)
        connection.sendall(raw.frame(raw.TEXT, json.dumps({"event": "subscribe", "data": {"topic": topic}}).encode()))
        slow.append(connection)
    with gw.http() as http:
        eventually(lambda: http.get(f"/v1/topics/{topic}").json()["subscribers"]["sessions"] == 5, 5, "members")

        def closed():
            body = {"topic": topic, "event": "e", "data": {"pad": "x" * 60_000}}
            http.post("/v1/broadcast", json=body)
            page = gw.metrics()
            assert page.value("switchboard_queued_bytes") <= 1_400_000, (
                "the total, and one frame for each who had read everything")
            return page.value("switchboard_connections_closed_total", reason="slow_consumer") == 5

        eventually(closed, 30, "the slow clients' end")
    for connection in slow:
        connection.close()
