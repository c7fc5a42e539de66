"""Listening sessions on a Cluster under calls whose steps come in any order, and what must hold once all is quiet."""

import itertools
import math

from Fixtures.redis.cluster import tagged
from Fixtures.scripts.cluster_scripts import ClusterCommands, interleaved
from Fixtures.scripts.command_scripts import Failed
from Fixtures.scripts.listening_scripts import START_MS, TRACK
from Fixtures.scripts.lua_scripts import LUA

SONGS_MAX = 16_384
USERS, CODES = ["ann", "bob", "cat", "dan"], ["party", "other"]


class Town:
    """Some users and join codes; every schedule begins in an empty one."""

    def __init__(self, db, rng):
        self.db, self.rng = db, rng
        self.commands = ClusterCommands(db, LUA / "queueup")
        self.commands.now_ms = START_MS
        # Users who came in again while they were erased: a session then forgets the new blocks with the old ones, as
        # on one server.
        self.erased = set()
        # Whose blocks have changed: a worker looks at them until it has run for each.
        self.changed = set()

    def flight(self, name, user, role="user", **arguments):
        self.commands.now_ms += self.rng.choice([0, 0, 1, 7])
        random = f"{self.rng.getrandbits(128):032x}"
        # Each gateway has a clock of its own, a little before or behind the others'.
        now_ms = self.commands.now_ms + self.rng.randint(-5, 5)
        return self.commands.flight(name, user, role, random=random, now_ms=now_ms, **arguments)

    def deed(self, user):
        """A random deed of a user: its name, what it aims at, and the flight."""
        kind = self.rng.choices(["join", "create", "leave", "visit", "add", "vote", "skip", "block", "erase"],
                                [8, 4, 4, 2, 3, 4, 2, 3, 1])[0]
        code = self.rng.choice(CODES)
        if kind == "join":
            return kind, code, self.flight("join_listening", user, joinCode=code)
        if kind == "create":
            return kind, code, self.flight("create_listening", user, joinCode=code)
        if kind == "leave":
            return kind, None, self.flight("leave_listening", user)
        if kind == "visit":
            session = self.text(f"joincode:{code}") or "none"
            return "end", session, self.flight("end_visit", user, sessionId=session)
        if kind == "add":
            return kind, None, self.flight("add_song", user, **TRACK)
        if kind == "vote":
            songs = [song for id in self.sessions() for song in self.fields(f"session:{id}#songs")]
            song = self.rng.choice(sorted(songs)) if songs else "none"
            return kind, None, self.flight("vote_song", user, songId=song, value=self.rng.choice([1, -1]))
        if kind == "skip":
            return kind, None, self.flight("request_skip", user)
        if kind == "block":
            return kind, None, self.block(user, self.rng.choice([other for other in USERS if other != user]))
        self.erased.add(user)
        return kind, None, self.flight("erase_listener", user, "worker")

    def block(self, user, other):
        """Blocks or unblocks, and the worker's run for the changed key."""
        key = tagged(f"user:{user}#blocks")
        yield "block"
        if not self.db.srem(key, other):
            self.db.sadd(key, other)
        self.changed.add(user)
        yield from self.flight("listening_blocks_refresh", "", "worker", userId=user)

    def worker(self):
        """A worker that does what waits, a step at a time, in any order."""
        for _ in range(self.rng.randint(0, 8)):
            yield "worker"
            waiting = self.commands.outboxes()
            if waiting:
                yield from self.commands.deliver(*self.rng.choice(waiting))

    def settle(self):
        """Does all that waits, in random order."""
        for user in sorted(self.changed):
            self.commands.call("listening_blocks_refresh", "", "worker", userId=user)
        self.changed = set()
        while waiting := self.commands.outboxes():
            for _ in self.commands.deliver(*self.rng.choice(waiting)):
                pass

    def schedule(self):
        """Some users do some things at once; returns the deeds with their results, and where all were before."""
        places = {user: self.place(user) for user in USERS}
        deeds = [(user, *self.deed(user)) for user in self.rng.choices(USERS, k=self.rng.randint(2, 6))]
        flights = [flight for *_, flight in deeds]
        results = interleaved([*flights, self.worker(), self.worker()], self.rng, lost=0.04)
        self.settle()
        return [(user, kind, aim, result) for (user, kind, aim, _), result in zip(deeds, results)], places

    # What Redis has

    def text(self, key):
        found = self.db.get(tagged(key))
        return found and found.decode()

    def fields(self, key):
        return {name.decode(): value.decode() for name, value in self.db.hgetall(tagged(key)).items()}

    def sessions(self):
        """The ids of all sessions that are there."""
        keys = self.db.scan_iter(match="session:{*}#session")
        return sorted(key.decode().split("{")[1].split("}")[0] for key in keys)

    def place(self, user):
        """The code of the session that is the user's by the user's own keys; None for none."""
        id = self.fields(f"user:{user}#listening").get("session")
        return id and self.fields(f"session:{id}#session").get("code", "gone")

    def check(self):
        """No half change is left anywhere."""
        own = {user: self.fields(f"user:{user}#listening") for user in USERS}
        self.erased -= {user for user, listening in own.items() if "session" not in listening}
        held = {code: self.text(f"joincode:{code}") for code in CODES}
        for id in self.sessions():
            session = self.fields(f"session:{id}#session")
            assert held[session["code"]] == id, "each session has its code, and no other has it"
            people = self.fields(f"session:{id}#people")
            for user, note in people.items():
                assert own[user].get("session") == id, f"{user} is in {id} and elsewhere"
                assert own[user]["tag"] == note.split()[0], f"{user} has another stay in {id}"
                assert own[user]["code"] == session["code"]
                blocks = {other.decode() for other in self.db.smembers(tagged(f"user:{user}#blocks"))}
                noted = set(self.fields(f"session:{id}#apart").get(f">{user}", "").split())
                assert noted == blocks or user in self.erased, f"{user} blocks {blocks}, and the session knows {noted}"
            members = {user.decode() for user in self.db.smembers(tagged(f"session:{id}#members"))}
            assert members == set(people), "who may hear is who takes part"
            skips = {user.decode() for user in self.db.smembers(tagged(f"session:{id}#skips"))}
            assert skips <= set(people)
            self.check_votes(id, session)
        for user, listening in own.items():
            if id := listening.get("session"):
                assert user in self.fields(f"session:{id}#people"), f"{user} is sent to {id} and not in it"
        for code, id in held.items():
            assert id is None or self.fields(f"session:{id}#session").get("code") == code, f"{code} opens nothing"

    def check_votes(self, id, session):
        ballots = [self.fields(f"session:{id}#ballots#{user}") for user in USERS]
        totals = {song.decode(): math.ceil(place / SONGS_MAX) for song, place in self.db.zrange(
            tagged(f"session:{id}#order"), 0, -1, withscores=True)}
        if "current" in session:
            totals[session["current"]] = int(session["votes"])
        for song, total in totals.items():
            assert total == sum(int(each.get(song, 0)) for each in ballots), f"votes of {song}"


def outcomes(deeds, place):
    """Where one user may be after some deeds, each (kind, aim, result), in any order; one that was lost may have had no
    effect."""
    moves = []
    for kind, aim, result in deeds:
        if kind not in ("join", "create", "leave", "end", "erase") or isinstance(result, Failed):
            continue
        moves.append((kind, aim, result is None))
    places = set()
    for order in itertools.permutations(moves):
        found = {place}
        for kind, aim, is_lost in order:
            after = {aim} if kind in ("join", "create") else {None} if kind != "end" else found | {None}
            found = found | after if is_lost else after
        places |= found
    return places or {place}
