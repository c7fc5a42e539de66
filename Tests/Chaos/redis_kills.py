"""D3, D4, D10: Redis dies, comes back empty, or comes back with older data; what is lost is never lost in silence.

Modes: always (AOF, every write synced), everysec, rdb, none: kill -9 and restart. flushall: the data goes, the process
stays. olddump: Redis comes back with a dump of some seconds ago and is published to at once, past the old top, while
the clients are away.

usage: .venv/bin/python Tests/Chaos/redis_kills.py --mode always --rounds 20
"""

import json
import random
import shutil
import sys
import time

import paths  # noqa: F401
import runs
from Fixtures.waiting import pass_time
from world import World

PERSISTENCE = {"flushall": "none", "olddump": "none"}
CALM_SECONDS = 1.5
UNAVAILABLE_SECONDS_MAX = 2
EVENTS_PAST_THE_TOP = 60


class Rounds:
    """The rounds of one mode over one world."""

    def __init__(self, world, mode: str, rng: random.Random):
        self.world, self.mode, self.rng = world, mode, rng
        self.redis = world.redis

    def acked(self) -> int:
        return json.loads(self.world.publishers.ask("status")).get("acked", 0)

    def until_acked(self) -> float:
        """Seconds until publishes are acked again."""
        began, before = time.monotonic(), self.acked()
        self.world.every(0.02, lambda: self.acked() > before, 30, "a publish is acked")
        return time.monotonic() - began

    def play(self) -> tuple:
        """One round: what was done, and the seconds until publishes worked again."""
        if self.mode == "flushall":
            with self.redis.client() as db:
                db.flushall()
            return "flushall", self.until_acked()
        if self.mode == "olddump":
            return self._old_dump()
        down = self.rng.choice((0.2, 2))
        self.redis.kill()
        pass_time(down, "Redis is away")
        self.redis.start()
        return f"down for {down} s", self.until_acked()

    def _old_dump(self) -> tuple:
        dump, saved = self.redis.directory / "dump.rdb", self.redis.directory / "saved.rdb"
        with self.redis.client() as db:
            db.save()
        shutil.copy(dump, saved)
        age = self.rng.uniform(1, 4)
        pass_time(age, "the dump grows old")
        self.redis.kill()
        shutil.copy(saved, dump)
        # The clients are away while the topics grow past their positions.
        self.world.crowd.ask(f"drop {self.world.clients}")
        if self.rng.random() < 0.5:
            # A gateway that knows nothing of the old tops may be the first to publish.
            for gateway in self.world.gateways:
                gateway.kill()
            self.redis.start()
            for gateway in self.world.gateways:
                gateway.start()
            how = "gateways new"
        else:
            self.redis.start()
            how = "gateways know"
        self.world.publishers.ask(f"burst {EVENTS_PAST_THE_TOP * self.world.topic_count} 100")
        return f"dump of {age:.1f} s ago, {how}", self.until_acked()


def main() -> int:
    parser = runs.arguments(__doc__.split("\n")[0], clients=300, rate=100, topics=30)
    parser.add_argument("--mode", choices=("always", "everysec", "rdb", "none", "flushall", "olddump"),
                        default="always")
    options = runs.parse(parser)
    problems = []
    with runs.directory(options) as outcome:
        always = options.mode == "always"
        with World(outcome.path, gateways=2, per_client=1, persistence=PERSISTENCE.get(options.mode, options.mode),
                   durable=always, epoch_kept=always, deadline=30, **runs.world_options(options)) as world:
            world.rate(options.rate)
            rounds = Rounds(world, options.mode, random.Random(options.seed))
            for number in range(1, options.rounds + 1):
                pass_time(CALM_SECONDS, "the load runs undisturbed")
                what, seconds = rounds.play()
                world.wait_live()
                print(f"round {number}: {what}; publishes acked {seconds:.2f} s after it was back", flush=True)
                if seconds > UNAVAILABLE_SECONDS_MAX and options.mode != "olddump":
                    problems.append(f"round {number}: unavailable for {seconds:.2f} s after Redis was back")
            report = world.finish()
        if options.mode not in ("olddump",) and report.counts["disconnects"]:
            problems.append(f"{report.counts['disconnects']} clients were disconnected")
        if not always and not report.counts["resets"]:
            problems.append("nobody was told anything: did the data go at all?")
        return runs.close(outcome, report, problems)


if __name__ == "__main__":
    sys.exit(main())
