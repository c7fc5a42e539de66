"""The client's last word on a topic counts, each request is answered once, and following costs what it is worth."""

import json

from Fixtures.clients import raw


def segment(*messages):
    """Messages that the gateway reads at once."""
    return b"".join(raw.frame(raw.TEXT, json.dumps(message).encode()) for message in messages)


def answers(connection, count):
    """The next so many messages of the gateway."""
    received = b""
    while len(raw.frames(received)) < count:
        piece = connection.recv(65_536)
        assert piece, f"closed after {raw.frames(received)}"
        received += piece
    return [json.loads(payload) for _, payload in raw.frames(received)]


def test_subscribe_and_unsubscribe_in_one_segment_ends_unsubscribed(gw, db, token, topics):
    """M2: a topic was joined after its unsubscribe, because Redis had been asked for the membership before."""
    topic = topics("conversation")
    db.sadd(f"{topic}#members", "m2")
    connection, _, _ = raw.upgrade(gw, f"Authorization: Bearer {token('m2')}")
    with connection:
        connection.sendall(segment(
            {"event": "subscribe", "data": {"topic": topic}, "ref": "join"},
            {"event": "unsubscribe", "data": {"topic": topic}, "ref": "leave"}))
        first = answers(connection, 2)
        assert {message["ref"]: message["event"] for message in first} == {"join": "error", "leave": "unsubscribed"}
        assert next(m for m in first if m["ref"] == "join")["data"]["code"] == "conflict"
        # The answer about the membership came long before this one.
        connection.sendall(segment({"event": "publish", "topic": topic, "data": {"event": "e"}, "ref": "p"}))
        assert [(m["event"], m["ref"]) for m in answers(connection, 1)] == [("ack", "p")]
        connection.sendall(segment({"event": "ping", "ref": "end"}))
        assert [(m["event"], m["ref"]) for m in answers(connection, 1)] == [("pong", "end")]
    with gw.http() as http:
        assert http.get(f"/v1/topics/{topic}").json()["subscribers"]["sessions"] == 0


def test_a_join_that_another_took_the_place_of_is_answered(gw, topics):
    """M2: the reference of a cancelled join was never answered."""
    topic = topics()
    connection, _, _ = raw.upgrade(gw)
    with connection:
        connection.sendall(segment(
            {"event": "subscribe", "data": {"topic": topic}, "ref": 1},
            {"event": "subscribe", "data": {"topic": topic}, "ref": 2}))
        assert [(m["event"], m["ref"]) for m in answers(connection, 2)] == [("error", 1), ("subscribed", 2)]


def test_a_refused_second_subscription_leaves_the_first_as_it_is(gateway, topics):
    """M3: a topic was left before the rate of joins was looked at, and nobody said so."""
    gw = gateway("--shards", "1", limits={"joinsPerSecond": 1, "subscribeBatchMax": 1})
    topic = topics()
    with gw.client() as client:
        client.subscribe(topic)
        refused = None
        for _ in range(8):
            answer = client.request("subscribe", {"topic": topic})
            if answer["event"] == "error":
                refused = answer
                break
        assert refused["data"]["code"] == "rate_limited"
        gw.publish(topic, "e", {"n": 1})
        client.expect("e", topic=topic, data={"n": 1})


def test_a_member_who_was_taken_out_and_subscribes_again_is_told_that_it_ends(gw, db, token, topics):
    """M3: the live subscription ended without a word; the refusal spoke of the second one only."""
    topic = topics("conversation")
    db.sadd(f"{topic}#members", "m3")
    with gw.client(token=token("m3")) as client:
        client.subscribe(topic)
        db.srem(f"{topic}#members", "m3")
        client.refused("subscribe", {"topic": topic}, "forbidden")
        client.expect("unsubscribed", topic=topic)
        client.expect_error("forbidden", topic=topic)


def test_subscribing_again_to_the_own_topic_joins_nothing_anew(gateway, db, server, token):
    """H2: 58 subscriptions of a user who follows 900 topics made 53,878 calls of scripts in 3 s."""
    gw = gateway("--shards", "1", server=server)
    follows = 200
    with server.client() as redis:
        redis.sadd("user:h2#follows", *(f"feed:h2-{number}" for number in range(follows)))

        def calls():
            return redis.info("commandstats").get("cmdstat_evalsha", {}).get("calls", 0)

        with gw.client(token=token("h2")) as client:
            client.subscribe("user:h2")
            begun = calls()
            for number in range(40):
                client.send("subscribe", {"topic": "user:h2"}, ref=number)
            seen = 0
            while seen < 40:
                seen += client.receive()["event"] in ("subscribed", "error")
            made = calls() - begun
            print(f"\n40 more subscriptions of a user who follows {follows} topics: {made} calls of scripts")
            assert made < follows
            gw.publish("feed:h2-7", "feed:new_post", {"id": "p1"})
            client.expect("feed:new_post", topic="user:h2")


def test_a_batch_of_joins_is_taken_or_refused_as_a_whole(gateway, topics):
    """J1: a refused batch said how long one join takes, and joined topics stood between refused ones."""
    gw = gateway("--shards", "1", limits={"joinsPerSecond": 10, "subscribeBatchMax": 20})
    with gw.client() as client:
        first, second = [topics() for _ in range(20)], [topics() for _ in range(20)]
        client.send("subscribe", {"topics": first}, ref=1)
        client.send("subscribe", {"topics": second}, ref=2)
        told = [client.receive() for _ in range(40)]
    joined = [message["topic"] for message in told if message["ref"] == 1]
    refused = [message for message in told if message["ref"] == 2]
    assert sorted(joined) == sorted(first)
    assert all(message["event"] == "subscribed" for message in told if message["ref"] == 1)
    assert [message["topic"] for message in refused] == second, "in the order of the request"
    assert all(message["data"]["code"] == "rate_limited" for message in refused)
    # 20 joins at 10 a second, less what has come back meanwhile.
    assert all(1_000 < message["data"]["retryAfterMs"] <= 2_000 for message in refused)
