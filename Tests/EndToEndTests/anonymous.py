"""Callers without a token who read as much as they can, and what Redis spends meanwhile."""

import asyncio
import time
from collections import Counter
from dataclasses import dataclass, field

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
