"""Listeners nearby, rule by rule: pages, crowds, cells and tracks."""

import itertools

import pytest

from Fixtures.scripts.command_scripts import Failed
from Fixtures.scripts.lua_scripts import NOW_MS
from Fixtures.scripts.nearby_model import rounded
from Fixtures.scripts.nearby_people import HERE, TRACK, crowd, ears, ids, north, pack, put, told
from Fixtures.scripts.nearby_scripts import geohash, metres, pictures_of


def test_rounding_is_one_of_three(pack):
    with pytest.raises(Failed, match="rounding must be 0, 100 or 1000"):
        pack.set_privacy(userId="u", rounding=50)


# Geography


def test_a_cell_is_the_geohash_of_three_letters_and_rounding_stays_in_it(db, pack, rng):
    for number in range(200):
        place = rng.uniform(-84.9, 84.9), rng.uniform(-180, 180)
        pack.set_privacy(userId="u", visible="everyone", rounding=rng.choice([0, 100, 1_000]))
        put(pack, "u", place)
        kept = db.hgetall("user:u#place")
        assert kept[b"cell"].decode() == geohash(*place), place
        size = {b"exact": 0, b"100": 100, b"1000": 1_000}[db.hget("user:u#listener", "rounding")]
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
    assert [db.hlen(f"cell:{geohash(*HERE)}#{kind}") for kind in ("cards", "pictures", "watchers")] == [1, 1, 0]


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
    for number in range(46):
        put(pack, f"u{number:02}", north(number + 1))
    answer = put(pack, "me")
    rest = pack.nearby(userId="me", limit=40, cursor=answer["cursor"])
    assert ids(answer) + ids(rest) == [f"u{number:02}" for number in range(46)]
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
    assert len(distances) == 6 and distances == sorted(distances)
    everyone, cursor = [], None
    while True:
        page = pack.nearby(userId="me", limit=40, **({"cursor": cursor} if cursor else {}))
        everyone += page["nearby"]
        cursor = page.get("cursor")
        if not cursor:
            break
    assert [one["id"] for one in everyone[:6]] == ids(answer)
    assert len({one["id"] for one in everyone}) == len(everyone) == 140


def test_a_pile_on_one_spot_is_answered_in_bounded_time(db, pack, ears):
    """Rounded places of a whole quarter are one place."""
    for number in range(600):
        put(pack, f"c{number:03}")
        ears.heard()
    db.config_resetstat()
    assert len(put(pack, "me")["nearby"]) == 6
    assert len(told(ears)) <= 100
    assert len(pack.nearby(userId="me", limit=40)["nearby"]) == 40
    assert db.info("commandstats")["cmdstat_geosearch"]["calls"] <= 30
