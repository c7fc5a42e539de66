"""What the rigs of fleets have in common: rounds of faults under load, in a seeded order."""

import json
import random
import time
from typing import NamedTuple

import paths  # noqa: F401
import runs
from Fixtures.waiting import pass_time
from gauges import now_us

CALM_SECONDS = 2
GREEN_SECONDS_MAX = 60
STOP_SECONDS = 10


class Played(NamedTuple):
    """A round that counts: its kind, seconds to green, when it was, and the topics that its fault was about."""

    kind: str
    seconds: float
    since_us: int
    until_us: int
    concerned: set


class Rounds:
    """The rounds over one world whose Redis is a fleet; `_KIND` plays one of a kind, and tells its seconds."""

    def __init__(self, world, rng: random.Random):
        self.world, self.rng, self.fleet = world, rng, world.redis
        # The topics that the fault of this round is about, as far as there are others.
        self.concerned = set()

    def acked(self) -> int:
        """Publishes that were acknowledged since the start."""
        return json.loads(self.world.publishers.ask("status")).get("acked", 0)

    def publishes(self, seconds_max: float, what: str) -> None:
        """Waits until one more publish is acknowledged."""
        before = self.acked()
        self.world.every(0.02, lambda: self.acked() > before, seconds_max, what)

    def green(self, began: float) -> float:
        """Seconds from `began` until every gateway is ready and a publish was acked after that."""
        def ready():
            return all(gateway.ops("/readyz").status_code == 200 for gateway in self.world.gateways)
        self.world.every(0.05, ready, GREEN_SECONDS_MAX, "every gateway is ready")
        self.publishes(GREEN_SECONDS_MAX, "a publish is acked")
        return time.monotonic() - began

    def changes(self, epochs: str) -> int:
        """Masters that another followed, with all epochs `kept` or `reset`, at all gateways."""
        return sum(int(gateway.metric("switchboard_redis_master_changes_total", epochs=epochs))
                   for gateway in self.world.gateways)

    def judged(self, count: int) -> None:
        """Waits until so many masters followed another."""
        self.world.every(0.05, lambda: self.changes("kept") + self.changes("reset") >= count, 20,
                         "everybody has judged the new master")

    def whole(self) -> None:
        """Waits until the fleet is as it was at the start."""
        raise NotImplementedError

    def mend(self) -> None:
        """Ends what a round that was given up may have left."""
        raise NotImplementedError

    def disturbances(self) -> int:
        """How often the machine itself stood in the way so far, as the fleet says; such rounds do not count."""
        return 0

    def play(self, kind: str) -> float:
        """One round; seconds until everything was green again."""
        return getattr(self, f"_{kind}")()

    def attempt(self, kind: str) -> Played | None:
        """One round; `None` when it does not count."""
        self.concerned, disturbed, since_us = set(), self.disturbances(), now_us()
        try:
            seconds = self.play(kind)
        except AssertionError:
            if self.disturbances() == disturbed:
                raise
        if self.disturbances() != disturbed:
            self.mend()
            return None
        return Played(kind, seconds, since_us, now_us(), self.concerned)


def play_all(options, rounds: Rounds) -> list:
    """So many rounds of each kind that count, in a seeded order."""
    jobs = [kind for kind in options.kinds for _ in range(options.rounds)]
    rounds.rng.shuffle(jobs)
    played, spare = [], len(jobs)
    while jobs:
        kind = jobs.pop(0)
        rounds.whole()
        pass_time(CALM_SECONDS, "the load runs undisturbed")
        one = rounds.attempt(kind)
        rounds.world.wait_live()
        if one is None:
            spare -= 1
            assert spare > 0, "the machine is too busy: it stood still as often as there are rounds"
            print(f"{kind}: a process stood still by itself; this round does not count", flush=True)
            jobs.insert(rounds.rng.randrange(len(jobs) + 1), kind)
        else:
            played.append(one)
            print(f"round {len(played)}: {kind}; green after {one.seconds:.2f} s", flush=True)
    rounds.whole()
    return played


def arguments(description: str, kinds, **defaults):
    """A parser with what the rigs of fleets take."""
    parser = runs.arguments(description, clients=100, rate=100, **defaults)
    parser.add_argument("--kinds", default=",".join(kinds), help="of " + ", ".join(kinds))
    return parser


def parse(parser, kinds):
    """The options; `kinds` is a list of known ones."""
    options = runs.parse(parser)
    options.kinds = options.kinds.split(",")
    assert set(options.kinds) <= set(kinds), options.kinds
    return options


def played_and_judged(options, path, make_world, make_rounds, judge):
    """Plays all rounds; returns them, the checker's report, and what else was not as it must be, as `judge` says.

    `judge` takes the directory of the logs, the rounds that were played and the report.
    """
    with make_world(options, path) as world:
        world.rate(options.rate)
        played = play_all(options, make_rounds(world, random.Random(options.seed)))
        report = world.finish()
    return played, report, judge(path, played, report)


def run(options, make_world, make_rounds, judge) -> int:
    """Plays all rounds and tells of them; the exit code."""
    with runs.directory(options) as outcome:
        played, report, problems = played_and_judged(options, outcome.path, make_world, make_rounds, judge)
        for kind in options.kinds:
            seconds = [one.seconds for one in played if one.kind == kind]
            told = " ".join(f"{one:.1f}" for one in seconds)
            print(f"{kind}: {len(seconds)} rounds, green after {told} s", flush=True)
        return runs.close(outcome, report, problems)
