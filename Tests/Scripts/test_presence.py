"""Presence: who may check in, how long it lasts, and that only real changes are told."""

import hashlib
import hmac
import json
import math

import pytest
import redis

from Fixtures.scripts.command_scripts import Failed, Header
from Fixtures.scripts.dj_model import iso
from Fixtures.scripts.lua_scripts import NOW_MS, script_path

SHOP = "42"
TOPIC = f"shop:{SHOP}"
PRESENCE_MS = 90_000
BERLIN = {"latitude": 52.520008, "longitude": 13.404954}


def failure(call, *arguments, **options):
    with pytest.raises(Failed) as failed:
        call(*arguments, **options)
    return failed.value.code


def check_in(commands, user="ann", role="user", **more):
    return commands.check_in(user=user, role=role, shopId=SHOP, **more)


def told(commands):
    return [data["count"] for name, data in commands.log(TOPIC) if name == "presence:update"]


def here(topic="shop:42", value=True):
    return ("presence:here", {"topic": topic, "here": value})


def test_a_service_checks_in_by_its_word(commands, db):
    answer = commands.check_in(role="service", shopId=SHOP, userId="ann")
    assert answer == {"shopId": SHOP, "present": True, "count": 1, "until": iso(NOW_MS + PRESENCE_MS)}
    assert commands.log(TOPIC) == [("presence:update", {"shopId": SHOP, "count": 1})]
    commands.relay()
    assert commands.log("user:ann") == [here()]
    assert db.smembers("user:ann#places") == {b"shop:42"} and 0 < db.ttl("user:ann#places") <= 86_400


def test_a_user_needs_a_reason(commands, unchanged):
    with unchanged():
        assert failure(check_in, commands, id="a") == "not_allowed"
        assert failure(check_in, commands, code="0" * 16, id="b") == "bad_code"
        assert failure(check_in, commands, location=BERLIN, id="c") == "not_allowed"


@pytest.mark.parametrize("secret", ["0" * 32, "0123456789abcdef" * 2, "k" * 64])
def test_the_code_is_an_hmac(commands, db, secret):
    if len(secret) == 32:
        answer = commands.check_in_code(shopId=SHOP, random=secret)
    else:
        db.hset(f"{TOPIC}#settings", "codeSecret", secret)
        answer = commands.check_in_code(shopId=SHOP)
    window = NOW_MS // 60_000
    digest = hmac.new(secret.encode(), str(window).encode(), hashlib.sha1).hexdigest()
    assert answer == {"code": digest[:16], "validUntil": iso((window + 2) * 60_000)}
    assert db.hget(f"{TOPIC}#settings", "codeSecret").decode() == secret


def test_the_secret_is_made_once(commands, unchanged):
    first = commands.check_in_code(shopId=SHOP, random="a" * 32)
    with unchanged():
        assert commands.check_in_code(shopId=SHOP, random="b" * 32) == first


@pytest.mark.parametrize("later_ms, good", [(-60_000, False), (0, True), (59_999, True), (119_999, True),
                                           (120_000, False)])
def test_a_code_is_good_for_two_windows(commands, later_ms, good):
    start = NOW_MS // 60_000 * 60_000
    code = commands.check_in_code(shopId=SHOP, random="a" * 32, now_ms=start)["code"]
    if good:
        assert check_in(commands, code=code.upper(), now_ms=start + later_ms)["present"]
    else:
        assert failure(check_in, commands, code=code, now_ms=start + later_ms) == "bad_code"


@pytest.mark.parametrize("place", range(16))
def test_each_digit_of_the_code_counts(commands, place):
    code = commands.check_in_code(shopId=SHOP, random="a" * 32)["code"]
    wrong = code[:place] + ("0" if code[place] != "0" else "1") + code[place + 1:]
    assert failure(check_in, commands, code=wrong) == "bad_code"
    assert failure(check_in, commands, code=code[:place]) == "bad_code" if place else True


