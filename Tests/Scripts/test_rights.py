"""revoke.lua, set_member.lua and rights_changes.lua: what is withdrawn, and who has yet to hear of it."""

import pytest
import redis

from Fixtures.scripts.lua_scripts import Scripts

REVOKED, BEFORE, REMOVED = "#revoked", "#revoked-before", "#removed"


class Rights:
    def __init__(self, db):
        self.db = db
        self.scripts = Scripts(db)

    def revoke(self, subject, before=0, keep=3_600, most=1_000):
        return self.scripts.call("revoke", [REVOKED, BEFORE], [subject, before, keep, most])

    def member(self, topic, user, change, most=1_000):
        return self.scripts.call("set_member", [topic + "#members", REMOVED], [topic, user, change, most])

    def changes(self, revoked=0, removed=0, limit=100):
        top, revocations, removals = self.scripts.call(
            "rights_changes", [REVOKED, BEFORE, REMOVED], [revoked, removed, limit])
        return (int(top), [tuple(revocations[index:index + 3]) for index in range(0, len(revocations), 3)],
                [tuple(removals[index:index + 2]) for index in range(0, len(removals), 2)])


@pytest.fixture
def rights(db):
    return Rights(db)


def test_a_revocation_is_read_by_who_has_not_read_it(rights):
    place, before = map(int, rights.revoke("u:bob", 100))
    assert before == 100
    later = int(rights.revoke("t:token-1")[0])
    assert later > place, "places grow, however fast they are taken"
    assert rights.changes() == (later, [(b"u:bob", b"%d" % place, b"100"), (b"t:token-1", b"%d" % later, b"")], [])
    assert rights.changes(revoked=place)[1] == [(b"t:token-1", b"%d" % later, b"")]
    assert rights.changes(revoked=later) == (later, [], [])
    assert rights.changes(limit=1)[1] == [(b"u:bob", b"%d" % place, b"100")]


def test_a_removal_is_read_though_the_clock_went_back(rights, db):
    """The notes had expired, and Redis's clock went back an hour: what came then stood below the mark for the hour."""
    hour_later = int(db.time()[0]) * 1_000 + 3_600_000
    rights.member("shop:1", "bob", "remove")
    removals = rights.changes(removed=hour_later)[2]
    assert [entry for entry, _ in removals] == [b"shop:1 bob"]
    assert rights.changes(removed=int(removals[-1][1]))[2] == []


def test_revoking_again_takes_one_place_and_the_later_time(rights, db):
    first = int(rights.revoke("u:bob", 100)[0])
    second, before = map(int, rights.revoke("u:bob", 50))
    assert second > first and before == 100
    assert db.zcard(REVOKED) == 1
    assert rights.changes(revoked=first)[1] == [(b"u:bob", b"%d" % second, b"100")]


def test_a_full_list_refuses_and_forgets_nobody(rights, db):
    """An older revocation must not give way to a newer one."""
    for number in range(5):
        assert rights.revoke(f"u:{number}", 1, most=5)
    assert rights.revoke("u:6", 1, most=5) == []
    assert rights.revoke("u:3", 9, most=5), "one that is there already takes no room"
    assert db.zcard(REVOKED) == 5


def test_what_is_older_than_a_token_can_be_makes_room(rights, db):
    rights.revoke("u:old", 1)
    db.zadd(REVOKED, {"u:old": 1_000})
    assert rights.revoke("u:new", 1, most=1)
    assert db.zrange(REVOKED, 0, -1) == [b"u:new"] and db.hkeys(BEFORE) == [b"u:new"]
    assert 0 < db.ttl(REVOKED) <= 7_200 and 0 < db.ttl(BEFORE) <= 7_200


def test_members(rights, db):
    assert rights.member("conversation:1", "u1", "add") == 1
    assert rights.member("conversation:1", "u1", "add") == 0
    assert rights.changes()[2] == []
    assert rights.member("conversation:1", "u1", "remove") == 1
    assert rights.member("conversation:1", "u1", "remove") == 0
    assert db.exists("conversation:1#members") == 0
    entries = rights.changes()[2]
    assert [name for name, _ in entries] == [b"conversation:1 u1"]
    assert rights.changes(removed=int(entries[0][1]))[2] == []


def test_members_are_bounded(rights):
    assert rights.member("conversation:1", "u1", "add", most=1) == 1
    assert rights.member("conversation:1", "u2", "add", most=1) == -1
    assert rights.member("conversation:1", "u1", "add", most=1) == 0


def test_notes_of_removals_are_short_lived(rights, db):
    rights.member("conversation:1", "u1", "remove")
    db.zadd(REMOVED, {"conversation:0 u0": 1})
    rights.member("conversation:1", "u2", "remove")
    assert db.zrange(REMOVED, 0, -1) == [b"conversation:1 u1", b"conversation:1 u2"]
    assert 0 < db.pttl(REMOVED) <= 120_000


@pytest.mark.parametrize("arguments", [
    ("", 1), ("u:", 1), ("x:bob", 1), ("u:" + "x" * 257, 1), ("u:bob", -1), ("u:bob", "x")], ids=repr)
def test_wrong_revocations_are_refused(rights, db, arguments):
    with pytest.raises(redis.ResponseError, match="BADARG"):
        rights.revoke(*arguments)
    assert db.dbsize() == 0


@pytest.mark.parametrize("arguments", [
    ("conversation:1", "", "add"), ("conversation:1", "a b", "add"), ("conversation:1", "u1", "drop"),
    ("a b", "u1", "add"), ("conversation:1", "u" * 129, "remove")], ids=repr)
def test_wrong_members_are_refused(rights, db, arguments):
    with pytest.raises(redis.ResponseError, match="BADARG"):
        rights.member(*arguments)
    assert db.dbsize() == 0


def test_keys_of_another_type_are_told(rights, db):
    for key, call in ((REVOKED, lambda: rights.revoke("u:b", 1)), (BEFORE, lambda: rights.revoke("u:b", 1)),
                      (REMOVED, lambda: rights.member("conversation:1", "u1", "remove")),
                      ("conversation:1#members", lambda: rights.member("conversation:1", "u1", "add")),
                      (REVOKED, rights.changes), (REMOVED, rights.changes)):
        db.flushall()
        db.set(key, "x")
        with pytest.raises(redis.ResponseError, match="BADKEY"):
            call()
        assert db.dbsize() == 1
