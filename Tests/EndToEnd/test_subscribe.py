"""Joining a topic and receiving its events, whoever publishes them."""

import json

import pytest

from Fixtures.waiting import eventually


def test_answer_has_topic_position_and_reference(gw, topic):
    with gw.client() as client:
        client.send("subscribe", {"topic": topic}, ref="r-1")
        answer = client.expect("subscribed", ref="r-1", topic=topic)["data"]
    assert answer["topic"] == topic and answer["shopId"] == topic.split(":")[1]
    assert isinstance(answer["epoch"], str) and answer["epoch"]
    assert answer["offset"] == 0 and answer["recovered"] is False
    # Nothing was ever written for the shop: its queue is empty.
    assert answer["state"].pop("updatedAt") and answer["state"] == {
        "shopId": answer["shopId"], "queueLength": 0, "avgWaitTime": 0, "currentlyServing": 0,
        "estimatedWaitTimes": {"standard": 0, "blackCard": 5}}


def test_apps_shorthand_names_a_topic(gw, topic):
    with gw.client() as client:
        answer = client.request("subscribe", {"shopId": topic.split(":")[1]})
        assert answer["event"] == "subscribed" and answer["topic"] == topic


def test_answer_means_that_redis_confirmed(gw, db, topic):
    with gw.client() as client:
        client.subscribe(topic)
        assert db.pubsub_numsub(topic) == [(topic.encode(), 1)]


def test_event_published_over_http(gw, topic):
    with gw.client() as client:
        joined = client.subscribe(topic)
        position = gw.publish(topic, "queue:update", {"waiting": 3})
        assert position["topic"] == topic and position["epoch"] == joined["epoch"] and position["offset"] == 1
        client.expect("queue:update", topic=topic, data={"waiting": 3}, offset=1)
        client.expect_nothing()


def test_event_published_straight_into_redis(gw, db, topic):
    with gw.client() as client:
        client.subscribe(topic)
        assert db.publish(topic, '{"event":"hello","data":{"n":1}}') == 1
        message = client.expect("hello", topic=topic, data={"n": 1})
        assert "offset" not in message, "a plain publish has no place in the log"


@pytest.mark.parametrize("payload", [
    "", "x", "{", "[]", '{"data":{}}', '{"event":1,"data":{}}', '{"event":"a b","data":{}}',
    '{"event":"e","data":[]}', '{"event":"e","data":{}}x', b'{"event":"e","data":{"a":"\xff"}}', b"\x00", "P",
    "Pk 1 e -", "Pk 0 e -\n{}", "Pk x e -\n{}", "Pk 1 e -\n[]", "Pk 1 e\n{}", "P" + "k" * 100_000,
    '{"event":"e","data":' + '{"a":' * 200 + "1" + "}" * 201,
], ids=range(19))
def test_garbage_on_a_channel_is_dropped(gw, db, topic, payload):
    with gw.client() as client:
        client.subscribe(topic)
        db.publish(topic, payload)
        db.publish(topic, '{"event":"after","data":{}}')
        client.expect("after")


def test_event_published_by_a_client(gw, token, topics):
    topic = topics("conversation")
    with gw.client(token=token("u1", topics=[topic])) as one, gw.client(token=token("u2", topics=[topic])) as two:
        two.subscribe(topic)
        answer = one.request("publish", {"event": "message:new", "data": {"text": "hi"}, "id": "m-1"}, topic=topic)
        assert answer["event"] == "ack" and answer["data"]["offset"] == 1
        two.expect("message:new", topic=topic, data={"text": "hi"}, offset=1)
        again = one.request("publish", {"event": "message:new", "data": {"text": "hi"}, "id": "m-1"}, topic=topic)
        assert again["data"] == answer["data"], "a retry gets the same position"
        two.expect_nothing()


