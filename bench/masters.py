#!/usr/bin/env python3
"""One Redis and a Cluster of three masters beside each other: what a publish costs Redis, and who carries it.

    .venv/bin/python bench/masters.py [--rounds 5] [--seconds 6] [--replicas 0] [--gateways 1] [--json FILE]

Each arrangement has gateways of its own with one shard, on CPU 0; Redis and wrk have CPU 1. Single logged publishes of
200 bytes go to 3,000 topics in turn by HTTP, and clients hear 250 of them. In each round one server takes a load, then
the Cluster takes as much in all, then as much on each master; every other round begins at the other end. A master that
gets less reads less at once, so the last two differ. What servers use while nobody publishes is measured in each round,
and taken off. At last MONITOR looks at all masters for --look seconds, and all keys are scanned.

Ends 1 when a publish takes more than 1.10 times as much of the three masters as of one server with as much on each,
when a master has more or less than a tenth of a third of the calls or of the processor time, when a key, a channel or a
call of a slot is on another master, when a call was redirected, and when a publish was refused.
SWITCHBOARD_BIN names another build of the gateway.
"""

import argparse
import dataclasses
import json
import os
import statistics
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "bench/capacity"), str(ROOT / "Tests/ChaosTests")]

from arrangement import HEARD_MAX, Arrangement, Ears, Spent, net, pin
from certificates import write_certificate
from measure import LOAD_CPU
from placement import Placement

MASTERS, TOPICS = 3, 3_000
# What MONITOR can show without being what is measured.
LOOK_CONNECTIONS, LOOK_PAUSE_MS = 6, 20
RATIO_MAX, SHARE_OFF_MAX = 1.10, 0.10
ONE, SAME, EACH = "1 master", f"{MASTERS} masters, as much in all", f"{MASTERS} masters, as much on each"
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


def figures(spent: Spent, bare: Spent) -> Figures:
    """What a load cost."""
    masters = net(spent, bare)
    return Figures(spent.published / spent.seconds, sum(masters) / spent.published, spent.gateways_us / spent.published,
                   tuple(one / sum(masters) for one in masters), tuple(one / sum(spent.calls) for one in spent.calls),
                   spent.refused)


def shares(rounds: list, name: str) -> list:
    """Each master's share, as the median of the rounds."""
    return [statistics.median(column) for column in zip(*(getattr(one[EACH], name) for one in rounds), strict=True)]


def ratios(rounds: list, case: str) -> list:
    """How much more Redis one case takes for a publish than one server does, in each round."""
    return [one[case].redis_us / one[ONE].redis_us for one in rounds]


def wrong(rounds: list, found) -> list:
    """What is not as it must be, a line each."""
    lines = list(found.wrong())
    if (ratio := statistics.median(ratios(rounds, EACH))) > RATIO_MAX:
        lines.append(f"a publish takes {ratio:.3f} of what it takes of one server, more than {RATIO_MAX}")
    for name, what in SHARES.items():
        for number, share in enumerate(shares(rounds, name)):
            if abs(share * MASTERS - 1) > SHARE_OFF_MAX:
                lines.append(f"master {number + 1} has {share:.1%} of the {what}, not a third")
    refused = sum(case.refused for one in rounds for case in one.values())
    return lines + ([f"{refused} publishes were refused"] if refused else [])


def measure(options, one: Arrangement, three: Arrangement) -> list:
    """The rounds."""
    rounds = []
    for number in range(options.rounds):
        bare = {arrangement.name: arrangement.rest(options.bare) for arrangement in (one, three)}
        cases = [(ONE, one, 1), (SAME, three, 1), (EACH, three, MASTERS)]
        found = {}
        for case, arrangement, times in cases if number % 2 == 0 else cases[::-1]:
            spent = arrangement.publish(options.seconds, TOPICS, options.connections * times, options.pause_ms)
            found[case] = figures(spent, bare[arrangement.name])
            print(f"round {number + 1}: {line(case, [found[case]])}", file=sys.stderr, flush=True)
        rounds.append(found)
    return rounds


def line(case: str, runs: list) -> str:
    """A row of the table: medians."""
    def middle(name: str) -> float:
        return statistics.median(getattr(one, name) for one in runs)
    return f"{case:28}{middle('rate'):12.0f}{middle('redis_us'):11.2f}{middle('gateway_us'):13.2f}"


def look(options, three: Arrangement):
    """Where keys, channels and calls are."""
    placement = Placement(three.cluster)
    with placement.watch():
        three.publish(options.look, TOPICS, LOOK_CONNECTIONS, LOOK_PAUSE_MS)
    placement.scan()
    return placement.found


def tell(rounds: list, found) -> None:
    """The table and what was looked at."""
    print(f"{'':28}{'publishes/s':>12}{'Redis, us':>11}{'gateways, us':>13}{'x 1 master':>12}")
    for case in (ONE, SAME, EACH):
        beside = ratios(rounds, case)
        more = "" if case == ONE else f"{statistics.median(beside):12.3f} ({min(beside):.3f} to {max(beside):.3f})"
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
    parser.add_argument("--gateways", type=int, default=1, help="before each arrangement")
    parser.add_argument("--connections", type=int, default=32, help="that publish to one master")
    parser.add_argument("--pause-ms", type=int, default=16, help="that each rests between publishes, on average")
    parser.add_argument("--json", type=Path, help="keep the rounds")
    options = parser.parse_args()
    heard = [f"shop:bench-{number}" for number in range(HEARD_MAX)]
    pin(os.getpid(), LOAD_CPU)
    with tempfile.TemporaryDirectory(prefix="switchboard-masters-") as name:
        directory = Path(name)
        certificate = write_certificate(directory)
        with Arrangement(directory / "one", certificate, 1, gateways=options.gateways) as one, \
                Arrangement(directory / "three", certificate, MASTERS, options.replicas, options.gateways) as three, \
                Ears(one.gateways, heard), Ears(three.gateways, heard) as ears:
            rounds = measure(options, one, three)
            found = look(options, three)
            mistakes = wrong(rounds, found) + ([] if ears.heard else ["nobody heard an event"])
    tell(rounds, found)
    if options.json:
        options.json.write_text(json.dumps({
            "rounds": [{case: dataclasses.asdict(run) for case, run in one.items()} for one in rounds],
            "found": dataclasses.asdict(found)}, indent=2) + "\n")
    print("\n".join(f"FAILED: {line}" for line in mistakes) or "all as it must be")
    return 1 if mistakes else 0


if __name__ == "__main__":
    sys.exit(main())
