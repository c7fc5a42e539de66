"""subscribe.lua: a joining client gets a real position and all that it missed, or is told that it cannot."""

import json

import pytest

from Fixtures.scripts.lua_scripts import Keys

KEYS = Keys()


@pytest.fixture
def ten(scripts):
    """A topic with events 1...10 in epoch k."""
    for number in range(1, 11):
        scripts.publish(epoch="k", data='{"n":%d}' % number, id=f"op-{number}")
    return scripts


def test_empty_topic_gets_a_position(scripts, db):
    joined = scripts.subscribe(epoch="k")
    assert (joined.epoch, joined.offset, joined.recovered, joined.events, joined.state) == ("k", 0, 0, [], None)
    assert db.hgetall(KEYS.meta) == {b"epoch": b"k", b"offset": b"0", b"run": scripts.run.encode(),
                                     b"until": b"0"}
    assert 299 <= db.ttl(KEYS.meta) <= 300
    assert scripts.subscribe().epoch == "k"


def test_first_event_is_recovered_from_an_empty_topic(scripts):
    joined = scripts.subscribe()
    scripts.publish()
    back = scripts.subscribe(since=(joined.epoch, 0))
    assert (back.recovered, back.offsets) == (1, [1])


def test_join_without_since_changes_nothing(ten, unchanged):
    with unchanged():
        joined = ten.subscribe()
    assert (joined.epoch, joined.offset, joined.recovered, joined.events) == ("k", 10, 0, [])


@pytest.mark.parametrize("since", range(11))
def test_every_missed_event_comes_back_in_order(ten, unchanged, since):
    with unchanged():
        joined = ten.subscribe(since=("k", since))
    assert joined.recovered == 1 and joined.offset == 10
    assert joined.events == [
        (str(n).encode(), b"queue:update", b'{"n":%d}' % n, b"op-%d" % n) for n in range(since + 1, 11)]


@pytest.mark.parametrize("since", [11, 12, 2**31, 2**53 - 1, 2**53, 2**63 - 1, 10**19 - 1])
def test_position_that_never_was(ten, since):
    joined = ten.subscribe(since=("k", since))
    assert (joined.recovered, joined.events, joined.epoch, joined.offset) == (0, [], "k", 10)


@pytest.mark.parametrize("epoch", ["K", "kk", "other", "-", "_", "0"])
def test_position_of_another_epoch(ten, epoch):
    joined = ten.subscribe(since=(epoch, 5))
    assert (joined.recovered, joined.events, joined.epoch) == (0, [], "k")


@pytest.mark.parametrize("recovery_max,recovered", [(5, 1), (4, 0), (0, 0), (300, 1)])
def test_recovery_is_bounded_and_never_partial(ten, recovery_max, recovered):
    joined = ten.subscribe(since=("k", 5), recovery_max=recovery_max)
    assert joined.recovered == recovered and len(joined.events) == (5 if recovered else 0)


def test_nothing_missed_needs_no_allowance(ten):
    assert ten.subscribe(since=("k", 10), recovery_max=0).recovered == 1


@pytest.mark.parametrize("since,recovered", [(4, 0), (5, 1), (6, 1)])
def test_trimmed_log(ten, db, since, recovered):
    db.xtrim(KEYS.log, maxlen=5, approximate=False)
    assert ten.subscribe(since=("k", since)).recovered == recovered


def test_hole_in_the_log(ten, db):
    db.xdel(KEYS.log, "7-0")
    assert ten.subscribe(since=("k", 5)).recovered == 0
    assert ten.subscribe(since=("k", 7)).offsets == [8, 9, 10]


def test_lost_log(ten, db):
    db.delete(KEYS.log)
    assert ten.subscribe(since=("k", 5)).recovered == 0
    assert ten.subscribe(since=("k", 10)).recovered == 1


@pytest.mark.parametrize("entry,id", [
    ({"e": "x", "d": "{}", "i": "-"}, "8-0"), ({"x": "x", "d": "{}", "i": "-", "t": "1"}, "8-0"),
    ({"e": "x", "d": "{}", "i": "-", "t": "1"}, "8-1"),
])
def test_foreign_entry_in_the_log(scripts, db, entry, id):
    """An entry that publish.lua did not write is not an event, and what it stands for is missing."""
    for _ in range(7):
        scripts.publish(epoch="k")
    db.xadd(KEYS.log, entry, id=id)
    db.hset(KEYS.meta, "offset", 8)
    assert scripts.subscribe(since=("k", 5)).recovered == 0


