"""Everything at once: seeded faults of processes, Redis, network and clients under load, then the checker.

usage: .venv/bin/python Tests/ChaosTests/chaos.py --seconds 60 --seed 1
"""

import sys

import paths  # noqa: F401
import faults
import runs
from world import World


def run(options, outcome, quiet=False):
    """One run; returns the report and the problems of the rig itself."""
    plan = faults.plan(options.seed, options.seconds)
    if not quiet:
        runs.print_plan(plan)
    with World(outcome.path, gateways=3, proxied=True, worker=True, per_client=4,
               **runs.world_options(options)) as world:
        world.rate(options.rate)
        injector = faults.Injector(world)
        injector.run(plan)
        report = world.finish()
    report.counts["faults"] = sum(injector.done.values())
    return report, injector.failures


def main() -> int:
    parser = runs.arguments(__doc__.split("\n")[0], clients=100, rate=300, topics=40)
    parser.add_argument("--seconds", type=float, default=60)
    options = runs.parse(parser)
    with runs.directory(options) as outcome:
        report, failures = run(options, outcome)
        return runs.close(outcome, report, failures)


if __name__ == "__main__":
    sys.exit(main())
