#!/usr/bin/env python3
"""What every built-in script takes of Redis at its limits, against what its header declares.

    .venv/bin/python bench/weights.py [--runs 31] [--only dj,feed] [--pack messaging] [--markdown]

Starts a redis-server of its own and calls each script as the gateway does, with the keys as large as they may get.
Redis itself counts the microseconds (INFO commandstats). The lower quartile of the runs is compared, since a busy host
only adds time; the host's stolen time is printed, so that a bad moment can be told. Exits 1 where a script takes longer
than its `@weight` says, or a read longer than 2 ms.
"""

import argparse
import importlib
import json
import statistics
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "Tests"), str(ROOT / "bench")]

import weight_cases_blocks  # noqa: E402, F401
import weight_cases_outside  # noqa: E402, F401
import weight_cases_shops  # noqa: E402, F401
from Fixtures.redis.server import RedisServer  # noqa: E402
from Fixtures.scripts.command_scripts import Commands, Failed, Header  # noqa: E402
from Fixtures.scripts.lua_scripts import LUA, PACKS, Scripts, script_names, script_path  # noqa: E402
from weight_cases import CASES, Site  # noqa: E402

READ_MICROSECONDS_MAX = 2_000
# The others are measured without one: bench/weight_cases_shops.py has the default packs.
MEASURED_PACKS = sorted(
    path.stem.removeprefix("weight_cases_") for path in ROOT.glob("bench/weight_cases_*.py")
    if (LUA / path.stem.removeprefix("weight_cases_")).is_dir())
UNMEASURED = {"prelude", "writes", "checks", "values", "command", "run", "outside", "elsewhere", "looked", "quick",
              "moved", "lease", "reset_epoch", "key_digest", "seal"}
# The gateway's own reads; those of callers say so in their headers.
OWN_READS = {"subscribe", "history", "replay", "position", "rights_changes", "here_read"}


def stolen_ticks() -> int:
    """Clock ticks that the host gave to others so far (proc(5), /proc/stat)."""
    return int(Path("/proc/stat").read_text().split("\n", 1)[0].split()[8])


def microseconds(db) -> float:
    """What the one script call since the last reset took."""
    stats = db.info("commandstats")
    entries = [stats[name] for name in ("cmdstat_evalsha", "cmdstat_eval") if name in stats]
    assert sum(entry["calls"] for entry in entries) == 1, stats
    return sum(entry["usec"] for entry in entries)


def packs_of(pack: str | None) -> list[str]:
    """The pack and those that it needs, without the default ones; none for these."""
    if pack is None:
        return []
    needs = json.loads((LUA / pack / "pack.json").read_text()).get("needs", [])
    return [pack, *(name for name in needs if name not in PACKS)]


def measure(db, name: str, runs: int, folders: list[Path]) -> tuple[float, float, float]:
    """Least, lower quartile and median of one script, microseconds."""
    db.flushall()
    site = Site(db, Commands(db, *folders), Scripts(db))
    call = CASES[name](site)
    # Compiled and warm before it counts.
    call(0)
    call(1)
    times = []
    for number in range(2, runs + 2):
        db.config_resetstat()
        call(number)
        times.append(microseconds(db) - site.without)
    quartile, median, _ = statistics.quantiles(times, n=4)
    return max(min(times), 1), max(quartile, 1), max(median, 1)


def is_read(header: Header) -> bool:
    return header.name in OWN_READS or header.tag("readonly") is not None or header.tag("state") is not None


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--runs", type=int, default=31, help="measured calls of each script")
    arguments.add_argument("--only", default="", help="names of scripts, separated by commas")
    arguments.add_argument("--markdown", action="store_true", help="print the table for docs/benchmarks/scripts.md")
    arguments.add_argument("--pack", choices=MEASURED_PACKS,
                           help="measure the scripts of this pack and of those that it needs, not the default ones")
    options = arguments.parse_args()
    packs = packs_of(options.pack)
    folders = [LUA / pack for pack in packs]
    if options.pack:
        CASES.clear()
        importlib.import_module(f"weight_cases_{options.pack}")
    names = [name for name in script_names(*packs)
             if name not in UNMEASURED and not name.startswith("part_")]
    missing = [name for name in names if name not in CASES]
    if missing:
        print("no case in bench/weight_cases.py for: " + ", ".join(missing))
        return 1
    chosen = options.only.split(",") if options.only else sorted(CASES)
    line = "| `{}` | {} | {} | {} | {} | {} |" if options.markdown else "{:22} {:>9} {:>9} {:>9} {:>9}  {}"
    print(line.format("script", "declared", "least", "quartile", "median", ""))
    if options.markdown:
        print("|---|---|---|---|---|---|")
    wrong = 0
    before = stolen_ticks()
    with tempfile.TemporaryDirectory() as directory:
        server = RedisServer(Path(directory)).start()
        try:
            db = server.client()
            for name in chosen:
                script = max((one for one in names if f"{name}_".startswith(f"{one}_")), key=len)
                header = Header.read(script_path(script, *folders))
                declared = int(header.tag("weight") or 1000)
                least, quartile, median = measure(db, name, options.runs, folders)
                note = "a read" if is_read(header) else ""
                if quartile > declared:
                    note += " MORE THAN DECLARED"
                if is_read(header) and quartile > READ_MICROSECONDS_MAX:
                    note += " A READ BEYOND 2 ms"
                wrong += "MORE" in note or "BEYOND" in note
                figures = [round(each) for each in (least, quartile, median)]
                print(line.format(name, declared, *figures, note.strip()), flush=True)
            db.close()
        finally:
            server.stop()
    print(f"stolen time meanwhile: {(stolen_ticks() - before) * 10} ms")
    return 1 if wrong else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failed as failure:
        sys.exit(f"a script refused its call: {failure}")
