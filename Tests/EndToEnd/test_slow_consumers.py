"""Clients that do not read, and inputs that are never finished: bounded, closed, and nobody else's trouble."""

import json

import pytest

from Fixtures.clients import raw
from Fixtures.clients.crowd import Crowd
from Fixtures.waiting import eventually


def everything(connection):
    received = b""
    while chunk := connection.recv(65_536):
        received += chunk
    return received


def messages(received):
    """The native messages among the frames."""
    return [json.loads(payload) for opcode, payload in raw.frames(received) if opcode == raw.TEXT]


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
            return slow_closed(gw.metrics()) == 1

        eventually(closed, 90, "the slow client's end")
        received = everything(slow)
        assert raw.close_code(received) == 4410, "it is told why, once it reads again"
        read = [message["offset"] for message in messages(received) if message["event"] == "e"]
        assert read == list(range(1, len(read) + 1)), "what it did get has no hole"
        for offset in range(1, sent + 1):
            healthy.expect("e", offset=offset)
        with gw.client(token=token("u1", topics=[topic])) as back:
            assert back.subscribe(topic, {"epoch": epoch, "offset": len(read)})["recovered"] is True
            for offset in range(len(read) + 1, sent + 1):
                back.expect("e", offset=offset)


def slow_closed(page) -> float:
    """How many clients were closed because they were slow, by the metrics."""
    return page.value("switchboard_connections_closed_total", reason="slow_consumer")


@pytest.mark.parametrize(
    "limits",
    [{"outboundBytesMax": 262_144}, {"outboundBytesMax": 1 << 28, "outboundAgeMs": 4_000, "pingMs": 100_000}], ids=str)
def test_client_that_pauses_is_spared_what_newer_events_replace(gateway, topics, limits):
    """It gets the newest of each track and is told of every hole; nobody else is told of any."""
    gw = gateway(limits=limits)
    topic = topics("dj")
    slow, status, _ = raw.upgrade(gw, receive_buffer=4_096)
    assert status == 101
    newest = {}
    with slow, gw.client() as healthy, gw.http() as http:
        slow.sendall(raw.frame(raw.TEXT, json.dumps({"event": "subscribe", "data": {"topic": topic}}).encode()))
        eventually(
            lambda: http.get(f"/v1/topics/{topic}").json()["subscribers"]["sessions"] == 1, 5, "the slow member")
        healthy.subscribe(topic)
        sent = 0

        def publish():
            nonlocal sent
            track = f"t{sent % 5}"
            body = {"topic": topic, "event": "queue:update", "data": {"trackId": track, "n": sent, "pad": "x" * 20_000}}
            sent = http.post("/v1/broadcast", json=body).json()["offset"]
            newest[track] = sent

        def thinned():
            publish()
            return gw.metric("switchboard_events_ended_total", fate="conflated") > 0

        eventually(thinned, 90, "a thinned queue")
        for _ in range(3):
            publish()
        received = slow.recv(65_536)
        while f'"offset":{sent}}}'.encode() not in received[-100_000:]:
            piece = slow.recv(65_536)
            assert piece, f"closed: {raw.close_code(received)}"
            received += piece
        slow.sendall(raw.frame(raw.PING, b"alive"))
        assert (raw.PONG, b"alive") in raw.frames(slow.recv(1_000)), "it is still connected"
        for offset in range(1, sent + 1):
            healthy.expect("queue:update", offset=offset)
        assert gw.metric("switchboard_events_ended_total", fate="dropped") == 0
    last, seen, gaps = 0, {}, 0
    for message in messages(received):
        if message["event"] == "gap":
            assert message["data"]["reason"] == "conflated" and message["data"]["offset"] > last, message
            last, gaps = message["data"]["offset"], gaps + 1
        elif message["event"] == "queue:update":
            assert message["offset"] == last + 1, "a hole that nothing told of"
            last = message["offset"]
            seen[message["data"]["trackId"]] = last
    assert seen == newest and gaps > 0
    # They are wanted, so they are none of the gaps that raise an alert.
    assert gw.metric("switchboard_conflation_gaps_total") >= gaps and gw.metric("switchboard_gaps_total") == 0


def test_all_queues_together_are_bounded_at_the_cost_of_those_who_do_not_read(gateway, token, topics):
    budget = 1_000_000
    gw = gateway("--shards", "1", limits={"outboundTotalBytesMax": budget})
    topic = topics("order")
    bearer = token("u1", topics=[topic])
    stuck = [raw.upgrade(gw, "Authorization: Bearer " + bearer, receive_buffer=4_096)[0] for _ in range(10)]
    try:
        with gw.client(token=bearer) as healthy, gw.http() as http:
            for connection in stuck:
                connection.sendall(
                    raw.frame(raw.TEXT, json.dumps({"event": "subscribe", "data": {"topic": topic}}).encode()))
            healthy.subscribe(topic)
            eventually(
                lambda: http.get(f"/v1/topics/{topic}").json()["subscribers"]["sessions"] == 11, 5, "all members")
            before = gw.resident_bytes
            sent, most = 0, 0

            def closed():
                nonlocal sent, most
                body = {"topic": topic, "event": "e", "data": {"pad": "x" * 60_000}}
                sent = http.post("/v1/broadcast", json=body).json()["offset"]
                page = gw.metrics()
                most = max(most, page.value("switchboard_queued_bytes"))
                return slow_closed(page) > 0

            eventually(closed, 90, "the first victim")
            for offset in range(1, sent + 1):
                healthy.expect("e", offset=offset)
            assert 0 < most <= budget + 11 * 61_000
            assert gw.resident_bytes - before <= 64 << 20
    finally:
        for connection in stuck:
            connection.close()


def test_events_of_a_large_topic_are_written_in_slices_and_pings_go_between(gateway, topics):
    gw = gateway("--shards", "1", limits={"fanoutSliceMembers": 8})
    topic, small = topics("shop"), topics("shop")
    with Crowd(gw, topic, 100) as crowd, gw.client() as other:
        other.subscribe(small)
        for number in range(20):
            gw.publish(topic, "e", {"n": number})
            gw.publish(small, "note", {"n": number})
            other.expect("note", data={"n": number})
            other.request("ping")
        for number in range(20):
            assert [event["data"]["n"] for event in crowd.receive("e")] == [number] * 100


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
