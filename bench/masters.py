#!/usr/bin/env python3
"""One Redis and a Cluster of three masters beside each other: what a publish costs Redis, and who carries it.

    .venv/bin/python bench/masters.py [--rounds 5] [--seconds 6] [--replicas 0] [--json FILE]

There are three servers, each with a gateway of its own, and a Cluster of three masters with three gateways, all with
one shard on CPU 0; Redis and wrk have CPU 1. Single logged publishes of 200 bytes go to 3,000 topics in turn by HTTP,
and clients hear 250 of them. In each round one of the servers takes a load, then each of the three as much, then the
Cluster three times as much; every other round begins at the other end. What fills a CPU and its caches is then the same
for three servers and for three masters. The loads are small: publishes that come together are cheaper. What servers use
while nobody publishes is measured in each round, and taken off. At last MONITOR looks at all masters for --look
seconds, and all keys are scanned.

Ends 1 when a publish takes more than 1.10 times as much of three masters as of three servers, when a master has more or
less than a tenth of a third of the calls or of the processor time, when a key, a channel or a call of a slot is on
another master, when a call was redirected, and when a publish was refused.
SWITCHBOARD_BIN names another build of the gateway.
"""

import argparse
import contextlib
import dataclasses
import json
import os
import statistics
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "bench/capacity"), str(ROOT / "Tests"), str(ROOT / "Tests/Chaos")]

from arrangement import HEARD_MAX, Arrangement, Ears, Spent, net, pin
from Fixtures.clients.certificates import write_certificate
from measure import LOAD_CPU
from placement import Placement

MASTERS, TOPICS = 3, 3_000
HEARD = [f"shop:bench-{number}" for number in range(HEARD_MAX)]
# So few publishes a second that hardly two come to a master together, whatever else runs on its CPU.
CONNECTIONS, PAUSE_MS = 32, 48
# What MONITOR can show without being what is measured.
LOOK_CONNECTIONS, LOOK_PAUSE_MS = 6, 20
RATIO_MAX, SHARE_OFF_MAX = 1.10, 0.10
ONE, APART, CLUSTER = "1 server", f"{MASTERS} servers, as much on each", f"{MASTERS} masters, as much on each"
CASES = (ONE, APART, CLUSTER)
SHARES = {"call_shares": "calls", "cpu_shares": "processor time"}


@dataclasses.dataclass(frozen=True)
class Figures:
    """One case of one round; the processor time is net, in us for each publish."""

    rate: float
    redis_us: float
    gateway_us: float
    # Of each master, of all masters' processor time and calls.
    cpu_shares: tuple
    call_shares: tuple
    refused: int


def figures(loads: list) -> Figures:
    """What loads at one time cost, each with what the same servers used without it."""
    spents = [spent for spent, _ in loads]
    masters = [us for spent, bare in loads for us in net(spent, bare)]
    calls = [count for spent in spents for count in spent.calls]
    published = sum(spent.published for spent in spents)
    return Figures(sum(spent.published / spent.seconds for spent in spents), sum(masters) / published,
                   sum(spent.gateways_us for spent in spents) / published, tuple(one / sum(masters) for one in masters),
                   tuple(one / sum(calls) for one in calls), sum(spent.refused for spent in spents))


def shares(rounds: list, name: str) -> list:
    """Each master's share, as the median of the rounds."""
    return [statistics.median(column) for column in zip(*(getattr(one[CLUSTER], name) for one in rounds), strict=True)]


def ratios(rounds: list, case: str, beside: str) -> list:
    """How much more Redis one case takes for a publish than another one, in each round."""
    return [one[case].redis_us / one[beside].redis_us for one in rounds]


def wrong(rounds: list, found) -> list:
    """What is not as it must be, a line each."""
    lines = list(found.wrong())
    if (ratio := statistics.median(ratios(rounds, CLUSTER, APART))) > RATIO_MAX:
        lines.append(f"a publish takes {ratio:.3f} of what it takes of three servers, more than {RATIO_MAX}")
    for name, what in SHARES.items():
        for number, share in enumerate(shares(rounds, name)):
            if abs(share * MASTERS - 1) > SHARE_OFF_MAX:
                lines.append(f"master {number + 1} has {share:.1%} of the {what}, not a third")
    refused = sum(case.refused for one in rounds for case in one.values())
    return lines + ([f"{refused} publishes were refused"] if refused else [])


