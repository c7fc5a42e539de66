#!/usr/bin/python3
"""Adds a run that left no result to a report of switchboard-bench, so that it is not missing there in silence.

usage: record-failure.py REPORT TARGET SCENARIO WHY [--FLAG VALUE ...]
"""

import json
import sys
from pathlib import Path

path, target, scenario, why, *flags = sys.argv[1:]
settings = {flag.removeprefix("--"): value for flag, value in zip(flags[::2], flags[1::2], strict=True)}
kind, _, variant = target.partition("/")
settings["target"] = kind
if variant:
    settings["label"] = target if kind == "floor" else variant
report = json.loads(Path(path).read_text())
report["runs"].append({
    "scenario": scenario, "target": target, "targetVersion": "", "settings": settings, "passed": False,
    "notes": [why], "seconds": 0, "series": []})
if "connections" in settings:
    report["runs"][-1]["connections"] = int(settings["connections"])
Path(path).write_text(json.dumps(report))
