"""Listening sessions: every rule of QueueUp's table."""

import json
import uuid

import pytest

from Fixtures.scripts.command_scripts import Failed
from Fixtures.scripts.listening_scripts import DAY_MS, START_MS, TRACK, Sessions, refused


@pytest.fixture
def sessions(db):
    return Sessions(db)


# One rule each


def test_a_session_is_answered_in_the_apps_shape(sessions):
    answer = sessions.create("party", "ann", "user Ann")
    host = {"id": "ann", "username": "Ann", "is_anonymous": False}
    id = answer["session"]["id"]
    assert str(uuid.UUID(id)) == id and uuid.UUID(id).version == 4
    assert answer == {
        "session": {"id": id, "join_code": "party", "created_at": "2036-11-17T20:03:20.130Z", "host": host},
        "queue": [], "my_votes": {}, "skip_request_count": 0, "participant_count": 1, "user_requested_skip": False,
        "last_skip_was_crowdsourced": False}
    assert sessions.current("ann") == answer
    song = sessions.add("ann")
    assert str(uuid.UUID(song["id"])) == song["id"] and uuid.UUID(song["id"]).version == 4
    assert song == {
        "id": song["id"], "status": "playing", "added_at": song["added_at"], "votes": 0, "added_by": host,
        "song": {"id": TRACK["trackId"], "isrc": "GBARL9300135", "name": "Never", "artists": "Rick",
                 "album": "Whenever", "duration_ms": 213_000, "image_url": "https://i/1", "source": "spotify"}}
    assert sessions.current("ann")["current_song"] == song
    second = sessions.add("ann", artists='["A","B"]', isrc=None, imageUrl=None, source="apple_music")
    assert second["status"] == "queued" and second["song"]["artists"] == ["A", "B"]
    assert second["song"]["isrc"] is None and second["song"]["source"] == "apple_music"
    assert sessions.current("ann")["queue"] == [second]


def test_a_code_is_its_sessions_until_the_session_ends(sessions, db):
    sessions.create("party", "ann")
    assert refused("code_taken", sessions.create, "party", "bob") == (
        "This join code is already in use. Please choose another.")
    assert refused("not_found", sessions.join, "other", "bob") == "Session not found"
    for code in ("abc", "x" * 21):
        assert "4 to 20" in refused("bad_request", sessions.create, code, "bob")
    assert "Guests" in refused("forbidden", sessions.create, "fresh", "gus", "guest")
    # Every key of a session ends with it, or before; nothing stays for ever.
    sessions.join("party", "bob")
    songs = [sessions.add("ann")["id"] for _ in range(3)]
    sessions.vote("bob", songs[1], 1)
    sessions.vote("bob", songs[0], -1)
    sessions.call("request_skip", "bob")
    sessions.call("song_finished", "ann")
    sessions.call("request_skip", "bob")
    sessions.call("say", "bob", text="hi")
    sessions.call("make_ticket", "ann")
    db.delete("#outbox")
    forever = [key for key in db.keys("*") if db.pttl(key) < 0 and not key.endswith((b"#log", b"#meta"))]
    assert forever == []
    assert max(db.pexpiretime(key) for key in db.keys("session:*")) <= sessions.commands.now_ms + DAY_MS


def test_a_session_that_is_over_is_none(sessions, db):
    """Redis's clock and the gateway's may differ: a session ends by the gateway's, too."""
    sessions.create("party", "ann")
    sessions.commands.now_ms += DAY_MS
    assert refused("no_session", sessions.current, "ann") == "No active session"
    assert refused("not_found", sessions.join, "party", "bob") == "Session not found"


