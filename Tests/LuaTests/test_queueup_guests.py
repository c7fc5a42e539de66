"""Guests of QueueUp by their scripts: who comes by a ticket, until when, and who may hear."""

import pytest

from chats import Joins
from listening_scripts import DAY_MS, Sessions, refused


@pytest.fixture
def sessions(db):
    return Sessions(db)


def test_guests_come_by_a_ticket_until_there_are_enough(sessions):
    id = sessions.create("party", "ann")["session"]["id"]
    ticket = sessions.call("make_ticket", "ann")["ticket"]

    def visit(**more):
        return sessions.call("visit_ticket", "", "anonymous", sessionId=id, ticket=ticket, **more)

    told = visit()
    guest = told["user"]["id"]
    assert told["user"]["is_anonymous"] is True and told["participant_count"] == 2
    assert sessions.db.hget(f"session:{id}#people", guest).split()[1] == b"guest"
    assert sessions.add(guest)["added_by"]["is_anonymous"] is True
    assert sessions.call("end_visit", guest, sessionId="another") == {"ok": True}, "is in no other"
    assert sessions.current(guest)["participant_count"] == 2
    assert sessions.call("end_visit", guest, sessionId=id) == {"ok": True}
    sessions.relay()
    refused("no_session", sessions.current, guest)
    for _ in range(99):
        visit()
    assert refused("full", visit) == "This session takes no more guests"
    assert sessions.join("party", "bob")["participant_count"] == 101, "there is room for users"
    # What is over takes nobody: a ticket's time, and the session's.
    sessions.db.hset(f"session:{id}#session", "guests", 0)
    sessions.commands.now_ms += 900_000
    refused("not_found", visit)
    sessions.db.hset(f"session:{id}#tickets", ticket, sessions.commands.now_ms + 2 * DAY_MS)
    visit()
    sessions.commands.now_ms += DAY_MS
    refused("not_found", visit)


def test_who_takes_part_hears_whatever_a_token_says(sessions):
    id = sessions.create("party", "ann")["session"]["id"]
    joins = Joins(sessions.commands, "hear_listening")
    joins.state(id, "ann")
    joins.state(id, "", "service")
    assert refused("forbidden", joins.state, id, "eve") == "You do not take part in this session"
    sessions.leave("ann")
    refused("forbidden", joins.state, id, "ann")
