"""Messaging, rule by rule: who is in, what is stored, pages, marks, and what a joining client is told."""

import json

import pytest

from Fixtures.scripts.chats import Joins, chats, commands, refused, stored
from Fixtures.scripts.lua_scripts import NOW_MS

PAIR = "ann_bob"


@pytest.fixture
def joins(commands):
    return Joins(commands)


# Who is in


@pytest.mark.parametrize("user, conversation, code", [
    ("ann", "ann_bob", None), ("bob", "ann_bob", None), ("eve", "ann_bob", "forbidden"),
    ("ann", "bob_ann", None), ("eve", "bob_ann", "forbidden"),
    ("ann", "ann_ann", "bad_request"), ("ann", "ann_", "bad_request"), ("ann", "_ann", "bad_request"),
    ("ann", "ann", "forbidden"), ("a", "B_a", None), ("a", "a_B", None), ("Ann", "ann_bob", "forbidden"),
    # Of `x_y_z` both `x` and `x_y` could say that it is theirs.
    ("x", "x_y_z", "bad_request"), ("x_y", "x_y_z", "bad_request"), ("z", "x_y_z", "bad_request"),
    ("x_y", "x_y_x_y", "bad_request"), ("ann", "ann__bob", "bad_request"), ("ann_", "ann__bob", "bad_request"),
    ("a" * 100, "a" * 100 + "_" + "b" * 99, None)])
def test_whose_a_direct_conversation_is(chats, db, user, conversation, code):
    """With an id like `ann_` a user could have entered where others talk."""
    if code is None:
        assert chats.send(user, conversation)["senderId"] == user
        return
    refused(code, chats.send, user, conversation)
    for name in ("messages", "typing"):
        refused(code, chats.do, name, user, conversation)
    for name in ("delivered", "read"):
        refused(code, chats.do, name, user, conversation, upTo="1")
    assert db.keys("*") == []


def test_strangers_find_groups_no_more_than_what_is_not_there(chats, db):
    """An answer that tells a group from no group tells who talks to whom."""
    group = chats.group("ann", "bob")
    chats.send("ann", group, id="m1")
    for name, arguments in {
            "messages": {}, "typing": {}, "read": {"upTo": "m1"}, "delivered": {"upTo": "m1"},
            "send_message": {"messageId": "m1", "text": "x"}, "modify_message": {"messageId": "m1", "text": "x"},
            "remove_message": {"messageId": "m1"}, "add_member": {"memberId": "eve"},
            "remove_member": {"memberId": "ann"}}.items():
        told = {refused("forbidden", chats.do, name, "eve", place, **arguments) for place in (group, "nowhere")}
        assert len(told) == 1, told
    assert len(chats.log(group)) == 1 and "user:eve#chats" not in map(bytes.decode, db.keys("*"))


def test_the_step_that_makes_a_group_makes_it_once(chats, commands):
    """On a Cluster the worker takes a step again when a gateway died behind it."""
    step = {"conversationId": "trip", "userId": "ann", "members": ["ann", "bob"], "title": "Trip", "created": NOW_MS}
    assert commands.call("open_conversation", **step)[0] == {"opened": True}
    commands.relay()
    chats.do("remove_member", "ann", "trip", memberId="bob")
    assert commands.call("open_conversation", **step)[0] == {"opened": False}
    assert commands.relay() == [], "nobody is told again"
    assert chats.list("ann")[0].items() >= {"id": "trip", "title": "Trip", "members": ["ann"]}.items()
    assert chats.list("bob") == [], "a member who has left does not come back"


def test_members_come_and_go(chats, db, commands):
    group = chats.group("ann", "bob", "bob", "ann", title="Trip")
    assert {item["id"]: item["members"] for item in chats.list("bob")} == {group: ["ann", "bob"]}
    chats.send("ann", group, "first")
    assert chats.do("add_member", "bob", group, memberId="cat") == {
        "conversationId": group, "userId": "cat", "member": True}
    chats.do("add_member", "bob", group, memberId="cat")
    assert [item["text"] for item in chats.all("cat", group)] == ["first"]
    assert chats.list("cat")[0].items() >= {"title": "Trip", "lastMessage": "first", "unread": 0}.items()
    assert chats.list("ann")[0]["members"] == ["ann", "bob", "cat"]
    refused("forbidden", chats.do, "remove_member", "bob", group, memberId="ann")
    chats.do("remove_member", "ann", group, memberId="bob")
    chats.do("remove_member", "ann", group, memberId="bob")
    refused("forbidden", chats.page, "bob", group)
    assert chats.list("bob") == [] and chats.list("ann")[0]["members"] == ["ann", "cat"]
    assert db.zrange("#removed", 0, -1) == [f"conversation:{group} bob".encode()], "every gateway looks"
    chats.do("remove_member", "cat", group, memberId="cat")
    chats.do("remove_member", None, group, memberId="ann", role="service")
    events = [(event, data.get("userId"), data.get("by")) for event, data in chats.log(group) if "member" in event]
    assert events == [("member:added", "cat", "bob"), ("member:removed", "bob", "ann"),
                      ("member:removed", "cat", "cat"), ("member:removed", "ann", None)]
    for name in ("add_member", "remove_member"):
        refused("forbidden", chats.do, name, "ann", PAIR, memberId="eve")