def test_log_switched_off_for_a_while(scripts):
    for log_max in (10, 10, 0, 0, 10, 10):
        scripts.publish(epoch="k", log_max=log_max)
    assert scripts.subscribe(since=("k", 1)).recovered == 0
    assert scripts.subscribe(since=("k", 4)).offsets == [5, 6]


def test_flush_between_is_noticed_on_an_empty_topic(scripts, db):
    joined = scripts.subscribe()
    db.flushall()
    back = scripts.subscribe(since=(joined.epoch, 0))
    assert back.recovered == 0 and back.epoch != joined.epoch


def test_another_run_of_redis_is_another_epoch(ten, db):
    joined = ten.subscribe(since=("k", 5), run="second", epoch="k2")
    assert (joined.epoch, joined.offset, joined.recovered, joined.events) == ("k2", 0, 0, [])
    assert not db.exists(KEYS.log), "its offsets belong to the old epoch"
    assert ten.publish(run="second") == ("k2", 1, 0)


def test_rolled_back_redis_never_recovers(ten, db):
    """The client saw 10, the data came back at 7 and went on past 10."""
    old = {key: db.dump(key) for key in (KEYS.log, KEYS.meta)}
    for _ in range(3):
        ten.publish()
    for key, value in old.items():
        db.restore(key, 0, value, replace=True)
    for _ in range(8):
        ten.publish(run="second")
    back = ten.subscribe(since=("k", 13), run="second")
    assert back.recovered == 0 and back.epoch != "k"


def test_newest_events_serve_whoever_stands_beside_them(ten, db):
    """One read for many: the newest events within the bounds, consecutive up to the end."""
    assert ten.call("subscribe", [KEYS.log, KEYS.meta],
                    ["e", ten.run, "", 1, 86_400, "k", 2, "newest", 4, 1 << 20, 300, 0])[2:4] == [
        b"7", [[b"%d" % n, b"queue:update", b'{"n":%d}' % n, b"op-%d" % n] for n in range(7, 11)]]


@pytest.mark.parametrize("order,expected", [("newest", [8, 9, 10]), ("oldest", [1, 2, 3])])
def test_bound_in_bytes(scripts, order, expected):
    for _ in range(10):
        scripts.publish(epoch="k", data='{"n":"%s"}' % ("x" * 1_000))
    joined = scripts.subscribe(since=("k", 0), order=order, bytes_max=3 * (1_008 + 256))
    assert joined.recovered == (order == "oldest") and (joined.offsets or expected) == expected


@pytest.mark.parametrize("before, most, expected", [
    (8, 3, [5, 6, 7]), (8, 100, [3, 4, 5, 6, 7]), (3, 5, []), (1, 5, []), (11, 2, [9, 10]), (2**53 - 1, 2, [9, 10]),
    (0, 2, [9, 10])])
def test_what_one_call_left_out_is_read_by_the_next(ten, unchanged, before, most, expected):
    """A recovery of 1,000 events held Redis for 14 ms: it is read page by page, from the newest back."""
    with unchanged():
        _, offset, first, events, _ = ten.call("subscribe", [KEYS.log, KEYS.meta], [
            "e", ten.run, "", 1, 86_400, "k", 2, "newest", most, 1 << 20, 300, before])
    assert (int(offset), [int(event[0]) for event in events]) == (10, expected)
    assert int(first) == (expected or [0])[0]


def test_oldest_events_come_in_pages(ten):
    """A gateway's repair goes on where the page before ended."""
    first = ten.subscribe(since=("k", 2), order="oldest", recovery_max=5)
    second = ten.subscribe(since=("k", 7), order="oldest", recovery_max=5)
    assert (first.offsets, second.offsets) == ([3, 4, 5, 6, 7], [8, 9, 10])


def test_repair_begins_where_the_log_begins(ten, db):
    db.xtrim(KEYS.log, maxlen=4, approximate=False)
    assert ten.subscribe(since=("k", 2), order="oldest").offsets == [7, 8, 9, 10]
    db.xdel(KEYS.log, "9-0")
    assert ten.subscribe(since=("k", 2), order="oldest").offsets == [7, 8]


# The fence

