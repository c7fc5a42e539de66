"""Clients that do not read, and inputs that are never finished: bounded, closed, and nobody else's trouble."""

import json

import pytest

import raw
from waiting import eventually


def everything(connection):
    received = b""
    while chunk := connection.recv(65_536):
        received += chunk
    return received


@pytest.mark.parametrize("limits", [{"outboundBytesMax": 262_144}, {"outboundAgeMs": 500}], ids=str)
def test_client_that_does_not_read(gateway, token, topics, limits):
    """Its queue is bounded in bytes and age; it is closed, may resume by position, and nobody else suffers."""
    gw = gateway(limits=limits)
    topic = topics("order")
    slow, status, _ = raw.upgrade(gw, "Authorization: Bearer " + token("u1", topics=[topic]), receive_buffer=4_096)
    assert status == 101
    with slow, gw.client(token=token("u1", topics=[topic])) as healthy, gw.http() as http:
        slow.sendall(raw.frame(raw.TEXT, json.dumps({"event": "subscribe", "data": {"topic": topic}}).encode()))
        eventually(
            lambda: http.get(f"/v1/topics/{topic}").json()["subscribers"]["sessions"] == 1, 5, "the slow member")
        epoch = healthy.subscribe(topic)["epoch"]
        sent = 0

        def closed():
            nonlocal sent
            body = {"topic": topic, "event": "e", "data": {"pad": "x" * 60_000}}
            sent = http.post("/v1/broadcast", json=body).json()["offset"]
            return 'reason="slow_consumer"} 1\n' in gw.ops("/metrics").text

        eventually(closed, 30, "the slow client's end")
        assert raw.close_code(everything(slow)) == 4410, "it is told why, once it reads again"
        for offset in range(1, sent + 1):
            healthy.expect("e", offset=offset)
        recent = max(0, sent - 20)
        with gw.client(token=token("u1", topics=[topic])) as back:
            assert back.subscribe(topic, {"epoch": epoch, "offset": recent})["recovered"] is True
            for offset in range(recent + 1, sent + 1):
                back.expect("e", offset=offset)


def test_memory_stays_bounded_under_large_inputs(gateway):
    """Many connections that each announce much and send half of it."""
    gw = gateway()
    before = gw.resident_bytes
    connections = []
    try:
        for _ in range(50):
            connection, _, _ = raw.upgrade(gw)
            connection.sendall(raw.frame(raw.TEXT, b" " * 65_000, final=False))
            connections.append(connection)
        connections[0].sendall(raw.frame(raw.PING))
        assert connections[0].recv(16)
        assert gw.resident_bytes - before <= 50 * 256 * 1_024 + (16 << 20)
    finally:
        for connection in connections:
            connection.close()
