"""Bookings: every move, who may make it, what it tells, and what a stranger left in the keys."""

import itertools
import json

import pytest
import redis

from Fixtures.scripts.command_scripts import Failed
from Fixtures.scripts.lua_scripts import NOW_MS

SHOP = "42"
OPEN = "shop:42#bookings"
CLOSED = "shop:42#closed#b1"
SERVICE = "shop:42#service"
STATUSES = ["pending", "confirmed", "in-progress", "completed", "cancelled", "no-show"]
LEGAL = {("pending", "confirmed"), ("pending", "cancelled"), ("confirmed", "in-progress"), ("confirmed", "cancelled"),
         ("confirmed", "no-show"), ("in-progress", "completed")}
ENDS = {"completed", "cancelled", "no-show"}
WEEK_S = 604_800
DAY_S = 86_400
MINUTE_MS = 60_000
HOSTILE = [b"", b"text", b"[]", b"null", b"7", b'"b"', b"{}", b"\xff\xfe", b"[" * 2_000, b"{" * 100,
           b'{"userId":"u1","tier":"standard","status":"confirmed"}',
           b'{"userId":"u 1","tier":"standard","status":"confirmed","createdAt":1}',
           b'{"userId":"u1","tier":"gold","status":"confirmed","createdAt":1}',
           b'{"userId":"u1","tier":["standard"],"status":"confirmed","createdAt":1}',
           b'{"userId":"u1","tier":"standard","status":7,"createdAt":1}',
           b'{"userId":"u1","tier":"standard","status":null,"createdAt":1}',
           b'{"userId":"u1","tier":"standard","status":"asleep","createdAt":1}',
           b'{"userId":"u1","tier":"standard","status":"confirmed","createdAt":"1"}',
           b'{"userId":"u1","tier":"standard","status":"confirmed","createdAt":NaN}',
           b'{"userId":"u1","tier":"standard","status":"confirmed","createdAt":1e400}',
           b'{"userId":"u1","tier":"standard","status":"confirmed","createdAt":1,"serviceMinutes":481}',
           b'{"userId":"u1","tier":"standard","status":"confirmed","createdAt":1,"scheduledAt":-1}',
           b'{"userId":"u1","tier":"standard","status":"confirmed","createdAt":1,"barberId":{}}',
           b'{"userId":"u1","tier":"standard","status":"confirmed","createdAt":1,"more":"' + b"x" * 5_000 + b'"}']


def stored(status, **members):
    return json.dumps({"userId": "u1", "tier": "standard", "status": status, "createdAt": NOW_MS, **members})


def put(db, status, **members):
    """A booking b1 as a backend would write it."""
    db.delete(OPEN, CLOSED)
    if status in ENDS:
        db.set(CLOSED, stored(status, **members), ex=WEEK_S)
    else:
        db.hset(OPEN, "b1", stored(status, **members))


def create(commands, booking="b1", **options):
    return commands.create_booking(shopId=SHOP, bookingId=booking, userId="u1", tier="standard", **options)


def move(commands, status, **options):
    return commands.move_booking(shopId=SHOP, bookingId="b1", status=status, **options)


def told(outbox, status, completion=None):
    """Whether the outbox holds exactly what one change tells."""
    ms = {"estimatedCompletion": completion[0]} if completion else {}
    by_shop, by_number, (name, noted) = outbox
    change = {"shopId": SHOP, "userId": "u1", "status": status, **ms}
    assert by_shop == ("booking_changed", {"bookingId": "42::b1", "number": "b1", **change})
    assert by_number == ("booking_changed", {"bookingId": "b1", **change})
    assert noted.pop("title") and noted.pop("body") and noted.pop("version") >= NOW_MS * 1_000
    assert (name, noted) == ("user_booking", {"bookingId": "b1", **change})


