"""What the main programs have in common: arguments, a directory that stays when a run failed, the closing lines."""

import argparse
import contextlib
import json
import random
import shutil
import tempfile
from pathlib import Path


def arguments(description: str, **defaults) -> argparse.ArgumentParser:
    """A parser with what every program takes."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--seed", type=int, default=None, help="repeats a run's faults and messages")
    parser.add_argument("--clients", type=int, default=defaults.get("clients", 20))
    parser.add_argument("--rate", type=float, default=defaults.get("rate", 200), help="publishes a second")
    parser.add_argument("--topics", type=int, default=defaults.get("topics", 20))
    parser.add_argument("--rounds", type=int, default=defaults.get("rounds", 20))
    parser.add_argument("--keep", action="store_true", help="keep the logs of a good run, too")
    return parser


def parse(parser: argparse.ArgumentParser) -> argparse.Namespace:
    """The options, with a seed, which is printed."""
    options = parser.parse_args()
    if options.seed is None:
        options.seed = random.SystemRandom().randrange(2**32)
    print(f"seed {options.seed}", flush=True)
    return options


def world_options(options) -> dict:
    """What the shared options say to a World."""
    return {"seed": options.seed, "clients": options.clients, "topics": options.topics}


@contextlib.contextmanager
def directory(options):
    """A directory for the run's logs; it stays, and is told, unless the run sets `good`."""
    path = Path(tempfile.mkdtemp(prefix="switchboard-chaos-"))
    outcome = argparse.Namespace(path=path, good=False)
    try:
        yield outcome
    finally:
        if outcome.good and not options.keep:
            shutil.rmtree(path, ignore_errors=True)
        else:
            print(f"logs: {path}", flush=True)


def close(outcome, report, problems=()) -> int:
    """Prints the verdict and returns the exit code; `problems` are failed expectations beyond the checker's."""
    print(json.dumps(report.summary(), indent=1))
    for problem in problems:
        print(f"FAILED: {problem}")
    outcome.good = report.good and not problems
    print("PASS" if outcome.good else "FAIL", flush=True)
    return 0 if outcome.good else 1