def test_an_empty_session_has_an_hour_left(sessions, db):
    """A code was taken for a day after the party, also for its host."""
    id = sessions.create("party", "ann")["session"]["id"]
    made = START_MS + 7
    songs = [sessions.add("ann")["id"] for _ in range(3)]
    sessions.call("song_finished", "ann")
    sessions.call("say", "ann", text="hi")
    ticket = sessions.call("make_ticket", "ann")["ticket"]
    sessions.leave("ann")
    own = (b"#session", b"#people", b"#members", b"#songs", b"#order", b"#adders", b"#history", b"#chat")
    keys = [b"joincode:party", *(key for key in db.keys("session:*") if key.endswith(own))]
    over = sessions.commands.now_ms + 3_600_000
    assert len(keys) >= 7 and all(db.pexpiretime(key) <= over for key in keys)
    assert "no longer valid" in refused(
        "not_found", sessions.call, "scan_ticket", "bob", sessionId=id, ticket=ticket)
    answer = sessions.join("party", "bob")
    assert answer["participant_count"] == 1 and answer["current_song"]["id"] == songs[1]
    assert {db.pexpiretime(key) for key in keys} == {made + DAY_MS}
    sessions.leave("bob")
    sessions.commands.now_ms += 3_600_000
    assert refused("not_found", sessions.join, "party", "bob") == "Session not found"
    # A late word about a session changes nothing for the one that has its code now.
    sessions.create("late", "eve")
    late = db.hget("user:eve#listening", "session")
    sessions.call("leave_listening", "eve")
    db.set("joincode:late", "another", pxat=made + 2 * DAY_MS)
    sessions.relay()
    assert db.pexpiretime("joincode:late") == made + 2 * DAY_MS and db.exists(f"session:{late.decode()}#session")


def test_only_who_takes_part_does_anything(sessions):
    id = sessions.create("party", "ann")["session"]["id"]
    song = sessions.add("ann")["id"]
    nothing = "No active session"
    assert refused("no_session", sessions.current, "eve") == nothing
    assert refused("no_session", sessions.add, "eve") == "User has no active session"
    for name, arguments in (("request_skip", {}), ("song_finished", {}), ("control_listening", {"skip": True}),
                            ("react", {"reaction": "x"}), ("say", {"text": "x"}), ("listening_chat", {}),
                            ("make_ticket", {})):
        assert refused("no_session", sessions.call, name, "eve", **arguments) == nothing
    assert refused("not_found", sessions.vote, "eve", song, 1) == "Song not found in your session"
    assert refused("not_found", sessions.call, "listening_history", "eve", sessionId=id) == "Session not found"
    # The user's own note of a session is no right to it.
    sessions.db.hset("user:eve#listening", mapping={"session": id, "tag": "abc", "code": "party"})
    assert refused("no_session", sessions.current, "eve") == nothing
    assert refused("not_found", sessions.vote, "eve", song, 1) == "Song not found in your session"
    # Nor does a session of one's own lead to a song of another.
    sessions.create("mine", "eve")
    assert refused("not_found", sessions.vote, "eve", song, 1) == "Song not found in your session"
    assert sessions.current("ann")["current_song"]["votes"] == 0


def test_the_host_alone_controls(sessions):
    sessions.create("party", "ann")
    sessions.join("party", "bob")
    sessions.add("ann")
    for name, arguments in (("control_listening", {"isLocked": True}), ("song_finished", {})):
        assert refused("forbidden", sessions.call, name, "bob", **arguments) == "You are not the host of this session"
    sessions.call("control_listening", "ann", isLocked=True)
    assert refused("locked", sessions.join, "party", "eve") == "This session is locked"
    assert sessions.join("party", "bob")["participant_count"] == 2, "who takes part already is not locked out"
    sessions.call("control_listening", "ann", isLocked=False)
    assert sessions.join("party", "eve")["participant_count"] == 3
    # The host's leaving ends nothing, and the host comes back as the host.
    sessions.leave("ann")
    assert sessions.current("bob")["participant_count"] == 2
    assert sessions.current("bob")["session"]["host"]["id"] == "ann"
    sessions.join("party", "ann")
    sessions.call("control_listening", "ann", skip=True)
    answer = sessions.current("bob")
    assert "current_song" not in answer and answer["last_skip_was_crowdsourced"] is False