def test_create(commands, db):
    answer = create(commands, serviceMinutes=32.5, scheduledAt=NOW_MS + 1)
    assert answer == {"bookingId": "b1", "shopId": SHOP, "status": "pending", "createdAt": "2026-11-20T20:03:20.123Z",
                      "endsAt": "2026-11-20T21:03:20.123Z", "topic": "booking:42::b1"}
    assert json.loads(db.hget(OPEN, "b1")) == {
        "userId": "u1", "tier": "standard", "status": "pending", "createdAt": NOW_MS, "serviceMinutes": 32.5,
        "scheduledAt": NOW_MS + 1, "endsAt": NOW_MS + 60 * MINUTE_MS}
    told(commands.outbox(), "pending")


def test_create_again_is_a_retry_or_a_conflict(commands, db, unchanged):
    first = create(commands, id="op-1")
    with unchanged():
        assert create(commands, id="op-1", now_ms=NOW_MS + 5) == first
        for options in ({}, {"id": "op-2"}):
            with pytest.raises(Failed, match="conflict: The shop has a booking of that id$"):
                create(commands, **options)
    put(db, "cancelled")
    with unchanged(), pytest.raises(Failed, match="conflict: The shop has a booking of that id$"):
        create(commands)


@pytest.mark.parametrize("text", HOSTILE)
def test_create_never_overwrites(commands, db, unchanged, text):
    db.hset(OPEN, "b1", text)
    with unchanged(), pytest.raises(Failed) as failure:
        create(commands)
    assert failure.value.code == "conflict"


def test_a_shop_has_at_most_1000_open_bookings(commands, db, unchanged):
    db.hset(OPEN, mapping={f"x{n}": stored("pending") for n in range(999)})
    create(commands)
    with unchanged(), pytest.raises(Failed, match="conflict.*1000"):
        create(commands, "b2")


@pytest.mark.parametrize("at", [-1, 253_370_764_800_001])
def test_create_refuses_a_time_of_no_calendar(commands, unchanged, at):
    with unchanged(), pytest.raises(Failed, match="bad_request"):
        create(commands, scheduledAt=at)


@pytest.mark.parametrize("before, after", list(itertools.product(STATUSES, STATUSES)))
def test_moves(commands, db, unchanged, before, after):
    put(db, before, startedAt=NOW_MS - 20 * MINUTE_MS)
    if (before, after) not in LEGAL:
        with unchanged(), pytest.raises(Failed) as failure:
            move(commands, after)
        assert (failure.value.code, failure.value.message) == (
            "conflict", f"a booking cannot move from {before} to {after}")
        return
    answer = move(commands, after)
    completion = (NOW_MS + 30 * MINUTE_MS, "2026-11-20T20:33:20.123Z") if after == "in-progress" else None
    assert answer == {"bookingId": "b1", "shopId": SHOP, "status": after,
                      **({"estimatedCompletion": completion[1]} if completion else {})}
    told(commands.outbox(), after, completion)
    assert db.hexists(OPEN, "b1") == (after not in ENDS) and db.exists(CLOSED) == (after in ENDS)
    kept = json.loads(db.get(CLOSED) if after in ENDS else db.hget(OPEN, "b1"))
    assert kept["status"] == after and kept["userId"] == "u1" and kept["createdAt"] == NOW_MS
    if after in ENDS:
        assert WEEK_S - 5 <= db.ttl(CLOSED) <= WEEK_S
    if after == "in-progress":
        assert kept["startedAt"] == NOW_MS


@pytest.mark.parametrize("status", STATUSES)
def test_an_unknown_booking_cannot_move(commands, unchanged, status):
    with unchanged(), pytest.raises(Failed) as failure:
        move(commands, status)
    assert failure.value.code == "not_found"


@pytest.mark.parametrize("text", HOSTILE)
def test_what_is_no_booking_is_not_found(commands, db, unchanged, text):
    db.hset(OPEN, "b1", text)
    with unchanged():
        for call in (lambda: move(commands, "cancelled"), lambda: commands.booking(shopId=SHOP, bookingId="b1")):
            with pytest.raises(Failed) as failure:
                call()
            assert failure.value.code == "not_found"


def test_a_retried_move_is_made_once(commands, db, unchanged):
    put(db, "pending")
    first = move(commands, "confirmed", id="op-1")
    with unchanged():
        assert move(commands, "confirmed", id="op-1") == first


