"""Messaging beyond the messages: typing, presence, blocks, erasing, and what others wrote into the keys."""

import json
import re

import pytest

from Fixtures.scripts.chats import Joins, chats, commands, refused
from Fixtures.scripts.lua_scripts import NOW_MS, built_in, lasting

PAIR = "ann_bob"


# Typing and presence


def test_typing_is_in_no_history(chats, db):
    link = db.pubsub(ignore_subscribe_messages=True)
    link.subscribe(f"conversation:{PAIR}")
    link.get_message(timeout=5)
    assert chats.do("typing", "ann", PAIR, typing=True) == {"conversationId": PAIR, "typing": True}
    chats.do("typing", "ann", PAIR, typing=False)
    heard = [json.loads(link.get_message(timeout=5)["data"]) for _ in range(2)]
    link.close()
    assert heard == [{"event": "typing", "data": {"conversationId": PAIR, "userId": "ann", "typing": typing}}
                     for typing in (True, False)]
    assert db.keys("*") == []


def presence(chats):
    return [(data["userId"], data["online"], data["lastSeen"]) for event, data in chats.log(PAIR)
            if event == "presence:changed"]


def test_presence_is_told_where_a_user_has_written(chats, db):
    """Whoever wrote to a stranger would have learned when the stranger is there."""
    beat = {"role": "worker", "userId": "bob"}
    chats.send("ann", PAIR)
    chats.commands.call("beat_chats", **beat)
    chats.commands.relay()
    assert presence(chats) == []
    chats.send("bob", PAIR)
    assert presence(chats) == [("bob", True, "2026-11-20T20:03:20.123Z")]
    chats.send("bob", PAIR)
    for step in range(1, 4):
        chats.commands.call("beat_chats", now_ms=NOW_MS + 20_000 * step, **beat)
    assert chats.commands.relay() == [] and len(presence(chats)) == 1, "a beat tells nothing new"
    assert chats.commands.call("seen_refresh", userId="bob", now_ms=NOW_MS + 124_999)[0] == {
        "idle": False, "again_ms": NOW_MS + 125_000}
    assert chats.commands.call("seen_refresh", userId="bob", now_ms=NOW_MS + 125_000)[0] == {"idle": True}
    chats.commands.relay()
    assert presence(chats)[1:] == [("bob", False, "2026-11-20T20:04:20.123Z")]
    chats.commands.call("beat_chats", now_ms=NOW_MS + 200_000, **beat)
    chats.commands.relay()
    assert presence(chats)[2:] == [("bob", True, "2026-11-20T20:06:40.123Z")]


def test_presence_is_told_where_a_user_has_read(chats, db):
    """The partner sees who reads a conversation before the first answer; a mark of delivery is not enough for that."""
    beat = {"role": "worker", "userId": "bob"}
    chats.send("ann", PAIR, id="m1")
    chats.commands.call("beat_chats", **beat)
    chats.commands.relay()
    chats.do("delivered", "bob", PAIR, upTo="m1")
    assert presence(chats) == []
    chats.do("read", "bob", PAIR, upTo="m1")
    assert presence(chats) == [("bob", True, "2026-11-20T20:03:20.123Z")]
    state = Joins(chats.commands).state(PAIR, "ann")
    assert [member["online"] for member in state["members"]] == [False, True]
    chats.commands.call("seen_refresh", userId="bob", now_ms=NOW_MS + 70_000)
    chats.commands.relay()
    assert presence(chats)[-1][:2] == ("bob", False)
    chats.send("bob", PAIR)
    assert db.exists("user:bob#opened") == 0 and db.zcard("user:bob#spoken") == 1


def test_the_end_of_the_last_connection_is_told_within_seconds(chats, db):
    for user in ("ann", "bob"):
        chats.send(user, PAIR)

    def beat(by, step, **more):
        chats.commands.call("beat_chats", role="worker", userId="bob", by=by, now_ms=NOW_MS + step, **more)
        chats.commands.relay()

    def refresh(step):
        answer = chats.commands.call("seen_refresh", userId="bob", now_ms=NOW_MS + step)[0]
        chats.commands.relay()
        return answer

    beat("one.0", 0)
    beat("two.0", 500)
    assert [shown for _, shown, _ in presence(chats)] == [True]
    beat("one.0", 1_000, gone=True)
    assert refresh(20_000) == {"idle": False, "again_ms": NOW_MS + 65_500}, "another device is there"
    beat("two.0", 20_000, gone=True)
    assert refresh(20_001) == {"idle": False, "again_ms": NOW_MS + 23_000}
    beat("two.1", 22_000)
    assert refresh(23_000)["idle"] is False and len(presence(chats)) == 1, "the phone is back on another network"
    beat("two.1", 30_000, gone=True)
    assert refresh(33_000) == {"idle": True}
    assert presence(chats)[-1][1:] == (False, "2026-11-20T20:03:50.123Z")
    beat("two.1", 31_000, gone=True)
    assert len(presence(chats)) == 2, "a late word tells nothing"