def test_an_unusable_secret_lets_nobody_in(commands, db):
    db.hset(f"{TOPIC}#settings", "codeSecret", "short")
    empty = hmac.new(b"short", str(NOW_MS // 60_000).encode(), hashlib.sha1).hexdigest()[:16]
    assert failure(check_in, commands, code=empty) == "bad_code"


def metres(a, b):
    """Great-circle distance by unit vectors, another way than haversine."""
    def vector(place):
        north, east = math.radians(place["latitude"]), math.radians(place["longitude"])
        return (math.cos(north) * math.cos(east), math.cos(north) * math.sin(east), math.sin(north))
    one, other = vector(a), vector(b)
    return 6_371_008.8 * 2 * math.asin(min(1, math.dist(one, other) / 2))


def test_the_radius_decides(commands, rng):
    for n in range(100):
        shop = {"latitude": rng.uniform(-89, 89), "longitude": rng.uniform(-180, 180)}
        place = {"latitude": max(-90, min(90, shop["latitude"] + rng.gauss(0, 0.002))),
                 "longitude": (shop["longitude"] + rng.gauss(0, 0.002) + 180) % 360 - 180}
        distance = metres(shop, place)
        if not 2 < distance < 49_000:
            continue
        for radius, near in ((distance + 0.5, True), (distance - 0.5, False)):
            commands.set_shop(shopId=SHOP, radiusMetres=radius, **shop)
            if near:
                assert check_in(commands, f"u{n}", location=place)["present"]
                commands.check_out(user=f"u{n}", role="user", shopId=SHOP)
            else:
                assert failure(check_in, commands, f"u{n}", location=place) == "too_far"


@pytest.mark.parametrize("location", [
    "[]", "1", "null", "{}", '{"latitude":1}', '{"latitude":"1","longitude":2}', '{"latitude":91,"longitude":0}',
    '{"latitude":0,"longitude":-180.5}', '{"latitude":1e999,"longitude":0}', '{"latitude":NaN,"longitude":0}', "{"])
def test_what_is_no_location(commands, unchanged, location):
    commands.set_shop(shopId=SHOP, **BERLIN)
    with unchanged():
        assert failure(check_in, commands, location=location) == "bad_request"


@pytest.mark.parametrize("settings", [{"latitude": "x"}, {"longitude": "nan"}, {"latitude": "\xff"}])
def test_garbage_in_the_settings(commands, db, settings):
    commands.set_shop(shopId=SHOP, **BERLIN)
    db.hset(f"{TOPIC}#settings", mapping=settings)
    assert failure(check_in, commands, location=BERLIN) == "not_allowed"
    assert commands.set_shop(shopId=SHOP)[next(iter(settings))] is None


def test_a_shop_with_a_location_may_insist_on_its_code(commands, db):
    """A location is what a phone says: whoever knew where a shop is was present, saw the roster and voted."""
    commands.set_shop(shopId=SHOP, **BERLIN)
    code = commands.check_in_code(shopId=SHOP, random="a" * 32)["code"]
    assert check_in(commands, "far", location=BERLIN)["present"]
    commands.relay()
    assert commands.set_shop(shopId=SHOP, codeOnly=True)["codeOnly"] is True
    # Nobody knows who has come by a location. So all presence ends, and who is there shows the code.
    assert told(commands)[-1] == 0 and failure(commands.roster, user="far", role="user", shopId=SHOP) == "forbidden"
    for more in ({"location": BERLIN}, {}, {"location": BERLIN, "code": "0" * 16}):
        assert failure(check_in, commands, "far", **more) in ("not_allowed", "bad_code")
    assert commands.beat_shop(shopId=SHOP, userId="far", role="worker") == {"present": False}
    commands.relay()
    assert commands.log("user:far")[-1] == here(value=False) and not db.exists("user:far#places")
    assert failure(commands.vote, user="far", role="user", shopId=SHOP, trackId="t", vote="up") == "not_present"
    assert check_in(commands, "near", code=code)["count"] == 1
    assert check_in(commands, "near")["present"], "who is present renews without it"
    # To say it again ends nothing, and without it a location is good again.
    commands.set_shop(shopId=SHOP, codeOnly=True, radiusMetres=10)
    assert commands.roster(user="near", role="user", shopId=SHOP)["users"] == ["near"]
    commands.set_shop(shopId=SHOP, codeOnly=False)
    assert check_in(commands, "far", location=BERLIN)["count"] == 2


def test_renewal_needs_no_reason_and_tells_nobody(commands, db):
    check_in(commands, role="service", userId="ann")
    commands.relay()
    assert check_in(commands, now_ms=NOW_MS + PRESENCE_MS - 1)["until"] == iso(NOW_MS + 2 * PRESENCE_MS - 1)
    assert told(commands) == [1] and commands.outbox() == []
    assert failure(check_in, commands, now_ms=NOW_MS + 2 * PRESENCE_MS - 1) == "not_allowed"


def test_a_retry_is_one_check_in(commands, unchanged):
    first = commands.call("check_in", role="service", shopId=SHOP, userId="ann", id="op-1")
    with unchanged():
        again = commands.call("check_in", role="service", shopId=SHOP, userId="ann", id="op-1", now_ms=NOW_MS + 5)
    assert again == (first[0], 1)


def test_check_out(commands, unchanged):
    with unchanged():
        assert commands.check_out(user="ann", role="user", shopId=SHOP)["count"] == 0
    for user in ("ann", "bob"):
        check_in(commands, role="service", userId=user)
    assert commands.check_out(user="ann", role="user", shopId=SHOP) == {"shopId": SHOP, "present": False, "count": 1}
    assert commands.check_out(role="service", shopId=SHOP, userId="bob")["count"] == 0
    commands.relay()
    assert told(commands) == [1, 2, 1, 0]
    assert commands.log("user:ann") == [here(), here(value=False)]


def test_presence_ends_without_heartbeats(commands, db):
    for n, user in enumerate(("ann", "bob")):
        check_in(commands, role="service", userId=user, now_ms=NOW_MS + n * 1_000)
    commands.relay()
    assert commands.presence_refresh(shopId=SHOP) == {"idle": False, "again_ms": NOW_MS + PRESENCE_MS}
    ends = NOW_MS + PRESENCE_MS
    assert commands.presence_refresh(shopId=SHOP, now_ms=ends - 1)["again_ms"] == ends
    assert commands.presence_refresh(shopId=SHOP, now_ms=ends) == {"idle": False, "again_ms": ends + 1_000}
    assert commands.presence_refresh(shopId=SHOP, now_ms=ends + 1_000) == {"idle": True}
    assert commands.presence_refresh(shopId=SHOP, now_ms=ends + 9_000) == {"idle": True}
    commands.relay()
    assert told(commands) == [1, 2, 1, 0] and commands.log("user:bob")[-1] == here(value=False)
    assert not db.exists(f"{TOPIC}#presence", f"{TOPIC}#present", "user:ann#places")


def test_a_short_absence_is_no_event(commands):
    """The connection is lost for less than PRESENCE_MS: nobody learns of it."""
    check_in(commands, role="service", userId="ann")
    commands.relay()
    now_ms = NOW_MS
    for away in (20_000, 60_000, PRESENCE_MS - 1, 20_000):
        for look in (now_ms + away // 2, now_ms + away):
            assert not commands.presence_refresh(shopId=SHOP, now_ms=look)["idle"]
        now_ms = commands.now_ms = now_ms + away
        assert commands.beat_user(userId="ann", role="worker") == {"places": 1}
        commands.relay()
    assert told(commands) == [1] and commands.log("user:ann") == [here()]
    assert commands.presence_count(shopId=SHOP, now_ms=now_ms + PRESENCE_MS - 1)["count"] == 1


def test_a_heartbeat_does_not_bring_back(commands):
    check_in(commands, role="service", userId="ann")
    commands.relay()
    commands.now_ms += PRESENCE_MS
    commands.beat_user(userId="ann", role="worker")
    commands.relay()
    assert commands.presence_count(shopId=SHOP)["count"] == 0
    assert commands.log("user:ann") == [here(), here(value=False)]
    assert commands.beat_user(userId="ann", role="worker") == {"places": 0}


def test_beats_of_several_gateways_count_once(commands, db, unchanged):
    """Each gateway with a session of the user beats every 20 s; each was passed on to all the user's places."""
    check_in(commands, role="service", userId="ann")
    commands.relay()
    assert commands.beat_user(userId="ann", role="worker") == {"places": 1}
    commands.relay()
    with unchanged():
        assert commands.beat_user(userId="ann", role="worker", now_ms=NOW_MS + 14_999) == {"places": 0}
    assert commands.beat_user(userId="ann", role="worker", now_ms=NOW_MS + 15_000) == {"places": 1}
    db.set("user:ann#online", NOW_MS + 999_999)
    assert commands.beat_user(userId="ann", role="worker") == {"places": 1}, "a clock that was ahead does not silence"


def test_an_hour_of_heartbeats_leaves_no_memory(commands, db):
    """Each relayed beat left a key of 200 bytes for an hour: 36 kB for each user who is present."""
    check_in(commands, role="service", userId="ann")
    commands.relay()
    before = set(db.keys("*"))
    for beat in range(1, 181):
        commands.now_ms = NOW_MS + beat * 20_000
        assert commands.beat_user(userId="ann", role="worker") == {"places": 1}
        for entry, fields in db.xrange("#outbox"):
            header = Header.read(script_path(fields[b'c'].decode()))
            name = None if header.tag("idempotent") is not None else f"o:{entry.decode()}"
            commands.call(header.name, role="worker", id=name, **json.loads(fields[b"a"]))
            db.xdel("#outbox", entry)
    assert set(db.keys("*")) - before <= {b"user:ann#online"}
    assert commands.presence_count(shopId=SHOP)["count"] == 1


def test_online(commands, db):
    assert commands.online(user="ann", role="user") == {"online": False, "lastSeen": None}
    commands.beat_user(userId="ann", role="worker")
    assert commands.online(role="service", userId="ann") == {"online": True, "lastSeen": iso(NOW_MS)}
    assert db.get("user:ann#online") == str(NOW_MS).encode() and 0 < db.ttl("user:ann#online") <= 60
    db.set("user:ann#online", "\xff")
    assert commands.online(user="ann", role="user") == {"online": False, "lastSeen": None}


def test_the_roster_is_for_who_is_there(commands):
    check_in(commands, role="service", userId="ann")
    check_in(commands, role="service", userId="bob", now_ms=NOW_MS + 1)
    expected = {"shopId": SHOP, "count": 2, "users": ["bob", "ann"], "next": None}
    assert commands.roster(shopId=SHOP) == expected == commands.roster(shopId=SHOP, user="ann", role="user")
    assert failure(commands.roster, shopId=SHOP, user="cas", role="user") == "forbidden"
    assert failure(commands.roster, shopId=SHOP, user="ann", role="user", now_ms=NOW_MS + PRESENCE_MS) == "forbidden"
    assert commands.roster(shopId=SHOP, now_ms=NOW_MS + PRESENCE_MS + 1) == {
        "shopId": SHOP, "count": 0, "users": [], "next": None}
    assert commands.presence_count(shopId=SHOP, role="anonymous") == {"shopId": SHOP, "count": 2}


def test_bounds(commands, db, unchanged):
    db.zadd(f"{TOPIC}#presence", {f"u{n}": NOW_MS + 1 for n in range(10_000)})
    with unchanged():
        assert failure(check_in, commands, role="service", userId="ann") == "conflict"
        first = commands.roster(shopId=SHOP)
        second = commands.roster(shopId=SHOP, **{"from": first["next"]})
        assert len({*first["users"], *second["users"]}) == 1_000 and second["next"] == 1_000
        assert commands.roster(shopId=SHOP, **{"from": 9_500})["next"] is None
    assert check_in(commands, "u7")["count"] == 10_000
    db.sadd("user:ann#places", *(f"shop:{n}" for n in range(32)))
    assert commands.user_place(userId="ann", topic="shop:99", here=True, role="worker")["here"] is False
    assert commands.user_place(userId="ann", topic="shop:7", here=True, role="worker")["here"] is True
    assert commands.log("user:ann") == []


def test_pruning_goes_in_batches(commands, db):
    db.zadd(f"{TOPIC}#presence", {f"u{n}": NOW_MS - n for n in range(450)} | {"ann": NOW_MS + 5})
    db.set(f"{TOPIC}#present", 451)
    assert commands.presence_refresh(shopId=SHOP) == {"idle": False, "again_ms": NOW_MS}
    assert (db.zcard(f"{TOPIC}#presence"), told(commands), len(commands.outbox())) == (351, [1], 100)
    for _ in range(3):
        assert commands.presence_refresh(shopId=SHOP) == {"idle": False, "again_ms": NOW_MS}
    assert commands.presence_refresh(shopId=SHOP) == {"idle": False, "again_ms": NOW_MS + 5}
    assert (db.zcard(f"{TOPIC}#presence"), told(commands), len(commands.outbox())) == (1, [1], 450)


def test_garbage_in_the_presence(commands, db):
    db.zadd(f"{TOPIC}#presence", {"\xff": "-inf", "a b": 5, "x" * 300: NOW_MS, "ann": "inf", "bob": NOW_MS + 0.5})
    assert commands.presence_refresh(shopId=SHOP) == {"idle": False, "again_ms": NOW_MS + 1}
    assert commands.outbox() == [] and told(commands) == [2]
    assert check_in(commands, "ann")["count"] == 2
    assert commands.presence_refresh(shopId=SHOP, now_ms=NOW_MS + 1)["again_ms"] == NOW_MS + 1 + PRESENCE_MS
    db.set(f"{TOPIC}#present", "\xff")
    assert commands.check_out(user="ann", role="user", shopId=SHOP, now_ms=NOW_MS + 1)["count"] == 0
    assert not db.exists(f"{TOPIC}#presence")


@pytest.mark.parametrize("topic", ["shop:", "user:ann", "shop:a b", "shop:1#x"])
def test_only_shops_are_places(commands, db, unchanged, topic):
    with unchanged():
        assert failure(commands.user_place, userId="ann", topic=topic, here=True, role="worker") == "bad_request"
    db.sadd("user:ann#places", topic)
    assert commands.beat_user(userId="ann", role="worker") == {"places": 0}


@pytest.mark.parametrize("name, arguments", [
    ("check_in", {"userId": "ann"}), ("check_out", {"userId": "ann"}), ("roster", {}), ("presence_count", {}),
    ("beat_shop", {"userId": "ann"}), ("presence_refresh", {})])
def test_other_types_change_nothing(commands, db, unchanged, name, arguments):
    db.set(f"{TOPIC}#presence", "text")
    with unchanged(), pytest.raises(redis.ResponseError, match="BADKEY"):
        commands.call(name, shopId=SHOP, **arguments)


def test_settings(commands, db):
    nothing = {"shopId": SHOP, "latitude": None, "longitude": None, "radiusMetres": None, "utcOffsetMinutes": None,
               "estimator": None, "codeOnly": False, "voters": False}
    assert commands.set_shop(shopId=SHOP) == nothing and not db.exists(f"{TOPIC}#settings")
    commands.check_in_code(shopId=SHOP, random="a" * 32)
    given = {"latitude": -0.1, "longitude": 1 / 3, "radiusMetres": 100, "utcOffsetMinutes": -330,
             "estimator": "simulated"}
    assert commands.set_shop(shopId=SHOP, **given) == {
        "shopId": SHOP, "codeOnly": False, "voters": False, **given}
    assert commands.set_shop(shopId=SHOP, utcOffsetMinutes=60, codeOnly=True) == {
        "shopId": SHOP, **given, "utcOffsetMinutes": 60, "codeOnly": True, "voters": False}
    assert commands.set_shop(shopId=SHOP)["codeOnly"] is True
    assert db.hget(f"{TOPIC}#settings", "longitude") == b"0.3333333333333333"
    assert db.hget(f"{TOPIC}#settings", "codeSecret") == b"a" * 32