def test_a_user_may_cancel_an_own_booking_only(commands, db, unchanged):
    put(db, "confirmed")
    with unchanged():
        for user, status in [("u1", "in-progress"), ("u1", "no-show"), ("u2", "completed")]:
            with pytest.raises(Failed, match="forbidden"):
                move(commands, status, user=user, role="user")
        with pytest.raises(Failed, match="not_found"):
            move(commands, "cancelled", user="u2", role="user")
        with pytest.raises(Failed, match="not_found"):
            move(commands, "cancelled", userId="u2")  # a service that acts for another user
    assert move(commands, "cancelled", user="u1", role="user")["status"] == "cancelled"


def test_barber_belongs_to_in_progress(commands, db, unchanged):
    put(db, "confirmed")
    with unchanged(), pytest.raises(Failed, match="bad_request"):
        move(commands, "cancelled", barberId="ann")
    move(commands, "in-progress", barberId="ann")
    assert json.loads(db.hget(OPEN, "b1"))["barberId"] == "ann"


@pytest.mark.parametrize("members, service, minutes", [
    ({}, {}, 30), ({"serviceMinutes": 12.5}, {"averageMinutes": 20}, 12.5), ({}, {"averageMinutes": 20}, 20),
    ({}, {"count:standard": 4, "sum:standard": 100, "squares:standard": 2600}, 25),
    ({}, {"averageMinutes": "nan", "count:standard": "x", "sum:standard": 100, "squares:standard": 1}, 30),
    ({}, {"averageMinutes": 481, "count:standard": 1, "sum:standard": "1e999", "squares:standard": 1}, 30),
    ({}, {"count:blackCard": 4, "sum:blackCard": 100, "squares:blackCard": 2600}, 30),
])
def test_expected_completion(commands, db, members, service, minutes):
    put(db, "confirmed", **members)
    if service:
        db.hset(SERVICE, mapping=service)
    move(commands, "in-progress")
    assert json.loads(db.hget(OPEN, "b1"))["estimatedCompletion"] == NOW_MS + minutes * MINUTE_MS


@pytest.mark.parametrize("minutes, learned", [(0.99, False), (1, True), (42.5, True), (480, True), (480.1, False)])
def test_completion_teaches(commands, db, minutes, learned):
    for stale in ({}, {"count:standard": "junk", "sum:standard": "1", "squares:standard": "2"}):
        db.delete(SERVICE)
        if stale:
            db.hset(SERVICE, mapping=stale)
        put(db, "in-progress", startedAt=NOW_MS - round(minutes * MINUTE_MS), serviceMinutes=40)
        move(commands, "completed")
        got = {name.decode(): value for name, value in db.hgetall(SERVICE).items()}
        if not learned:
            assert got == {name: value.encode() for name, value in stale.items()}
            continue
        assert got.pop("count:stated") == b"1"
        ratio = minutes / 40
        assert float(got.pop("sum:stated")) == ratio and float(got.pop("squares:stated")) == ratio * ratio
        assert {name: float(value) for name, value in got.items()} == {
            "count:standard": 1, "sum:standard": minutes, "squares:standard": minutes * minutes}


def test_the_booking_topic(commands, scripts, db):
    expected = {"estimatedCompletion": NOW_MS}
    for status, more, days in (("pending", {}, 90), ("in-progress", expected, 90), ("completed", {}, 6)):
        assert commands.booking_changed(role="worker", bookingId="b1", shopId=SHOP, userId="u1", status=status,
                                        **more) == {"refused": False}
        ttl_s = days * DAY_S
        for key in ("booking:b1#owner", "booking:b1#state", "booking:b1#members"):
            assert ttl_s - 5 <= db.ttl(key) <= ttl_s
    iso = {"estimatedCompletion": "2026-11-20T20:03:20.123Z"}
    assert commands.log("booking:b1") == [
        ("booking:status_change", {"bookingId": "b1", "status": "pending"}),
        ("booking:status_change", {"bookingId": "b1", "status": "in-progress", **iso}),
        ("booking:status_change", {"bookingId": "b1", "status": "completed"})]
    state = scripts.state("booking", ["booking:b1#log", "booking:b1#meta", "booking:b1#state"])
    assert json.loads(state) == {"bookingId": "b1", "shopId": SHOP, "status": "completed"}
    assert db.smembers("booking:b1#members") == {b"u1"}