def test_a_gateway_that_died_counts_until_its_heartbeats_end(chats, db):
    for user in ("ann", "bob"):
        chats.send(user, PAIR)
    for by, step, more in (("dead.0", 0, {}), ("one.0", 1_000, {}), ("one.0", 40_000, {"gone": True}),
                           ("one.0", 66_000, {}), ("one.0", 67_000, {"gone": True})):
        chats.commands.call("beat_chats", role="worker", userId="bob", by=by, now_ms=NOW_MS + step, **more)
    assert db.exists("user:bob#leaving") == 1, "65 s after its last heartbeat the dead one counts no more"


def test_presence_is_hidden_from_the_blocked(chats):
    for user in ("ann", "bob"):
        chats.send(user, PAIR)
    chats.block("bob", "ann")
    chats.commands.call("beat_chats", role="worker", userId="bob")
    chats.commands.relay()
    assert presence(chats) == []


# Blocks


def test_in_a_direct_conversation_neither_hears_the_other(chats):
    chats.send("ann", PAIR, "before", id="m1")
    chats.send("bob", PAIR, "mine", id="m2")
    chats.block("bob", "ann")
    heard = len(chats.log(PAIR))
    for user, own in (("ann", "m1"), ("bob", "m2")):
        refused("blocked", chats.send, user, PAIR)
        refused("blocked", chats.do, "modify_message", user, PAIR, messageId=own, text="loud")
        chats.do("typing", user, PAIR)
        chats.do("read", user, PAIR, upTo="m2")
        assert [one["id"] for one in chats.all(user, PAIR)] == [own]
        assert chats.all(user, PAIR)[0]["readBy"] == []
    assert len(chats.log(PAIR)) == heard, "nothing is told"
    again = chats.send("ann", PAIR, "before", id="m1")
    assert again == chats.all("ann", PAIR)[0], "a retry of what was sent is answered, and tells what a page tells"
    assert (again["id"], again["status"], again["readBy"]) == ("m1", "sent", [])
    chats.block("bob", "ann", word="unblock")
    assert chats.send("ann", PAIR)["status"] == "sent"
    assert len(chats.all("bob", PAIR)) == 3


def test_in_a_group_neither_hears_the_other(chats, commands):
    """What is told on the group's topic is heard by all of it, so there nothing may be told that one must not hear."""
    group = chats.group("ann", "bob", "cat")
    chats.send("ann", group, "before", id="m1")
    chats.block("bob", "ann")
    chats.send("ann", group, "secret", id="m2", now_ms=NOW_MS + 5)
    chats.do("modify_message", "ann", group, messageId="m2", text="more secret")
    chats.do("typing", "bob", group)
    chats.send("cat", group, "open", id="m3", now_ms=NOW_MS + 9)
    told = chats.log(group)
    assert [event for event, _ in told] == ["message:added", "messages:changed", "messages:changed", "message:added"]
    assert told[1][1] == told[2][1] == {"conversationId": group}
    seen = {user: [one["id"] for one in chats.all(user, group)] for user in ("ann", "bob", "cat")}
    assert seen == {"ann": ["m3", "m2", "m1"], "bob": ["m3"], "cat": ["m3", "m2", "m1"]}
    assert [item["unread"] for user in ("bob", "cat") for item in chats.list(user)] == [1, 2]
    assert "secret" not in json.dumps(commands.log("user:bob")) and "secret" in json.dumps(commands.log("user:cat"))
    refused("not_found", chats.do, "modify_message", "bob", group, messageId="m2", text="x")
    chats.do("read", "bob", group, upTo="m3")
    assert chats.all("ann", group)[0]["readBy"] == [], "and readers whom one does not hear are none"
    assert chats.all("cat", group)[0]["readBy"] == ["bob"]
    chats.block("bob", "ann", word="unblock")
    chats.send("ann", group, "hello again", id="m4", now_ms=NOW_MS + 12)
    assert chats.log(group)[-1][0] == "message:added" and len(chats.all("bob", group)) == 4


