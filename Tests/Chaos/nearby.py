"""Listeners of a city who walk: what each is told is what plain rules say, and nobody learns an exact place.

usage: .venv/bin/python Tests/Chaos/nearby.py [--listeners 100000] [--moves 10000] [--crowd 5000] [--apps 12]

The listeners are put at random places of a city of 10 km; some are rounded, hidden, for followers only, blocked or
muted. Then random ones walk 100 m, vanish, come back, block and mute. Of every call the answer and each enter, move and
leave are compared with a model (nearby_city.py), step by step. Then apps walk through the same city over
HTTP and WebSockets, by two gateways and a worker, and what their sockets hear is compared as well. They erase
themselves, and the time is taken until no key names them. At last every key of Redis, its slow log and all logs are
searched for the exact places of those who are rounded or hidden, and for the names of the erased. Before all that, a
crowd of its own stands within 500 m. Prints figures; exits with 1 when anything is otherwise.
"""

import argparse
import math
import re
import sys
import tempfile
import time
from pathlib import Path

import paths  # noqa: F401
from Fixtures.redis.server import RedisServer
from Fixtures.scripts.nearby_city import DEGREE_METRES, City
from Fixtures.scripts.nearby_scripts import Ears, NearbyCommands, pictures_of
from Fixtures.seeds import seeded
from nearby_apps import walk_apps

CENTRE = (52.52, 13.40)
EAST_METRES = DEGREE_METRES * math.cos(math.radians(CENTRE[0]))
TOLD_MAX = 50
# How listeners are set, and how many of a thousand are. Not so many on one spot that the scripts look at any.
KINDS = [(925, "everyone", 0), (30, "everyone", 100), (5, "everyone", 1_000), (30, "followers", 0), (10, "nobody", 0)]
CROWD_KINDS = [(950, "everyone", 0), (20, "everyone", 100), (30, "followers", 0)]
# The rounding in a listener's settings; without a choice it is 100 m.
ROUNDINGS = {b"exact": 0, b"100": 100, b"1000": 1_000, None: 100}
DEGREES = re.compile(r"(?=(?<!\d)(-?\d{1,3}\.\d{7}))")
USERS = re.compile(r"[0-9a-f]{8}-0000-4000-8000-[0-9a-f]{12}|app-\d+")
JOINED = re.compile(r"(\d{3}\.\d{7})")


def place_at(east, north):
    return CENTRE[0] + north / DEGREE_METRES, CENTRE[1] + east / EAST_METRES


def pair(place):
    """A place to a centimetre, as text."""
    return tuple(f"{degrees:.7f}" for degrees in place)


def pairs_in(text):
    """The places that a text tells: numbers with seven digits that follow each other, in JSON, a hash or a card."""
    numbers = [float(one) for one in JOINED.findall(text)[:4]] if JOINED.match(text[14:26]) else []
    found = {pair(numbers[at:at + 2]) for at in range(0, len(numbers) - 1, 2)}
    words = DEGREES.findall(text)
    return found | {pair((float(one), float(other))) for one, other in zip(words, words[1:])} | {
        pair((float(other), float(one))) for one, other in zip(words, words[1:])}


