"""A user's data at the barbershops: told, and erased wherever they are.

The search goes through every key and every value of Redis, so that data which a later script begins to keep are found.
"""

import json

import pytest

from Fixtures.scripts.command_scripts import Failed
from Fixtures.scripts.lua_scripts import NOW_MS, lasting

USER, SHOP = "erased-user", "42"
# What docs/scripts/packs.md says stays: positions, logs of others, who was taken out, bounds of a running session.
STAYS = ("#meta", "#removed", "dj:42#adders", "user:friend#follows", "user:friend#log", "dj:42#log",
         "challenge:c1#log")


def words(value):
    """The bytes in a reply of Redis, however deep."""
    if isinstance(value, dict):
        value = [*value.keys(), *value.values()]
    if isinstance(value, (list, tuple, set)):
        return [word for each in value for word in words(each)]
    return [value if isinstance(value, bytes) else str(value).encode()]


def holding(db, text):
    """The keys whose name or value has the text, of any type; without what ends by itself within the hour."""
    reads = {b"string": db.get, b"hash": db.hgetall, b"set": db.smembers, b"list": lambda key: db.lrange(key, 0, -1),
             b"zset": lambda key: db.zrange(key, 0, -1), b"stream": db.xrange}
    return sorted(key.decode() for key in lasting(db) if b"#done#" not in key and any(
        text.encode() in word for word in [key, *words(reads[db.type(key)](key))]))


def snapshot(db):
    return {key: db.dump(key) for key in db.keys() if b"#outbox" not in key}


@pytest.fixture
def party(commands, db):
    """A session in which the user and two others vote; everything by the commands, and relayed."""
    for user in (USER, "bob", "cas"):
        commands.check_in(role="service", userId=user, shopId=SHOP)
    commands.start_session(shopId=SHOP, random="a" * 32, voters=True)
    add(commands, "t1")
    add(commands, "t2", "bob")
    add(commands, "t3", "cas")
    for user in (USER, "bob"):
        vote(commands, "t3", "up", user)
    vote(commands, "t2", "down", USER)
    commands.relay()
    return commands


def add(commands, track, user=USER):
    return commands.add_track(role="user", user=user, shopId=SHOP, trackId=track)


def vote(commands, track, word, user=USER):
    return commands.vote(role="user", user=user, shopId=SHOP, trackId=track, vote=word)


def erase(commands):
    commands.erase_barbershop(role="worker", userId=USER)
    return commands.relay()


def queue(commands):
    return {item["trackId"]: (item["upvoteCount"], item["downvoteCount"], item["position"], item["addedBy"])
            for item in commands.dj(shopId=SHOP)["queue"]}


def test_nothing_of_the_user_is_left(party, db):
    commands = party
    commands.next_track(shopId=SHOP)  # t3 plays
    commands.next_track(shopId=SHOP)  # t1, which the user has added
    add(commands, "t4")
    commands.set_shop(shopId=SHOP, utcOffsetMinutes=60)
    mine = commands.create_booking(role="user", user=USER, shopId=SHOP, random="1" * 32)["bookingId"]
    for number in ("b-1", "b-2", "b-3"):
        commands.create_booking(shopId=SHOP, bookingId=number, userId=USER)
        commands.move_booking(shopId=SHOP, bookingId=number, status="confirmed")
    commands.move_booking(shopId=SHOP, bookingId="b-2", status="in-progress")
    commands.move_booking(shopId=SHOP, bookingId="b-3", status="no-show")
    commands.create_booking(shopId=SHOP, bookingId="b-9", userId="bob")
    for user in (USER, "bob"):
        commands.add_points(challengeId="c1", userId=user, points=5)
    commands.leaderboard_refresh(challengeId="c1")
    commands.follow(role="user", user=USER, barberId="kim")
    commands.follow(role="user", user="friend", barberId=USER)
    commands.publish_post(barberId=USER, post=json.dumps({"id": "p1"}))
    commands.notify(userId=USER, type="t", title="hi", body="")
    commands.beat_user(role="worker", userId=USER)
    commands.relay()
    assert len(holding(db, USER)) > 25

    erase(commands)
    commands.leaderboard_refresh(challengeId="c1", token=2)
    left = [key for key in holding(db, USER) if not key.endswith(STAYS)]
    assert left == []
    assert not db.exists(f"user:{USER}#log", f"feed:{USER}#log", f"user:{USER}#inbox")
    assert db.zrange("leaderboard:c1", 0, -1) == [b"bob"]
    assert commands.booking(shopId=SHOP, bookingId="b-9")["userId"] == "bob"
    assert list(db.hgetall(f"shop:{SHOP}#bookings")) == [b"b-9"]
    for number in (mine, "b-1", "b-2", "b-3"):
        with pytest.raises(Failed, match="not_found"):
            commands.booking(shopId=SHOP, bookingId=number)
    with pytest.raises(Failed, match="conflict"):
        commands.create_booking(shopId=SHOP, bookingId="b-1", userId="bob")
    assert [json.loads(db.get(f"shop:{SHOP}#closed#{number}"))["status"] for number in ("b-1", "b-2", "b-3")] == [
        "cancelled", "completed", "no-show"]
    assert commands.log("booking:b-1")[-1] == ("booking:status_change", {"bookingId": "b-1", "status": "cancelled"})
    assert [data["status"] for _, data in commands.log("booking:b-3")] == ["pending", "confirmed", "no-show"]
    assert commands.presence_count(shopId=SHOP)["count"] == 2
    assert commands.dj(shopId=SHOP)["currentTrack"]["addedBy"] == ""
    before = snapshot(db)
    erase(commands)
    assert snapshot(db) == before, "a second time changes nothing"