@pytest.mark.usefixtures("others_data")
@pytest.mark.parametrize("text, is_state", [
    (b'{"status":"pending"}', True), (None, False), (b"", False), (b"[1]", False), (b"{broken", False),
    (b'{"a":"' + b"x" * 5_000 + b'"}', False)])
def test_state_of_the_booking_topic(scripts, db, text, is_state):
    if text is not None:
        db.set("booking:b1#state", text)
    keys = ["booking:b1#log", "booking:b1#meta", "booking:b1#state"]
    assert scripts.state("booking", keys) == (text if is_state else None)
    db.delete(keys[2])
    db.rpush(keys[2], "another type")
    assert scripts.state("booking", keys) is None


def test_booking_is_shown_to_its_user_and_services(commands, db, unchanged):
    put(db, "confirmed", scheduledAt=NOW_MS, serviceMinutes=None, note="of another system")
    expected = {"bookingId": "b1", "shopId": SHOP, "userId": "u1", "tier": "standard", "status": "confirmed",
                "serviceMinutes": None, "scheduledAt": "2026-11-20T20:03:20.123Z", "startedAt": None,
                "createdAt": "2026-11-20T20:03:20.123Z", "barberId": None, "estimatedCompletion": None,
                "endsAt": None, "topic": "booking:42::b1"}
    with unchanged():
        assert commands.booking(shopId=SHOP, bookingId="b1") == expected
        assert commands.booking(shopId=SHOP, bookingId="b1", user="u1", role="user") == expected
        for options in ({"bookingId": "b1", "user": "u2", "role": "user"}, {"bookingId": "b2"}):
            with pytest.raises(Failed, match="not_found: The shop has no such booking$"):
                commands.booking(shopId=SHOP, **options)
    put(db, "no-show")
    assert commands.booking(shopId=SHOP, bookingId="b1")["status"] == "no-show"


def test_set_barber(commands, db):
    def call(name, active):
        answer = commands.set_barber(shopId=SHOP, barberId=name, active=active)
        assert (answer["barberId"], answer["active"]) == (name, active)
        return answer["currentlyServing"]

    assert [call("ann", True), call("bob", True), call("ann", True), call("ann", False), call("zoe", False)] == [
        1, 2, 2, 1, 1]
    assert db.smembers("shop:42#barbers") == {b"bob"}
    db.sadd("shop:42#barbers", *(f"x{n}" for n in range(199)))
    with pytest.raises(Failed, match="conflict.*200"):
        call("ann", True)
    assert call("bob", True) == 200 and db.scard("shop:42#barbers") == 200


@pytest.mark.parametrize("key", [OPEN, CLOSED, SERVICE])
def test_another_type_under_a_key_changes_nothing(commands, db, unchanged, key):
    put(db, "in-progress", startedAt=NOW_MS - 20 * MINUTE_MS)
    if key == CLOSED:
        db.hdel(OPEN, "b1")
    db.delete(key)
    db.lpush(key, "x")
    with unchanged(), pytest.raises(redis.ResponseError, match="BADKEY"):
        move(commands, "completed")


def test_the_whole_way_to_the_user(commands, db):
    create(commands)
    move(commands, "confirmed")
    move(commands, "in-progress", barberId="ann")
    assert commands.relay() == []
    change = "booking:status_change"
    states = ["pending", "confirmed", "in-progress"]
    for topic in ("booking:b1", "booking:42::b1"):
        assert [(data["bookingId"], data["status"]) for event, data in commands.log(topic)] == [
            ("b1", state) for state in states]
    assert [(event, data.get("type"), data.get("data", data)["status"]) for event, data in commands.log("user:u1")] == [
        told for state in states for told in ((change, None, state), ("notification", "booking_status_change", state))]
    assert db.xlen("user:u1#inbox") == 3
