"""seal.lua: a restart of Redis keeps the epochs as long as nothing speaks against the `+` of the run before."""

import pytest
import redis

from Fixtures.scripts.lua_scripts import Keys

SEALED = "#sealed"
KEYS = Keys()
FIRST, SECOND, THIRD = ("a" * 40, "b" * 40, "c" * 40)
GAP_MS, BEAT_MS = 60_000, 10_000


@pytest.fixture
def seal(scripts):
    """Asks as a link does: `known` is the last event that it knows of."""
    def ask(run, synced=True, witness="-", known=None, uptime=0, beat_ms=BEAT_MS):
        keys = [SEALED] + ([KEYS.meta] if known else [])
        words = [run, int(synced), uptime, GAP_MS, beat_ms, witness, *(known or ())]
        return scripts.call("seal", keys, words).decode()
    return ask


@pytest.fixture
def away(db):
    """Lets the last beat be so many milliseconds older."""
    def age(ms):
        db.hset(SEALED, "at", int(db.hget(SEALED, "at")) - ms)
    return age


def test_a_restart_soon_after_the_last_beat_keeps_the_generation(seal, away):
    assert [seal(FIRST), seal(FIRST), seal(SECOND)] == ["+", "+", "+"]
    away(GAP_MS // 2)
    assert seal(THIRD) == "+"


@pytest.mark.parametrize("doubt", ["weak", "frozen", "frozen in the future", "doubt", "no event", "an older event"])
def test_any_doubt_draws_a_generation_that_lasts(seal, away, scripts, doubt):
    """A file that was frozen by `appendonly no` has the run's `+`, and its last beat is as old as the last write."""
    scripts.publish(epoch="k", run=FIRST + "+")
    assert seal(FIRST) == "+"
    if doubt == "weak":
        assert seal(FIRST, synced=False) == "-"
    elif doubt.startswith("frozen"):
        away(2 * GAP_MS if doubt == "frozen" else -2 * GAP_MS)
    known = {"no event": ("other", 1), "an older event": ("k", 2)}.get(doubt)
    assert seal(SECOND, witness="doubt" if doubt == "doubt" else "-", known=known) == "+" + "b" * 16
    assert seal(SECOND) == "+" + "b" * 16, "for whoever asks later in that run"
    assert seal(THIRD, witness=SECOND) == "+" + "b" * 16, "and after the next restart"


def test_a_run_that_lost_its_plus_does_not_get_it_back(seal):
    assert seal(FIRST, synced=False) == "?", "it never had one, so there is nothing to lose"
    assert seal(FIRST) == "+"
    assert [seal(FIRST, synced=False), seal(FIRST), seal(FIRST, witness=FIRST)] == ["-", "-", "-"]


def test_a_caller_that_saw_the_run_through_needs_no_beat(seal, away, scripts):
    scripts.publish(epoch="k", run=FIRST + "+")
    seal(FIRST)
    away(100 * GAP_MS)
    assert seal(SECOND, witness=FIRST, known=("k", 1)) == "+"
    away(100 * GAP_MS)
    assert seal(THIRD, witness=FIRST) != "+", "it is no witness of the run in between"


def test_who_comes_late_may_still_doubt(seal, scripts, db):
    """A gateway that has seen the loss connects after another: what that one went on with ends."""
    scripts.publish(epoch="k", run=FIRST + "+")
    assert [seal(FIRST), seal(SECOND)] == ["+", "+"]
    assert scripts.publish(epoch="n", run=SECOND + "+")[0] == "k"
    since = seal(SECOND, witness="doubt")
    assert scripts.publish(epoch="n", run=SECOND + since)[:2] == ("n", 1)
    assert db.hget(KEYS.meta, "run").decode() == SECOND + since
    assert scripts.publish(epoch="m", run=SECOND + since)[0] == "n"


def test_the_beat_is_written_now_and_then(seal, db, away):
    seal(FIRST)
    before = db.hgetall(SEALED)
    seal(FIRST)
    assert db.hgetall(SEALED) == before
    away(BEAT_MS)
    seal(FIRST)
    assert int(db.hget(SEALED, "at")) >= int(before[b"at"])


def test_the_uptime_tells_how_long_redis_was_away(seal, away):
    """A process that connects an hour after the start of Redis does not take the hour for an outage."""
    seal(FIRST)
    away(3_600_000)
    assert seal(SECOND, uptime=3_590) == "+"


def test_a_full_redis_keeps_the_seal_and_gives_no_new_one(seal, db, away):
    seal(FIRST)
    away(2 * BEAT_MS)
    db.config_set("maxmemory", 1)
    assert seal(FIRST) == "+"
    for run, synced in ((SECOND, True), (FIRST, False)):
        with pytest.raises(redis.exceptions.OutOfMemoryError):
            seal(run, synced)


@pytest.mark.parametrize("stored, run, is_kept", [
    ("+", "+", True), ("+", "+g1", False), ("+g1", "+", False), ("+g1", "+g1", True), ("+g1", "+g2", False),
    ("+g1", "", False), ("", "+g1", False)])
@pytest.mark.parametrize("log_max", [100, 0])
def test_positions_outlive_a_restart_in_one_generation(scripts, stored, run, is_kept, log_max):
    scripts.publish(epoch="k", run="a" + stored, log_max=log_max)
    assert scripts.publish(epoch="n", run="b" + run, log_max=log_max)[:2] == (("k", 2) if is_kept else ("n", 1))


@pytest.mark.parametrize("stored, run", [("+", "+b1"), ("+b1", "+"), ("+b1", ""), ("", "+b1"), ("+b1", "+b2")])
def test_positions_go_on_within_one_process(scripts, stored, run):
    scripts.publish(epoch="k", run="a" + stored)
    assert scripts.publish(epoch="n", run="a" + run)[:2] == ("k", 2)


@pytest.mark.parametrize("change", [
    {0: "short"}, {0: "a" * 40 + "!"}, {2: "-1"}, {3: "0"}, {4: "x"}, {5: None}])
def test_wrong_arguments_are_refused(scripts, unchanged, change):
    words = [FIRST, "1", "0", GAP_MS, BEAT_MS, "-"]
    for place, word in change.items():
        words[place] = word
    with unchanged(), pytest.raises(redis.ResponseError, match="BADARG"):
        scripts.call("seal", [SEALED], [word for word in words if word is not None])


def test_a_key_of_another_type_is_told(scripts, db, unchanged):
    db.set(SEALED, "x")
    with unchanged(), pytest.raises(redis.ResponseError, match="BADKEY"):
        scripts.call("seal", [SEALED], [FIRST, "1", "0", GAP_MS, BEAT_MS, "-"])
