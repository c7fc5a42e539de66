"""Event streams: what `EventSource` and `httpx-sse` get, and how they come back."""

import json
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from Fixtures.clients import raw
from Fixtures.clients.streams import stream
from Fixtures.waiting import eventually


def test_a_stream_of_one_topic(gw, topic):
    """Names, positions and data; the same history as a WebSocket's."""
    with stream(gw, topic) as es, gw.client() as client:
        joined = es.expect("subscribed")
        assert joined["topic"] == topic and joined["data"]["recovered"] is False
        client.subscribe(topic)
        published = gw.publish(topic, "queue:update", {"queueLength": 3, "text": "a\u2028é"})
        message = es.expect("queue:update")
        assert message == client.expect("queue:update")
        assert message["data"]["queueLength"] == 3 and message["topic"] == topic
        assert es.last_id == f"{published['epoch']}:{message['offset']}"


def test_the_answer_says_that_nobody_may_hold_it_back(gw, topic):
    with stream(gw, topic) as es:
        fields = es.response.headers
    assert es.response.status_code == 200
    assert fields["content-type"] == "text/event-stream; charset=utf-8"
    assert "no-cache" in fields["cache-control"] and fields["x-accel-buffering"] == "no"


def test_line_breaks_in_data_do_not_break_records(gw, topic):
    """JSON may hold line breaks between its values; a record's field ends with its line."""
    body = json.dumps({"topic": topic, "event": "e", "data": "DATA"}).replace('"DATA"', '{"a":\r\n\n1,\n"b":"x"}')
    with stream(gw, topic) as es:
        es.expect("subscribed")
        with gw.http() as http:
            answer = http.post("/v1/broadcast", content=body, headers={"Content-Type": "application/json"})
            assert answer.status_code == 200
        assert es.expect("e")["data"] == {"a": 1, "b": "x"}
        gw.publish(topic, "after", {})
        es.expect("after")


def test_coming_back_brings_what_was_missed(gw, topic):
    with stream(gw, topic) as es:
        es.expect("subscribed")
        gw.publish(topic, "e", {"n": 1})
        es.expect("e")
    for number in range(2, 5):
        gw.publish(topic, "e", {"n": number})
    with stream(gw, topic, last_id=es.last_id) as es:
        assert es.expect("subscribed")["data"]["recovered"] is True
        assert [es.expect("e")["data"]["n"] for _ in range(3)] == [2, 3, 4]
        gw.publish(topic, "live", {})
        es.expect("live")


def test_each_topic_of_a_stream_resumes_from_its_own_position(gw, topics):
    """An `id` of one topic's position would lose the others' events, since a browser keeps the last one only."""
    first, second = topics("shop"), topics("shop")
    with stream(gw, first, second) as es:
        for _ in range(2):
            es.expect("subscribed")
        gw.publish(first, "e", {"n": 1})
        es.expect("e")
        gw.publish(second, "e", {"n": 1})
        es.expect("e")
        gw.publish(second, "e", {"n": 2})
        es.expect("e")
    gw.publish(first, "e", {"n": 2})
    gw.publish(second, "e", {"n": 3})
    with stream(gw, first, second, last_id=es.last_id) as es:
        heard = {}
        for _ in range(4):
            record = es.next()
            message = json.loads(record.data)
            heard.setdefault(message["topic"], []).append(
                message["data"].get("n", message["data"].get("recovered")))
        assert heard == {first: [True, 2], second: [True, 3]}


def test_cut_before_the_missed_events_the_client_stands_where_it_stood(gw, topic):
    """The record `subscribed` names the present position; as an `id` it would skip what follows it."""
    with stream(gw, topic) as es:
        es.expect("subscribed")
        gw.publish(topic, "e", {"n": 1})
        es.expect("e")
    gw.publish(topic, "e", {"n": 2})
    before = es.last_id
    with stream(gw, topic, last_id=before) as es:
        es.expect("subscribed")
        assert es.last_id == before


@pytest.mark.parametrize("name", ["since", "lastEventId"])
def test_a_position_may_stand_in_the_query(gw, topic, name):
    with stream(gw, topic) as es:
        es.expect("subscribed")
        since = es.last_id
    gw.publish(topic, "e", {"n": 1})
    with stream(gw, topic, **{name: since}) as es:
        assert es.expect("subscribed")["data"]["recovered"] is True
        assert es.expect("e")["data"]["n"] == 1


