"""Rates: who sends too fast is warned, read later, refused with the time to come back, and in the end closed."""

import json
import time

from Fixtures.clients import raw
from Fixtures.processes.gateway import error_code


# Messages of a connection


def test_messages_per_second_are_served_later(gateway):
    """Messages that come one by one are all served, at the rate; the client is warned once."""
    gw = gateway(limits={"messagesPerSecond": 20})
    with gw.client() as client:
        started = time.monotonic()
        for number in range(80):
            client.send("ping", ref=number)
        answers = [client.receive() for _ in range(81)]
        took = time.monotonic() - started
    assert [answer["ref"] for answer in answers if answer["event"] == "pong"] == list(range(80))
    warnings = [answer for answer in answers if answer["event"] == "warning"]
    assert len(warnings) == 1 and answers.index(warnings[0]) < 40
    assert warnings[0]["data"]["code"] == "rate_limited" and warnings[0]["data"]["perSecond"] == 20
    # 40 at once, the rest at 20 a second. (How much longer is the host's affair: each answer has its own deadline.)
    assert took >= 1.5
    assert gw.metric("switchboard_rate_warnings_total") == 1


def pings(first: int, count: int) -> bytes:
    return b"".join(
        raw.frame(raw.TEXT, json.dumps({"event": "ping", "ref": number}).encode())
        for number in range(first, first + count))


def test_messages_read_at_once_beyond_the_allowance_are_refused(gateway):
    """What lies in one read behind the last allowed message cannot be left in the socket."""
    gw = gateway(limits={"messagesPerSecond": 20, "refusalsMax": 30})
    connection, _, _ = raw.upgrade(gw)
    with connection:
        connection.sendall(pings(0, 60))
        received = b""
        while len(raw.frames(received)) < 61:
            received += connection.recv(65_536)
        answers = [json.loads(payload) for _, payload in raw.frames(received)]
        assert [answer["ref"] for answer in answers if answer["event"] == "pong"] == list(range(40))
        refused = [answer for answer in answers if answer["event"] == "error"]
        assert [answer["ref"] for answer in refused] == list(range(40, 60))
        assert all(answer["data"]["code"] == "rate_limited" for answer in refused)
        assert all(0 < answer["data"]["retryAfterMs"] <= 50 for answer in refused)
        # A message that is allowed ends the row of refusals; a row that is too long ends the connection.
        connection.sendall(pings(60, 1))
        received = b""
        while not raw.frames(received):
            received += connection.recv(65_536)
        assert json.loads(raw.frames(received)[0][1]) == {"event": "pong", "ref": 60}
        connection.sendall(pings(61, 200))
        assert raw.close_code(raw.read_to_end(connection)) == 4429


# Joins, and what a user does


def test_joins_per_second(gateway, topics):
    gw = gateway(limits={"joinsPerSecond": 2, "subscribeBatchMax": 4})
    with gw.client() as client:
        answers = [client.request("subscribe", {"topic": topics()}) for _ in range(12)]
    assert [answer["event"] for answer in answers[:4]] == ["subscribed"] * 4
    limited = [answer for answer in answers if answer["event"] == "error"]
    assert limited and all(answer["data"]["code"] == "rate_limited" for answer in limited)
    assert all(0 < answer["data"]["retryAfterMs"] <= 500 for answer in limited)


def test_actions_of_a_user_on_all_connections_together(gateway, token, topics):
    gw = gateway("--shards", "2", limits={"userActionsPerSecond": 2})
    topic = topics("conversation")
    mine = token("u1", topics=[topic])
    with gw.client(token=mine) as one, gw.client(token=mine) as two, gw.client(
            token=token("u2", topics=[topic])) as other:
        answers = [
            client.request("publish", {"event": "e", "data": {}}, topic=topic)
            for _ in range(6) for client in (one, two)]
        assert all(answer["event"] == "ack" for answer in answers[:4])
        limited = [answer for answer in answers if answer["event"] == "error"]
        assert limited and all(answer["data"]["code"] == "rate_limited" for answer in limited)
        assert all(0 < answer["data"]["retryAfterMs"] <= 500 for answer in limited)
        assert other.request("publish", {"event": "e", "data": {}}, topic=topic)["event"] == "ack"


# HTTP


def test_commands_over_http_beyond_the_rate(gateway, token):
    gw = gateway(limits={"userActionsPerSecond": 2})
    with gw.http(token("u1")) as http:
        answers = [http.post("/v1/commands/feed", json={}) for _ in range(12)]
    limited = [answer for answer in answers if answer.status_code == 429]
    assert limited and all(error_code(answer) == "rate_limited" for answer in limited)
    assert all(answer.headers["retry-after"] == "1" for answer in limited)
    assert all(answer.status_code == 200 for answer in answers[:4]), answers[0].text


def test_requests_of_an_address_per_second(gateway, token):
    """A burst of twice the rate, then 429; a backend with an API key is not counted, nor are operations."""
    gw = gateway("--trust-proxy", "127.0.0.9", limits={"requestsPerAddressPerSecond": 5})
    with gw.http(token("u1")) as http:
        answers = [http.get("/v1/topics/shop:1") for _ in range(30)]
    assert [answer.status_code for answer in answers[:10]] == [200] * 10
    limited = [answer for answer in answers if answer.status_code == 429]
    assert limited and all(error_code(answer) == "rate_limited" for answer in limited)
    assert all(answer.headers["retry-after"] == "1" for answer in limited)
    with gw.http() as http:
        assert [http.get("/v1/topics/shop:1").status_code for _ in range(30)] == [200] * 30
    with gw.http("wrong-key-0123456789abcdef0123456789") as http:
        assert 429 in [http.get("/v1/topics/shop:1").status_code for _ in range(30)]
    assert [gw.ops("/livez").status_code for _ in range(30)] == [200] * 30


def test_requests_behind_a_proxy_count_for_the_client(gateway, token):
    gw = gateway("--trust-proxy", "127.0.0.0/8", limits={"requestsPerAddressPerSecond": 5})
    with gw.http(token("u1")) as http:
        def statuses(client):
            headers = {"x-forwarded-for": client} if client else {}
            return [http.get("/v1/topics/shop:1", headers=headers).status_code for _ in range(30)]

        assert 429 in statuses("192.0.2.1")
        assert statuses("192.0.2.2")[:10] == [200] * 10
        assert statuses(None) == [200] * 30