def test_votes_are_ballots(sessions):
    id = sessions.create("party", "ann")["session"]["id"]
    sessions.join("party", "bob")
    playing, first, second = (sessions.add("ann")["id"] for _ in range(3))
    since = len(sessions.heard(id))
    for user, song, value, total in (("ann", second, 1, 1), ("bob", second, 1, 2), ("bob", second, 1, 2),
                                     ("bob", second, -1, 0), ("bob", first, 1, 1), ("bob", playing, -1, -1)):
        assert sessions.vote(user, song, value) == {"ok": True, "total_votes": total}
    assert [data["total_votes"] for _, data in sessions.heard(id, since)] == [1, 2, 0, 1, -1]
    answer = sessions.current("bob")
    assert answer["my_votes"] == {first: 1, second: -1, playing: -1} and answer["current_song"]["votes"] == -1
    assert [(song["id"], song["votes"]) for song in answer["queue"]] == [(first, 1), (second, 0)]
    assert sessions.call("unvote_song", "bob", songId=first) == {"ok": True, "total_votes": 0}
    assert sessions.call("unvote_song", "bob", songId=first) == {"ok": True, "total_votes": 0}
    assert sessions.vote("bob", playing.upper(), -1)["total_votes"] == -1, "UUIDs may come in upper case"
    assert "up or down" in refused("bad_request", sessions.vote, "bob", first, 0)
    sessions.call("song_finished", "ann")
    assert refused("not_found", sessions.vote, "bob", playing, 1) == "Song not found in your session"
    assert sessions.current("ann")["current_song"]["votes"] == 0, "the votes of a song go with it"


def test_more_than_half_skip(sessions):
    id = sessions.create("party", "u0")["session"]["id"]
    for number in range(1, 4):
        sessions.join("party", f"u{number}")
    songs = [sessions.add("u0")["id"] for _ in range(3)]
    asked = sessions.call("request_skip", "u1")
    assert asked == {"ok": True, "skip_request_count": 1, "participant_count": 4, "skipped": False}
    assert sessions.call("request_skip", "u1") == asked, "repeated taps count once"
    assert sessions.call("request_skip", "u2")["skipped"] is False, "half is not more than half"
    assert sessions.current("u1")["user_requested_skip"] is True
    assert sessions.current("u0")["user_requested_skip"] is False
    assert sessions.call("request_skip", "u3") == {
        "ok": True, "skip_request_count": 0, "participant_count": 4, "skipped": True}
    answer = sessions.current("u1")
    assert answer["current_song"]["id"] == songs[1] and answer["last_skip_was_crowdsourced"] is True
    assert (answer["skip_request_count"], answer["user_requested_skip"]) == (0, False)
    # Who leaves asks no more, and the others may be more than half then.
    sessions.call("request_skip", "u1")
    sessions.call("request_skip", "u2")
    sessions.leave("u1")
    assert sessions.current("u0")["skip_request_count"] == 1
    sessions.leave("u3")
    assert sessions.current("u0")["current_song"]["id"] == songs[1], "one of two is not more than half"
    sessions.leave("u0")
    answer = sessions.current("u2")
    assert answer["current_song"]["id"] == songs[2] and answer["last_skip_was_crowdsourced"] is True
    assert [event for event, _ in sessions.heard(id)].count("now_playing.updated") == 3
    # Nothing plays, nothing to ask for.
    sessions.call("request_skip", "u2")
    assert sessions.call("request_skip", "u2") == {
        "ok": True, "skip_request_count": 0, "participant_count": 1, "skipped": False}


def test_a_song_that_is_over_is_history(sessions):
    id = sessions.create("party", "ann")["session"]["id"]
    songs = [sessions.add("ann")["id"] for _ in range(25)]
    sessions.vote("ann", songs[0], 1)
    sessions.call("song_finished", "ann", songId="another")
    assert sessions.current("ann")["current_song"]["id"] == songs[0], "a late word about another song"
    sessions.call("song_finished", "ann", songId=songs[0].upper())
    sessions.call("control_listening", "ann", skip=True)
    page = sessions.call("listening_history", "ann", sessionId=id)
    assert [(song["id"], song["status"], song["votes"]) for song in page["songs"]] == [
        (songs[1], "skipped", 0), (songs[0], "played", 1)] and page["next"] is None
    for _ in range(23):
        sessions.call("song_finished", "ann")
    found, before = [], None
    while True:
        page = sessions.call("listening_history", "ann", sessionId=id, before=before, limit=10)
        found += [song["id"] for song in page["songs"]]
        before = page["next"]
        if before is None:
            break
    assert found == songs[::-1]


