#!/usr/bin/env python3
"""Instructions of Redis for one call of every built-in script on one server: this tree's scripts and another commit's.

    .venv/bin/python bench/script_counts.py [--against REF] [--more PERCENT] [--only dj,feed] [--pack messaging]
        [--calls 5] [--servers 3] [--json FILE] [--markdown]

The cases are those of bench/weights.py: each script at its limits, with the same arguments and the same keys on both
sides, and by this tree's readers of headers. A server of each side runs under callgrind, which counts inside EVALSHA
alone: what the machine does beside it, and how busy it is, does not count. Lua's collector of garbage stands still
meanwhile, since it works for calls that went before. Told are the least instructions of the calls, the commands that
the script called, and the ratio. What is left differs by the seed of Redis's tables, in most cases by less than 1 %. So
cases that look dearer are counted again by new servers, and the least counts.

  --against REF    counts the scripts of another commit beside those of this tree
  --more PERCENT   lists the scripts alone that take so much more than before
  --json FILE      writes the figures

A script that the other commit does not have, or that refuses the case there, is listed with its reason. Ends 1 when a
case fails in this tree.
"""

import argparse
import contextlib
import importlib
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import counted
from script_costs import tree_of

ROOT = Path(__file__).resolve().parents[1]
#: By so many percent two servers differ.
SURE_PERCENT = 1
BETWEEN = {"cmdstat_evalsha", "cmdstat_eval", "cmdstat_script|load", "cmdstat_config|resetstat", "cmdstat_info"}


class Counting:
    """Stands for a client; a case that resets Redis's statistics begins to be counted there."""

    def __init__(self, db, server):
        self.db, self.server = db, server

    def __getattr__(self, name):
        return getattr(self.db, name)

    def config_resetstat(self):
        counted.zero(self.server)
        return self.db.config_resetstat()


def count(site, call, number: int) -> dict:
    """One call's instructions and commands."""
    site.db.eval("collectgarbage('collect') collectgarbage('stop')", 0)
    site.db.config_resetstat()
    call(number)
    stats = site.db.info("commandstats")
    return {"instructions": counted.since_zero(site.db.server),
            "commands": sum(entry["calls"] for name, entry in stats.items() if name not in BETWEEN)}


class Side:
    """The scripts of one tree, and its server."""

    def __init__(self, directory: Path):
        from Fixtures.redis.server import RedisServer
        from Fixtures.scripts import answers_seen

        # Another commit's types of answers may not be readable here, and are no matter.
        answers_seen.check_answer = answers_seen.check_event = lambda *_: None
        self.server = RedisServer(directory)
        counted.start(self.server, "--toggle-collect=evalShaCommand")
        self.db = Counting(self.server.client(socket_timeout=600), self.server)

    def run(self, pack: str, name: str, calls: int) -> dict:
        import weight_cases
        from Fixtures.scripts.command_scripts import Commands
        from Fixtures.scripts.lua_scripts import LUA, Scripts
        from weights import packs_of

        folders = [LUA / each for each in packs_of(pack or None)]
        if any(not folder.is_dir() for folder in folders):
            return {"absent": f"no pack {pack}"}
        self.db.flushall()
        site = weight_cases.Site(self.db, Commands(self.db, *folders), Scripts(self.db))
        try:
            call = cases(pack)[name](site)
            call(0)
            call(1)
            found = [count(site, call, number) for number in range(2, calls + 2)]
        except Exception as error:  # noqa: BLE001 - whatever it is, it is told in the case's row
            return {"absent": f"{type(error).__name__}: {error}".split("\n")[0][:160]}
        return {"instructions": min(one["instructions"] for one in found),
                "commands": statistics.median_low([one["commands"] for one in found])}


KEPT = {}


def cases(pack: str) -> dict:
    """The cases of a pack, of the default packs and the gateway's own for an empty name."""
    import weight_cases
    import weights  # noqa: F401  fills the default packs' cases

    if not KEPT:
        KEPT[""] = dict(weight_cases.CASES)
    if pack not in KEPT:
        weight_cases.CASES.clear()
        importlib.import_module(f"weight_cases_{pack}")
        KEPT[pack] = dict(weight_cases.CASES)
    return KEPT[pack]


def serve(root: Path, directory: Path) -> None:
    """Answers each line of the input, a pack, a case and a number of calls, by a line of figures."""
    sys.path[:0] = [str(root / "Tests"), str(root / "bench")]
    side = Side(directory)
    print("ready", flush=True)
    try:
        for line in sys.stdin:
            pack, name, calls = line.rstrip("\n").split("\t")
            print(json.dumps(side.run(pack, name, int(calls))), flush=True)
    finally:
        side.server.stop()


