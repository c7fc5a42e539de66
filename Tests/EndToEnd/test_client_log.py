"""The log of the clients: one line for each trouble of a client, bounded in number, without a secret."""

import json

import pytest

from Fixtures.clients import raw
from Fixtures.processes.gateway import API_KEY
from Fixtures.waiting import eventually

LOST_UPGRADE = "a WebSocket was asked for without Upgrade; a proxy may drop it"
TROUBLES = {"a connection was ended", "a client read too slowly", "credentials were refused", "an origin was refused",
            "a request failed", "a client asks more than its rate", LOST_UPGRADE,
            "authentication refused", "session ended", "lines about clients were left out"}


def lines(node, *messages) -> list[dict]:
    """The lines of these texts; the last one may be on its way still."""
    whole = [json.loads(line) for line in node.log_text.splitlines(keepends=True) if line.endswith("\n")]
    return [line for line in whole if line["message"] in messages]


def line(node, message) -> dict:
    """The one line of this text."""
    [found] = eventually(lambda: lines(node, message), 10, message)
    assert found["node"] and found["address"] == "127.0.0.1"
    return found


def test_a_refused_origin_is_logged_and_counted(gateway):
    """A page of a foreign origin tried for ever, and the gateway said nothing."""
    gw = gateway("--shards", "1")
    connection, status, _ = raw.upgrade(gw, "Origin: https://evil.example", path="/ws?apikey=a-secret-word")
    connection.close()
    assert status == 403
    found = line(gw, "an origin was refused")
    assert (found["origin"], found["path"]) == ("https://evil.example", "/ws")
    assert gw.metric("switchboard_origins_refused_total") == 1
    assert "a-secret-word" not in gw.log_text


def test_refused_credentials_are_logged_without_them(gateway, token):
    gw = gateway("--shards", "1")
    wrong, spoilt = "wrong-" + API_KEY, token("u1")[:-6] + "AAAAAA"
    with gw.http(key=wrong) as http:
        assert http.post("/v1/broadcast", json={"topic": "shop:1", "event": "e"}).status_code == 401
    found = line(gw, "credentials were refused")
    assert (found["reason"], found["path"], found["level"]) == ("unauthorized", "/v1/broadcast", "info")
    with gw.client() as client:
        client.send("authenticate", {"token": spoilt})
        client.expect_close(4401, after=("error",))
    assert line(gw, "authentication refused")["reason"] == "token_signature"
    assert wrong not in gw.log_text and spoilt[-20:] not in gw.log_text


def test_the_end_of_a_client_that_breaks_the_protocol_names_it(gateway, token, topics):
    gw = gateway("--shards", "1")
    topic = topics("order")
    connection, status, _ = raw.upgrade(gw, "Authorization: Bearer " + token("ann", topics=[topic]))
    assert status == 101
    with connection:
        connection.sendall(raw.frame(raw.TEXT, json.dumps({"event": "subscribe", "data": {"topic": topic}}).encode()))
        eventually(lambda: gw.metric("switchboard_subscriptions") == 1, what="the subscription")
        connection.sendall(raw.frame(raw.TEXT, b"{}", reserved=2))
        raw.read_to_end(connection)
    found = line(gw, "a connection was ended")
    assert (found["reason"], found["user"], found["topic"]) == ("protocol_error", "ann", topic)


def test_a_slow_client_is_named_with_what_it_did_not_read(gateway, token, topics):
    gw = gateway("--shards", "1", limits={"outboundBytesMax": 131_072})
    topic = topics("order")
    slow, status, _ = raw.upgrade(gw, "Authorization: Bearer " + token("ann", topics=[topic]), receive_buffer=4_096)
    assert status == 101
    with slow, gw.http() as http:
        slow.sendall(raw.frame(raw.TEXT, json.dumps({"event": "subscribe", "data": {"topic": topic}}).encode()))
        eventually(lambda: gw.metric("switchboard_subscriptions") == 1, what="the subscription")

        def told():
            message = {"topic": topic, "event": "e", "data": {"pad": "x" * 60_000}}
            http.post("/v1/broadcast", json={"messages": [message] * 8}).raise_for_status()
            return lines(gw, "a client read too slowly")

        eventually(told, 90, "the slow client's line")
    found = line(gw, "a client read too slowly")
    assert (found["reason"], found["user"], found["topic"], found["level"]) == ("slow_consumer", "ann", topic, "warn")
    assert int(found["bytes"]) > 60_000


