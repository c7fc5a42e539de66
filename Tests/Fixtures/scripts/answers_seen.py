"""Every answer, state and event of a built-in script that a test sees is of the type that its header declares.

The helpers that call scripts pass by here, so a test checks the types without saying so. At the end of a whole run
every type has been seen: a command without a test of its answer fails the run.
"""

import functools
import json

import redis

from Fixtures.scripts.answer_types import Object, fault, named, read
from Fixtures.scripts.lua_scripts import built_in, is_built_in, pack_of, state_checks

#: Seen so far: file names of scripts, and (pack, event).
seen: set = set()
#: Whether events and states are compared: not where a test counts what a script costs Redis.
listens = False
#: Whether a test puts data of others in the place of the scripts' own, which no type speaks of.
is_paused = False


def _check(path, value, kind, what):
    found = fault(value, kind, named(path))
    assert not found, f"{path.name}: {what} is not as its header says: {found}"


@functools.cache
def _header(path):
    return path.read_text().split("\n\n")[0]


def is_answered_outside(path) -> bool:
    """Whether a service outside answers in the script's place."""
    return " via " in _header(path)


def check_answer(path, answer):
    """An answer as the script gives it: the gateway adds the token that `@mint` speaks of."""
    if is_paused or not is_built_in(path) or is_answered_outside(path):
        return
    kind = read(path).returns
    if kind is None:
        return
    if isinstance(kind, Object) and "-- @mint" in _header(path):
        kind = Object({name: of for name, of in kind.members.items() if name != "token"}, kind.others)
    _check(path, answer, kind, "the answer")
    seen.add(path.stem)


def check_state(path, text):
    """The text of a state, or none."""
    if text and listens and not is_paused and is_built_in(path) and (kind := read(path).returns) is not None:
        _check(path, json.loads(text), kind, "the state")
        seen.add(path.stem)


state_checks.append(check_state)


def check_event(path, event, data):
    """An event that a run of a script has published."""
    if is_paused:
        return
    kinds = [kind for name, kind in read(path).emits if name == event]
    assert kinds, f"{path.name} emits {event}, and its header does not say so"
    _check(path, data, tuple(kinds), event)
    seen.add((pack_of(path), event))


@functools.cache
def _emitted(event):
    """The built-in scripts whose headers name an event, each with its type."""
    return [(path, kind) for path in built_in() for name, kind in read(path).emits if name == event]


def check_passed_on(event, data):
    """An event that a script left in the outbox: it is as one of the headers says that name it."""
    kinds = _emitted(event)
    faults = [fault(data, kind, named(path)) for path, kind in kinds]
    assert not kinds or "" in faults, f"{event} is not as a header says: {faults[0]}"
    seen.update((pack_of(path), event) for (path, _), found in zip(kinds, faults) if not found)


class Ears:
    """Hears the events that a script publishes on any channel; deaf where the user may not listen."""

    def __init__(self, db):
        self._link = db.pubsub(ignore_subscribe_messages=True)
        try:
            self._link.psubscribe("*")
            self._link.get_message(timeout=5)
        except redis.exceptions.ResponseError:
            self._link = None

    def heard(self):
        """(event, data) of what was published since it was last asked."""
        if self._link is None:
            return
        # A PING on the same link is answered after everything that was sent before it.
        self._link.ping()
        while (message := self._link.parse_response(block=True))[0] != b"pong":
            text = message[3]
            if text.startswith(b'{"event":'):
                told = json.loads(text)
                yield told["event"], told["data"]
            elif text.startswith(b"P") and b"\n" in text:
                head, _, data = text.partition(b"\n")
                yield head.split(b" ")[2].decode(), json.loads(data)


def missing() -> list[str]:
    """The scripts and events that no test has seen."""
    wanted = set()
    for path in built_in():
        types = read(path)
        if types.returns is not None and not is_answered_outside(path):
            wanted.add(path.stem)
        wanted |= {(pack_of(path), event) for event, _ in types.emits}
    return sorted(f"{one[0]}: {one[1]}" if isinstance(one, tuple) else one for one in wanted - seen)
