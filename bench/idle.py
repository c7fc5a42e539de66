#!/usr/bin/env python3
"""Idle TLS connections over several gateways on one machine: memory of each, and CPU of each ping and pong.

usage: .venv/bin/python bench/idle.py [--connections N] [--gateways N] [--processes N] [--intervals N]
                                      [--dialect D,...] [--against BINARY]

Opens the connections, each with a subscription, from many source addresses, and lets them lie. Once all are there and
a ping's interval has passed, the CPU of all gateways is counted over whole intervals, so each connection is pinged
equally often. It includes all that gateways do besides. Memory is private memory, beside that of gateways
without clients. --against lets another build of the gateway take its turn first.

100,000 connections need `ulimit -n 20000` with 7 gateways and 8 processes of the tool, and 6 GB.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "bench/capacity"), str(ROOT / "Tests"), str(ROOT / "Tests/Chaos")]

from Fixtures.clients.certificates import write_certificate  # noqa: E402
from Fixtures.clients.tokens import SECRET  # noqa: E402
from Fixtures.processes import node as processes  # noqa: E402
from Fixtures.processes.figures import private_bytes  # noqa: E402
from Fixtures.processes.gateway import API_KEY, Gateway  # noqa: E402
from Fixtures.redis.server import RedisServer  # noqa: E402
from Fixtures.waiting import eventually  # noqa: E402
from measure import BENCH, LIMITS, cpu_us  # noqa: E402

HEAD = f"{'build':>8} {'dialect':>12} {'connections':>11} {'private B':>9} {'us a ping':>9} {'cores':>6} " \
       f"{'set-up us':>9} {'stolen %':>8}"
#: Pings are spread over an interval, so whole intervals are counted.
PING_SECONDS, SETTLE_SECONDS, OPEN_SECONDS_MAX = 25, 5, 900


def stolen() -> tuple[int, int]:
    """Ticks that a hypervisor kept, and all ticks that were not idle (proc(5), stat)."""
    words = [int(word) for word in Path("/proc/stat").read_text().splitlines()[0].split()[1:]]
    return words[7], sum(words[:3]) + sum(words[5:8])


def run(options, build: str, dialect: str) -> str:
    """Opens all connections of one dialect to one build; a line of the table."""
    with tempfile.TemporaryDirectory(prefix="switchboard-idle-") as name:
        directory = Path(name)
        certificate = write_certificate(directory)
        redis = RedisServer(directory / "redis")
        limits = LIMITS | {"connectionsMax": 100_000}
        nodes = [Gateway(directory / f"gateway-{number}", redis.url, certificate, SECRET, "--shards", "1",
                         limits=limits) for number in range(options.gateways)]
        tool = None
        try:
            redis.start()
            for node in nodes:
                node.start().wait_ready()
            pids = [node.process.pid for node in nodes]
            empty, cpu = sum(map(private_bytes, pids)), cpu_us(pids)
            descriptors = sum(node.fd_count for node in nodes)
            urls = [word for node in nodes for word in ("--url", "wss://%s:%d" % node.address())]
            seconds = PING_SECONDS * (options.intervals + 1) + 4 * SETTLE_SECONDS
            words = [BENCH, "idle", *urls, "--api-key", API_KEY, "--secret-file", nodes[0].directory / "secret",
                     "--pid", ",".join(map(str, pids)), "--connections", options.connections, "--processes",
                     options.processes, "--sources", 64, "--dialect", dialect, "--seconds", seconds,
                     "--topics", 1_000, "--json", directory / "run.json"]
            tool = subprocess.Popen([str(word) for word in words], stdout=sys.stderr)
            # A readiness question may have had a descriptor of its own in the first count.
            eventually(lambda: tool.poll() is not None or sum(node.fd_count for node in nodes) - descriptors
                       >= options.connections - len(nodes), OPEN_SECONDS_MAX, "every connection")
            set_up = (cpu_us(pids) - cpu) / options.connections
            time.sleep(PING_SECONDS + SETTLE_SECONDS)
            cpu, begun, before = cpu_us(pids), time.monotonic(), stolen()
            time.sleep(PING_SECONDS * options.intervals)
            cpu, lasted = cpu_us(pids) - cpu, time.monotonic() - begun
            kept, busy = (now - then for now, then in zip(stolen(), before))
            private = (sum(map(private_bytes, pids)) - empty) / options.connections
            if tool.poll() is not None:
                raise RuntimeError("the tool ended before its connections were measured")
            if tool.wait(OPEN_SECONDS_MAX) != 0:
                raise RuntimeError("the tool failed")
            pings = options.connections * lasted / PING_SECONDS
            return (f"{build:>8} {dialect:>12} {options.connections:>11,} {private:>9,.0f} {cpu / pings:>9.1f} "
                    f"{cpu / lasted / 1e6:>6.3f} {set_up:>9.0f} {100 * kept / max(busy, 1):>8.1f}")
        finally:
            if tool is not None and tool.poll() is None:
                tool.kill()
            for node in nodes:
                node.stop()
            redis.stop()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--connections", type=int, default=100_000)
    parser.add_argument("--gateways", type=int, default=7)
    parser.add_argument("--processes", type=int, default=8, help="of the tool")
    parser.add_argument("--intervals", type=int, default=2, help="of pings that are counted")
    parser.add_argument("--dialect", default="native", help="one run for each: native, phoenix-v2, socketio, stream")
    parser.add_argument("--against", help="another build of the gateway, measured first")
    options = parser.parse_args()
    print(HEAD)
    for dialect in options.dialect.split(","):
        for build, binary in (("other", options.against), ("this", processes.BINARY)):
            if binary is not None:
                processes.BINARY = Path(binary).resolve()
                print(run(options, build, dialect), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
