"""DJ mode: one user one vote, who may do what, the order, and what garbage in the keys does."""

import json

import pytest
import redis

from Fixtures.scripts.dj_model import NOT_PRESENT, NOT_THERE, SHOP, flat, iso, spotify, state
from Fixtures.scripts.dj_party import TOPIC, add, failure, party, standing, vote  # noqa: F401 a fixture among them
from Fixtures.scripts.lua_scripts import NOW_MS


def test_a_session_starts_once(commands, db, unchanged):
    first = commands.start_session(shopId=SHOP)
    assert first == {"shopId": SHOP, "isActive": True, "startedAt": iso(NOW_MS)}
    with unchanged():
        assert commands.start_session(shopId=SHOP, now_ms=NOW_MS + 5) == first
    assert commands.log(TOPIC) == [("session:started", {
        "shopId": SHOP, "isActive": True, "currentTrack": None, "queue": [], "startedAt": iso(NOW_MS)})]
    assert 0 < db.ttl(f"{TOPIC}#session") <= 86_400


def test_a_session_stops_once(party, db, unchanged):
    add(party, "t1")
    assert party.stop_session(shopId=SHOP) == {"shopId": SHOP, "isActive": False}
    assert party.log(TOPIC)[-1] == ("session:stopped", {
        "shopId": SHOP, "isActive": False, "currentTrack": None, "queue": [], "startedAt": None})
    with unchanged():
        assert party.stop_session(shopId=SHOP) == {"shopId": SHOP, "isActive": False}
    for facet in ("session", "tracks", "tally", "order", "voters"):
        assert not db.exists(f"{TOPIC}#{facet}")


def test_adding_answers_and_tells_the_item(party, db):
    item = add(party, "spotify:track:1", trackName="Señorita", artistName="X", albumArt="https://a/b.jpg")
    assert item == spotify({
        "trackId": "spotify:track:1", "trackName": "Señorita", "artistName": "X", "albumArt": "https://a/b.jpg",
        "addedBy": "ann", "addedAt": iso(NOW_MS), "upvotes": 1, "downvotes": 0, "score": 1, "position": 1})
    assert party.log(TOPIC)[-1] == ("track:added", item)
    assert party.my_votes(user="ann", role="user", shopId=SHOP) == {"votes": {"spotify:track:1": "up"}}
    for facet in ("session", "tracks", "tally", "order"):
        assert 0 < db.ttl(f"{TOPIC}#{facet}") <= 86_400
    assert db.ttl(f"{TOPIC}#ballots#ann") > 86_400, "a ballot outlives the session"


def test_one_user_one_vote(party, unchanged):
    add(party, "t1")
    add(party, "t2", user="bob")
    assert standing(vote(party, "t2", "up", "ann")) == (2, 0, 2, 1)
    with unchanged():
        assert standing(vote(party, "t2", "up", "ann")) == (2, 0, 2, 1)
    assert standing(vote(party, "t2", "down", "ann")) == (1, 1, 0, 2)
    assert standing(vote(party, "t2", "none", "ann")) == (1, 0, 1, 2)
    with unchanged():
        assert standing(vote(party, "t2", "none", "ann")) == (1, 0, 1, 2)
    assert standing(vote(party, "t2", "none", "bob")) == (0, 0, 0, 2)
    events = [data for name, data in party.log(TOPIC) if name == "queue:update"]
    assert [standing(data) for data in events] == [(2, 0, 2, 1), (1, 1, 0, 2), (1, 0, 1, 2), (0, 0, 0, 2)]
    assert all(set(data) == {"trackId", "upvotes", "downvotes", "score", "position"} for data in events)


def test_a_service_votes_for_a_user(party):
    add(party, "t1")
    answer = party.vote(role="service", shopId=SHOP, trackId="t1", vote="up", userId="bob")
    assert standing(answer) == (2, 0, 2, 1)


@pytest.mark.parametrize("user", ["dan", "eve"])
def test_who_is_not_there_may_not(party, db, unchanged, user):
    db.zadd(f"shop:{SHOP}#presence", {"eve": NOW_MS})  # until now, so no longer
    add(party, "t1")
    with unchanged():
        assert failure(vote, party, "t1", "up", user, id="op-1") == NOT_PRESENT
        assert failure(add, party, "t2", user, id="op-2") == NOT_THERE


