#!/usr/bin/env python3
"""What a move of one listener takes of Redis, with ever more listeners in one city.

    .venv/bin/python bench/nearby.py [--listeners 1000,10000,100000] [--moves 10000] [--city 10] [--crowd 5000]

Starts a redis-server of its own, puts the listeners at random places of a square city (kilometres along a side), moves
random ones by 100 m, as the app does, and prints what Redis itself counted for each move: everything that the script
does, telling included. A link listens to all topics of users, so each event is also written to a subscriber. At the end
a crowd stands within 500 m, and each listener of it moves once.
"""

import argparse
import functools
import math
import statistics
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "Tests"), str(ROOT / "Tests" / "LuaTests")]

from command_scripts import Header  # noqa: E402
from nearby_scripts import Ears, NearbyCommands  # noqa: E402
from support.redis_server import RedisServer  # noqa: E402
from support.seeds import seeded  # noqa: E402

CENTRE = (52.52, 13.40)
DEGREE_METRES = 111_226
EAST_METRES = DEGREE_METRES * math.cos(math.radians(CENTRE[0]))


class City:
    """Listeners who walk, and what Redis needs for it."""

    def __init__(self, db, rng):
        self.db, self.rng = db, rng
        self.pack = NearbyCommands(db)
        self.ears = Ears(db)
        self.places = []

    @staticmethod
    def user(number):
        return f"{number:08x}-0000-4000-8000-{number:012x}"

    def put(self, number, east, north):
        """Sends one place, metres from the centre; microseconds of Redis, and how many events were told."""
        self.db.config_resetstat()
        answer = self.pack.set_location(
            userId=self.user(number), latitude=CENTRE[0] + north / DEGREE_METRES,
            longitude=CENTRE[1] + east / EAST_METRES)
        spent = self.db.info("commandstats")["cmdstat_evalsha"]["usec"]
        assert len(answer["nearby"]) <= 50
        return spent, answer

    def fill(self, count, side):
        while len(self.places) < count:
            place = self.rng.uniform(-side / 2, side / 2), self.rng.uniform(-side / 2, side / 2)
            self.put(len(self.places), *place)
            self.places.append(place)
            if len(self.places) % 200 == 0:
                self.ears.heard()
        self.ears.heard()

    def move(self, number, metres=100):
        """One listener walks; microseconds of Redis, and the events told."""
        angle = self.rng.uniform(0, 2 * math.pi)
        east, north = self.places[number]
        self.places[number] = place = east + metres * math.sin(angle), north + metres * math.cos(angle)
        spent, _ = self.put(number, *place)
        return spent, self.ears.heard()

    def most_seen(self):
        """The size of the largest picture."""
        pictures = [text for name in self.db.scan_iter("cell:*#pictures") for text in self.db.hvals(name)]
        return max((len(text) - 4) // 5 for text in pictures)


def line(name, spent, events, city):
    spent.sort()
    cuts = statistics.quantiles(spent, n=100)
    print(f"{name:>10} {statistics.mean(spent):8.0f} {cuts[49]:8.0f} {cuts[98]:8.0f} {max(spent):8.0f} "
          f"{events / len(spent):8.1f} {city.most_seen():8}  {city.db.info('memory')['used_memory'] >> 20:6} MiB",
          flush=True)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--listeners", default="1000,10000,100000")
    arguments.add_argument("--moves", type=int, default=10_000)
    arguments.add_argument("--city", type=float, default=10, help="kilometres along a side")
    arguments.add_argument("--crowd", type=int, default=5_000, help="listeners within 500 m; 0 for none")
    options = arguments.parse_args()
    Header.read = functools.cache(Header.read)
    rng = seeded("nearby")
    print(f"{'listeners':>10} {'mean us':>8} {'median':>8} {'p99':>8} {'most':>8} {'told':>8} {'pictures':>8}")
    with tempfile.TemporaryDirectory() as directory:
        server = RedisServer(Path(directory)).start()
        city = City(server.client(), rng)
        for count in map(int, options.listeners.split(",")):
            city.fill(count, options.city * 1_000)
            moves = [city.move(rng.randrange(count)) for _ in range(options.moves)]
            line(str(count), [spent for spent, _ in moves], sum(len(told) for _, told in moves), city)
        if options.crowd:
            city.db.flushall()
            city.places = []
            city.fill(options.crowd, 880)
            moves = [city.move(number, 50) for number in range(options.crowd)]
            line("crowd", [spent for spent, _ in moves], sum(len(told) for _, told in moves), city)
        server.stop()


if __name__ == "__main__":
    main()
