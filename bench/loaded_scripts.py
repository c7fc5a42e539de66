#!/usr/bin/env python3
"""What the scripts that lie in Redis make each call dearer: a publish with its own script alone, and with a gateway's.

    .venv/bin/python bench/loaded_scripts.py [BINARY] [--rounds 16] [--publishes 2000]

Starts two servers. A gateway (BINARY, by default .build/release/switchboard) loads its scripts into one of them, and
ends. Then the publishes of script_costs.py go to both in turn, in every other round the other way about. Told are the
scripts and the heap of Lua of each server, and the processor time of Redis for a publish (proc(5), schedstat): medians
of the rounds, and the median of the rounds' ratios. The first round warms up. Needs an idle machine.
"""

import argparse
import statistics
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "Tests")]

from Fixtures.clients.certificates import write_certificate  # noqa: E402
from Fixtures.clients.tokens import SECRET  # noqa: E402
from Fixtures.processes.gateway import Gateway  # noqa: E402
from script_costs import Side  # noqa: E402


def load(side: Side, directory: Path, binary: Path) -> None:
    """Has a gateway load what it loads into any Redis at its start."""
    gateway = Gateway(directory / "gateway", f"unix://{side.server.socket_path}", write_certificate(directory), SECRET)
    gateway.arguments[0] = str(binary)
    try:
        gateway.start().wait_ready()
    finally:
        gateway.kill()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary", type=Path, nargs="?", default=ROOT / ".build/release/switchboard")
    parser.add_argument("--rounds", type=int, default=16)
    parser.add_argument("--publishes", type=int, default=2_000, help="of each server in each round (2,000)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="switchboard-few-") as few, \
            tempfile.TemporaryDirectory(prefix="switchboard-all-") as every:
        sides = {"its own": Side(Path(few), valgrind=False), "gateway": Side(Path(every), valgrind=False)}
        try:
            load(sides["gateway"], Path(every), options.binary)
            rounds = []
            for number in range(options.rounds + 1):
                order = list(sides) if number % 2 else list(reversed(sides))
                rounds.append({name: sides[name].run("publish", options.publishes, counts=False)["Redis"]
                               for name in order})
            for name, side in sides.items():
                memory = side.db.info("memory")
                print(f"{name:8} {memory['number_of_cached_scripts']:4} scripts, {memory['used_memory_vm_eval']:10,} "
                      f"bytes of Lua, {statistics.median(one[name] for one in rounds[1:]):6.2f} us a publish")
            print(f"ratio {statistics.median(one['gateway'] / one['its own'] for one in rounds[1:]):.3f}")
        finally:
            for side in sides.values():
                side.server.stop()


if __name__ == "__main__":
    main()