def test_answers_of_500_and_above_are_logged(gateway, server, topic):
    gw = gateway("--shards", "1", server=server)
    server.kill()
    eventually(lambda: gw.ops("/readyz").status_code == 503, 10, "the loss of Redis")
    with gw.http() as http:
        assert http.post("/v1/broadcast", json={"topic": topic, "event": "e", "data": {}}).status_code == 503
    found = line(gw, "a request failed")
    assert (found["status"], found["reason"], found["key"]) == ("503", "unavailable", "backend")
    assert (found["method"], found["path"], found["level"]) == ("POST", "/v1/broadcast", "warn")


def test_what_goes_well_or_is_a_clients_ordinary_mistake_is_not_logged(gateway, topic):
    gw = gateway("--shards", "1")
    with gw.client() as client, gw.http(key=None) as http:
        client.subscribe(topic)
        assert http.get("/nowhere").status_code == 404
        assert http.post("/v1/broadcast", json={}).status_code == 401
    raw.connect(gw).close()
    eventually(lambda: gw.metric("switchboard_connections_closed_total") >= 3, what="all have gone")
    gw.stop()
    assert lines(gw, *TROUBLES) == []


@pytest.mark.parametrize("count", [30])
def test_a_flood_is_sampled_and_the_rest_is_counted(gateway, count):
    gw = gateway("--shards", "1", limits={"clientLinesPerSecond": 2})
    for _ in range(count):
        connection, status, _ = raw.upgrade(gw, "Origin: https://evil.example")
        connection.close()
        assert status == 403

    def accounted():
        left_out = sum(int(one.get("leftOut", 0)) for one in lines(gw, *TROUBLES))
        return left_out + len(lines(gw, "an origin was refused")) == count and left_out

    left_out = eventually(accounted, 10, "every line, written or counted")
    assert gw.metric("switchboard_log_lines_left_out_total") == left_out
    assert gw.metric("switchboard_origins_refused_total") == count


@pytest.mark.parametrize("path", ["/ws", "/socket/websocket?vsn=1.0.0", "/socket.io/?EIO=4&transport=websocket"])
def test_a_websocket_without_upgrade_is_logged_and_counted(gateway, path):
    """A proxy that dropped `Upgrade` kept every client out, and the gateway was silent."""
    gw = gateway("--shards", "1")
    with gw.http(key=None) as http:
        fields = {"Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ=="}
        assert http.get(path, headers=fields).status_code in (400, 426)
    found = line(gw, LOST_UPGRADE)
    assert (found["path"], found["level"]) == (path.split("?")[0], "warn")
    assert gw.metric("switchboard_upgrades_missing_total") == 1


def test_a_user_that_floods_is_named_on_both_ways(gateway, token, topics):
    """A flooding user was refused, and an operator saw only a sum without a name."""
    gw = gateway("--shards", "1", limits={"userActionsPerSecond": 1, "messagesPerSecond": 5})
    topic = topics("order")
    with gw.http(token("ann")) as http:
        answers = [http.post("/v1/commands/vote", json={"shopId": "1"}).status_code for _ in range(8)]
    assert 429 in answers
    first = eventually(lambda: lines(gw, "a client asks more than its rate"), 10, "the line")[0]
    assert (first["user"], first["path"], first["level"]) == ("ann", "/v1/commands/vote", "warn")
    with gw.client(token=token("bob", topics=[topic])) as client:
        client.subscribe(topic)
        for number in range(30):
            client.send("publish", {"topic": topic, "event": "e", "data": number})

        def named() -> list[dict]:
            return [one for one in lines(gw, "a client asks more than its rate") if one["user"] == "bob"]

        assert eventually(named, 10, "the line")[0]["reason"] == "rate_limited"
