"""POST /v1/broadcast: single, batch, idempotency, keys, and what is refused."""

import hashlib
import json
import re

import pytest

from Fixtures.processes.gateway import API_KEY, error_code


@pytest.fixture
def http(gw):
    with gw.http() as http:
        yield http


def message(topic, event="e", data=None, **more):
    return {"topic": topic, "event": event, "data": {} if data is None else data, **more}


def test_answer_is_the_position(http, topic):
    first = http.post("/v1/broadcast", json=message(topic))
    second = http.post("/v1/broadcast", json=message(topic))
    assert first.status_code == second.status_code == 200
    assert first.headers["content-type"].startswith("application/json")
    assert (first.json()["offset"], second.json()["offset"]) == (1, 2)
    assert first.json()["epoch"] == second.json()["epoch"] and first.json()["topic"] == topic


def test_retry_with_the_same_id_stores_and_delivers_once(gw, http, db, topic):
    with gw.client() as client:
        client.subscribe(topic)
        answers = [http.post("/v1/broadcast", json=message(topic, id="op-1")).json() for _ in range(5)]
        assert {(answer["epoch"], answer["offset"]) for answer in answers} == {(answers[0]["epoch"], 1)}
        client.expect("e", offset=1)
        client.expect_nothing()
    assert db.xlen(topic + "#log") == 1


def test_batch_has_one_result_per_message_in_order(http, topics):
    good, other = topics(), topics()
    response = http.post("/v1/broadcast", json={"messages": [
        message(good), message("not a topic"), message(other, id="op-1"), message("nowhere:1"), message(good),
        message(good, event="a b"), message(good, data=[]), {"topic": good}, message(other, id="op-1"),
    ]})
    assert response.status_code == 200
    results = response.json()["results"]
    assert [result.get("offset") for result in results] == [1, None, 1, None, 2, None, None, None, 1]
    codes = [result["error"]["code"] for result in results if "error" in result]
    assert codes == ["bad_request", "not_found", "bad_request", "bad_request", "bad_request"]


def test_largest_batch_keeps_the_order_of_each_topic(gw, http, db, topics):
    """More of one topic than one call of the script takes, between those of another."""
    long, short = topics(), topics()
    messages = [message(short if n % 16 == 0 else long, data={"n": n}) for n in range(256)]
    results = http.post("/v1/broadcast", json={"messages": messages}).json()["results"]
    for topic in (long, short):
        own = [n for n in range(256) if messages[n]["topic"] == topic]
        assert [results[n]["offset"] for n in own] == list(range(1, len(own) + 1))
        logged = [json.loads(fields[b"d"])["n"] for _, fields in db.xrange(topic + "#log")]
        assert logged == own[-len(logged):] and len(logged) >= min(len(own), 200)


def test_supabase_shape(gw, http, topic):
    with gw.client() as client:
        client.subscribe(topic)
        body = {"messages": [{"topic": topic, "event": "e", "payload": {"n": 1}}]}
        assert http.post("/realtime/v1/api/broadcast", json=body).status_code == 202
        client.expect("e", data={"n": 1})


@pytest.mark.parametrize("body", [
    "", "{", "[]", "null", "{}", '{"messages":{}}', '{"messages":[]}', '{"topic":"shop:1"}',
    '{"topic":"shop:1","event":"e","data":[]}', '{"topic":"shop:1","event":"e","data":"x"}',
    '{"topic":"shop 1","event":"e","data":{}}', '{"topic":"shop:1","event":"a b","data":{}}',
    '{"topic":"shop:1","event":"e","data":{},"id":"a b"}', '{"topic":"shop:1","event":"e","data":{},"id":"-"}',
    '{"topic":"shop:1","topic":"shop:2","event":"e","data":{}}', '{"topic":"shop:1","event":"e","data":{}}x',
    b'{"topic":"shop:1","event":"e","data":{"a":"\xff"}}', '{"topic":"shop:1","event":"e","data":{"a":nan}}',
    '{"topic":"shop:1","event":"e","data":{"a":"\n"}}',
], ids=range(19))
def test_malformed_body(http, watch, body):
    with watch() as seen:
        response = http.post("/v1/broadcast", content=body, headers={"content-type": "application/json"})
        assert response.status_code == 400 and error_code(response) == "bad_request"
    assert seen.on_behalf_of_clients() == []


@pytest.mark.parametrize("event, data, id", [
    ("a b", {}, None), (7, {}, None), ("gap", {}, None), ("e", [], None), ("e", "x", None), ("e", {}, "a b"),
    ("e", {}, 7),
], ids=range(7))
def test_a_fault_reads_alike_at_every_door(gw, http, topics, token, event, data, id):
    """Sockets and HTTP checked a publish each by itself, and said of the same fault different things."""
    talk = topics("conversation")
    named = {} if id is None else {"id": id}
    with gw.client(token=token("u1", topics=[talk])) as client:
        told = client.request("publish", {"event": event, "data": data, **named}, topic=talk)["data"]
    posted = http.post("/v1/broadcast", json=message(talk, event, data, **named)).json()["error"]
    body = {"messages": [{"topic": talk, "event": event, "payload": data, **named}]}
    ((problem,),) = http.post("/realtime/v1/api/broadcast", json=body).json()["errors"]["messages"][0].values()
    assert told["code"] == posted["code"]
    assert posted["message"] == re.sub('"data\\.([a-z]+)"', r"'\1'", told["message"])
    assert problem == posted["message"].replace("'data'", "'payload'")


