"""Listeners nearby: privacy, blocks, erasure, and what an attacker may try."""

import json
import math
import statistics

import pytest

from Fixtures.scripts.command_scripts import Commands
from Fixtures.scripts.lua_scripts import LUA
from Fixtures.scripts.nearby_model import rounded
from Fixtures.scripts.nearby_people import DEGREE_METRES, HERE, TRACK, block, ears, ids, mute, north, pack, put, told
from Fixtures.scripts.nearby_scripts import degrees_in, geohash, metres, places_of, texts_of


@pytest.mark.parametrize("visible, rounding", [
    ("everyone", 100), ("everyone", 1_000), ("followers", 1_000), ("nobody", 0), ("nobody", 100)])
def test_no_exact_place_of_a_rounded_or_hidden_listener_is_anywhere(db, pack, ears, rng, visible, rounding):
    exact = [(52.5234567 + rng.uniform(0, 0.01), 12.6581234 + rng.uniform(-0.01, 0.01)) for _ in range(10)]
    put(pack, "a", rounded(exact[0], 1_000))
    pack.set_privacy(userId="b", visible=visible, rounding=rounding)
    pack.allow_follower(userId="b", followerId="a")
    heard = []
    for place in exact:
        put(pack, "b", place, city="Nauen")
        # What waits in the outbox is looked at, too.
        everything = texts_of(db) + json.dumps(heard)
        pack.relay()
        heard += ears.heard()
        everything += texts_of(db) + json.dumps(heard) + json.dumps(pack.nearby(userId="a", radius=20_000))
        assert all(abs(degree - exact_degree) > 1e-6 or exact_degree in rounded(place, 1_000)
                   for degree in degrees_in(everything) for exact_degree in place)
        for _, member, latitude, longitude in places_of(db):
            assert member == "a" or metres((latitude, longitude), place) > 1


def test_without_a_choice_nobody_is_shown_nearer_than_to_100_metres(db, pack, ears, rng):
    """A listener who had chosen nothing was shown to everybody at the exact place. Whatever a probe beside it is told
    is the same wherever in the square of 100 m it stands: places, distances, events, pages, and what Redis keeps."""
    corner = rounded((52.5234567, 13.4012345), 1_000)
    middle = rounded(corner, 100)
    put(pack, "probe", north(300, middle))
    told_of, heard = set(), []
    for number in range(12):
        place = middle[0] + rng.uniform(-40, 40) / DEGREE_METRES, middle[1] + rng.uniform(-40, 40) / DEGREE_METRES
        pack.now_ms += 20_000
        pack.set_location(userId="new", latitude=place[0], longitude=place[1])
        pack.set_track(userId="new", **TRACK)
        everything = texts_of(db)
        pack.relay()
        heard += ears.heard()
        (seen,) = pack.nearby(userId="probe", radius=20_000)["nearby"]
        (answered,) = put(pack, "probe", north(300, middle))["nearby"]
        told_of |= {json.dumps([one["distance"], one["user"]["location"]]) for one in (seen, answered)}
        everything += texts_of(db) + json.dumps(heard)
        assert all(abs(degree - exact) > 1e-6 for degree in degrees_in(everything) for exact in place)
        assert all(metres((latitude, longitude), place) > 1 or member != "new"
                   for _, member, latitude, longitude in places_of(db))
    assert len(told_of) == 1
    (shown,) = told_of
    assert json.loads(shown) == [300, pytest.approx({"latitude": middle[0], "longitude": middle[1]}, abs=1e-6)]
    assert [event for user, event, _ in heard if (user, event) in (("probe", "nearby:enter"), ("probe", "nearby:move"))
            ] == ["nearby:enter"]


def test_the_exact_place_is_shown_by_choice_alone(db, pack):
    """A choice of who may see is none of how exactly, and an earlier version kept a 0 that nobody had chosen."""
    put(pack, "probe")
    place = north(417.3)
    db.hset("user:old#listener", mapping={"visible": "everyone", "rounding": "0"})
    assert pack.set_privacy(userId="some", visible="everyone") == {"visible": "everyone", "rounding": 100}
    assert pack.set_privacy(userId="open", rounding=0) == {"visible": "everyone", "rounding": 0}
    for user in ("old", "some", "open"):
        pack.set_location(userId=user, latitude=place[0], longitude=place[1])
    pack.relay()
    shown = {one["id"]: one["user"]["location"] for one in pack.nearby(userId="probe")["nearby"]}
    there = rounded(place, 100)
    assert metres(there, place) > 5
    assert shown == {
        "old": pytest.approx({"latitude": there[0], "longitude": there[1]}, abs=1e-6), "some": shown["old"],
        "open": pytest.approx({"latitude": place[0], "longitude": place[1]}, abs=1e-6)}
    assert pack.export_nearby(userId="old")["rounding"] == 100


