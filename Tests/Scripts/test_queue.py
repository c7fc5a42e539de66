"""The queue of a shop: recomputed from state, equal to an independent model, told when it changed and not else."""

import json
import math

import pytest
import redis

from Fixtures.scripts import queue_model
from Fixtures.scripts.command_scripts import Failed
from Fixtures.scripts.lua_scripts import NOW_MS
from Scripts.test_bookings import HOSTILE

SHOP = "42"
BOOKINGS, BARBERS, SERVICE, SETTINGS, TOLD, CACHE = (
    "shop:42#bookings", "shop:42#barbers", "shop:42#service", "shop:42#settings", "shop:42#status", "queue:42")
MINUTE_MS = 60_000
DAY_MS = 86_400_000
# Where (waiting / barbers) * 30 and waiting * 30 / barbers are rounded up to different minutes.
WHERE_ORDER_MATTERS = [(waiting, barbers) for barbers in range(1, 30) for waiting in range(60)
                       if math.ceil(waiting / barbers * 30) != math.ceil(waiting * 30 / barbers)]
MIDNIGHT_MS = (NOW_MS // DAY_MS + 1) * DAY_MS


def text(status="confirmed", **members):
    return json.dumps({"userId": "u1", "tier": "standard", "status": status, "createdAt": NOW_MS, **members})


def refresh(commands, now_ms=NOW_MS, **options):
    return commands.queue_refresh(shopId=SHOP, now_ms=now_ms, **options)


def told(commands):
    events = commands.log("shop:42")
    assert all(event == "queue:update" for event, _ in events)
    return [data for _, data in events]


def without_time(status):
    return {name: value for name, value in status.items() if name not in ("updatedAt", "estimate")}


def test_status_is_told_and_cached(commands, db):
    db.sadd(BARBERS, "ann", "bob", "cy")
    db.hset(BOOKINGS, mapping={f"b{n}": text() for n in range(5)} | {"p": text("pending"), "i": text("in-progress")})
    db.hset(SERVICE, "averageMinutes", "22.5")
    assert refresh(commands) == {"idle": False, "again_ms": NOW_MS + 30_000}
    expected = {"shopId": SHOP, "queueLength": 5, "avgWaitTime": 38, "currentlyServing": 3,
                "estimatedWaitTimes": {"standard": 38, "blackCard": 38 * 0.4},
                "updatedAt": "2026-11-20T20:03:20.123Z"}
    assert told(commands) == [expected] and json.loads(db.get(CACHE)) == expected
    assert 55 < db.ttl(CACHE) <= 60
    assert commands.queue(shopId=SHOP, role="anonymous", now_ms=NOW_MS + 9) == expected
    db.delete(CACHE)
    fresh = commands.queue(shopId=SHOP, role="anonymous", now_ms=NOW_MS + 9)
    assert fresh == {**expected, "updatedAt": "2026-11-20T20:03:20.132Z"}


@pytest.mark.parametrize("waiting, barbers", WHERE_ORDER_MATTERS)
def test_the_formula_is_rounded_as_the_backends_round_it(commands, db, waiting, barbers):
    db.sadd(BARBERS, *(f"x{n}" for n in range(barbers)))
    db.hset(BOOKINGS, mapping={f"b{n}": text() for n in range(waiting)})
    assert commands.queue(shopId=SHOP)["avgWaitTime"] == math.ceil((waiting / barbers) * 30)
    refresh(commands)
    assert told(commands)[0]["avgWaitTime"] == math.ceil((waiting / barbers) * 30)


@pytest.mark.parametrize("cached", [
    b"{}", b'{"shopId":"42"}', b'{"shopId":"43","queueLength":9,"estimatedWaitTimes":{}}',
    b'{"shopId":"42","queueLength":NaN,"estimatedWaitTimes":{}}', b'{"shopId":"42","estimatedWaitTimes":5}',
    b'{"shopId":"42","estimatedWaitTimes":{},"x":"' + b"x" * 70_000 + b'"}'])
def test_a_cache_that_is_no_status_is_not_answered(commands, db, cached):
    db.set(CACHE, cached)
    assert commands.queue(shopId=SHOP, role="anonymous")["queueLength"] == 0


def test_what_is_unchanged_is_not_told_but_stays_cached(commands, db, unchanged):
    db.sadd(BARBERS, "ann")
    refresh(commands)
    with unchanged():
        refresh(commands, NOW_MS + 5_000)
    db.pexpire(CACHE, 29_000)
    refresh(commands, NOW_MS + 31_000)
    assert 55 < db.ttl(CACHE) <= 60 and json.loads(db.get(CACHE))["updatedAt"].endswith("20:03:51.123Z")
    db.delete(CACHE)
    refresh(commands, NOW_MS + 32_000)
    assert 55 < db.ttl(CACHE) <= 60 and len(told(commands)) == 1
    for others in ({}, {"ex": 3_600}):
        db.set(CACHE, "of another", **others)
        refresh(commands, NOW_MS + 40_000)
        assert json.loads(db.get(CACHE))["currentlyServing"] == 1 and 55 < db.ttl(CACHE) <= 60
    db.pexpire(CACHE, 40_000)
    again_ms = refresh(commands, NOW_MS + 50_000)["again_ms"]
    assert NOW_MS + 55_000 <= again_ms <= NOW_MS + 60_000


def test_an_empty_shop_is_told_once_and_left(commands, db, unchanged):
    db.sadd(BARBERS, "ann")
    refresh(commands)
    db.srem(BARBERS, "ann")
    assert refresh(commands) == {"idle": True}
    with unchanged():
        assert refresh(commands) == {"idle": True}
    assert [one["currentlyServing"] for one in told(commands)] == [1, 0]
    db.hset(BOOKINGS, "b1", text("pending"))
    assert refresh(commands)["idle"] is False


@pytest.mark.parametrize("offset, scheduled, counts", [
    (0, NOW_MS, True), (0, MIDNIGHT_MS - 1, True), (0, MIDNIGHT_MS, False), (0, MIDNIGHT_MS - DAY_MS - 1, False),
    (60, MIDNIGHT_MS - 60 * MINUTE_MS, False), (60, MIDNIGHT_MS - 60 * MINUTE_MS - 1, True),
    (-300, MIDNIGHT_MS + 300 * MINUTE_MS - 1, True), (-300, MIDNIGHT_MS + 300 * MINUTE_MS, False),
    ("junk", MIDNIGHT_MS - 1, True), (9_999, MIDNIGHT_MS, False), (0, None, True)])
def test_only_todays_bookings_wait(commands, db, offset, scheduled, counts):
    db.hset(SETTINGS, "utcOffsetMinutes", offset)
    db.hset(BOOKINGS, "b1", text(scheduledAt=scheduled))
    refresh(commands)
    assert told(commands)[-1]["queueLength"] == int(counts)


def test_it_comes_back_at_midnight(commands, db):
    db.hset(SETTINGS, "utcOffsetMinutes", 60)
    midnight_ms = MIDNIGHT_MS - 60 * MINUTE_MS
    db.hset(BOOKINGS, "b1", text(scheduledAt=midnight_ms))
    before_ms = midnight_ms - 10_000
    assert refresh(commands, before_ms)["again_ms"] == midnight_ms
    refresh(commands, midnight_ms)
    assert [one["queueLength"] for one in told(commands)] == [0, 1]


@pytest.mark.parametrize("hostile", HOSTILE)
def test_hostile_fields_are_not_counted(commands, db, hostile):
    db.hset(BOOKINGS, mapping={"good": text(), "bad": hostile})
    db.hset(SERVICE, mapping={"averageMinutes": hostile, "count:standard": hostile, "sum:standard": b"inf"})
    db.hset(SETTINGS, mapping={"utcOffsetMinutes": hostile, "estimator": "simulated"})
    db.set(TOLD, hostile)
    db.set(CACHE, hostile)
    db.sadd(BARBERS, hostile)
    assert commands.queue(shopId=SHOP)["queueLength"] == 1
    refresh(commands)
    assert without_time(told(commands)[0]) == queue_model.status(db, SHOP, NOW_MS)
    assert told(commands)[0]["queueLength"] == 1


@pytest.mark.parametrize("told_text", ['{"at":NaN}', '{"at":1e300,"queueLength":1}', '{"at":-5}', '{"at":"x"}'])
def test_a_hostile_memory_is_told_again(commands, db, told_text):
    db.sadd(BARBERS, "ann")
    db.hset(SETTINGS, "estimator", "simulated")
    db.set(TOLD, told_text)
    assert refresh(commands)["idle"] is False and len(told(commands)) == 1


def test_too_many_fields_are_refused(commands, db, unchanged):
    db.hset(BOOKINGS, mapping={f"b{n}": text() for n in range(2_000)})
    db.sadd(BARBERS, "ann")
    refresh(commands)
    assert told(commands)[0]["queueLength"] == 2_000
    db.delete(CACHE)
    db.hset(BOOKINGS, "one more", "x")
    with unchanged():
        with pytest.raises(Failed, match="too_large.*2000"):
            refresh(commands)
        assert commands.queue(shopId=SHOP) == told(commands)[0], "as it was last told"
    db.delete(TOLD)
    with unchanged(), pytest.raises(Failed, match="too_large.*2001"):
        commands.queue(shopId=SHOP)


@pytest.mark.parametrize("hostile", [b"", b"x", b"[]", b"{}", b'{"queueLength":1,"avgWaitTime":1,"currentlyServing":1}',
                                     b'{"queueLength":-1,"avgWaitTime":1,"currentlyServing":1,"at":5}',
                                     b'{"queueLength":1,"avgWaitTime":1,"currentlyServing":1e99,"at":5}',
                                     b'{"queueLength":1,"avgWaitTime":1,"currentlyServing":1,"at":1e99}',
                                     b'{"queueLength":nan,"avgWaitTime":1,"currentlyServing":1,"at":5}'])
def test_what_was_last_told_is_not_trusted(commands, db, hostile):
    db.hset(BOOKINGS, mapping={f"b{n}": text() for n in range(151)})
    db.set(TOLD, hostile)
    with pytest.raises(Failed, match="too_large.*151"):
        commands.queue(shopId=SHOP)


@pytest.mark.parametrize("key", [BOOKINGS, BARBERS, SERVICE, SETTINGS, TOLD])
def test_another_type_under_a_key_changes_nothing(commands, db, unchanged, key):
    db.lpush(key, "x")
    with unchanged(), pytest.raises(redis.ResponseError, match="BADKEY"):
        refresh(commands)


def test_an_older_worker_is_fenced(commands, db, unchanged):
    refresh(commands, token=7)
    db.sadd(BARBERS, "ann")
    with unchanged(), pytest.raises(redis.ResponseError, match="FENCED"):
        refresh(commands, token=6)


# The simulated estimator: when it is told.

def simulated(db, minutes_ago):
    db.hset(SETTINGS, "estimator", "simulated")
    db.sadd(BARBERS, "ann")
    db.hset(BOOKINGS, "i", text("in-progress", startedAt=NOW_MS - minutes_ago * MINUTE_MS, barberId="ann"))


def test_estimate_counts_the_service_in_progress(commands, db):
    simulated(db, 5)
    refresh(commands)
    estimate = told(commands)[0]["estimate"]
    assert told(commands)[0]["avgWaitTime"] == 0
    assert 15 < estimate["p50"] < 35 and estimate["p50"] <= estimate["p90"] and estimate["p50"] <= estimate["minutes"]
    db.hset(BOOKINGS, "b1", text())
    refresh(commands)
    longer = told(commands)[1]["estimate"]
    assert longer["p50"] > estimate["p50"] + 15
    assert longer["blackCard"]["p50"] < longer["p50"] - 15
    db.sadd(BARBERS, "bob")
    refresh(commands)
    assert told(commands)[2]["estimate"]["p50"] < longer["p50"]


def test_estimate_counts_on_black_cards_to_come(commands, db):
    simulated(db, 5)
    db.hset(BOOKINGS, mapping={f"b{n}": text() for n in range(4)})
    learned = {f"{what}:{tier}": value for what, value in (("sum", 3_000), ("squares", 95_000))
               for tier in ("standard", "blackCard")}
    db.hset(SERVICE, mapping=learned | {"count:standard": 100, "count:blackCard": "none"})
    refresh(commands)
    db.hset(SERVICE, "count:blackCard", 100)
    db.delete(TOLD)
    refresh(commands)
    without, expecting = (one["estimate"] for one in told(commands))
    assert expecting["p50"] > 1.3 * without["p50"]
    assert abs(expecting["blackCard"]["p50"] - without["blackCard"]["p50"]) < 5


def test_equal_states_have_equal_estimates(commands, db):
    simulated(db, 5)
    db.hset(BOOKINGS, mapping={f"b{n}": text(tier=["standard", "blackCard"][n % 2]) for n in range(9)})
    for _ in range(2):
        db.delete(TOLD)
        refresh(commands)
    assert told(commands)[0] == told(commands)[1]


def test_time_alone_is_told_by_the_minute_at_most_every_15_seconds(commands, db):
    simulated(db, 5)
    begin, last = NOW_MS, None
    for second in range(0, 600, 5):
        answer = refresh(commands, begin + second * 1_000)
        now = told(commands)[-1]
        if last and now != last:
            moved = abs(now["estimate"]["p50"] - last["estimate"]["p50"])
            assert moved >= 1 and second - told_at >= 15
        if now != last:
            last, told_at = now, second
        assert answer["again_ms"] > begin + second * 1_000
    assert 3 <= len(told(commands)) <= 40


def test_a_change_is_told_at_once_and_the_switch_too(commands, db):
    simulated(db, 5)
    refresh(commands)
    db.hset(BOOKINGS, "b1", text())
    refresh(commands, NOW_MS + 20)
    db.hset(SETTINGS, "estimator", "formula")
    assert refresh(commands, NOW_MS + 40)["again_ms"] == NOW_MS + 20 + 15_000
    refresh(commands, NOW_MS + 20 + 15_000)
    assert ["estimate" in one for one in told(commands)] == [True, True, False]


def test_no_estimate_without_barbers_or_beyond_its_bounds(commands, db):
    simulated(db, 5)
    db.hset(BOOKINGS, mapping={f"b{n}": text() for n in range(201)})
    refresh(commands)
    db.hdel(BOOKINGS, "b1")
    refresh(commands)
    db.delete(BARBERS)
    refresh(commands)
    assert ["estimate" in one for one in told(commands)] == [False, True, False]


def test_cost(commands, db, server):
    """Processor time in Redis of one refresh, for the largest shops that are simulated."""
    rows = []
    for waiting, barbers in [(0, 1), (5, 3), (20, 5), (50, 10), (200, 20), (200, 200)]:
        for estimator in ("formula", "simulated"):
            db.flushall()
            db.hset(SETTINGS, "estimator", estimator)
            db.sadd(BARBERS, *(f"x{n}" for n in range(barbers)))
            db.hset(BOOKINGS, mapping={f"i{n}": text("in-progress", startedAt=NOW_MS - 9 * MINUTE_MS, barberId=f"x{n}")
                                       for n in range(barbers)} | {f"b{n}": text() for n in range(waiting)})
            refresh(commands)
            before = server.cpu_seconds()
            for index in range(20):
                refresh(commands, NOW_MS + index)
            rows.append((waiting, barbers, estimator, (server.cpu_seconds() - before) / 20 * 1e6))
    print("\n" + "\n".join(f"{w:4} waiting {b:4} barbers {e:10} {us:9.0f} us" for w, b, e, us in rows))
    assert max(us for *_, us in rows) < 50_000
