#!/usr/bin/env python3
"""What publishes and votes cost Redis: the scripts of this tree against those of another commit, in turn.

    .venv/bin/python bench/script_costs.py [--against REF] [--pairs 8] [--rounds 5] [--calls 2000]
        [--cases publish,vote] [--instructions] [--markdown]

Each side has a redis-server of its own, and calls are made from the texts that its own tests load. A round is one
block of calls to each server, the sides in turn and each second round the other way about, so that what the host takes
from both cancels out. `script` is what Redis counts for the script itself (INFO commandstats), `Redis` all its
processor time for the call with its reading and answering. Both are microseconds for each event or vote, medians over
the rounds; a ratio is the median of the rounds' ratios. With `--instructions` the servers run under valgrind instead,
and what is told is the instructions for each event or vote: the same on any host, however busy. Without `--against`
this tree is measured alone.

Where a process lies in memory makes it faster or slower by a tenth, for as long as it lives. So a run begins with new
servers several times (`--pairs`), and its figures are those of all of them.
"""

import argparse
import itertools
import json
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import counted

ROOT = Path(__file__).resolve().parents[1]
PIPELINED = 50
TOPICS = 100
USERS, TRACKS = 200, 20
DATA = '{"m":"0000000001:0000000000000001","p":"' + "x" * 158 + '"}'
POLICY = {"log_max": 100, "log_ttl_s": 300, "meta_ttl_s": 86_700}
#: Events of one call; one in every other case.
EVENTS = {"publish_16": 16, "publish_16_ids": 16}


# One side: a process that imports the tests' readers of the tree it measures


class Recorded(Exception):
    """A call that was not made."""


class Recorder:
    """Stands for a client: loads scripts, and notes a call instead of making it."""

    def __init__(self, db):
        self.db, self.loaded = db, set()

    def __getattr__(self, name):
        return getattr(self.db, name)

    def evalsha(self, *words):
        from redis.exceptions import NoScriptError

        if words[0] not in self.loaded:
            if not self.db.script_exists(words[0])[0]:
                raise NoScriptError
            self.loaded.add(words[0])
        raise Recorded([word if isinstance(word, bytes) else str(word).encode() for word in words])

    def words(self, call) -> list[bytes]:
        try:
            call()
        except Recorded as recorded:
            return [b"EVALSHA", *recorded.args[0]]
        raise AssertionError("no script was called")


def encoded(words: list[bytes]) -> bytes:
    return b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words)


def now_ms() -> int:
    return int(time.time() * 1_000)


def as_the_gateway(lines: str) -> str:
    """The names of a header as the gateway writes them: one table for all keys, all arguments, all topics. The tests of
    older trees put one entry after another into it, which costs Redis more. Scripts with optional arguments stay."""
    if "optional = ' '" not in lines:
        return lines
    for pattern, table in ((r"^key\.(.*)\n", "key"), (r"^homes(\[.*)\n", "homes"),
                           (r"^if given\(\d+\) then args\.(.*) end\n", "args")):
        if entries := re.findall(pattern, lines, re.M):
            lines = re.sub(pattern, f"{table} = {{{', '.join(entries)}}}\n", lines, count=1, flags=re.M)
            lines = re.sub(pattern, "", lines, flags=re.M)
    return lines


class Publishes:
    """Broadcasts to a hundred topics in turn."""

    def __init__(self, side, ids: bool, events: int, gap_ms: int = 0):
        self.side, self.ids, self.events, self.gap_ms = side, ids, events, gap_ms
        self.count = itertools.count(1)

    def call(self):
        number = next(self.count)
        topic = f"shop:bench-{number % TOPICS}"
        # A candidate is as long as the gateway's, and so is an operation's name.
        more = {"topic": topic, "epoch": f"{number:022d}", "now_ms": now_ms() + number * self.gap_ms, **POLICY}
        if self.events == 1:
            self.side.scripts.publish(event="order:created", data=DATA,
                                      id=f"operation-{number:012d}" if self.ids else "-", **more)
        else:
            self.side.scripts.publish_several(
                [("order:created", DATA, f"operation-{number:08d}-{n:03d}" if self.ids else "-")
                 for n in range(self.events)], **more)


