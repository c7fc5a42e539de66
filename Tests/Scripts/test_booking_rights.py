"""Whose a booking's topic is, what a user may claim, and how many bookings one may ask for."""

import itertools
import json

import pytest

from Fixtures.scripts.command_scripts import Failed
from Fixtures.scripts.lua_scripts import NOW_MS

HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS
CHANGE = "booking:status_change"


@pytest.fixture
def shops(commands):
    """Shops that take bookings: their services called set_shop."""
    for shop in ("mine", "yours", "42", *(f"s{n}" for n in range(20))):
        commands.set_shop(shopId=shop, utcOffsetMinutes=60)
    return commands


def book(commands, user, shop="42", **options):
    """A user asks for a booking; the answer."""
    return commands.create_booking(user=user, role="user", shopId=shop, **options)


def statuses(commands, topic):
    return [(data["bookingId"], data["status"]) for event, data in commands.log(topic) if event == CHANGE]


# Whose a topic is.


def test_a_topic_is_the_shops_and_the_users_that_wrote_it_first(commands, db, unchanged):
    """The number alone was the topic's name: who booked it at another shop was admitted, and wrote into it."""
    commands.create_booking(shopId="yours", bookingId="B-1001", userId="victim")
    commands.relay()
    with unchanged():
        for forged in ({"shopId": "mine", "userId": "stranger"}, {"shopId": "yours", "userId": "stranger"},
                       {"shopId": "mine", "userId": "victim"},
                       {"shopId": "yours", "userId": "victim", "number": "B-1"}):
            answer = commands.booking_changed(role="worker", bookingId="B-1001", status="cancelled", **forged)
            assert answer == {"refused": True}
    commands.create_booking(shopId="mine", bookingId="B-1001", userId="stranger")
    commands.move_booking(shopId="mine", bookingId="B-1001", status="cancelled")
    commands.relay()
    assert db.smembers("booking:B-1001#members") == {b"victim"}
    assert statuses(commands, "booking:B-1001") == [("B-1001", "pending")]
    assert json.loads(db.get("booking:B-1001#state"))["shopId"] == "yours"


def test_two_shops_may_number_their_bookings_alike(commands, db):
    """Honest backends number by shop: each user hears of the own booking, on a topic of the own shop's."""
    shops = {"mine": "ann", "yours": "bob"}
    for shop, user in shops.items():
        answer = commands.create_booking(shopId=shop, bookingId="1001", userId=user)
        assert answer["topic"] == f"booking:{shop}::1001"
        assert commands.booking(shopId=shop, bookingId="1001", user=user, role="user")["topic"] == answer["topic"]
    commands.relay()
    commands.move_booking(shopId="yours", bookingId="1001", status="confirmed")
    commands.relay()
    for shop, user in shops.items():
        assert db.smembers(f"booking:{shop}::1001#members") == {user.encode()}
    assert statuses(commands, "booking:mine::1001") == [("1001", "pending")]
    assert statuses(commands, "booking:yours::1001") == [("1001", "pending"), ("1001", "confirmed")]
    assert statuses(commands, "booking:1001") == [("1001", "pending")]
    assert db.smembers("booking:1001#members") == {b"ann"}


def test_no_number_names_another_shops_topic(commands, db):
    """A number that reads like SHOP::NUMBER, or a shop that could: none of them reaches another's topic."""
    shops, numbers = ["a", "a:", "a::b", "a:b", "b"], ["c", ":c", "::c", "b::c", "a::c", "a:::c", ":"]
    topics = {}
    for shop, number in itertools.product(shops, numbers):
        commands.create_booking(shopId=shop, bookingId=number, userId="u")
        for entry in commands.outbox():
            if entry[0] == "booking_changed":
                topics.setdefault(entry[1]["bookingId"], set()).add((shop, number))
        db.delete("#outbox")
    by_shop = {topic: whose for topic, whose in topics.items() if "::" in topic}
    assert by_shop and all(len(whose) == 1 for whose in by_shop.values())
    assert all("::" not in topic for topic in topics if len(topics[topic]) > 1)


def test_a_topic_from_before_owners_is_kept_by_its_members(commands, db, unchanged):
    old = {"bookingId": "b1", "shopId": "yours", "status": "confirmed"}
    db.set("booking:b1#state", json.dumps(old))
    db.sadd("booking:b1#members", "victim")
    with unchanged():
        for shop, user in (("mine", "stranger"), ("yours", "stranger"), ("mine", "victim")):
            assert commands.booking_changed(
                role="worker", bookingId="b1", shopId=shop, userId=user, status="pending") == {"refused": True}
    assert commands.booking_changed(
        role="worker", bookingId="b1", shopId="yours", userId="victim", status="completed") == {"refused": False}