# What the gateway itself says to subscribers, and clients' libraries: events under these names could not be told apart.
RESERVED = [
    "authenticated", "subscribed", "unsubscribed", "ack", "pong", "gap", "draining", "token:expiring", "warning",
    "error", "presence", "refused", "closed", "open", "connect", "connect_error", "disconnect", "disconnecting",
    "newListener", "removeListener",
]


@pytest.mark.parametrize("event", RESERVED)
def test_reserved_event_is_refused_and_named(http, db, topic, event):
    response = http.post("/v1/broadcast", json=message(topic, event))
    assert response.status_code == 400 and error_code(response) == "bad_request"
    assert f"'{event}'" in response.json()["error"]["message"]
    batch = http.post("/v1/broadcast", json={"messages": [message(topic, event), message(topic)]}).json()["results"]
    assert batch[0]["error"]["code"] == "bad_request" and batch[1]["offset"] == 1
    body = {"messages": [{"topic": topic, "event": event, "payload": {}}]}
    assert http.post("/realtime/v1/api/broadcast", json=body).status_code == 422
    assert db.xlen(topic + "#log") == 1


def refused_messages(gw):
    return gw.metric("switchboard_channel_messages_refused_total")


def test_reserved_event_from_redis_is_counted_and_dropped(gw, db, topic):
    with gw.client() as client:
        epoch = client.subscribe(topic)["epoch"]
        before = refused_messages(gw)
        for event in RESERVED:
            db.publish(topic, '{"event":"%s","data":{}}' % event)
            db.publish(topic, "P%s 1 %s -\n{}" % (epoch, event))
        db.publish(topic, '{"event":"after","data":{}}')
        client.expect("after")
        assert refused_messages(gw) == before + 2 * len(RESERVED)
        gw.publish(topic, "e")
        client.expect("e", offset=1)


def test_log_with_a_reserved_event_is_not_recovered_from(gw, http, db, topic):
    first = gw.publish(topic, "e")
    db.xadd(topic + "#log", {"e": "gap", "d": "{}", "i": "-", "t": "0"}, id="2-0")
    db.hset(topic + "#meta", "offset", 2)
    gw.publish(topic, "e")
    with gw.client() as client:
        answer = client.subscribe(topic, since={"epoch": first["epoch"], "offset": 1})
        assert (answer["recovered"], answer["offset"]) == (False, 3)
        client.expect_nothing()
    events = http.get(f"/v1/topics/{topic}/events").json()["events"]
    assert [event["offset"] for event in events] == [1, 3]


@pytest.mark.parametrize("headers", [
    {}, {"apikey": ""}, {"apikey": "x"}, {"apikey": API_KEY[:-1]}, {"apikey": API_KEY + "x"},
    {"apikey": API_KEY.upper()}, {"apikey": "backend"}, {"apikey": f"backend:{API_KEY}"},
    {"apikey": hashlib.sha256(API_KEY.encode()).hexdigest()}, {"authorization": API_KEY},
    {"authorization": f"Basic {API_KEY}"}, {"authorization": "Bearer"}, {"x-api-key": "x"},
], ids=range(13))
def test_without_a_valid_key(gw, watch, topic, headers):
    with gw.http(key=None) as http, watch() as seen:
        response = http.post("/v1/broadcast", json=message(topic), headers=headers)
        assert response.status_code == 401 and error_code(response) == "unauthorized"
    assert seen.on_behalf_of_clients() == []
    assert API_KEY not in gw.log_text


def test_key_as_bearer(gw, topic):
    with gw.http(key=None) as http:
        response = http.post("/v1/broadcast", json=message(topic), headers={"authorization": f"Bearer {API_KEY}"})
        assert response.status_code == 200


def test_key_in_the_url_is_not_a_key(gw, topic):
    with gw.http(key=None) as http:
        assert http.post(f"/v1/broadcast?apikey={API_KEY}", json=message(topic)).status_code == 401
    assert API_KEY not in gw.log_text


def test_service_token_may_publish_and_user_token_may_not(gw, token, topic):
    with gw.http(key=None) as http:
        for role, status in (("service", 200), ("user", 403)):
            headers = {"authorization": "Bearer " + token("b1", role=role)}
            assert http.post("/v1/broadcast", json=message(topic), headers=headers).status_code == status


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "PATCH"])
def test_other_methods(http, method):
    response = http.request(method, "/v1/broadcast")
    assert response.status_code == 405 and "POST" in response.headers["allow"]


def test_unknown_route(http):
    response = http.get("/v1/nothing")
    assert response.status_code == 404 and error_code(response) == "not_found"


def test_many_requests_on_one_connection(http, topic):
    for offset in range(1, 51):
        assert http.post("/v1/broadcast", json=message(topic)).json()["offset"] == offset
