"""Subscribers of other dialects that record all they are sent, as `switchboard-bench crowd` does for native ones.

They spread evenly over the kinds of `KINDS`, and come back after a random pause with what their protocol can express.
Commands on stdin, each answered by one line: `stall N`, `resume`, `drop N`, `churn R`, `status`, `quit`, as the crowd
has them. The numbers are meant for a crowd of --scale clients; of these here a like share obeys.
"""

import argparse
import asyncio
import json
import random
import ssl
import sys
import time
from collections import Counter

import paths  # noqa: F401
from Fixtures.waiting import time_passes
from socketio_wires import Polling, Roaming, SocketIO
from websockets.exceptions import WebSocketException
from wires import Lost, Phoenix, PhoenixV2, SingleStream, Stream

KINDS = {"phoenix-v1": Phoenix, "phoenix-v2": PhoenixV2, "socketio": SocketIO, "polling": Polling, "roaming": Roaming,
         "stream": Stream, "single-stream": SingleStream}
PAUSE_SECONDS = (0.1, 5)
TICK_SECONDS = 0.05
# The event that a client loses with --forget, of those it gets.
FORGOTTEN = 20


class Pause:
    """Random, up to a ceiling that doubles with each failure."""

    def __init__(self, rng):
        self.rng, self.ceiling = rng, PAUSE_SECONDS[0]

    def next(self) -> float:
        ceiling, self.ceiling = self.ceiling, min(self.ceiling * 2, PAUSE_SECONDS[1])
        return self.rng.uniform(0, ceiling)

    def succeeded(self) -> None:
        self.ceiling = PAUSE_SECONDS[0]


class Member:
    """One client, over all its connections."""

    def __init__(self, group, number: int, kind: str, topics: list):
        self.group, self.kind, self.topics = group, kind, topics
        self.name = f"{kind}-{number}"
        self.target = number
        self.places, self.joined = {}, set()
        self.wire = None
        self.reading = asyncio.Event()
        self.reading.set()
        self.pause = Pause(group.rng)
        self.events = 0
        # A stalled read or a lost subscription waits in a task.
        self.tasks = set()

    @property
    def is_live(self) -> bool:
        return self.wire is not None and self.joined.issuperset(self.wire.topics)

    def note(self, kind: str, *fields) -> None:
        words = " ".join("-" if field is None else str(field) for field in fields)
        self.group.log.write(f"{time.monotonic_ns() // 1_000} {kind} {self.name} {words}\n")

    async def run(self) -> None:
        """Connects again and again."""
        counts = self.group.counts
        while True:
            self.target += 1
            wire = KINDS[self.kind](self.group.address(self.target), self.group.context, self.group.key, self.topics,
                                    self.places)
            try:
                await wire.open()
            except (Lost, OSError, TimeoutError, WebSocketException) as failure:
                wire.cut()
                counts["failedAttempts"] += 1
                self.note("N", type(failure).__name__)
            else:
                self.wire, self.joined = wire, set()
                self.note("C", 0)
                counts["connects"] += 1
                counts["reconnects"] += self.events > 0
                code = await self.stay(wire)
                self.wire = None
                wire.cut()
                self.note("D", code)
            await time_passes(self.pause.next(), "the pause before another attempt")

    async def stay(self, wire) -> int:
        """Listens until the connection is over; why it is."""
        try:
            await wire.subscribe(wire.topics)
            while True:
                await self.reading.wait()
                for happening in await wire.happenings():
                    self.take(wire, happening)
        except Lost as lost:
            return lost.code
        except (ValueError, KeyError, IndexError, TypeError) as failure:
            print(f"{self.name}: {failure!r}", file=sys.stderr, flush=True)
            self.note("X", "-", "unreadable")
            return 0

    def take(self, wire, happening) -> None:
        kind, *fields = happening
        topic = fields[0]
        since = wire.asked.get(topic) or (None, None)
        if kind == "S":
            _, epoch, offset, recovered = fields
            self.note("S", *fields, *since)
            if not recovered or self.places[topic][0] != epoch:
                self.places[topic] = (epoch, offset)
            self.now_has(topic)
        elif kind == "J":
            self.note("J", topic, *since)
            self.now_has(topic)
        elif kind == "P":
            self.events += 1
            self.group.counts["events"] += 1
            self.places[topic] = tuple(fields[1:3])
            if not (self.group.forgets and self.events == FORGOTTEN):
                self.note("P", *fields)
        elif kind == "G":
            self.group.counts["gaps"] += 1
            self.places[topic] = tuple(fields[1:3])
            self.note("G", *fields)
        elif kind == "W":
            self.note("W", *fields)
        else:
            self.group.counts["errors"] += 1
            self.note("X", *fields)
            if topic in wire.topics:
                self.joined.discard(topic)
                self.later(self.ask_again(wire, topic))

    def now_has(self, topic) -> None:
        self.joined.add(topic)
        if self.is_live:
            self.pause.succeeded()

    async def ask_again(self, wire, topic) -> None:
        """A topic that was refused is asked for once more."""
        await time_passes(self.pause.next(), "the pause before another attempt")
        if wire is not self.wire:
            return
        try:
            await wire.subscribe([topic])
        except Lost:
            wire.cut()

    def later(self, coroutine) -> None:
        task = asyncio.get_running_loop().create_task(coroutine)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    def drop(self, politely: bool) -> None:
        if politely:
            self.later(self.wire.leave())
        else:
            self.wire.cut()


