"""O3: three gateways behind nginx, many TLS connections, and a restart of each gateway in turn under load.

nginx passes TCP through (deploy/nginx-stream.conf), as deploy/README.md advises for many connections: TLS ends at the
gateways, so that each handshake is theirs and its cost is part of what is measured. One process may have 20,000
descriptors on the machines this was made for: hence clients in processes of 10,000, and several workers of nginx, where
a connection takes two.

usage: .venv/bin/python Tests/Chaos/scaleout.py --connections 30000
       .venv/bin/python Tests/Chaos/scaleout.py --connections 3000      a quick look
"""

import json
import math
import signal
import sys
import time
from collections import Counter
from pathlib import Path

import paths  # noqa: F401
import runs
from Fixtures.processes.figures import cpu_seconds, private_bytes
from Fixtures.waiting import pass_time
from gauges import now_us
from latency import Latency
from world import LIMITS, World

GATEWAYS = 3
CLIENTS_PER_PROCESS = 10_000
# Two descriptors each, and the kernel's spread is not perfectly even.
CONNECTIONS_PER_NGINX_WORKER = 6_000
# Attempts to connect of one process: its thousands of clients have one processor, where phones have one each. Without
# this, on a busy machine, all of them are late for their own handshakes, again and again.
ATTEMPTS_PER_PROCESS = 250
CALM_SECONDS = 5
# Longest a drain lasts beyond its limit until the process has ended.
END_SECONDS_MAX = 15
BACK_SECONDS_MAX = 30
RESUMED_SHARE_MIN = 0.95
MEMORY_FACTOR_MAX = 1.25
FAILURES = ("nacked", "given up", "skipped", "unanswered")


class Figures:
    """What a gateway has and has used at one moment."""

    def __init__(self, gateway):
        self.sessions = int(gateway.metric("switchboard_sessions"))
        # Beyond what the process had before its first client.
        self.bytes = private_bytes(gateway.process.pid) - gateway.baseline["private"]
        self.cpu = cpu_seconds(gateway.process.pid)


def kilobytes_each(figures) -> float:
    """Private memory of one session of some gateways."""
    return sum(one.bytes for one in figures) / max(sum(one.sessions for one in figures), 1) / 1_000


class Roll:
    """Restarts one gateway while clients and publishers go on, and tells how it went."""

    def __init__(self, world, gateway, drain_seconds: float, patience: float):
        self.world, self.gateway = world, gateway
        before = world.status()
        self.clients = Figures(gateway).sessions
        others = [one for one in world.gateways if one is not gateway]
        cpu = [Figures(one).cpu for one in others]
        self.began, baseline = now_us(), gateway.baseline
        gateway.signal(signal.SIGTERM)
        self.exit_code = gateway.wait(drain_seconds + END_SECONDS_MAX)
        self.ended, gateway.process = now_us(), None

        def are_back() -> bool:
            state = world.status()
            return state["live"] >= world.clients and state["reconnects"] - before["reconnects"] >= self.clients
        world.every(0.05, are_back, patience, "everybody is elsewhere")
        self.back = now_us()
        self.herd_cpu = sum(Figures(one).cpu for one in others) - sum(cpu)
        gateway.start()
        world.every(0.05, lambda: gateway.ops("/readyz").status_code == 200, patience, "ready again")
        # What the new process is to come back to is what the first one began with.
        gateway.baseline = baseline
        pass_time(CALM_SECONDS, "the load runs undisturbed")
        self.over, after = now_us(), world.status()
        self.moved = after["reconnects"] - before["reconnects"]
        self.resumed = after["resumed"] - before["resumed"]
        self.failed_attempts = after["failedAttempts"] - before["failedAttempts"]

    def describe(self, latency: Latency) -> str:
        """A line for the reader."""
        seconds, share = (self.back - self.began) / 1e6, self.resumed / max(self.moved, 1)
        p50, p99 = (latency.quantile(share_below, self.began, self.over) for share_below in (0.5, 0.99))
        return (f"{self.gateway.directory.name}: {self.clients} clients moved in {seconds:.1f} s (its end took "
                f"{(self.ended - self.began) / 1e6:.1f} s), {self.moved} reconnects, {share:.1%} resumed, "
                f"{self.failed_attempts} attempts failed; the other gateways used "
                f"{self.herd_cpu / max(self.moved, 1) * 1e3:.2f} ms of CPU for each; events p50 {p50:.1f} "
                f"p99 {p99:.1f} ms")


