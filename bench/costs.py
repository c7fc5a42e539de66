#!/usr/bin/env python3
"""What every built-in script costs at its limits, against what its caller pays: the table of docs/costs.md.

    .venv/bin/python bench/costs.py [--write]

Starts a redis-server of its own and makes the calls of bench/weights.py. Of each it reads what Redis counts: commands,
bytes that the keys of the call grew by and how long they live, entries of the outbox, events. Prints the table, or
writes it. Tests/Scripts/test_costs.py compares the costs of each run with the table and with what is paid.
"""

import argparse
import contextlib
import functools
import importlib
import json
import re
import statistics
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import weights  # it finds the modules of the tests

from Fixtures.redis.server import RedisServer
from Fixtures.scripts import chats, lua_scripts
from Fixtures.scripts.command_scripts import Commands, Header
from Fixtures.scripts.lua_scripts import LUA, Scripts, pack_of, script_names, script_path
from weight_cases import CASES, Site

TABLE = Path(__file__).resolve().parents[1] / "docs" / "costs.md"
#: What stands last before the tables.
FIRST = "## The tables\n"
#: What the gateway adds to the arguments' bytes for a call (`KeptEvent.overheadBytes`).
OVERHEAD_BYTES = 128
#: Fewer bytes are those of the server's own tables, which grow now and then.
BYTES_SHOWN = 512
#: What an event costs its caller, and how many times as much a call by `later` (`publish.lua`, `CALL_PRICE`).
EVENT_US, CALL_EVENTS = 100, 6
#: A script of which the least time is this long on the machine on which the weights were measured.
REFERENCE_US = 160
REFERENCE = """local key = KEYS[1]
for n = 1, 100 * ARGV[1] do
  redis.call('HSET', key, 'f' .. n % 10, string.format('%d', n))
  redis.call('HGET', key, 'f1')
end"""


@dataclass
class Cost:
    """The worst of a script's cases, each figure for itself."""

    script: str
    pack: str
    callers: str
    weight: int
    price: int = 0
    paid_bytes: int = 0
    commands: int = 0
    bytes: int = 0
    life_s: int = 0
    entries: int = 0
    events: int = 0
    #: Microseconds of the script in each run, and of the reference beside it.
    us: list[float] = field(default_factory=list)
    reference_us: list[float] = field(default_factory=list)

    @property
    def is_called_by_others(self) -> bool:
        """Whether only the worker calls it: then its caller is the script that says `later`."""
        return self.callers == "worker"

    @property
    def paid_us(self) -> int:
        """What the caller pays for one call."""
        return EVENT_US * CALL_EVENTS if self.is_called_by_others else self.weight + EVENT_US * self.price

    @property
    def is_paid_in_bytes(self) -> bool:
        """Whether those who call it have a budget of bytes."""
        return {"user", "anonymous"} & set(self.callers.split(", ")) != set()

    @property
    def host_factor(self) -> float:
        """How much slower this host is than the one on which the weights were measured, at least 1."""
        return max(1.0, min(self.reference_us) / REFERENCE_US)

    def row(self) -> str:
        kept = self.bytes if self.bytes >= BYTES_SHOWN else 0
        life = "" if not kept else "for good" if self.life_s < 0 else text_of(self.life_s)
        paid_bytes = self.paid_bytes if self.is_paid_in_bytes else ""
        cells = [f"`{self.script}`", self.callers, self.paid_us, paid_bytes, self.commands, kept or "", life,
                 self.entries or "", self.events or ""]
        return "| " + " | ".join(str(cell) for cell in cells) + " |"


def text_of(seconds: int) -> str:
    """A life in its largest unit, rounded up."""
    for unit, size in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= size:
            return f"{-(-seconds // size)} {unit}"
    return f"{seconds} s"


