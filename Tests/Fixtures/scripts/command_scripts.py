"""Command and refresh scripts called the way the gateway and the worker call them.

An independent reading of the header contract (docs/scripts/header.md): what the Swift side does is checked against the
same scripts from outside, end to end.
"""

import functools
import hashlib
import itertools
import json
import re
from dataclasses import dataclass, field
from pathlib import Path

import redis

from Fixtures.scripts import answers_seen
from Fixtures.scripts.call_arguments import bound
from Fixtures.scripts.derived_values import Derived
from Fixtures.scripts.lua_scripts import NOW_MS, Loaded, is_built_in, needed, parts_of, script_path, script_text

POLICY = {"log_max": 200, "log_ttl_s": 300, "meta_ttl_s": 86_700}
# What the gateway hides from bodies, and from scripts that answer a join.
HIDDEN, HIDDEN_FROM_JOINS = (
    Path(__file__).resolve().parents[1] / "vectors" / "hidden_names.txt").read_text().splitlines()
VARIABLE = re.compile(r"\{(\w+)\}")


class Failed(Exception):
    """What `fail` told: the code and the sentence."""

    def __init__(self, code, message):
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message


@dataclass
class Argument:
    name: str
    kind: str
    optional: bool = False
    default: str | None = None
    wire: str = ""
    fold: str = ""


@dataclass
class Resolved:
    """A value read before the script runs: `NAME = KEY [FIELD] else CODE [STATUS] -- SENTENCE` or `else = ID`."""

    name: str
    key: str
    field: str
    instead: str
    code: str
    sentence: str


@dataclass
class Header:
    """The tags of one script that decide how it is called."""

    name: str
    tags: list[tuple[str, str]]
    arguments: list[Argument] = field(default_factory=list)
    keys: list[tuple[str, str]] = field(default_factory=list)
    topics: list[str] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)
    calls_out: list[tuple[str, str]] = field(default_factory=list)
    derived: list[Derived] = field(default_factory=list)
    resolved: list[Resolved] = field(default_factory=list)

    @classmethod
    def read(cls, path: Path) -> "Header":
        """The header of a file. The built-in scripts stay as they are while tests run, and are read once."""
        return cls._kept(path) if is_built_in(path) else cls._read(path)

    @classmethod
    @functools.cache
    def _kept(cls, path: Path) -> "Header":
        return cls._read(path)

    @classmethod
    def _read(cls, path: Path) -> "Header":
        lines = list(itertools.takewhile(lambda line: line.startswith("--"), path.read_text().splitlines()))
        header = cls(path.stem, re.findall(r"^-- @(\w+)[ ]*(.*)$", "\n".join(lines), re.M))
        for tag, text in header.tags:
            if tag == "arg":
                header.arguments.append(cls._argument(text))
            elif tag == "key":
                header.keys.append(tuple(text.split()))
            elif tag == "topic":
                header.topics.append(text.strip())
            elif tag == "derive":
                header.derived.append(Derived.read(text))
            elif tag == "resolve":
                header.resolved.append(Resolved(*re.fullmatch(
                    r"(\w+) = (\S+)(?: (?!else )(\S+))? else (?:= (\S+)|(\w+)(?: \d+)? -- (.+))",
                    text).groups(default="")))
            elif tag == "call_out":
                header.calls_out.append(tuple(text.split()))
            elif tag == "calls":
                header.calls += [name.strip() for name in text.split(",")]
        return header

    @staticmethod
    def _argument(text):
        text = text.split(" -- ")[0].strip()
        text, _, wire = text.partition(" as ")
        text, _, fold = text.partition(" fold ")
        name, rest = text.split(None, 1)
        more = {"wire": wire or name, "fold": fold}
        if rest.endswith(" optional"):
            return Argument(name, rest.removesuffix(" optional").strip(), optional=True, **more)
        if " = " in rest:
            kind, default = rest.split(" = ", 1)
            return Argument(name, kind.strip(), default=default.strip(), **more)
        return Argument(name, rest.strip(), **more)

    def tag(self, name):
        return next((text for tag, text in self.tags if tag == name), None)

    @property
    def is_refresh(self):
        return self.tag("refresh") is not None and self.tag("command") is None

    @property
    def changes_members(self):
        return self.tag("members") is not None

    @property
    def services(self):
        """The services outside that it may have called."""
        return sorted({service for service, _ in self.calls_out})

    @property
    def home(self):
        """The namespace and the variable of the id that all keys and home topics share."""
        template = next(iter([*(key for _, key in self.keys), *self.topics]), "")
        return template.split("#")[0]

    @property
    def home_topics(self):
        variable = VARIABLE.findall(self.home)
        if self.tag("span") is not None:
            return [topic for topic in self.topics if VARIABLE.findall(topic)]
        return [topic for topic in self.topics if variable and VARIABLE.findall(topic) == variable[:1]]

    @property
    def foreign(self):
        return {topic.split(":")[0] for topic in self.topics if topic not in self.home_topics}


