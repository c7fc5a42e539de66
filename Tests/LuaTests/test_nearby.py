"""Listeners nearby, rule by rule: pages, crowds, cells, tracks, privacy, erasure, and what an attacker may try."""

import itertools
import json
import statistics

import pytest

from command_scripts import Failed
from lua_scripts import NOW_MS
from nearby_model import rounded
from nearby_scripts import Ears, NearbyCommands, degrees_in, geohash, metres, pictures_of, places_of, texts_of

HERE = (52.5201, 13.4051)
DEGREE_METRES = 111_226
TRACK = {"trackId": "t1", "trackName": "Song", "artist": "Band", "duration": 215_000, "isPlaying": True}


@pytest.fixture
def pack(db):
    return NearbyCommands(db)


@pytest.fixture
def ears(db):
    ears = Ears(db)
    yield ears
    ears.close()


def north(distance, place=HERE):
    """The place so many metres north of another."""
    return place[0] + distance / DEGREE_METRES, place[1]


def put(pack, user, place=HERE, **more):
    return pack.set_location(userId=user, latitude=place[0], longitude=place[1], **more)


def ids(answer):
    return [one["id"] for one in answer["nearby"]]


def test_rounding_is_one_of_three(pack):
    with pytest.raises(Failed, match="rounding must be 0, 100 or 1000"):
        pack.set_privacy(userId="u", rounding=50)


def told(ears, event=None):
    return [(user, data["id"]) for user, name, data in ears.heard() if event in (None, name)]


# Geography


def test_a_cell_is_the_geohash_of_three_letters_and_rounding_stays_in_it(db, pack, rng):
    for number in range(200):
        place = rng.uniform(-84.9, 84.9), rng.uniform(-180, 180)
        pack.set_privacy(userId="u", visible="everyone", rounding=rng.choice([0, 100, 1_000]))
        put(pack, "u", place)
        kept = db.hgetall("user:u#place")
        assert kept[b"cell"].decode() == geohash(*place), place
        size = int(db.hget("user:u#listener", "rounding"))
        there = float(kept[b"latitude"]), float(kept[b"longitude"])
        assert metres(there, rounded(place, size)) < 0.1
        assert metres(there, place) <= size * 0.8 + 0.02


def test_a_place_is_kept_where_redis_would_have_put_it(db, pack, rng):
    for number in range(50):
        place = rng.uniform(-84.9, 84.9), rng.uniform(-180, 180)
        put(pack, "u", place)
        cell = f"cell:{geohash(*place)}"
        slot = db.hget(f"{cell}#slots", "u")
        (longitude, latitude), = db.geopos(f"{cell}#shown", slot)
        db.geoadd("redis", (place[1], place[0], "u"))
        assert metres((latitude, longitude), place) < 1
        assert db.zscore("redis", "u") == pytest.approx(db.zscore(f"{cell}#shown", slot), abs=16)


def test_neighbours_over_the_border_of_a_cell_are_found_by_pages_and_hear_each_other(db, pack, ears):
    west, east = (52.5, 12.65624), (52.5, 12.6564)
    assert geohash(*west) != geohash(*east)
    put(pack, "w", west)
    pack.relay()
    assert ids(put(pack, "e", east)) == ["w"]
    pack.relay()
    assert told(ears) == [("w", "e")]
    assert ids(pack.nearby(userId="w")) == ["e"]
    far = (52.5, 12.9)
    put(pack, "f", far)
    pack.relay()
    assert ids(pack.nearby(userId="w", radius=20_000)) == ["e", "f"]


def test_who_moves_to_another_cell_is_gone_from_the_first(db, pack, ears):
    put(pack, "a")
    put(pack, "b", north(10))
    pack.relay()
    ears.heard()
    put(pack, "b", (48.1, 11.6))
    pack.relay()
    assert told(ears, "nearby:leave") == [("a", "b")]
    assert ids(pack.nearby(userId="a", radius=20_000)) == []
    assert list(db.hgetall(f"cell:{geohash(*HERE)}#names").values()) == [b"a"]
    assert [db.hlen(f"cell:{geohash(*HERE)}#{kind}") for kind in ("cards", "pictures", "watchers")] == [1, 0, 0]


# Pages