def test_a_queue_is_bounded(sessions):
    sessions.create("party", "ann")
    sessions.add("ann")
    for _ in range(25):
        sessions.add("ann")
    assert "25 songs" in refused("too_many", sessions.add, "ann")
    for number, count in ((1, 25), (2, 25), (3, 5)):
        sessions.join("party", f"u{number}")
        for _ in range(count):
            sessions.add(f"u{number}")
    sessions.join("party", "u4")
    assert "80 songs" in refused("queue_full", sessions.add, "u4")
    sessions.call("song_finished", "ann")
    assert sessions.add("ann")["status"] == "queued", "the adder's next song is counted by what waits"


def test_a_song_is_what_the_app_sends(sessions):
    sessions.create("party", "u4")
    assert "too long" in refused("too_large", sessions.call, "add_song", "u4", **TRACK | {
        "title": "n" * 300, "album": "ü" * 300, "imageUrl": "i" * 600, "artists": json.dumps(["a" * 480, "b" * 480])})
    for artists in ("7", "{}", '{"a":1}', "[1]", '[["a"]]', "null", "true", '["a",null]', json.dumps(["a"] * 21)):
        assert "artists" in refused("bad_request", sessions.add, "u4", artists=artists)


def test_a_queue_is_bounded_in_bytes(sessions):
    """An event tells the whole queue, and more than 64 KiB of it would reach nobody."""
    sessions.create("party", "u0")
    large = {"title": "n" * 300, "album": "a" * 300, "imageUrl": "i" * 500, "artists": json.dumps("x" * 500)}
    sessions.add("u0", **large)
    count = 0
    for number in range(5):
        sessions.join("party", f"u{number}")
        try:
            for _ in range(20):
                sessions.add(f"u{number}", **large)
                count += 1
        except Failed as failed:
            assert failed.code == "queue_full" and "queue is full" in failed.message
            break
    assert 15 < count < 60
    size = len(json.dumps(sessions.current("u0")["queue"], separators=(",", ":")))
    assert 38_000 < size < 50_000
    # What plays or is skipped gives its bytes back.
    sessions.call("control_listening", "u0", skip=True)
    sessions.add("u1", **large)


def test_a_session_takes_500(sessions, db):
    id = sessions.create("party", "ann")["session"]["id"]
    db.hset(f"session:{id}#people", mapping={f"u{number}": "abc - " for number in range(499)})
    assert refused("full", sessions.join, "party", "late") == "This session is full"


def test_a_stay_that_ended_ends_no_later_one(sessions):
    """The outbox may be late: who has come back meanwhile stays."""
    first = sessions.create("party", "ann")["session"]["id"]
    sessions.join("party", "bob")
    sessions.call("leave_listening", "bob")
    refused("no_session", sessions.current, "bob")
    sessions.call("join_listening", "bob", joinCode="party")
    sessions.relay()
    assert sessions.current("bob")["participant_count"] == 2
    # To and fro before any of it is passed on.
    sessions.create("other", "eve")
    for code in ("other", "party", "other", "party"):
        sessions.call("join_listening", "bob", joinCode=code)
    sessions.relay()
    assert sessions.current("bob")["session"]["id"] == first
    assert (sessions.current("ann")["participant_count"], sessions.current("eve")["participant_count"]) == (2, 1)
    assert {user.decode() for user in sessions.db.smembers(f"session:{first}#members")} == {"ann", "bob"}


def test_reactions_and_chat(sessions):
    id = sessions.create("party", "ann", "user Ann")["session"]["id"]
    since = len(sessions.heard(id))
    sessions.call("react", "ann", reaction="🔥")
    message = sessions.call("say", "ann", text="what a song")
    ann = {"id": "ann", "username": "Ann", "is_anonymous": False}
    assert message == {"id": message["id"], "text": "what a song", "user": ann, "sent_at": message["sent_at"]}
    assert sessions.heard(id, since)[1] == ("chat.message", {"session_id": id, "message": message})
    assert sessions.heard(id, since)[0][1]["user"] == ann
    for number in range(120):
        sessions.call("say", "ann", text=f"{number} " + "x" * (number * 4))
    told = sessions.call("listening_chat", "ann")["messages"]
    assert 40 < len(told) <= 100 and told[-1]["text"].startswith("119 ")
    assert [int(one["text"].split(" ")[0]) for one in told] == list(range(120 - len(told), 120))
    assert sessions.db.llen(f"session:{id}#chat") == 100


