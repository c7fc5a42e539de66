"""One night of an operator: faults, each caused for real, and what named it: readiness, a log line, a metric.

usage: .venv/bin/python Tests/Chaos/night_shift.py [--only redis_stopped,worker_dead]

Each fault has an installation of its own: Redis, a gateway and, where it needs them, a worker, a courier, a receiver
or nginx. Prints a table: the fault, what /readyz said, the log line and the metric that named it, and after how many
seconds each did. Exits with 1 when one of them said nothing, or when the installation is not green after the mend.
"""

import json
import re
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import paths  # noqa: F401
import night_rows  # noqa: F401  adds its faults
from Fixtures.waiting import eventually
from night_faults import FAULTS
from night_site import Named, Site

NAMED_SECONDS_MAX = 30
GREEN_SECONDS_MAX = 30


class Found(NamedTuple):
    """Seconds from the fault until each part named it, and the words."""

    name: str
    ready: str
    log: str
    metric: str
    is_green: bool


def words(site: Site, named: Named, started: int) -> str | None:
    """The first line behind the moment of the fault that names it."""
    text = site.nodes[named.speaker].log_text[started:]
    return next((line for line in text.splitlines() if re.search(named.log, line)), None)


def readiness(site: Site, named: Named) -> str | None:
    """What /readyz says of the row."""
    try:
        answer = site.nodes[named.speaker].ops("/readyz")
    except Exception:  # noqa: BLE001 - a node that stands says nothing
        return None
    body = answer.json()
    warnings = [warning["name"] for warning in body.get("warnings", ())]
    if body.get("reason") == named.row or named.row in body.get("reasons", ()):
        return f"{answer.status_code} {named.row}"
    return f"{answer.status_code} warned {named.row}" if named.row in warnings else None


def counted(site: Site, named: Named) -> float | None:
    try:
        page = site.nodes[named.speaker].metrics()
    except Exception:  # noqa: BLE001 - it does not answer
        return None
    if named.metric is None:
        return page.value("switchboard_ready", row=named.row)
    return page.value(named.metric, **named.labels)


def measured(site: Site, named: Named, before: float | None) -> str | None:
    """The metric with its value, once it names the fault."""
    now = counted(site, named)
    if named.metric is None:
        return f'switchboard_ready{{row="{named.row}"}} 0' if now == 0 else None
    return f"{named.metric} {now:g}" if now is not None and now > (before or 0) else None


def is_green(site: Site, named: Named) -> bool:
    gateway = site.nodes["gateway"]
    answer = gateway.ops("/readyz")
    return answer.status_code == 200 and named.row not in [one["name"] for one in answer.json().get("warnings", ())]


def play(name: str, directory: Path) -> Found:
    """Causes the fault, waits until each part has named it, mends it, and waits for green."""
    function, named = FAULTS[name]
    with Site(directory) as site:
        steps = function(site)
        next(steps)
        started, before = len(site.nodes[named.speaker].log_text), counted(site, named)
        began = time.monotonic()
        next(steps)
        seen: dict[str, tuple[str, float]] = {}
        looks = {
            "log": lambda: words(site, named, started),
            "metric": lambda: measured(site, named, before)}
        if named.row:
            looks["ready"] = lambda: readiness(site, named)
        deadline = began + NAMED_SECONDS_MAX
        while len(seen) < len(looks) and time.monotonic() < deadline:
            for part, look in looks.items():
                if part not in seen and (said := look()):
                    seen[part] = said, time.monotonic() - began
            time.sleep(0.02)  # lint:allow between two looks, with a deadline
        next(steps, None)
        green = True
        try:
            eventually(lambda: is_green(site, named), GREEN_SECONDS_MAX, "green")
        except AssertionError:
            green = False

    def told(part: str) -> str:
        if part not in looks:
            return "(not asked for)"
        if part not in seen:
            return "**nothing**"
        said, seconds = seen[part]
        if said.startswith("{"):
            entry = json.loads(said)
            said = " ".join([entry["message"], *(f"{key}={entry[key]}" for key in ("reason", "error", "detail")
                                                 if key in entry)])
        return f"{said} ({seconds:.1f} s)"

    return Found(name, told("ready"), told("log"), told("metric"), green)


def main(arguments: list[str]) -> int:
    if arguments and (len(arguments) != 2 or arguments[0] != "--only"):
        print(__doc__)
        return 2
    names = arguments[1].split(",") if arguments else list(FAULTS)
    failed = 0
    print("| fault | `/readyz` | log | metric | green after the mend |\n|---|---|---|---|---|", flush=True)
    for name in names:
        directory = Path(tempfile.mkdtemp(prefix="night-"))
        try:
            found = play(name, directory)
        finally:
            shutil.rmtree(directory, ignore_errors=True)
        failed += not found.is_green or "**nothing**" in (found.ready, found.log, found.metric)
        print(f"| {name} | {found.ready} | {found.log} | {found.metric} | {'yes' if found.is_green else '**no**'} |",
              flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
