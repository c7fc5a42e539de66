#!/usr/bin/env python3
"""The capacity model: measures its figures, works out examples, keeps docs/capacity.md true.

usage: .venv/bin/python bench/capacity.py measure [STEP ...] [--quick]   measures and writes docs/capacity.json
       .venv/bin/python bench/capacity.py render [--check]               writes the tables of docs/capacity.md
       python3 bench/capacity.py plan --users N [--deliveries N] ...            plans an installation; plan --help

`measure` needs the load tool (`make bench`), the gateway (`make build`), nginx, two cores and quiet; it takes some
minutes and ends with `render`. With --quick it only prints: small numbers on a busy machine are no figures.
"""

import argparse
import datetime
import json
import os
import platform
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "bench/capacity"), str(ROOT / "Tests"), str(ROOT / "Tests/Chaos")]

import document
import planning
from figures import FIGURES, STEPS

JSON = ROOT / "docs/capacity.json"


def stored() -> dict:
    """What was measured, or an empty start."""
    return json.loads(JSON.read_text()) if JSON.exists() else {"figures": {}, "steps": {}}


def machine() -> dict:
    """Where a step's figures come from; `load` is how many processes wanted a core in the minute before it."""
    processor = next((line.partition(":")[2].strip() for line in Path("/proc/cpuinfo").read_text().splitlines()
                      if line.startswith("model name")), platform.machine())
    commit = subprocess.run(["git", "-C", ROOT, "describe", "--always", "--dirty=+", "--exclude=*"],
                            capture_output=True, text=True).stdout.strip()
    return {"machine": f"{processor}, {os.cpu_count()} cores, Linux {platform.release()}",
            "load": round(os.getloadavg()[0], 1),
            "commit": commit, "measured": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d")}


def measure(options) -> int:
    """Measures some steps, or all."""
    from measure import Measuring
    unknown = set(options.steps) - set(STEPS)
    if unknown:
        print(f"no such step: {', '.join(sorted(unknown))}; there are {', '.join(STEPS)}", file=sys.stderr)
        return 2
    with Measuring(options.quick) as measuring:
        for step in options.steps or STEPS:
            where = machine()
            measuring.step(step)
            found = {name: measuring.found[name] for name, (_, own, _) in FIGURES.items() if own == step}
            for name, value in found.items():
                print(f"{step}: {name} {document.number(value)} {FIGURES[name][0]}", flush=True)
            if not options.quick:
                keep(step, found, where)
    return 0


def keep(step: str, found: dict, where: dict) -> None:
    """Writes a step's figures, and the document once there are all."""
    whole = stored()
    whole["figures"] |= {name: float(f"{value:.4g}") for name, value in found.items()}
    # Steps may be measured on different days and machines.
    whole["steps"][step] = where
    JSON.write_text(json.dumps(whole, indent=2) + "\n")
    if set(whole["figures"]) >= set(FIGURES) and all(page.exists() for page in document.PAGES):
        document.write()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("measure")
    one.add_argument("steps", nargs="*", metavar="STEP", help=", ".join(STEPS))
    one.add_argument("--quick", action="store_true")
    one = commands.add_parser("render")
    one.add_argument("--check", action="store_true", help="write nothing; fail if the document is not up to date")
    one = commands.add_parser("plan")
    planning.add_flags(one)
    options = parser.parse_args()
    if options.command == "measure":
        return measure(options)
    if options.command == "plan":
        print(planning.text(options, stored()["figures"]))
        return 0
    return document.check() if options.check else document.write()


if __name__ == "__main__":
    sys.exit(main())