def test_a_group_has_an_end(chats):
    group = chats.group("ann", *(f"u{n}" for n in range(49)))
    refused("too_many", chats.do, "add_member", "ann", group, memberId="eve")
    refused("too_many", chats.group, "ann", *(f"u{n}" for n in range(50)))
    refused("bad_request", chats.group, "ann", "x" * 129)


def test_the_ids_of_a_group_have_an_end(chats):
    """Every member's list has the ids of all members, and a group of 50 ids of 128 bytes took 6 KiB in each."""
    uuids = [f"{number:08}-0000-4000-8000-000000000000" for number in range(49)]
    chats.group("ann", *uuids)
    long = [f"{number:02}{'x' * 126}" for number in range(20)]
    assert "2500 bytes" in refused("too_many", chats.group, "ann", *long)
    group = chats.group("ann", *long[:19])
    refused("too_many", chats.do, "add_member", "ann", group, memberId="y" * 66)
    chats.do("add_member", "ann", group, memberId="y" * 65)
    refused("too_many", chats.do, "add_member", "ann", group, memberId="z")
    chats.do("add_member", "ann", group, memberId=long[0])
    chats.do("remove_member", "ann", group, memberId="y" * 65)
    chats.do("add_member", "ann", group, memberId="z")


# Messages


def test_a_message_is_stored_once_for_its_id(chats, db):
    first = chats.send("ann", PAIR, "hello", id="m1")
    assert first == {
        "id": "m1", "conversationId": PAIR, "senderId": "ann", "text": "hello", "timestamp": "2026-11-20T20:03:20.123Z",
        "timestampMs": NOW_MS, "status": "sent", "readBy": []}
    assert chats.send("ann", PAIR, "hello", id="m1", now_ms=NOW_MS + 86_400_000) == first
    assert chats.send("ann", PAIR, "another text", id="m1") == first, "what is stored is what counts"
    assert [data for event, data in chats.log(PAIR)] == [first]
    refused("conflict", chats.send, "bob", PAIR, id="m1")
    chats.do("read", "bob", PAIR, upTo="m1")
    assert chats.send("ann", PAIR, "hello", id="m1") == first | {"status": "read", "readBy": ["bob"]}
    assert stored(db, PAIR, "m1") == {"s": "ann", "t": "hello", "m": NOW_MS}


def test_times_always_grow(chats, commands):
    """Clocks of gateways differ, and 5 messages may come in one millisecond."""
    times = []
    for step, shift in enumerate([0, 0, 0, -5_000, 3, -1, 2_000]):
        times.append(chats.send(("ann", "bob")[step % 2], PAIR, now_ms=NOW_MS + shift)["timestampMs"])
    assert times == sorted(set(times)) and times[-1] == NOW_MS + 2_000
    assert [data["timestampMs"] for _, data in chats.log(PAIR)] == times
    assert [one["timestampMs"] for one in chats.all("ann", PAIR)] == times[::-1]


def test_what_is_kept_has_an_end(chats, db):
    key = f"conversation:{PAIR}"
    with db.pipeline(transaction=False) as pipe:
        for number in range(10_001):
            pipe.hset(f"{key}#messages", f"o{number}", json.dumps({"s": "bob", "t": "x", "m": number + 1}))
            pipe.zadd(f"{key}#order", {f"bob o{number}": number + 1})
        pipe.execute()
    chats.send("ann", PAIR, id="m1")
    assert db.zcard(f"{key}#order") == db.hlen(f"{key}#messages") == 10_000
    assert not db.hexists(f"{key}#messages", "o1") and db.hexists(f"{key}#messages", "o2")
    lives = {name.decode(): db.ttl(name) for name in db.keys("*") if name not in (b"#outbox",)}
    assert [name for name, life in lives.items() if life < 0] == [], lives


