"""Blocks and mutes: what is kept where, for whom, and who may change it."""

import pytest

from Fixtures.scripts.chats import MessagingCommands
from Fixtures.scripts.command_scripts import Failed
from Fixtures.scripts.lua_scripts import parts_of


@pytest.fixture
def commands(db):
    return MessagingCommands(db)


def block(commands, user, other, **options):
    answer = commands.block(role="user", user=user, other=other, **options)
    commands.relay()
    return answer


def test_a_block_lies_at_three_places(commands, db):
    assert block(commands, "bob", "ann") == {"userId": "ann", "blocked": True}
    assert db.smembers("user:bob#blocks") == {b"ann"}
    assert db.smembers("user:ann#blockers") == {b"bob"}
    assert db.smembers("pair:ann_bob#blocks") == {b"bob"}
    assert commands.blocks(role="user", user="bob") == {"blocks": ["ann"]}
    assert commands.blocks(role="user", user="ann") == {"blocks": []}, "who is blocked is not told"
    assert commands.log("user:bob") == [("block:changed", {"userId": "ann", "blocked": True})]
    assert commands.log("user:ann") == []
    block(commands, "ann", "bob")
    assert db.smembers("pair:ann_bob#blocks") == {b"ann", b"bob"}
    commands.unblock(role="user", user="bob", other="ann")
    commands.relay()
    assert db.smembers("pair:ann_bob#blocks") == {b"ann"} and not db.exists("user:bob#blocks", "user:ann#blockers")


def test_a_block_again_tells_nothing_and_mends_its_copies(commands, db):
    block(commands, "bob", "ann")
    db.delete("pair:ann_bob#blocks", "user:ann#blockers")
    block(commands, "bob", "ann")
    assert db.smembers("pair:ann_bob#blocks") == {b"bob"} and len(commands.log("user:bob")) == 1


@pytest.mark.parametrize("one, other, pair", [
    ("a", "b", "a_b"), ("b", "a", "a_b"), ("a", "B", "B_a"), ("a1", "a", "a_a1"), ("~", "Z", "Z_~"), ("x_y", "z", None),
    ("a" * 128, "b" * 71, "a" * 128 + "_" + "b" * 71), ("a" * 128, "b" * 72, None)])
def test_the_id_of_two_users_is_sorted_by_bytes(commands, db, one, other, pair):
    """Lua's `<` goes by the locale that Redis was started in, where `a` may come before `B`."""
    block(commands, one, other)
    assert [key.decode() for key in db.keys("pair:*#blocks")] == ([f"pair:{pair}#blocks"] if pair else [])
    assert db.smembers(f"user:{other}#blockers") == {one.encode()}


def test_limits_of_blocks_and_mutes(commands, db):
    for word, facet in (("block", "blocks"), ("mute", "mutes")):
        db.sadd(f"user:bob#{facet}", *(f"u{n}" for n in range(239)))
        getattr(commands, word)(role="user", user="bob", other="ann")
        with pytest.raises(Failed, match="too_many"):
            getattr(commands, word)(role="user", user="bob", other="cat")
        assert getattr(commands, word)(role="user", user="bob", other="ann"), "one that is there is no new one"
        for wrong in ("bob", "x" * 129):
            with pytest.raises(Failed, match="bad_request"):
                getattr(commands, word)(role="user", user="bob", other=wrong)


def test_nobody_holds_more_notes_than_may_be(commands, db):
    """Anybody may block anybody, so a user's home could be filled by others."""
    db.sadd("user:star#blockers", *(f"u{n}" for n in range(10_000)))
    block(commands, "bob", "star")
    assert db.scard("user:star#blockers") == 10_000
    assert db.smembers("pair:bob_star#blocks") == {b"bob"}, "the pair knows all the same"


