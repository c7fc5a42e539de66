"""Callers without a token who read as much as they can, and what Redis spends meanwhile."""

import asyncio
import json
import multiprocessing
import time
from collections import Counter
from dataclasses import dataclass, field

from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

SCRIPTS = ("evalsha", "eval")


@dataclass
class Answers:
    """What a crowd of readers was answered."""

    statuses: Counter = field(default_factory=Counter)
    waits: list = field(default_factory=list)


async def _answer(reader) -> tuple[int, dict]:
    """Reads one whole answer; returns its status and its fields."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    status, *lines = head.split("\r\n")
    fields = dict(line.lower().split(": ", 1) for line in lines if line)
    await reader.readexactly(int(fields.get("content-length", 0)))
    return int(status.split()[1]), fields


async def _read(address, source, paths, answers: Answers) -> None:
    reader, writer = await asyncio.open_connection(*address, local_addr=(source, 0))
    for path in paths:
        writer.write(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        status, fields = await _answer(reader)
        answers.statuses[status] += 1
        if status == 429:
            answers.waits.append(int(fields["retry-after"]))
    writer.close()


def read_all(address, paths: list[list[str]]) -> Answers:
    """Each list of paths is read on a connection of its own, one by one; all connections at once, of 40 addresses."""
    answers = Answers()

    async def run():
        await asyncio.gather(*(
            _read(address, f"127.0.2.{1 + number % 40}", own, answers) for number, own in enumerate(paths)))

    asyncio.run(run())
    return answers


class Spent:
    """What scripts cost Redis from one moment to another, by Redis's own count."""

    def __init__(self, redis):
        self.redis = redis
        self.started, self.before = time.monotonic(), self._count()

    def _count(self) -> tuple[int, int]:
        stats = self.redis.info("commandstats")
        found = [stats[f"cmdstat_{name}"] for name in SCRIPTS if f"cmdstat_{name}" in stats]
        return sum(one["usec"] for one in found), sum(one["calls"] for one in found)

    def stop(self) -> "Spent":
        usec, calls = self._count()
        self.seconds = time.monotonic() - self.started
        self.usec, self.calls = usec - self.before[0], calls - self.before[1]
        return self

    @property
    def share(self) -> float:
        """Of Redis's time."""
        return self.usec / 1_000_000 / self.seconds

    def __str__(self) -> str:
        return f"{self.calls} calls, {self.usec / 1_000:.0f} ms of Redis in {self.seconds:.1f} s: {self.share:.1%}"


# Crowds that ask on for a stated time


def _source(number: int) -> tuple[str, int]:
    """One of 40 addresses."""
    return f"127.0.2.{1 + number % 40}", 0