def test_only_its_sender_changes_a_message(chats):
    chats.send("ann", PAIR, "helo", id="m1")
    for name, more in (("modify_message", {"text": "x"}), ("remove_message", {})):
        refused("forbidden", chats.do, name, "bob", PAIR, messageId="m1", **more)
        refused("not_found", chats.do, name, "ann", PAIR, messageId="m2", **more)
    changed = chats.do("modify_message", "ann", PAIR, messageId="m1", text="hello", now_ms=NOW_MS + 5)
    assert changed.items() >= {"text": "hello", "timestampMs": NOW_MS, "modifiedAt": "2026-11-20T20:03:20.128Z"}.items()
    chats.do("modify_message", "ann", PAIR, messageId="m1", text="hello")
    assert chats.list("bob")[0]["lastMessage"] == "hello"
    chats.send("bob", PAIR, "yes", id="m2")
    answer = {"id": "m1", "conversationId": PAIR, "removed": True}
    assert chats.do("remove_message", "ann", PAIR, messageId="m1") == answer
    assert chats.do("remove_message", "ann", PAIR, messageId="m1") == answer
    assert [event for event, _ in chats.log(PAIR)] == [
        "message:added", "message:removed"], "what was changed or removed is in the log no more"
    late = chats.send("ann", PAIR, "helo", id="m1")
    assert late["removed"] and late["text"] == "", "a retry that comes late does not send it again"
    assert [one["id"] for one in chats.all("bob", PAIR)] == ["m2"]
    refused("not_found", chats.do, "modify_message", "ann", PAIR, messageId="m1", text="x")


def test_a_removed_message_is_in_no_list(chats):
    chats.send("ann", PAIR, "one", id="m1")
    chats.send("ann", PAIR, "two", id="m2", now_ms=NOW_MS + 9)
    assert chats.list("bob")[0].items() >= {"lastMessage": "two", "unread": 2}.items()
    chats.do("remove_message", "ann", PAIR, messageId="m2")
    assert chats.list("bob")[0].items() >= {"lastMessage": "one", "unread": 1}.items()
    chats.do("remove_message", "ann", PAIR, messageId="m1")
    assert chats.list("bob")[0].items() >= {"lastMessage": None, "lastMessageId": None, "unread": 0}.items()


def test_the_notes_of_removed_messages_have_an_end(chats, db):
    key = f"conversation:{PAIR}"
    chats.send("ann", PAIR, id="m1")
    with db.pipeline(transaction=False) as pipe:
        for number in range(1_000):
            pipe.hset(f"{key}#messages", f"o{number}", json.dumps({"s": "bob", "m": number + 1, "x": 1}))
            pipe.zadd(f"{key}#removed", {f"o{number}": number + 1})
        pipe.execute()
    chats.do("remove_message", "ann", PAIR, messageId="m1")
    assert db.zcard(f"{key}#removed") == db.hlen(f"{key}#messages") == 1_000


# Pages


def test_pages_have_no_hole_while_messages_arrive(chats):
    sent = [chats.send(("ann", "bob")[n % 2], PAIR, f"text {n}")["id"] for n in range(60)]
    found, before = [], None
    while True:
        page = chats.page("ann", PAIR, before, 7)
        found += [one["id"] for one in page["messages"]]
        before = page["next"]
        if before is None:
            break
        chats.send("bob", PAIR)
        if len(found) == 14:
            chats.do("remove_message", "ann", PAIR, messageId=sent[0])
    assert found == sent[:0:-1]


def test_a_page_of_long_messages_is_shorter(chats):
    for number in range(12):
        chats.send("ann", PAIR, "ä" * 2_000, id=f"m{number}")
    page = chats.page("bob", PAIR)
    assert 0 < len(page["messages"]) < 12 and page["next"]
    assert [one["id"] for one in chats.all("bob", PAIR, 50)] == [f"m{number}" for number in reversed(range(12))]


# Marks


def test_a_mark_is_told_once_and_never_goes_back(chats):
    times = [chats.send("ann", PAIR, id=f"m{n}", now_ms=NOW_MS + 10 * n)["timestampMs"] for n in range(5)]
    assert chats.list("bob")[0]["unread"] == 5
    answer = chats.do("delivered", "bob", PAIR, upTo="m4")
    assert answer["upToMs"] == times[4] and answer["unread"] == 5
    assert chats.do("read", "bob", PAIR, upTo="m2")["unread"] == 2
    for old in ("m1", "m2", str(times[0]), "2026-11-20T20:03:20.123Z"):
        assert chats.do("read", "bob", PAIR, upTo=old)["upToMs"] == times[2]
        assert chats.do("delivered", "bob", PAIR, upTo=old)["upToMs"] == times[4]
    assert chats.list("bob")[0]["unread"] == 2 and chats.list("ann")[0]["unread"] == 0
    told = [(event, data["afterMs"], data["upToMs"]) for event, data in chats.log(PAIR) if event != "message:added"]
    assert told == [("messages:delivered", 0, times[4]), ("messages:read", 0, times[2])]
    assert [(one["status"], one["readBy"]) for one in chats.all("ann", PAIR)] == [
        ("delivered", []), ("delivered", []), ("read", ["bob"]), ("read", ["bob"]), ("read", ["bob"])]
    # Nothing that has not come is marked.
    assert chats.do("read", "bob", PAIR, upTo="253370764800000")["upToMs"] == times[4]
    chats.send("ann", PAIR, now_ms=NOW_MS + 99)
    assert chats.list("bob")[0]["unread"] == 1