def test_a_strangers_word_about_a_pair_is_refused(commands, db, unchanged):
    with unchanged():
        for by, pair in (("eve", "ann_bob"), ("ann", "bob_ann"), ("x", "x_y_z"), ("x_y", "x_y_z"), ("a", "a_a")):
            with pytest.raises(Failed, match="bad_request"):
                commands.pair_blocked(role="worker", pairId=pair, byId=by, blocked=True)


def test_mutes_are_the_users_own(commands, db):
    assert commands.mute(role="user", user="bob", other="ann") == {"userId": "ann", "muted": True}
    assert commands.mutes(role="user", user="bob") == {"mutes": ["ann"]}
    assert commands.relay() == [] and commands.log("user:ann") == [], "nobody else is told"
    assert db.smembers("user:ann#muters") == {b"bob"}
    assert commands.unmute(role="user", user="bob", other="ann") == {"userId": "ann", "muted": False}
    commands.relay()
    assert commands.mutes(role="user", user="bob") == {"mutes": []} and not db.exists("user:ann#muters")
    assert [data["muted"] for _, data in commands.log("user:bob")] == [True, False]


def test_what_others_wrote_into_the_sets_is_left_out(commands, db):
    db.sadd("user:bob#blocks", "ann", "two words", b"\xff", "", "x" * 200)
    db.sadd("user:bob#mutes", "cat", '"')
    assert commands.blocks(role="user", user="bob") == {"blocks": ["ann"]}
    assert commands.export_people(role="user", user="bob") == {"blocks": ["ann"], "mutes": ["cat"]}


def test_erasing_a_user_takes_back_the_blocks(commands, db):
    block(commands, "bob", "ann")
    block(commands, "cat", "bob")
    commands.mute(role="user", user="bob", other="dan")
    commands.mute(role="user", user="eve", other="bob")
    commands.relay()
    db.xadd("user:bob#log-past", {"e": "muted", "d": "{}"})
    assert commands.erase_people(role="worker", userId="bob") == {"erased": 2, "more": False}
    commands.relay()
    assert not db.exists("user:bob#blocks", "user:bob#mutes", "user:ann#blockers", "pair:ann_bob#blocks",
                         "user:dan#muters")
    assert db.smembers("pair:bob_cat#blocks") == {b"cat"}, "who blocks the user still does"
    assert not db.exists("user:eve#mutes", "user:bob#muters"), "a mute named the user for ever"
    assert commands.log("user:eve")[-1] == ("mute:changed", {"userId": "bob", "muted": False})
    assert commands.log("user:bob") == [("data:erased", {"userId": "bob"})], "of what all packs told nothing is left"
    assert commands.erase_people(role="worker", userId="bob") and len(commands.log("user:bob")) == 1, "once"
    assert not db.exists("user:bob#log-past"), "and that of the epoch before, which a courier would have sent"


def test_many_people_are_forgotten_in_parts(commands, db):
    """Many blocks and as many mutes were more calls than one run may make, so nothing was erased at all."""
    for number in range(240):
        db.sadd("user:bob#blocks", f"u{number}")
        db.sadd("user:bob#mutes", f"u{number}")
        db.sadd(f"user:u{number}#blockers", "bob")
    assert commands.erase_people(role="worker", userId="bob") == {"erased": 40, "more": True}
    commands.relay()
    assert db.keys("user:*#blockers") == [] and not db.exists("user:bob#blocks", "user:bob#mutes")


@pytest.mark.parametrize("groups", [0, 1, 200])
def test_a_block_is_paid_by_the_groups_that_may_hear_of_it(commands, db, groups):
    """To block and unblock in turn was paid as one change, and made up to 200 groups and their members hear of it."""
    prices = []
    inner = commands._loaded.call

    def call(*words):
        reply = inner(*words)
        prices.append(parts_of(reply)[2])
        return reply

    commands._loaded.call = call
    if groups:
        db.sadd("user:bob#groups", *(f"group-{number}" for number in range(groups)))
    for name in ("block", "unblock"):
        commands.call(name, role="user", user="bob", other="ann")
    assert prices == [13 + groups, 13 + groups], "an event, two calls, and the groups"
