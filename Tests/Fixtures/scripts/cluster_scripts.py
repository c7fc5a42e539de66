"""Command scripts on a Redis Cluster, one atomic step after the other, so that a test decides what comes between them.

As in command_scripts.py this is a reading of its own of the header's contract: `@span NAME reads NAME`, `@steps`, and a
`@resolve` whose key lies elsewhere.
"""

import hashlib
import json
from dataclasses import replace

import redis

from Fixtures.redis.cluster import tagged
from Fixtures.scripts import answers_seen
from Fixtures.scripts.call_arguments import bound
from Fixtures.scripts.command_scripts import HIDDEN, POLICY, VARIABLE, Commands, Failed, Header, render
from Fixtures.scripts.derived_values import Derived
from Fixtures.scripts.lua_scripts import needed, parts_of, script_text

TRIES = 3


class Form:
    """A script as a Cluster runs it: what lies in its slot, what it looks at, and what it resolves there again."""

    def __init__(self, header: Header):
        self.whole = header
        words = (header.tag("span") or "").split(" -- ")[0].split()
        assert header.tag("span") is None or words, f"{header.name} needs one server"
        self.deciding = words[0] if words else None
        self.read = words[2] if len(words) == 3 else None

        def variable(template):
            return next(iter(VARIABLE.findall(template.split("#")[0])), None)
        near = [key for key in header.keys if not words or variable(key[1]) == self.deciding]
        self.looked = [key for key in header.keys if self.read and variable(key[1]) == self.read]
        place = self.deciding or variable(header.home)
        self.reread = [value for value in header.resolved if variable(value.key) == place]
        pointers = [value for value in header.resolved if value not in self.reread]
        steps = [name.strip() for tag, text in header.tags if tag == "steps" for name in text.split(",")]
        self.near = replace(
            header, tags=[tag for tag in header.tags if tag[0] != "span"], keys=near, calls=header.calls + steps,
            derived=header.derived + [Derived(value.name, is_address=True) for value in pointers], resolved=self.reread)
        self.has_pointers = bool(pointers)

    @property
    def is_readonly(self):
        return self.whole.tag("readonly") is not None


