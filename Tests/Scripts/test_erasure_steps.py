"""Erasures and walls go in steps: a run puts little into the outbox, and each list hears of a change once."""

import re

import pytest

from Fixtures.scripts.lua_scripts import built_in, lasting
from Fixtures.scripts.outbox_order import Road

GROUPS = 30
MEMBERS = [f"member-{number:02}" for number in range(12)]
ENTRIES_MAX = 100


@pytest.fixture
def road(db):
    return Road(db)


def groups_of(road, user, others, count):
    groups = [road.do(user, "create_conversation", members=others, title="t")["id"] for _ in range(count)]
    road.relay()
    for number, group in enumerate(groups):
        for sender in (user, others[0]):
            road.do(sender, "send_message", conversationId=group, messageId=f"{sender}-{number}",
                    text=f"words of {sender}")
    road.relay()
    return groups


def relayed(road):
    """Does everything in order; the most that one run has put into the outbox, and the most that has waited."""
    most, longest = 0, 0
    while road.waiting:
        before = len(road.waiting) - 1
        road.run(road.waiting.pop(0))
        most, longest = max(most, len(road.waiting) - before), max(longest, len(road.waiting))
    return most, longest


def test_an_erasure_goes_in_steps_and_tells_each_list_once(road, db):
    """A user in 200 groups of 50 put 9,600 calls into the outbox, and each list was told twice."""
    groups = groups_of(road, "gone", MEMBERS, GROUPS)
    heard = {user: len(road.commands.log(f"user:{user}")) for user in MEMBERS}
    road.add("gone", "call", "erase_chats", {"userId": "gone"})
    most, longest = relayed(road)
    assert most <= 20 and longest <= 10 * len(MEMBERS), "a few groups at a time"
    for user in MEMBERS:
        told = [data for event, data in road.commands.log(f"user:{user}")[heard[user]:]
                if event == "conversation:updated"]
        assert sorted(data["id"] for data in told) == sorted(groups), "each list of each group once"
        assert {(*data["members"],) for data in told} == {tuple(MEMBERS)}
        assert {data["lastSenderId"] for data in told} == {MEMBERS[0]}
    assert not [group for group in groups if db.hexists(f"conversation:{group}#roll", "gone")]


def test_everybody_of_many_common_groups_is_erased_at_once(road, db, rng):
    """50 users of 100 common groups filled the outbox, which then stood still."""
    users = [f"person-{number}" for number in range(8)]
    groups = groups_of(road, users[0], users[1:], 10)
    for number, user in enumerate(users[1:]):
        road.do(user, "send_message", conversationId=groups[number], messageId=f"last-{number}",
                text=f"words of {user}")
    for user in users:
        road.erase(user, "messaging", "people")
    road.relay_shuffled(rng, again=0.02)
    road.refresh_all()
    left = [key for key in lasting(db) if not re.search(rb"#(meta|done|facts|log|removed|fence)", key)]
    assert left == [], "no member, no message, no list"
    held = [key for key in lasting(db) if b"#done" not in key and b"words of" in (db.dump(key) or b"")]
    assert [key for key in held if not re.match(rb"user:person-\d#log", key)] == []


def test_a_block_tells_only_groups_that_have_both(road, db):
    """148 blocks and unblocks in turn took 3.4 s of Redis: each told all 200 groups of the user."""
    groups = groups_of(road, "ann", MEMBERS, 4)
    common = road.do("ann", "create_conversation", members=["eve"], title="t")["id"]
    road.relay()
    for word in ("block", "unblock"):
        road.do("ann", word, other="eve")
        road.waiting.clear()
        road.refresh("walls_refresh", "user:ann", userId="ann")
        road.run(road.waiting.pop(0))
        assert [(entry.name, dict(entry.words)["conversationId"]) for entry in road.waiting] == [
            ("change_walls", common)]
        road.relay()
        assert db.hexists(f"conversation:{common}#walls", ">ann") == (word == "block")
    assert not [group for group in groups if db.exists(f"conversation:{group}#walls")]


def test_a_block_in_many_groups_goes_in_steps(road, db):
    """Who blocks again or comes into a group between two steps is not missed."""
    groups = groups_of(road, "ann", MEMBERS[:2], 45)
    road.do("ann", "block", other=MEMBERS[0])
    road.waiting.clear()
    road.refresh("walls_refresh", "user:ann", userId="ann")
    for _ in range(2):
        road.run(road.waiting.pop(0))
    assert [entry.name for entry in road.waiting] == ["change_walls"] * 8 + ["walls_refresh"]
    # Between the steps the user blocks another, unblocks the first, and comes into a group with both.
    road.do("ann", "unblock", other=MEMBERS[0])
    road.do("ann", "block", other=MEMBERS[1])
    new = road.do(MEMBERS[0], "create_conversation", members=["ann", MEMBERS[1]], title="t")["id"]
    most, _ = relayed(road)
    assert most <= ENTRIES_MAX
    road.refresh("walls_refresh", "user:ann", userId="ann")
    road.relay()
    for group in [*groups, new]:
        assert db.hgetall(f"conversation:{group}#walls") == {
            b">ann": MEMBERS[1].encode(), b"<" + MEMBERS[1].encode(): b"ann"}
    assert not db.exists("user:ann#walls_due")


@pytest.mark.parametrize("eraser, keys", [
    ("erase_people", {"blocks": "set", "mutes": "set"}),
    ("erase_barbershop", {"visited": "zset", "bookings": "zset", "challenges": "zset", "places": "set"}),
    ("erase_nearby", {"followers": "set", "sees": "set"}),
    ("erase_listener", {"sessions": "zset"}),
    ("erase_chats", {"groups": "set", "spoken": "zset"}),
])
def test_no_eraser_puts_more_than_a_hundred_entries_at_once(road, db, eraser, keys):
    for name, kind in keys.items():
        form = {"places": "shop:{0}", "bookings": "{0} {0}"}.get(name, "u{0}")
        members = [form.format(number) for number in range(32 if name == "places" else 200)]
        if kind == "set":
            db.sadd(f"user:gone#{name}", *members)
        else:
            db.zadd(f"user:gone#{name}", dict.fromkeys(members, 4e12))
    road.add("gone", "call", eraser, {"userId": "gone"})
    most, _ = relayed(road)
    assert 0 < most <= ENTRIES_MAX


def test_every_eraser_is_looked_at():
    erasers = {path.stem for path in built_in() if re.search(r"^-- @erases", path.read_text(), re.M)}
    assert erasers - {"erase_push"} == {"erase_people", "erase_barbershop", "erase_nearby", "erase_listener",
                                        "erase_chats"}, "erase_push has ten devices at most"