class Meter:
    """Stands between all cases and Redis: notes what the calls of one script cost."""

    def __init__(self, db):
        self.db, self.cost, self.header = db, None, None
        self.grown = []

    @contextlib.contextmanager
    def installed(self):
        """Sees the calls of everything that loads scripts, and the joins of topics whose scripts decide."""
        call, state = lua_scripts.Loaded.call, chats.Joins.state

        def seen_call(loaded, names, keys, arguments):
            own = self.cost and self.cost.script in ([names] if isinstance(names, str) else names)
            run = functools.partial(call, loaded, names, keys, arguments)
            return self.measured(run, names, keys, arguments) if own else run()

        def seen_state(joins, *words, **more):
            run = functools.partial(state, joins, *words, **more)
            return self.measured(run, (), [], []) if self.cost and joins.name == self.cost.script else run()

        lua_scripts.Loaded.call, chats.Joins.state = seen_call, seen_state
        try:
            yield self
        finally:
            lua_scripts.Loaded.call, chats.Joins.state = call, state

    def sizes(self, keys: list[str]) -> dict[str, int]:
        with self.db.pipeline(transaction=False) as pipe:
            for key in keys:
                pipe.memory_usage(key, samples=0)
            return {key: size or 0 for key, size in zip(keys, pipe.execute(), strict=True)}

    def names(self, keys: list[str]) -> dict[str, list[int]]:
        """The lengths of all members of each sorted set."""
        return {key: [len(name) for name in self.db.zrange(key, 0, -1)] for key in keys if self.db.type(key) == b"zset"}

    def measured(self, run, names, keys, arguments):
        cost, own = self.cost, list(dict.fromkeys(key.decode() if isinstance(key, bytes) else key for key in keys))
        streams = [key for key in own if key.startswith("#outbox")]
        outbox = [key for key in streams if self.db.type(key) in (b"stream", b"none")]
        own = [key for key in own if key not in streams]
        before, waiting = self.sizes(own), sum(self.db.xlen(key) for key in outbox)
        names_before = self.names(own)
        self.db.config_resetstat()
        reply = run()
        stats = self.db.info("commandstats")
        made = {each.removeprefix("cmdstat_"): entry["calls"] for each, entry in stats.items()}
        cost.us.append(sum(stats[f"cmdstat_{each}"]["usec"] for each in ("evalsha", "eval") if each in made))
        for each in ("evalsha", "eval", "config|resetstat", "info", "script|load"):
            made.pop(each, None)
        after = self.sizes(own)
        cost.commands = max(cost.commands, sum(made.values()))
        self.grown.append(sum(after.values()) - sum(before.values()))
        names_after = self.names(own)
        for key in own:
            grown = after[key] - before[key]
            # The nodes of a sorted set have heights by chance: with as many members, only longer ones are growth.
            old, new = names_before.get(key, []), names_after.get(key, [])
            if old and len(old) == len(new):
                grown = sum(new) - sum(old)
            if grown >= BYTES_SHOWN // 4:
                life = self.db.ttl(key)
                cost.life_s = -1 if life < 0 or cost.life_s < 0 else max(cost.life_s, life)
        entries = sum(self.db.xlen(key) for key in outbox) - waiting
        cost.entries = max(cost.entries, entries)
        # The outbox tells its worker by a publish.
        cost.events = max(cost.events, made.get("publish", 0) - (entries > 0) + foreign(self.db, outbox, entries))
        if names == cost.script:
            self.note_payment(reply, arguments)
        return reply

    def note_payment(self, reply, arguments) -> None:
        """What the caller of a command pays: for arguments, events and calls."""
        first = 12 + 6 * len(self.header.home_topics)
        given = [str(word).encode() for word in arguments[first:first + len(self.header.arguments)]]
        words = reply.partition(b" ")[0] if isinstance(reply, bytes) else reply[2] if len(reply) > 2 else b"0"
        price, told, *_ = [*(str(words) if isinstance(words, int) else words.decode()).split(":"), "0"]
        self.cost.price = max(self.cost.price, int(price))
        self.cost.paid_bytes = max(self.cost.paid_bytes, OVERHEAD_BYTES + sum(map(len, given)) + int(told))


def foreign(db, outbox: list[str], count: int) -> int:
    """The events in the newest entries of the outbox."""
    if count <= 0:
        return 0
    newest = [fields for key in outbox for _, fields in db.xrevrange(key, count=count)]
    return sum(len(fields[b"m"].split()) if b"m" in fields else b"e" in fields for fields in newest[:count])