def test_anyone_publishes_where_anyone_may(gateway, topics):
    topic = topics("chat")
    config = {"namespaces": {"chat": {"subscribe": "anyone", "publish": "anyone"}}}
    with gateway(config=config).client() as client:
        client.subscribe(topic)
        client.send("publish", {"event": "message:new", "data": {}}, topic=topic, ref=1)
        assert {client.receive()["event"] for _ in range(2)} == {"ack", "message:new"}, "it was once not answered"


def test_publisher_that_is_subscribed_receives_its_own_event(gw, token, topics):
    topic = topics("conversation")
    with gw.client(token=token("u1", topics=[topic])) as client:
        client.subscribe(topic)
        client.send("publish", {"event": "message:new", "data": {}}, topic=topic, ref=1)
        assert {client.receive()["event"] for _ in range(2)} == {"ack", "message:new"}


def test_data_arrives_byte_for_byte(gw, topic):
    data = {"text": "é😀\u0000\r\n\"\\/", "big": 9007199254740993, "nested": [[], {}, None, True, 1.5e-7]}
    with gw.client() as client:
        client.subscribe(topic)
        gw.publish(topic, "e", data)
        client.expect("e", data=data)


def test_events_arrive_in_order(gw, topic):
    with gw.client() as client, gw.http() as http:
        client.subscribe(topic)
        for first in range(0, 500, 100):
            messages = [{"topic": topic, "event": "e", "data": {"n": n}} for n in range(first, first + 100)]
            assert http.post("/v1/broadcast", json={"messages": messages}).status_code == 200
        for number in range(500):
            client.expect("e", data={"n": number}, offset=number + 1)


def test_batch_subscribe_answers_each_topic(gw, topics):
    names = [topics() for _ in range(10)]
    with gw.client() as client:
        client.send("subscribe", {"topics": names}, ref=7)
        answers = [client.expect("subscribed", ref=7) for _ in names]
        assert sorted(answer["topic"] for answer in answers) == sorted(names)
        gw.publish(names[3], "e", {})
        client.expect("e", topic=names[3])


def test_batch_refuses_only_the_topics_that_must_be(gw, topics):
    good, bad = topics(), topics("order")
    with gw.client() as client:
        client.send("subscribe", {"topics": [good, bad]}, ref=7)
        answers = {(message["event"], message["topic"]) for message in (client.receive(), client.receive())}
        assert answers == {("subscribed", good), ("error", bad)}


def test_second_subscribe_of_a_topic_does_not_double_its_events(gw, topic):
    with gw.client() as client:
        client.subscribe(topic)
        client.request("subscribe", {"topic": topic})
        gw.publish(topic, "e", {})
        client.expect("e", offset=1)
        client.expect_nothing()


def test_unsubscribe(gw, db, topic):
    with gw.client() as client:
        client.subscribe(topic)
        answer = client.request("unsubscribe", {"topic": topic})
        assert answer["event"] == "unsubscribed" and answer["topic"] == topic
        gw.publish(topic, "e", {})
        client.expect_nothing()
        eventually(lambda: db.pubsub_numsub(topic)[0][1] == 0, 5, "UNSUBSCRIBE after the linger")


def test_last_member_gone_unsubscribes_redis(gw, db, topic):
    with gw.client() as one, gw.client() as two:
        one.subscribe(topic)
        two.subscribe(topic)
        one.close()
        gw.publish(topic, "e", {})
        two.expect("e")
    eventually(lambda: db.pubsub_numsub(topic)[0][1] == 0, 5, "UNSUBSCRIBE after the linger")


def test_state_comes_with_the_answer(gw, db, topic):
    state = {"customersWaiting": 4, "waitMinutes": 12}
    db.set("queue:" + topic.split(":")[1], json.dumps(state), ex=60)
    with gw.client() as client:
        assert client.subscribe(topic)["state"] == state


def test_broken_state_is_no_state(gw, db, topic):
    db.set("queue:" + topic.split(":")[1], '{"a":nan}', ex=60)
    with gw.client() as client:
        assert "state" not in client.subscribe(topic)