def render(template: str, values: dict) -> str:
    return VARIABLE.sub(lambda match: str(values[match.group(1)]), template)


class Commands:
    """Runs scripts by name, of the folders first. `attempt`s of one `id` are one operation."""

    candidates = itertools.count(1)

    def __init__(self, db: redis.Redis, *folders: Path, run: str = "r" * 40):
        self.db = db
        self.run_id = run
        self.folders = folders
        self.now_ms = NOW_MS
        self._ears = None
        # A test may put another text in place of the file's.
        self._loaded = Loaded(db, lambda name: self.text(name))

    def path(self, name: str) -> Path:
        """The file of a script: of the folders, or else of the packs that are tested by name alone."""
        return script_path(name, *self.folders)

    def text(self, name: str) -> bytes:
        """The whole text that is loaded for a script."""
        header = Header.read(self.path(name))
        included = [script_text(self.path(f"part_{text}")) for tag, text in header.tags if tag == "include"]
        names = ["prelude", "writes", "checks", "values", "command", "run", *(["outside"] if header.calls_out else [])]
        shared = [script_text(self.path(each)) for each in names]
        generated, body = self._generated(header), [*included, script_text(self.path(name))]
        # What is hidden from the body is not named by it.
        shared = needed(shared, "\n".join([generated, *body]))
        return "\n".join([*shared, generated, "local function command()", "local " + HIDDEN, *body, "end",
                          "return run(command)"]).encode()

    @staticmethod
    def _generated(header: Header) -> str:
        homes = header.home_topics
        first_key = 3 + 2 * len(homes)
        first_argument = 13 + 6 * len(homes)
        removed = first_key + len(header.keys) + len(header.resolved) + header.is_refresh
        lines = []
        lines.append(f"first_key, last_key = {first_key}, {first_key + len(header.keys) - 1}")
        keys = {name: f"KEYS[{first_key + index}]" for index, (name, _) in enumerate(header.keys)}
        lines.append(f"key = {{{', '.join(f'{name} = {place}' for name, place in keys.items())}}}")
        lines.append(f"known = {{{', '.join(f'[{place}] = false' for place in keys.values())}}}")
        topics = []
        for index, _ in enumerate(homes):
            at = 13 + 6 * index
            topics.append(f"[ARGV[{at}]] = {{log = KEYS[{3 + 2 * index}], meta = KEYS[{4 + 2 * index}], "
                          f"channel = ARGV[{at + 1}], log_max = ARGV[{at + 2}], log_ttl_s = ARGV[{at + 3}], "
                          f"meta_ttl_s = ARGV[{at + 4}], top = ARGV[{at + 5}], last = false}}")
        lines.append(f"homes = {{{', '.join(topics)}}}")
        always, optional = [], []
        for index, argument in enumerate(header.arguments):
            text = f"ARGV[{first_argument + index}]"
            kind = argument.kind.split()[0]
            value = {"int": f"tonumber({text})", "number": f"tonumber({text})", "time": f"tonumber({text})",
                     "bool": f"{text} == '1'", "ids": f"ids_of({text})"}.get(kind, text)
            if argument.optional:
                optional.append(f"if given({index + 1}) then args.{argument.name} = {value} end")
            else:
                always.append(f"{argument.name} = {value}")
        made = first_argument + len(header.arguments)
        for index, value in enumerate([*header.derived, *header.resolved]):
            always.append(f"{value.name} = ARGV[{made + index}]")
        lines += [f"args = {{{', '.join(always)}}}", *optional]
        found = []
        for index, value in enumerate(header.resolved):
            text = f", field = '{value.field}'" if value.field else ""
            text += f", instead = '{value.instead}'" if value.instead else ""
            found.append(f"{{key = KEYS[{first_key + len(header.keys) + index}], "
                         f"value = ARGV[{made + len(header.derived) + index}]{text}}}")
        if found:
            lines.append(f"resolved = {{{', '.join(found)}}}")
        lines.append("optional = ' " + "".join(each.name + " " for each in header.arguments if each.optional) + "'")
        if header.tag("readonly") is not None:
            lines.append("readonly = true")
        if header.tag("random") is not None:
            lines.append("local random = ARGV[8]")
        for table, names in (("foreign", sorted(header.foreign)), ("callable", header.calls)):
            if names:
                lines.append(f"{table} = {{" + ", ".join(f"['{name}'] = true" for name in names) + "}")
        if header.changes_members:
            lines += [f"homes[ARGV[{13 + 6 * index}]].members = KEYS[{removed + 1 + index}]"
                      for index in range(len(homes))]
        if header.tag("mint") is not None:
            count, unit = header.tag("mint").split()[1:]
            lines.append(f"mint_s = {int(count) * {'s': 1, 'm': 60, 'h': 3_600, 'd': 86_400}[unit]}")
            drawn = [value for value in header.derived if not value.length and not value.is_address]
            uuids = [f"[args.{value.name}] = true" for value in drawn]
            lines.append(f"made_ids = {{{', '.join(uuids)}}}")
        if header.changes_members:
            lines.append(f"roster = {{removed = KEYS[{removed}], "
                         f"max = tonumber(ARGV[{made + len(header.derived) + len(header.resolved)}])}}")
        if header.calls_out:
            lines += Commands._services(header, removed, made + len(header.derived) + len(header.resolved))
        if header.is_refresh:
            lines.append(f"fence, check_lease = KEYS[{first_key + len(header.keys)}], check_fence")
        return "\n".join(lines)

    @staticmethod
    def _services(header: Header, key: int, argument: int) -> list[str]:
        """The names of the services, behind what members take of KEYS and ARGV."""
        if header.changes_members:
            key, argument = key + 1 + len(header.home_topics), argument + 1
        lines = [f"calls_max = tonumber(ARGV[{argument}])", "services = {}"]
        for index, name in enumerate(header.services):
            commands = ", ".join(f"{command} = true" for service, command in header.calls_out if service == name)
            stream = f"{{stream = KEYS[{key + index}], waiting = 0, commands = {{{commands}}}}}"
            lines.append(f"services['{name}'] = {stream}")
        return lines

    def call(self, name, user="", role="service", id=None, token=1, policy=POLICY, random="0" * 32, now_ms=None,
             epoch=None, outbox_max=1_000_000, payer="", payer_max=0, members_max=1_000, calls_max=4_000,
             prefix="", address="", **arguments):
        """Runs a script; returns (answer, is_retry) or raises Failed. A `payer_max` of 0 counts no payer."""
        header = Header.read(self.path(name))
        values, texts, flags, user = bound(name, header, arguments, user)
        values["address"] = address
        self._make(header, values)
        homes = [render(topic, values) for topic in header.home_topics]
        home = render(header.home, values)
        digest = hashlib.sha1(f"{user} {role} {id}".encode()).hexdigest()[:32]
        keys = [prefix + "#outbox", prefix + (f"{home}#done#{digest}" if id else "#outbox")]
        for topic in homes:
            keys += [f"{prefix}{topic}#log", f"{prefix}{topic}#meta"]
        keys += [prefix + render(template, values) for _, template in header.keys]
        keys += [prefix + render(value.key, values) for value in header.resolved]
        if header.is_refresh:
            keys.append(f"{prefix}{home}#fence")
        fingerprint = hashlib.sha1(json.dumps([name, texts]).encode()).hexdigest() if id else ""
        argv = [now_ms or self.now_ms, user, role, self.run_id, epoch or f"e{next(self.candidates)}", fingerprint, 300,
                random if {"random", "mint"} & {tag for tag, _ in header.tags} else "", prefix,
                f"{outbox_max} {payer_max} {payer}", token if header.is_refresh else "", flags]
        for topic in homes:
            argv += [topic, prefix + topic, policy["log_max"], policy["log_ttl_s"], policy["meta_ttl_s"], ""]
        texts += [values[value.name] for value in [*header.derived, *header.resolved]]
        if header.changes_members:
            keys += [prefix + "#removed", *(f"{prefix}{topic}#members" for topic in homes)]
            texts.append(members_max)
        if header.calls_out:
            keys += [f"{prefix}#calls:{service}" for service in header.services]
            texts.append(calls_max)
        return self._evaluate(name, keys, argv + texts)

    def _make(self, header, values):
        """Adds what the gateway makes of the arguments, and what it finds by them."""
        for value in header.derived:
            values[value.name] = value.value(values)
        for value in header.resolved:
            key = render(value.key, values)
            found = self.db.hget(key, value.field) if value.field else self.db.get(key)
            if found is None and not value.instead:
                raise Failed(value.code, value.sentence)
            values[value.name] = found.decode() if found is not None else value.instead

    def _evaluate(self, name, keys, argv):
        path = self.path(name)
        is_heard = answers_seen.listens and is_built_in(path)
        if is_heard:
            self._ears = self._ears or answers_seen.Ears(self.db)
            list(self._ears.heard())
        try:
            answer, retried, *_ = parts_of(self._loaded.call(name, keys, argv))
        except redis.ResponseError as error:
            word, _, rest = str(error).partition(" ")
            if word == "FAIL":
                raise Failed(*rest.split(" ", 1)) from error
            raise
        answer = json.loads(answer, parse_constant=self._refused)
        answers_seen.check_answer(path, answer)
        if is_heard:
            for event, data in self._ears.heard():
                answers_seen.check_event(path, event, data)
        return answer, retried

    @staticmethod
    def _refused(text):
        raise AssertionError(f"{text} is no JSON")

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return lambda *arguments, **options: self.call(name, *arguments, **options)[0]

    # What the relay would do.

    def outbox(self):
        """The entries waiting in the outbox: ("topic", event, data) or (command, arguments)."""
        entries = []
        for _, fields in self.db.xrange("#outbox"):
            if b"c" not in fields:
                entries += self.events(fields)
            else:
                entries.append((fields[b"c"].decode(), json.loads(fields[b"a"])))
        return entries

    def relay(self):
        """Makes the calls that wait in the outbox and returns the events that were published, in order."""
        events = []
        while entries := self.db.xrange("#outbox"):
            for entry, fields in entries:
                if b"u" in fields:
                    topic, user = fields[b"t"].decode(), fields[b"u"].decode()
                    change = self.db.sadd if fields[b"x"] == b"add" else self.db.srem
                    change(topic + "#members", user)
                elif b"c" not in fields:
                    events += self.events(fields)
                else:
                    name, arguments = fields[b"c"].decode(), json.loads(fields[b"a"])
                    is_once = Header.read(self.path(name)).tag("idempotent") is None
                    self.call(name, role="worker", id=f"o:{entry.decode()}" if is_once else None, **arguments)
                self.db.xdel("#outbox", entry)
        return events

    @staticmethod
    def events(fields):
        """The events of one entry of the outbox."""
        events = Commands._events(fields)
        for _, event, data in events:
            answers_seen.check_passed_on(event, data)
        return events

    @staticmethod
    def _events(fields):
        if b"t" in fields:
            return [(fields[b"t"].decode(), fields[b"e"].decode(), json.loads(fields[b"d"]))]
        topics, data = fields[b"m"].decode().split(), fields[b"d"]
        lengths = [int(text) for text in fields[b"l"].split()] if b"l" in fields else None
        texts = [data] * len(topics)
        if lengths is not None:
            ends = list(itertools.accumulate(lengths))
            assert ends[-1] == len(data) and len(ends) == len(topics)
            texts = [data[end - length:end] for end, length in zip(ends, lengths)]
        return [(topic, fields[b"e"].decode(), json.loads(text)) for topic, text in zip(topics, texts)]

    def log(self, topic):
        """The events of a topic's log: (event, data), oldest first."""
        return [(fields[b"e"].decode(), json.loads(fields[b"d"])) for _, fields in self.db.xrange(topic + "#log")]