def callers(header: Header) -> str:
    """Who may call a script, as the table says it."""
    if header.tag("erases") is not None or header.tag("exports") is not None:
        return "user's data"
    if header.tag("allow"):
        return header.tag("allow").replace("|", ", ")
    if header.tag("refresh"):
        return "refresh"
    return "joins" if header.tag("state") or header.tag("subscribe") else "gateway"


def packs() -> list[str | None]:
    """The packs that are measured; `None` stands for the default ones."""
    return [None, *weights.MEASURED_PACKS]


def cases(pack: str | None) -> list[str]:
    """The names of a pack's cases, by the modules in which they stand."""
    modules = [f"weight_cases_{pack}"]
    if pack is None:
        own = [path.stem for path in sorted(Path(__file__).parent.glob("weight_cases*.py"))]
        modules = [name for name in own if name.removeprefix("weight_cases_") not in weights.MEASURED_PACKS]
    for name in modules:
        importlib.import_module(name)
    return sorted(name for name, function in CASES.items() if function.__module__ in modules)


def measured(db, pack: str | None, runs: int, only: set[str] | None = None) -> list[Cost]:
    """The costs of the scripts of a pack, of some or all."""
    needed = weights.packs_of(pack)
    folders = [LUA / each for each in needed]
    names = [name for name in script_names(*needed) if name not in weights.UNMEASURED and not name.startswith("part_")]
    costs = {}
    with Meter(db).installed() as meter:
        for case in cases(pack):
            name = max((one for one in names if f"{case}_".startswith(f"{one}_")), key=len)
            header = Header.read(script_path(name, *folders))
            if only is not None and name not in only:
                continue
            if name not in costs:
                home = pack_of(script_path(name, *folders))
                costs[name] = Cost(name, home, callers(header), int(header.tag("weight") or 1_000))
            measure(meter, case, costs[name], folders, header, runs)
    return list(costs.values())


def measure(meter: Meter, case: str, cost: Cost, folders: list[Path], header: Header, runs: int) -> None:
    """Adds one case to a script's cost."""
    db = meter.db
    meter.cost = None
    db.flushall()
    site = Site(db, Commands(db, *folders), Scripts(db))
    call = CASES[case](site)
    call(0)
    times, cost.us, meter.grown = cost.us, [], []
    meter.cost, meter.header = cost, header
    for number in range(1, runs + 1):
        call(number)
        db.config_resetstat()
        # As long as the script: on a busy host a long run is interrupted, and a short one is not.
        count = max(1, round((cost.us or [REFERENCE_US])[-1] / REFERENCE_US))
        db.eval(REFERENCE, 1, "{reference}", count)
        cost.reference_us.append(db.info("commandstats")["cmdstat_eval"]["usec"] / count)
    # The least of each case counts: a busy host adds time, and a hash of the server that doubles adds bytes.
    cost.bytes = max(cost.bytes, min(meter.grown, default=0))
    cost.us = [max(min(cost.us, default=0) - site.without, *times, 1)]


@contextlib.contextmanager
def redis_server():
    """A server of its own, and a client."""
    with tempfile.TemporaryDirectory() as directory, RedisServer(Path(directory)).running() as server:
        yield server.client()


def page(costs: list[Cost], head: str) -> str:
    """The text of docs/costs.md; `head` is what stands before the tables."""
    lines = [head.rstrip("\n"), ""]
    for pack in dict.fromkeys(cost.pack for cost in costs):
        lines += [f"### {pack}", "",
                  "| script | callers | paid us | paid bytes | commands | bytes | life | entries | events |",
                  "|---|---|---|---|---|---|---|---|---|"]
        lines += [cost.row() for cost in costs if cost.pack == pack] + [""]
    return "\n".join(lines)


def rows(text: str) -> dict[str, list[str]]:
    """The rows of the page's tables, by script."""
    return {cells[0].strip("`"): cells for line in text.splitlines() if re.match(r"\| `\w+` \|", line)
            for cells in [[cell.strip() for cell in line.strip("|").split("|")]]}


