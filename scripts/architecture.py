#!/usr/bin/env python3
"""Checks what keeps the code easy to change: who knows what, and that each fact has one place (ARCHITECTURE.md).

usage: scripts/architecture.py
exit: 0 when every rule holds, 1 when one does not; each offence is printed with its rule
"""

import collections
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
SOURCES = ROOT / "Sources"
LINES_MAX = 2_000
MEMBERS_MAX = 20
# Files beyond Sources/Dialects that may name a dialect: its entry, and the routes that speak its forms over HTTP.
ENTRIES = re.compile(r"Sources/Transports/Entries/|/SupabaseRoute\.swift|/TopicRoute\.swift|/PollingRoute\.swift|"
                     r"Sources/Transports/Polling/|Sources/SwitchboardClient")
DIALECT = re.compile(r"\b(?:Native|Phoenix|SocketIO|EventStream)(?:Dialect|Machine|Encoder|Decoder|Socket|Version|"
                     r"Positions|Presence)\b")
# A publish is read in one place, written to Redis in one, and made by the demo as by any backend.
PUBLISH_MAKERS = re.compile(r"Sources/(?:Dialects/Publish\w+\.swift|Demo/)")
MEMBER = re.compile(r"\s+(?:public |private |unowned |private\(set\) )*(?:let|var) \w+(?!.*\{)")
TOPOLOGY = re.compile(r"\bisCluster\b|\bhasSentinels\b|as\? ClusterLink\b")
# The setting's default is what its help shows; the packs themselves say which of them are served by default.
APPS = re.compile(r'"(?:barbershop|/?dj|/?shop|/?booking|/?feed|/?challenge|queueup|nearby|messaging|orders)"')
APPS_MAY = re.compile(r'Sources/Demo/|SettingTable\.swift:\d+:\s*"packs", \.packs')


def code(path: pathlib.Path):
    """The lines of a Swift file without comments, numbered."""
    for number, line in enumerate(path.read_text().splitlines(), 1):
        yield number, re.sub(r"(?<![:\"])//.*", "", line)


def grep(pattern: re.Pattern, allowed, *, texts: bool = True) -> list[str]:
    """Places in the sources where the pattern occurs, but those that `allowed` finds."""
    found = []
    for path in sorted(SOURCES.rglob("*.swift")):
        for number, line in code(path):
            line = line if texts else re.sub(r'"(?:\\.|[^"\\])*"', '""', line)
            place = f"{path.relative_to(ROOT)}:{number}:"
            if pattern.search(line) and not allowed.search(f"{place}{line}"):
                found.append(f"{place} {pattern.search(line)[0]}")
    return found


def walls() -> list[str]:
    """1 and 3: targets know what lies below them; a breach would be seen."""
    run = subprocess.run([sys.executable, ROOT / "scripts/walls.py", "--self-test"], capture_output=True, text=True)
    return [] if run.returncode == 0 else run.stdout.splitlines() or [run.stderr]


def wiring() -> list[str]:
    """1: nothing but the demo and the program itself depends on the gateway."""
    users = [path.parts[len(SOURCES.parts)] for path in SOURCES.rglob("*.swift")
             if re.search(r"^import Gateway$", path.read_text(), re.MULTILINE)]
    return [f"{user} imports Gateway" for user in sorted(set(users) - {"Demo", "switchboard"})]


def size() -> list[str]:
    """2: the wiring is small, and no context grows into what it replaced."""
    lines = sum(path.read_text().count("\n") for path in (SOURCES / "Gateway").rglob("*.swift"))
    offences = [f"Sources/Gateway has {lines} lines; at most {LINES_MAX}"] if lines > LINES_MAX else []
    for path in sorted(SOURCES.rglob("*Context.swift")):
        depth, members, is_context = 0, 0, False
        for _, line in code(path):
            if depth == 0 and (declared := re.match(r"(?:public |final )*(?:struct|class) (\w+)", line)):
                is_context = declared[1].endswith("Context")
            if depth == 1 and is_context and MEMBER.match(line):
                members += 1
            depth += line.count("{") - line.count("}")
        if members > MEMBERS_MAX:
            offences.append(f"{path.relative_to(ROOT)} has {members} members; at most {MEMBERS_MAX}")
    return offences


def dialects() -> list[str]:
    """4: a dialect is files of Dialects and one entry."""
    return [place for place in grep(DIALECT, ENTRIES, texts=False) if "Sources/Dialects/" not in place]


def publishing() -> list[str]:
    """5: a field of a publish is read in one place for all dialects."""
    return grep(re.compile(r"\bPublishRequest\("), PUBLISH_MAKERS)


def topology() -> list[str]:
    """7: the form of Redis is known to the links alone."""
    return grep(TOPOLOGY, re.compile(r"Sources/RedisLink/"))


def apps() -> list[str]:
    """8: no app's name stands in the product, and no fault is built in."""
    return grep(APPS, APPS_MAY) + grep(re.compile(r"\btestFault\b|\bTestFault\b|\bSessionFault\b"), re.compile("$^"))


def scripts() -> list[str]:
    """9: each form and each number of the scripts has one place."""
    offences, names = [], collections.Counter()
    texts = {path: path.read_text() for path in sorted((ROOT / "lua").rglob("*.lua"))}
    for what in ("'P' ..", "1062.5"):
        places = [str(path.relative_to(ROOT)) for path, text in texts.items() for _ in range(text.count(what))]
        if len(places) != 1:
            offences.append(f"{what} occurs {len(places)} times: {', '.join(places)}")
    for path, text in texts.items():
        offences += [f"{path.relative_to(ROOT)}: {found}" for found in re.findall(r"as in \w+\.lua", text)]
        if path.name == "constants.lua":
            names.update((path.parent.name, name) for name in re.findall(r"^([A-Z][A-Z0-9_]*) = ", text, re.MULTILINE))
    shared = {name for pack, name in names if pack == "core"}
    for (pack, name), count in names.items():
        if count > 1 or pack != "core" and name in shared:
            offences.append(f"lua/{pack}/constants.lua: {name} is defined twice")
    for path, text in texts.items():
        pack = path.relative_to(ROOT / "lua").parts[0]
        for name in re.findall(r"^\s*local ([A-Z][A-Z0-9_]+)\b", text, re.MULTILINE):
            if name in shared or (pack, name) in names:
                offences.append(f"{path.relative_to(ROOT)}: local {name} hides a shared number")
    return offences


def golden() -> list[str]:
    """10: what must not change by itself is on record; the tests compare it."""
    folder = ROOT / "Tests/Golden"
    wanted = ["help.txt", "metrics.txt", "openapi.txt", "scripts.txt", "symbols.json"]
    offences = [f"{folder.relative_to(ROOT)}/{name} is missing" for name in wanted if not (folder / name).is_file()]
    if not offences and not json.loads((folder / "symbols.json").read_text()):
        offences.append("Tests/Golden/symbols.json names no symbol")
    return offences


def main() -> int:
    rules = [walls, wiring, size, dialects, publishing, topology, apps, scripts, golden]
    broken = 0
    for rule in rules:
        for offence in rule():
            broken += 1
            print(f"architecture: {rule.__doc__.split(':', 1)[1].strip()} Not so: {offence}")
    if not broken:
        print(f"architecture: {len(rules)} rules hold")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
