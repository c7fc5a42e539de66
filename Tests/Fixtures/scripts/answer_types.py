"""The types that headers declare for answers, events and states, and the check of values against them.

An independent reading of docs/scripts/types.md. An object may have the members that its type names and no others, so
that a member which a script adds is declared.
"""

import functools
import itertools
import re
from dataclasses import dataclass, field
from pathlib import Path

from Fixtures.scripts.lua_scripts import LUA, is_built_in, pack_of

TOKEN = re.compile(r"\s*(\w+|'[^'\n]+'|[\[\]{}|?:,*])")
KINDS = {
    "string": lambda value: isinstance(value, str),
    "int": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "number": lambda value: isinstance(value, (int, float)) and not isinstance(value, bool),
    "bool": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "object": lambda value: isinstance(value, dict),
    "any": lambda value: True,
}

#: The words of JSON schemas.
WORDS = {"string": "string", "int": "integer", "number": "number", "bool": "boolean", "null": "null"}


@dataclass
class Object:
    """An object: member -> (type, whether it may be absent), and the type of all others, if it may have others."""

    members: dict = field(default_factory=dict)
    others: object = None


class Reader:
    """Reads one type; a list is a list's one element, a tuple the types of which one holds, and a text a word."""

    def __init__(self, text: str):
        self.text, self.place = text, 0

    def peek(self):
        match = TOKEN.match(self.text, self.place)
        return match[1] if match else ""

    def take(self, *wanted):
        token = self.peek()
        if wanted and token not in wanted:
            return ""
        self.place = TOKEN.match(self.text, self.place).end() if token else self.place
        return token

    def need(self, token):
        assert self.take(token), f"expected {token} at {self.text[self.place:]!r} of {self.text!r}"

    def type(self):
        types = [self.one()]
        while self.take("|"):
            types.append(self.one())
        return types[0] if len(types) == 1 else tuple(types)

    def one(self):
        if self.take("["):
            element = self.type()
            self.need("]")
            return [element]
        if self.take("{"):
            return self.object()
        token = self.take()
        assert re.fullmatch(r"\w+|'.*'", token), f"no type at {self.text[self.place:]!r} of {self.text!r}"
        return token

    def object(self):
        found = Object()
        while not self.take("}"):
            name = self.take()
            optional = bool(self.take("?"))
            kind = self.type() if self.take(":") else "any"
            if name == "*":
                found.others = kind
            else:
                found.members[name] = (kind, optional)
            if self.peek() != "}":
                self.need(",")
        return found


@dataclass
class Types:
    """The types of a header."""

    returns: object = None
    emits: list = field(default_factory=list)  # (event, type)
    named: dict = field(default_factory=dict)


def tags(path: Path):
    """The tags with types, each with its whole value: a type goes on while one of its brackets is open."""
    lines = list(itertools.takewhile(lambda line: line.startswith("--"), path.read_text().splitlines()))
    while lines:
        match = re.match(r"-- @(returns|emits|type) +(.*)", lines.pop(0))
        if not match:
            continue
        value = match[2]
        while lines and not lines[0].startswith("-- @") and is_open(value):
            value += "\n" + lines.pop(0).removeprefix("--").strip()
        yield match[1], value


def is_open(value: str) -> bool:
    return value.count("{") + value.count("[") > value.count("}") + value.count("]")


def read(path: Path) -> Types:
    """The types of a file's header. The built-in scripts stay as they are while tests run, and are read once."""
    return _kept(path) if is_built_in(path) else _read(path)


@functools.cache
def _kept(path):
    return _read(path)


def _read(path):
    types = Types()
    if not re.search(r"^-- @(command|refresh|part|state|subscribe) ", path.read_text(), re.M):
        return types  # the gateway calls it itself, and its reply is no JSON
    for tag, value in tags(path):
        if tag == "returns":
            types.returns = Reader(value).type()
        else:
            name, text = value.split(None, 1)
            kind = Reader(text).type()
            if tag == "emits":
                types.emits.append((name, kind))
            else:
                types.named[name] = kind
    return types


def named(path: Path) -> dict:
    """The types that the header of a file may name: those of its pack, or of the operator's directory."""
    pack = pack_of(path)
    return _named(LUA / pack) if pack else _find(path.parent)


@functools.cache
def _named(folder):
    return _find(folder)


def _find(folder):
    return {name: kind for path in folder.rglob("*.lua") for name, kind in read(path).named.items()}


def fault(value, kind, known, place="") -> str:
    """Why a value is not of a type; empty when it is."""
    if isinstance(kind, tuple):
        faults = [fault(value, one, known, place) for one in kind]
        return "" if "" in faults else faults[0] if len(faults) == 1 else " and ".join(faults)
    if isinstance(kind, list):
        if not isinstance(value, list):
            return f"{place or 'it'} is no list: {value!r}"
        faults = (fault(one, kind[0], known, f"{place}[{index}]") for index, one in enumerate(value))
        return next(filter(None, faults), "")
    if isinstance(kind, Object):
        return object_fault(value, kind, known, place)
    if kind.startswith("'"):
        return "" if value == kind[1:-1] else f"{place or 'it'} is not {kind}: {value!r}"
    if kind in KINDS:
        return "" if KINDS[kind](value) else f"{place or 'it'} is no {kind}: {value!r}"
    assert kind in known, f"there is no type {kind}"
    return fault(value, known[kind], known, place)


def object_fault(value, kind, known, place):
    if not isinstance(value, dict):
        return f"{place or 'it'} is no object: {value!r}"
    for name, (inner, optional) in kind.members.items():
        if name in value:
            if found := fault(value[name], inner, known, f"{place}.{name}"):
                return found
        elif not optional:
            return f"{place}.{name} is missing"
    for name in value.keys() - kind.members.keys():
        if kind.others is None:
            return f"{place}.{name} is not declared: {value[name]!r}"
        if found := fault(value[name], kind.others, known, f"{place}.{name}"):
            return found
    return ""


def members_of(kind, known) -> set[str]:
    """The names of all members that values of a type may have, at any depth."""
    if isinstance(kind, (tuple, list)):
        return set().union(*(members_of(one, known) for one in kind))
    if isinstance(kind, Object):
        inner = [members_of(one, known) for one, _ in kind.members.values()]
        return set(kind.members).union(*inner, members_of(kind.others, known) if kind.others else set())
    return members_of(known[kind], known) if kind in known else set()


def schema_of(kind, known) -> dict:
    """The JSON schema of a type, with the named types written out."""
    if isinstance(kind, tuple):
        words = [WORDS[one] for one in kind if isinstance(one, str) and one in WORDS]
        texts = [one[1:-1] for one in kind if isinstance(one, str) and one.startswith("'")]
        if len(words) == len(kind):
            return {"type": words}
        return {"enum": texts} if len(texts) == len(kind) else {"anyOf": [schema_of(one, known) for one in kind]}
    if isinstance(kind, list):
        return {"type": "array", "items": schema_of(kind[0], known)}
    if isinstance(kind, Object):
        needed = [name for name, (_, optional) in kind.members.items() if not optional]
        members = {name: schema_of(of, known) for name, (of, _) in kind.members.items()}
        return {"type": "object"} | ({"properties": members} if members else {}) | (
            {"required": needed} if needed else {}) | (
            {"additionalProperties": schema_of(kind.others, known)} if kind.others not in (None, "any") else {})
    if kind.startswith("'"):
        return {"const": kind[1:-1]}
    if kind in KINDS:
        return {"any": {}, "object": {"type": "object"}}.get(kind) or ({"type": WORDS[kind]} if kind in WORDS else {})
    return schema_of(known[kind], known)
