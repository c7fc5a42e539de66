"""Topics are bytes: what only looks like a topic is none, and no refused request reaches Redis."""

import json

import pytest

ID = "test-rights"

# Not topics at all.
MALFORMED = {
    "empty": "", "no colon": "shop", "no id": "shop:", "no namespace": ":1", "colon": ":", "space": "shop:a b",
    "leading space": " shop:1", "trailing space": "shop:1 ", "tab": "shop:a\tb", "newline": "shop:1\n",
    "CRLF": "shop:1\r\nPUBLISH x y", "NUL": "shop:1\u0000", "NUL inside": "shop:\u00001", "upper case": "SHOP:1",
    "title case": "Shop:1", "NFC": "shop:caf\u00e9", "NFD": "shop:cafe\u0301", "combining": "shop:\u0301x",
    "combining after namespace": "shop\u0301:x", "zero width": "shop:1\u200b", "right to left": "shop:\u202e1",
    "homoglyph": "sh\u043ep:1", "full width": "shop\uff1a1",
    "soft hyphen": "shop:1\u00ad", "BOM": "\ufeffshop:1",
    "star": "shop:*", "question mark": "shop:?", "set": "shop:[a-z]", "caret": "shop:^", "backslash": "shop:\\",
    "braces": "shop:{1}", "hash": "shop:1#log", "facet": "shop:1#meta",
    "slash": "shop:a/b", "dots and slash": "shop:../x",
    "percent": "shop:%2e%2e", "at": "__keyspace@0__:*", "keyevent": "__keyevent@0__:expired",
    "sentinel": "__sentinel__:hello", "quote": 'shop:"', "apostrophe": "shop:'", "plus": "shop:+", "comma": "shop:a,b",
    "201 bytes": "shop:" + "x" * 201, "33 byte namespace": "n" * 33 + ":1", "64 kB": "shop:" + "x" * 60_000,
    "digit first": "1shop:1", "hyphen first": "-shop:1", "underscore": "sh_op:1", "emoji": "shop:😀",
}

# Topics of namespaces that do not exist.
UNKNOWN = ["nowhere:1", "realtime:shop:1", "queue:1", "shops:1", "sho:1", "probe:1", "switchboard:probe", "user-:u1",
           "leaderboard:1", "n" * 32 + ":1"]

# Topics of others, for user u1 whose token grants order:7 and conversation:a*.
FORBIDDEN = ["user:u2", "user:U1", "user:u1x", "user:u", "user:u1:x", "user:u1.", "user:u1~", "order:8", "order:77",
             "order:7:x", "order:07", "order:7.", "booking:7", "conversation:b", "conversation:A", "conversation:-a",
             "session:a1"]
GRANTED = ["user:u1", "order:7", "conversation:a", "conversation:abc", "conversation:a:b"]


@pytest.fixture
def client(gw, token):
    with gw.client(token=token("u1", topics=["order:7", "conversation:a*"])) as client:
        yield client


def words(seen):
    return {word[0] for word in seen.on_behalf_of_clients()}


@pytest.mark.parametrize("event", ["subscribe", "unsubscribe", "publish"])
@pytest.mark.parametrize("name", MALFORMED)
def test_what_is_no_topic(client, watch, event, name):
    with watch() as seen:
        data = {"event": "e", "data": {}} if event == "publish" else {}
        client.refused(event, data, "bad_request", topic=MALFORMED[name])
    assert seen.on_behalf_of_clients() == []


@pytest.mark.parametrize("name", MALFORMED)
def test_what_is_no_topic_in_every_other_place(client, watch, name):
    text = MALFORMED[name]
    with watch() as seen:
        for data in ({"topic": text}, {"topics": [text]}, {"topics": [{"topic": text}]}):
            client.refused("subscribe", data, "bad_request")
    assert seen.on_behalf_of_clients() == []


def test_bytes_that_are_not_text(client, watch):
    with watch() as seen:
        for raw in (b'"shop:\\ud800"', b'"shop:1\\u0000"', b"1", b"null", b"{}", b"[]", b"true"):
            client.send_raw((b'{"event":"subscribe","ref":1,"data":{"topic":' + raw + b"}}").decode())
            client.expect_error("bad_request")
    assert seen.on_behalf_of_clients() == []


@pytest.mark.parametrize("topic", UNKNOWN)
def test_namespace_that_does_not_exist(client, watch, topic):
    with watch() as seen:
        client.refused("subscribe", {"topic": topic}, "not_found")
        client.refused("publish", {"event": "e", "data": {}}, "not_found", topic=topic)
    assert seen.on_behalf_of_clients() == []


@pytest.mark.parametrize("topic", FORBIDDEN)
def test_topic_of_somebody_else(client, watch, topic):
    with watch() as seen:
        client.refused("subscribe", {"topic": topic}, "forbidden")
    # `granted` asks once whether the user is a member; nothing else may be asked.
    for command in seen.on_behalf_of_clients():
        assert command == ["SISMEMBER", topic + "#members", "u1"]


@pytest.mark.parametrize("topic", GRANTED)
def test_topic_of_ones_own(client, topic):
    client.subscribe(topic)


@pytest.mark.parametrize("topic", ["shop:1", "dj:1", "order:7", "user:u1", "booking:1", "challenge:1"])
def test_users_do_not_publish_where_services_do(client, watch, topic):
    with watch() as seen:
        client.refused("publish", {"event": "e", "data": {}}, "forbidden", topic=topic)
    assert seen.on_behalf_of_clients() == []


@pytest.mark.parametrize("topic", ["user:u1", "order:7", "booking:1", "session:1", "conversation:1"])
def test_anonymous_client(gw, watch, topic):
    with gw.client() as client, watch() as seen:
        client.refused("subscribe", {"topic": topic}, "unauthorized")
        client.refused("publish", {"event": "e", "data": {}}, "unauthorized", topic=topic)
    assert seen.on_behalf_of_clients() == []


def test_allowed_requests_use_only_expected_commands(gw, watch, db, token, topics):
    """What a subscribe, an event and a publish ask of Redis, whole."""
    conversation = topics("conversation")
    with gw.client(token=token("u1", topics=[conversation])) as client, watch() as seen:
        client.subscribe(conversation)
        client.send("publish", {"event": "e", "data": {}}, topic=conversation, ref=1)
        assert {client.receive()["event"] for _ in range(2)} == {"ack", "e"}
    assert words(seen) <= {"SUBSCRIBE", "EVALSHA", "EVAL", "SCRIPT"}
    for command in seen.on_behalf_of_clients():
        if command[0] == "SUBSCRIBE":
            assert command[1:] == [conversation]
        if command[0] in ("EVALSHA", "EVAL"):
            keys = command[3:3 + int(command[2])]
            assert all(key.split("#")[0] == conversation for key in keys), keys
    assert "PSUBSCRIBE" not in words(seen)


def test_nothing_crosses_topics(gw, db, token, topics):
    """A canary on one order's channel is seen by its owner only, whatever the others are subscribed to."""
    mine, near = topics("order"), topics("order")
    with gw.client(token=token("u1", topics=[mine])) as one, gw.client(token=token("u2", topics=[near])) as two:
        one.subscribe(mine)
        two.subscribe(near)
        db.publish(mine, json.dumps({"event": "e", "data": {"canary": 1}}))
        gw.publish(mine, "e", {"canary": 2})
        one.expect("e", data={"canary": 1})
        one.expect("e", data={"canary": 2})
        gw.publish(near, "e", {})
        two.expect("e", topic=near, data={})
        two.expect_nothing()
