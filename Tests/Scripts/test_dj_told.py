"""DJ mode as the app reads it: who voted, and what a track is."""

import json

import pytest

from Fixtures.scripts.dj_model import SHOP, iso, state
from Fixtures.scripts.dj_party import TOPIC, add, failure, party, standing, vote  # noqa: F401 a fixture among them
from Fixtures.scripts.lua_scripts import NOW_MS

# Who voted


@pytest.fixture
def named(commands, db):
    """A running session that names its voters; ann, bob and cas are there."""
    db.zadd(f"shop:{SHOP}#presence", {user: NOW_MS + 90_000 for user in ("ann", "bob", "cas")})
    commands.start_session(shopId=SHOP, random="a" * 32, voters=True)
    return commands


def votes(item):
    return tuple(item[name] for name in ("upvotes", "downvotes", "upvoteCount", "downvoteCount", "score"))


def test_the_state_names_the_voters_where_the_shop_says_so(named, scripts, db):
    """The app finds its own vote in the lists `upvotes` and `downvotes` of the state, which were counts."""
    add(named, "t1")
    vote(named, "t1", "down", "bob")
    vote(named, "t1", "up", "cas")
    told = state(scripts)["queue"][0]
    assert votes(told) == (["ann", "cas"], ["bob"], 2, 1, 1)
    assert named.dj(shopId=SHOP, role="anonymous")["queue"] == [told]
    vote(named, "t1", "none", "ann")
    assert votes(state(scripts)["queue"][0]) == (["cas"], ["bob"], 1, 1, 0)
    # Events have counts, as the app's document has them.
    assert standing(named.log(TOPIC)[-1][1]) == (1, 1, 0, 1)
    named.remove_track(shopId=SHOP, trackId="t1")
    add(named, "t1", "bob")
    assert votes(state(scripts)["queue"][0]) == (["cas", "bob"], [], 2, 0, 2), "a track comes back with its votes"
    playing = named.next_track(shopId=SHOP)["track"]
    assert standing(playing | {"position": 0}) == (2, 0, 2, 0)
    add(named, "t1", "cas")
    assert votes(state(scripts)["queue"][0]) == (["cas"], [], 1, 0, 1), "after it was played it begins anew"
    assert 0 < db.ttl(f"{TOPIC}#voters") <= 86_400


def test_nobody_is_named_unless_the_shop_says_so(commands, scripts, db, party):
    """Who votes is at the shop, and the roster tells that to those who are there only; a state goes to everybody."""
    add(party, "t1")
    vote(party, "t1", "down", "bob")
    assert standing(state(scripts)["queue"][0]) == (1, 1, 0, 1)
    assert not db.exists(f"{TOPIC}#voters")
    # A session that runs does not become one that names them, and its end forgets who voted.
    party.start_session(shopId=SHOP, voters=True)
    vote(party, "t1", "up", "cas")
    assert standing(state(scripts)["queue"][0]) == (2, 1, 1, 1)
    party.stop_session(shopId=SHOP)
    party.start_session(shopId=SHOP, voters=True, random="b" * 32)
    add(party, "t1")
    party.stop_session(shopId=SHOP)
    party.start_session(shopId=SHOP, random="c" * 32)
    add(party, "t1")
    assert standing(state(scripts)["queue"][0]) == (1, 0, 1, 1)
    assert not db.exists(f"{TOPIC}#voters")


def test_a_track_names_so_many_voters(named, scripts, db):
    """A crowd cannot make a track's list, and with it each state, as long as it likes; what counts stays exact."""
    add(named, "t1")
    crowd = [f"user-{n:03}-{'x' * 100}" for n in range(60)]
    for user in crowd:
        db.zadd(f"shop:{SHOP}#presence", {user: NOW_MS + 90_000})
        vote(named, "t1", "up", user)
    up, _, count, _, score = votes(state(scripts)["queue"][0])
    assert up == ["ann", *crowd[:len(up) - 1]] and 30 < len(up) < 40 and count == score == 61
    assert db.hstrlen(f"{TOPIC}#voters", "t1") <= 4_097
    # Whoever makes room is followed by the next who votes.
    vote(named, "t1", "down", crowd[0])
    vote(named, "t1", "none", crowd[1])
    vote(named, "t1", "down", crowd[-1])
    up, down, count, against, _ = votes(state(scripts)["queue"][0])
    assert crowd[0] in down and crowd[1] not in up and crowd[-1] in down and (count, against) == (58, 2)


@pytest.mark.parametrize("text", [
    b"", b"|", b"x", b'a"b |', b"\xff |", b"ann |bob |cas ", b"a\nb |", b"]},{ |", b"x" * 9_000, b"x " * 4_500 + b"|"])
def test_garbage_among_the_voters(named, scripts, db, text):
    add(named, "t1")
    db.hset(f"{TOPIC}#voters", "t1", text)
    told = state(scripts)["queue"][0]
    assert votes(told)[:2] == ([], []) and votes(told)[2:] == (1, 0, 1) and named.dj(shopId=SHOP)["queue"] == [told]
    vote(named, "t1", "down", "bob")
    assert "bob" in votes(state(scripts)["queue"][0])[1] or text in (b'a"b |', b"\xff |", b"a\nb |", b"]},{ |")


def test_a_page_ends_before_it_names_too_many(named, scripts, db):
    for n in range(120):
        named.add_track(shopId=SHOP, trackId=f"t{n:03}", userId="ann")
    for n in range(120):
        db.hset(f"{TOPIC}#voters", f"t{n:03}", "u" * 30 + " " + "a " * 1_000 + "|")
    first = state(scripts)
    assert 4 <= len(first["queue"]) <= 8 and first["next"] == len(first["queue"])
    assert len(json.dumps(first, separators=(",", ":"))) < 60_000


