#!/usr/bin/env python3
"""What each subscribing link takes of Redis: processor time of a logged publish, by the links that get it.

    .venv/bin/python bench/links.py [--links 0,1,2,4,8] [--rounds 20] [--publishes 2000] [--markdown]

A topic with members on several nodes, or on several shards that subscribe for themselves, is sent to a link of each.
Starts a redis-server and as many links as the largest number, over TCP. Each number has a topic of its own that so
many links subscribe to. Publishes are the gateway's own script with 200 bytes of data: one at a time (`alone`), and 16
written together, whose messages Redis writes to each link at once. In every round all numbers take their turn, in every
other round the other way about. Told are the microseconds of Redis's process for a publish (proc(5), schedstat): the
median of the rounds, the median of what it is more than without links in the same round, and that for each link.
"""

import argparse
import selectors
import statistics
import sys
import tempfile
import threading
from pathlib import Path

import redis

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "Tests")]

from Fixtures.redis.server import RedisServer  # noqa: E402
from Fixtures.scripts.lua_scripts import Scripts  # noqa: E402
from script_costs import DATA, POLICY, Recorder, encoded, now_ms  # noqa: E402

#: Publishes that are written together.
KINDS = {"alone": 1, "16 together": 16}


class Links:
    """Connections that subscribe, and a thread that reads and drops what they are sent."""

    def __init__(self, server: RedisServer, count: int):
        self.clients = [redis.Redis(port=server.port) for _ in range(count)]
        self.connections = [client.connection_pool.get_connection("") for client in self.clients]
        self.selector, self.ends = selectors.DefaultSelector(), False
        self.bytes = [0] * count
        self.thread = threading.Thread(target=self._read)

    def subscribe(self, index: int, topics: list[str]) -> None:
        """Subscribes one of them; all topics are confirmed afterwards."""
        connection = self.connections[index]
        connection.send_command("SUBSCRIBE", *topics)
        for _ in topics:
            connection.read_response()

    def __enter__(self):
        for index, connection in enumerate(self.connections):
            self.selector.register(connection._sock, selectors.EVENT_READ, index)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ends = True
        self.thread.join()
        for client in self.clients:
            client.close()

    def _read(self):
        while not self.ends:
            for key, _ in self.selector.select(0.1):
                self.bytes[key.data] += len(key.fileobj.recv(1 << 20))


class Publisher:
    """Publishes by the gateway's script, and tells what that took of Redis."""

    def __init__(self, server: RedisServer):
        self.pid, self.client, self.recorder = server.process.pid, server.client(), Recorder(server.client())
        self.scripts = Scripts(self.recorder)
        self.link = redis.Redis(port=server.port).connection_pool.get_connection("")
        self.link.connect()

    def cpu_us(self) -> float:
        tasks = Path(f"/proc/{self.pid}/task").iterdir()
        return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1_000

    def cost_us(self, topic: str, publishes: int, at_once: int) -> float:
        """Microseconds of a publish."""
        call = encoded(self.recorder.words(lambda: self.scripts.publish(
            event="e", data=DATA, id="-", topic=topic, epoch="0" * 22, now_ms=now_ms(), **POLICY)))
        before = self.cpu_us()
        for _ in range(publishes // at_once):
            self.link.send_packed_command([call * at_once])
            for _ in range(at_once):
                self.link.read_response()
        # Redis answers in the turn behind that in which it wrote the last messages.
        self.client.ping()
        return (self.cpu_us() - before) / (publishes // at_once * at_once)


def topic_of(links: int) -> str:
    return f"shop:links-{links}"


def measure(numbers: list[int], rounds: int, publishes: int) -> dict[tuple[int, str], list[float]]:
    """Microseconds of a publish in each round, by links and kind."""
    figures = {(links, kind): [] for links in numbers for kind in KINDS}
    with tempfile.TemporaryDirectory(prefix="switchboard-links-") as directory, \
            RedisServer(Path(directory), tcp=True).running() as server:
        links = Links(server, max(numbers))
        for index in range(max(numbers)):
            links.subscribe(index, [topic_of(number) for number in numbers if number > index])
        with links:
            publisher = Publisher(server)
            for turn in range(rounds + 1):
                for number in numbers if turn % 2 else reversed(numbers):
                    for kind, at_once in KINDS.items():
                        cost = publisher.cost_us(topic_of(number), publishes, at_once)
                        # The first round warms up.
                        if turn > 0:
                            figures[number, kind].append(cost)
        if not all(links.bytes):
            sys.exit("a link was sent nothing")
    return figures


def rows(figures: dict[tuple[int, str], list[float]], numbers: list[int]) -> list[list[str]]:
    """The table: for each number of links and each kind what a publish takes, how much more, and that for each link."""
    found = []
    for number in numbers:
        row = [str(number)]
        for kind in KINDS:
            more = statistics.median(
                one - base for one, base in zip(figures[number, kind], figures[numbers[0], kind], strict=True))
            each = f"{more / (number - numbers[0]):.2f}" if number > numbers[0] else ""
            row += [f"{statistics.median(figures[number, kind]):.2f}", f"{more:.2f}" if each else "", each]
        found.append(row)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--links", default="0,1,2,4,8")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--publishes", type=int, default=2_000, help="of each kind in each round")
    parser.add_argument("--markdown", action="store_true")
    options = parser.parse_args()
    numbers = sorted({int(number) for number in options.links.split(",")})
    head = ["links"] + [word for kind in KINDS for word in (f"{kind}, us", "more", "each")]
    table = [head, *rows(measure(numbers, options.rounds, options.publishes), numbers)]
    if options.markdown:
        table.insert(1, ["---"] * len(head))
    for row in table:
        print("| " + " | ".join(row) + " |" if options.markdown else "".join(f"{cell:>17}" for cell in row))


if __name__ == "__main__":
    main()
