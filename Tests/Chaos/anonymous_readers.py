"""What a crowd of callers without a token costs Redis, and what publishers notice of it.

usage: anonymous_readers.py [--connections 200] [--seconds 5] [--only WORD] [--hour]

For each kind of read a gateway and a Redis of its own: every connection asks again as soon as it was answered, from 40
loopback addresses, until the time is over, while one publisher broadcasts. Prints what the readers were answered, the
slowest broadcast, and the readers' share of Redis's time: as it was, and without the burst that a full bucket allows.
Exits 1 if a broadcast failed or took a second, the node was not ready, or the steady share is 30 % or more.

`--hour` is an hour of joins of new names instead, sixty times as fast: positions live for a sixtieth of their time, so
twelve lives of a position pass as in an hour. Names in Redis must stay below what their rate times their life allows.
"""

import argparse
import itertools
import json
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import paths  # noqa: F401
from Fixtures.clients.anonymous import ReadersSpent, apart, join_on, read_on
from Fixtures.clients.certificates import write_certificate
from Fixtures.clients.tokens import SECRET
from Fixtures.processes.gateway import Gateway
from Fixtures.redis.server import RedisServer
from Fixtures.waiting import eventually, pass_time

# The gateway's defaults: what callers without a token may cost Redis, and half a second of it at once.
ANONYMOUS_US = 250_000
BURST_US = ANONYMOUS_US // 2
SHARE_MAX = 0.3

READS = {
    "leaderboard, each its own page": lambda n: f"/v1/challenges/c1/leaderboard?limit=100&from={1 + n % 4_000}",
    "leaderboard, all the same": lambda n: "/v1/challenges/c1/leaderboard?limit=1000",
    "dj of 500 tracks": lambda n: f"/v1/shops/s{n % 50}/dj",
    "dj topics": lambda n: f"/v1/topics/dj:s{n % 50}",
    "history": lambda n: f"/v1/topics/shop:h{n % 5}/events?limit={1 + n % 300}&after={n % 700}",
    # Feeds need a user's token: what is left to others is to be refused.
    "feed, refused without a token": lambda n: ("/v1/users/u1/feed", "/v1/topics/feed:b1/events")[n % 2],
}
JOINS = {
    "sockets: joins of new names": lambda n, epochs: {"topic": f"shop:new-{n}"},
    "sockets: history by since": lambda n, epochs: {
        "topic": f"shop:h{n % 5}", "since": {"epoch": epochs[n % 5], "offset": 700 + n % 300}},
    "sockets: dj of 500 tracks": lambda n, epochs: {"topic": f"dj:s{n % 50}"},
}


def fill(redis) -> None:
    """A leaderboard of 5,000 and 50 DJ queues of 500 tracks."""
    redis.zadd("leaderboard:c1", {f"user-{number}": number for number in range(5_000)})
    for shop in range(50):
        added = redis.pipeline()
        for number in range(500):
            track = {"trackId": f"t{number}", "title": "x" * 100, "artist": "y" * 60, "addedBy": f"u{number % 25}"}
            added.hset(f"dj:s{shop}#tracks", f"t{number}", json.dumps(track))
            added.hset(f"dj:s{shop}#tally", f"t{number}", f"tag {number} 0 0")
            added.zadd(f"dj:s{shop}#order", {f"t{number}": number})
        added.execute()


def publish_logs(http) -> list[str]:
    """Five logs of 1,000 events; their epochs."""
    epochs = []
    for number in range(5):
        message = {"topic": f"shop:h{number}", "event": "e", "data": {"pad": "x" * 500}}
        for _ in range(5):
            answer = http.post("/v1/broadcast", json={"messages": [message] * 200}).raise_for_status().json()
        epochs.append(answer["results"][0]["epoch"])
    return epochs


class Publisher:
    """Broadcasts one by one until it is stopped."""

    def __init__(self, http):
        self.http, self.stopped, self.waits = http, threading.Event(), []
        self.thread = threading.Thread(target=self._run)

    def _run(self) -> None:
        while not self.stopped.is_set():
            started = time.monotonic()
            answer = self.http.post("/v1/broadcast", json={"topic": "shop:42", "event": "e", "data": {}})
            self.waits.append((answer.status_code, time.monotonic() - started))

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stopped.set()
        self.thread.join()

    @property
    def failed(self) -> int:
        return sum(status != 200 for status, _ in self.waits)

    @property
    def slowest(self) -> float:
        return max(wait for _, wait in self.waits)


class Site:
    """A gateway with a Redis of its own; a context manager."""

    def __init__(self, directory: Path, **limits):
        self.server = RedisServer(directory / "redis").start()
        self.gateway = Gateway(
            directory, self.server.url, write_certificate(directory), SECRET, "--listen-plain", "127.0.0.1:0",
            limits=limits, config={"namespaces": {"shop": {"log": {"events": 1_000}}}})

    def __enter__(self):
        self.gateway.start().wait_ready()
        return self

    def __exit__(self, *_):
        self.gateway.stop()
        self.server.stop()


def crowd_of(kind: str, address, connections: int, seconds: float, epochs: list[str]):
    """A function that runs the readers of one kind."""
    numbers = itertools.count()
    if kind in READS:
        return lambda: read_on(address, connections, seconds, lambda: READS[kind](next(numbers)))
    return lambda: join_on(address, connections, seconds, lambda: JOINS[kind](next(numbers), epochs))