class Walk:
    """The scripts and the model side by side, step by step."""

    def __init__(self, db, rng, side, listeners):
        self.db, self.rng, self.side = db, rng, side
        self.commands, self.ears = NearbyCommands(db), Ears(db)
        # Ahead of the clock, so that no worker of this run takes anybody for gone.
        self.commands.now_ms = int(time.time() * 1_000) + 3_600_000
        self.city = City(max(side / math.sqrt(listeners / 8), 60))
        self.at, self.shown, self.exact, self.erased = {}, {}, set(), set()
        self.problems, self.told, self.told_most, self.calls = [], 0, 0, 0

    @staticmethod
    def user(number):
        return f"{number:08x}-0000-4000-8000-{number:012x}"

    def come(self, user, kinds):
        """Somebody new, anywhere."""
        draw = self.rng.randrange(1_000)
        for share, visible, rounding in kinds:
            draw -= share
            if draw < 0:
                break
        if (visible, rounding) != ("everyone", 100):  # a newcomer's
            self.commands.set_privacy(userId=user, visible=visible, rounding=rounding)
        half = self.side / 2
        self.go(user, (self.rng.uniform(-half, half), self.rng.uniform(-half, half)), visible, rounding)

    def walk(self, user, metres=100):
        angle, (east, north) = self.rng.uniform(0, 2 * math.pi), self.at[user]
        self.go(user, (east + metres * math.sin(angle), north + metres * math.cos(angle)))

    def expect(self, user, spot, visible="everyone", rounding=0):
        """What the model says of a step: the exact place, who is answered, and what is told."""
        self.at[user], place = spot, tuple(round(degrees, 9) for degrees in place_at(*spot))
        chosen, events = self.city.put(user, place, visible, rounding)
        one = self.city.people[user]
        if one.visible == "nobody" or one.rounding:
            self.exact.add(pair(place))
        return place, chosen, events

    def go(self, user, spot, visible="everyone", rounding=0):
        place, chosen, events = self.expect(user, spot, visible, rounding)
        answer = self.commands.set_location(userId=user, latitude=place[0], longitude=place[1])
        self.judge_answer(user, answer, chosen)
        self.judge(user, events)

    def judge_answer(self, user, answer, chosen):
        self.shown[user] = {one["id"] for one in answer["nearby"]}
        if [one["id"] for one in answer["nearby"]] != [other for other, _ in chosen]:
            self.problems.append(f"{user} was answered others than {chosen}")
        for one, (other, metres) in zip(answer["nearby"], chosen):
            self.judge_told(one, other, metres)

    def judge_told(self, told, user, metres):
        """A listener is told at its kept place and distance."""
        location = told["user"]["location"]
        if pair((location["latitude"], location["longitude"])) != pair(self.city.people[user].place):
            self.problems.append(f"{user} is told at {location}")
        if abs(told["distance"] - metres) > 1.5:
            self.problems.append(f"{user} is told {told['distance']} m away, not {metres:.1f}")

    def judge(self, user, expected):
        """What was heard since is what was expected."""
        self.judge_heard(user, self.ears.heard(), expected)

    def judge_heard(self, user, heard, expected):
        self.calls, self.told = self.calls + 1, self.told + len(heard)
        ordered = sorted(heard, key=lambda one: (one[0], one[1], one[2]["id"]))
        expected = sorted(expected, key=lambda one: one[:3])
        if [(viewer, event, data["id"]) for viewer, event, data in ordered] != [one[:3] for one in expected]:
            wrong = {(viewer, event, data["id"]) for viewer, event, data in heard} ^ {one[:3] for one in expected}
            self.problems.append(f"after {user} not the same was told: {sorted(wrong)[:4]}")
            return
        for (_, event, data), (_, _, other, metres) in zip(ordered, expected):
            if event != "nearby:leave":
                self.judge_told(data, other, metres)
        for viewer, event, data in heard:
            picture = self.shown.setdefault(viewer, set())
            (picture.discard if event == "nearby:leave" else picture.add)(data["id"])
            self.told_most = max(self.told_most, len(picture))

    def refuse(self, user, kind):
        """Somebody blocks or mutes one of those shown, or takes it back."""
        own, others, pairs = ("blocks", "blockers", self.city.blocks) if kind == "block" else (
            "mutes", "muters", self.city.mutes)
        former = [one for one in pairs if one[0] == user]
        other = former[0][1] if former else self.rng.choice(self.city.people[user].picture or [user])
        if other == user:
            return
        (pairs.discard if former else pairs.add)((user, other))
        change = self.db.srem if former else self.db.sadd
        change(f"user:{user}#{own}", other)
        change(f"user:{other}#{others}", user)
        getattr(self.commands, f"{own}_refresh")(userId=user)
        self.commands.relay()
        self.judge(user, self.city.again(user))

    def leave(self, user):
        """Somebody deletes the place, or everything."""
        if self.rng.random() < 0.5:
            self.commands.delete_location(userId=user)
        else:
            self.commands.erase_nearby(userId=user, role="worker")
            self.commands.relay()
            self.erased.add(user)
        del self.at[user], self.shown[user]
        self.judge(user, self.city.remove(user))

    def step(self, number):
        user = self.user(self.rng.randrange(number))
        if user in self.erased:
            return
        if user not in self.at:
            # The settings have stayed.
            visible, rounding = self.db.hmget(f"user:{user}#listener", "visible", "rounding")
            # Near the middle, but never where another was: a place may be one's exact one and another's kept one.
            spot = self.rng.uniform(-50, 50), self.rng.uniform(-50, 50)
            self.go(user, spot, (visible or b"everyone").decode(), ROUNDINGS[rounding])
            return
        self.walk(user)
        draw = self.rng.random()
        if draw < 0.04:
            self.leave(user)
        elif draw < 0.10:
            self.refuse(user, "block" if draw < 0.07 else "mute")

    def judge_kept(self):
        """What Redis keeps is what the model has."""
        for kind, owned in (("pictures", "picture"), ("watchers", "watchers")):
            kept = {user: others for (_, user), others in pictures_of(self.db, kind).items()}
            wanted = {user: set(getattr(one, owned)) for user, one in self.city.people.items() if getattr(one, owned)}
            wrong = [user for user in kept.keys() | wanted.keys() if kept.get(user) != wanted.get(user)]
            if wrong:
                self.problems.append(f"{len(wrong)} {kind} are kept otherwise, such as that of {wrong[0]}")


