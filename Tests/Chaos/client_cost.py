"""What the libraries for apps cost a device: one client of each with many topics, idle and under load.

Memory is what only the process has. Wake-ups are voluntary switches of its threads (proc(5), status): how often any of
them went to sleep. A client that records nothing costs less; the log is part of these figures.

usage: .venv/bin/python Tests/Chaos/client_cost.py SWIFT --topics 100 --seconds 60 --rate 500
       (SWIFT as in client_chaos.py, built for release)
"""

import re
import sys
import tempfile
import time
from pathlib import Path

import paths  # noqa: F401
import runs
from client_chaos import AppWorld
from Fixtures.processes.figures import cpu_seconds, private_bytes
from Fixtures.waiting import pass_time


def wakes(pid: int) -> int:
    """How often the threads of a process went to sleep so far."""
    return sum(int(re.search(r"^voluntary_ctxt_switches:\s+(\d+)", status.read_text(), re.M)[1])
               for status in Path(f"/proc/{pid}/task").glob("*/status"))


def main() -> None:
    parser = runs.arguments(__doc__.split("\n")[0], rate=500, topics=100)
    parser.add_argument("swift", type=Path, help="the Swift program")
    parser.add_argument("--seconds", type=float, default=60, help="of each step")
    options = runs.parse(parser)
    AppWorld.swift = options.swift.resolve()
    with tempfile.TemporaryDirectory() as directory, AppWorld(
            directory, seed=options.seed, gateways=1, persistence="none", clients=2, topics=options.topics,
            per_client=options.topics, through_nginx=False) as world:
        processes = {"Swift": world.crowd.members[0], "JavaScript": world.crowd.members[1]}

        def figures():
            return {name: (cpu_seconds(one.process.pid), wakes(one.process.pid)) for name, one in processes.items()}

        pass_time(5, "what the start left behind is done")
        for step, rate in (("idle", 0), (f"{options.rate:g} events a second", options.rate)):
            world.rate(rate)
            # Whoever is asked is woken, so that is done before and after.
            events = world.status()["events"] / 2
            before, began = figures(), time.monotonic()
            pass_time(options.seconds, "the step that is measured")
            took, after = time.monotonic() - began, figures()
            events = world.status()["events"] / 2 - events
            for name, one in processes.items():
                cpu, woken = (late - early for late, early in zip(after[name], before[name]))
                each = f", {cpu / events * 1e6:.1f} us an event" if events > 100 else ""
                print(f"{name}, {options.topics} topics, {step}: {private_bytes(one.process.pid) / 1e6:.1f} MB, "
                      f"{cpu / took * 100:.2f} % of a core{each}, {woken / took:.2f} wake-ups a second", flush=True)
        world.rate(0)


if __name__ == "__main__":
    sys.exit(main())
