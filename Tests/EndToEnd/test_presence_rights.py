"""Who may be listed as here, who may see it, and what of it nobody can forge or fill up."""

import contextlib
import itertools
import json

from Fixtures.clients.phoenix import Frames
from Fixtures.clients.present import (  # noqa: F401 fixtures among them
    answered, change, changes, joined, listed, names, not_tracked, pair, redis_here, topic, tracked, users)
from Fixtures.processes.gateway import error_code
from Fixtures.waiting import eventually


def test_limits_are_told(pair, token):
    name = topic()
    with pair[0].client(token=token("u1")) as client:
        not_tracked(client, name, "conflict")
        joined(client, name)
        assert "100" in not_tracked(client, name, "too_large", a="x" * 100)
        for other in (topic(), topic(), topic()):
            # Where it is listed already, it may be told of itself first.
            client.send("subscribe", {"topic": other}, ref=other)
            answered(client, other, "subscribed")
            tracked(client, other)
        not_tracked(client, name, "too_large")
        client.send("untrack", {"topic": other}, ref="away")
        answered(client, "away")
        tracked(client, name)
        client.send("untrack", {"topic": topic()}, ref="nowhere")
        answered(client, "nowhere")


def test_one_user_cannot_take_all_places_of_a_topic(pair, token):
    name = topic()
    with contextlib.ExitStack() as stack:
        def come(user, gateway):
            client = stack.enter_context(gateway.client(token=token(user)))
            client.subscribe(name)
            return client

        for number in range(4):
            tracked(come("u-many", pair[number % 2]), name)
        eventually(lambda: len(users(pair[0], name, token("u1"))) == 4, 10, "four entries")
        last = stack.enter_context(pair[0].client(token=token("u-many")))
        told = len(joined(last, name))
        while told < 4:
            told += len(change(last, name)[0])
        assert "one user" in not_tracked(last, name, "too_large")
        tracked(come("u-other", pair[0]), name)
        eventually(lambda: len(users(pair[1], name, token("u1"))) == 5, 10, "another user's entry")


def test_a_user_named_like_a_member_of_every_object_is_listed_under_another_key(pair, token):
    """JavaScript clients of Phoenix look keys up in a plain object: `constructor` failed all who were in the room."""
    name = topic()
    with pair[0].client(token=token("constructor")) as client:
        joined(client, name)
        entry = tracked(client, name)
        eventually(lambda: users(pair[0], name, token("u1")) == ["constructor"], 10, "the entry")
        (member,) = listed(pair[0], name, token("u1")).json()["members"]
        assert (member["user"], member["key"]) == ("constructor", entry)


def test_a_client_that_says_something_new_all_the_time_is_limited(pair, token):
    """What one says is told to everybody, so it costs what a publish does."""
    name = topic()
    with pair[0].client(token=token("u-busy")) as client:
        client.subscribe(name)
        for number in range(40):
            client.send("track", {"topic": name, "meta": {"n": number}}, ref=number)
        codes, told = [], 0
        while len(codes) < 40:
            message = client.receive()
            if "ref" in message:
                codes.append(message["data"].get("code", "ack"))
            told += message["event"] == "presence"
        assert codes.count("rate_limited") >= 10 and codes.count("ack") >= 20
        assert told <= 10


def test_whose_entry_it_is_nobody_can_choose(pair, token):
    """A client that says it is somebody else is listed with its own user, in every view."""
    name = f"presence-{next(names)}"
    with Frames(pair[0], token("mallory")) as forger, pair[1].client(token=token("u1")) as client:
        joined(client, f"phoenix:{name}")
        forger.join(f"realtime:{name}", presence={"key": "ann", "enabled": True})
        assert forger.pull()[3] == "presence_state"
        forged = {"phx_user": "ann", "phx_ref": "x", "user": "ann", "id": "ann"}
        forger.push("1", "2", f"realtime:{name}", "presence", {"event": "track", "payload": forged})
        (member,) = client.expect("presence")["data"]["joins"]
        assert member["user"] == "mallory" and member["meta"] == {"user": "ann", "id": "ann"}
        diff = [frame for frame in (forger.pull(), forger.pull()) if frame[3] == "presence_diff"][0]
        (meta,) = diff[4]["joins"]["ann"]["metas"]
        assert meta["phx_user"] == "mallory" and meta["phx_ref"] != "x"
        client.refused("publish", {"event": "presence", "data": {}}, "bad_request", topic=f"phoenix:{name}")


