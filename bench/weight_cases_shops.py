"""More of the built-in scripts at their limits: shops, bookings, the gateway's own, and the states of topics."""

import json

from Fixtures.scripts.lua_scripts import NOW_MS
from weight_cases import CASES, LONG, MANY, SHORT, USERS, board, case, inbox, session
from weight_site import kept


def booking(status="confirmed", **members):
    return json.dumps({"userId": "u1", "tier": "standard", "status": status, "createdAt": NOW_MS, "serviceMinutes": 30,
                       "scheduledAt": NOW_MS, **members})


# Shops and presence


PRESENT = "user-{:06}-" + "u" * 100


@kept
def crowd(site, count=USERS):
    site.fill(lambda pipe, n: pipe.zadd("shop:s#presence", {PRESENT.format(n): NOW_MS + 90_000 + n}), count)


@case
def roster(site):
    crowd(site)
    return lambda n: site.commands.roster(shopId="s")


@case
def presence_count(site):
    crowd(site)
    return lambda n: site.commands.presence_count(shopId="s")


@case
def presence_refresh(site):
    crowd(site)
    return lambda n: site.commands.presence_refresh(
        shopId="s", now_ms=NOW_MS + 90_000 + 200 * (n + 1), token=n + 1)


@case
def check_in(site):
    crowd(site, 9_900)
    site.commands.set_shop(shopId="s", latitude=10, longitude=20)
    location = {"latitude": 10.0001, "longitude": 20.0001}
    return lambda n: site.commands.check_in(user=f"u{n}", role="user", shopId="s", location=location, id=f"op-{n}")


@case
def check_in_code(site):
    return lambda n: site.commands.check_in_code(shopId="s", random="a" * 32, id=f"op-{n}")


@case
def check_out(site):
    crowd(site)
    return lambda n: site.commands.check_out(shopId="s", userId=f"user-{n:06}-{'u' * 100}", id=f"op-{n}")


@case
def beat_shop(site):
    crowd(site)
    return lambda n: site.commands.beat_shop(role="worker", shopId="s", userId=f"user-{n:06}-{'u' * 100}")


@case
def beat_user(site):
    site.db.sadd("user:u#places", *(f"shop:{LONG}{number:02}" for number in range(32)))
    return lambda n: site.commands.beat_user(role="worker", userId="u", now_ms=NOW_MS + n * 60_000)


@case
def user_place(site):
    site.db.sadd("user:u#places", *(f"shop:{LONG}{number:02}" for number in range(31)))
    return lambda n: site.commands.user_place(
        role="worker", userId="u", topic=f"shop:{n}", here=n % 2 == 0, id=f"op-{n}")


@case
def online(site):
    site.db.set("user:u#online", NOW_MS)
    return lambda n: site.commands.online(userId="u")


@case
def set_shop(site):
    return lambda n: site.commands.set_shop(shopId="s", latitude=1.5, longitude=2.5, radiusMetres=100,
                                            utcOffsetMinutes=60, estimator="simulated", id=f"op-{n}")


@case
def set_barber(site):
    site.db.sadd("shop:s#barbers", *(f"b{number}" for number in range(100)))
    return lambda n: site.commands.set_barber(shopId="s", barberId=f"n{n}", active=True, id=f"op-{n}")


# Bookings


@kept
def bookings(site, count=990, status="confirmed", **members):
    site.fill(lambda pipe, n: pipe.hset("shop:s#bookings", f"b{n:04}", booking(status, **members)), count)
    site.commands.set_shop(shopId="s", utcOffsetMinutes=60)


@case
def create_booking(site):
    bookings(site, 900)
    return lambda n: site.commands.create_booking(
        user=f"u{n}", role="user", shopId="s", scheduledAt=NOW_MS, id=f"op-{n}", random=f"{n:032}")


@case
def move_booking(site):
    bookings(site, 990, "in-progress", startedAt=NOW_MS - 600_000)
    site.db.hset("shop:s#service", mapping={"count:standard": 9, "sum:standard": 200, "squares:standard": 5_000})
    return lambda n: site.commands.move_booking(shopId="s", bookingId=f"b{n:04}", status="completed", id=f"op-{n}")


@case
def reschedule_booking(site):
    bookings(site)
    return lambda n: site.commands.reschedule_booking(
        shopId="s", bookingId=f"b{n:04}", scheduledAt=NOW_MS + 86_400_000, id=f"op-{n}")


@case
def shop_bookings(site):
    bookings(site, 2_000)
    return lambda n: site.commands.shop_bookings(shopId="s", status="pending", limit=100)


@case
def user_bookings(site):
    site.fill(lambda pipe, n: pipe.zadd("user:u#bookings", {f"shop-{n % 9} b{n}": NOW_MS + 31_622_400_000 + n}), 1_000)
    return lambda n: site.commands.user_bookings(userId="u", limit=100)


