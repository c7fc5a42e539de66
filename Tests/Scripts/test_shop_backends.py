"""What a shop's backend asks for: lists of bookings, other times, texts of its own, and notifications for many."""

import json

import pytest

from Fixtures.scripts.command_scripts import Commands, Failed
from Fixtures.scripts.lua_scripts import NOW_MS

SHOP, HOUR_MS = "42", 3_600_000


@pytest.fixture
def shop(db):
    commands = Commands(db)
    commands.call("set_shop", shopId=SHOP, utcOffsetMinutes=60)
    return commands


def book(shop, number, user="u1", **more):
    shop.call("create_booking", shopId=SHOP, bookingId=number, userId=user, **more)
    shop.relay()


def move(shop, number, *words):
    for word in words:
        shop.call("move_booking", shopId=SHOP, bookingId=number, status=word)
    shop.relay()


def refused(code, call, *arguments, **options):
    with pytest.raises(Failed) as failure:
        call(*arguments, **options)
    assert failure.value.code == code
    return failure.value.message


def inbox(shop, user="u1"):
    return shop.call("notifications", userId=user)[0]["notifications"]


# Lists


def test_a_user_finds_bookings_open_ones_first(shop):
    for number, words in (("b1", ("confirmed", "in-progress", "completed")), ("b2", ()), ("b3", ("confirmed",))):
        book(shop, number)
        move(shop, number, *words)
    book(shop, "other", "u2")
    told = shop.call("user_bookings", userId="u1", user="u1", role="user")[0]
    assert {(one["bookingId"], one["status"]) for one in told["bookings"]} == {
        ("b2", "pending"), ("b3", "confirmed"), ("b1", "closed")}
    assert told["bookings"][-1]["bookingId"] == "b1" and told["next"] is None
    assert {one["shopId"] for one in told["bookings"]} == {SHOP}
    assert told["bookings"][0]["changedAt"] == "2026-11-20T20:03:20.123Z"
    found, after = [], 0
    while after is not None:
        page = shop.call("user_bookings", userId="u1", after=after, limit=2)[0]
        found, after = found + page["bookings"], page["next"]
    assert found == told["bookings"]


def test_a_shop_lists_open_bookings_by_pages(shop, db):
    for number in range(7):
        book(shop, f"b{number}", f"u{number % 2}")
    move(shop, "b3", "confirmed")
    move(shop, "b4", "cancelled")
    db.hset(f"shop:{SHOP}#bookings", mapping={"odd": "no booking", "b5 x": "{}"})
    found, after = [], None
    while True:
        page = shop.call("shop_bookings", shopId=SHOP, limit=2, after=after)[0]
        found += page["bookings"]
        after = page["next"]
        if after is None:
            break
    assert [one["bookingId"] for one in found] == ["b0", "b1", "b2", "b3", "b5", "b6"]
    assert found[0] == {"bookingId": "b0", "userId": "u0", "tier": "standard", "status": "pending",
                        "scheduledAt": None, "createdAt": "2026-11-20T20:03:20.123Z", "barberId": None}
    confirmed = shop.call("shop_bookings", shopId=SHOP, status="confirmed")[0]["bookings"]
    assert [one["bookingId"] for one in confirmed] == ["b3"]


# Another time


def test_a_user_moves_a_booking_that_nobody_has_confirmed(shop, db):
    book(shop, "b1")
    answer = shop.call("reschedule_booking", shopId=SHOP, bookingId="b1", user="u1", role="user", userId="u1",
                       scheduledAt=NOW_MS + 2 * HOUR_MS)[0]
    shop.relay()
    at = "2026-11-20T22:03:20.123Z"
    assert answer == {"bookingId": "b1", "shopId": SHOP, "status": "pending", "scheduledAt": at}
    assert shop.log("user:u1")[-2] == ("booking:status_change",
                                       {"bookingId": "b1", "status": "pending", "scheduledAt": at})
    assert inbox(shop)[0]["title"] == "Booking moved"
    stored = json.loads(db.hget(f"shop:{SHOP}#bookings", "b1"))
    assert stored["scheduledAt"] == stored["endsAt"] == NOW_MS + 2 * HOUR_MS


def test_the_shop_moves_a_confirmed_one(shop):
    book(shop, "b1")
    move(shop, "b1", "confirmed")
    mine = {"user": "u1", "role": "user", "userId": "u1"}
    assert "ask the shop" in refused("forbidden", shop.call, "reschedule_booking", shopId=SHOP, bookingId="b1",
                                     scheduledAt=NOW_MS + HOUR_MS, **mine)
    shop.call("reschedule_booking", shopId=SHOP, bookingId="b1", scheduledAt=NOW_MS + HOUR_MS)
    shop.relay()
    assert shop.call("booking", shopId=SHOP, bookingId="b1")[0]["scheduledAt"] == "2026-11-20T21:03:20.123Z"
    move(shop, "b1", "in-progress")
    for more, code in (({"bookingId": "b1"}, "conflict"), ({"bookingId": "none"}, "not_found"),
                       ({"bookingId": "b1", "scheduledAt": NOW_MS - 1}, "bad_request"),
                       ({"bookingId": "b1", "user": "u2", "role": "user", "userId": "u2"}, "not_found")):
        refused(code, shop.call, "reschedule_booking", **{
            "shopId": SHOP, "scheduledAt": NOW_MS + HOUR_MS} | more)


# Texts and notifications


