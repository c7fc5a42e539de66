"""Groups get other titles and end, and users delete direct conversations for themselves."""

import pytest

from Fixtures.scripts.chats import Joins, chats, commands, refused
from Fixtures.scripts.lua_scripts import NOW_MS, built_in

PAIR = "ann_bob"


def titles(chats, user):
    return [(item["id"], item["title"]) for item in chats.list(user)]


# Titles


def test_a_member_renames_a_group(chats):
    group = chats.group("ann", "bob", title="Trip")
    assert chats.do("rename_conversation", "bob", group, title="Rome") == {"conversationId": group, "title": "Rome"}
    assert chats.log(group)[-1] == ("conversation:renamed", {"conversationId": group, "title": "Rome"})
    assert titles(chats, "ann") == titles(chats, "bob") == [(group, "Rome")]
    assert Joins(chats.commands).state(group, "ann")["title"] == "Rome"
    told = len(chats.log(group))
    chats.do("rename_conversation", "ann", group, title="Rome")
    assert len(chats.log(group)) == told, "the same title is told once"
    chats.do("rename_conversation", "ann", group, title="")
    assert titles(chats, "bob") == [(group, "")]


def test_nobody_else_renames(chats):
    group = chats.group("ann", "bob", title="Trip")
    refused("forbidden", chats.do, "rename_conversation", "eve", group, title="x")
    refused("forbidden", chats.do, "rename_conversation", "ann", PAIR, title="x")


# Direct conversations


def test_a_direct_conversation_is_deleted_for_who_deletes_it(chats):
    for number, user in enumerate(("ann", "bob", "ann")):
        chats.send(user, PAIR, id=f"m{number}")
    assert chats.do("delete_conversation", "bob", PAIR) == {"conversationId": PAIR, "deleted": True}
    assert chats.list("bob") == [] and chats.all("bob", PAIR) == []
    assert Joins(chats.commands).state(PAIR, "bob")["messages"] == []
    assert [one["id"] for one in chats.all("ann", PAIR)] == ["m2", "m1", "m0"]
    assert len(chats.list("ann")) == 1
    assert chats.commands.log("user:bob")[-1] == ("conversation:removed", {"id": PAIR})
    chats.send("ann", PAIR, id="m3", now_ms=NOW_MS + 60_000)
    assert [(item["id"], item["unread"], item["lastMessageId"]) for item in chats.list("bob")] == [(PAIR, 1, "m3")]
    assert [one["id"] for one in chats.all("bob", PAIR)] == ["m3"]


def test_old_messages_bring_no_deleted_conversation_back(chats):
    """Whatever happens to them, the list of who has deleted it stays as it is."""
    for number, user in enumerate(("ann", "bob", "ann")):
        chats.send(user, PAIR, id=f"m{number}")
    chats.do("delete_conversation", "bob", PAIR)
    chats.do("modify_message", "ann", PAIR, messageId="m2", text="other", now_ms=NOW_MS + 60_000)
    chats.do("remove_message", "ann", PAIR, messageId="m2", now_ms=NOW_MS + 61_000)
    chats.do("read", "ann", PAIR, upTo="m1", now_ms=NOW_MS + 62_000)
    chats.block("ann", "bob")
    chats.block("ann", "bob", word="unblock")
    assert chats.list("bob") == [] and chats.all("bob", PAIR) == []
    assert chats.list("ann")[0]["lastMessageId"] == "m1"


def test_what_is_deleted_twice_or_empty_is_told_once(chats, db):
    chats.do("delete_conversation", "bob", PAIR)
    assert db.keys("conversation:*") == []
    chats.send("ann", PAIR)
    for _ in range(2):
        chats.do("delete_conversation", "bob", PAIR)
    assert [event for event, _ in chats.commands.log("user:bob")].count("conversation:removed") == 1
    refused("forbidden", chats.do, "delete_conversation", "eve", PAIR)


def test_presence_is_not_left_behind(chats, db):
    for user in ("ann", "bob"):
        chats.send(user, PAIR)
    chats.commands.call("beat_chats", role="worker", userId="bob")
    chats.commands.relay()
    assert Joins(chats.commands).state(PAIR, "ann")["members"][1]["online"] is True
    chats.do("delete_conversation", "bob", PAIR)
    assert Joins(chats.commands).state(PAIR, "ann")["members"][1]["online"] is False


# Groups


@pytest.mark.parametrize("options", [{}, {"user": "", "role": "service", "userId": "cat"}])
def test_who_made_a_group_ends_it(chats, db, options):
    group = chats.group("ann", "bob", "cat", title="Trip")
    chats.send("bob", group, "words", id="m1")
    refused("forbidden", chats.do, "delete_conversation", "bob", group)
    refused("forbidden", chats.do, "delete_conversation", "eve", group)
    user = options.pop("user", "ann")
    chats.do("delete_conversation", user, group, **options)
    assert [chats.list(member) for member in ("ann", "bob", "cat")] == [[], [], []]
    assert chats.log(group)[-1] == ("conversation:deleted", {"conversationId": group})
    refused("forbidden", chats.send, "bob", group)
    left = {key.decode().split("#")[1] for key in db.keys(f"conversation:{group}#*")}
    assert left == {"facts", "log", "meta"} and b"words" not in b"".join(
        value for _, fields in db.xrange(f"conversation:{group}#log") for value in fields.values())
    assert 0 < db.ttl(f"conversation:{group}#facts") <= 3_600