class Votes:
    """The barbershop's vote: 200 guests, 20 tracks, up and down in turn, so that every vote changes something."""

    def __init__(self, side):
        self.side, self.count = side, itertools.count(0)
        commands, db = side.made, side.db
        db.zadd("shop:bench#presence", {self.user(n): now_ms() + 86_400_000 for n in range(USERS)})
        commands.start_session(shopId="bench", random="a" * 32, now_ms=now_ms())
        for number in range(TRACKS):
            commands.add_track(shopId="bench", trackId=self.track(number), userId=self.user(number % USERS),
                               now_ms=now_ms())

    @staticmethod
    def user(number):
        return f"u{number:08d}"

    @staticmethod
    def track(number):
        return f"track-{number:04d}"

    def call(self):
        number = next(self.count)
        turn, place = divmod(number, USERS * TRACKS)
        self.side.commands.vote(
            user=self.user(number % USERS), role="user", shopId="bench", trackId=self.track(place // USERS),
            vote="down" if turn % 2 else "up", id=f"operation-{number:012d}", now_ms=now_ms(), policy=POLICY)


class Side:
    """The scripts of one tree and a server for them."""

    def __init__(self, directory: Path, valgrind: bool):
        from Fixtures.redis.server import RedisServer
        from Fixtures.scripts.command_scripts import Commands
        from Fixtures.scripts.lua_scripts import Scripts

        generated = Commands._generated
        Commands._generated = staticmethod(lambda header: as_the_gateway(generated(header)))
        self.server = RedisServer(directory)
        if valgrind:
            counted.start(self.server)
        else:
            self.server.start()
        self.db = self.server.client(socket_timeout=600)
        recorder = Recorder(self.db)
        self.recorder = recorder
        self.made, self.commands, self.scripts = Commands(self.db), Commands(recorder), Scripts(recorder)
        self.link = self.server.client(socket_timeout=600).connection_pool.get_connection("")
        self.link.connect()
        self.cases = {}

    def case(self, name: str):
        if name not in self.cases:
            self.cases[name] = Votes(self) if name == "vote" else Publishes(
                self, "id" in name, EVENTS.get(name, 1), 60_000 if "quiet" in name else 0)
        return self.cases[name]

    def cpu_us(self) -> float:
        tasks = Path(f"/proc/{self.server.process.pid}/task").iterdir()
        return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1_000

    def run(self, name: str, calls: int, counts: bool) -> dict:
        """A block of calls, and what Redis says it took, for each event."""
        case = self.case(name)
        words = [self.recorder.words(case.call) for _ in range(calls)]
        blocks = [b"".join(encoded(one) for one in words[at:at + PIPELINED]) for at in range(0, calls, PIPELINED)]
        self.db.config_resetstat()
        before = counted.instructions(self.server) if counts else self.cpu_us()
        for at, block in enumerate(blocks):
            self.link.send_packed_command([block])
            for _ in words[at * PIPELINED:(at + 1) * PIPELINED]:
                self.link.read_response()
        after = counted.instructions(self.server) if counts else self.cpu_us()
        stats = self.db.info("commandstats")
        entries = [stats[each] for each in ("cmdstat_evalsha", "cmdstat_fcall") if each in stats]
        done = sum(entry["calls"] - entry["failed_calls"] for entry in entries)
        if done != calls:
            sys.exit(f"{name}: {done} of {calls} calls did not fail")
        events = calls * EVENTS.get(name, 1)
        return {"script": sum(entry["usec"] for entry in entries) / events, "Redis": (after - before) / events}


def serve(root: Path, directory: Path, counts: bool) -> None:
    """Answers each line of the input, a case and a number of calls, by a line of figures."""
    sys.path.insert(0, str(root / "Tests"))
    side = Side(directory, counts)
    print("ready", flush=True)
    try:
        for line in sys.stdin:
            name, calls = line.split()
            print(json.dumps(side.run(name, int(calls), counts)), flush=True)
    finally:
        side.db.close()
        side.server.stop()


# The judge


class Process:
    """A side in a process of its own."""

    def __init__(self, root: Path, directory: Path, counts: bool):
        words = [sys.executable, str(Path(__file__).resolve()), "--side", str(root), str(directory)]
        self.process = subprocess.Popen(words + (["--instructions"] if counts else []), text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.line()

    def line(self) -> str:
        text = self.process.stdout.readline()
        if not text:
            sys.exit(f"a side ended: {self.process.wait()}")
        return text

    def run(self, name: str, calls: int) -> dict:
        self.process.stdin.write(f"{name} {calls}\n")
        self.process.stdin.flush()
        return json.loads(self.line())

    def end(self) -> None:
        self.process.stdin.close()
        self.process.wait(timeout=60)


def tree_of(reference: str, directory: Path) -> Path:
    """What the scripts of another commit are loaded from: that commit's files, by this tree's fixtures."""
    directory.mkdir()
    archive = subprocess.run(["git", "-C", str(ROOT), "archive", reference, "lua"], check=True,
                             capture_output=True).stdout
    subprocess.run(["tar", "-x", "-C", str(directory)], input=archive, check=True)
    shutil.copytree(ROOT / "Tests/Fixtures", directory / "Tests/Fixtures")
    return directory


def compare(sides: dict[str, Process], name: str, rounds: int, calls: int) -> dict[str, list[dict]]:
    for side in sides.values():
        side.run(name, max(200, calls // 4))
    figures = {label: [] for label in sides}
    for number in range(rounds):
        for label in list(sides) if number % 2 else reversed(list(sides)):
            figures[label].append(sides[label].run(name, calls))
    return figures


def tell(name: str, figures: dict[str, list[dict]], counts: bool, markdown: bool) -> None:
    words = [name]
    for kind in ["Redis"] if counts else ["script", "Redis"]:
        sides = [[one[kind] for one in rounds] for rounds in figures.values()]
        words += [f"{statistics.median(side):.{0 if counts else 2}f}" for side in sides]
        if len(sides) == 2:
            ratios = [new / old for old, new in zip(*sides, strict=True)]
            words.append(f"{statistics.median(ratios):.3f}")
    if markdown:
        print("| " + " | ".join(words) + " |", flush=True)
    else:
        print(f"{words[0]:18}" + "".join(f"{each:>12}" for each in words[1:]), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--against", help="the commit whose scripts are measured beside those of this tree")
    parser.add_argument("--pairs", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=5, help="of each pair of servers")
    parser.add_argument("--calls", type=int, default=2_000)
    parser.add_argument("--cases", default="publish,publish_id,publish_quiet,publish_16,publish_16_ids,vote")
    parser.add_argument("--instructions", action="store_true")
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument("--side", nargs=2, metavar=("ROOT", "DIRECTORY"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.side:
        return serve(Path(options.side[0]), Path(options.side[1]), options.instructions)
    with tempfile.TemporaryDirectory() as place:
        roots = {"now": ROOT}
        if options.against:
            roots = {"before": tree_of(options.against, Path(place) / "tree"), **roots}
        kinds = ["instructions"] if options.instructions else ["script us", "Redis us"]
        head = [f"{kind} {word}" for kind in kinds for word in [*roots, *(["ratio"] if len(roots) == 2 else [])]]
        print("  ".join(["case", *head]))
        names = options.cases.split(",")
        figures = {name: {label: [] for label in roots} for name in names}
        for pair in range(options.pairs):
            sides = {label: Process(root, Path(place) / f"{label}-{pair}", options.instructions)
                     for label, root in roots.items()}
            try:
                for name in names:
                    for label, more in compare(sides, name, options.rounds, options.calls).items():
                        figures[name][label] += more
            finally:
                for side in sides.values():
                    side.end()
        for name in names:
            tell(name, figures[name], options.instructions, options.markdown)


if __name__ == "__main__":
    main()