def test_tickets_let_in(sessions):
    id = sessions.create("party", "ann")["session"]["id"]
    ticket = sessions.call("make_ticket", "ann")
    assert (ticket["session_id"], ticket["join_code"]) == (id, "party")
    for wrong in ("x", ticket["ticket"][:-1] + "g"):
        message = refused("not_found", sessions.call, "scan_ticket", "bob", sessionId=id, ticket=wrong)
        assert message == "This code is no longer valid"
    assert sessions.call("scan_ticket", "bob", sessionId=id.upper(), ticket=ticket["ticket"])["participant_count"] == 2
    # While it is locked only the host invites, and what the host shows opens.
    sessions.call("control_listening", "ann", isLocked=True)
    assert refused("forbidden", sessions.call, "make_ticket", "bob") == "This session is locked"
    ticket = sessions.call("make_ticket", "ann")["ticket"]
    assert sessions.call("scan_ticket", "eve", sessionId=id, ticket=ticket)["participant_count"] == 3
    sessions.commands.now_ms += 900_000
    refused("not_found", sessions.call, "scan_ticket", "joe", sessionId=id, ticket=ticket)
    for _ in range(50):
        sessions.call("make_ticket", "ann")
    refused("too_many", sessions.call, "make_ticket", "ann")
    sessions.commands.now_ms += 900_000
    sessions.call("make_ticket", "ann")
    assert sessions.db.hlen(f"session:{id}#tickets") == 1


def test_an_erased_listener_leaves_no_trace(sessions, db):
    """The name is nowhere in Redis but in logs that end by themselves, and totals stay those of the ballots."""
    id = sessions.create("party", "ann-secret", "user Ann")["session"]["id"]
    sessions.join("party", "bob", "user Bob")
    songs = [sessions.add(user)["id"] for user in ("ann-secret", "bob", "ann-secret", "bob")]
    for song in songs:
        sessions.vote("ann-secret", song, 1)
    sessions.vote("bob", songs[3], 1)
    sessions.call("say", "ann-secret", text="hi")
    sessions.call("say", "bob", text="hello")
    sessions.call("song_finished", "ann-secret")
    assert sessions.call("export_listener", "", "service", userId="ann-secret") == {
        "session": id, "sessions": [id], "past": [f"{id} party"]}
    sessions.call("erase_listener", "", "service", userId="ann-secret")
    sessions.relay()
    answer = sessions.current("bob")
    totals = {song["id"]: song["votes"] for song in [answer["current_song"], *answer["queue"]]}
    assert totals == {songs[1]: 0, songs[2]: 0, songs[3]: 1} and answer["participant_count"] == 1
    assert [one["text"] for one in sessions.call("listening_chat", "bob")["messages"]] == ["hello"]
    for key in db.keys("*"):
        assert b"ann-secret" not in key
        if not key.endswith((b"#log", b"#removed")):  # the latter is gone after a minute
            assert b"ann-secret" not in db.dump(key) and b"Ann" not in db.dump(key), key


def test_a_sessions_data_of_others_break_nothing(sessions, db):
    """Whoever else writes into Redis: no error, no song that is none."""
    id = sessions.create("party", "ann")["session"]["id"]
    songs = [sessions.add("ann")["id"] for _ in range(5)]
    key = f"session:{id}#songs"
    for song, text in zip(songs, ("{", '{"id":"x"}', "[]", '{"id":"%s","votes":9}' % songs[3], None), strict=True):
        if text is not None:
            db.hset(key, song, text)
    answer = sessions.current("ann")
    assert "current_song" not in answer and [song["id"] for song in answer["queue"]] == [songs[4]]
    db.hset(f"session:{id}#session", "votes", "nan")
    db.hset(f"session:{id}#session", "bytes", "1e9")
    sessions.call("song_finished", "ann")
    assert sessions.current("ann")["current_song"]["id"] == songs[4]
    assert sessions.call("listening_history", "ann", sessionId=id)["songs"] == []
