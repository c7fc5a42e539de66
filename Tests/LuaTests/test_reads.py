"""history.lua and position.lua: they read, and create nothing."""

import pytest

from lua_scripts import Keys

KEYS = Keys()


@pytest.fixture
def ten(scripts):
    for number in range(1, 11):
        scripts.publish(epoch="k", data='{"n":%d}' % number)
    return scripts


def test_absent_topic(scripts, db, unchanged):
    with unchanged():
        assert scripts.history() == ("", 0, 0, [])
        assert scripts.position() == ("", 0, 0, 0)
    assert db.keys("*") == []


def test_position(ten, unchanged):
    with unchanged():
        assert ten.position() == ("k", 10, 1, 10)


def test_position_without_a_log(scripts):
    scripts.publish(epoch="k", log_max=0)
    assert scripts.position() == ("k", 1, 1, 0)


def test_position_of_another_run_is_none(ten, unchanged):
    with unchanged():
        assert ten.position(run="second") == ("", 0, 0, 0)
        assert ten.history(run="second") == ("", 0, 0, [])


@pytest.mark.parametrize("after", [0, 1, 5, 9, 10, 11, 2**53 - 1])
@pytest.mark.parametrize("limit", [1, 3, 10, 300])
def test_history_pages(ten, unchanged, after, limit):
    with unchanged():
        epoch, offset, first, events = ten.history(after=after, limit=limit)
    assert (epoch, offset, first) == ("k", 10, 1)
    assert [int(event[0]) for event in events] == list(range(after + 1, 11))[:limit]


def test_history_of_a_trimmed_log(ten, db):
    db.xtrim(KEYS.log, maxlen=4, approximate=False)
    epoch, offset, first, events = ten.history(after=2)
    assert (offset, first, [int(event[0]) for event in events]) == (10, 7, [7, 8, 9, 10])


def test_history_of_a_lost_log(ten, db):
    db.delete(KEYS.log)
    assert ten.history() == ("k", 10, 0, [])


def test_history_shows_no_entry_beyond_the_position(ten, db):
    db.xadd(KEYS.log, {"e": "x", "d": "{}", "i": "-", "t": "1"}, id="11-0")
    assert [int(event[0]) for event in ten.history(after=8)[3]] == [9, 10]