def test_pages_go_by_distance_without_holes_or_doubles(pack, rng):
    distances = rng.sample(range(1, 4_000), 90)
    for distance in distances:
        put(pack, f"u{distance}", north(distance))
    put(pack, "me")
    pages, cursor = [], None
    while True:
        page = pack.nearby(userId="me", radius=5_000, limit=20, **({"cursor": cursor} if cursor else {}))
        pages.append(ids(page))
        cursor = page.get("cursor")
        if not cursor:
            break
    assert list(itertools.chain(*pages)) == [f"u{distance}" for distance in sorted(distances)]
    assert [len(page) for page in pages] == [20, 20, 20, 20, 10]


def test_the_cursor_of_a_put_goes_on_where_its_answer_ended(pack):
    for number in range(60):
        put(pack, f"u{number:02}", north(number + 1))
    answer = put(pack, "me")
    rest = pack.nearby(userId="me", limit=40, cursor=answer["cursor"])
    assert ids(answer) + ids(rest) == [f"u{number:02}" for number in range(60)]
    assert "cursor" not in rest


def test_a_radius_is_kept(pack):
    put(pack, "near", north(90))
    put(pack, "far", north(110))
    put(pack, "me")
    assert ids(pack.nearby(userId="me", radius=100)) == ["near"]


@pytest.mark.parametrize("cursor", ["x", "1~u", "nan~u", "1.0000~", "1.0000~a b", "-1.0000~u", "1.00000~u"])
def test_a_cursor_of_ones_own_making_is_refused(pack, cursor):
    put(pack, "me")
    with pytest.raises(Failed, match="cursor must be"):
        pack.nearby(userId="me", cursor=cursor)


def test_without_a_place_there_is_no_page(pack):
    with pytest.raises(Failed, match="Send a location first"):
        pack.nearby(userId="me")


# What is told


def test_what_a_listener_is_told_as(pack, ears):
    pack.set_listener(userId="b", displayName="Bea", spotifyId="sp")
    pack.set_track(userId="b", albumName="LP", albumImageUrl="https://i/1", **TRACK)
    put(pack, "a")
    put(pack, "b", north(100), city="Berlin")
    (user, event, data), = ears.heard()
    assert (user, event) == ("a", "nearby:enter")
    assert data["id"] == "b" and data["distance"] == pytest.approx(100, abs=1)
    location = data["user"].pop("location")
    assert (location["latitude"], location["longitude"]) == pytest.approx(north(100), abs=1e-6)
    assert location["city"] == "Berlin"
    assert data["user"] == {
        "id": "b", "displayName": "Bea", "spotifyId": "sp", "lastUpdated": "2026-11-20T20:03:20.123Z", "currentTrack": {
            "id": "t1", "name": "Song", "artist": "Band", "albumName": "LP", "albumImageUrl": "https://i/1",
            "duration": 215_000, "isPlaying": True}}


def test_small_moves_are_told_when_they_add_up(pack, ears):
    put(pack, "a")
    put(pack, "b", north(100))
    ears.heard()
    put(pack, "b", north(115))
    assert told(ears) == []
    put(pack, "b", north(130))
    assert told(ears) == [("a", "b")]
    put(pack, "b", north(150))
    assert told(ears) == []


def test_a_track_is_told_to_who_sees_the_listener(pack, ears):
    put(pack, "a")
    put(pack, "b", north(100))
    put(pack, "far", north(3_000))
    ears.heard()
    pack.set_track(userId="b", **TRACK)
    (user, event, data), = ears.heard()
    assert (user, event, data["id"], data["currentTrack"]["name"]) == ("a", "nearby:track", "b", "Song")
    assert pack.nearby(userId="a")["nearby"][0]["user"]["currentTrack"]["id"] == "t1"


def test_a_track_is_a_sign_of_life(pack):
    put(pack, "a")
    put(pack, "b", north(100))
    for at, name in ((599_000, "set_track"), (1_100_000, "set_track")):
        pack.now_ms = NOW_MS + at
        pack.call(name, userId="b", **TRACK)
    put(pack, "a")
    assert ids(pack.nearby(userId="a")) == ["b"]