@pytest.mark.parametrize("before,after,is_kept", [
    ("a", "a", True), ("a", "a+", True), ("a+", "a", True), ("a+", "a+", True), ("a+", "b+", True),
    ("a", "b", False), ("a", "b+", False), ("a+", "b", False), ("aa", "a", False), ("a", "aa", False),
])
@pytest.mark.parametrize("log_max", [0, 200])
def test_restart_keeps_the_epoch_only_when_every_write_was_synced(scripts, db, before, after, is_kept, log_max):
    """Rule 2 and its exception, rule 3."""
    for _ in range(3):
        scripts.publish(epoch="k", run=before, log_max=log_max)
    joined = scripts.subscribe(run=after, epoch="n")
    assert (joined.epoch, joined.offset) == (("k", 3) if is_kept else ("n", 0))
    assert scripts.publish(run=after, log_max=log_max)[:2] == (("k", 4) if is_kept else ("n", 1))
    assert db.hget(KEYS.meta, "run") == after.encode(), "what is written now stands under the run it is written in"


def test_what_was_written_unsynced_is_lost_to_the_next_restart(scripts):
    """appendfsync was `always`, was changed while Redis ran, and is `always` again after the crash."""
    scripts.publish(epoch="k", run="a+")
    assert scripts.publish(run="a")[0] == "k"
    assert scripts.publish(run="b+")[0] != "k"


@pytest.mark.parametrize("top,is_kept", [
    (("k", 10), True), (("k", 9), True), (("k", 11), False), (("other", 11), True), (("k", 2**53 - 1), False),
    (None, True)])
@pytest.mark.parametrize("call", ["publish", "subscribe"])
def test_data_that_went_backwards_begin_a_new_epoch(ten, call, top, is_kept):
    """Rule 1: whoever knows of a later event than Redis ends the epoch, whatever the run."""
    epoch = ten.publish(top=top)[0] if call == "publish" else ten.subscribe(top=top).epoch
    assert (epoch == "k") == is_kept


@pytest.mark.parametrize("run", ["r" * 40, "r" * 40 + "+"])
def test_a_rollback_in_the_same_run_is_found_by_the_first_who_knows(ten, db, run):
    old = {key: db.dump(key) for key in (KEYS.log, KEYS.meta)}
    for _ in range(3):
        ten.publish(run=run)
    for key, value in old.items():
        db.restore(key, 0, value, replace=True)
    epoch, offset, _ = ten.publish(run=run, top=("k", 13))
    assert (epoch != "k", offset) == (True, 1)
    assert ten.subscribe(since=("k", 13), run=run).recovered == 0


def test_quiet_topic_with_listeners_keeps_its_position(ten, db):
    db.expire(KEYS.meta, 43_000)
    ten.subscribe()
    assert db.ttl(KEYS.meta) > 86_000
    db.expire(KEYS.meta, 44_000)
    ten.subscribe()
    assert db.ttl(KEYS.meta) <= 44_000, "most joins stay plain reads"


def test_position_without_expiry_gets_one(ten, db):
    db.persist(KEYS.meta)
    ten.subscribe()
    assert 86_000 < db.ttl(KEYS.meta) <= 86_400


# State


@pytest.mark.usefixtures("others_data")
@pytest.mark.parametrize("text", ['{"customersWaiting":3,"waitMinutes":12}', "{}", ' {"a":[]}\n', '{"é":"😀"}'])
def test_state_of_a_shop(scripts, db, text):
    db.set(KEYS.queue, text)
    assert scripts.subscribe(state="shop").state == text.encode()
    assert scripts.subscribe(state="shop", since=("none", 0)).state == text.encode()
    assert scripts.subscribe().state is None, "a namespace without a provider has no state"


def status(length, wait, serving, black_card, updated_at):
    return {"shopId": "42", "queueLength": length, "avgWaitTime": wait, "currentlyServing": serving,
            "estimatedWaitTimes": {"standard": wait, "blackCard": black_card}, "updatedAt": updated_at}


def test_a_quiet_shop_has_a_state(scripts, unchanged):
    """A shop nothing was written for had no state, and the app's page waited for the first update."""
    scripts.subscribe()
    with unchanged():
        joined = scripts.subscribe(state="shop")
    assert json.loads(joined.state) == status(0, 0, 0, 5, "2026-11-20T20:03:20.123Z")


def test_a_shop_without_a_cache_is_told_as_last_time(scripts, db):
    """The cache of a shop that nobody waits at expires, and joining clients were told nothing."""
    db.hset(KEYS.shop_state[2], "b1", "{}")
    db.set(KEYS.shop_state[1], '{"queueLength":0,"avgWaitTime":0,"currentlyServing":0,"at":1795204000000}')
    assert json.loads(scripts.subscribe(state="shop").state) == status(0, 0, 0, 5, "2026-11-20T19:46:40.000Z")
    db.set(KEYS.shop_state[1], '{"queueLength":4,"avgWaitTime":41,"currentlyServing":3,"p50":40,"at":0}')
    assert json.loads(scripts.subscribe(state="shop").state) == status(4, 41, 3, 16.4, "1970-01-01T00:00:00.000Z")