def test_what_the_log_no_longer_has_is_told(gw, db, topic):
    with stream(gw, topic) as es:
        es.expect("subscribed")
        since = es.last_id
    for number in range(3):
        gw.publish(topic, "e", {"n": number})
    db.xtrim(topic + "#log", maxlen=1, approximate=False)
    with stream(gw, topic, last_id=since) as es:
        joined = es.expect("subscribed")
        assert joined["data"]["recovered"] is False and es.last_id.endswith(":3")


BAD = [
    ("", 400), ("topic=", 400), ("topic=nonsense", 400), ("topic=shop:1&topic=shop:1", 400), ("topic=%zz", 400),
    ("topic=shop:1&since=x", 400), ("topic=shop:1&since=e:1,e:2", 400), ("topic=shop:1&since=e:-1", 400),
    ("&".join(f"topic=shop:{n}" for n in range(65)), 413),
]


@pytest.mark.parametrize(("query", "status"), BAD)
def test_a_bad_request_is_answered_as_such(gw, query, status):
    """A browser takes anything but 200 as final: so no stream begins that could not go on."""
    with gw.http(None) as http:
        answer = http.get("/v1/stream?" + query)
        assert answer.status_code == status and answer.json()["error"]["message"]


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
def test_other_methods_are_refused(gw, method):
    with gw.http(None) as http:
        assert http.request(method, "/v1/stream?topic=shop:1", content=b"x").status_code in (404, 405)


# Rights and tokens.


def ways(token):
    return {
        "field": {"headers": {"Authorization": f"Bearer {token}"}},
        "query": {"access_token": token},
        "cookie": {"headers": {"Cookie": f"a=b; switchboard_token={token}; c=d"}},
    }


@pytest.mark.parametrize("way", ["field", "query", "cookie"])
def test_a_token_by_each_way(gw, token, way):
    """A user's own topic needs the user's token."""
    user = f"stream-{way}"
    with stream(gw, f"user:{user}", **ways(token(user))[way]) as es:
        assert es.expect("subscribed")["topic"] == f"user:{user}"


@pytest.mark.parametrize("way", ["field", "query", "cookie"])
def test_anothers_topic_is_refused(gw, token, way):
    with stream(gw, "user:somebody-else", **ways(token("stream-me"))[way]) as es:
        assert es.next().event == "refused"
        assert es.rest() == ["closed"]


@pytest.mark.parametrize("way", ["field", "query", "cookie"])
def test_a_wrong_token_is_never_anonymous(gw, way):
    with stream(gw, "shop:1", **ways("not.a.token")[way]) as es:
        assert es.response.status_code == 401


def test_two_ways_at_once_are_a_mistake(gw, token):
    both = {"headers": {"Authorization": f"Bearer {token()}"}, "access_token": token()}
    with stream(gw, "shop:1", **both) as es:
        assert es.response.status_code == 400


def test_the_query_is_never_logged(gateway, token, topic):
    gateway = gateway("--log-level", "debug")
    secret = token("logged")
    with stream(gateway, topic, access_token=secret) as es:
        es.expect("subscribed")
    with stream(gateway, topic, access_token=secret + "x") as es:
        assert es.response.status_code == 401
    gateway.stop()
    assert secret not in gateway.log_text and secret[:40] not in gateway.log_text


def test_the_others_of_a_stream_go_on_when_one_is_refused(gw, token, topic):
    with stream(gw, topic, "user:somebody-else", access_token=token("stream-part")) as es:
        names = {es.next().event, es.next().event}
        assert names == {"subscribed", "refused"}
        gw.publish(topic, "e", {})
        es.expect("e")


def test_the_end_of_a_token_ends_the_stream(gateway, token, topic):
    gateway = gateway(limits={"tokenLeewaySeconds": 0, "tokenWarningMs": 60_000})
    with stream(gateway, topic, access_token=token("short", ttl=2)) as es:
        names = [es.next().event for _ in range(2)]
        assert sorted(names) == ["subscribed", "token:expiring"]
        assert es.rest()[-1] == "closed"


def test_a_membership_that_is_taken_away_ends_the_stream(gw, token, topics):
    conversation = topics("conversation")
    with gw.http() as http:
        http.put(f"/v1/topics/{conversation}/members/stream-member").raise_for_status()
        with stream(gw, conversation, access_token=token("stream-member")) as es:
            es.expect("subscribed")
            http.delete(f"/v1/topics/{conversation}/members/stream-member").raise_for_status()
            assert es.rest()[-1] == "closed"


# What the documentation says.


