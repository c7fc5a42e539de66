"""A small run of listening sessions under chaos, so that a change that breaks one is seen before it is merged."""

import copy

import listening
import pytest
from Fixtures.apps.listening import Picture
from Fixtures.seeds import seed_of


@pytest.mark.slow
def test_what_was_answered_is_what_is_shown(tmp_path):
    figures, problems = listening.run(users=15, sessions=3, changes=700, seed=seed_of("listening"), directory=tmp_path)
    assert not problems, problems[:5]
    # A run in which nothing happens would prove nothing.
    assert figures["songs"] > 10 and figures["ballots"] > 30 and figures["skips"] > 0, figures
    assert figures["pictures"] == figures["sockets"] > 5 and figures["cut"] > 3 and figures["repeated"] > 10, figures


# The proof that a run can fail: a session whose end is right, and one flaw in it at a time.

PLACE = "s"


def song(id, votes, status="queued"):
    return {"id": id, "votes": votes, "status": status, "added_at": id}


def update(asked, people=3, crowd=False):
    return "session.updated", {"skip_request_count": asked, "participant_count": people,
                               "last_skip_was_crowdsourced": crowd, "host": {"id": "a"}}


class Told:
    """The client of the minutes: what was told, in order, numbered from 1; an event that is None never came."""

    def __init__(self, events):
        self.messages = [{"event": event[0], "data": event[1]} | ({} if event[0] == "gap" else {"offset": number})
                         for number, event in enumerate(events, 1) if event]
        self.messages.append({"event": "pong", "data": {}})

    def send(self, *_, **__):
        pass

    def receive(self, _):
        return self.messages.pop(0)


class Someone:
    """A user at the end of a run: what was answered, and what the socket shows."""

    def __init__(self, end, name):
        self.end, self.place = end, PLACE
        self.ballots = {(PLACE, song): value for song, value in end["ballots"][name].items()}
        self.skipped = {PLACE: end["skipped"].get(name, 0)}
        self.counts, self.problems = {"calls": 1}, []

    def current(self):
        return self.end["current"]

    def call(self, *_):
        return 200, {"songs": self.end["history"], "next": None}

    def shown(self):
        return Picture(self.end["shown"])


def good_end():
    """Three listeners; the song zero was skipped when the second one asked; one plays; two and three wait."""
    current = {"session": {"host": {"id": "a"}}, "current_song": song("one", 2, "playing"), "skip_request_count": 0,
               "participant_count": 3, "last_skip_was_crowdsourced": True, "queue": [song("two", 1), song("three", 0)]}
    return {
        "current": current, "shown": copy.deepcopy(current), "history": [song("zero", 1, "skipped")],
        "ballots": {"a": {"zero": 1, "one": 1, "two": 1}, "b": {"one": 1, "three": -1}, "c": {"three": 1, "two": 0}},
        "skipped": {"b": 1},
        "minutes": [("now_playing.updated", {"current_song": song("zero", 0)}), update(0), update(1),
                    ("now_playing.updated", {"current_song": song("one", 2)}), update(0, crowd=True)]}


def lose_vote(end):
    """a song that plays has a vote less than was answered"""
    end["current"]["current_song"]["votes"] = end["shown"]["current_song"]["votes"] = 1


def total_of_what_is_over(end):
    """a song in the history has a vote more"""
    end["history"][0]["votes"] = 2


def count_withdrawn(end):
    """a withdrawn vote still counts"""
    end["current"]["queue"][0]["votes"] = end["shown"]["queue"][0]["votes"] = 2


def skip_twice(end):
    """one majority skips two songs"""
    end["current"]["current_song"] = end["shown"]["current_song"] = song("two", 1)
    end["current"]["queue"] = end["shown"]["queue"] = [song("three", 0)]
    end["history"].append(song("one", 2, "skipped"))
    end["minutes"] += [("now_playing.updated", {"current_song": song("two", 1)}), update(0, crowd=True)]


def skip_early(end):
    """one of three was enough"""
    del end["minutes"][2]


def skip_late(end):
    """two of three had asked, and the song went on"""
    end["minutes"].insert(3, update(2))


def skip_untold(end):
    """who asked last was not told that the song was skipped"""
    end["skipped"] = {}


def picture_of_before(end):
    """a socket did not hear the last vote"""
    end["shown"]["queue"][0]["votes"] = 0


def picture_of_another_song(end):
    """a socket shows the song that is over"""
    end["shown"]["current_song"] = song("zero", 1)


def one_too_many(end):
    """somebody who left is still counted"""
    end["current"]["participant_count"] = end["shown"]["participant_count"] = 4


def hole(end):
    """the minutes miss events, and say so"""
    end["minutes"].insert(1, ("gap", {"offset": 2}))


def silent_hole(end):
    """the minutes miss an event, and nobody says so"""
    end["minutes"].insert(1, None)


def judged(flaw):
    end = good_end()
    flaw(end)
    minutes = listening.Minutes.__new__(listening.Minutes)
    minutes.client, minutes.session, minutes.offset = Told(end["minutes"]), PLACE, 0
    return listening.judge(None, [Someone(end, name) for name in "abc"], {PLACE: minutes}, 1.0)


def test_a_good_end_is_accepted():
    figures, problems = judged(lambda end: None)
    assert problems == [] and figures["skips"] == 1 and figures["pictures"] == 3 and figures["ballots"] == 7, figures


@pytest.mark.parametrize("flaw", [lose_vote, total_of_what_is_over, count_withdrawn, skip_twice, skip_early, skip_late,
                                  skip_untold, picture_of_before, picture_of_another_song, one_too_many, hole,
                                  silent_hole],
                         ids=lambda flaw: flaw.__name__)
def test_each_flaw_is_found(flaw):
    _, problems = judged(flaw)
    assert problems, flaw.__doc__