# What a track is


ABOUT = {"name": "Señorita", "artists": [{"name": "A"}, {"name": "B"}], "duration_ms": 190_000, "popularity": 9,
         "album": {"name": "Al", "images": [{"url": "https://i/1", "width": 640}, {"url": "https://i/2"}]}}
FULL = {"trackName": "Señorita", "artistName": "A", "albumArt": "https://i/1", "name": "Señorita",
        "duration_ms": 190_000, "artists": [{"name": "A"}, {"name": "B"}],
        "album": {"name": "Al", "images": [{"url": "https://i/1"}]}}


def describe(commands, track="t1", about=ABOUT, **more):
    return commands.describe_track(shopId=SHOP, trackId=track, track=json.dumps(about), **more)


def test_a_track_that_was_described_is_added_by_its_id(party, scripts):
    """A phone sends only ids, and `track:added` told nothing of the track."""
    assert describe(party).items() >= FULL.items()
    item = add(party, "t1", trackName="forged", albumArt="https://evil")
    assert item.items() >= (FULL | {"id": "t1", "trackId": "t1", "addedBy": "ann", "upvotes": 1}).items()
    assert party.log(TOPIC)[-1] == ("track:added", item), "what a service says counts more than what a phone says"
    told = state(scripts)["queue"][0]
    assert told.items() >= {"trackName": "Señorita", "artistName": "A", "albumArt": "https://i/1"}.items()
    playing = party.next_track(shopId=SHOP)["track"]
    assert playing.items() >= (FULL | {"id": "t1"}).items() and state(scripts)["currentTrack"] == playing


def test_a_queued_track_is_described_where_it_stands(party, scripts):
    add(party, "t1", "bob")
    vote(party, "t1", "down", "ann")
    assert describe(party).items() >= FULL.items()
    assert party.log(TOPIC)[-1] == ("track:described", describe(party))
    told = state(scripts)["queue"][0]
    assert told.items() >= {"trackName": "Señorita", "addedBy": "bob", "addedAt": iso(NOW_MS), "downvotes": 1}.items()
    assert failure(party.remove_track, user="ann", role="user", shopId=SHOP, trackId="t1")[0] == "forbidden"


@pytest.mark.parametrize("about", [
    [], 7, {}, {"name": 7}, {"name": None}, {"name": "x" * 601}])
def test_what_describes_no_track_is_refused(party, unchanged, about):
    with unchanged():
        assert failure(describe, party, about=about, id="op-1")[0] == "bad_request"


@pytest.mark.parametrize("about, kept", [
    ({"artists": 7, "album": 7, "duration_ms": "x"}, (("", "", 0), [])),
    ({"artists": [], "album": {"images": []}, "duration_ms": -1}, (("", "", 0), [])),
    ({"artists": [7, {"name": None}], "album": {"name": 7, "images": [7]}, "duration_ms": 1e300}, (("", "", 0), 2)),
    ({"artists": [{"name": "x" * 301}], "album": {"images": [{"url": "u" * 1_001}]}, "duration_ms": 1.9},
     (("", "", 1), [])),
    ({"artists": [{"name": "a"}] * 9}, (("a", "", 0), 5)), ({"album": None, "artists": None}, (("", "", 0), []))])
def test_what_is_odd_in_a_description_is_left_out(party, about, kept):
    told = describe(party, about={"name": "n", **about})
    assert (told["artistName"], told["albumArt"], told["duration_ms"]) == kept[0]
    assert told["artists"] == kept[1] or len(told["artists"]) == kept[1]
    assert add(party, "t1").items() >= told.items()


def test_a_shop_remembers_so_many_descriptions(commands, db):
    with db.pipeline(transaction=False) as pipe:
        for n in range(1_000):
            pipe.hset(f"{TOPIC}#catalogue", f"t{n}", '{"trackName":"n"}')
            pipe.zadd(f"{TOPIC}#described", {f"t{n}": n})
        pipe.execute()
    describe(commands, "t0")
    describe(commands, "new")
    assert db.hlen(f"{TOPIC}#catalogue") == db.zcard(f"{TOPIC}#described") == 1_000
    assert db.hexists(f"{TOPIC}#catalogue", "t0") and not db.hexists(f"{TOPIC}#catalogue", "t1")
    assert 0 < db.ttl(f"{TOPIC}#catalogue") <= 2_592_000


def test_a_description_that_takes_too_much_is_refused(party, unchanged):
    with unchanged():
        about = {"name": "n" * 600, "artists": [{"name": "a" * 300}] * 5}
        assert failure(describe, party, about=about, id="a")[0] == "too_large"
    add(party, "\x01" * 128)
    with unchanged():
        about = {"name": "n" * 480, "album": {"name": "b" * 400}}
        assert failure(describe, party, "\x01" * 128, about, id="b")[0] == "too_large"


@pytest.mark.usefixtures("others_data")
@pytest.mark.parametrize("text", [
    b"", b"7", b"[]", b"{", b"\xff", b'{"trackName":7}', b'{"trackName":"n","artists":7,"albumArt":[]}',
    b'{"trackName":"n","artists":[[],7,"x"],"album":7,"duration_ms":"x"}'])
def test_garbage_in_the_catalogue(party, scripts, db, text):
    db.hset(f"{TOPIC}#catalogue", "t1", text)
    item = add(party, "t1", trackName="n")
    assert item["name"] == "n" and item["duration_ms"] == 0
    assert len(state(scripts)["queue"]) == 1
    assert party.next_track(shopId=SHOP)["track"]["trackId"] == "t1"
    assert state(scripts)["currentTrack"]["trackId"] == "t1"