@pytest.mark.parametrize("blocker, other", [("bob", "cat"), ("cat", "bob")])
def test_who_comes_into_a_group_is_walled_off_at_once(chats, blocker, other):
    chats.block(blocker, other)
    group = chats.group("ann", "bob")
    chats.do("add_member", "ann", group, memberId="cat")
    chats.send("bob", group, "secret")
    assert chats.all("cat", group) == [] and len(chats.all("ann", group)) == 1


def test_nobody_is_taken_into_a_group_by_whom_he_blocks(chats, db):
    chats.block("bob", "eve")
    group = chats.group("eve", "bob", "cat")
    assert chats.list("bob") == [] and chats.list("cat")[0]["members"] == ["cat", "eve"]
    assert not db.hexists(f"conversation:{group}#roll", "bob")
    chats.do("add_member", "eve", group, memberId="bob")
    assert chats.list("bob") == []


def test_a_change_of_many_blocks_is_carried_in_parts(chats, db):
    group = chats.group("ann", "bob")
    db.sadd("user:bob#blocks", "ann", *(f"u{n}" for n in range(50)))
    runs = 0
    while not chats.refresh("walls_refresh", "bob")["idle"]:
        runs += 1
    assert runs == 25 and db.hgetall(f"conversation:{group}#walls") == {b">bob": b"ann", b"<ann": b"bob"}
    assert db.scard("user:bob#walled") == 51


# Erasing and exporting


def test_an_erased_user_leaves_no_text(chats, db, commands):
    group = chats.group("ann", "bob", "cat")
    for number in range(3):
        chats.send("bob", group, f"words of bob {number}", id=f"b{number}")
        chats.send("bob", PAIR, f"words of bob {number}", id=f"p{number}")
    chats.do("remove_message", "bob", group, messageId="b0")
    chats.send("ann", group, "words of ann", id="a1")
    chats.send("bob", group, "words of bob again", id="b9")
    chats.do("read", "bob", group, upTo="a1")
    assert commands.call("erase_chats", role="worker", userId="bob")[0] == {"left": 0}
    commands.erase_people(role="worker", userId="bob")
    commands.relay()
    assert chats.list("bob") == []
    assert [one["id"] for one in chats.all("ann", group)] == ["a1"] and chats.all("ann", PAIR) == []
    assert chats.all("ann", group)[0]["readBy"] == []
    assert [(item["id"], item["members"], item["lastMessage"]) for item in chats.list("cat")] == [
        (group, ["ann", "cat"], "words of ann")]
    assert [item["id"] for item in chats.list("ann")] == [group], "in the other only the erased user had written"
    # The logs of conversations held the texts for a day. Own topics: test_messaging_cuts.py.
    left = [key for key in lasting(db) if not re.search(rb"#(meta|done)|^user:(ann|bob|cat)#log", key)]
    assert [key for key in left if b"words of bob" in db.dump(key) or key.startswith(b"user:bob")] == []
    assert not db.hexists(f"conversation:{group}#roll", "bob") and not db.hexists(f"conversation:{PAIR}#roll", "bob")
    assert chats.log(group)[-2][0] == "messages:erased"


def test_a_user_of_many_conversations_is_erased_in_parts(chats, db, commands):
    for number in range(3):
        chats.send("bob", f"bob_u{number}", "words")
    db.zadd("user:bob#spoken", {f"g{number}": number for number in range(250)})
    left = commands.call("erase_chats", role="worker", userId="bob")[0]["left"]
    assert left > 0
    commands.relay()
    assert [key for key in lasting(db, "user:bob#*") if not re.search(rb"#(log|meta|done)", key)] == []
    assert all(chats.all(f"u{number}", f"bob_u{number}") == [] for number in range(3))