def test_votes_are_taken_back_and_the_others_told(party, db):
    assert queue(party) == {"t3": (3, 0, 1, "cas"), "t1": (1, 0, 2, USER), "t2": (1, 1, 3, "bob")}
    seen = len(party.log("dj:42"))
    erase(party)
    assert queue(party) == {"t3": (2, 0, 1, "cas"), "t2": (1, 0, 2, "bob"), "t1": (0, 0, 3, "")}
    # Each event tells where the track stands after the votes that were taken back until then.
    table = {"t3": (3, 0), "t1": (1, 0), "t2": (1, 1)}
    order = ["t1", "t2", "t3"]
    told = [data for name, data in party.log("dj:42")[seen:] if name == "queue:update"]
    assert len(told) == 3
    for data in told:
        table[data["trackId"]] = (data["upvotes"], data["downvotes"])
        ranked = sorted(table, key=lambda track: (table[track][1] - table[track][0], order.index(track)))
        assert data["position"] == ranked.index(data["trackId"]) + 1
    listed = db.hgetall("dj:42#voters")
    assert listed[b"t3"] == b"cas bob |" and listed[b"t2"] == b"bob |" and listed[b"t1"] == b"|"


def test_erasing_gives_no_second_vote(party):
    """Whoever may erase own data could otherwise vote again and again, also by way of a track that was taken out."""
    for _ in range(3):
        erase(party)
        party.check_in(role="service", userId=USER, shopId=SHOP)
        vote(party, "t2", "up")
        vote(party, "t3", "up")
        party.relay()
    assert queue(party)["t2"][:2] == (2, 0)
    party.remove_track(shopId=SHOP, trackId="t3")
    erase(party)
    assert add(party, "t3", "bob")["upvotes"] == 2, "cas and bob"


def test_erasing_gives_no_more_tracks(party):
    for number in range(4, 23):
        add(party, f"t{number}")
    erase(party)
    party.check_in(role="service", userId=USER, shopId=SHOP)
    with pytest.raises(Failed, match="too_many"):
        add(party, "t23")


def test_many_of_everything_go_in_steps(commands, db):
    """No run of a script does more than a batch of each, however much there is."""
    commands.start_session(shopId=SHOP, random="a" * 32)
    db.zadd("user:erased-user#challenges", {f"c{n}": n for n in range(300)})
    for number in range(300):
        db.zadd(f"leaderboard:c{number}", {USER: 1, "bob": 2})
    commands.check_in(role="service", userId=USER, shopId=SHOP)
    commands.relay()
    for number in range(120):
        db.hset("dj:42#tally", f"t{number}", f"{'a' * 12} {number + 1} 2 0")
        db.zadd("dj:42#order", {f"t{number}": 2 * 16384 - number - 1})
        db.hset("dj:42#tracks", f"t{number}", json.dumps({"trackId": f"t{number}", "addedBy": USER, "x": "y" * 99}))
        db.hset(f"dj:42#ballots#{USER}", f"t{number}", f"{number + 1}u")
    db.hset(f"dj:42#ballots#{USER}", "", "a" * 12)
    commands.erase_barbershop(role="worker", userId=USER)
    assert db.xlen("#outbox") <= 100
    commands.relay()
    assert [key for key in holding(db, USER) if not key.endswith(STAYS)] == []
    assert db.zrange("leaderboard:c299", 0, -1) == [b"bob"]
    assert {text.split()[2] for text in db.hvals("dj:42#tally")} == {b"1"}
    assert len(commands.log("dj:42")) == 121


