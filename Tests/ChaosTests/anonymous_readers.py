"""What a crowd of callers without a token costs Redis, and what publishers notice of it.

usage: anonymous_readers.py [--connections 200] [--rounds 3]

For each kind of read a gateway and a Redis of its own: every connection reads so many times, all at once, from 40
loopback addresses, while one publisher broadcasts. Prints what the readers were answered, the slowest broadcast and the
share of Redis's time, and exits 1 if a broadcast failed or took a second, or the share is over 30 %.
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

if __name__ == "__main__":
    for folder in ("", "EndToEndTests"):
        sys.path.insert(0, str(Path(__file__).resolve().parents[1] / folder))

from anonymous import Spent, read_all
from certificates import write_certificate
from gateway_process import Gateway
from support.redis_server import RedisServer
from tokens import SECRET

KINDS = {
    "leaderboard, each its own page": lambda n: f"/v1/challenges/c1/leaderboard?limit=100&from={1 + n}",
    "leaderboard, all the same": lambda n: "/v1/challenges/c1/leaderboard?limit=1000",
    "dj of 500 tracks": lambda n: f"/v1/shops/s{n % 50}/dj",
    "dj topics": lambda n: f"/v1/topics/dj:s{n % 50}",
    "history": lambda n: f"/v1/topics/shop:h/events?limit={1 + n % 300}",
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


def run(name: str, path, directory: Path, connections: int, rounds: int) -> bool:
    """One kind; true when publishers noticed nothing and the share was kept."""
    server = RedisServer(directory / "redis").start()
    gateway = Gateway(directory, server.url, write_certificate(directory), SECRET, "--listen-plain", "127.0.0.1:0")
    try:
        gateway.start().wait_ready()
        with server.client() as redis, gateway.http() as http, ThreadPoolExecutor() as pool:
            fill(redis)
            for _ in range(2):
                http.post("/v1/broadcast", json={"messages": [
                    {"topic": "shop:h", "event": "e", "data": {"pad": "x" * 500}} for _ in range(150)]})
            stop, waits = threading.Event(), []

            def publish():
                while not stop.is_set():
                    started = time.monotonic()
                    answer = http.post("/v1/broadcast", json={"topic": "shop:42", "event": "e", "data": {}})
                    waits.append((answer.status_code, time.monotonic() - started))

            spent, publisher, numbers = Spent(redis), pool.submit(publish), itertools.count()
            crowd = read_all(gateway.address("plain"), [
                [path(next(numbers)) for _ in range(rounds)] for _ in range(connections)])
            is_ready = gateway.ops("/readyz").status_code == 200
            stop.set()
            publisher.result()
            spent.stop()
        slowest = max(wait for _, wait in waits)
        failed = sum(status != 200 for status, _ in waits)
        print(f"{name:32} {dict(crowd.statuses)}; {len(waits)} broadcasts, {failed} failed, slowest "
              f"{slowest * 1_000:.0f} ms; {spent}; ready {is_ready}", flush=True)
        return not failed and slowest < 1 and is_ready and spent.usec <= 125_000 + 300_000 * spent.seconds
    finally:
        gateway.stop()
        server.stop()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--connections", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    good = True
    for kind, way in KINDS.items():
        with tempfile.TemporaryDirectory() as directory:
            good &= run(kind, way, Path(directory), options.connections, options.rounds)
    sys.exit(0 if good else 1)