@case
def set_text(site):
    return lambda n: site.commands.set_text(shopId="s", word="confirmed", title="t" * 200, body="b" * 1_000,
                                            titleKey="k" * 100, bodyKey=f"{n:0100}")


@case
def booking_(site):
    bookings(site)
    return lambda n: site.commands.booking(shopId="s", bookingId="b0001", user="u1", role="user")


@case
def booking_changed(site):
    return lambda n: site.commands.booking_changed(
        role="worker", bookingId="s::b1", number="b1", shopId="s", userId="u", status="confirmed", id=f"op-{n}")


@case
def end_booking(site):
    bookings(site, 500, "pending", endsAt=NOW_MS)
    site.db.hset("shop:s#pending", "u1", " ".join(f"b{n:04}" for n in range(3)))
    return lambda n: site.commands.end_booking(role="worker", shopId="s", bookingId=f"b{n:04}", because="expired")


@case
def user_pending(site):
    site.db.zadd("user:u#pending", {f"s{LONG} b{n}": NOW_MS + 1_000 for n in range(9)})
    return lambda n: site.commands.user_pending(role="worker", userId="u", shopId=f"s{n}", bookingId=f"b{n}",
                                                endsAt=NOW_MS + 500)


@case
def queue(site):
    bookings(site, 1_000)
    site.db.sadd("shop:s#barbers", *(f"b{number}" for number in range(200)))
    site.commands.queue_refresh(shopId="s")
    site.db.delete("queue:s")
    return lambda n: site.commands.queue(shopId="s")


@case
def queue_counted(site):
    bookings(site, 150)
    site.db.sadd("shop:s#barbers", *(f"b{number}" for number in range(200)))
    return lambda n: site.commands.queue(shopId="s")


@case
def queue_refresh(site):
    bookings(site, 200)
    site.db.sadd("shop:s#barbers", *(f"b{number}" for number in range(50)))
    site.db.hset("shop:s#settings", "estimator", "simulated")

    def call(n):
        site.db.delete("shop:s#status")
        site.db.config_resetstat()
        site.commands.queue_refresh(shopId="s", token=n + 1)
    return call


# What is noted and forgotten of a user


@case
def user_booking(site):
    site.db.zadd("user:u#bookings", {f"s{LONG} b{n}": NOW_MS + 1_000 for n in range(1_000)})
    return lambda n: site.commands.user_booking(
        role="worker", userId="u", shopId="s", bookingId=f"b{n}", status="confirmed", title="T" * 200, body="b" * 200,
        version=site.commands.now_ms * 1_000 + n)


@case
def user_challenge(site):
    site.db.zadd("user:u#challenges", {f"c{LONG}{n}": n for n in range(1_000)})
    return lambda n: site.commands.user_challenge(role="worker", userId="u", challengeId=f"c{n}")


@case
def forget_score(site):
    board(site)
    return lambda n: site.commands.forget_score(role="worker", challengeId="c", userId=f"user-{n:08}-{'y' * 20}")


@case
def forget_booking(site):
    bookings(site)
    return lambda n: site.commands.forget_booking(role="worker", shopId="s", bookingId=f"b{n:04}", userId="u1")


@case
def forget_booking_topic(site):
    site.fill(lambda pipe, n: pipe.set(f"booking:b{n}#owner", f"s b{n} u1"), 100)
    return lambda n: site.commands.forget_booking_topic(
        role="worker", bookingId=f"b{n}", number=f"b{n}", shopId="s", userId="u1", status="cancelled")


@case
def forget_visitor(site):
    """A page of ballots on tracks that name as many voters as they may."""
    session(site, voters=MANY)

    def call(n):
        site.db.hset(f"dj:s#ballots#{MANY[0]}", mapping={"": "a" * 12} | {
            f"track-{place:04}-{'t' * 100}": f"{place + 1}u" for place in range(n, 499)})
        site.db.config_resetstat()
        site.commands.forget_visitor(role="worker", shopId="s", userId=MANY[0])
    return call


@case
def forget_visitor_tracks(site):
    session(site)
    user = f"user-7-{'u' * 50}"

    def call(n):
        for track, text in site.db.hgetall("dj:s#tracks").items():
            site.db.hset("dj:s#tracks", track, json.dumps({**json.loads(text), "addedBy": user}))
        site.db.config_resetstat()
        site.commands.forget_visitor(role="worker", shopId="s", userId=user)
    return call


