"""Runs the Autobahn fuzzing client and reads its verdicts.

The suite is Python 2 only and always exits 0, so it runs as a separate program in its own environment
(scripts/autobahn.sh) and its report, index.json, is what counts.
"""

import json
import subprocess
from collections import Counter, defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
AGENT = "switchboard"
# A verdict of INFORMATIONAL is the suite's own "no right or wrong here", e.g. how a server closes after 7.1.6.
PASSING = {"OK", "INFORMATIONAL"}
NO_PYTHON27 = 3

# The figures are the suite's, so that a run that silently lost cases cannot pass.
GROUPS = {"1": 16, "2": 11, "3": 7, "4": 10, "5": 20, "6": 145, "7": 37, "9": 54, "10": 1}
# Without those that take most of the time: texts of every kind (6) and messages of megabytes (9).
LIGHT_GROUPS = {name: count for name, count in GROUPS.items() if name not in ("6", "9")}
# permessage-deflate: each case says a thousand messages.
DEFLATE_GROUPS = {"12": 90, "13": 126}
# Of each kind of message (12) and of each kind of offer (13), whole ones and some in fragments.
DEFLATE_SAMPLE = [f"12.{kind}.{3 if kind % 2 else 11}" for kind in range(1, 6)] + [
    f"13.{offer}.{2 if offer % 2 else 12}" for offer in range(1, 8)]


class Unavailable(Exception):
    """The suite cannot run on this machine."""


def install():
    """The path of wstest, installed on first use."""
    done = subprocess.run([ROOT / "scripts/autobahn.sh"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode == NO_PYTHON27:
        raise Unavailable(done.stderr.strip())
    if done.returncode != 0:
        raise RuntimeError(f"the Autobahn suite could not be installed:\n{done.stderr}")
    return Path(done.stdout.strip())


def run(wstest, url, directory, cases, timeout_seconds):
    """Runs the cases against the echo endpoint at `url`; returns the verdicts by case."""
    directory = Path(directory)
    specification = {
        "outdir": str(directory / "report"),
        # No "hostname": it would turn on verification, and the certificate is self-signed.
        "servers": [{"agent": AGENT, "url": url}],
        "cases": cases,
        "exclude-cases": [],
        "exclude-agent-cases": {},
    }
    specification_path = directory / "specification.json"
    specification_path.write_text(json.dumps(specification))
    log_path = directory / "wstest.log"
    with open(log_path, "wb") as log:
        subprocess.run(
            [wstest, "--mode", "fuzzingclient", "--spec", specification_path],
            cwd=directory, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
            timeout=timeout_seconds, check=True)
    index_path = directory / "report" / "index.json"
    if not index_path.exists():
        raise RuntimeError(f"the suite wrote no report:\n{log_path.read_text(errors='replace')[-4000:]}")
    return json.loads(index_path.read_text())[AGENT]


def group(case):
    return case.split(".")[0]


def summary(verdicts):
    """A table: for each group, how many cases ended with which behaviour."""
    behaviours = defaultdict(Counter)
    for case, verdict in verdicts.items():
        behaviours[group(case)][verdict["behavior"]] += 1
    lines = ["Autobahn fuzzing client", f"{'group':>5}  {'cases':>5}  behaviour"]
    for name in sorted(behaviours, key=int):
        counts = behaviours[name]
        lines.append(f"{name:>5}  {counts.total():>5}  " + ", ".join(f"{n} {b}" for b, n in counts.most_common()))
    total = sum((counts for counts in behaviours.values()), Counter())
    lines.append(f"{'all':>5}  {total.total():>5}  " + ", ".join(f"{n} {b}" for b, n in total.most_common()))
    return "\n".join(lines)


def offences(verdicts, passing=PASSING):
    """The cases that did not pass, one line each."""
    return [
        f"{case}: {verdict['behavior']}, close {verdict['behaviorClose']} ({verdict['reportfile']})"
        for case, verdict in sorted(verdicts.items(), key=lambda item: [int(part) for part in item[0].split(".")])
        if verdict["behavior"] not in passing or verdict["behaviorClose"] not in PASSING
    ]
