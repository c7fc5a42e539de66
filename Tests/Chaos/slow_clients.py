"""C1, O3: clients that stop reading while megabytes are published; the others lose nothing and see no gap.

With --prefix load:t slow clients are closed 4410 and come back; with live:t they are told of what was left out.

usage: .venv/bin/python Tests/Chaos/slow_clients.py --rounds 5 --prefix live:t
"""

import random
import sys

import paths  # noqa: F401
import runs
from Fixtures.waiting import pass_time
from world import World

PADDING = 30_000
BURST = 1_500
LIMITS = {"outboundBytesMax": 1 << 20, "outboundAgeMs": 2_000}


def signalled_to_readers(directory, slow: int) -> int:
    """Gaps and failed recoveries of clients that always read."""
    found = 0
    for line in open(directory / "subscribers.log", encoding="ascii", errors="replace"):
        fields = line.split(" ")
        if len(fields) > 3 and fields[2].isdigit() and int(fields[2]) >= slow:
            found += fields[1] == "G" or (fields[1] == "S" and fields[6] == "0" and fields[7] != "-")
    return found


def main() -> int:
    parser = runs.arguments(__doc__.split("\n")[0], clients=20, rate=100, topics=4, rounds=5)
    parser.add_argument("--prefix", default="live:t")
    parser.add_argument("--slow", type=int, default=5, help="clients that stop reading")
    options = runs.parse(parser)
    rng = random.Random(options.seed)
    problems = []
    with runs.directory(options) as outcome:
        # Without nginx, whose buffers would hide who reads slowly.
        with World(outcome.path, gateways=2, per_client=1, durable=True, epoch_kept=True, prefix=options.prefix,
                   through_nginx=False, limits=LIMITS, deadline=30, **runs.world_options(options)) as world:
            world.rate(options.rate)
            for number in range(1, options.rounds + 1):
                world.crowd.ask(f"stall {options.slow}")
                for _ in range(4):
                    world.publishers.ask(f"burst {BURST // 4} {PADDING}")
                    pass_time(rng.uniform(0.3, 1.2), "the burst arrives")
                queued = sum(gateway.usage()["queued"] for gateway in world.gateways)
                pass_time(rng.uniform(0, 4), "slow clients do not read")
                world.crowd.ask("resume")
                world.wait_live()
                print(f"round {number}: {queued >> 10} KiB were queued", flush=True)
            report = world.finish()
        hurt = signalled_to_readers(outcome.path, options.slow)
        if hurt:
            problems.append(f"clients that always read were told of {hurt} holes")
        if not report.holes and not report.notes["closed 4410"]:
            problems.append("nobody was slow")
        return runs.close(outcome, report, problems)


if __name__ == "__main__":
    sys.exit(main())