def test_erasing_many_messages_goes_in_parts(chats, db, commands):
    key = f"conversation:{PAIR}"
    with db.pipeline(transaction=False) as pipe:
        for number in range(1_200):
            user = "ann" if number % 3 else "bob"
            pipe.hset(f"{key}#messages", f"o{number}", json.dumps({"s": user, "t": "x", "m": number + 1}))
            pipe.zadd(f"{key}#order", {f"{user} o{number}": number + 1})
        pipe.execute()
    assert not commands.call("erase_member", role="worker", conversationId=PAIR, userId="bob")[0]["done"]
    commands.relay()
    assert db.zcard(f"{key}#order") == db.hlen(f"{key}#messages") == 800


def test_what_a_user_gets_as_a_copy(chats, commands):
    chats.send("ann", PAIR, "hello")
    export = commands.export_chats(role="user", user="bob")
    assert export["conversations"][0].items() >= {"id": PAIR, "lastMessage": "hello", "unread": 1}.items()
    assert export["more"] is False and export["lastSeen"] is None


# What others wrote

HOSTILE = [b"", b"text", b"[]", b"null", b"7", b"{}", b"\xff\xfe", b"[" * 2_000, b'{"s":7,"t":"x","m":1}',
           b'{"s":"a b","t":"x","m":1}', b'{"s":"ann","t":7,"m":1}', b'{"s":"ann","t":"x","m":"1"}',
           b'{"s":"ann","t":"x","m":1e300}', b'{"s":"ann","t":"x","m":NaN}', b'{"s":"ann","t":"x","m":1.5}',
           b'{"s":"ann","t":"x","m":1,"e":"soon"}', b'{"s":"ann","t":"x","m":1,"e":-1}', b'{"s":"\\"","t":"x","m":1}']


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_messages_are_none(chats, db, text):
    chats.send("ann", PAIR, "good", id="m1")
    db.hset(f"conversation:{PAIR}#messages", "bad", text)
    db.zadd(f"conversation:{PAIR}#order", {"ann bad": NOW_MS + 1, "odd": NOW_MS + 2, 'ann "': NOW_MS + 3, "": 1})
    assert [one["id"] for one in chats.all("bob", PAIR)] == ["m1"]
    refused("conflict", chats.send, "ann", PAIR, id="bad")
    chats.do("read", "bob", PAIR, upTo="m1")
    chats.send("bob", PAIR, "still", id="m2")


@pytest.mark.parametrize("text", [
    b"", b"1", b"1 2 3 4", b"1 2 3 4 5", b"-1 0 0 0 0", b"1 2 3 501 0", b"nan 0 0 0 0", b"\xff"])
def test_hostile_members_are_none(chats, db, text):
    db.hset(f"conversation:{PAIR}#roll", mapping={"ann": text, "eve": "1 1 1 1 1", "a b": "1 1 1 1 1"})
    chats.send("ann", PAIR, id="m1")
    refused("forbidden", chats.page, "eve", PAIR)
    assert [one["id"] for one in chats.all("bob", PAIR)] == ["m1"]


@pytest.mark.parametrize("text", [b"", b"[]", b"{}", b'{"m":"x","t":"","x":"","l":1,"u":0}', b"\xff",
                                  b'{"m":["a b"],"t":"","x":"","l":1,"u":0}', b'{"m":[],"t":"","x":"","l":-1,"u":0}',
                                  b'{"m":[],"t":"","x":7,"l":1,"u":0}', b'{"m":[],"t":"","x":"","l":1,"u":1.5}'])
def test_hostile_lists_are_none(chats, db, text):
    db.hset("user:ann#chats", "ann_eve", text)
    db.zadd("user:ann#chat_order", {"000000000000001 ann_eve": 0, "odd": 0, "9" * 400: 0})
    chats.send("bob", PAIR)
    assert [item["id"] for item in chats.list("ann")] == [PAIR]


def test_every_script_says_its_rates():
    """What people's clients call has an end by count, too."""
    files = built_in("messaging", "people")
    text = {path.stem: path.read_text() for path in files}
    calls = {name for name, body in text.items()
             if re.search(r"^-- @allow +user", body, re.M) and "@readonly" not in body}
    assert len(calls) == 15 and [name for name in calls if "-- @rate" not in text[name]] == []
    # What tells each member's list has an end by the day, too: a rate of a minute, kept up, fills Redis.
    for name in ("create_conversation", "add_member", "remove_member", "send_message", "modify_message",
                 "remove_message"):
        assert re.search(r"^-- @rate +\d+/86400 s user$", text[name], re.M), name
