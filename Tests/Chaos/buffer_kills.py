"""D7: Redis ends the gateways' subscriptions under bursts of 10 MB/s; inside the window nobody loses anything.

usage: .venv/bin/python Tests/Chaos/buffer_kills.py --rounds 20
"""

import random
import signal
import sys

import paths  # noqa: F401
import runs
from Fixtures.waiting import pass_time
from world import World

BURST_BYTES = 10 << 20
PADDING = 8_000
CALM_SECONDS = 1


def by_output_buffer(world, rng) -> str:
    """The limit is small and a gateway does not read for a while, so that Redis cuts it off."""
    with world.redis.client() as db:
        db.config_set("client-output-buffer-limit", "pubsub 256kb 64kb 1")
        gateway = rng.choice(world.gateways)
        gateway.signal(signal.SIGSTOP)
        try:
            burst(world)
            pass_time(rng.uniform(0.5, 2), "the gateway stands still under load")
        finally:
            gateway.signal(signal.SIGCONT)
        pass_time(0.5, "Redis sees the gateway's output buffer")
        db.config_set("client-output-buffer-limit", "pubsub 33554432 8388608 60")
    return f"output buffer of {gateway.directory.name}"


def by_client_kill(world, rng) -> str:
    """CLIENT KILL in the middle of a burst, more than once."""
    times = rng.randrange(1, 4)
    burst(world)
    with world.redis.client() as db:
        for _ in range(times):
            pass_time(rng.uniform(0.05, 0.3), "the link is cut at some point of the burst")
            db.execute_command("CLIENT", "KILL", "TYPE", "pubsub")
    return f"CLIENT KILL TYPE pubsub, {times} times"


def burst(world) -> None:
    world.publishers.ask(f"burst {BURST_BYTES // PADDING} {PADDING}")


def main() -> int:
    options = runs.parse(runs.arguments(__doc__.split("\n")[0], clients=60, rate=200, topics=30))
    rng = random.Random(options.seed)
    problems = []
    with runs.directory(options) as outcome:
        # A client's own queue holds what a burst owes it: this test is about the link to Redis.
        with World(outcome.path, gateways=3, per_client=1, durable=True, epoch_kept=True, publishers=6,
                   limits={"outboundBytesMax": 64 << 20, "outboundAgeMs": 60_000}, deadline=30,
                   **runs.world_options(options)) as world:
            world.rate(options.rate)
            links = sum(gateway.metric("switchboard_redis_connects_total") for gateway in world.gateways)
            for number in range(1, options.rounds + 1):
                pass_time(CALM_SECONDS, "the load runs undisturbed")
                what = rng.choice((by_output_buffer, by_client_kill))(world, rng)
                world.wait_live()
                now = sum(gateway.metric("switchboard_redis_connects_total") for gateway in world.gateways)
                print(f"round {number}: {what}; {now - links:.0f} links renewed", flush=True)
                if now == links:
                    problems.append(f"round {number}: no link was ended")
                links = now
            repaired = sum(gateway.metric("switchboard_repaired_total") for gateway in world.gateways)
            print(f"repaired {repaired:.0f} events")
            report = world.finish()
        if report.holes:
            problems.append(f"holes inside the window: {dict(report.holes)}")
        return runs.close(outcome, report, problems)


if __name__ == "__main__":
    sys.exit(main())
