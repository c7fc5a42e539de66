"""Guests of QueueUp by their scripts: who comes by a ticket, until when, and who may hear."""

import pytest

from Fixtures.scripts.chats import Joins
from Fixtures.scripts.listening_scripts import DAY_MS, Sessions, refused


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


class Bar(Sessions):
    """A session in a bar with songs that wait, a ticket on the wall, and phones that are guests."""

    def __init__(self, db, *people):
        super().__init__(db)
        self.id = self.create("party", "ann")["session"]["id"]
        for user in people:
            self.join("party", user)
        self.songs = [self.add("ann")["id"] for _ in range(4)]
        self.ticket = self.call("make_ticket", "ann")["ticket"]
        self.token = 0

    def visit(self, address="203.0.113.7", ticket=None):
        answer = self.call("visit_ticket", "", "anonymous", sessionId=self.id, ticket=ticket or self.ticket,
                           address=address)
        return answer["user"]["id"]

    def votes(self):
        answer = self.current("ann")
        return [(song["id"], song["votes"]) for song in [answer["current_song"], *answer["queue"]]]

    def pass_by(self, ms):
        """Time goes by, and the worker looks after the guests."""
        self.commands.now_ms += ms
        self.token += 1
        answer = self.commands.call("guests_refresh", sessionId=self.id, token=self.token)[0]
        self.relay()
        return answer


@pytest.fixture
def bar(db):
    return Bar(db, "bob", "cat")


def test_few_guests_come_by_one_ticket_from_one_address(bar, db):
    """One phone with one ticket was twenty guests, and a majority against those who were really there."""
    for _ in range(3):
        bar.visit()
    assert refused("full", bar.visit) == "Enough guests have come by this code from your network"
    assert bar.visit("198.51.100.1") and bar.visit("2001:db8:1:2::")
    assert bar.visit(""), "an address that stands for many is not counted"
    # Whoever leaves makes no room for another.
    bar.call("end_visit", bar.visit("198.51.100.1"), sessionId=bar.id)
    bar.relay()
    bar.visit("198.51.100.1")
    refused("full", bar.visit, "198.51.100.1")
    # Another ticket of the host is another code on the wall; those of anybody else count together.
    bar.visit(ticket=bar.call("make_ticket", "ann")["ticket"])
    tickets = [bar.call("make_ticket", "bob")["ticket"] for _ in range(4)]
    for ticket in tickets[:3]:
        bar.visit(ticket=ticket)
    refused("full", bar.visit, ticket=tickets[3])
    # The host may allow more: all phones of a bar may have one address.
    assert refused("forbidden", bar.call, "control_listening", "bob", guests=50)
    bar.call("control_listening", "ann", guests=5)
    bar.visit()
    bar.visit()
    refused("full", bar.visit)
    # Nothing tells the address, and what counts it ends with the tickets.
    assert not [key for key in db.keys("*") if b"203.0.113" in key or b"203.0.113" in (db.dump(key) or b"")]
    assert 0 < db.pttl(f"session:{bar.id}#arrivals") <= 900_000


def test_votes_of_a_guest_who_leaves_are_taken_back(bar, db):
    """A guest voted, left and came again as another, and all votes stayed."""
    first, second, third, fourth = bar.songs
    bar.vote("bob", fourth, 1)
    for _ in range(2):
        guest = bar.visit()
        for song, value in ((first, 1), (second, -1), (third, 1), (fourth, 1)):
            bar.vote(guest, song, value)
        assert bar.votes() == [(first, 1), (fourth, 2), (third, 1), (second, -1)]
        before = len(bar.heard(bar.id))
        bar.call("end_visit", guest, sessionId=bar.id)
        bar.relay()
        assert bar.votes() == [(first, 0), (fourth, 1), (second, 0), (third, 0)]
        told = dict(bar.heard(bar.id, before))
        assert told["votes.updated"]["total_votes"] == 0
        assert [(song["id"], song["votes"]) for song in told["queue.updated"]["queue"]] == bar.votes()[1:]
        assert db.exists(f"session:{bar.id}#ballots#{guest}") == 0
        assert db.zscore(f"session:{bar.id}#guests", guest) is None
    # Guests with a token of the app's own go the same way; who has an account is one user, and keeps the votes.
    bar.join("party", "gus", "guest")
    for user in ("gus", "cat"):
        bar.vote(user, second, 1)
        bar.leave(user)
    assert bar.votes()[1:3] == [(second, 1), (fourth, 1)]
    # A song that is skipped by the leaving goes with the votes that it has then.
    guest = bar.visit("198.51.100.9")
    bar.vote(guest, fourth, 1)
    bar.vote(guest, second, -1)
    bar.call("request_skip", "bob")
    bar.call("end_visit", guest, sessionId=bar.id)
    bar.leave("bob")
    assert bar.call("request_skip", "ann")["skipped"] and bar.votes()[0] == (second, 1)


def test_votes_of_a_guest_who_is_no_more_there_are_taken_back(bar, db):
    """Twenty guests who had voted and closed their pages counted until the session ended."""
    first, second = bar.songs[:2]
    gone, stays = bar.visit(), bar.visit()
    for guest in (gone, stays):
        bar.vote(guest, second, 1)
        bar.call("request_skip", guest)
    assert bar.pass_by(1)["idle"] is False
    bar.commands.now_ms += 300_000
    assert bar.commands.call("beat_listener", role="worker", userId=stays)[0] == {"guest": True, "host": False}
    assert bar.commands.call("beat_listener", role="worker", userId="bob")[0] == {
        "guest": False, "host": False}
    bar.relay()
    assert bar.pass_by(290_000)["again_ms"] > bar.commands.now_ms and bar.votes()[1] == (second, 2)
    before = len(bar.heard(bar.id))
    bar.pass_by(15_000)
    assert bar.votes()[1] == (second, 1)
    told = dict(bar.heard(bar.id, before))
    assert told["session.updated"]["skip_request_count"] == 1
    assert told["queue.updated"]["queue"][0]["votes"] == 1
    # A phone that slept comes back, and its votes count anew as long as it is there.
    assert bar.current(gone)["participant_count"] == 5
    bar.vote(gone, second, 1)
    assert bar.votes()[1] == (second, 2)
    # A call that comes late finds the guest there again.
    bar.commands.call("withdraw_listener", role="worker", sessionId=bar.id, userId=gone)
    assert bar.votes()[1] == (second, 2)
    for _ in range(2):
        bar.pass_by(600_000)
    assert bar.votes()[1] == (second, 0) and db.exists(f"session:{bar.id}#guests") == 0
    assert bar.pass_by(1) == {"idle": True}


def test_who_takes_part_hears_whatever_a_token_says(sessions):
    id = sessions.create("party", "ann")["session"]["id"]
    joins = Joins(sessions.commands, "hear_listening")
    joins.state(id, "ann")
    joins.state(id, "", "service")
    assert refused("forbidden", joins.state, id, "eve") == "You do not take part in this session"
    sessions.leave("ann")
    refused("forbidden", joins.state, id, "ann")