def test_rounding_a_place_that_is_kept_takes_effect_at_once(db, pack, ears):
    put(pack, "a")
    put(pack, "b", north(400))
    ears.heard()
    pack.set_privacy(userId="b", visible="everyone", rounding=1000)
    assert metres(north(400), tuple(pack.nearby(userId="a", radius=20_000)["nearby"][0]["user"]["location"].values())) \
        > 10
    there = rounded(north(400), 1_000)
    assert [data["user"]["location"] for _, event, data in ears.heard() if event == "nearby:move"] == [
        pytest.approx({"latitude": there[0], "longitude": there[1]}, abs=1e-6)]
    assert not [degree for degree in degrees_in(texts_of(db)) if abs(degree - north(400)[0]) < 1e-6]


def test_moves_inside_a_rounded_square_tell_nothing(pack, ears):
    """What a probe next to the square would see of each step."""
    pack.set_privacy(userId="b", rounding=1000)
    middle = rounded(HERE, 1_000)
    put(pack, "a", north(600, middle))
    put(pack, "b", middle)
    first = pack.nearby(userId="a")
    ears.heard()
    pack.now_ms += 20_000
    for step in range(-9, 10):
        put(pack, "b", north(step * 50, middle))
        assert ears.heard() == []
        assert pack.nearby(userId="a") == first


def test_a_probe_that_moves_measures_the_rounded_place_only(pack, rng):
    """Three distances from places of one's own choice give a place; it is the middle of the square."""
    pack.set_privacy(userId="b", rounding=1000)
    put(pack, "b", (52.5234567, 13.4))
    middle = rounded((52.5234567, 13.4), 1_000)
    for number in range(20):
        probe = middle[0] + rng.uniform(-0.01, 0.01), middle[1] + rng.uniform(-0.01, 0.01)
        (seen,) = put(pack, "a", probe)["nearby"]
        assert seen["distance"] == pytest.approx(metres(probe, middle), abs=1.5)


def test_who_hides_leaves_and_still_sees(pack, ears):
    put(pack, "a")
    put(pack, "b", north(10))
    ears.heard()
    pack.set_privacy(userId="b", visible="nobody")
    assert ("a", "b") in told(ears, "nearby:leave")
    assert ids(pack.nearby(userId="a")) == []
    assert ids(pack.nearby(userId="b")) == ["a"]


def test_followers_are_whom_the_listener_names(pack, ears):
    pack.set_privacy(userId="b", visible="followers")
    put(pack, "a")
    put(pack, "s", north(5))
    put(pack, "b", north(10))
    ears.heard()
    pack.allow_follower(userId="b", followerId="a")
    pack.relay()
    assert told(ears) == [("a", "b")]
    assert ids(pack.nearby(userId="a")) == ["s", "b"] and ids(pack.nearby(userId="s")) == ["a"]
    assert ids(put(pack, "s", north(6))) == ["a"]
    ears.heard()
    pack.drop_follower(userId="b", followerId="a")
    pack.relay()
    assert told(ears, "nearby:leave") == [("a", "b")]
    assert ids(pack.nearby(userId="a")) == ["s"]


def test_strangers_who_let_a_listener_follow_do_not_keep_a_friend_out(db, pack):
    """Anybody may name anybody as a follower; 200 accounts filled the list of whom the listener may see."""
    db.sadd("user:a#sees", *(f"stranger-{number}" for number in range(200)))
    pack.set_privacy(userId="friend", visible="followers")
    put(pack, "friend", north(50))
    pack.allow_follower(userId="friend", followerId="a")
    pack.relay()
    assert ids(put(pack, "a")) == ["friend"]


def test_the_blocked_see_nothing_and_are_not_seen(db, pack, ears):
    put(pack, "a")
    put(pack, "b", north(10))
    ears.heard()
    block(db, pack, "a", "b")
    assert sorted(told(ears)) == [("a", "b"), ("b", "a")]
    for user, place in (("a", north(100)), ("b", north(50))):
        assert ids(put(pack, user, place)) == []
        pack.set_track(userId=user, **TRACK)
        assert ids(pack.nearby(userId=user)) == []
    assert ears.heard() == []


def test_the_muted_are_not_shown_and_do_not_notice(db, pack, ears):
    put(pack, "a")
    put(pack, "b", north(10))
    ears.heard()
    mute(db, pack, "a", "b")
    assert told(ears) == [("a", "b")]
    assert ids(put(pack, "a", north(100))) == [] and ids(pack.nearby(userId="a")) == []
    assert told(ears) == [("b", "a")]
    assert ids(put(pack, "b", north(200))) == ["a"] and ids(pack.nearby(userId="b")) == ["a"]
    pack.set_track(userId="b", **TRACK)
    put(pack, "a", north(150))
    assert told(ears) == [("b", "a")]
    db.srem("user:a#mutes", "b")
    db.srem("user:b#muters", "a")
    pack.mutes_refresh(userId="a")
    pack.relay()
    assert told(ears, "nearby:enter") == [("a", "b")]