#: How many times the time that is paid a script may take; more where only other scripts call it.
TIME_FACTOR, CALLED_TIME_FACTOR = 2, 4
#: How many times the bytes that are paid a call may leave, and how many more.
BYTES_FACTOR, BYTES_MORE = 4, 4_096


#: Called scripts that may take twice their weight, and bytes that calls may leave, whatever is paid; docs/costs.md says
#: why.
TIME_EXCEPTIONS = {"depart", "withdraw_listener"}
BYTES_EXCEPTIONS = {"join_listening": 40_000}


def allowed_time(cost: Cost) -> float:
    """How long a script may take for what is paid, microseconds."""
    if cost.script in TIME_EXCEPTIONS:
        return TIME_FACTOR * cost.weight * cost.host_factor
    factor = CALLED_TIME_FACTOR if cost.is_called_by_others else TIME_FACTOR
    return factor * cost.paid_us * cost.host_factor


def judged(db, pack: str | None) -> list[Cost]:
    """The costs of a pack. What seems to take too long is measured again: another process may have come in between."""
    found = measured(db, pack, runs=2)
    slow = {cost.script for cost in found if cost.us[0] > allowed_time(cost)}
    again = {cost.script: cost for cost in measured(db, pack, runs=20, only=slow)} if slow else {}
    for cost in found:
        if cost.script in again:
            cost.us, cost.reference_us = again[cost.script].us, again[cost.script].reference_us
    return found


def problems(cost: Cost, row: list[str] | None) -> list[str]:
    """What is wrong with the cost of a script, or with its row in the table."""
    if row is None:
        return [f"{cost.script} has no row in docs/costs.md"]
    found = []
    allowed_us = allowed_time(cost)
    if cost.us[0] > allowed_us:
        found.append(f"{cost.script} took {cost.us[0]} us, and what is paid allows {allowed_us:.0f}")
    allowed_bytes = BYTES_FACTOR * cost.paid_bytes + BYTES_MORE
    exception = BYTES_EXCEPTIONS.get(cost.script)
    if exception and cost.bytes <= allowed_bytes:
        found.append(f"{cost.script} needs its exception no more")
    allowed_bytes = exception or allowed_bytes
    if cost.is_paid_in_bytes and cost.bytes > allowed_bytes:
        found.append(f"{cost.script} left {cost.bytes} bytes, and what is paid allows {allowed_bytes}")
    told = [cell.strip() for cell in cost.row().strip("|").split("|")]
    for place, more in ((2, 0), (3, 64), (4, 8), (5, 4 * BYTES_SHOWN), (7, 0), (8, 0)):
        was, now = (int(cells[place] or 0) for cells in (row, told))
        if abs(now - was) > max(more, was / 4):
            found.append(f"the row of {cost.script} says {was}, and it is {now} (column {place + 1})")
    if row[1] != told[1] or "" not in (row[6], told[6]) and (row[6] == "for good") != (told[6] == "for good"):
        found.append(f"the row of {cost.script} says {row[1]}, {row[6]}, and it is {told[1]}, {told[6]}")
    return found


def everything(runs: int = 3) -> list[Cost]:
    """The costs of all packs."""
    costs = {}
    with redis_server() as db:
        for pack in packs():
            for cost in measured(db, pack, runs):
                costs.setdefault(cost.script, cost)
    return sorted(costs.values(), key=lambda cost: (cost.pack, cost.script))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="write docs/costs.md instead of printing the table")
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    costs = everything(options.runs)
    if options.write:
        TABLE.write_text(page(costs, TABLE.read_text().partition(FIRST)[0] + FIRST))
    else:
        for cost in costs:
            print(f"{cost.script:24} {cost.us[0]:>8} us of {cost.paid_us:>6}  {cost.row()}")
        print(f"the reference takes {statistics.median(min(cost.reference_us) for cost in costs)} us")
        print(json.dumps({cost.script: cost.us[0] for cost in costs if cost.us[0] > cost.paid_us}))


if __name__ == "__main__":
    sys.exit(main())
