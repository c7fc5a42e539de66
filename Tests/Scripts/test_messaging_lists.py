"""Messaging: users' lists of conversations, what their devices are told of them, and how large they may get."""

import json

from Fixtures.scripts.chats import chats, commands, refused
from Fixtures.scripts.lua_scripts import NOW_MS

PAIR = "ann_bob"


def test_lists_move_with_every_message(chats, commands):
    group = chats.group("ann", "bob", title="Trip")
    chats.send("bob", PAIR, "x" * 399 + "äöü", now_ms=NOW_MS + 1)
    assert [item["id"] for item in chats.list("ann")] == [PAIR, group]
    chats.send("bob", group, "late", now_ms=NOW_MS + 2)
    assert [(item["id"], item["unread"], item["lastMessage"]) for item in chats.list("ann")] == [
        (group, 1, "late"), (PAIR, 1, "x" * 399)]
    told = [data for event, data in commands.log("user:ann") if event == "conversation:updated"]
    assert told[-1] == {
        "id": group, "title": "Trip", "lastMessage": "late", "lastMessageId": "auto-2",
        "lastSenderId": "bob", "lastMessageTime": "2026-11-20T20:03:20.125Z", "lastMessageTimeMs": NOW_MS + 2,
        "unread": 1, "muted": False}
    assert told[-1] | {"members": ["ann", "bob"]} == chats.list("ann")[0]
    chats.do("mute", "ann", other="bob")
    assert [item["muted"] for item in chats.list("ann")] == [True, True]
    assert [item["muted"] for item in chats.list("bob")] == [False, False]


def updates(chats, user):
    """What a user's devices were told of the list."""
    return [data for event, data in chats.commands.log(f"user:{user}") if event == "conversation:updated"]


def test_who_is_in_a_group_is_told_when_it_changes(chats):
    """Each message, change and removal told every member the ids of all members."""
    group = chats.group("ann", "bob")
    assert updates(chats, "bob")[-1]["members"] == ["ann", "bob"], "a group that is new to the list"
    chats.send("ann", group, id="m1")
    chats.do("modify_message", "ann", group, messageId="m1", text="another")
    chats.do("read", "bob", group, upTo="m1")
    chats.do("remove_message", "ann", group, messageId="m1")
    assert len(updates(chats, "bob")) == 5
    assert [data for data in updates(chats, "bob")[1:] if "members" in data] == []
    chats.do("add_member", "ann", group, memberId="cat")
    assert [updates(chats, user)[-1]["members"] for user in ("ann", "bob", "cat")] == [["ann", "bob", "cat"]] * 3
    chats.do("remove_member", "ann", group, memberId="cat")
    assert updates(chats, "bob")[-1]["members"] == ["ann", "bob"]
    assert chats.list("bob")[0]["members"] == ["ann", "bob"], "the list tells them always"
    for _ in range(2):
        chats.send("ann", PAIR)
        assert updates(chats, "bob")[-1]["members"] == ["ann", "bob"], "and so does a direct conversation"


def test_a_message_in_a_large_group_adds_little_to_each_log(chats, db):
    """With 50 members of long ids a message added 8 KiB to the log of each member: one user filled Redis."""
    members = [f"u{number:02}-{'m' * 45}" for number in range(49)]
    group = chats.group("ann", *members)
    size = db.memory_usage("user:ann#log", samples=0), sum(len(json.dumps(data)) for data in updates(chats, "ann"))
    for number in range(10):
        chats.send(members[0], group, "x" * 20, now_ms=NOW_MS + 1 + number)
    assert len(updates(chats, "ann")) == 11
    assert (db.memory_usage("user:ann#log", samples=0) - size[0]) / 10 < 1_000
    assert (sum(len(json.dumps(data)) for data in updates(chats, "ann")) - size[1]) / 10 < 500


def fill_groups(chats, db, user, count, wrote):
    """Gives a user groups that others made, the oldest first; `wrote` says in which the user has written."""
    groups = [f"group-{number:03}" for number in range(count)]
    with db.pipeline(transaction=False) as pipe:
        for number, id in enumerate(groups):
            chat = {"m": ["eve", user], "t": "", "x": "", "l": NOW_MS - 1_000 + number, "u": 0, "w": wrote(number)}
            pipe.hset(f"user:{user}#chats", id, json.dumps(chat))
            place = f"{NOW_MS - 1_000 + number:015} {id}"
            pipe.zadd(f"user:{user}#chat_order", {place: 0})
            pipe.zadd(*((f"user:{user}#spoken", {id: number}) if wrote(number) else (
                f"user:{user}#strangers", {place: 0})))
            pipe.sadd(f"user:{user}#groups", id)
            pipe.hset(f"conversation:{id}#roll", mapping={"eve": "1 0 0 0 1", user: f"1 0 0 0 {int(wrote(number))}"})
        pipe.execute()
    return groups