class ClusterCommands(Commands):
    """Runs scripts on the masters of a Cluster; `db` is a client of all of them."""

    def form(self, name):
        return Form(Header.read(self.path(name)))

    def text(self, name: str) -> bytes:
        """The whole text that is loaded for a script; that of `look` is the gateway's own."""
        prelude = script_text(self.path("prelude")).replace("'PUBLISH'", "'SPUBLISH'")
        if name == "look":
            own = script_text(self.path(name))
            return "\n".join([*needed([prelude], own), own]).encode()
        form = self.form(name)
        included = [script_text(self.path(f"part_{text}")) for tag, text in form.whole.tags if tag == "include"]
        names = ["writes", "checks", "values", "command", "run", *(["outside"] if form.whole.calls_out else []),
                 *(["elsewhere"] if form.is_readonly else []), *(["looked"] if form.looked else [])]
        shared = [prelude, *(script_text(self.path(each)) for each in names)]
        generated, body = self._generated(form.near), [*included, script_text(self.path(name))]
        first = self._behind(form.near)
        generated += "".join(f"\nkey.{key} = ARGV[{first + place}]" for place, (key, _) in enumerate(form.looked))
        shared = needed(shared, "\n".join([generated, *body]))
        return "\n".join([*shared, generated, "local function command()", "local " + HIDDEN, *body, "end",
                          "return run(command)"]).encode()

    @staticmethod
    def _behind(header):
        """The place in ARGV behind everything that a script has on one server."""
        return (13 + 6 * len(header.home_topics) + len(header.arguments) + len(header.derived) + len(header.resolved)
                + bool(header.changes_members) + bool(header.calls_out))

    def flight(self, name, user="", role="service", id=None, now_ms=None, random="0" * 32, **arguments):
        """A call as a generator: it yields before each atomic step and returns the answer.

        Who drops it is a gateway that died there.
        """
        form = self.form(name)
        values, texts, flags, user = bound(name, form.near, arguments, user)
        for value in form.whole.derived:
            values[value.name] = value.value(values)
        told = None
        for tries in range(TRIES, 0, -1):
            before = dict(values)
            for value in form.whole.resolved:
                yield f"{name}: resolve"
                key = tagged(render(value.key, values))
                found = self.db.hget(key, value.field) if value.field else self.db.get(key)
                if found is None and not value.instead:
                    raise Failed(value.code, value.sentence)
                values[value.name] = found.decode() if found is not None else value.instead
            if told and values == before:
                raise told
            try:
                reply = yield from self._run(form, values, texts, flags, user, role, id, now_ms, random)
            except Failed as failed:
                if not form.has_pointers or tries == 1:
                    raise
                told = failed
                continue
            if reply is not None:
                break
            told = None
        else:
            raise Failed("conflict", "what this call concerns is changing")
        answer, retried, *more = parts_of(reply)
        steps = more[3] if len(more) > 3 else []
        for entry, command, words, answers in steps:
            told = yield from self.flight(
                command.decode(), role="worker", now_ms=now_ms, **json.loads(words))
            self.db.xdel(self.outbox_of(form, values), entry)
            answer = json.dumps(told).encode() if answers == b"1" else answer
        answer = json.loads(answer)
        answers_seen.check_answer(self.path(name), answer)
        return answer

    def outbox_of(self, form, values):
        id = render(form.near.home, values).split(":", 1)[1]
        return f"#outbox:{{{id}}}"

    def _run(self, form, values, texts, flags, user, role, id, now_ms, random):
        """The look and the run; the reply, or None where the gateway begins anew."""
        header, name = form.near, form.whole.name
        looked = [tagged(render(template, values)) for _, template in form.looked]
        if looked:
            yield f"{name}: look"
            seen = self._loaded.call("look", looked, [])
        home, outbox = render(header.home, values), self.outbox_of(form, values)
        digest = hashlib.sha1(f"{user} {role} {id}".encode()).hexdigest()[:32]
        keys = [outbox, tagged(f"{home}#done#{digest}") if id else outbox]
        homes = [render(topic, values) for topic in header.home_topics]
        for topic in homes:
            keys += [tagged(f"{topic}#log"), tagged(f"{topic}#meta")]
        keys += [tagged(render(template, values)) for _, template in header.keys]
        keys += [tagged(render(value.key, values)) for value in header.resolved]
        if header.is_refresh:
            keys.append(tagged(f"{home}#fence"))
        fingerprint = hashlib.sha1(json.dumps([name, texts]).encode()).hexdigest() if id else ""
        argv = [now_ms or self.now_ms, user, role, self.run_id, f"e{next(self.candidates)}", fingerprint, 300,
                random if {"random", "mint"} & {tag for tag, _ in header.tags} else "", "{",
                "1000000 0 user:" + user, 1 if header.is_refresh else "", flags]
        for topic in homes:
            argv += [topic, tagged(topic), POLICY["log_max"], POLICY["log_ttl_s"], POLICY["meta_ttl_s"], ""]
        argv += texts + [values[value.name] for value in [*header.derived, *header.resolved]]
        if header.changes_members:
            keys += [outbox, *(tagged(f"{topic}#members") for topic in homes)]
            argv.append(1_000)
        if looked:
            keys.append(tagged(f"{home}#done#looked-{values[form.read]}"))
            argv += [*looked, seen]
        if form.is_readonly:
            argv.append("")
        yield f"{name}: run"
        try:
            return self._loaded.call(name, keys, argv)
        except redis.ResponseError as error:
            word, _, rest = str(error).partition(" ")
            if word == "STALE":
                return None
            if word == "FAIL":
                raise Failed(*rest.split(" ", 1)) from error
            raise

    def call(self, name, *arguments, **options):
        """A call with nothing between its steps: (answer, False)."""
        flight = self.flight(name, *arguments, **options)
        while True:
            try:
                next(flight)
            except StopIteration as end:
                return end.value, False

    # What the worker would do.

    def outboxes(self):
        """The streams with entries, on every master, with their entries in order."""
        found = []
        for stream in sorted(self.db.scan_iter(match="#outbox:{*}", count=1_000)):
            found += [(stream.decode(), entry, fields) for entry, fields in self.db.xrange(stream)]
        return found

    def deliver(self, stream, entry, fields):
        """Does an entry, as a generator like a call."""
        if b"u" in fields:
            if fields[b"x"] != b"removed":
                key = tagged(fields[b"t"].decode() + "#members")
                (self.db.sadd if fields[b"x"] == b"add" else self.db.srem)(key, fields[b"u"])
        elif b"c" in fields:
            name = fields[b"c"].decode()
            is_once = Header.read(self.path(name)).tag("idempotent") is None
            id = f"o:{stream}:{entry.decode()}" if is_once else None
            try:
                yield from self.flight(name, role="worker", id=id, **json.loads(fields[b"a"]))
            except Failed as failed:
                assert failed.code == "conflict", failed
                return
        self.db.xdel(stream, entry)

    def relay(self):
        """Does everything that waits, in any order that the streams have."""
        while waiting := self.outboxes():
            for one in waiting:
                for _ in self.deliver(*one):
                    pass
        return []


def interleaved(flights, rng, lost=0.0):
    """Takes steps of flights in random order until all have ended; each may end before a step, as a gateway dies.

    Returns what each returned, failed with, or None.
    """
    results, live = [None] * len(flights), dict(enumerate(flights))
    while live:
        place = rng.choice(sorted(live))
        if rng.random() < lost:
            live.pop(place).close()
            continue
        try:
            next(live[place])
        except StopIteration as end:
            results[place] = end.value
            del live[place]
        except Failed as failed:
            results[place] = failed
            del live[place]
    return results