async def _read_on(address, number, path, until, answers: Answers) -> None:
    """Reads on one connection until the time is over, three times at least."""
    reader, writer = await asyncio.open_connection(*address, local_addr=_source(number))
    done = 0
    while done < 3 or time.monotonic() < until:
        writer.write(f"GET {path()} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        status, _ = await _answer(reader)
        answers.statuses[status] += 1
        done += 1
    writer.close()


def _crowd(connections: int, seconds: float, one) -> Answers:
    """Lets so many do `one(number, until, answers)` at once, until the time is over."""
    answers = Answers()

    async def run():
        until = time.monotonic() + seconds
        await asyncio.gather(*(one(number, until, answers) for number in range(connections)))

    asyncio.run(run())
    return answers


def read_on(address, connections: int, seconds: float, path) -> Answers:
    """Connections of 40 addresses, each of which reads `path()` again as soon as it was answered."""
    return _crowd(connections, seconds, lambda number, *rest: _read_on(address, number, path, *rest))


async def _asked(connection, event: str, data: dict, answers: Answers) -> bool:
    """Sends one request and reads up to its answer; whether it was granted. Events on the way are counted."""
    await connection.send(json.dumps({"event": event, "data": data, "ref": event}))
    while True:
        message = json.loads(await connection.recv())
        if message.get("ref") == event:
            answers.statuses[message["data"]["code"] if message["event"] == "error" else message["event"]] += 1
            return message["event"] != "error"
        answers.statuses["events" if "offset" in message else message["event"]] += 1


async def _join_on(address, number, request, until, answers: Answers) -> None:
    """Joins and leaves over one socket until the time is over; one that is closed is opened again."""
    done = 0
    while done < 3 or time.monotonic() < until:
        try:
            async with connect(f"ws://{address[0]}:{address[1]}/ws", local_addr=_source(number), compression=None,
                               proxy=None, max_size=None, ping_interval=None, close_timeout=1) as connection:
                while done < 3 or time.monotonic() < until:
                    wanted = request()
                    if await _asked(connection, "subscribe", wanted, answers):
                        await _asked(connection, "unsubscribe", {"topic": wanted["topic"]}, answers)
                    done += 1
        except ConnectionClosed as closed:
            answers.statuses[f"closed {closed.rcvd.code if closed.rcvd else 'without a word'}"] += 1
            done += 1


def join_on(address, connections: int, seconds: float, request) -> Answers:
    """Sockets of 40 addresses, each of which subscribes to `request()` and leaves it, as fast as it is answered."""
    return _crowd(connections, seconds, lambda number, *rest: _join_on(address, number, request, *rest))


def apart(crowd) -> Answers:
    """Runs a crowd in a process of its own, so that its work does not hold up whoever measures here."""
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe()

    def run():
        answers = crowd()
        there.send((answers.statuses, answers.waits))

    process = context.Process(target=run)
    process.start()
    there.close()
    try:
        return Answers(*here.recv())
    finally:
        process.join()


class ReadersSpent:
    """What Redis gave to readers: all scripts but those that run while nobody reads, and what joins ask beside scripts.

    Redis counts the time of all scripts together. Its slow log has each call longer than LOGGED_US with its script, so
    the calls of scripts that are not the readers' are taken off; a shorter one of them counts as the readers'. (A lower
    bound would log each command inside a script, too, and that costs more than what is measured.)
    """

    LOGGED_US = 15
    COMMANDS = ("subscribe", "unsubscribe", "pubsub|numsub")

    def __init__(self, redis):
        self.redis = redis
        redis.config_set("slowlog-max-len", 1_000_000)
        redis.config_set("slowlog-log-slower-than", self.LOGGED_US)
        self.others = set()

    def _count(self) -> tuple[int, int]:
        stats = self.redis.info("commandstats")
        names = SCRIPTS + self.COMMANDS
        return sum(stats.get(f"cmdstat_{name}", {"usec": 0})["usec"] for name in names), sum(
            stats.get(f"cmdstat_{name}", {"calls": 0})["calls"] for name in SCRIPTS)

    def _logged(self) -> dict[bytes, tuple[int, int]]:
        """Calls and microseconds of each script in the slow log."""
        spent = {}
        for entry in self.redis.slowlog_get(-1):
            words = entry["command"].split(b" ", 2)
            if words[0].upper() in (b"EVALSHA", b"EVAL"):
                calls, usec = spent.get(words[1], (0, 0))
                spent[words[1]] = (calls + 1, usec + entry["duration"])
        return spent

    def learn_others(self) -> None:
        """Everything that was called since the beginning is not the readers'."""
        self.others |= set(self._logged())

    def start(self) -> None:
        self.redis.slowlog_reset()
        self.started, self.before = time.monotonic(), self._count()

    def stop(self) -> "ReadersSpent":
        usec, calls = self._count()
        self.seconds = time.monotonic() - self.started
        others = [spent for sha, spent in self._logged().items() if sha in self.others]
        self.others_usec = sum(usec for _, usec in others)
        self.usec = usec - self.before[0] - self.others_usec
        self.calls = calls - self.before[1] - sum(calls for calls, _ in others)
        return self

    def share(self, allowance_us: int = 0) -> float:
        """Of Redis's time, without what a full bucket allows at once."""
        return max(0, self.usec - allowance_us) / 1_000_000 / self.seconds
