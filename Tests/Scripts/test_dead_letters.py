"""dead_letters.lua, retry_call.lua, retry_webhook.lua: what was given up is read, and tried again."""

import pytest
import redis

from Fixtures.scripts.lua_scripts import Scripts

DEAD, CALLS = "#calls-dead:spotify", "#calls:spotify"
TOPIC = "order:7"
HOOK = [f"{TOPIC}#hook#kitchen", f"{TOPIC}#hook-lease#kitchen", f"{TOPIC}#meta", f"{TOPIC}#log"]
CALL = {"i": "0" * 32, "r": '{"q":"a"}', "c": "found", "a": '{"roomId":"7"}'}


@pytest.fixture
def scripts(db):
    return Scripts(db)


def give_up(db, number, **fields):
    """A call as couriers and workers give it up."""
    return db.xadd(DEAD, {"id": f"9-{number}", "reason": "status 500", **CALL, **fields}, id=f"{number}-0")


def page(scripts, start="-", end="+", limit=100, bytes_max=262_144):
    more, *told = scripts.call("dead_letters", [DEAD], [start, end, limit, bytes_max])
    return more, [id.decode() for id in told[::2]]


def test_letters_are_read_in_pages_of_a_number_and_of_bytes(scripts, db):
    assert page(scripts) == (0, [])
    for number in range(1, 36):
        give_up(db, number)
    ids = [f"{number}-0" for number in range(1, 36)]
    assert page(scripts) == (0, ids) and page(scripts, limit=35) == (0, ids)
    assert page(scripts, limit=34) == (1, ids[:34])
    assert page(scripts, start="(34-0") == (0, ["35-0"]) and page(scripts, start="7-0", end="7-0") == (0, ["7-0"])
    size = sum(len(word) for pair in db.xrange(DEAD, "1-0", "1-0")[0][1].items() for word in pair)
    assert page(scripts, bytes_max=2 * size) == (1, ids[:2])
    # One letter is told whatever it has: a page without any would never end.
    assert page(scripts, bytes_max=1) == (1, ids[:1])


@pytest.mark.parametrize("arguments", [
    ["", "+", 1, 1], ["-", "-", 1, 1], ["1", "+", 1, 1], ["(1-0-0", "+", 1, 1], ["1-0", "2", 1, 1], ["-", "+", 0, 1],
    ["-", "+", 101, 1], ["-", "+", 1, 0], ["-", "+", 1], ["(" + "9" * 16 + "-0", "+", 1, 1]])
def test_wrong_arguments_read_nothing(scripts, arguments):
    with pytest.raises(redis.ResponseError, match="^BADARG"):
        scripts.call("dead_letters", [DEAD], arguments)


def test_a_call_waits_again_as_it_was(scripts, db):
    give_up(db, 1)
    assert scripts.call("retry_call", [DEAD, CALLS], ["1-0", 10]) == 1
    ((_, waiting),) = db.xrange(CALLS)
    assert {name.decode(): text.decode() for name, text in waiting.items()} == CALL
    assert db.xlen(DEAD) == 0
    # A second request finds nothing, and makes no second call.
    assert scripts.call("retry_call", [DEAD, CALLS], ["1-0", 10]) == 0 and db.xlen(CALLS) == 1


def test_a_call_stays_where_no_more_may_wait_and_what_is_none_stays_for_ever(scripts, db):
    for number in (1, 2):
        give_up(db, number)
    db.xadd(DEAD, {"id": "9-3", "reason": "nonsense", "x": "y"}, id="3-0")
    assert [scripts.call("retry_call", [DEAD, CALLS], [f"{n}-0", 1]) for n in (1, 2, 3)] == [1, -1, 0]
    assert [id for id, _ in db.xrange(DEAD)] == [b"2-0", b"3-0"]
    with pytest.raises(redis.ResponseError, match="^BADARG"):
        scripts.call("retry_call", [DEAD, CALLS], ["x", 1])


@pytest.fixture
def told(db):
    """A topic with events 3 to 9, all of which a receiver has been told."""
    db.hset(HOOK[2], mapping={"epoch": "k3x9", "offset": 9})
    db.pexpire(HOOK[2], 100_000)
    for offset in range(3, 10):
        db.xadd(HOOK[3], {"e": "a", "d": "{}"}, id=f"{offset}-0")
    db.set(HOOK[0], "k3x9 9")
    db.set(HOOK[1], "a-courier")
    return lambda offset, epoch="k3x9": Scripts(db).call("retry_webhook", HOOK, [epoch, offset])


def test_the_cursor_goes_back_and_whoever_has_the_topic_loses_it(told, db):
    assert told(7) == 1
    assert db.get(HOOK[0]) == b"k3x9 6" and not db.exists(HOOK[1])
    assert 100_000 < db.pttl(HOOK[0]) <= 160_000
    # It never goes forward: then events between would be left out.
    assert told(9) == 1 and db.get(HOOK[0]) == b"k3x9 6"
    assert told(3) == 1 and db.get(HOOK[0]) == b"k3x9 2"
    # The receiver has had nothing yet, and is owed everything.
    db.set(HOOK[0], "k3x9 - 9")
    assert told(7) == 1 and db.get(HOOK[0]) == b"k3x9 - 9"


def test_what_the_log_no_longer_has_cannot_be_told_again(told, db):
    assert told(2) == told(10) == told(5, epoch="other") == 0
    assert db.get(HOOK[0]) == b"k3x9 9" and db.exists(HOOK[1])
    db.delete(HOOK[2])
    assert told(5) == 0
    for wrong in (["", 1], ["a b", 1], ["k", 0], ["k", "x"], ["k" * 65, 1]):
        with pytest.raises(redis.ResponseError, match="^BADARG"):
            Scripts(db).call("retry_webhook", HOOK, wrong)


@pytest.mark.parametrize("place", range(4))
def test_a_key_of_another_type_is_told_and_changes_nothing(told, db, place, unchanged):
    db.delete(HOOK[place])
    db.lpush(HOOK[place], "x")
    if place == 1:
        assert told(7) == 1 and not db.exists(HOOK[1]), "a lease of any kind is taken away"
        return
    with unchanged(), pytest.raises(redis.ResponseError, match="^BADKEY"):
        told(7)