def test_refusals_change_nothing(party, unchanged):
    add(party, "t1")
    with unchanged():
        assert failure(vote, party, "t2", "up", id="a")[0] == "not_found"
        assert failure(add, party, "t1", "bob", id="b") == ("conflict", "The track is queued already")
        assert failure(add, party, "t2", trackName="\U0001f3b5" * 200, albumArt="x" * 1000, id="c")[0] == "too_large"
        assert failure(party.remove_track, user="bob", role="user", shopId=SHOP, trackId="t1")[0] == "forbidden"
        assert failure(party.remove_track, shopId=SHOP, trackId="t2")[0] == "not_found"
    party.stop_session(shopId=SHOP)
    with unchanged():
        assert failure(add, party, "t2") == ("conflict", "No DJ session is active at this shop")
        assert failure(party.next_track, shopId=SHOP)[0] == "conflict"
        assert failure(vote, party, "t1", "up")[0] == "not_found"


def test_bounds(party, db, scripts, unchanged):
    for n in range(500):
        party.add_track(shopId=SHOP, trackId=f"t{n}", userId="ann", trackName="n" * 200, artistName="a" * 200,
                        albumArt="u" * 800)
    with unchanged():
        assert failure(add, party, "t500", "bob")[0] == "conflict"
    first, queue, start = state(scripts), [], 0
    assert 30 <= len(first["queue"]) <= 40 and first == party.dj(shopId=SHOP)
    while start is not None:
        page = party.dj(shopId=SHOP, **{"from": start})
        queue, start = queue + page["queue"], page["next"]
    assert [(item["trackId"], item["position"]) for item in queue] == [(f"t{n}", n + 1) for n in range(500)]
    assert party.dj(shopId=SHOP, **{"from": 500})["queue"] == []
    party.next_track(shopId=SHOP)
    db.hset(f"{TOPIC}#session", "sequence", 16_382)
    add(party, "last", "bob")
    party.next_track(shopId=SHOP)
    assert failure(add, party, "more", "bob")[1] == "The session is full: no more than 16383 tracks can be added to one"


def test_next_plays_the_first_until_none_is_left(party, scripts, unchanged):
    add(party, "t1")
    add(party, "t2")
    vote(party, "t2", "up", "bob")
    first = party.next_track(shopId=SHOP)["track"]
    assert (first["trackId"], first["score"], "position" in first) == ("t2", 2, False)
    assert party.log(TOPIC)[-1] == ("track:playing", first)
    assert state(scripts)["currentTrack"] == first and len(state(scripts)["queue"]) == 1
    assert party.next_track(shopId=SHOP)["track"]["trackId"] == "t1"
    assert party.next_track(shopId=SHOP) == {"track": None}
    assert party.log(TOPIC)[-1] == ("queue:empty", {"shopId": SHOP})
    assert state(scripts)["currentTrack"] is None
    with unchanged():
        assert party.next_track(shopId=SHOP) == {"track": None}


def test_a_page_has_at_most_100_tracks(party, scripts):
    for n in range(120):
        party.add_track(shopId=SHOP, trackId=f"t{n}", userId="ann")
    assert (len(state(scripts)["queue"]), state(scripts)["next"]) == (100, 100)
    rest = party.dj(shopId=SHOP, **{"from": 100})
    assert [item["trackId"] for item in rest["queue"]] == [f"t{n}" for n in range(100, 120)] and rest["next"] is None


def test_one_user_does_not_fill_the_queue(party, db, unchanged):
    """One user could queue all 500 tracks; and by adding and removing use up the session's numbers in an hour."""
    for n in range(20):
        add(party, f"t{n}")
    with unchanged():
        assert failure(add, party, "t20")[0] == "too_many"
    add(party, "b0", "bob")
    party.next_track(shopId=SHOP)
    party.remove_track(user="ann", role="user", shopId=SHOP, trackId="t5")
    add(party, "t20")
    add(party, "t21")
    assert failure(add, party, "t22")[0] == "too_many"
    party.add_track(shopId=SHOP, trackId="t22", userId="ann")
    for n in range(1, 4):
        party.remove_track(user="ann", role="user", shopId=SHOP, trackId=f"t{n}")
    for n in range(77):
        add(party, f"x{n}")
        party.remove_track(user="ann", role="user", shopId=SHOP, trackId=f"x{n}")
    assert failure(add, party, "y")[1] == "A user adds at most 100 new tracks to a session"
    before = db.hget(f"{TOPIC}#session", "sequence")
    for _ in range(3):
        add(party, "x0")
        party.remove_track(user="ann", role="user", shopId=SHOP, trackId="x0")
    assert db.hget(f"{TOPIC}#session", "sequence") == before == b"101"