def test_a_note_of_who_mutes_that_comes_late_ends_what_was_told_before(db, pack, ears):
    """The muted one moves between the mute and its note: it enters no picture, or leaves it when the note comes."""
    put(pack, "a")
    db.sadd("user:a#mutes", "b")
    put(pack, "b", north(10))
    assert told(ears, "nearby:enter") == [("a", "b")]
    db.sadd("user:b#muters", "a")
    pack.muters_refresh(userId="b")
    pack.relay()
    assert told(ears) == [("a", "b")]


def test_a_stalker_who_teleports_hears_nothing_of_a_listener_that_blocks_him(db, pack, ears):
    block(db, pack, "a", "stalker")
    for step in range(20):
        put(pack, "a", north(step * 30))
        assert ids(put(pack, "stalker", north(step * 30 + 5))) == []
    assert [one for one in ears.heard() if one[0] == "stalker"] == []


@pytest.mark.parametrize("visible", ["everyone", "nobody"])
def test_a_user_whom_thousands_block_is_blocked_further(db, pack, ears, visible):
    """The notes at the home of who is blocked are full, and further blocks hid nothing: a stalker needed 10,000
    accounts that block him. The listener's own blocks are looked at as well, of who is shown and of who would see."""
    db.sadd("user:stalker#blockers", *(f"account-{number}" for number in range(10_000)))
    put(pack, "stalker", north(30))
    pack.set_privacy(userId="ann", visible=visible)
    put(pack, "ann")
    Commands(db, LUA / "people").blocked_by(role="worker", userId="stalker", byId="ann", blocked=True, version=1)
    db.sadd("user:ann#blocks", "stalker", "another")
    assert not db.sismember("user:stalker#blockers", "ann")
    pack.blocks_refresh(userId="ann")
    pack.relay()
    ears.heard()
    for step in range(1, 4):
        for user in ("stalker", "ann"):
            assert ids(put(pack, user, north(30 * step))) == [] and ids(pack.nearby(userId=user)) == []
            pack.set_track(userId=user, **TRACK)
        pack.relay()
    assert [one for one in ears.heard() if one[1] != "nearby:leave"] == []
    # Who stays in the cell while its blocks change, and who goes, leaves nothing that is not so.
    put(pack, "far", north(600))
    db.srem("user:ann#blocks", "stalker")
    pack.blocks_refresh(userId="ann")
    pack.relay()
    assert ids(put(pack, "ann", north(50))) == ["stalker", "far"]
    assert "stalker" in ids(put(pack, "far", north(600)))
    pack.delete_location(userId="ann")
    pack.relay()
    assert [key for key in db.keys("cell:*#apart")] == []


def test_a_user_whom_thousands_mute_is_muted_further(db, pack, ears):
    db.sadd("user:bore#muters", *(f"account-{number}" for number in range(10_000)))
    db.sadd("user:ann#mutes", "bore")
    put(pack, "ann")
    put(pack, "bore", north(30))
    assert ears.heard() == []
    assert ids(put(pack, "ann", north(5))) == [] and ids(pack.nearby(userId="bore")) == ["ann"]


# Erasure


def test_a_deleted_place_is_gone_from_every_key(db, pack, ears):
    put(pack, "a", (52.5, 12.65624))
    pack.set_location(userId="gone", latitude=52.5, longitude=12.6563, city="Nauen")
    pack.relay()
    ears.heard()
    assert pack.delete_location(userId="gone") == {"deleted": True}
    pack.relay()
    assert told(ears) == [("a", "gone")]
    assert "gone" not in texts_of(db)
    assert pack.delete_location(userId="gone") == {"deleted": False}


def test_erasing_a_listener_leaves_nothing_of_it(db, pack, ears):
    put(pack, "a")
    pack.set_listener(userId="gone", displayName="gone")
    pack.set_privacy(userId="gone", visible="followers", rounding=100)
    pack.set_track(userId="gone", **TRACK)
    pack.allow_follower(userId="gone", followerId="a")
    pack.allow_follower(userId="a", followerId="gone")
    put(pack, "gone", north(10))
    pack.relay()
    ears.heard()
    assert pack.export_nearby(userId="gone", role="worker")["followers"] == ["a"]
    pack.erase_nearby(userId="gone", role="worker")
    pack.relay()
    assert told(ears) == [("a", "gone")]
    assert "gone" not in texts_of(db)