def test_who_may_not_subscribe_may_not_see(pair, token):
    name = topic("conversation")
    with pair[0].http() as http:
        http.put(f"/v1/topics/{name}/members/u1")
    for gateway in pair:
        assert users(gateway, name, token("u1")) == []
        assert listed(gateway, name, token("u2")).status_code == 403
        assert listed(gateway, name).status_code == 401
        assert error_code(listed(gateway, topic("shop"))) == "not_found"
        assert listed(gateway, name, token("u1"), limit=0).status_code == 400
        assert listed(gateway, name, token("u1"), after="#").status_code == 400
    with pair[0].client(token=token("u1")) as client:
        client.send("subscribe", {"topic": topic("shop"), "presence": True})
        client.expect("subscribed")
        client.expect_error("not_found")


def test_a_member_taken_out_is_gone_at_once(pair, token):
    name = topic("conversation")
    with pair[0].http() as http, pair[0].client(token=token("u1")) as one, pair[1].client(token=token("u2")) as two:
        for user in ("u1", "u2"):
            http.put(f"/v1/topics/{name}/members/{user}")
        joined(two, name)
        joined(one, name)
        tracked(one, name)
        changes(two, name, joins=["u1"])
        http.delete(f"/v1/topics/{name}/members/u1")
        assert change(two, name) == ([], [], ["u1"])
        while one.receive()["event"] != "error":
            pass
        one.refused("track", {"topic": name}, "conflict")


def test_nobody_in_particular_is_listed_only_where_anyone_may_publish(pair, token):
    """Being listed tells everybody something, as a publish does."""
    board, lobby = topic("board"), topic("lobby")
    with pair[0].client() as client, pair[1].client(token=token("u1")) as other:
        assert joined(client, board) == [] and joined(other, board) == [], "everybody sees"
        not_tracked(client, board, "unauthorized")
        joined(client, lobby)
        id = tracked(client, lobby, name="guest")
        (member,) = joined(other, lobby)
        assert member == {"id": id, "user": None, "key": id, "meta": {"name": "guest"}}
        tracked(other, board)
        assert change(client, lobby) == ([id], [], [])
        assert change(client, board) == (["u1"], [], [])


def test_nothing_stays_in_redis(pair, redis_here, token):
    """A topic that everybody has left keeps its version for a while, and then nothing."""
    name = topic()
    with pair[0].client(token=token("u1")) as client:
        joined(client, name)
        tracked(client, name)
    with redis_here.client() as db:
        eventually(lambda: db.hkeys(f"{name}#here") == [b"#"])
        assert 0 < db.ttl(f"{name}#here") <= 300
        assert 0 < db.ttl("#here-nodes") <= 120
    eventually(lambda: sum(gateway.metric("switchboard_presence") for gateway in pair) == 0)


def test_what_others_write_into_the_set_harms_nobody(pair, redis_here, token):
    """The set and the channel are open to whoever writes to Redis: what is no entry is skipped."""
    name = topic()
    with redis_here.client() as db, pair[0].client(token=token("u1")) as client:
        db.hset(f"{name}#here", mapping={"#": "e 4", "x": "nonsense", "y": "{}", "a b": "{}"})
        assert joined(client, name) == []
        for text in ("H", "Hx\n", "He 5\n[]", "He 9\n" + json.dumps({"left": [], "here": [["x", {}]]})):
            db.publish(name, text)
        tracked(client, name, n=1)
        assert change(client, name) == (["u1"], [], [])
        db.publish(name, "He 99\n" + json.dumps({"left": [], "here": []}))
        assert tracked(client, name, n=2)
        assert change(client, name) == ([], ["u1"], [])


def test_a_gateway_that_cannot_say_that_it_lives_lists_nobody(pair, redis_here, token):
    """Others would take whoever it lists for a dead one's; it asked Redis again as fast as Redis answered."""
    name = topic()
    with redis_here.client() as db, pair[0].client(token=token("u1")) as client:
        client.subscribe(name)
        db.delete("#here-nodes")
        db.lpush("#here-nodes", "x")
        before, words = pair[0].metric("switchboard_redis_commands_total"), itertools.count()

        def refused():
            # Saying the same again would ask nothing of Redis.
            client.send("track", {"topic": name, "meta": {"n": next(words)}}, ref="t")
            while (message := client.receive(10)).get("ref") != "t":
                pass
            return message["event"] == "error" and message["data"]["code"] == "unavailable"
        eventually(refused, 10)
        assert pair[0].metric("switchboard_redis_commands_total") - before < 200
        db.delete("#here-nodes")
        eventually(lambda: not refused(), 10)
        assert users(pair[1], name, token()) == ["u1"]
