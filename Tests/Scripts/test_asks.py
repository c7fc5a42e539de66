"""ask and keep_answer: questions that wait for a courier, and answers that are kept, both bounded."""

import pytest
import redis

from Fixtures.scripts.lua_scripts import Scripts

ANSWERS, DUE, ASKS, COURIER = "#answers:x", "#answers-due:x", "#asks:x", "#courier:x"


@pytest.fixture
def ask(db):
    return lambda digest="d", most=2, life=5_000: Scripts(db).call(
        "ask", [ANSWERS, ASKS, COURIER], [digest, f"question {digest}", most, life])


@pytest.fixture
def keep(db):
    return lambda digest="d", text="{}", seconds=60, most=3: Scripts(db).call(
        "keep_answer", [ANSWERS, DUE], [digest, text, seconds, most])


def test_without_a_courier_nothing_is_left(ask, db, unchanged):
    with unchanged():
        assert ask() == [-1]


def test_a_question_is_left_for_the_couriers_and_ends_by_itself(ask, db):
    db.set(COURIER, "py")
    assert ask("a") == [0] and ask("b") == [0] and ask("c") == [-2]
    assert db.lrange(ASKS, 0, -1) == [b"question a", b"question b"] and 9_000 < db.pttl(ASKS) <= 10_000


def test_an_answer_is_kept_for_its_time_also_without_a_courier(ask, keep, db):
    text = '{"a":"b\nc 1 2"}'
    assert keep(text=text) == 1
    assert ask() == [1, text.encode()] and ask("other") == [-1]
    good, kept = db.hget(ANSWERS, "d").split(b" ", 1)
    db.hset(ANSWERS, "d", b"%d %s" % (int(good) - 60_000, kept))
    assert ask() == [-1], "its time is over"
    db.hset(ANSWERS, "d", b"%d %s" % (int(good) + 3_600_000, kept))
    assert ask() == [-1], "it was kept before Redis's clock went back"
    db.hset(ANSWERS, "d", "nonsense")
    assert ask() == [-1]
    assert 0 < db.ttl(ANSWERS) <= 7_200 and 0 < db.ttl(DUE) <= 7_200


def test_answers_are_bounded_and_what_is_over_first_goes_first(keep, db):
    for number, seconds in enumerate([50, 10, 40, 30, 20]):
        keep(str(number), seconds=seconds)
    assert set(db.hkeys(ANSWERS)) == set(db.zrange(DUE, 0, -1)) == {b"0", b"2", b"3"}
    assert keep("4", seconds=60) == 3 and set(db.hkeys(ANSWERS)) == {b"0", b"2", b"4"}
    keep("4", text='{"new":1}')
    assert db.hget(ANSWERS, "4").endswith(b'{"new":1}') and db.zcard(DUE) == 3


def test_what_is_over_is_dropped_a_few_at_a_time(keep, db):
    for number in range(25):
        db.hset(ANSWERS, number, "1 {}")
        db.zadd(DUE, {str(number): number + 1})
    assert [keep("new", most=100) for _ in range(4)] == [16, 6, 1, 1]
    assert db.hkeys(ANSWERS) == [b"new"]


@pytest.mark.parametrize("script, keys, arguments", [
    ("ask", 3, ["d", "q", 0, 1]), ("ask", 3, ["d", "q", 1, 0]), ("ask", 3, ["d", "q", 1]), ("ask", 2, ["d", "q", 1, 1]),
    ("keep_answer", 2, ["d", "{}", 0, 1]), ("keep_answer", 2, ["d", "{}", 3_601, 1]),
    ("keep_answer", 2, ["d", "{}", 1, 0]), ("keep_answer", 3, ["d", "{}", 1, 1]),
])
def test_arguments_are_read_strictly(db, unchanged, script, keys, arguments):
    with unchanged(), pytest.raises(redis.ResponseError, match="BADARG"):
        Scripts(db).call(script, [ANSWERS, DUE, COURIER][:keys], arguments)


@pytest.mark.parametrize("key", [ANSWERS, ASKS])
def test_ask_reads_its_keys(ask, db, unchanged, key):
    db.set(COURIER, "py")
    db.zadd(key, {"x": 1})
    with unchanged(), pytest.raises(redis.ResponseError, match="BADKEY|WRONGTYPE"):
        ask()


@pytest.mark.parametrize("key", [ANSWERS, DUE])
def test_keep_reads_its_keys(keep, db, unchanged, key):
    db.set(key, "x")
    with unchanged(), pytest.raises(redis.ResponseError, match="BADKEY|WRONGTYPE"):
        keep()
