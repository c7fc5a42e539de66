#!/usr/bin/env python3
"""What dividing a gateway among shards costs each delivery: system calls and instructions, with 1, 2 and 4 shards.

usage: .venv/bin/python bench/shards.py [--shards 1,2,4] [--connections N] [--rates R,...] [--seconds S] [--most RATIO]

A gateway of so many shards delivers events of one topic to all its clients, then the events of as many topics as there
are clients, one each, at --unicast-rate publishes a second in all. `perf` counts its system calls, by the tracepoint
raw_syscalls:sys_enter, while the load is steady; the gateway's own metrics count its deliveries meanwhile. Both are
counts, so a busy machine does not change what they mean, only how events fall together in one turn of a loop.

`capacity` is what so many cores could deliver of what one core with one shard can, by the CPU of a delivery in the same
run: N times the CPU with one shard, divided by the CPU with N. CPU is a time, so it is for a quiet machine.

  --most RATIO   ends 1 when more than RATIO times the calls of one shard are needed with two

Needs perf and the right to read tracepoints (root).
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "bench/capacity"), str(ROOT / "Tests"), str(ROOT / "Tests/Chaos")]

from Fixtures.clients.certificates import write_certificate  # noqa: E402
from Fixtures.clients.tokens import SECRET  # noqa: E402
from Fixtures.processes.gateway import API_KEY, Gateway  # noqa: E402
from Fixtures.redis.server import RedisServer  # noqa: E402
from Fixtures.waiting import eventually  # noqa: E402
from measure import BENCH, LIMITS, LOAD_CPU, SERVER_CPU, cpu_us  # noqa: E402

HEAD = f"{'load':>16} {'shards':>6} {'deliveries':>10} {'calls each':>10} {'of one':>7} {'us each':>8} {'capacity':>9}"
#: Seconds of load beside those that are counted: the tool connects, and ends, in them.
MARGIN_SECONDS, BEGIN_SECONDS_MAX = 20, 60
DELIVERIES = "switchboard_deliveries_total"


def counted(gateway: Gateway, seconds: float) -> tuple[float, float, float]:
    """Deliveries of some seconds, and the system calls and the CPU microseconds of each."""
    pid = gateway.process.pid
    before, used = gateway.metrics().value(DELIVERIES), cpu_us([pid])
    report = subprocess.run(
        ["perf", "stat", "-x", ",", "-e", "raw_syscalls:sys_enter", "-p", str(pid), "sleep", str(seconds)],
        capture_output=True, text=True, check=True).stderr
    deliveries, used = gateway.metrics().value(DELIVERIES) - before, cpu_us([pid]) - used
    calls = int(re.search(r"^(\d+),,raw_syscalls:sys_enter", report, re.M)[1])
    return deliveries, calls / deliveries, used / deliveries


def run(options, shards: int, load: list) -> tuple[float, float, float]:
    """The same, of a new gateway of so many shards under a load."""
    everywhere = os.sched_getaffinity(0)
    with tempfile.TemporaryDirectory(prefix="switchboard-shards-") as name:
        directory = Path(name)
        redis = RedisServer(directory / "redis")
        gateway = Gateway(directory / "gateway", redis.url, write_certificate(directory), SECRET,
                          "--shards", str(shards), limits=LIMITS)
        tool = None
        try:
            os.sched_setaffinity(0, {LOAD_CPU})
            redis.start()
            os.sched_setaffinity(0, {SERVER_CPU})
            gateway.start().wait_ready()
            os.sched_setaffinity(0, {LOAD_CPU})
            words = [BENCH, *load, "--url", "wss://%s:%d" % gateway.address(), "--api-key", API_KEY,
                     "--pid", gateway.process.pid, "--connections", options.connections,
                     "--seconds", options.seconds + MARGIN_SECONDS]
            tool = subprocess.Popen([str(word) for word in words], stdout=subprocess.DEVNULL)
            eventually(lambda: gateway.metrics().value(DELIVERIES) > 2 * options.connections, BEGIN_SECONDS_MAX)
            return counted(gateway, options.seconds)
        finally:
            os.sched_setaffinity(0, everywhere)
            if tool:
                tool.terminate()
                tool.wait()
            gateway.stop()
            redis.stop()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shards", default="1,2,4")
    parser.add_argument("--connections", type=int, default=1_000)
    parser.add_argument("--rates", default="20,100,400", help="publishes a second to one topic")
    parser.add_argument("--unicast-rate", type=int, default=2_000)
    parser.add_argument("--seconds", type=int, default=6)
    parser.add_argument("--most", type=float)
    options = parser.parse_args()
    loads = {f"fan-out {rate}/s": ["fanout", "--rate", rate] for rate in options.rates.split(",")}
    loads[f"unicast {options.unicast_rate}/s"] = ["unicast", "--topics", options.connections,
                                                  "--rate", options.unicast_rate]
    print(HEAD)
    wrong = []
    for name, load in loads.items():
        one = None
        for shards in map(int, options.shards.split(",")):
            deliveries, calls, us = run(options, shards, load)
            one = one or (calls, us)
            print(f"{name:>16} {shards:6} {deliveries:10.0f} {calls:10.4f} {calls / one[0]:7.3f} {us:8.2f} "
                  f"{shards * one[1] / us:9.2f}", flush=True)
            if options.most and shards == 2 and calls > options.most * one[0]:
                wrong.append(f"FAILED: {name}: {calls / one[0]:.3f} times the calls of one shard")
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