@pytest.mark.parametrize("moment, ms", [
    ("2026-11-20T20:03:20.123Z", NOW_MS), ("2026-11-20T20:03:20.12Z", NOW_MS - 3),
    ("2026-11-20T20:03:20Z", NOW_MS - 123),
    ("2024-02-29T23:59:59.999Z", 1_709_251_199_999), ("1970-01-01T00:00:00Z", 0),
    ("2000-03-01T00:00:00Z", 951_868_800_000)])
def test_times_of_marks(chats, moment, ms):
    chats.send("ann", PAIR)
    assert chats.do("read", "bob", PAIR, upTo=moment)["upToMs"] == ms


@pytest.mark.parametrize("wrong", [
    "m9", "-1", "2026-11-20", "1e9", "0x10", "99999999999999999", "2026-11-20T20:03:20.1234Z"])
def test_marks_of_nothing(chats, wrong):
    chats.send("ann", PAIR)
    refused("not_found", chats.do, "read", "bob", PAIR, upTo=wrong)


def test_own_messages_are_not_unread(chats):
    chats.send("ann", PAIR, id="m1")
    chats.send("bob", PAIR, id="m2")
    chats.send("ann", PAIR, id="m3")
    assert chats.do("read", "bob", PAIR, upTo="m1")["unread"] == 1
    assert [one["readBy"] for one in chats.all("ann", PAIR)] == [[], [], ["bob"]]
    assert chats.do("read", "ann", PAIR, upTo="m3")["unread"] == 0
    assert [one["readBy"] for one in chats.all("ann", PAIR)] == [[], ["ann"], ["bob"]]


# Joining


def test_either_of_two_joins_before_the_first_message(chats, joins, db):
    assert joins.state(PAIR, "bob") == {
        "conversationId": PAIR, "title": "", "messages": [], "next": None, "unread": 0, "members": [
            {"userId": user, "deliveredMs": 0, "readMs": 0, "online": False, "lastSeen": None}
            for user in ("ann", "bob")]}
    for user, conversation, code in [
            ("eve", PAIR, "forbidden"), ("", PAIR, "forbidden"), ("x", "x_y_z", "bad_request"),
            ("b", "b_a", "bad_request"), ("ann", "nowhere", "forbidden"), ("ann", "ann", "forbidden"),
            ("*", PAIR, "forbidden")]:
        refused(code, joins.state, conversation, user)
    refused("forbidden", joins.state, PAIR, role="anonymous")
    assert joins.state(PAIR, role="service")["messages"] == []


def test_the_state_is_the_newest_page_and_the_members(chats, joins, db):
    group = chats.group("ann", "bob", "cat", title="Trip")
    refused("forbidden", joins.state, group, "eve")
    for number in range(60):
        chats.send(("ann", "bob")[number % 2], group, f"text {number}")
    chats.do("read", "bob", group, upTo="auto-20")
    state = joins.state(group, "cat")
    page = chats.page("cat", group)
    assert (state["messages"], state["next"]) == (page["messages"], page["next"]) and len(page["messages"]) == 50
    assert (state["title"], state["unread"]) == ("Trip", 60)
    assert [(one["userId"], one["readMs"] > 0) for one in state["members"]] == [
        ("ann", False), ("bob", True), ("cat", False)]
    chats.commands.call("beat_chats", role="worker", userId="bob")
    chats.commands.relay()
    assert [one["online"] for one in joins.state(group, "cat")["members"]] == [False, True, False]
    chats.block("cat", "bob")
    state = joins.state(group, "cat")
    assert {one["senderId"] for one in state["messages"]} == {"ann"}
    assert state["members"][1] == {"userId": "bob", "deliveredMs": 0, "readMs": 0, "online": False, "lastSeen": None}
    chats.do("remove_member", "ann", group, memberId="cat")
    refused("forbidden", joins.state, group, "cat")
