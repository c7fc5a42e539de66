"""The lanes of the outbox: who pays for an entry, how much of a lane one payer may have, and what ends the counts."""

import pytest
import redis

from Fixtures.scripts.command_scripts import Failed
from Fixtures.scripts.lua_scripts import Scripts
from Scripts.test_command_prelude import trial  # noqa: F401 (a fixture)

SAY = "emit('user:7', 'e', {}) return {}"
COUNTS = "#outbox:payers"


@pytest.fixture
def scripts(db):
    return Scripts(db)


def entries(db, stream="#outbox"):
    """Ids and payers of what waits."""
    return [(entry.decode(), fields[b"p"].decode()) for entry, fields in db.xrange(stream)]


def done(scripts, *some, stream="#outbox"):
    return scripts.call("outbox_done", [stream, f"{stream}:payers"], [word for entry in some for word in entry])


def test_each_entry_names_its_payer(trial, db):
    trial("emit('user:7', 'e', {}) later('other', {}) return {}", payer="user:ann", payer_max=5)
    assert [payer for _, payer in entries(db)] == ["user:ann", "user:ann"]
    assert db.hgetall(COUNTS) == {b"user:ann": b"2"}


def test_a_payer_is_refused_beyond_its_part_and_others_are_not(trial, db, unchanged):
    for _ in range(3):
        trial(SAY, payer="user:ann", payer_max=3)
    with unchanged(), pytest.raises(Failed) as failure:
        trial("write('HSET', key.hash, 'a', 1) " + SAY, payer="user:ann", payer_max=3)
    assert failure.value.code == "unavailable"
    trial(SAY, payer="user:bob", payer_max=3)
    trial(SAY, payer="service:shop", payer_max=0)
    assert db.hgetall(COUNTS) == {b"user:ann": b"3", b"user:bob": b"1"}


def test_what_was_done_is_counted_off_once(trial, db, scripts):
    for payer in ("user:ann", "user:ann", "user:bob", "service:shop"):
        trial(SAY, payer=payer, payer_max=0 if payer.startswith("service") else 9)
    first, second, third, fourth = entries(db)
    assert done(scripts, first, third) == 2
    assert db.hgetall(COUNTS) == {b"user:ann": b"1"}
    assert done(scripts, first, fourth) == 1, "two workers that overlap delete an entry once"
    assert db.hgetall(COUNTS) == {b"user:ann": b"1"} and entries(db) == [second]
    assert done(scripts, second) == 1
    assert not db.exists("#outbox:payers") and db.xlen("#outbox") == 0


@pytest.mark.parametrize("spoil", [
    lambda db: db.hset(COUNTS, "user:ann", 1_000_000),
    lambda db: db.hset(COUNTS, "user:ann", "junk"),
    lambda db: (db.delete(COUNTS), db.set(COUNTS, "junk")),
])
def test_wrong_counts_end_with_the_lane_s_last_entry(trial, db, scripts, spoil):
    trial(SAY, payer="user:ann", payer_max=3)
    spoil(db)
    assert done(scripts, *entries(db)) == 1
    assert not db.exists(COUNTS)
    spoil(db)
    trial(SAY, payer="user:ann", payer_max=3)
    assert db.hgetall(COUNTS) == {b"user:ann": b"1"}


def test_counts_that_are_none_are_mended_when_something_is_done(trial, db, scripts):
    for _ in range(2):
        trial(SAY, payer="user:ann", payer_max=3)
    db.hset(COUNTS, "user:ann", "junk")
    assert done(scripts, entries(db)[0]) == 1 and not db.exists(COUNTS)
    db.set(COUNTS, "junk")
    with pytest.raises(redis.ResponseError, match="BADKEY"):
        trial(SAY, payer="user:ann", payer_max=3)
    trial(SAY, payer="service:shop", payer_max=0)
    assert done(scripts, *entries(db)) == 2 and not db.exists(COUNTS)


def test_the_worker_is_woken_by_the_name_of_the_stream(trial, db):
    with db.pubsub() as link:
        link.subscribe("p:#outbox")
        link.get_message(timeout=5)
        trial(SAY, prefix="p:")
        assert link.get_message(timeout=5)["data"] == b"p:#outbox"


@pytest.mark.parametrize("terms, waiting, told", [
    ("10 10 user:ann", 0, 1), ("1 10 user:ann", 0, 0), ("10 1 user:ann", 0, 1), ("10 1 user:ann", 1, -1),
    ("3 0 service:shop", 1, 1), ("2 0 service:shop", 1, 0),
])
def test_calls_are_put_there_all_or_none(trial, db, scripts, terms, waiting, told):
    for _ in range(waiting):
        trial(SAY, payer="user:bob", payer_max=3)
    keys = ["#outbox", COUNTS, "#outbox"]
    calls = [terms, "erase_chats", '{"userId":"ann"}', "erase_people", '{"userId":"ann"}']
    assert scripts.call("outbox_put", keys, calls) == told
    assert db.xlen("#outbox") == waiting + (2 if told == 1 else 0)
    if told == 1 and "user" in terms:
        assert db.hget(COUNTS, "user:ann") == b"2"
    for wrong in (["10 10", "a", "{}"], ["10 10 x"], ["10 10 x", "a"], ["10 10 x"] + ["a", "{}"] * 101):
        with pytest.raises(redis.ResponseError, match="BADARG"):
            scripts.call("outbox_put", keys, wrong)


def test_figures_are_of_all_streams_together(db, scripts):
    assert scripts.call("outbox_figures", ["#outbox", "#outbox:next"], []) == [0, 0]
    seconds, _ = db.time()
    db.xadd("#outbox", {"p": ""}, id=f"{(seconds - 60) * 1000}-1")
    db.xadd("#outbox:next", {"p": ""}, id=f"{(seconds + 60) * 1000}-1")
    entries, oldest_ms = scripts.call("outbox_figures", ["#outbox", "#outbox:next", "#outbox:1"], [])
    assert entries == 2 and 59_000 <= oldest_ms <= 70_000
    db.delete("#outbox")
    assert scripts.call("outbox_figures", ["#outbox", "#outbox:next"], []) == [1, 0], "an id of the future is no age"
    db.set("#outbox", "junk")
    with pytest.raises(redis.ResponseError, match="BADKEY"):
        scripts.call("outbox_figures", ["#outbox"], [])