def failed_attempts(directory) -> Counter:
    """Why attempts to connect failed, in the crowds' own words."""
    return Counter(line.rstrip().split(" ", 3)[3] for path in Path(directory).glob("subscribers*.log")
                   for line in open(path, encoding="ascii", errors="replace") if line.split(" ", 2)[1] == "N")


def expectations(rolls, failed, before, after) -> list:
    """What was not as it must be."""
    problems = []
    for roll in rolls:
        name = roll.gateway.directory.name
        if roll.exit_code != 0:
            problems.append(f"{name} ended with {roll.exit_code}")
        if roll.clients == 0 or roll.moved < roll.clients:
            problems.append(f"{name} had {roll.clients} clients and {roll.moved} moved")
        if roll.back - roll.ended > BACK_SECONDS_MAX * 1e6:
            problems.append(f"{name}: everybody was back {(roll.back - roll.ended) / 1e6:.1f} s after its end")
        if roll.resumed < RESUMED_SHARE_MIN * roll.moved:
            problems.append(f"{name}: {roll.resumed} of {roll.moved} handshakes were resumed")
    if failed:
        problems.append(f"publishes failed: {failed}")
    if after > before * MEMORY_FACTOR_MAX:
        problems.append(f"a connection takes {after:.1f} kB, before the restarts {before:.1f} kB")
    return problems


def run(options, directory):
    """One run; the checker's report and what was not as it must be."""
    crowds = math.ceil(options.clients / CLIENTS_PER_PROCESS)
    workers = max(2, math.ceil(options.clients / CONNECTIONS_PER_NGINX_WORKER))
    patience = 60 + options.clients / 100
    began = time.monotonic()
    with World(directory, gateways=GATEWAYS, per_client=1, durable=True, epoch_kept=True, patience=patience,
               persistence="always", crowds=crowds, nginx_workers=workers, batch=1, padding=120,
               attempts=ATTEMPTS_PER_PROCESS,
               limits=LIMITS | {"drainMs": int(options.drain * 1_000), "drainGraceMs": 500},
               flags=("--shards", "1"), **runs.world_options(options)) as world:
        print(f"{options.clients} clients in {crowds} processes, {workers} workers of nginx, {GATEWAYS} gateways: all "
              f"live after {time.monotonic() - began:.1f} s", flush=True)
        world.rate(options.rate)
        calm = now_us()
        pass_time(CALM_SECONDS, "the load runs undisturbed")
        before = [Figures(one) for one in world.gateways]
        rolls = []
        for gateway in world.gateways:
            rolls.append(Roll(world, gateway, options.drain, patience))
            print(f"{gateway.directory.name} was restarted", flush=True)
        over = now_us()
        pass_time(CALM_SECONDS, "the load runs undisturbed")
        after = [Figures(one) for one in world.gateways]
        ended = now_us()
        counts = json.loads(world.publishers.ask("stop", patience))
        report = world.finish()
    failed = {name: count for name, count in counts.items() if count and name.startswith(FAILURES)}
    latency = Latency(directory)
    for roll in rolls:
        print(roll.describe(latency))
    for name, since, until in (
            ("before", calm, rolls[0].began), ("during", rolls[0].began, over), ("after", over, ended)):
        print(f"events {name}: p50 {latency.quantile(0.5, since, until):.1f} p99 "
              f"{latency.quantile(0.99, since, until):.1f} ms")
    each_before, each_after = kilobytes_each(before), kilobytes_each(after)
    for name, figures, each in (("before", before, each_before), ("after", after, each_after)):
        print(f"gateways {name}: {[one.sessions for one in figures]} clients, "
              f"{[one.bytes >> 20 for one in figures]} MiB, {each:.1f} kB each")
    print(f"publishers: {counts}")
    print(f"failed attempts: {dict(failed_attempts(directory)) or 0}", flush=True)
    return report, expectations(rolls, failed, each_before, each_after)


def main() -> int:
    parser = runs.arguments(__doc__.split("\n")[0], rate=30, topics=100)
    parser.add_argument("--connections", dest="clients", type=int, default=3_000, help="in all")
    parser.add_argument("--drain", type=float, default=None, help="seconds of each gateway's drain; 20 at the most")
    options = runs.parse(parser)
    if options.drain is None:
        # A real installation's drain for many, a short one for a quick look.
        options.drain = min(20.0, max(3.0, options.clients / 1_000))
    with runs.directory(options) as outcome:
        report, problems = run(options, outcome.path)
        return runs.close(outcome, report, problems)


if __name__ == "__main__":
    sys.exit(main())
