"""Listening sessions under random deeds: answers, pictures of every socket, ballots and history as in a model."""

import pytest

from Fixtures.apps.listening import Picture
from Fixtures.scripts.listening_model import Model, Song
from Fixtures.scripts.listening_scripts import Sessions, refused
from Fixtures.seeds import lives


@pytest.fixture
def sessions(db):
    return Sessions(db)


@pytest.mark.parametrize("round_", lives(4))
def test_sessions_are_those_of_the_model(sessions, rng, round_):
    """Random users do random things: answers, pictures of every socket, ballots and history as in the model."""
    model, ids, pictures, seen = Model(), {}, {}, {}
    users = [f"u{number}" for number in range(9)]
    codes = ["party", "other", "third"]

    def catch_up():
        for code, id in ids.items():
            events = sessions.heard(id)
            for event, data in events[seen[code]:]:
                assert data["session_id"] == id
                pictures[code].take(event, data)
            seen[code] = len(events)

    def enter(code, user):
        if code in model.sessions:
            answer = sessions.join(code, user)
            model.join(code, user)
        else:
            answer = sessions.create(code, user)
            model.create(code, user)
            ids[code], seen[code], pictures[code] = answer["session"]["id"], 0, Picture(answer)

    for _ in range(220):
        user = rng.choice(users)
        session = model.of(user)
        deed = rng.choices(["enter", "leave", "add", "vote", "skip", "finish"], [5, 2, 8, 14, 5, 2])[0]
        if deed == "enter" or session is None:
            enter(rng.choice(codes), user)
        elif deed == "leave":
            sessions.leave(user)
            model.leave(user)
        elif deed == "add":
            answer = sessions.add(user)
            session.add(Song(answer["id"], sessions.commands.now_ms, user))
        elif deed == "vote" and (session.queue or session.current):
            song = rng.choice([*session.queue, *([session.current] if session.current else [])])
            value = rng.choice([1, 1, -1, 0])
            song.ballots[user] = value
            answer = sessions.vote(user, song.id, value) if value else sessions.call(
                "unvote_song", user, songId=song.id)
            assert answer == {"ok": True, "total_votes": song.votes}
        elif deed == "skip":
            assert sessions.call("request_skip", user)["skipped"] is session.ask(user)
        elif deed == "finish" and session.host == user:
            sessions.call("song_finished", user)
            if session.current:
                session.advance("played")
        catch_up()
        for other in rng.sample(users, 2):
            compare(sessions, model, pictures, other)
    for code, session in model.sessions.items():
        if session.people:
            user = next(iter(session.people))
            told = sessions.call("listening_history", user, sessionId=ids[code], limit=50)["songs"]
            assert [(song["id"], song["status"]) for song in told] == session.over[::-1][:len(told)]


def compare(sessions, model, pictures, user):
    session = model.of(user)
    if session is None:
        return refused("no_session", sessions.current, user)
    answer = sessions.current(user)
    shown = [*([session.current] if session.current else []), *session.order]
    told = [*([answer["current_song"]] if "current_song" in answer else []), *answer["queue"]]
    assert [(song["id"], song["votes"]) for song in told] == [(song.id, song.votes) for song in shown]
    mine = {song.id: song.ballots[user] for song in shown if song.ballots.get(user)}
    assert answer["my_votes"] == mine
    assert (answer["participant_count"], answer["skip_request_count"], answer["user_requested_skip"]) == (
        len(session.people), len(session.skips), user in session.skips)
    assert answer["last_skip_was_crowdsourced"] is session.crowd
    assert pictures[session.code].differs_from(answer) == {}