@pytest.mark.parametrize("path", ["/ws", "/queue", "/bookings", "/social", "/dj", "/challenges"])
def test_every_path_of_the_apps(gw, path):
    with gw.client(path) as client:
        client.expect_nothing()


@pytest.mark.parametrize("ref", [1, 0, -5, 1.5, "a", "", "é", 9007199254740993, "x" * 50])
def test_reference_comes_back_as_it_was(gw, ref):
    with gw.client() as client:
        client.send("ping", ref=ref)
        assert client.expect("pong")["ref"] == ref


def test_ping_without_reference(gw):
    with gw.client() as client:
        client.send("ping")
        assert client.expect("pong") == {"event": "pong"}


@pytest.mark.parametrize("text", [
    "", "x", "{", "[]", "1", "null", '{"data":{}}', '{"event":1}', '{"event":"subscribe"}',
    '{"event":"subscribe","data":[]}', '{"event":"subscribe","data":{"topic":1}}',
    '{"event":"subscribe","data":{"topics":[]}}', '{"event":"subscribe","data":{"topic":"shop:1","shopId":"2"}}',
    '{"event":"ping","event":"ping"}', '{"event":"publish","data":{}}', '{"event":"ping"}{}',
], ids=range(16))
def test_malformed_message_is_an_error_and_the_connection_stays(gw, text):
    with gw.client() as client:
        client.send_raw(text)
        client.expect_error("bad_request")
        client.expect_nothing()


def test_unknown_command(gw):
    with gw.client() as client:
        client.refused("no:such:command", {}, "not_found")


def test_unknown_namespace_does_not_exist(gw):
    with gw.client() as client:
        client.refused("subscribe", {"topic": "nowhere:1"}, "not_found")


def test_many_members_of_one_topic(gw, topic):
    clients = [gw.client() for _ in range(50)]
    try:
        for client in clients:
            client.subscribe(topic)
        for number in range(1, 6):
            gw.publish(topic, "e", {"n": number})
        for client in clients:
            for number in range(1, 6):
                client.expect("e", offset=number, data={"n": number})
    finally:
        for client in clients:
            client.close()


def test_what_scripts_make_of_many_inputs_is_told(gw, db, topic):
    """A state or an event of more than 10,000 values was dropped without a word: it had the bound of inputs."""
    wide = json.dumps({"tracks": [[1, 2, 3]] * 3_000})
    db.set("queue:" + topic.split(":")[1], wide, ex=60)
    with gw.client() as client:
        joined = client.subscribe(topic)
        assert joined["state"] == json.loads(wide)
        db.publish(topic, f"P{joined['epoch']} 1 wide -\n{wide}")
        client.expect("wide", offset=1, data=json.loads(wide))


def test_a_plain_publish_is_bounded(gw, db, topic):
    """A plain PUBLISH of any size was parsed, and kept for every member."""
    with gw.client() as client:
        client.subscribe(topic)
        for count in (65_536 - len('{"a":""}'), 65_536 - len('{"a":""}') + 1):
            db.publish(topic, json.dumps({"event": f"e{count}", "data": {"a": "x" * count}}, separators=(",", ":")))
        assert len(client.expect("e65528")["data"]["a"]) == 65_528
        client.expect_nothing()


def test_publishes_are_counted_by_the_door_they_came_through(gw, topic, token):
    """Only publishes over HTTP were counted."""
    def count(door):
        return gw.metric("switchboard_publishes_total", door=door)

    before = {door: count(door) for door in ("http", "websocket")}
    own = f"conversation:{topic.split(':')[1]}"
    with gw.client(token=token(topics=[own])) as client:
        client.request("publish", {"topic": own, "event": "e", "data": {}})
    gw.publish(topic)
    assert {door: count(door) - before[door] for door in before} == {"http": 1, "websocket": 1}