def test_no_event_of_a_place_is_kept_in_a_log_or_waits_in_the_outbox(db, pack):
    put(pack, "a")
    put(pack, "b", north(10))
    put(pack, "b", (52.5, 12.65624))
    assert [entry for entry in pack.outbox()] and all(
        set(arguments) <= {"cell", "userId"} for _, arguments in pack.outbox())
    assert not [name for name in db.scan_iter("*") if name.endswith((b"#log", b"#meta")) or b"#done" in name]


def test_nothing_is_left_of_a_ghost(db, pack, ears):
    """Who vanishes without a word is gone from all keys when the time is over."""
    for number in range(20):
        put(pack, f"u{number}", north(number * 10))
    pack.relay()
    ears.heard()
    pack.now_ms += 600_000
    while not pack.listeners_refresh(cell=geohash(*HERE))["idle"]:
        pass
    # How many slots there were is kept for a day, so that none is given twice.
    assert {name: db.ttl(name) for name in db.scan_iter("cell:*") if not name.endswith(b"#fence")} == {
        f"cell:{geohash(*HERE)}#slots".encode(): pytest.approx(86_400, abs=60)}
    assert db.hkeys(f"cell:{geohash(*HERE)}#slots") == [b""]
    # The listeners' own keys end by themselves.
    assert all(0 < db.pttl(name) <= 600_000 for name in db.scan_iter("user:*#place"))


def test_keys_of_another_shape_do_not_keep_a_listener_from_moving(db, pack):
    """Others may write into Redis; what they wrote is not believed."""
    put(pack, "a")
    cell = geohash(*HERE)
    for kind in ("cards", "pictures", "watchers"):
        for text in ("", "x", "2000", "9999abc", "nan nan nan nan e 1 {}", "2000" + "\x00" * 10, "2000zzzzz"):
            db.hset(f"cell:{cell}#{kind}", mapping={slot: text for slot in db.hkeys(f"cell:{cell}#names")})
            put(pack, "a", north(1))
            put(pack, "b", north(2))
    db.hset("user:a#place", mapping={"latitude": "inf", "longitude": "0x10"})
    assert "nearby" in put(pack, "a")


# What it costs


def test_a_step_tells_no_more_others_in_a_crowd_than_in_a_village(db, pack, ears, rng):
    """The denser a city, the more of both pictures a step exchanges; 27 were told in one and 16 in the other."""
    told_by = []
    for metres_each in (300, 100, 30):
        db.flushall()
        count, step = 150, 100 / DEGREE_METRES
        wide = metres_each * math.sqrt(count) / DEGREE_METRES / 2
        places = [(HERE[0] + rng.uniform(-wide, wide), HERE[1] + rng.uniform(-wide, wide) * 1.64) for _ in range(count)]
        for number, place in enumerate(places):
            put(pack, f"u{number}", place)
        ears.heard()
        walkers = rng.sample(range(count), 60)
        for number in walkers:
            angle = rng.uniform(0, 2 * math.pi)
            put(pack, f"u{number}", (places[number][0] + step * math.sin(angle),
                                     places[number][1] + step * 1.64 * math.cos(angle)))
        told_by.append(len(ears.heard()) / len(walkers))
    assert max(told_by) < 1.1 * told_by[0], told_by


def test_who_may_not_see_the_nearest_is_shown_those_behind_them(db, pack):
    """The nearest were looked at and no others, so whoever had muted many was shown a few, as if there were no more."""
    for number in range(60):
        put(pack, f"u{number:02}", north(12 * (number + 1)))
    db.sadd("user:me#mutes", *(f"u{number:02}" for number in range(20)))
    assert ids(put(pack, "me")) == [f"u{number:02}" for number in range(20, 30)]


def test_a_move_costs_as_much_among_many_as_among_few(db, pack, ears, rng):
    """The medians of what Redis counts for moves in a square kilometre with 250 listeners, and with 1,500."""
    places, medians = [], []
    for count in (250, 1_500):
        while len(places) < count:
            places.append((HERE[0] + rng.uniform(-0.0045, 0.0045), HERE[1] + rng.uniform(-0.0074, 0.0074)))
            put(pack, f"u{len(places) - 1}", places[-1])
            ears.heard()
        spent = []
        for _ in range(80):
            number = rng.randrange(count)
            db.config_resetstat()
            put(pack, f"u{number}", (places[number][0] + rng.uniform(-0.001, 0.001), places[number][1]))
            spent.append(db.info("commandstats")["cmdstat_evalsha"]["usec"])
            assert len(ears.heard()) <= 48 + 24 + 13
        medians.append(statistics.median(spent))
    assert medians[1] < 2.5 * medians[0], medians
