"""Messaging at its bounds: many groups of one user, and keys that outlive a year."""

from Fixtures.scripts.chats import chats, commands, refused  # noqa: F401

YEAR_S = 31_622_400
DAY_MS = 86_400_000


def test_a_block_reaches_all_groups_of_a_user_who_has_made_many(chats, db):
    """Nobody is bounded in groups of their own, and a block was carried into 200 of them, whichever these were."""
    groups = [chats.group("ann", "bob") for _ in range(205)]
    # Bob has left five: strangers' groups are bounded.
    both = {group for group in groups if db.hexists(f"conversation:{group}#roll", "bob")}
    assert db.scard("user:ann#groups") == 205 and len(both) == 200
    chats.do("block", "ann", other="bob")
    runs = 0
    while not chats.refresh("walls_refresh", "ann")["idle"]:
        runs += 1
        assert runs < 60
    assert {group for group in groups if db.hget(f"conversation:{group}#walls", ">ann") == b"bob"} == both


def test_a_block_in_a_group_lasts_as_long_as_the_group(chats, commands, db):
    """The note of it ended a year after the last block in the group, and the two heard each other again."""
    group = chats.group("ann", "bob", "cat")
    chats.block("ann", "bob")
    chats.send("cat", group)
    chats.do("remove_message", "cat", group, messageId=chats.send("cat", group)["id"])
    for part in ("walls", "removed"):
        assert db.expire(f"conversation:{group}#{part}", 100)
    commands.now_ms += 2 * DAY_MS
    chats.send("cat", group)
    for part in ("walls", "removed", "roll", "messages"):
        assert db.ttl(f"conversation:{group}#{part}") > YEAR_S - 100, part


def test_a_user_makes_no_more_groups_than_a_list_shows(chats, db):
    db.sadd("user:ann#groups", *(f"group-{number}" for number in range(1_000)))
    refused("too_many", chats.do, "create_conversation", "ann", members=["bob"])
    chats.do("create_conversation", "bob", members=["cat"])