@pytest.mark.parametrize("fill", [
    lambda db: db.hset(KEYS.shop_state[2], "b1", "{}"), lambda db: db.sadd(KEYS.shop_state[3], "b1"),
    lambda db: db.set(KEYS.shop_state[1], "{"), lambda db: db.set(KEYS.shop_state[1], '{"queueLength":1}'),
    lambda db: db.set(KEYS.shop_state[1], '{"queueLength":1,"avgWaitTime":1e300,"currentlyServing":0,"at":1}'),
    lambda db: db.set(KEYS.shop_state[1], '{"queueLength":1,"avgWaitTime":0.5,"currentlyServing":0,"at":1}'),
    lambda db: db.set(KEYS.shop_state[1], '{"queueLength":1,"avgWaitTime":1,"currentlyServing":0,"at":-1}'),
    lambda db: db.sadd(KEYS.shop_state[1], "x"), lambda db: db.set(KEYS.shop_state[3], "x"),
], ids=range(9))
def test_what_no_worker_has_computed_is_no_state(scripts, db, fill):
    fill(db)
    assert scripts.subscribe(state="shop").state is None


@pytest.mark.parametrize("text", [
    "", "null", "[]", '"x"', "1", "{", '{"a"', '{"a":1}}', "{}{}", "{'a':1}", b"\xff", "{" * 100_000,
    '{"a":' + "[" * 100_000 + "]" * 100_000 + "}", '{"a":"' + "x" * 65_536 + '"}',
], ids=range(14))
def test_cache_that_is_not_a_json_object_is_no_state(scripts, db, unchanged, text):
    scripts.subscribe()
    db.set(KEYS.queue, text)
    with unchanged():
        assert scripts.subscribe(state="shop").state is None


@pytest.mark.parametrize("fill", [
    lambda db: db.rpush(KEYS.queue, "x"), lambda db: db.hset(KEYS.queue, "a", "b"), lambda db: db.sadd(KEYS.queue, "x"),
    lambda db: db.zadd(KEYS.queue, {"x": 1}), lambda db: db.xadd(KEYS.queue, {"a": "b"}),
])
def test_cache_of_another_type_is_no_state(scripts, db, fill):
    fill(db)
    joined = scripts.subscribe(state="shop")
    assert joined.state is None and joined.offset == 0


# Positions without events


def test_a_position_nobody_has_published_under_is_short_lived(scripts, db):
    """H1: joining any name left a position for more than a day, and seven connections filled Redis with them."""
    scripts.subscribe(idle_ttl_s=60)
    assert 59 <= db.ttl(KEYS.meta) <= 60
    db.expire(KEYS.meta, 29)
    scripts.subscribe(idle_ttl_s=60)
    assert 59 <= db.ttl(KEYS.meta) <= 60, "who joins renews it"
    scripts.publish()
    assert 86_437 <= db.ttl(KEYS.meta) <= 86_438
    scripts.subscribe(idle_ttl_s=60)
    assert 86_437 <= db.ttl(KEYS.meta) <= 86_438, "an event was published"


def test_after_its_end_another_epoch_is_told(scripts, db):
    first = scripts.subscribe()
    db.delete(KEYS.meta)
    scripts.publish()
    back = scripts.subscribe(since=(first.epoch, 0))
    assert back.epoch != first.epoch and not back.recovered


def test_renew(scripts, db):
    """Positions without events that have members are kept, all others are left as they are."""
    idle, busy, gone, odd = "shop:1", "shop:2", "shop:3", "shop:4"
    scripts.subscribe(idle, idle_ttl_s=60)
    scripts.publish(busy)
    db.set(Keys(odd).meta, "no hash", ex=10)
    db.expire(Keys(idle).meta, 5)
    assert scripts.renew(idle, busy, gone, odd, idle_ttl_s=60) == 1
    assert 59 <= db.ttl(Keys(idle).meta) <= 60
    assert db.ttl(Keys(busy).meta) > 86_000 and db.ttl(Keys(odd).meta) <= 10
    assert not db.exists(Keys(gone).meta), "what is gone stays gone"