class Group:
    """All clients, and what they share."""

    def __init__(self, options):
        self.options, self.key, self.forgets = options, options.key, options.forget
        self.rng = random.Random(options.seed)
        self.context = ssl.create_default_context(cafile=options.ca)
        self.log = open(options.log, "w", encoding="ascii", buffering=1 << 20)
        self.counts = Counter()
        prefix, _, count = options.topics.rpartition(":")
        kinds = list(KINDS)
        self.members = [
            Member(self, number, kinds[number % len(kinds)],
                   [f"{prefix}{(number * options.per_client + k) % int(count)}" for k in range(options.per_client)])
            for number in range(options.clients)]
        self.next, self.leaving, self.due = 0, 0.0, 0.0

    def address(self, number: int) -> str:
        return self.options.target[number % len(self.options.target)]

    async def run(self) -> None:
        loop = asyncio.get_running_loop()
        tasks = [loop.create_task(member.run()) for member in self.members]
        tasks.append(loop.create_task(self.churn()))
        reader = asyncio.StreamReader()
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
        while line := await reader.readline():
            word, *numbers = line.decode().split()
            answer = self.obey(word, *map(int, numbers))
            # A member that ended by itself is a bug here, which nobody is to take for silence of the gateway.
            ended = [task for task in tasks if task.done()]
            if ended:
                raise RuntimeError("a client ended") from ended[0].exception()
            self.log.flush()
            print(answer, flush=True)
            if word == "quit":
                break
        for task in tasks:
            task.cancel()
        wires = [member.wire for member in self.members if member.wire is not None]
        await asyncio.wait_for(
            asyncio.gather(*tasks, *(wire.leave() for wire in wires), return_exceptions=True), 10)
        self.log.close()

    def share(self, number: int) -> int:
        """The part of so many clients of a crowd that is to be found here."""
        return -(-number * len(self.members) // self.options.scale)

    def obey(self, word: str, number: int = 0) -> str:
        if word in ("stall", "resume"):
            stalled = self.share(number)
            for place, member in enumerate(self.members):
                if place < stalled:
                    member.reading.clear()
                else:
                    member.reading.set()
        elif word == "drop":
            self.drop(self.share(number), politely=False)
        elif word == "churn":
            self.leaving = number * len(self.members) / self.options.scale
        elif word == "status":
            return json.dumps(self.status())
        return "ok"

    def drop(self, count: int, politely: bool) -> None:
        """The next so many connected clients leave."""
        for _ in self.members:
            member = self.members[self.next]
            self.next = (self.next + 1) % len(self.members)
            if count > 0 and member.wire is not None:
                count -= 1
                member.drop(politely)

    async def churn(self) -> None:
        last, politely = time.monotonic(), False
        while True:
            await time_passes(TICK_SECONDS, "the clock of those who leave")
            now = time.monotonic()
            self.due += (now - last) * self.leaving
            last = now
            while self.due >= 1:
                self.due -= 1
                politely = not politely
                self.drop(1, politely)

    def status(self) -> dict:
        """The figures that a crowd tells; those that are measured only there are unknown."""
        connected = [member for member in self.members if member.wire is not None]
        told = {"clients": len(self.members), "connected": len(connected),
                "live": sum(member.is_live for member in connected)}
        for name in ("events", "gaps", "errors", "unreadable", "connects", "reconnects", "resumed", "failedAttempts",
                     "timed", "lines"):
            told[name] = self.counts[name]
        return told | dict.fromkeys(("p50Ms", "p99Ms", "maxMs", "connectMs", "backMs"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--target", action="append", required=True, help="HOST:PORT, repeatable")
    parser.add_argument("--ca", required=True)
    parser.add_argument("--key", required=True, help="what clients of Phoenix show")
    parser.add_argument("--clients", type=int, required=True)
    parser.add_argument("--scale", type=int, required=True, help="clients of the crowd beside which these are")
    parser.add_argument("--topics", required=True, help="PREFIX:COUNT")
    parser.add_argument("--per-client", type=int, default=2)
    parser.add_argument("--log", required=True)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--forget", action="store_true", help="each client loses one event: the checker must see it")
    options = parser.parse_args()

    async def whole():
        await Group(options).run()
    asyncio.run(whole())


if __name__ == "__main__":
    main()
