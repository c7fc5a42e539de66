#!/usr/bin/env python3
"""Medians of the rounds in a report of bench/peers.sh, and each target as a multiple of one of them.

Targets of one round ran one after the other, so a ratio is made within each round; its median is told with the least
and the greatest one. With a NAME and MOST it ends 1 when the gateway's CPU per delivery is more than MOST times that of
NAME; with WORDS only loads that have them in their title are judged, such as `bytes 2000`. It also ends 1 when an event
was not encoded once for each dialect that listened, by each of the gateway's SHARDS.

A run in which a client or a publish was refused counts as failed, and for nothing else.

usage: bench/ratios.py REPORT SHARDS [NAME MOST [WORDS]]
"""

import json
import statistics
import sys

# The floors are what all are measured against, and no candidates.
UNJUDGED = {"floor", "floor/redis"}
# What is left of a run that does not count.
FACTS = ("scenario", "target", "settings", "passed", "notes")
LOAD = ("connections", "rate", "topics", "bytes")
# Heading, unit's divisor, and where the figure is; of those that a report has.
FIGURES = {
    "CPU us": (1, lambda run: run.get("server", {}).get("cpuUsPerDelivery")),
    "sent B": (1, lambda run: run.get("bytesPerDelivery")),
    "encoded": (1, lambda run: run.get("encodingsPerPublish")),
    "p50 ms": (1_000, lambda run: run.get("latency", {}).get("p50Us")),
    "p99 ms": (1_000, lambda run: run.get("latency", {}).get("p99Us")),
    "kB idle": (1_000, lambda run: run.get("server", {}).get("privateBytesPerConnection")),
    "set-up us": (1, lambda run: run.get("server", {}).get("cpuUsPerConnection")),
    "stolen %": (1, lambda run: run.get("stolenPercent")),
}


def name_of(run: dict) -> str:
    return run["settings"].get("label") or run["target"]


def has_refusals(run: dict) -> bool:
    """Whether a client or a publish was refused: then the load was another one."""
    return run.get("refused", 0) > 0 or run.get("refusedClients", 0) > 0


def groups(runs: list) -> dict:
    """Runs by load, then by target, each in the order of the rounds; without the figures of those that do not count."""
    found = {}
    for run in runs:
        if has_refusals(run):
            run = {name: run[name] for name in FACTS} | {"passed": False}
        load = " ".join([run["scenario"]] + [f"{name} {run['settings'][name]}" for name in LOAD
                                             if name in run["settings"]])
        found.setdefault(load, {}).setdefault(name_of(run), []).append(run)
    return found


def median(runs: list, figure):
    values = [value for value in map(figure, runs) if value is not None]
    return statistics.median(values) if values else None


def ratios(runs: list, reference: list, figure) -> list:
    """One for each round that has both; when there is none, one of the medians."""
    if len(runs) == len(reference):
        pairs = [(figure(one), figure(other)) for one, other in zip(runs, reference, strict=True)]
        if found := [one / other for one, other in pairs if one is not None and other]:
            return found
    one, other = median(runs, figure), median(reference, figure)
    return [one / other] if one is not None and other else []


def table(load: str, targets: dict, shards: int, reference: str | None, most: float, words: str) -> list:
    """Prints a load's table; what is wrong with it."""
    wrong = []
    shown = {head: entry for head, entry in FIGURES.items()
             if any(median(runs, entry[1]) is not None for runs in targets.values())}
    width = max(map(len, targets))
    by = f"  x {reference}" if reference in targets else ""
    print(f"\n{load}\n{'':{width}} rounds  " + "  ".join(f"{head:>9}" for head in shown) + by)
    for name, runs in targets.items():
        cells = []
        for scale, figure in shown.values():
            value = median(runs, figure)
            cells.append(f"{'-' if value is None else format(value / scale, '.2f'):>9}")
        line = f"{name:{width}} {len(runs):6}  " + "  ".join(cells)
        found = ratios(runs, targets[reference], FIGURES["CPU us"][1]) if by and name != reference else []
        if found:
            line += f"  {statistics.median(found):.3f} ({min(found):.3f} to {max(found):.3f})"
            if statistics.median(found) > most and name not in UNJUDGED and f"{words} " in f"{load} ":
                wrong.append(f"{load}: {name} takes {statistics.median(found):.3f} of {reference}, more than {most}")
        print(line)
        wrong += [f"{load}: {name}: {'; '.join(run.get('notes', [])) or 'failed'}" for run in runs
                  if not run["passed"]]
        for run in runs:
            asked, encoded = run["settings"].get("dialect"), FIGURES["encoded"][1](run)
            due = len(set(asked.split(","))) * shards if asked else 0
            if asked and encoded is not None and abs(encoded - due) > 0.01:
                wrong.append(f"{load}: {name}: an event was encoded {encoded:.2f} times, not {due}")
    return wrong


def main(arguments: list) -> int:
    if len(arguments) < 2 or len(arguments) == 3:
        print(__doc__.strip().splitlines()[-1], file=sys.stderr)
        return 2
    shards = int(arguments[1])
    reference, most = (arguments[2], float(arguments[3])) if len(arguments) > 2 else (None, 0)
    words = " ".join(arguments[4:])
    with open(arguments[0], encoding="utf-8") as file:
        found = groups(json.load(file)["runs"])
    wrong = [line for load, targets in found.items() for line in table(load, targets, shards, reference, most, words)]
    if reference is not None and not any(reference in targets for targets in found.values()):
        wrong.append(f"there is no run of {reference}")
    print("\n" + ("\n".join(f"FAILED: {line}" for line in wrong) or "all within their bounds"))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
