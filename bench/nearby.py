#!/usr/bin/env python3
"""What a move of one listener takes of Redis, with ever more listeners in one city.

    .venv/bin/python bench/nearby.py [--listeners 1000,10000,100000] [--moves 10000] [--city 10] [--crowd 5000]

Starts a redis-server of its own, puts the listeners at random places of a square city (kilometres along a side), moves
random ones by 100 m, as the app does, and prints what each move takes: what Redis itself counts for the script, telling
included, by the clock (INFO commandstats), and the processor time of the whole server (proc(5), schedstat), with the
reading of the call and the writing of each event to a link that listens to all topics of users. The clock also runs
while others have the processor; the host's stolen time is printed. At the end a crowd stands within 500 m, and each
listener of it moves once.
"""

import argparse
import math
import statistics
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "Tests"), str(ROOT / "Tests" / "LuaTests")]

from nearby_scripts import Ears, NearbyCommands  # noqa: E402
from support.redis_server import RedisServer  # noqa: E402
from support.seeds import seeded  # noqa: E402

CENTRE = (52.52, 13.40)
DEGREE_METRES = 111_226
EAST_METRES = DEGREE_METRES * math.cos(math.radians(CENTRE[0]))


class City:
    """Listeners who walk, and what Redis needs for it."""

    def __init__(self, server, rng):
        self.db, self.rng = server.client(), rng
        self.pid = server.process.pid
        self.pack = NearbyCommands(self.db)
        self.places = []

    @staticmethod
    def user(number):
        return f"{number:08x}-0000-4000-8000-{number:012x}"

    def put(self, number, east, north):
        """Sends one place, metres from the centre."""
        answer = self.pack.set_location(
            userId=self.user(number), latitude=CENTRE[0] + north / DEGREE_METRES,
            longitude=CENTRE[1] + east / EAST_METRES)
        assert len(answer["nearby"]) <= 50

    def fill(self, count, side):
        while len(self.places) < count:
            place = self.rng.uniform(-side / 2, side / 2), self.rng.uniform(-side / 2, side / 2)
            self.put(len(self.places), *place)
            self.places.append(place)

    def processor(self):
        """Microseconds of a processor that Redis has used."""
        return int(Path(f"/proc/{self.pid}/schedstat").read_text().split()[0]) / 1_000

    def move(self, number, ears, metres=100):
        """One listener walks: microseconds of the script, of the processor, and how many events were told."""
        angle = self.rng.uniform(0, 2 * math.pi)
        east, north = self.places[number]
        self.places[number] = place = east + metres * math.sin(angle), north + metres * math.cos(angle)
        self.db.config_resetstat()
        before = self.processor()
        self.put(number, *place)
        used = self.processor() - before
        return self.db.info("commandstats")["cmdstat_evalsha"]["usec"], used, len(ears.heard())

    def walk(self, name, numbers, metres=100):
        """Moves some, and prints what it took."""
        ears = Ears(self.db)
        moves = [self.move(number, ears, metres) for number in numbers]
        ears.close()
        spent, used, told = zip(*moves)
        cuts = statistics.quantiles(spent, n=100)
        print(f"{name:>10} {cuts[24]:9.0f} {cuts[49]:7.0f} {cuts[98]:7.0f} {statistics.quantiles(used, n=4)[0]:9.0f} "
              f"{statistics.median(used):7.0f} {statistics.mean(told):6.1f} {max(told):5} {self.most_seen():9} "
              f"{self.db.info('memory')['used_memory'] >> 20:5} MiB", flush=True)

    def most_seen(self):
        """The size of the largest picture."""
        pictures = [text for name in self.db.scan_iter("cell:*#pictures") for text in self.db.hvals(name)]
        return max((len(text) - 4) // 5 for text in pictures)


def stolen_ms():
    """Time that the host gave to others so far (proc(5), /proc/stat)."""
    return int(Path("/proc/stat").read_text().split("\n", 1)[0].split()[8]) * 10


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--listeners", default="1000,10000,100000")
    arguments.add_argument("--moves", type=int, default=10_000)
    arguments.add_argument("--city", type=float, default=10, help="kilometres along a side")
    arguments.add_argument("--crowd", type=int, default=5_000, help="listeners within 500 m; 0 for none")
    options = arguments.parse_args()
    rng = seeded("nearby")
    print(f"{'listeners':>10} {'quartile':>9} {'median':>7} {'p99':>7} {'processor':>9} {'median':>7} {'told':>6} "
          f"{'most':>5} {'pictures':>9}")
    before = stolen_ms()
    with tempfile.TemporaryDirectory() as directory:
        server = RedisServer(Path(directory)).start()
        city = City(server, rng)
        for count in map(int, options.listeners.split(",")):
            city.fill(count, options.city * 1_000)
            city.walk(str(count), [rng.randrange(count) for _ in range(options.moves)])
        if options.crowd:
            city.db.flushall()
            city.places = []
            city.fill(options.crowd, 880)
            city.walk("crowd", range(options.crowd), 50)
        server.stop()
    print(f"stolen time meanwhile: {stolen_ms() - before} ms")


if __name__ == "__main__":
    main()