def test_a_place_without_a_sign_is_over_before_anything_sweeps_it(pack, ears):
    put(pack, "b", north(100))
    pack.now_ms = NOW_MS + 599_999
    assert ids(put(pack, "a")) == ["b"]
    pack.now_ms = NOW_MS + 600_000
    assert ids(put(pack, "a")) == []
    assert ids(pack.nearby(userId="a")) == []
    with pytest.raises(Failed, match="Send a location first"):
        pack.nearby(userId="b")
    ears.heard()
    assert pack.listeners_refresh(cell=geohash(*HERE)) == {"idle": False, "again_ms": NOW_MS + 1_200_000}


# Crowds


def crowd(pack, count, place, spread, rng, user="c{:05}"):
    for number in range(count):
        there = place[0] + rng.uniform(-spread, spread), place[1] + rng.uniform(-spread, spread)
        put(pack, user.format(number), there)


class Clients:
    """What the apps show: the answer of their last PUT, and the events since."""

    def __init__(self, pack, ears):
        self.pack, self.ears, self.shown = pack, ears, {}

    def put(self, user, place):
        self.shown[user] = set(ids(put(self.pack, user, place)))
        self.pack.relay()
        told = {}
        for viewer, event, data in self.ears.heard():
            picture = self.shown[viewer]
            if event == "nearby:enter":
                assert data["id"] not in picture
                picture.add(data["id"])
            elif event == "nearby:leave":
                picture.remove(data["id"])
            elif event == "nearby:move":
                assert data["id"] in picture
            told[viewer] = told.get(viewer, 0) + 1
        return told


def test_in_a_crowd_nobody_is_shown_more_than_fifty_and_nobody_who_is_not_there(db, pack, ears, rng):
    """What apps show, by answers and events, is what Redis keeps, in a crowd that walks, comes together and leaves."""
    clients = Clients(pack, ears)
    users = [f"u{number}" for number in range(160)]
    for step in range(900):
        user = rng.choice(users)
        wide = 0.0004 if step < 600 else 0.004
        clients.put(user, (HERE[0] + rng.gauss(0, wide), HERE[1] + rng.gauss(0, wide)))
        assert max(map(len, clients.shown.values())) <= 50
    kept = {viewer: shown for (_, viewer), shown in pictures_of(db).items()}
    assert kept == {viewer: shown for viewer, shown in clients.shown.items() if shown}


def test_who_comes_into_a_crowd_is_shown_the_nearest(pack, rng):
    crowd(pack, 140, HERE, 0.001, rng)
    answer = put(pack, "me")
    distances = [one["distance"] for one in answer["nearby"]]
    assert len(distances) == 20 and distances == sorted(distances)
    everyone, cursor = [], None
    while True:
        page = pack.nearby(userId="me", limit=40, **({"cursor": cursor} if cursor else {}))
        everyone += page["nearby"]
        cursor = page.get("cursor")
        if not cursor:
            break
    assert [one["id"] for one in everyone[:20]] == ids(answer)
    assert len({one["id"] for one in everyone}) == len(everyone) == 140


def test_a_pile_on_one_spot_is_answered_in_bounded_time(db, pack, ears):
    """Rounded places of a whole quarter are one place."""
    for number in range(600):
        put(pack, f"c{number:03}")
        ears.heard()
    db.config_resetstat()
    assert len(put(pack, "me")["nearby"]) == 20
    assert len(told(ears)) <= 100
    assert len(pack.nearby(userId="me", limit=40)["nearby"]) == 40
    assert db.info("commandstats")["cmdstat_geosearch"]["calls"] <= 30


# Privacy


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


def block(db, pack, user, other):
    db.sadd(f"user:{user}#blocks", other)
    db.sadd(f"user:{other}#blockers", user)
    pack.blocks_refresh(userId=user)
    pack.relay()


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


def test_a_stalker_who_teleports_hears_nothing_of_a_listener_that_blocks_him(db, pack, ears):
    block(db, pack, "a", "stalker")
    for step in range(20):
        put(pack, "a", north(step * 30))
        assert ids(put(pack, "stalker", north(step * 30 + 5))) == []
    assert [one for one in ears.heard() if one[0] == "stalker"] == []


# Erasure


def test_a_deleted_place_is_gone_from_every_key(db, pack, ears):
    put(pack, "a", (52.5, 12.65624))
    put(pack, "gone", (52.5, 12.6563), city="Nauen")
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
            assert len(ears.heard()) <= 80 + 40 + 2 * 21
        medians.append(statistics.median(spent))
    assert medians[1] < 2.5 * medians[0], medians