def test_the_lines_of_the_documentation_work_when_copied(gw, topic):
    page = (Path(__file__).resolve().parents[2] / "docs/clients.md").read_text()
    lines = page.split("```python\n# Event stream")[1].split("```")[0]
    lines = lines.replace("https://127.0.0.1:8443", gw.origin).replace("shop:demo", topic)
    with subprocess.Popen([sys.executable, "-u", "-c", lines], stdout=subprocess.PIPE, text=True) as program:
        try:
            assert "'subscribed'" in program.stdout.readline()
            position = gw.publish(topic, "queue:update", {"n": 1})
            line = program.stdout.readline()
            assert line.startswith(f"{position['epoch']}:{position['offset']} ") and "{'n': 1}" in line
        finally:
            program.kill()


# Pages of other origins.


def test_pages_of_allowed_origins_may_read(gateway, topic):
    gateway = gateway("--allow-origin", "https://app.example")
    with stream(gateway, topic, headers={"Origin": "https://app.example"}) as es:
        es.expect("subscribed")
        assert es.response.headers["access-control-allow-origin"] == "https://app.example"
        assert "access-control-allow-credentials" not in es.response.headers
    with stream(gateway, topic, headers={"Origin": "https://evil.example"}) as es:
        assert es.response.status_code == 403


# Ends.


def test_the_gateway_going_away_says_when_to_come_back(gateway, topic):
    gateway = gateway(limits={"drainMs": 1_000})
    connection = raw.connect(gateway)
    connection.sendall(f"GET /v1/stream?topic={topic} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
    eventually(lambda: gateway.metric("switchboard_subscriptions") == 1)
    gateway.signal(signal.SIGTERM)
    text = raw.read_to_end(connection).decode()
    assert gateway.wait() == 0
    records = text.split("\r\n\r\n", 1)[1].split("\n\n")
    assert records[0] == "retry: 2000"
    # A browser keeps it: a short one would have it try all the time while nobody is there.
    assert [int(record[7:]) >= 1_000 for record in records[1:] if record.startswith("retry: ")] == [True]
    assert any(record.startswith("event: draining\n") for record in records)
    assert records[-2].startswith("event: closed\n") and records[-1] == ""


def test_a_stream_is_told_that_it_lives(gateway, topic):
    gateway = gateway(limits={"pingMs": 200})
    connection = raw.connect(gateway)
    connection.sendall(f"GET /v1/stream?topic={topic} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
    received = b""
    while received.count(b": here\n\n") < 3:
        received += connection.recv(4_096)
    connection.close()
    eventually(lambda: gateway.metric("switchboard_subscriptions") == 0)


def test_who_speaks_after_the_request_is_closed(gw, topic):
    for when in ("before", "after"):
        connection = raw.connect(gw)
        head = f"GET /v1/stream?topic={topic} HTTP/1.1\r\nHost: x\r\n\r\n".encode()
        connection.sendall(head + (b"GET / HTTP/1.1\r\n" if when == "before" else b""))
        if when == "after":
            assert connection.recv(10)
            connection.sendall(b"x")
        assert b"event: closed" in raw.read_to_end(connection)


def test_a_stream_that_is_not_read_is_closed(gateway, topic):
    """It holds memory as long as it may, as a socket does."""
    gateway = gateway(limits={"outboundBytesMax": 200_000, "outboundAgeMs": 500})
    connection = raw.connect(gateway, receive_buffer=4_096)
    connection.sendall(f"GET /v1/stream?topic={topic} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
    eventually(lambda: gateway.metric("switchboard_subscriptions") == 1)

    def closed():
        gateway.publish(topic, "e", {"pad": "x" * 60_000})
        return gateway.metric("switchboard_connections_closed_total", reason="slow_consumer") == 1

    eventually(closed, 30)
    connection.close()


def test_the_address_is_limited_as_for_other_requests(gateway, topic):
    gateway = gateway(limits={"requestsPerAddressPerSecond": 1})
    statuses = []
    for _ in range(4):
        with stream(gateway, topic) as es:
            statuses.append(es.response.status_code)
    assert 429 in statuses


def test_streams_count_as_connections_of_their_address(gateway, topic):
    gateway = gateway(limits={"connectionsPerAddressMax": 3})
    held = []
    for _ in range(6):
        with suppress(OSError):
            connection = raw.connect(gateway)
            held.append(connection)
            connection.sendall(f"GET /v1/stream?topic={topic} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
    eventually(lambda: gateway.metric("switchboard_connections_refused_total") >= 3)
    assert gateway.metric("switchboard_subscriptions") <= 3
    for connection in held:
        connection.close()
