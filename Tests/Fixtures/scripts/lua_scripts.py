"""The scripts as Python functions, called the way the gateway calls them."""

import functools
import hashlib
import itertools
import re
from dataclasses import dataclass
from pathlib import Path

import redis

LUA = Path(__file__).resolve().parents[3] / "lua"
# The packs that the tests call by the scripts' names alone; another pack's are called with its folder.
PACKS = ["core", "barbershop"]
NOW_MS = 1_795_205_000_123
# The file of a pack's shared numbers, and that of core's templates; they are no scripts.
CONSTANTS, TEMPLATES = "constants", "format"
SHARED = {CONSTANTS, TEMPLATES}
# The tokens of Lua: comments, texts, numbers and names.
PIECES = re.compile(
    r"(?:--)?\[(?P<level>=*)\[.*?\](?P=level)\]|--[^\n]*"
    r"""|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|\d[\w.]*|[A-Za-z_]\w*""", re.S)
# An argument of a template: all up to a comma that stands in no text and no brackets.
ARGUMENT = re.compile(r"(?:'[^']*'|\([^()]*\)|[^,'()])+")


@dataclass(frozen=True)
class Keys:
    """The names that Core's `Keys` makes."""

    topic: str = "shop:42"

    @property
    def log(self):
        return self.topic + "#log"

    @property
    def meta(self):
        return self.topic + "#meta"

    def seen(self, id, owner="user:u1"):
        return f"{self.topic}#seen#{owner}#{id}"

    @property
    def queue(self):
        return "queue:" + self.topic.split(":", 1)[1]

    @property
    def shop_state(self):
        """The keys of state_shop.lua."""
        return [self.queue, *(f"{self.topic}#{part}" for part in ("status", "bookings", "barbers"))]


def script_path(name: str, *folders: Path) -> Path:
    """Where a script lies: in one of the folders, or else in one of PACKS; `PACK/NAME` is another pack's."""
    if "/" in name:
        return LUA / f"{name}.lua"
    places = [*folders, *(LUA / pack for pack in PACKS)]
    found = next((scripts[name] for scripts in map(scripts_in, places) if name in scripts), None)
    assert found, f"no {name}.lua in {', '.join(path.name for path in places)}"
    return found


def scripts_in(folder: Path) -> dict[str, Path]:
    """The Lua files of a pack's folder and of the folders in it, by name; those of built-in packs stay as they are."""
    return _built_in(folder) if LUA in folder.parents else _found(folder)


@functools.cache
def _built_in(folder: Path) -> dict[str, Path]:
    return _found(folder)


def _found(folder: Path) -> dict[str, Path]:
    return {path.stem: path for path in sorted([*folder.glob("*.lua"), *folder.glob("*/*.lua")])}


def built_in(*packs: str) -> list[Path]:
    """The scripts of these built-in packs, of all unless some are given."""
    folders = [LUA / pack for pack in packs] or sorted(path.parent for path in LUA.glob("*/pack.json"))
    return [path for folder in folders for name, path in scripts_in(folder).items() if name not in SHARED]


@functools.cache
def is_built_in(path: Path) -> bool:
    """Whether a file is of a built-in pack. Kept, since `parents` makes a path for each folder above."""
    return LUA in path.parents


@functools.cache
def pack_of(path: Path) -> str:
    """The built-in pack of a file; empty for an operator's."""
    return path.relative_to(LUA).parts[0] if is_built_in(path) else ""


def script_names(*packs: str) -> list[str]:
    """The names of the scripts of packs, of PACKS unless others are given."""
    return sorted(path.stem for path in built_in(*(packs or PACKS)))


@functools.cache
def constants(pack: str) -> dict[str, str]:
    """The shared numbers that a built-in pack's scripts use by name: those of core and its own."""
    own = LUA / pack / f"{CONSTANTS}.lua"
    text = own.read_text() if own.exists() else ""
    lines = [line for line in text.splitlines() if line and not line.startswith("--")]
    numbers = dict(re.fullmatch(r"([A-Z][A-Z0-9_]*) = (\d+(?:\.\d+)?) -- .+", line).groups() for line in lines)
    assert len(numbers) == len(lines), f"{own} gives a name twice"
    return numbers if pack == "core" else {**constants("core"), **numbers}