def texts_of_key(db, name):
    """Names and values under a key, each with its own; members of a sorted set with their places."""
    kind = db.type(name)
    if kind == b"hash":
        return [b"\n".join(pair) for pair in db.hgetall(name).items()] + [b"\n".join(db.hvals(name)[:8])]
    if kind == b"zset":
        members = db.zrange(name, 0, -1)
        places = db.geopos(name, *members) if members and not name.endswith("#signs") else []
        return members + [f"{place[1]:.7f} {place[0]:.7f}".encode() for place in places if place]
    if kind == b"stream":
        return [b"\n".join(part for pair in fields.items() for part in pair) for _, fields in db.xrange(name)]
    return [db.get(name)] if kind == b"string" else list(db.sscan_iter(name))


def search(db, walk, logs=()):
    """Looks through Redis and logs for exact places and the erased. Returns how many texts, and what it found."""
    found, count = [], 0
    slow = "\n".join(entry["command"].decode("utf-8", "replace") for entry in db.slowlog_get(100_000))
    for text in (slow, *logs):
        count += 1
        if not all(walk.exact.isdisjoint(pairs_in(line)) for line in text.split("\n")):
            found.append("an exact place is in a log")
    for name in map(bytes.decode, db.scan_iter("*", count=1_000)):
        # Whom others block or mute stays theirs, and neither a topic's position nor a lease tells anything.
        # Notes against calls that come late end after an hour (docs/scripts/packs.md).
        is_own = not name.endswith(("#blocks", "#mutes", "#blockers", "#muters", "#meta", "#fence", "#erased", "_at"))
        for text in texts_of_key(db, name):
            count += 1
            text = text.decode("utf-8", "replace")
            if not all(walk.exact.isdisjoint(pairs_in(part)) for part in (*text.split("\n"), text.replace("\n", " "))):
                found.append(f"an exact place is in {name}")
            if is_own:
                found += [f"{user}, who is erased, is in {name}"
                          for user in walk.erased.intersection(USERS.findall(name + " " + text))]
    return count, found


def run(options, directory, rng, log=print):
    """Figures, and what was wrong."""
    server = RedisServer(
        Path(directory) / "redis", "--slowlog-log-slower-than", "0", "--slowlog-max-len", "20000").start()
    try:
        db, figures = server.client(), {}
        crowd = Walk(db, rng, 880, max(options.crowd, 8))
        for number in range(options.crowd):
            crowd.come(crowd.user(number), CROWD_KINDS)
        for number in range(options.crowd):
            crowd.walk(crowd.user(number), 50)
        crowd.judge_kept()
        problems = crowd.problems
        figures |= {"crowd": options.crowd, "crowd told": crowd.told, "most shown to one": crowd.told_most}
        if crowd.told_most > TOLD_MAX:
            problems.append(f"{crowd.told_most} were shown to one of the crowd")
        log(figures)
        crowd.ears.close()
        db.flushall()
        walk = Walk(db, rng, options.side, options.listeners)
        for number in range(options.listeners):
            walk.come(walk.user(number), KINDS)
        log({"listeners": options.listeners, "problems": len(walk.problems)})
        for _ in range(options.moves):
            walk.step(options.listeners)
        walk.judge_kept()
        figures |= {"listeners": len(walk.at), "calls": walk.calls, "told": walk.told, "erased": len(walk.erased)}
        log(figures)
        logs = []
        if options.apps:
            logs = walk_apps(walk, server, Path(directory), options.apps, figures)
        figures["texts searched"], found = search(db, walk, [*logs, (server.directory / "redis.log").read_text()])
        return figures, problems + walk.problems + found
    finally:
        server.stop()


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--listeners", type=int, default=100_000)
    arguments.add_argument("--moves", type=int, default=10_000)
    arguments.add_argument("--crowd", type=int, default=5_000)
    arguments.add_argument("--apps", type=int, default=12, help="listeners that come over gateways; 0 for none")
    arguments.add_argument("--side", type=int, default=10_000, help="metres along a side of the city")
    options = arguments.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        figures, problems = run(options, directory, seeded("nearby city"), lambda line: print(line, flush=True))
    print(figures)
    for problem in problems[:20]:
        print("PROBLEM", problem)
    print(f"{len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
