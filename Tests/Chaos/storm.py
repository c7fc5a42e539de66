"""R16: the subscriber link of a gateway with a hundred thousand topics is killed; every topic is live again soon.

One event is published on every topic from that moment on. None may be lost, and none may come later than
LIVE_SECONDS_MAX after the kill, or a second after it was published if that is later.

usage: .venv/bin/python Tests/Chaos/storm.py --topics 100000
"""

import json
import sys
from concurrent.futures import ThreadPoolExecutor

import paths  # noqa: F401
import runs
from Fixtures.waiting import pass_time
from gauges import RedisFigures, Sampler, busy_seconds, now_us
from world import World

PER_CLIENT = 200
CALM_SECONDS = 2
LIVE_SECONDS_MAX = 10
PROMPT_SECONDS = 1
PATIENCE_SECONDS = 240
CPU_SHARE = 0.5
BATCH = 256
PUBLISHERS = 8
LIMITS = {"joinsPerSecond": 1_000_000, "messagesPerSecond": 1_000_000}


class Arrivals:
    """When each message published from a moment on was first tried, was acked and came."""

    def __init__(self, directory, since_us: int, until_us: int):
        self.tried, self.acked, self.came = {}, {}, {}
        for line in open(directory / "publisher.jsonl", encoding="ascii"):
            entry = json.loads(line)
            if "try" in entry and since_us <= entry["t"] < until_us:
                self.tried.setdefault(entry["try"], (entry["t"], entry["topic"]))
            elif "ack" in entry and entry["ack"] in self.tried:
                self.acked[entry["ack"]] = entry["t"]
        for line in open(directory / "subscribers.log", encoding="ascii", errors="replace"):
            fields = line.split(" ")
            if fields[1] == "E" and len(fields) == 8 and fields[6] in self.tried:
                self.came[fields[6]] = int(fields[0])

    @property
    def topics(self) -> int:
        """Topics that an event came on."""
        return len({topic for identity, (_, topic) in self.tried.items() if identity in self.came})

    def late(self, due_us: int) -> list:
        """Microseconds by which messages came after both that moment and their ack with its second."""
        over = (self.came[identity] - max(due_us, self.acked.get(identity, due_us) + int(PROMPT_SECONDS * 1e6))
                for identity in self.came)
        return sorted(late for late in over if late > 0)


def first_subscription_seconds(directory) -> float:
    """From the first client's connection to the last first answer `subscribed`."""
    began, last = None, 0
    for line in open(directory / "subscribers.log", encoding="ascii", errors="replace"):
        fields = line.split(" ", 8)
        if fields[1] == "C" and began is None:
            began = int(fields[0])
        elif fields[1] == "S" and fields[7] == "-":
            last = int(fields[0])
    return (last - (began or last)) / 1e6


def one_round(options, world, number: int):
    """Kills the link; returns the moments that the logs are read by."""
    gateway = world.gateways[0]
    redis = RedisFigures(world.redis)
    links = gateway.metric("switchboard_redis_connects_total")
    world.rate(options.rate)
    pass_time(CALM_SECONDS, "the load runs undisturbed")
    # The same publishes without a storm, so that its own share of the CPU can be told.
    usual = redis.cpu_seconds()
    world.publishers.ask("once", PATIENCE_SECONDS)
    usual = redis.cpu_seconds() - usual
    cpu = Sampler(0.1, redis.cpu_seconds)
    channels = redis.channels()
    with ThreadPoolExecutor(1) as pool, cpu:
        began, events = now_us(), world.status()["events"]
        redis.db.execute_command("CLIENT", "KILL", "TYPE", "pubsub")
        # What is due before the end of this is in the air while nobody is subscribed.
        world.publishers.ask("stop", PATIENCE_SECONDS)
        once = now_us()
        publishing = pool.submit(world.publishers.ask, "once", PATIENCE_SECONDS)
        world.every(0.02, lambda: gateway.metric("switchboard_redis_connects_total") > links, PATIENCE_SECONDS,
                    "a new link")
        world.every(0.05, lambda: redis.channels() >= channels, PATIENCE_SECONDS, "every channel")
        subscribed = now_us()
        acked = int(publishing.result())
        published = now_us()
        world.every(0.05, lambda: world.status()["events"] >= events + acked, PATIENCE_SECONDS, "every event")
        pass_time(1, "figures of a second")
        ended = now_us()
    spike = busy_seconds([sample for sample in cpu.samples if sample[0] < published], CPU_SHARE)
    used = cpu.samples[-1][1] - cpu.samples[0][1]
    redis.close()
    print(f"round {number}: {channels} channels were subscribed again {(subscribed - began) / 1e6:.2f} s after the "
          f"kill; publishing on all took {(published - once) / 1e6:.2f} s, {acked} acked; Redis used {used:.2f} s of "
          f"CPU, for {spike:.1f} s more than half a core; {usual:.2f} s for such publishes without a storm",
          flush=True)
    return began, once, ended, (subscribed - began) / 1e6


def main() -> int:
    options = runs.parse(runs.arguments(__doc__.split("\n")[0], clients=0, rate=1_000, topics=100_000, rounds=1))
    options.clients = options.clients or max(1, options.topics // PER_CLIENT)
    rounds, problems = [], []
    with runs.directory(options) as outcome:
        with World(outcome.path, gateways=1, per_client=min(PER_CLIENT, options.topics), through_nginx=False,
                   durable=True, epoch_kept=True, limits=LIMITS, publishers=PUBLISHERS, batch=BATCH, deadline=60,
                   patience=PATIENCE_SECONDS, **runs.world_options(options)) as world:
            world.status()
            print(f"{options.topics} topics of {options.clients} clients: subscribed within "
                  f"{first_subscription_seconds(outcome.path):.2f} s", flush=True)
            for number in range(1, options.rounds + 1):
                rounds.append(one_round(options, world, number))
            report = world.finish()
        for number, (began, once, ended, subscribed) in enumerate(rounds, 1):
            arrivals = Arrivals(outcome.path, once, ended)
            last = max(arrivals.came.values(), default=began)
            waits = [came - arrivals.tried[identity][0] for identity, came in arrivals.came.items()]
            late = arrivals.late(began + int(LIVE_SECONDS_MAX * 1e6))
            print(f"round {number}: {arrivals.topics} topics had their event, the last {(last - began) / 1e6:.2f} s "
                  f"after the kill; longest wait {max(waits, default=0) / 1e6:.2f} s; late {len(late)}", flush=True)
            if arrivals.topics < options.topics:
                problems.append(f"round {number}: {options.topics - arrivals.topics} topics had no event")
            if late:
                problems.append(f"round {number}: {len(late)} events came up to {late[-1] / 1e6:.2f} s too late")
            if subscribed > LIVE_SECONDS_MAX:
                problems.append(f"round {number}: subscribed again after {subscribed:.1f} s only")
        if report.holes:
            problems.append(f"holes inside the window: {dict(report.holes)}")
        return runs.close(outcome, report, problems)


if __name__ == "__main__":
    sys.exit(main())
