"""The pack of listeners nearby, called as the gateway calls it."""

import json
import math
import re

from Fixtures.scripts.command_scripts import Commands
from Fixtures.scripts.lua_scripts import LUA, lasting

NEARBY = LUA / "nearby"
LETTERS = "0123456789bcdefghjkmnpqrstuvwxyz"
EARTH_METRES = 6372797.560856


def geohash(latitude, longitude, length=3):
    """An independent geohash: halves longitude and latitude in turn."""
    ranges, value, name = [[-180.0, 180.0], [-90.0, 90.0]], 0, ""
    for number in range(length * 5):
        low, high = ranges[number % 2]
        middle = (low + high) / 2
        above = (longitude, latitude)[number % 2] >= middle
        ranges[number % 2] = [middle, high] if above else [low, middle]
        value = value * 2 + above
        if number % 5 == 4:
            name, value = name + LETTERS[value], 0
    return name


def metres(one, other):
    """Metres between two (latitude, longitude) in degrees."""
    (south, west), (north, east) = one, other
    half = math.sin(math.radians(north - south) / 2) ** 2 + math.cos(math.radians(south)) * math.cos(
        math.radians(north)) * math.sin(math.radians(east - west) / 2) ** 2
    return 2 * EARTH_METRES * math.asin(math.sqrt(half))


class NearbyCommands(Commands):
    """Runs the scripts of the pack."""

    def __init__(self, db, **options):
        super().__init__(db, NEARBY, **options)

    def call(self, name, **arguments):
        if "@idempotent" in self.path(name).read_text():
            # Nothing is remembered of such a call.
            arguments.pop("id", None)
        return super().call(name, **arguments)


class Ears:
    """Hears what is told on the topics of all users."""

    def __init__(self, db, prefix=""):
        self._link = db.pubsub(ignore_subscribe_messages=True)
        self._link.psubscribe(prefix + "user:*")
        self._link.get_message(timeout=5)
        self._prefix = prefix

    def heard(self):
        """What was told since it was last asked: (user, event, data)."""
        self._link.ping()
        events = []
        while (message := self._link.parse_response(block=True))[0] != b"pong":
            if message[0] == b"pmessage":
                told = json.loads(message[3])
                events.append((message[2].decode().removeprefix(self._prefix + "user:"), told["event"], told["data"]))
        return events

    def close(self):
        self._link.close()


def pictures_of(db, kind="pictures"):
    """Who is in whose picture, or with "watchers" the other side: {(cell, user): users}; nobody with none."""
    found = {}
    for key in db.scan_iter(f"cell:*#{kind}"):
        cell = key.decode().split("#")[0].removeprefix("cell:")
        names = {slot: name.decode() for slot, name in db.hgetall(f"cell:{cell}#names").items()}
        for slot, text in db.hgetall(key).items():
            if len(text) == 4:
                continue
            found[cell, names[slot]] = {names[text[first:first + 5]] for first in range(4, len(text), 5)}
    return found


def texts_of(db):
    """Every name, value and member in Redis as one text."""
    parts = []
    for name in lasting(db):
        parts.append(name)
        kind = db.type(name)
        if kind == b"hash":
            parts += [part for pair in db.hgetall(name).items() for part in pair]
        elif kind == b"zset":
            parts += [part for member, score in db.zrange(name, 0, -1, withscores=True)
                      for part in (member, repr(score).encode())]
        elif kind == b"set":
            parts += db.smembers(name)
        elif kind == b"list":
            parts += db.lrange(name, 0, -1)
        elif kind == b"stream":
            parts += [part for _, fields in db.xrange(name) for pair in fields.items() for part in pair]
        else:
            # A key may have expired since it was found.
            parts.append(db.get(name) or b"")
    return "\n".join(part.decode("utf-8", "replace") for part in parts)


def places_of(db):
    """Every place that some sorted set of Redis keeps as GEOADD does: (key, listener, latitude, longitude)."""
    found = []
    for name in db.scan_iter("*"):
        if db.type(name) == b"zset" and not name.endswith(b"#signs"):
            for member in db.zrange(name, 0, -1):
                (longitude, latitude), = db.geopos(name, member)
                user = db.hget(name.split(b"#")[0] + b"#names", member)
                found.append((name.decode(), (user or member).decode(), latitude, longitude))
    return found


def degrees_in(text):
    """All decimal numbers of a text."""
    return [float(word) for word in re.findall(r"-?\d+\.\d+", text)]