def test_a_track_that_comes_back_has_its_votes(party):
    """Whoever took out a track and added it again wiped the votes of all others."""
    add(party, "t1")
    add(party, "t2", "bob")
    vote(party, "t1", "down", "bob")
    vote(party, "t1", "down", "cas")
    party.remove_track(user="ann", role="user", shopId=SHOP, trackId="t1")
    assert standing(add(party, "t1")) == (1, 2, -1, 2)
    assert party.my_votes(user="bob", role="user", shopId=SHOP) == {"votes": {"t1": "down", "t2": "up"}}
    party.remove_track(user="ann", role="user", shopId=SHOP, trackId="t1")
    assert standing(add(party, "t1", "cas")) == (2, 1, 1, 1), "the vote of who adds it counts as up; it is the older"
    assert standing(vote(party, "t1", "none", "bob")) == (2, 0, 2, 1)


@pytest.mark.parametrize("end", ["next_track", "restart"])
def test_a_ballot_counts_for_one_life_of_a_track(party, end):
    add(party, "t1")
    vote(party, "t1", "down", "bob")
    if end == "restart":
        party.stop_session(shopId=SHOP)
        party.start_session(shopId=SHOP, random="b" * 32)
    else:
        party.call(end, shopId=SHOP)
    add(party, "t1", "cas")
    assert party.my_votes(user="bob", role="user", shopId=SHOP) == {"votes": {}}
    assert standing(vote(party, "t1", "none", "bob")) == (1, 0, 1, 1)
    assert standing(vote(party, "t1", "down", "bob")) == (1, 1, 0, 1)
    assert standing(vote(party, "t1", "up", "ann")) == (2, 1, 1, 1)


def test_ballots_of_former_sessions_are_dropped(party, db):
    for n in range(20):
        add(party, f"t{n}")
    party.stop_session(shopId=SHOP)
    party.start_session(shopId=SHOP, random="b" * 32)
    add(party, "t0")
    assert db.hlen(f"{TOPIC}#ballots#ann") == 2


def test_who_added_or_a_service_removes(party, scripts):
    for track in ("t1", "t2"):
        add(party, track)
    assert party.remove_track(user="ann", role="user", shopId=SHOP, trackId="t1") == {"trackId": "t1"}
    assert party.log(TOPIC)[-1] == ("track:removed", {"trackId": "t1"})
    party.remove_track(role="service", shopId=SHOP, trackId="t2")
    assert state(scripts)["queue"] == []


def test_scores_beyond_any_crowd_keep_the_order(party, db):
    for track in ("t1", "t2", "t3"):
        add(party, track)
    for track, up in (("t1", 999_999_998), ("t2", 999_999_999)):
        tag, sequence, _, _ = db.hget(f"{TOPIC}#tally", track).decode().split()
        db.hset(f"{TOPIC}#tally", track, f"{tag} {sequence} {up} 0")
        db.zadd(f"{TOPIC}#order", {track: up * 16384 - int(sequence)})
    assert standing(vote(party, "t1", "up", "bob"))[2:] == (999_999_999, 1), "the same score, added earlier"


def test_state_of_nothing(commands, scripts):
    nothing = {"shopId": SHOP, "isActive": False, "currentTrack": None, "queue": [], "startedAt": None,
               "next": None}
    assert state(scripts) == nothing == commands.dj(shopId=SHOP)


@pytest.mark.parametrize("track", ["spotify:track:1", 'a"b', "a\\b", "a/b", "Señor", "%d%s", "{id}", "\x01"])
def test_any_text_names_a_track(party, scripts, track):
    item = add(party, track, trackName=track, albumArt=track)
    assert (item["trackId"], item["trackName"]) == (track, track)
    assert state(scripts)["queue"] == [flat(item)] == party.dj(shopId=SHOP)["queue"]
    assert party.my_votes(user="ann", role="user", shopId=SHOP) == {"votes": {track: "up"}}
    assert standing(vote(party, track, "down")) == (0, 1, -1, 1)
    assert party.next_track(shopId=SHOP)["track"]["trackId"] == track


