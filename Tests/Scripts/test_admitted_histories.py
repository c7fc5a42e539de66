"""The fence of a call: the history that is written now, and older ones that the caller has proof of."""

import pytest


@pytest.mark.parametrize("run, goes_on", [
    ("first", True), ("second/first", True), ("third/second/first", True), ("first/second", True), ("second", False),
    ("second/firs", False), ("second/xfirst", False), ("second/first2/x", False), ("second+/third", False),
    ("firs/t", False), ("first+/other", True),
])
def test_a_history_that_is_admitted_goes_on_and_the_own_one_is_stored(scripts, db, listener, run, goes_on):
    """What a caller has proof of stands behind a `/`; the next call of one without the proof must find its own."""
    for log_max in ("100", "0"):
        topic = f"shop:{log_max}"
        scripts.publish(topic, epoch="old", run="first", log_max=log_max)
        assert scripts.publish(topic, epoch="new", run=run, log_max=log_max)[:2] == (
            ("old", 2) if goes_on else ("new", 1))
        own = run.split("/")[0]
        assert db.hget(f"{topic}#meta", "run") == own.encode()
        assert scripts.publish(topic, epoch="newer", run=own, log_max=log_max)[0] == ("old" if goes_on else "new")
        several = scripts.publish_several([("e", "{}", "-"), ("e", "{}", "-")], topic, run=run, log_max=log_max)
        assert several[-1][0] == ("old" if goes_on else "new")
        assert db.hget(f"{topic}#meta", "run") == own.encode()
