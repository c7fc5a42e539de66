"""D1: kill -9 of one of three gateways under load, again and again; nobody loses, doubles or reorders anything.

usage: .venv/bin/python Tests/Chaos/gateway_kills.py --rounds 20
"""

import random
import sys
import time

import paths  # noqa: F401
import runs
from Fixtures.waiting import pass_time
from latency import Latency
from world import World

DOWN_SECONDS = 1
CALM_SECONDS = 2
# Of a crash; who is told to leave is told when to come back, too.
RESUME_SECONDS_MAX = 3


def now_us() -> int:
    return time.monotonic_ns() // 1_000


def main() -> int:
    parser = runs.arguments(__doc__.split("\n")[0], clients=2_000, rate=2_000, topics=200)
    parser.add_argument("--term", action="store_true", help="D2: SIGTERM in turn instead of SIGKILL")
    options = runs.parse(parser)
    rng = random.Random(options.seed)
    kills = []
    with runs.directory(options) as outcome:
        with World(outcome.path, gateways=3, per_client=1, durable=True, epoch_kept=True,
                   limits={"drainMs": 5_000} if options.term else None, **runs.world_options(options)) as world:
            world.rate(options.rate)
            pass_time(CALM_SECONDS, "the load runs undisturbed")
            for number in range(1, options.rounds + 1):
                gateway = world.gateways[number % 3] if options.term else rng.choice(world.gateways)
                began = now_us()
                if options.term:
                    gateway.stop()
                else:
                    gateway.kill()
                    pass_time(DOWN_SECONDS, "the gateway is away")
                gateway.start().wait_ready(20)
                world.wait_live()
                kills.append(began)
                print(f"round {number}: {gateway.directory.name}, everybody live after "
                      f"{(now_us() - began) / 1e6:.2f} s", flush=True)
                pass_time(CALM_SECONDS, "the load runs undisturbed")
            ended = now_us()
            published = world.publishers.ask("status")
            report = world.finish()
        latency = Latency(outcome.path)
        resumed = [latency.until_prompt(began, until)
                   for began, until in zip(kills, [*kills[1:], ended], strict=True)]
        print("p99 under 1 s again after, seconds:", " ".join(f"{seconds:.1f}" for seconds in resumed))
        print(f"latency ms: p50 {latency.quantile(0.5):.1f}  p99 {latency.quantile(0.99):.1f}  "
              f"p99.9 {latency.quantile(0.999):.1f}; slowest resume {max(resumed):.1f} s")
        print(f"published: {published}")
        problems = [f"round {number}: resumed after {seconds:.1f} s" for number, seconds in enumerate(resumed, 1)
                    if seconds > RESUME_SECONDS_MAX and not options.term]
        if report.holes:
            problems.append(f"holes inside the window: {dict(report.holes)}")
        return runs.close(outcome, report, problems)


if __name__ == "__main__":
    sys.exit(main())