def test_a_backend_may_write_a_track_in_its_own_way(party, db, scripts):
    add(party, "t1")
    db.hset(f"{TOPIC}#tracks", "t1", '{ "isrc": "X", "trackId": "t1" }')
    told = state(scripts)["queue"][0]
    assert told == {"isrc": "X", "trackId": "t1", "upvotes": 1, "downvotes": 0, "score": 1, "position": 1}


GARBAGE = [b"", b'{"trackId":"t1","trackName":"\xff","a"Z"}', b"text", b"\xff\xfe", b"{", b"[]", b"{}", b"null",
           b'{"trackId":1}', b'{"trackId":"other"}',
           b'{"trackId":"t1","score":5}', b'{"trackId":"t1"},{"a":1}', b'{"a":' * 1200 + b"1" + b"}" * 1200,
           b'{"trackId":"t1","x":"' + b"x" * 5000 + b'"}', b"{" + b'"' * 2000 + b"}"]


@pytest.mark.usefixtures("others_data")
@pytest.mark.parametrize("text", GARBAGE)
def test_garbage_among_the_tracks(party, db, scripts, text):
    add(party, "t1")
    add(party, "t2")
    db.hset(f"{TOPIC}#tracks", "t1", text)
    db.hset(f"{TOPIC}#session", "current", text)
    told = state(scripts)
    assert [(item["trackId"], item["position"]) for item in told["queue"]] == [("t2", 2)]
    assert party.dj(shopId=SHOP) == told
    assert standing(vote(party, "t1", "up", "bob")) == (2, 0, 2, 1)
    assert failure(party.remove_track, user="bob", role="user", shopId=SHOP, trackId="t1")[0] == "forbidden"
    assert party.next_track(shopId=SHOP)["track"]["trackId"] == "t1"


@pytest.mark.parametrize("tally", [b"", b"x", b"aa 1 2", b"aa 1 -1 0", b"aa 0 1 0", b"aa 1 " + b"9" * 400 + b" 0",
                                   b"aa 1 007 0", b"aa 99999999 1 0", b"\xff 1 1 1"])
def test_garbage_among_the_tallies(party, db, scripts, tally):
    add(party, "t1")
    add(party, "t2")
    db.hset(f"{TOPIC}#tally", "t1", tally)
    assert failure(vote, party, "t1", "up", "bob")[0] == "not_found"
    assert "t2" in [item["trackId"] for item in state(scripts)["queue"]]
    assert party.dj(shopId=SHOP) == state(scripts)
    party.my_votes(user="ann", role="user", shopId=SHOP)
    assert party.next_track(shopId=SHOP)["track"]["trackId"] == "t1"


def test_garbage_among_the_ballots_is_no_vote(party, db):
    add(party, "t1")
    db.hset(f"{TOPIC}#ballots#bob", mapping={"": "a" * 12, "t1": "\xff"})
    assert standing(vote(party, "t1", "up", "bob")) == (2, 0, 2, 1)


@pytest.mark.parametrize("facet", ["session", "tracks", "tally", "order", "voters", "catalogue"])
def test_other_types_are_no_state_and_no_harm(party, db, scripts, unchanged, facet):
    add(party, "t1")
    db.delete(f"{TOPIC}#{facet}")
    db.lpush(f"{TOPIC}#{facet}", "x")
    assert state(scripts)["shopId"] == SHOP
    with unchanged(), pytest.raises(redis.ResponseError, match="BADKEY"):
        add(party, "t2")


@pytest.mark.parametrize("started", ["", "-1", "x", "9" * 16, "1e3"])
def test_garbage_as_the_start(party, db, scripts, started):
    db.hset(f"{TOPIC}#session", "startedAt", started)
    assert state(scripts)["startedAt"] is None is party.dj(shopId=SHOP)["startedAt"]


@pytest.mark.parametrize("key, shop", [
    ("dj:42", "42"), ("p:dj:dj:1", "dj:1"), ("dj:{a:b}", "a:b"), ("x:dj:~.-", "~.-")])
def test_the_state_names_its_shop(scripts, key, shop):
    keys = [f"{key}#{facet}" for facet in ("log", "meta", "session", "tracks", "tally", "order", "voters")]
    assert json.loads(scripts.state("dj", keys))["shopId"] == shop
