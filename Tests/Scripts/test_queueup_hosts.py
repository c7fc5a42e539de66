"""Who leads a listening session when the host passes it on, leaves or is away; and a user's past sessions."""

import pytest

from Fixtures.scripts.listening_scripts import DAY_MS, Sessions, refused

AWAY_MS = 300_000


@pytest.fixture
def sessions(db):
    return Sessions(db)


@pytest.fixture
def party(sessions):
    """ann's session, with bob, a guest and cat in it, in the order in which they came."""
    id = sessions.create("party", "ann", "user Ann")["session"]["id"]
    for user, role in (("gus", "guest"), ("bob", "user Bob"), ("cat", "user Cat")):
        sessions.join("party", user, role)
    return id


def host(sessions, user="cat"):
    return sessions.current(user)["session"]["host"]["id"]


def beat(sessions, *users):
    for user in users:
        sessions.commands.call("beat_listener", role="worker", userId=user)
    sessions.relay()


def refresh(sessions, id):
    sessions.commands.now_ms += 1
    answer = sessions.commands.call("host_refresh", sessionId=id, token=sessions.commands.now_ms)[0]
    sessions.relay()
    return answer


def test_the_host_passes_the_session_on(sessions, party):
    told = len(sessions.heard(party))
    assert sessions.call("control_listening", "ann", host="bob") == {"ok": True}
    sessions.relay()
    assert host(sessions) == "bob"
    (event, data), = sessions.heard(party, told)
    assert event == "session.updated" and data["host"] == {"id": "bob", "username": "Bob", "is_anonymous": False}
    assert "host" in refused("forbidden", sessions.call, "control_listening", "ann", isLocked=True)
    assert sessions.call("control_listening", "bob", isLocked=True) == {"ok": True}
    assert "guest" in refused("forbidden", sessions.call, "control_listening", "bob", host="gus")
    assert "session" in refused("not_found", sessions.call, "control_listening", "bob", host="eve")


def test_a_host_who_left_is_followed_after_some_minutes(sessions, party):
    sessions.leave("ann")
    assert host(sessions) == "ann" and refresh(sessions, party)["idle"] is False
    sessions.commands.now_ms += AWAY_MS
    refresh(sessions, party)
    assert host(sessions) == "bob", "no guest, and of the others who came first"
    assert sessions.heard(party)[-1][1]["host"]["id"] == "bob"
    sessions.join("party", "ann", "user Ann")
    assert host(sessions) == "bob"


def test_a_host_who_comes_back_in_time_stays(sessions, party):
    sessions.leave("ann")
    sessions.commands.now_ms += AWAY_MS - 10_000
    sessions.join("party", "ann", "user Ann")
    sessions.commands.now_ms += AWAY_MS - 10_000
    assert refresh(sessions, party)["idle"] is False and host(sessions) == "ann"


def test_a_host_without_a_sign_of_life_is_followed(sessions, party):
    beat(sessions, "ann", "bob", "cat")
    for _ in range(12):
        sessions.commands.now_ms += 60_000
        beat(sessions, "ann", "bob")
        assert refresh(sessions, party)["idle"] is False and host(sessions) == "ann"
    sessions.commands.now_ms += AWAY_MS
    refresh(sessions, party)
    assert host(sessions) == "bob"
    for _ in range(8):
        sessions.commands.now_ms += 60_000
        beat(sessions, "bob", "ann")
        refresh(sessions, party)
    assert host(sessions) == "bob", "the heir's signs count, and those of the former host no more"


def test_guests_lead_nobody(sessions):
    id = sessions.create("party", "ann")["session"]["id"]
    sessions.join("party", "gus", "guest")
    sessions.leave("ann")
    sessions.commands.now_ms += AWAY_MS
    assert refresh(sessions, id)["idle"] is False and host(sessions, "gus") == "ann"
    sessions.join("party", "dan")
    refresh(sessions, id)
    assert host(sessions, "gus") == "dan"


def test_a_user_finds_past_sessions(sessions, db):
    ids = [sessions.create(f"code-{number}", "ann")["session"]["id"] for number in range(3)]
    sessions.create("other", "bob")
    sessions.join("code-1", "bob")
    told = sessions.call("past_listening", "bob")["sessions"]
    assert [(one["id"], one["join_code"], one["is_current"]) for one in told] == [
        (ids[1], "code-1", True), (told[1]["id"], "other", False)]
    assert [one["join_code"] for one in sessions.call("past_listening", "ann")["sessions"]] == [
        "code-2", "code-1", "code-0"]
    sessions.commands.now_ms += 2 * DAY_MS
    assert len(sessions.call("past_listening", "ann")["sessions"]) == 3, "longer than the sessions last"
    sessions.commands.call("erase_listener", role="worker", user="ann", userId="ann")
    assert sessions.call("past_listening", "ann")["sessions"] == [] and not db.exists("user:ann#past")
