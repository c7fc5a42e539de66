#!/usr/bin/env python3
"""Highest rate with p99 <= 50 ms and no loss, or what comes of one rate: 1, 2, 3 gateways; 1 and 2 shards of one.

Each arrangement runs once with all servers on CPU 0 and the load on CPU 1, and once with both CPUs open to everything.
Clients, Redis and gateways share one machine: on two cores the tool itself takes one of them, so more gateways cannot
deliver twice as much here. The column `tool` says how busy it was; near its own core, it is the tool that was measured.

usage: .venv/bin/python bench/gateways.py [--connections N] [--rate R] [--seconds S] [--fixed] [--json FILE]
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "bench/capacity"), str(ROOT / "Tests"), str(ROOT / "Tests/Chaos")]

from Fixtures.clients.certificates import write_certificate
from Fixtures.clients.tokens import SECRET
from Fixtures.processes.gateway import API_KEY, Gateway
from Fixtures.redis.server import RedisServer
from measure import BENCH, LIMITS, LOAD_CPU, SERVER_CPU

ARRANGEMENTS = [(gateways, 1) for gateways in (1, 2, 3)] + [(1, 2)]
HEAD = f"{'gateways':>8} {'shards':>6} {'CPUs':>5} {'publishes/s':>11} {'deliveries/s':>12} {'p99 ms':>7} " \
       f"{'us/delivery':>11} {'servers':>7} {'Redis':>6} {'tool':>6} {'lost':>6} {'stolen%':>7}"


def run(options, gateways: int, shards: int, pinned: bool) -> dict:
    """Searches for the highest rate of one arrangement; the tool's result."""
    everywhere = os.sched_getaffinity(0)
    with tempfile.TemporaryDirectory(prefix="switchboard-gateways-") as name:
        directory = Path(name)
        certificate = write_certificate(directory)
        redis = RedisServer(directory / "redis")
        nodes = [Gateway(directory / f"gateway-{number}", redis.url, certificate, SECRET, "--shards", str(shards),
                         limits=LIMITS) for number in range(gateways)]
        try:
            os.sched_setaffinity(0, {LOAD_CPU} if pinned else everywhere)
            redis.start()
            os.sched_setaffinity(0, {SERVER_CPU} if pinned else everywhere)
            for node in nodes:
                node.start().wait_ready()
            os.sched_setaffinity(0, {LOAD_CPU} if pinned else everywhere)
            output = directory / "run.json"
            urls = [word for node in nodes for word in ("--url", "wss://%s:%d" % node.address())]
            words = [BENCH, "fanout" if options.fixed else "capacity", *urls, "--api-key", API_KEY, "--pid",
                     ",".join(str(node.process.pid) for node in nodes), "--redis-pid", redis.process.pid,
                     "--connections", options.connections, "--rate", options.rate, "--seconds", options.seconds,
                     "--label", f"{gateways} gateways, {shards} shards, {'1 CPU' if pinned else 'all CPUs'}",
                     "--json", output]
            # A fixed rate that is too much for an arrangement fails the run; its figures are what was asked for.
            subprocess.run([str(word) for word in words], check=not options.fixed, stdout=sys.stderr)
            report = json.loads(output.read_text())
            if options.json:
                keep(options.json, report)
            return report["runs"][-1]
        finally:
            os.sched_setaffinity(0, everywhere)
            for node in nodes:
                node.stop()
            redis.stop()


def keep(path: Path, report: dict) -> None:
    """Appends a report's runs to a file."""
    if path.exists():
        report["runs"] = json.loads(path.read_text())["runs"] + report["runs"]
    path.write_text(json.dumps(report))


def row(result: dict, gateways: int, shards: int, pinned: bool) -> str:
    """A line of the table."""
    server = result["server"]
    return (f"{gateways:8} {shards:6} {'one' if pinned else 'all':>5} "
            f"{result.get('highestRate', int(result['settings']['rate'])):11} "
            f"{result['deliveriesPerSecond']:12.0f} {result['latency']['p99Us'] / 1_000:7.1f} "
            f"{server['cpuUsPerDelivery']:11.2f} {server['cores']:7.2f} {result.get('redisCores', 0):6.2f} "
            f"{result.get('toolCores', 0):6.2f} {result['lost']:6} {result.get('stolenPercent', 0):7.1f}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--connections", type=int, default=1_000)
    parser.add_argument("--rate", type=int, default=200, help="publishes a second that the search begins with")
    parser.add_argument("--seconds", type=int, default=5, help="of each step of the search")
    parser.add_argument("--fixed", action="store_true", help="measure at --rate instead of searching: on a busy host")
    parser.add_argument("--json", type=Path, help="keep the runs for `switchboard-bench report`")
    options = parser.parse_args()
    rows = []
    for pinned in (True, False):
        for gateways, shards in ARRANGEMENTS:
            rows.append(row(run(options, gateways, shards, pinned), gateways, shards, pinned))
            print(rows[-1], file=sys.stderr)
    print("\n".join([HEAD, *rows]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