@functools.cache
def templates() -> dict[str, tuple[list[str], str]]:
    """The parameters and the text of each template of core."""
    text = (LUA / "core" / f"{TEMPLATES}.lua").read_text()
    return {name: (words.split(), text)
            for name, words, text in re.findall(r"^-- @inline (\w+) ([\w ]+) = (.+)$", text, re.M)}


def expanded(text: str) -> str:
    """A script of core with the templates' texts in place of `inline.NAME(ARGUMENT, ...)`, as Redis gets them."""
    def use(match):
        names, template = templates()[match[1]]
        arguments = [each.strip() for each in ARGUMENT.findall(match[2])]
        assert len(arguments) == len(names), match[0]
        values = dict(zip(names, arguments, strict=True))
        text = PIECES.sub(lambda piece: values.get(piece[0], piece[0]), template)
        return text.replace("' .. '", "")
    return re.sub(r"\binline\.(\w+)\(((?:[^()\n]|\([^()\n]*\))*)\)", use, text)


def script_text(path: Path) -> str:
    """A script with shared texts and numbers in place of their names. Files of no built-in pack stay as they are."""
    return _built_in_text(path) if is_built_in(path) else path.read_text()


@functools.cache
def _built_in_text(path: Path) -> str:
    text, pack = path.read_text(), pack_of(path)
    if pack == "core":
        text = expanded(text)
    numbers = constants(pack)
    return PIECES.sub(lambda match: numbers.get(match[0], match[0]), text) if numbers else text


def needed(shared: list[str], own: str) -> list[str]:
    """The shared texts without what neither they nor `own` name: such lines from `-- @only NAME...` on are empty."""
    return list(needed_once(tuple(shared), own))


@functools.cache
def needed_once(shared: tuple[str, ...], own: str) -> tuple[str, ...]:
    """The same, found once for each script."""
    files = [_pieces(text) for text in shared]
    flat = [piece for pieces in files for piece in pieces]
    named = _words(own, re.search(r"\[[\[=]", own) is not None).union(
        *(words for names, words, _ in flat if not names))
    waiting = [piece for piece in flat if piece[0]]
    while found := [piece for piece in waiting if piece[0] & named]:
        waiting = [piece for piece in waiting if not piece[0] & named]
        named = named.union(*(words for _, words, _ in found))
    return tuple("".join(text if not names or names & named else "\n" * text.count("\n") for names, _, text in pieces)
                 for pieces in files)


@functools.cache
def _pieces(text: str) -> list[tuple[set[str], set[str], str]]:
    """The pieces of a shared text: the names for which each is there (none: always), its words, and its text."""
    return [(set(re.findall(r"^-- @only (.*)", piece)[0].split()) if piece.startswith("-- @only ") else set(),
             _words(piece), piece)
            for piece in re.split(r"(?=^-- @only )|(?<=^-- @end\n)", text, flags=re.M)]


def _words(text: str, hides: bool = False) -> set[str]:
    """The words of a text, without its comments unless these may hide in a string of several lines."""
    lines = (line for line in text.split("\n") if hides or not re.match(" *--", line))
    return set(re.findall(r"\w+", "\n".join(lines)))


def source(*names: str, quick: bool = True) -> bytes:
    """The text that is loaded: the prelude, the parts that a state includes, and the named scripts.

    The common case of a publish stands in front of all, unless `quick` is false.
    """
    texts = [script_text(script_path(name)).encode() for name in names]
    parts = re.findall(rb"^-- @include +(\w+)$", texts[0], re.M) if names[0].startswith("state_") else []
    included = [script_text(script_path(f"part_{part.decode()}")).encode() for part in parts]
    before = [script_text(script_path("quick")).encode()] if quick and names == ("publish",) else []
    [prelude] = needed([script_text(script_path("prelude"))], b"\n".join([*included, *texts]).decode())
    return b"\n".join([*before, prelude.encode(), *included, *texts])


#: Called with the path of a state's script and the text of the state that a test reads.
state_checks = []


class Loaded:
    """Scripts by name, called by their hashes; Redis compiles a text when it does not have it from another test."""

    def __init__(self, db: redis.Redis, text_of):
        self._db, self._text_of, self._hashes = db, text_of, {}

    def call(self, name, keys, arguments):
        if name not in self._hashes:
            self._hashes[name] = hashlib.sha1(self._text_of(name)).hexdigest()
        try:
            return self._db.evalsha(self._hashes[name], len(keys), *keys, *arguments)
        except redis.exceptions.NoScriptError:
            self._hashes[name] = self._db.script_load(self._text_of(name))
        return self._db.evalsha(self._hashes[name], len(keys), *keys, *arguments)