def test_a_number_is_free_again_when_the_closed_booking_is_forgotten(commands, db):
    """The owner's time ends before the shop's memory of the closed booking does."""
    commands.create_booking(shopId="42", bookingId="7", userId="ann")
    commands.move_booking(shopId="42", bookingId="7", status="cancelled")
    commands.relay()
    assert max(db.ttl(f"booking:7#{facet}") for facet in ("owner", "members", "state")) < db.ttl("shop:42#closed#7")


def test_a_users_booking_gets_an_id_that_nobody_chose(shops, db, unchanged):
    with unchanged(), pytest.raises(Failed, match="bad_request.*bookingId"):
        book(shops, "ann", bookingId="B-1001")
    answer = book(shops, "ann", random="0123456789abcdef" * 2)
    assert answer["bookingId"] == "u-" + "0123456789abcdef" * 2
    assert answer["topic"] == f"booking:42::{answer['bookingId']}"
    assert db.hexists("shop:42#bookings", answer["bookingId"])
    first = book(shops, "ann", id="op-1", random="a" * 32)
    assert book(shops, "ann", id="op-1", random="b" * 32) == first


# What a user may say.


def test_a_user_cannot_claim_what_makes_others_wait(shops, db, unchanged):
    """`tier: blackCard` went before everybody, `serviceMinutes: 480` made all others wait for a day."""
    with unchanged():
        for claim in ({"tier": "blackCard"}, {"serviceMinutes": 480}, {"tier": "standard", "serviceMinutes": 1}):
            with pytest.raises(Failed, match="forbidden"):
                book(shops, "ann", **claim)
    answer = book(shops, "ann", tier="standard")
    with unchanged(), pytest.raises(Failed, match="bad_request"):
        shops.move_booking(shopId="42", bookingId=answer["bookingId"], status="cancelled", tier="blackCard")
    shops.move_booking(shopId="42", bookingId=answer["bookingId"], status="confirmed", tier="blackCard",
                       serviceMinutes=45)
    kept = json.loads(db.hget("shop:42#bookings", answer["bookingId"]))
    assert (kept["tier"], kept["serviceMinutes"], kept["status"]) == ("blackCard", 45, "confirmed")
    assert "endsAt" not in kept


def test_a_stranger_learns_nothing_of_a_booking(shops, unchanged):
    """The refusal named another's status; to a stranger a booking of another is the same as none."""
    shops.create_booking(shopId="42", bookingId="1001", userId="victim")
    with unchanged():
        for number in ("1001", "1002"):
            for call in (lambda n: shops.booking(user="ann", role="user", shopId="42", bookingId=n),
                         lambda n: shops.move_booking(user="ann", role="user", shopId="42", bookingId=n,
                                                      status="cancelled")):
                with pytest.raises(Failed) as failure:
                    call(number)
                assert (failure.value.code, failure.value.message) == ("not_found", "The shop has no such booking")


# How many.


def test_a_user_books_only_where_a_shop_is(shops, unchanged):
    """Every id was a shop: one user filled Redis with bookings at shops that do not exist."""
    with unchanged(), pytest.raises(Failed, match="not_found"):
        book(shops, "ann", shop="ghost")


def test_a_user_has_three_pending_bookings_at_a_shop(shops, db, unchanged):
    answers = [book(shops, "ann", random=f"{n:032}") for n in range(3)]
    with unchanged(), pytest.raises(Failed, match="too_many"):
        book(shops, "ann", random="f" * 32)
    book(shops, "bob", random="e" * 32)
    shops.move_booking(shopId="42", bookingId=answers[1]["bookingId"], status="confirmed")
    book(shops, "ann", random="d" * 32)
    with pytest.raises(Failed, match="too_many"):  # the hash is being resized: reading it moves its fields
        book(shops, "ann", random="c" * 32)
    # What a backend does to the hash itself is found as well.
    db.hdel("shop:42#bookings", answers[0]["bookingId"])
    book(shops, "ann", random="b" * 32)
    for booking in [name.decode() for name in db.hkeys("shop:42#bookings")]:
        shops.move_booking(shopId="42", bookingId=booking, status="cancelled" if booking != answers[1]["bookingId"]
                           else "in-progress")
    assert not db.exists("shop:42#pending")


