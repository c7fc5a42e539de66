"""Listening sessions by their scripts, called as QueueUp's app calls them."""

import itertools

import pytest

from Fixtures.scripts.command_scripts import Commands, Failed
from Fixtures.scripts.lua_scripts import LUA, NOW_MS

DAY_MS = 86_400_000
# Times in keys are Redis's own: what ends must end behind its clock.
START_MS = NOW_MS + 3_650 * DAY_MS
POLICY = {"log_max": 100_000, "log_ttl_s": 300, "meta_ttl_s": 86_700}
TRACK = {"trackId": "4uLU6hMCjMI75M1A2tKUQC", "isrc": "GBARL9300135", "title": "Never", "artists": '"Rick"',
         "album": "Whenever", "durationMs": 213_000, "imageUrl": "https://i/1"}


class Sessions:
    """Listening sessions by their scripts; each call is a little later than the one before."""

    def __init__(self, db):
        self.db = db
        self.commands = Commands(db, LUA / "queueup")
        self.commands.now_ms = START_MS
        self.serial = itertools.count(1)

    def call(self, name, user, role="user", **arguments):
        self.commands.now_ms += 7
        random = f"{next(self.serial) * 2654435761 % 2**32:08x}" * 4
        return self.commands.call(name, user=user, role=role, random=random, policy=POLICY, **arguments)[0]

    def create(self, code, user, role="user"):
        answer = self.call("create_listening", user, role, joinCode=code)
        self.relay()
        return answer

    def join(self, code, user, role="user"):
        answer = self.call("join_listening", user, role, joinCode=code)
        self.relay()
        return answer

    def leave(self, user):
        assert self.call("leave_listening", user) == {"ok": True}
        self.relay()

    def add(self, user, **more):
        return self.call("add_song", user, **TRACK | more)

    def current(self, user):
        return self.call("current_listening", user)

    def vote(self, user, song, value):
        return self.call("vote_song", user, songId=song, value=value)

    def relay(self):
        assert self.commands.relay() == []

    def heard(self, session, since=0):
        """The events of the session's topic behind the first `since`."""
        return [(event, data) for event, data in self.commands.log(f"session:{session}")[since:]]


def refused(code, call, *arguments, **options):
    with pytest.raises(Failed) as failed:
        call(*arguments, **options)
    assert failed.value.code == code
    return failed.value.message
