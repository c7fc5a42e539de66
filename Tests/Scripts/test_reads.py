"""history.lua, replay.lua and position.lua: they read, and create nothing."""

import pytest

from Fixtures.scripts.lua_scripts import NOW_MS, Keys

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


@pytest.mark.parametrize("limit", [1, 3, 8, 9, 17, 300])
@pytest.mark.parametrize("bytes_max", [0, 600, 262_144])
def test_history_goes_on_by_its_cursor(scripts, db, unchanged, limit, bytes_max):
    """A page of 300 events of 64 kB held Redis for 200 ms: bytes had no bound, and a short page told nothing."""
    for number in range(1, 31):
        scripts.publish(epoch="k", data='{"n":%d}' % number)
    # What is no event takes its place in a page, and is not told.
    for number in (4, 5, 20):
        db.xdel(KEYS.log, f"{number}-0")
    db.xadd(KEYS.log, {"x": "y"}, id="30-1")
    after, seen = 0, []
    with unchanged():
        while True:
            epoch, offset, first, events, following = scripts.page(after=after, limit=limit, bytes_max=bytes_max)
            assert (epoch, offset, first) == ("k", 30, 1)
            assert len(events) <= min(limit, {0: 1, 600: 2}.get(bytes_max, limit))
            seen += [int(event[0]) for event in events]
            if following == 0:
                break
            assert following > after
            after = following
    assert seen == [number for number in range(1, 31) if number not in (4, 5, 20)]


@pytest.mark.parametrize("size", [200, 2_000, 60_000])
def test_a_page_of_a_log_reads_little_more_than_it_returns(scripts, db, size):
    """The bound in bytes must stop the reading: 64 events of 64 kB were read to return three."""
    for _ in range(60):
        scripts.publish(epoch="k", data='{"x":"%s"}' % ("x" * size))
    for read in (lambda: scripts.history(limit=60, bytes_max=65_536)[3],
                 lambda: scripts.subscribe(since=("k", 0), order="oldest", bytes_max=65_536).events):
        db.config_resetstat()
        events = read()
        stats = db.info("commandstats")
        entries = 8 * sum(stats.get(f"cmdstat_{name}", {"calls": 0})["calls"] for name in ("xrange", "xrevrange"))
        assert len(events) == min(60, max(1, 65_536 // (size + 256 + 8)))
        assert entries <= len(events) + 24, stats


# replay.lua


@pytest.fixture
def timed(scripts):
    """Twelve events, one a millisecond."""
    for n in range(1, 13):
        scripts.publish(event="e", data=f'{{"n":{n}}}', id="-" if n % 2 else f"op-{n}", now_ms=NOW_MS + n, epoch="k")
    return scripts


@pytest.mark.parametrize("since, limit, first", [
    (0, 25, 1), (NOW_MS + 1, 25, 1), (NOW_MS + 5, 25, 5), (NOW_MS + 12, 25, 12), (NOW_MS + 13, 25, 13), (0, 1, 12),
    (0, 9, 4), (NOW_MS + 11, 9, 11), (2**53 - 1, 25, 13)])
def test_a_replay_is_the_newest_events_since_a_time(timed, unchanged, since, limit, first):
    with unchanged():
        epoch, offset, events = timed.replay(since, limit=limit)
    assert (epoch, offset) == ("k", 12)
    assert events == [(str(n).encode(), b"e", b'{"n":%d}' % n, b"-" if n % 2 else b"op-%d" % n)
                      for n in range(first, 13)]


def test_a_replay_of_nothing(scripts, timed, unchanged):
    with unchanged():
        assert scripts.replay(0, topic="shop:none") == ("", 0, [])
        assert timed.replay(0, run="second") == ("", 0, []), "a position of another run is none"


def test_a_replay_leaves_out_what_is_no_event(timed, db):
    """Entries of others, times that are none and a clock that goes behind cost their own place, and nothing else."""
    db.xdel("shop:42#log", "12-0", "10-0")
    for offset, fields in ((13, {"x": "y"}), (14, {"e": "e", "d": "{}", "i": "-", "t": "x"}), (15, {"e": "e"}),
                           (16, {"e": "late", "d": "{}", "i": "-", "t": NOW_MS - 5})):
        db.xadd("shop:42#log", fields, id=f"{offset}-0")
    db.hset("shop:42#meta", "offset", 16)
    assert [int(event[0]) for event in timed.replay(NOW_MS, limit=25)[2]] == [1, 2, 3, 4, 5, 6, 7, 8, 9, 11]
    # Beyond the position nothing is told.
    db.hset("shop:42#meta", "offset", 9)
    assert [int(event[0]) for event in timed.replay(NOW_MS + 8)[2]] == [8, 9]


@pytest.mark.parametrize("size", [1, 60_000])
def test_a_replay_ends_by_its_bytes(scripts, size):
    data = '{"t":"' + "x" * size + '"}'
    for n in range(25):
        scripts.publish(event="e", data=data, now_ms=NOW_MS)
    events = scripts.replay(0, bytes_max=196_608)[2]
    assert len(events) == min(25, 196_608 // (len(data) + 256))
    assert int(events[-1][0]) == 25
    assert len(scripts.replay(0, bytes_max=0)[2]) == 1, "one at least"