class Process:
    """A side in a process of its own."""

    def __init__(self, root: Path, directory: Path):
        directory.mkdir()
        words = [sys.executable, str(root / "bench/script_counts.py"), "--side", str(root), str(directory)]
        self.process = subprocess.Popen(words, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.line()

    def line(self) -> str:
        text = self.process.stdout.readline()
        if not text:
            sys.exit(f"a side ended: {self.process.wait()}")
        return text

    def ask(self, pack: str, name: str, calls: int) -> None:
        self.process.stdin.write(f"{pack}\t{name}\t{calls}\n")
        self.process.stdin.flush()

    def answer(self) -> dict:
        return json.loads(self.line())

    def end(self) -> None:
        self.process.stdin.close()
        self.process.wait(timeout=60)


def chosen(only: set[str], pack: str | None) -> list[tuple[str, str]]:
    """The packs and names of the cases."""
    sys.path[:0] = [str(ROOT / "Tests")]
    from weights import MEASURED_PACKS

    packs = ["", *MEASURED_PACKS] if pack is None else [pack]
    return [(each, name) for each in packs for name in sorted(cases(each)) if not only or name in only]


def row(pack: str, name: str, figures: dict[str, dict], markdown: bool) -> str:
    now, before = figures["now"], figures.get("before")
    words = [name, pack]
    for one in [before, now] if before else [now]:
        words += ["", ""] if "absent" in one else [f"{one['instructions']:,}", str(one["commands"])]
    if before:
        absent = [one["absent"] for one in (before, now) if "absent" in one]
        words.append(absent[0] if absent else f"{now['instructions'] / before['instructions']:.3f}")
    elif "absent" in now:
        words.append(now["absent"])
    if markdown:
        return "| " + " | ".join([f"`{name}`", *words[1:]]) + " |"
    return f"{words[0]:26} {words[1]:10}" + "".join(f"{each:>12}" for each in words[2:])


def dearer(figures: dict[str, dict]) -> float:
    """Percent by which a script takes more than before; 0 where one side has no figure."""
    now, before = figures["now"], figures.get("before", {})
    if "absent" in now or not before or "absent" in before:
        return 0
    return 100 * (now["instructions"] / before["instructions"] - 1)


def counts(roots: dict[str, Path], place: Path, number: int, cases_left: list, calls: int):
    """Each case with its figures, counted by new servers."""
    with contextlib.ExitStack() as stack:
        sides = {label: Process(root, place / f"{label}-{number}") for label, root in roots.items()}
        for side in sides.values():
            stack.callback(side.end)
        for case in cases_left:
            for side in sides.values():
                side.ask(*case, calls)
            yield case, {label: side.answer() for label, side in sides.items()}


def least(before: dict | None, figures: dict) -> dict:
    """The least of two counts, of each side."""
    if before is None:
        return figures
    return {label: min(before[label], one, key=lambda each: each.get("instructions", 0))
            for label, one in figures.items()}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--against", help="the commit whose scripts are counted beside those of this tree")
    parser.add_argument("--more", type=float, help="only scripts that take so many percent more")
    parser.add_argument("--only", default="", help="names of cases, separated by commas")
    parser.add_argument("--pack", help="only the cases of this pack; of the default ones for an empty text")
    parser.add_argument("--calls", type=int, default=5, help="counted calls of each case")
    parser.add_argument("--servers", type=int, default=3, help="new servers of each side for what looks dearer")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument("--side", nargs=2, metavar=("ROOT", "DIRECTORY"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.side:
        serve(Path(options.side[0]), Path(options.side[1]))
        return 0
    results = {}
    with tempfile.TemporaryDirectory(prefix="switchboard-counts-") as place:
        roots = {"now": ROOT}
        if options.against:
            other = tree_of(options.against, Path(place) / "tree")
            (other / "bench").symlink_to(ROOT / "bench")
            roots["before"] = other
        left = chosen(set(filter(None, options.only.split(","))), options.pack)
        for number in range(options.servers):
            for case, figures in counts(roots, Path(place), number, left, options.calls):
                results[case] = least(results.get(case), figures)
                print(f"{case[1]} {dearer(results[case]):+.1f} %", file=sys.stderr, flush=True)
            # Once more with other seeds: those that may be dearer by chance.
            left = [case for case in left if dearer(results[case]) > SURE_PERCENT]
    for case, figures in results.items():
        if options.more is None or dearer(figures) > options.more or "absent" in figures["now"]:
            print(row(*case, figures, options.markdown), flush=True)
    failed = sum("absent" in figures["now"] for figures in results.values())
    if options.json:
        options.json.write_text(json.dumps([{"pack": pack, "name": name, **figures} for (pack, name), figures
                                            in results.items()], indent=1) + "\n")
    print(f"{len(results)} cases, {failed} failed", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