def test_groups_of_strangers_shut_nobody_out_of_a_group(chats, db):
    """200 groups that strangers had made kept a user out of every new group, until the end of a year."""
    groups = fill_groups(chats, db, "ann", 200, lambda number: number % 2 == 0)
    made = [chats.group("bob", "ann"), chats.group("bob", "ann")]
    listed = {item["id"] for item in chats.list("ann")}
    assert listed == {*groups, *made} - {"group-001", "group-003"}, "the oldest in which she has not written are left"
    assert {id.decode() for id in db.smembers("user:ann#groups")} == listed
    for id in ("group-001", "group-003"):
        assert db.hkeys(f"conversation:{id}#roll") == [b"eve"]
        assert [event for event, _ in chats.log(id)] == ["member:removed"]
    removed = [data for event, data in chats.commands.log("user:ann") if event == "conversation:removed"]
    assert removed == [{"id": "group-001"}, {"id": "group-003"}]
    assert db.zcard("user:ann#strangers") == 100


def test_a_full_list_of_strangers_gives_one_place_to_a_new_group(chats, db):
    """The group that makes room in the list and the one that is left are the same one."""
    groups = fill_groups(chats, db, "ann", 200, lambda number: False)
    made = chats.group("bob", "ann")
    assert {item["id"] for item in chats.list("ann")} == {*groups[1:], made}
    assert db.zcard("user:ann#strangers") == db.zcard("user:ann#chat_order") == db.scard("user:ann#groups") == 200
    # A group that the list has not shown for long goes first.
    db.zrem("user:ann#strangers", f"{NOW_MS - 900:015} group-100")
    db.zrem("user:ann#chat_order", f"{NOW_MS - 900:015} group-100")
    db.hdel("user:ann#chats", "group-100")
    chats.group("bob", "ann")
    assert db.hkeys("conversation:group-100#roll") == [b"eve"] and db.scard("user:ann#groups") == 200


def test_nobody_is_pushed_out_of_a_group_he_has_written_in(chats, db):
    groups = fill_groups(chats, db, "ann", 200, lambda number: True)
    made = chats.group("bob", "ann")
    assert db.hkeys(f"conversation:{made}#roll") == [b"bob"] and made not in {i["id"] for i in chats.list("ann")}
    assert {id.decode() for id in db.smembers("user:ann#groups")} == set(groups)
    chats.group("ann", "bob")
    assert db.scard("user:ann#groups") == 201, "who makes a group oneself is in it"


def test_pages_of_a_list_with_equal_times(chats):
    for number in range(23):
        chats.send(f"u{number:02}", f"ann_u{number:02}")
    assert [item["id"] for item in chats.list("ann", 5)] == [f"ann_u{number:02}" for number in reversed(range(23))]
    page = chats.do("conversations", "ann", before=str(NOW_MS + 1), limit=3)
    assert len(page["conversations"]) == 3 and page["next"]
    assert chats.do("conversations", "ann", before=str(NOW_MS))["conversations"] == []
    for wrong in ("x", "-1", "9" * 20, "1 2", "1.é"):
        refused("bad_request", chats.do, "conversations", "ann", before=wrong)


def test_strangers_push_nobody_out_of_a_list(chats, db):
    """Anybody may write to anybody, so strangers could have filled a user's list until it held nothing else."""
    chats.send("bob", PAIR, "from a friend")
    chats.send("ann", PAIR, "to a friend")
    for number in range(205):
        chats.send(f"s{number:03}", f"ann_s{number:03}", now_ms=NOW_MS + 1 + number)
    listed = [item["id"] for item in chats.list("ann")]
    assert len(listed) == 201 and listed[-1] == PAIR and listed[0] == "ann_s204"
    assert db.zcard("user:ann#strangers") == 200 and db.hlen("user:ann#chats") == 201
    # What has left comes back with its next message.
    chats.send("s000", "ann_s000", now_ms=NOW_MS + 999)
    assert chats.list("ann")[0]["id"] == "ann_s000" and len(chats.list("ann")) == 201


def test_a_group_that_has_left_the_list_comes_back_whole(chats, db):
    group = chats.group("ann", "bob", title="Trip")
    db.delete("user:ann#chats", "user:ann#chat_order", "user:ann#strangers")
    chats.send("bob", group, "again")
    assert chats.list("ann")[0].items() >= {
        "id": group, "members": ["ann", "bob"], "title": "Trip", "lastMessage": "again", "unread": 1}.items()


def test_a_list_of_full_size_keeps_its_size(chats, db):
    with db.pipeline(transaction=False) as pipe:
        for number in range(1_000):
            chat = json.dumps({"m": ["ann", f"u{number}"], "t": "", "x": "x", "l": number, "u": 0, "w": True})
            pipe.hset("user:ann#chats", f"ann_u{number}", chat)
            pipe.zadd("user:ann#chat_order", {f"{number:015} ann_u{number}": 0})
        pipe.execute()
    chats.send("bob", PAIR)
    assert db.hlen("user:ann#chats") == db.zcard("user:ann#chat_order") == 1_000
    assert not db.hexists("user:ann#chats", "ann_u0")