def test_a_shop_says_it_in_its_own_words(shop, db):
    own = {"title": "See you, {bookingId}!", "bodyKey": "booking.body"}
    told = shop.call("set_text", shopId=SHOP, word="confirmed", **own)[0]
    assert told == {"shopId": SHOP, "word": "confirmed", "title": "See you, {bookingId}!", "body": None,
                    "titleKey": None, "bodyKey": "booking.body"}
    book(shop, "b1")
    move(shop, "b1", "confirmed")
    assert [one["title"] for one in inbox(shop)] == ["See you, b1!", "Booking received"]
    assert inbox(shop)[0]["body"] == "The shop expects you."
    event = shop.log("user:u1")[-1]
    assert event[0] == "notification" and event[1]["bodyKey"] == "booking.body" and "titleKey" not in event[1]
    shop.call("set_text", shopId=SHOP, word="confirmed")
    assert db.exists(f"shop:{SHOP}#texts") == 0
    db.hset(f"shop:{SHOP}#texts", "cancelled", "[1]")
    move(shop, "b1", "cancelled")
    assert inbox(shop)[0]["title"] == "Booking cancelled"


def test_many_users_are_notified_by_one_call(shop, db):
    told = {"type": "news", "title": "Open", "body": "Come in", "data": {"n": 1}, "titleKey": "news.title",
            "textArgs": '["a","b"]'}
    answer = shop.call("notify_many", campaignId="spring", users=["u1", "u2", "u1"], id="op-1", **told)[0]
    assert answer == {"campaignId": "spring", "queued": 2, "total": 2}
    assert shop.call("notify_many", campaignId="spring", users=["u1", "u2", "u1"], id="op-1", **told) == (answer, True)
    shop.relay()
    for user in ("u1", "u2"):
        (one,) = inbox(shop, user)
        assert (one["title"], one["body"], one["data"]) == ("Open", "Come in", {"n": 1})
        assert shop.log(f"user:{user}")[-1][1].items() >= {"titleKey": "news.title", "textArgs": ["a", "b"]}.items()
    assert shop.call("notify_many", campaignId="spring", users=["u3"], id="op-2", **told)[0]["total"] == 3
    assert "id" in refused("bad_request", shop.call, "notify_many", campaignId="c", users=["u" * 129], **told)
    assert "fewer" in refused("too_large", shop.call, "notify_many", campaignId="c", type="t", title="T",
                              users=[f"u{number}" for number in range(100)], body="ä" * 2_000,
                              data={"x": "y" * 4_080}, titleKey="k", textArgs='["' + "z" * 990 + '"]')


# Tracks


def test_the_model_of_votes_is_a_setting_of_the_shop(shop, db):
    shop.call("set_shop", shopId=SHOP, voters=True)
    shop.call("start_session", shopId=SHOP)
    assert db.hget(f"dj:{SHOP}#voters", "") == b"1"
    shop.call("stop_session", shopId=SHOP)
    shop.call("start_session", shopId=SHOP, voters=False)
    assert db.exists(f"dj:{SHOP}#voters") == 0


@pytest.fixture
def asked(shop, db):
    """A shop with a courier that has joined, and a session."""
    shop.call("check_in", shopId=SHOP, userId="u1")
    shop.call("start_session", shopId=SHOP)
    db.set("#courier:spotify", "c", ex=60)
    db.xgroup_create("#calls:spotify", "couriers", mkstream=True)
    return shop


TRACK = {"id": "t1", "name": "Blue", "artists": [{"name": "Ann"}], "duration_ms": 1_000,
         "album": {"name": "An Album", "images": [{"url": "https://i/1"}]}}


def added(shop):
    return [(event, data["name"]) for event, data in shop.log(f"dj:{SHOP}") if event.startswith("track:")]


def test_a_track_is_told_when_it_has_a_name(asked):
    asked.call("add_track", shopId=SHOP, trackId="t1", userId="u1")
    assert added(asked) == []
    asked.call("track_found", role="worker", shopId=SHOP, trackId="t1", outcome="ok", answer=TRACK)
    assert added(asked) == [("track:added", "Blue")]
    told = asked.log(f"dj:{SHOP}")[-1][1]
    assert (told["trackId"], told["score"], told["position"], told["addedBy"]) == ("t1", 1, 1, "u1")
    asked.call("untold_refresh", shopId=SHOP, now_ms=NOW_MS + 9_000)
    assert len(added(asked)) == 1


@pytest.mark.parametrize("is_answered", [True, False])
def test_a_track_that_nobody_knows_is_told_all_the_same(asked, is_answered):
    asked.call("add_track", shopId=SHOP, trackId="t1", userId="u1")
    assert asked.call("untold_refresh", shopId=SHOP, now_ms=NOW_MS + 1_999)[0]["again_ms"] == NOW_MS + 2_000
    if is_answered:
        asked.call("track_found", role="worker", shopId=SHOP, trackId="t1", outcome="failed")
    else:
        assert asked.call("untold_refresh", shopId=SHOP, now_ms=NOW_MS + 2_000, token=2)[0]["idle"] is True
    assert added(asked) == [("track:added", "")]
    asked.call("track_found", role="worker", shopId=SHOP, trackId="t1", outcome="ok", answer=TRACK)
    assert added(asked)[1:] == [("track:described", "Blue")]


def test_what_the_adder_names_or_nobody_can_be_asked_about_is_told_at_once(asked, db):
    asked.call("add_track", shopId=SHOP, trackId="t1", userId="u1", trackName="Mine")
    db.delete("#calls:spotify")
    asked.call("add_track", shopId=SHOP, trackId="t2", userId="u1")
    assert added(asked) == [("track:added", "Mine"), ("track:added", "")]