def test_a_user_has_ten_pending_bookings_over_all_shops(shops, db):
    """Shops are homes of their own: what goes beyond the bound is cancelled as soon as the outbox is relayed."""
    answers = [book(shops, "ann", shop=f"s{n}", random=f"{n:032}") for n in range(12)]
    shops.relay()
    cancelled = [data["bookingId"] for event, data in shops.log("user:ann")
                 if event == CHANGE and data["status"] == "cancelled"]
    assert cancelled == [answer["bookingId"] for answer in answers[10:]]
    assert db.zcard("user:ann#pending") == 10
    assert not db.exists("shop:s10#bookings") and not db.exists("shop:s10#pending")
    shops.move_booking(shopId="s0", bookingId=answers[0]["bookingId"], status="confirmed")
    shops.relay()
    assert db.zcard("user:ann#pending") == 9
    last = book(shops, "ann", shop="s15", random="f" * 32)
    shops.relay()
    assert db.hexists("shop:s15#bookings", last["bookingId"]) and db.zcard("user:ann#pending") == 10


def test_a_shop_has_at_most_200_users_who_wait_to_be_confirmed(shops, db, unchanged):
    db.hset("shop:42#pending", mapping={f"x{n}": f"u-{n}" for n in range(200)})
    with unchanged(), pytest.raises(Failed, match="conflict"):
        book(shops, "ann")
    shops.create_booking(shopId="42", bookingId="b1", userId="ann")


@pytest.mark.parametrize("scheduled_ms, ends_ms", [
    (None, DAY_MS), (-DAY_MS, HOUR_MS), (3 * HOUR_MS, 3 * HOUR_MS), (400 * DAY_MS, 30 * DAY_MS)])
def test_a_pending_booking_ends_by_itself(shops, db, unchanged, scheduled_ms, ends_ms):
    """`pending` was for ever, and its shop was looked at for ever."""
    at = {} if scheduled_ms is None else {"scheduledAt": NOW_MS + scheduled_ms}
    answer = book(shops, "ann", **at)
    shops.relay()
    ends_at = NOW_MS + ends_ms
    refresh = {"shopId": "42", "role": "worker"}
    early = shops.queue_refresh(now_ms=ends_at - 20_000, **refresh)
    assert early["again_ms"] <= ends_at and not shops.outbox()
    with unchanged():
        assert shops.end_booking(role="worker", shopId="42", bookingId=answer["bookingId"], because="expired",
                                 now_ms=ends_at - 1) == {"ended": False}
    shops.now_ms = ends_at
    assert shops.queue_refresh(**refresh)["again_ms"] <= ends_at + 5_000
    assert [entry[0] for entry in shops.outbox()] == ["end_booking"]
    shops.relay()
    assert [data["status"] for event, data in shops.log("user:ann") if event == CHANGE][-1] == "cancelled"
    assert statuses(shops, answer["topic"])[-1] == (answer["bookingId"], "cancelled")
    assert not db.exists("shop:42#bookings", "shop:42#pending", "user:ann#pending")
    assert shops.booking(shopId="42", bookingId=answer["bookingId"])["status"] == "cancelled"
    assert shops.queue_refresh(**refresh)["idle"]


def test_what_was_confirmed_does_not_end(shops, db, unchanged):
    answer = book(shops, "ann")
    shops.move_booking(shopId="42", bookingId=answer["bookingId"], status="confirmed")
    shops.relay()
    shops.now_ms = NOW_MS + 40 * DAY_MS
    shops.queue_refresh(role="worker", shopId="42")
    assert not shops.outbox()
    with unchanged():
        for because in ("expired", "too_many"):
            assert shops.end_booking(role="worker", shopId="42", bookingId=answer["bookingId"],
                                     because=because) == {"ended": False}


def test_a_pending_booking_of_a_backend_has_no_end_of_ours(shops, db):
    text = json.dumps({"userId": "ann", "tier": "standard", "status": "pending", "createdAt": NOW_MS - 90 * DAY_MS})
    db.hset("shop:42#bookings", "b1", text)
    shops.queue_refresh(role="worker", shopId="42")
    assert not shops.outbox()


def test_many_bookings_that_are_over_are_ended_in_turns(shops, db):
    text = json.dumps({"userId": "ann", "tier": "standard", "status": "pending", "createdAt": 1, "endsAt": NOW_MS})
    db.hset("shop:42#bookings", mapping={f"b{n}": text for n in range(120)} | {"no id": text, "x" * 201: text})
    rounds = 0
    while db.hlen("shop:42#bookings") > 2:
        shops.queue_refresh(role="worker", shopId="42")
        assert db.xlen("#outbox") <= 50
        shops.relay()
        rounds += 1
    assert rounds == 3