def test_what_lies_at_home_is_told(party, db):
    party.create_booking(shopId=SHOP, bookingId="b-1", userId=USER)
    party.add_points(challengeId="c1", userId=USER, points=5)
    party.follow(role="user", user=USER, barberId="kim")
    party.beat_user(role="worker", userId=USER)
    party.relay()
    answer = party.export_barbershop(role="worker", userId=USER)
    assert [one["type"] for one in answer.pop("notifications")] == ["booking_status_change"]
    assert answer == {
        "unread": 1, "follows": ["kim"], "places": ["shop:42"], "visited": ["42"], "challenges": ["c1"],
        "bookings": [{"shopId": SHOP, "bookingId": "b-1"}], "lastSeen": "2026-11-20T20:03:20.123Z", "more": False}
    erase(party)
    assert party.export_barbershop(role="worker", userId=USER) == {
        "notifications": [], "unread": 0, "follows": [], "places": [], "visited": [], "challenges": [], "bookings": [],
        "lastSeen": None, "more": False}


def test_another_users_booking_is_not_forgotten(commands, db, unchanged):
    commands.create_booking(shopId=SHOP, bookingId="b-1", userId="bob")
    commands.relay()
    with unchanged():
        assert commands.forget_booking(role="worker", shopId=SHOP, bookingId="b-1", userId=USER) == {"forgotten": False}
        assert commands.forget_booking_topic(
            role="worker", bookingId="b-1", number="b-1", shopId=SHOP, userId=USER, status="cancelled") == {
                "forgotten": False}


def test_a_topic_of_a_forgotten_booking_is_still_its_shops(commands, db, unchanged):
    commands.create_booking(shopId=SHOP, bookingId="b-1", userId=USER)
    commands.relay()
    erase(commands)
    with unchanged():
        for user in ("eve", "x"):
            assert commands.booking_changed(
                role="worker", bookingId="b-1", shopId="7", userId=user, status="pending") == {"refused": True}


def test_the_notes_end_with_what_they_point_at(commands, db):
    commands.check_in(role="service", userId=USER, shopId=SHOP)
    commands.relay()
    commands.check_out(role="service", userId=USER, shopId=SHOP, now_ms=NOW_MS + 1_000)
    commands.now_ms = NOW_MS + 1_000
    commands.relay()
    assert db.zscore(f"user:{USER}#visited", SHOP) == NOW_MS + 1_000 + 50 * 3_600_000
    for number in range(250):
        commands.user_place(role="worker", userId=USER, topic=f"shop:s{number}", here=True, now_ms=NOW_MS + number)
    assert db.zcard(f"user:{USER}#visited") == 200 and db.scard(f"user:{USER}#places") == 32
    commands.create_booking(shopId=SHOP, bookingId="b-1", userId=USER)
    commands.create_booking(shopId=SHOP, bookingId="b-2", userId=USER)
    commands.move_booking(shopId=SHOP, bookingId="b-2", status="cancelled")
    commands.relay()
    assert db.zscore(f"user:{USER}#bookings", "42 b-1") == commands.now_ms + 366 * 86_400_000
    assert db.zscore(f"user:{USER}#bookings", "42 b-2") == commands.now_ms + 8 * 86_400_000 + 3 / 8
    db.zadd(f"user:{USER}#challenges", {f"c{n}": n for n in range(1_000)})
    commands.user_challenge(role="worker", userId=USER, challengeId="new")
    assert db.zcard(f"user:{USER}#challenges") == 1_000 and db.zscore(f"user:{USER}#challenges", "new")


def test_garbage_in_the_notes_stops_nothing(commands, db):
    db.zadd(f"user:{USER}#visited", {b"\xff": 1, "a b": 1, "x" * 300: 1})
    db.zadd(f"user:{USER}#bookings", {b"\xff": 1, "one": 1, "a b c": 1})
    db.zadd(f"user:{USER}#challenges", {b"\xff": 1, "a b": 1})
    db.sadd(f"user:{USER}#places", b"\xff", "shop:", "shop:a b")
    db.xadd(f"user:{USER}#inbox", {"data": b"\xff", "type": b"\xff"})
    commands.export_barbershop(role="worker", userId=USER)
    erase(commands)
    assert holding(db, USER) == []