def run(kind: str, directory: Path, connections: int, seconds: float) -> bool:
    """One kind; true when publishers noticed nothing and the share was kept."""
    with Site(directory) as site, site.server.client() as redis, site.gateway.http() as http:
        fill(redis)
        spent = ReadersSpent(redis)
        epochs = publish_logs(http)
        with Publisher(http) as calm:
            eventually(lambda: len(calm.waits) >= 50, 10, "broadcasts while nobody reads")
        spent.learn_others()
        crowd = crowd_of(kind, site.gateway.address("plain"), connections, seconds, epochs)
        spent.start()
        with Publisher(http) as publisher, ThreadPoolExecutor(1) as pool:
            answers = pool.submit(apart, crowd)
            pass_time(seconds / 2, "the crowd reads")
            is_ready = site.gateway.ops("/readyz").status_code == 200
            answers = answers.result()
            spent.stop()
        share, steady = spent.share(), spent.share(BURST_US)
        print(f"{kind:31} {dict(answers.statuses)}; {len(publisher.waits)} broadcasts, {publisher.failed} failed, "
              f"slowest {publisher.slowest * 1_000:.0f} ms; readers {spent.calls} calls, {spent.usec / 1_000:.0f} ms "
              f"of Redis in {spent.seconds:.1f} s: {share:.1%}, {steady:.1%} without the burst of "
              f"{BURST_US / 1_000:.0f} ms; publisher and gateway {spent.others_usec / 1_000:.0f} ms; ready {is_ready}",
              flush=True)
        return not publisher.failed and publisher.slowest < 1 and is_ready and steady < SHARE_MAX


# An hour of joins of new names

LIFE_SECONDS = 4
LIVES = 12
IDLE_SECONDS = 300
JOIN_US = 1_050  # what position.lua and a new position cost together
# What docs/archive/decisions.md (D43) says that all live names of a node may take, and the longest ids that a topic
# may have.
NAMES_BYTES_MAX = 32_000_000
ID_BYTES = 200


def hour(directory: Path, connections: int) -> bool:
    """True when names and memory level at what the rate of joins and the life of a position allow."""
    seconds = LIFE_SECONDS * LIVES
    rate = ANONYMOUS_US / JOIN_US
    with Site(directory, idlePositionSeconds=LIFE_SECONDS) as site, site.server.client() as redis:
        empty, empty_bytes = redis.dbsize(), redis.info("memory")["used_memory"]
        looks = []
        numbers = itertools.count()
        with ThreadPoolExecutor(1) as pool:
            answers = pool.submit(apart, lambda: join_on(
                site.gateway.address("plain"), connections, seconds, lambda: {"topic": long_name(next(numbers))}))
            while not answers.done():
                pass_time(1, "the next look at the memory of Redis")
                looks.append((redis.dbsize() - empty, redis.info("memory")["used_memory"] - empty_bytes))
                print(f"{5 * len(looks) / LIFE_SECONDS:5.1f} min: {looks[-1][0]:6} names, "
                      f"{looks[-1][1] / 1_000:7.0f} kB", flush=True)
        joined = answers.result().statuses["subscribed"]
        each = bytes_of_a_name(redis)
    # A name lives on while it has members and a second more, and Redis forgets in its own time: a tenth may stand
    # longer.
    names_max = 1.1 * (BURST_US / JOIN_US + rate * (LIFE_SECONDS + 2))
    most = max(names for names, _ in looks)
    third = len(looks) // 3
    earlier, later = [
        [max(column) for column in zip(*part)] for part in (looks[third:2 * third], looks[2 * third:])]
    whole = rate * IDLE_SECONDS * each
    print(f"{joined} joins in {seconds} s; at most {most} names, allowed {names_max:.0f} = {rate:.0f}/s for "
          f"{LIFE_SECONDS} + 2 s, and the burst; {each:.0f} bytes a name: {rate * IDLE_SECONDS:.0f} names of "
          f"{IDLE_SECONDS} s are {whole / 1e6:.1f} MB a node, promised {NAMES_BYTES_MAX / 1e6:.0f} MB")
    print(f"most names and bytes in the second third: {earlier}, in the last: {later}")
    # Beside the names there are buffers of clients.
    is_level = later[0] <= 1.1 * earlier[0] and later[1] <= 1.1 * earlier[1] + 200_000
    return most <= names_max and is_level and whole <= NAMES_BYTES_MAX


def long_name(number: int) -> str:
    return f"shop:new-{number:0{ID_BYTES - 4}}"


def bytes_of_a_name(redis) -> float:
    """Bytes of Redis that a name without events takes, from a thousand copies of one that are there alone."""
    name = next(key for key in redis.scan_iter("shop:new-*#meta"))
    mapping = redis.hgetall(name)
    redis.flushall()
    before = redis.info("memory")["used_memory"]
    with redis.pipeline(transaction=False) as pipe:
        for number in range(100_000, 101_000):
            pipe.hset(long_name(number) + "#meta", mapping=mapping)
            pipe.expire(long_name(number) + "#meta", IDLE_SECONDS)
        pipe.execute()
    return (redis.info("memory")["used_memory"] - before) / 1_000


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--connections", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=5, help="how long each kind of crowd reads")
    parser.add_argument("--only", default="", help="kinds whose name has this")
    parser.add_argument("--hour", action="store_true", help="an hour of joins of new names, compressed")
    options = parser.parse_args()
    good = True
    if options.hour:
        with tempfile.TemporaryDirectory() as directory:
            good = hour(Path(directory), options.connections)
    else:
        for kind in (kind for kind in (*READS, *JOINS) if options.only in kind):
            with tempfile.TemporaryDirectory() as directory:
                good &= run(kind, Path(directory), options.connections, options.seconds)
    sys.exit(0 if good else 1)
