#!/usr/bin/env python3
"""What a move of one listener takes of Redis, with ever more listeners in one city.

    .venv/bin/python bench/nearby.py [--listeners 1000,10000,100000] [--moves 3000] [--city 10] [--crowd 5000]
        [--instructions]

Starts a redis-server for each city, puts the listeners at random places of a square (kilometres along a side), and
moves random ones by 100 m, as the app does. A crowd, the last city, stands within 500 m, and its listeners move by 50
m. The cities take turns, 250 moves each, since what else a machine does changes what a move takes from one minute to
the next. Prints what a move takes: what Redis itself counts for the script, telling included, by the clock (INFO
commandstats), and the processor time of the whole server (proc(5), schedstat), with the reading of the call and the
writing of each event to a link that listens to all topics of users. The clock also runs while others have the
processor; the host's stolen time is printed. With `--instructions` the cities are saved when they stand and served by
valgrind, and what is told of `--moves` moves in each is the instructions: the same on any host, however busy.
"""

import argparse
import contextlib
import math
import statistics
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "Tests")]

import counted  # noqa: E402
from Fixtures.redis.server import RedisServer  # noqa: E402
from Fixtures.scripts.nearby_scripts import Ears, NearbyCommands  # noqa: E402
from Fixtures.seeds import seeded  # noqa: E402

CENTRE = (52.52, 13.40)
DEGREE_METRES = 111_226
TURN = 250  # moves; with few, each city would find what the others left in the caches
EAST_METRES = DEGREE_METRES * math.cos(math.radians(CENTRE[0]))


class City:
    """Listeners who walk, and a Redis for them."""

    def __init__(self, name, server, rng, count, side, metres):
        self.name, self.rng, self.metres = name, rng, metres
        self.server, self.db, self.pid = server, server.client(), server.process.pid
        self.pack = NearbyCommands(self.db)
        self.places = []
        for number in range(count):
            self.places.append((rng.uniform(-side / 2, side / 2), rng.uniform(-side / 2, side / 2)))
            self.put(number, *self.places[number])
        self.ears = Ears(self.db)
        self.moves = []

    @staticmethod
    def user(number):
        return f"{number:08x}-0000-4000-8000-{number:012x}"

    def put(self, number, east, north):
        """Sends one place, metres from the centre."""
        answer = self.pack.set_location(
            userId=self.user(number), latitude=CENTRE[0] + north / DEGREE_METRES,
            longitude=CENTRE[1] + east / EAST_METRES)
        assert len(answer["nearby"]) <= 50

    def processor(self):
        """Microseconds of a processor that Redis has used."""
        return int(Path(f"/proc/{self.pid}/schedstat").read_text().split()[0]) / 1_000

    def walk(self):
        """One listener walks."""
        number, angle = self.rng.randrange(len(self.places)), self.rng.uniform(0, 2 * math.pi)
        east, north = self.places[number]
        self.places[number] = place = east + self.metres * math.sin(angle), north + self.metres * math.cos(angle)
        self.put(number, *place)

    def move(self):
        """One listener walks: notes microseconds of the script, of the processor, and how many events were told."""
        self.db.config_resetstat()
        before = self.processor()
        self.walk()
        used = self.processor() - before
        spent = self.db.info("commandstats")["cmdstat_evalsha"]["usec"]
        self.moves.append((spent, used, len(self.ears.heard())))

    def report(self):
        """Prints what the moves took."""
        spent, used, told = zip(*self.moves)
        cuts, processor = statistics.quantiles(spent, n=100), statistics.quantiles(used, n=4)
        print(f"{self.name:>10} {cuts[24]:9.0f} {cuts[49]:7.0f} {cuts[98]:7.0f} {processor[0]:9.0f} "
              f"{processor[1]:7.0f} {statistics.mean(told):6.1f} {max(told):5} {self.most_seen():9} "
              f"{self.db.info('memory')['used_memory'] >> 20:5} MiB", flush=True)

    def count(self, moves):
        """Serves the city by valgrind from now on, and prints what so many moves need."""
        self.ears.close()
        self.db.save()
        self.server.stop()
        counted.start(self.server)
        self.db = self.server.client(socket_timeout=600)
        self.pack, self.ears = NearbyCommands(self.db), Ears(self.db)
        # The first call compiles the script, and the first looks find nothing in Redis's own lists.
        for _ in range(20):
            self.walk()
        self.ears.heard()
        before = counted.instructions(self.server)
        for _ in range(moves):
            self.walk()
        spent = counted.instructions(self.server) - before
        print(f"{self.name:>10} {spent // moves:12} {len(self.ears.heard()) / moves:6.1f}", flush=True)

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
    arguments.add_argument("--moves", type=int, default=3_000, help="in each city")
    arguments.add_argument("--city", type=float, default=10, help="kilometres along a side")
    arguments.add_argument("--crowd", type=int, default=5_000, help="listeners within 500 m; 0 for none")
    arguments.add_argument("--instructions", action="store_true")
    options = arguments.parse_args()
    rng = seeded("nearby")
    sizes = [(str(count), count, options.city * 1_000, 100) for count in map(int, options.listeners.split(","))]
    if options.crowd:
        sizes.append(("crowd", options.crowd, 880, 50))
    with tempfile.TemporaryDirectory() as directory, contextlib.ExitStack() as running:
        cities = []
        for name, *size in sizes:
            server = RedisServer(Path(directory) / name).start()
            running.callback(server.stop)
            cities.append(City(name, server, rng, *size))
        if options.instructions:
            print(f"{'listeners':>10} {'instructions':>12} {'told':>6}")
            for city in cities:
                city.count(options.moves)
                city.ears.close()
            return
        before = stolen_ms()
        for _ in range(0, options.moves, TURN):
            for city in cities:
                for _ in range(TURN):
                    city.move()
        print(f"{'listeners':>10} {'quartile':>9} {'median':>7} {'p99':>7} {'processor':>9} {'median':>7} {'told':>6} "
              f"{'most':>5} {'pictures':>9}")
        for city in cities:
            city.report()
            city.ears.close()
    print(f"stolen time meanwhile: {stolen_ms() - before} ms")


if __name__ == "__main__":
    main()