class Sites:
    """Three servers and a Cluster, with gateways before each and clients that hear; a context manager."""

    def __init__(self, directory: Path, certificate, replicas: int):
        self.apart = [Arrangement(directory / f"apart-{number}", certificate, 1) for number in range(MASTERS)]
        self.cluster = Arrangement(directory / "cluster", certificate, MASTERS, replicas, MASTERS)
        self._stack = contextlib.ExitStack()

    def __enter__(self) -> "Sites":
        with contextlib.ExitStack() as stack:
            for arrangement in (*self.apart, self.cluster):
                stack.enter_context(arrangement)
            # One gateway of the Cluster, so that an event is written as often as by a server.
            self.ears = [stack.enter_context(Ears(one.gateways[:1], HEARD)).join()
                         for one in (*self.apart, self.cluster)]
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_):
        self._stack.close()

    def measure(self, options) -> list:
        """The rounds."""
        return [self._round(options, number) for number in range(options.rounds)]

    def _round(self, options, number: int) -> dict:
        everything = (*self.apart, self.cluster)
        with ThreadPoolExecutor(len(everything)) as pool:
            bare = dict(zip(everything, pool.map(lambda one: one.rest(options.bare), everything)))
        cases = {ONE: self.apart[:1], APART: self.apart, CLUSTER: [self.cluster]}
        found = {}
        for case in CASES if number % 2 == 0 else CASES[::-1]:
            with ThreadPoolExecutor(MASTERS) as pool:
                spents = pool.map(lambda one: one.publish(
                    options.seconds, TOPICS, options.connections * len(one.masters), options.pause_ms), cases[case])
                found[case] = figures([(spent, bare[one]) for spent, one in zip(spents, cases[case])])
            print(f"round {number + 1}: {line(case, [found[case]])}", file=sys.stderr, flush=True)
        return found

    def look(self, seconds: int):
        """Where keys, channels and calls of the Cluster are."""
        placement = Placement(self.cluster.cluster)
        with placement.watch():
            self.cluster.publish(seconds, TOPICS, LOOK_CONNECTIONS, LOOK_PAUSE_MS)
        placement.scan()
        return placement.found


def line(case: str, runs: list) -> str:
    """A row of the table: medians."""
    def middle(name: str) -> float:
        return statistics.median(getattr(one, name) for one in runs)
    return f"{case:28}{middle('rate'):12.0f}{middle('redis_us'):11.2f}{middle('gateway_us'):13.2f}"


def tell(rounds: list, found) -> None:
    """The table and what was looked at."""
    print(f"{'':28}{'publishes/s':>12}{'Redis, us':>11}{'gateways, us':>13}  beside {APART}")
    for case in CASES:
        beside = ratios(rounds, case, APART)
        more = "" if case == APART else f"  {statistics.median(beside):.3f} ({min(beside):.3f} to {max(beside):.3f})"
        print(line(case, [one[case] for one in rounds]) + more)
    for name, what in SHARES.items():
        print(f"each master's share of the {what}: " + ", ".join(f"{share:.1%}" for share in shares(rounds, name)))
    print(f"looked at {found.keys:,} keys, {found.channels:,} channels, {found.lines:,} commands of {found.links} "
          f"links: {len(found.misplaced)} of another master's slots, {len(found.spanning)} scripts over two, "
          f"{found.redirected} redirected")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=6, help="of each load")
    parser.add_argument("--bare", type=float, default=4, help="seconds without load in each round")
    parser.add_argument("--look", type=int, default=4, help="seconds of MONITOR")
    parser.add_argument("--replicas", type=int, default=0, help="of each master")
    parser.add_argument("--connections", type=int, default=CONNECTIONS, help="that publish to one master")
    parser.add_argument("--pause-ms", type=int, default=PAUSE_MS, help="that each rests between publishes, on average")
    parser.add_argument("--json", type=Path, help="keep the rounds")
    options = parser.parse_args()
    pin(os.getpid(), LOAD_CPU)
    with tempfile.TemporaryDirectory(prefix="switchboard-masters-") as name:
        with Sites(Path(name), write_certificate(Path(name)), options.replicas) as sites:
            rounds, found = sites.measure(options), sites.look(options.look)
            mistakes = wrong(rounds, found) + ["nobody heard an event" for ears in sites.ears if not ears.heard]
    tell(rounds, found)
    if options.json:
        options.json.write_text(json.dumps({
            "rounds": [{case: dataclasses.asdict(run) for case, run in one.items()} for one in rounds],
            "found": dataclasses.asdict(found)}, indent=2) + "\n")
    print("\n".join(f"FAILED: {line}" for line in mistakes) or "all as it must be")
    return 1 if mistakes else 0


if __name__ == "__main__":
    sys.exit(main())