def parts_of(reply) -> list:
    """A command's reply: answer, whether it was given before, its price, and words of a token."""
    price, _, answer = (reply, b"", None) if isinstance(reply, list) else reply.partition(b" ")
    if answer is None:
        return [*reply[:2], publishes_of(reply[2]), *reply[3:]] if len(reply) > 2 else reply
    return [answer, 0, publishes_of(price)]


def publishes_of(price) -> int:
    """What a call cost, in publishes; behind it may stand bytes, and that the call counts against a rate."""
    return price if isinstance(price, int) else int(price.split(b":")[0])


class Scripts:
    """The scripts as functions. Every argument has a usable default; tests name what they care about."""

    candidates = itertools.count(1)

    def __init__(self, db: redis.Redis, run: str = "r" * 40, quick: bool = True):
        self.db = db
        self.run = run
        self.quick = quick
        self._loaded = Loaded(db, lambda names: source(*names, quick=self.quick))

    def call(self, names, keys, arguments):
        names = (names,) if isinstance(names, str) else names
        reply = self._loaded.call(names, keys, arguments)
        if names[-1] == "subscribe" and len(names) > 1:
            for check in state_checks:
                check(script_path(names[0]), reply[4])
        return reply

    def publish(self, topic="shop:42", event="queue:update", data='{"n":1}', id="-", now_ms=NOW_MS, log_max=200,
                log_ttl_s=300, meta_ttl_s=86400, seen_ttl_s=300, epoch=None, run=None, top=None, owner="user:u1",
                print=None):
        keys = Keys(topic)
        name = id.split(" ")[0] if isinstance(id, str) else "odd"
        seen = keys.meta if name == "-" else keys.seen(name, owner)
        [one] = self._outcomes(self.call(
            "publish", [keys.log, keys.meta, seen],
            [topic, event, data, id, fingerprint(event, data, id) if print is None else print,
             self._terms(now_ms, log_max, log_ttl_s, meta_ttl_s, seen_ttl_s, epoch), run or self.run, top_text(top)]))
        return one

    def publish_several(self, events, topic="shop:42", now_ms=NOW_MS, log_max=200, log_ttl_s=300, meta_ttl_s=86400,
                        seen_ttl_s=300, epoch=None, run=None, top=None):
        """Publishes (event, data, id) of one topic by one call; a list of what `publish` returns.

        An id is the publisher's u1, or an (owner, id).
        """
        owned = [(event, data, *(id if isinstance(id, tuple) else ("user:u1", id))) for event, data, id in events]
        words = [(event, data, id, fingerprint(event, data, id)) for event, data, _, id in owned]
        keys = Keys(topic)
        names = [(owner, id.split(" ")[0]) for _, _, owner, id in owned]
        seen = [keys.meta if name == "-" else keys.seen(name, owner) for owner, name in names]
        terms = self._terms(now_ms, log_max, log_ttl_s, meta_ttl_s, seen_ttl_s, epoch)
        found = self._outcomes(self.call(
            "publish", [keys.log, keys.meta, *seen],
            [topic, *words[0], terms, run or self.run, top_text(top),
             *(word for event in words[1:] for word in event)]))
        assert len(found) == len(events)
        return found

    @staticmethod
    def _outcomes(reply):
        words = reply.decode().split(" ")
        return [("" if outcome == "2" else epoch, int(offset), int(outcome))
                for epoch, offset, outcome in zip(*[iter(words)] * 3, strict=True)]

    def _terms(self, *words):
        *numbers, epoch = words
        words = [*numbers, epoch or f"e{next(self.candidates)}"]
        return b" ".join(word if isinstance(word, bytes) else str(word).encode() for word in words)

    def subscribe(self, topic="shop:42", since=None, recovery_max=300, now_ms=NOW_MS, meta_ttl_s=86400, epoch=None,
                  run=None, state=None, top=None, order="newest", bytes_max=4_194_304, idle_ttl_s=300,
                  before=0):
        """The reply, and what the gateway makes of it for a client that has seen everything up to `since`."""
        keys = Keys(topic)
        since_epoch, since_offset = since or ("", "")
        epoch, offset, first, events, state_text = self.call(
            (f"state_{state}", "subscribe") if state else "subscribe",
            [keys.log, keys.meta] + (keys.shop_state if state else []),
            [epoch or f"e{next(self.candidates)}", run or self.run, top_text(top), now_ms, meta_ttl_s, since_epoch,
             since_offset, order, recovery_max, bytes_max, idle_ttl_s, before])
        epoch, offset, first = epoch.decode(), int(offset), int(first)
        events = [tuple(event) for event in events]
        assert first == (int(events[0][0]) if events else 0)
        assert [int(event[0]) for event in events] == list(range(first, first + len(events))), "consecutive"
        if order == "newest":
            end = min(offset, before - 1) if before else offset
            assert not events or first + len(events) - 1 == end, "up to the newest"
        recovered = int(since_epoch == epoch and (
            int(since_offset) == offset or 0 < first <= int(since_offset) + 1))
        return Joined(epoch, offset, recovered, events if recovered or order == "oldest" else [], state_text)

    def state(self, namespace, keys, pack="") -> bytes | None:
        """The state that joining clients of a topic are told; `keys` begin with its log and meta."""
        epoch = f"e{next(self.candidates)}"
        return self.call((f"{pack}/state_{namespace}" if pack else f"state_{namespace}", "subscribe"), keys,
                         [epoch, self.run, "", NOW_MS, 86_400, "", "", "newest", 300, 4_194_304, 300, 0])[4]

    def renew(self, *topics, idle_ttl_s=300):
        return self.call("renew", [Keys(topic).meta for topic in topics], [idle_ttl_s])

    def history(self, topic="shop:42", after=0, limit=300, run=None, bytes_max=262_144):
        return self.page(topic, after, limit, run, bytes_max)[:4]

    def page(self, topic="shop:42", after=0, limit=300, run=None, bytes_max=262_144):
        """What `history` returns, and the `after` of the next page, 0 at the end."""
        keys = Keys(topic)
        epoch, offset, first, events, following = self.call(
            "history", [keys.log, keys.meta], [run or self.run, after, limit, bytes_max])
        return epoch.decode(), int(offset), int(first), [tuple(event) for event in events], int(following)

    def replay(self, since_ms, topic="shop:42", limit=25, run=None, bytes_max=196_608):
        """What `replay` returns."""
        keys = Keys(topic)
        epoch, offset, events = self.call(
            "replay", [keys.log, keys.meta], [run or self.run, since_ms, limit, bytes_max])
        return epoch.decode(), int(offset), [tuple(event) for event in events]

    def position(self, topic="shop:42", run=None):
        keys = Keys(topic)
        epoch, offset, exists, length, *_ = self.call("position", [keys.log, keys.meta], [run or self.run])
        return epoch.decode(), int(offset), exists, length

    def look(self, keys):
        return self.call("look", keys, [])

    def resolve(self, keys, fields):
        return [value and value.decode() for value in self.call("resolve", keys, fields)]

    def reset_epoch(self, topic="shop:42", life=None, mode="reset"):
        return self.call("reset_epoch", [Keys(topic).meta], [topic, life or self.run, "x-nobodys", mode])


def fingerprint(event, data, id) -> str:
    """What the gateway passes with an id: one text for one event and data (the gateway's also sorts members)."""
    parts = [part if isinstance(part, bytes) else part.encode() for part in (event, data)]
    return "" if id == "-" else hashlib.sha256(b" ".join(parts)).hexdigest()[:32]


def top_text(top) -> str:
    """A position as the gateway passes the last event it knows of."""
    return f"{top[0]} {top[1]}" if top else ""


def lasting(db, pattern="*") -> list[bytes]:
    """The keys but the notes about late calls, which end after an hour (part_version.lua)."""
    notes = re.compile(rb"#(version|left|freed|erased|owner|[a-z]+_at)$")
    return [key for key in db.keys(pattern) if not (notes.search(key) and 0 < db.pttl(key) <= 3_600_000)]


@dataclass
class Joined:
    """What a joining client is told, from the reply of subscribe.lua."""

    epoch: str
    offset: int
    recovered: int
    events: list
    state: bytes | None

    @property
    def offsets(self):
        return [int(event[0]) for event in self.events]