def notes(site):
    site.db.delete("user:u#inbox")
    inbox(site)
    site.db.zadd("user:u#visited", {f"{n:03}{LONG}": NOW_MS for n in range(200)})
    site.db.zadd("user:u#bookings", {f"{n:03}{LONG} b{LONG}": NOW_MS for n in range(1_000)})
    site.db.zadd("user:u#challenges", {f"{n:03}{LONG}": NOW_MS for n in range(1_000)})
    site.db.sadd("user:u#places", *(f"shop:{LONG}{n:02}" for n in range(32)))
    site.db.sadd("user:u#follows", *(f"feed:{LONG}{n:04}" for n in range(1_000)))


@case
def erase_barbershop(site):
    def call(n):
        notes(site)
        site.db.delete("#outbox")
        site.db.config_resetstat()
        site.commands.erase_barbershop(role="worker", userId="u")
    return call


@case
def export_barbershop(site):
    notes(site)
    return lambda n: site.commands.export_barbershop(role="worker", userId="u")


# The gateway's own, and the states of topics


def log(site, topic, count=300, event_bytes=2_000):
    for number in range(count):
        site.scripts.publish(topic=topic, data=json.dumps({"n": number, "x": "d" * event_bytes}), log_max=1_000)


@case
def publish(site):
    log(site, "shop:42", 210, 500)
    return lambda n: site.scripts.publish(data='{"x":"' + "d" * 2_000 + '"}', id=f"op-{n}")


@case
def subscribe(site):
    """As many events as one read returns, so large that its bytes are used up as well."""
    log(site, "shop:42", 400, 500)
    epoch = site.scripts.position()[0]
    return lambda n: site.scripts.subscribe(since=(epoch, 0), recovery_max=256, bytes_max=196_608)


@case
def subscribe_large(site):
    """Events as large as they may be published."""
    log(site, "shop:42", 30, 65_500)
    epoch = site.scripts.position()[0]
    return lambda n: site.scripts.subscribe(since=(epoch, 0), recovery_max=256, bytes_max=196_608)


@case
def history(site):
    log(site, "shop:42", 400, 500)
    return lambda n: site.scripts.history(limit=256, bytes_max=196_608)


@case
def history_large(site):
    log(site, "shop:42", 30, 65_500)
    return lambda n: site.scripts.history(limit=256, bytes_max=196_608)


@case
def replay(site):
    log(site, "shop:42", 400, 7_000)
    return lambda n: site.scripts.replay(0)


@case
def replay_large(site):
    log(site, "shop:42", 30, 65_500)
    return lambda n: site.scripts.replay(0)


@case
def position(site):
    log(site, "shop:42", 10)
    return lambda n: site.scripts.position()


@case
def look(site):
    """A user's keys as nearby looks at them: 240 blocks and mutes of each side, 200 followers."""
    keys = [f"user:u#{name}" for name in ("blocks", "blockers", "mutes", "muters", "followers")]
    for key in keys:
        site.fill(lambda pipe, n, key=key: pipe.sadd(key, f"{n:036}"), 240)
    site.db.hset("user:u#place", mapping={"cell": "u33", "latitude": "52.5", "longitude": "13.4", "at": "1"})
    return lambda n: site.scripts.look([*keys, "user:u#place"])


@case
def resolve(site):
    site.fill(lambda pipe, n: pipe.hset(f"user:{n}#place", mapping={f"f{i}": i for i in range(100)}), 32)
    keys = [f"user:{n}#place" for n in range(32)]
    return lambda n: site.scripts.resolve(keys, ["f7"] * 32)


def state_case(namespace, fill, id, facets, name=None):
    """A join of a topic with a state; the weight of a join without one is taken off."""
    def run(site):
        fill(site)
        topic = f"{namespace}:{id}"
        keys = [f"{topic}#log", f"{topic}#meta"]
        site.scripts.subscribe(topic=topic)
        times = []
        for _ in range(9):
            site.db.config_resetstat()
            site.scripts.subscribe(topic=topic)
            times.append(site.db.info("commandstats")["cmdstat_evalsha"]["usec"])
        site.without = sorted(times)[2]
        return lambda n: site.scripts.state(namespace, keys + facets)
    CASES[f"state_{name or namespace}"] = run


DJ = [f"dj:s#{facet}" for facet in ("session", "tracks", "tally", "order", "voters")]
state_case("dj", session, "s", DJ)
state_case("dj", lambda site: session(site, voters=SHORT), "s", DJ, name="dj_voters_short")
state_case("challenge", board, "c", ["leaderboard:c"])
state_case("shop", lambda site: site.db.set("queue:s", json.dumps({"shopId": "s", "x": "y" * 60_000})), "s",
           ["queue:s"])
state_case("booking", lambda site: site.db.set("booking:b#state", json.dumps({"bookingId": "b", "x": "y" * 3_900})),
           "b", ["booking:b#state"])
