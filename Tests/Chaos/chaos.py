"""Everything at once: seeded faults of processes, Redis, network and clients under load, then the checker.

Beside the native clients there are --others clients: Phoenix of both versions, Socket.IO by WebSocket, by polling at
one node and by polling at any, and event streams of one and of several topics. What they saw is held against what their
protocol can express. All of them know positions. Only Phoenix 1.0.0 comes back without one: it may miss what came while
it was away, but nothing comes twice or out of order, and no hole is silent.

A run with an even seed may lose what Redis had not kept (AOF everysec, FLUSHALL), and every loss must be signalled.
With an odd seed every write is synced and nothing is flushed: nothing may be lost, no epoch may change, and votes are
cast.

usage: .venv/bin/python Tests/Chaos/chaos.py --seconds 60 --seed 1
"""

import sys

import paths  # noqa: F401
import faults
import runs
from votes import Votes
from world import World

# Small queues, so that a stalled client is a slow one; polls are many requests from one address, and a session that its
# client gave up is to end soon.
SLOW = {"outboundBytesMax": 262_144, "outboundAgeMs": 3_000, "requestsPerAddressPerSecond": 1_000_000,
        "socketIOPingMs": 3_000, "socketIOPongMs": 3_000}


def run(options, outcome, quiet=False, world_type=World):
    """One run; returns the report and the problems of the rig itself."""
    durable = options.seed % 2 == 1
    plan = faults.plan(options.seed, options.seconds, without=faults.LOSSES if durable else ())
    if not quiet:
        print("always" if durable else "everysec")
        for fault in plan:
            print(fault)
    with world_type(outcome.path, gateways=3, proxied=True, worker=True, per_client=4, durable=durable,
                    epoch_kept=durable, persistence="always" if durable else "everysec", prefix=options.prefix,
                    limits=SLOW, others=options.others, forgets=options.forget,
                    **runs.world_options(options)) as world:
        if durable:
            world.votes = Votes(world, options.seed).start()
        world.rate(options.rate)
        injector = faults.Injector(world)
        injector.run(plan)
        report = world.finish()
    report.counts["faults"] = sum(injector.done.values())
    return report, injector.failures


def main() -> int:
    parser = runs.arguments(__doc__.split("\n")[0], clients=100, rate=300, topics=40)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--others", type=int, default=35, help="clients of other dialects, of seven kinds in turn")
    parser.add_argument("--forget", action="store_true", help="each of them loses an event: the checker must see it")
    parser.add_argument("--prefix", default="load:t", help="load:t disconnects slow clients, live:t conflates")
    options = runs.parse(parser)
    with runs.directory(options) as outcome:
        report, failures = run(options, outcome)
        return runs.close(outcome, report, failures)


if __name__ == "__main__":
    sys.exit(main())
