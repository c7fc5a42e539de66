#!/usr/bin/env python3
"""Checks that the optimiser still specialises the code of a delivery across targets (docs/decisions.md, D1).

usage: scripts/symbols.py BINARY

Tests/Golden/symbols.json names functions of the release binary by the beginning of their demangled name. Each must
exist. Where figures are given, no function of that name may have more calls, indirect calls or exclusivity checks
(`swift_beginAccess`): a protocol that became public, or a stored `var` that another target sees, costs each delivery.
exit: 0 when all hold, 1 when one does not
"""

import json
import pathlib
import re
import subprocess
import sys

FIGURES = pathlib.Path(__file__).resolve().parents[1] / "Tests/Golden/symbols.json"


def output(*command: str, text: str | None = None) -> str:
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout


def functions(binary: str) -> list[tuple[str, int, int]]:
    """Name, address and size of each function."""
    found = [line.split() for line in output("nm", "--defined-only", "--print-size", binary).splitlines()]
    found = [words for words in found if len(words) == 4 and words[2] in "tT" and "$s" in words[3]]
    names = output("swift", "demangle", "--compact", text="\n".join(words[3] for words in found)).splitlines()
    return [(name, int(words[0], 16), int(words[1], 16)) for words, name in zip(found, names, strict=True)]


def figures(binary: str, address: int, size: int) -> dict[str, int]:
    code = output("objdump", "--disassemble", "--no-show-raw-insn", f"--start-address={address}",
                  f"--stop-address={address + size}", binary)
    calls = re.findall(r"\bcall\s+(.*)", code)
    return {"calls": len(calls), "indirect": sum(call.startswith("*") for call in calls),
            "accesses": sum("swift_beginAccess" in call for call in calls)}


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 1
    known, broken = functions(sys.argv[1]), []
    for name, bounds in json.loads(FIGURES.read_text()).items():
        hits = [(address, size) for full, address, size in known if full.startswith(name)]
        if not hits:
            broken.append(f"{name}... is not in the binary")
        for address, size in hits if bounds else []:
            for figure, count in figures(sys.argv[1], address, size).items():
                if count > bounds[figure]:
                    broken.append(f"{name}...: {count} {figure}, at most {bounds[figure]}")
    for line in broken:
        print(f"symbols: {line}")
    if not broken:
        print("symbols: the code of a delivery is specialised, and does no more than it may")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
