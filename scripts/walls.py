#!/usr/bin/env python3
"""Checks that the folders of the gateway name only what lies below them (CONTRIBUTING.md, "Where things are").

usage: scripts/walls.py

A folder may name the types of the folders after its colon, and no others. The folder's own files and the files beside
the folders, which wire everything together, are not listed. Each offence is printed as FILE: TYPE of FOLDER.
exit: 0 when all walls stand, 1 when one does not
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent / "Sources" / "Gateway"

# Folders from the bottom to the top; `.` is the wiring.
WALLS = {
    "Operations": [],
    "Deliveries": ["Operations"],
    "Topics": ["Operations", "Deliveries"],
    "Store": ["Operations", "Topics"],
    "Commands": ["Operations", "Store"],
    "Sessions": ["Operations", "Deliveries", "Topics", "Commands"],
    "Presence": ["Operations", "Deliveries", "Store", "Sessions"],
    "Rights": ["Store", "Sessions"],
    "Hops": [],
    "Lines": ["Operations", "Deliveries", "Topics", "Sessions", "Hops"],
    "HTTP": ["Operations", "Topics", "Store", "Commands", "Sessions", "Lines"],
    "Demo": ["Operations", "Store", "Commands", "HTTP"],
}
# What a folder still takes from above; the list only gets shorter.
DEBTS = {
    ("Commands", "Node"),
    ("Demo", "NodeParts"),
    ("Demo", "Shard"),
    ("HTTP", "DemoRoutes"),
    ("HTTP", "Metrics"),
    ("HTTP", "Shard"),
    ("Lines", "Shard"),
    ("Rights", "Node"),
    ("Rights", "Shard"),
}

DECLARATION = re.compile(
    r"^(?:public |final |@unchecked )*(?:struct|class|enum|protocol|actor|typealias)\s+(\w+)", re.MULTILINE
)
# Comments, and texts without interpolation: both may speak of anything.
SILENT = re.compile(r'//.*|"[^"\\\n]*"')


def folder(file: pathlib.Path) -> str:
    parts = file.relative_to(ROOT).parts
    return parts[0] if len(parts) > 1 else "."


def main() -> int:
    code = {file: SILENT.sub("", file.read_text()) for file in sorted(ROOT.rglob("*.swift"))}
    homes = {name: folder(file) for file, text in code.items() for name in DECLARATION.findall(text)}
    offences, paid = [], set(DEBTS)
    for file, text in code.items():
        here = folder(file)
        if here == ".":
            continue
        if here not in WALLS:
            offences.append(f"{file.relative_to(ROOT)}: the folder is not in the table of walls")
            continue
        # A type that the file declares inside another one may have the name of somebody else's.
        own = set(re.findall(r"\b(?:struct|class|enum|protocol|typealias)\s+(\w+)", text))
        for name in sorted(set(re.findall(r"\b[A-Z]\w+", text)) - own):
            home = homes.get(name, here)
            if home == here or home in WALLS[here]:
                continue
            if (here, name) in DEBTS:
                paid.discard((here, name))
            else:
                offences.append(f"{file.relative_to(ROOT)}: {name} of {home if home != '.' else 'the wiring'}")
    offences += [f"{here}: no longer names {name}: take it from the list of debts" for here, name in sorted(paid)]
    for offence in offences:
        print(offence)
    return 1 if offences else 0


if __name__ == "__main__":
    sys.exit(main())
