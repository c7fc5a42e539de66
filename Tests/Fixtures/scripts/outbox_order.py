"""The worker's road in a test: entries of the outbox with their payers, done in any order that the contract allows.

The contract: two entries of one payer for one target keep their order, those of commands and those of calls each for
themselves. Everything else may come in any order, and an entry that was done may be done again later, under the name of
its operation.
"""

import itertools
import json
import re
from dataclasses import dataclass, field

from Fixtures.scripts.command_scripts import Commands, Header, render
from Fixtures.scripts.lua_scripts import LUA, NOW_MS, built_in

PACKS = ("messaging", "people", "barbershop", "push", "nearby", "queueup", "orders")
#: Behind Redis's own clock, by which some keys end.
START_MS = NOW_MS + 3_650 * 86_400_000
RELAY_LATER_MS = 60_000
POLICY = {"log_max": 5_000, "log_ttl_s": 86_400, "meta_ttl_s": 172_800}  # as NamespacePolicy has it
#: What may differ: logs, positions, operations, leases, notes about order, and what has a member by order of arrival.
IGNORED = re.compile(r"#(log|meta|done#.*|fence|version|erased|left|freed|removed|latest|outbox|[a-z]+_at)$|^cell:")
#: Refreshes, by what the name of a key that has changed ends with.
REFRESHES = {"#blocks": ("walls_refresh", "blocks_refresh", "shop_blocks_refresh", "listening_blocks_refresh"),
             "#blockers": ("blockers_refresh",),
             "#mutes": ("mutes_refresh",), "#muters": ("muters_refresh",)}


@dataclass(frozen=True)
class Entry:
    """One entry of the outbox. `name` is a command, an event or a refresh."""

    serial: int
    payer: str
    # Whether a call of the worker caused it: it then lies in another stream than what the payer's commands put there.
    is_follow_up: bool
    target: str
    kind: str
    name: str
    words: tuple


@dataclass
class Road:
    """A Redis, and the entries that wait."""

    db: object
    commands: Commands = None
    waiting: list = field(default_factory=list)
    called: set = field(default_factory=set)
    told: list = field(default_factory=list)
    now_ms: int = START_MS
    relay_ms: int = START_MS + RELAY_LATER_MS

    def __post_init__(self):
        self.commands = Commands(self.db, *(LUA / pack for pack in PACKS))
        self.serials, self.random = itertools.count(1), itertools.count(1)
        self.tokens = itertools.count(1)

    # What people do

    def do(self, payer, name, role="user", user=None, **arguments):
        """One command of a payer, a little later than the one before."""
        self.now_ms += 10
        answer = self.commands.call(name, user=payer if user is None else user, role=role, policy=POLICY,
                                    now_ms=self.now_ms, random=f"{next(self.random) * 2654435761 % 2**32:08x}" * 4,
                                    **arguments)[0]
        self.take(payer)
        return answer

    def service(self, name, payer="service", user="", **arguments):
        return self.do(payer, name, role="service", user=user, **arguments)

    def erase(self, user, *packs):
        """What the route of erasures puts into the outbox."""
        for pack in packs:
            for path in built_in(pack):
                if Header.read(path).tag("erases") is not None:
                    self.add(user, "call", path.stem, {"userId": user})

    def refresh(self, name, home, **arguments):
        """A refresh that a change of a key leads to; its home pays."""
        self.add(home, "refresh", name, arguments)

    # The outbox

    def target(self, name, arguments):
        header = Header.read(self.commands.path(name))
        values = {one.name: arguments.get(one.name, arguments.get(one.wire)) for one in header.arguments}
        self.commands._make(Header(name, []), values)
        for derived in header.derived:
            values[derived.name] = ""
        return render(header.home, values | {one.name: "" for one in header.resolved})

    def add(self, payer, kind, name, arguments, is_follow_up=False):
        target = self.target(name, arguments)
        words = tuple(arguments.items())
        self.waiting.append(Entry(next(self.serials), payer, is_follow_up, target, kind, name, words))

    def take(self, payer, is_follow_up=False):
        """Takes what a run has put into the outbox."""
        for _, fields in self.db.xrange("#outbox"):
            if b"u" in fields:
                continue
            if b"c" in fields:
                self.add(payer, "call", fields[b"c"].decode(), json.loads(fields[b"a"]), is_follow_up)
            else:
                for topic, event, text in Commands.events(fields):
                    words = (("data", json.dumps(text)),)
                    self.waiting.append(
                        Entry(next(self.serials), payer, is_follow_up, topic, "event", event, words))
        self.db.delete("#outbox")

    def run(self, entry):
        """Does an entry; what that causes waits, at the cost of the same payer."""
        if entry.kind == "event":
            self.told.append((entry.target, entry.name, json.loads(dict(entry.words)["data"])))
            return
        header = Header.read(self.commands.path(entry.name))
        more = {"token": next(self.tokens)} if entry.kind == "refresh" else {}
        if entry.kind == "call" and header.tag("idempotent") is None:
            more["id"] = f"o:{entry.serial}"
        answer = self.commands.call(entry.name, role="worker", policy=POLICY, now_ms=self.relay_ms,
                                    random="0" * 32, **more, **dict(entry.words))[0]
        self.called.add(entry.name)
        self.take(entry.payer, is_follow_up=True)
        if entry.kind == "refresh" and answer.get("again_ms") == self.relay_ms:
            self.refresh(entry.name, entry.payer, **dict(entry.words))

    def relay(self):
        """Does everything in the order of arrival."""
        while self.waiting:
            self.run(self.waiting.pop(0))

    def relay_shuffled(self, rng, again=0.1):
        """Does everything in an order that keeps that of each payer for each target; some entries twice."""
        copies = []
        while self.waiting or copies:
            if copies and (not self.waiting or rng.random() < 0.1):
                self.run(copies.pop(rng.randrange(len(copies))))
                continue
            first = {}
            for place, entry in enumerate(self.waiting):
                first.setdefault((entry.payer, entry.is_follow_up, entry.target), place)
            # Whole payers are late, as behind a flood, or single entries.
            places = sorted(first.values())
            chosen = int(len(places) * rng.random() ** rng.choice((1, 3)))
            entry = self.waiting.pop(places[min(chosen, len(places) - 1)])
            self.run(entry)
            if rng.random() < again and entry.kind == "call":
                copies.append(entry)

    def refresh_all(self):
        """What the worker does of every key that has changed, in the end."""
        for name in sorted(self.db.keys("*")):
            for end, refreshes in REFRESHES.items():
                if name.decode().endswith(end) and name.startswith(b"user:"):
                    user = name.decode().split("#")[0].removeprefix("user:")
                    for refresh in refreshes:
                        self.refresh(refresh, f"user:{user}", userId=user)
        for name in self.db.keys("user:*#walled"):
            user = name.decode().split("#")[0].removeprefix("user:")
            self.refresh("walls_refresh", f"user:{user}", userId=user)
        for name in self.db.keys("user:*#forgotten"):
            user = name.decode().split("#")[0].removeprefix("user:")
            self.refresh("forgotten_refresh", f"user:{user}", userId=user)
        self.relay()
        for name in self.db.keys("conversation:*_*#order"):
            pair = name.decode().split("#")[0].removeprefix("conversation:")
            self.refresh("pair_refresh", f"pair:{pair}", conversationId=pair)
        self.relay()

    # Moments that one can go back to

    def keep(self):
        keys = self.db.keys("*")
        with self.db.pipeline(transaction=False) as pipe:
            for key in keys:
                pipe.dump(key)
                pipe.pttl(key)
            found = pipe.execute()
        kept = [(key, found[2 * place], max(found[2 * place + 1], 0)) for place, key in enumerate(keys)]
        return kept, [*self.waiting]

    def back_to(self, moment):
        kept, self.waiting = moment[0], [*moment[1]]
        self.told.clear()
        with self.db.pipeline(transaction=False) as pipe:
            pipe.flushdb()
            for key, text, ttl in kept:
                pipe.restore(key, ttl, text)
            pipe.execute()


# What is left in the end


def plain_chat(text):
    """A chat of a list without its versions."""
    chat = json.loads(text)
    return {name: sorted(value) if name in ("m", "b") else value for name, value in chat.items() if name not in "vnr"}


def plain_hash(key, found):
    if key.endswith("#chats"):
        return {id: plain_chat(text) for id, text in found.items()}
    if key.endswith(("#walls", "#apart")):
        return {name: sorted(text.split()) for name, text in found.items()}
    if key.endswith("#facts"):
        return {name: text for name, text in found.items() if name != "version"}
    if key.endswith("#devices"):
        return {id: {name: value for name, value in json.loads(text).items() if name != "v"}
                for id, text in found.items()}
    return found


def statuses(entries):
    """The last notification of each booking, of an inbox; others as they are."""
    last = {}
    for _, fields in entries:
        data = json.loads(fields[b"data"])
        last[data.get("bookingId") or fields[b"title"].decode()] = data.get("status")
    return last


def value_of(db, key):
    kind = db.type(key).decode()
    if kind == "hash":
        return plain_hash(key, {name.decode(): text.decode() for name, text in db.hgetall(key).items()})
    if kind == "zset":
        found = db.zrange(key, 0, -1, withscores=True)
        # Which push was planned when is a matter of time.
        return sorted(name for name, _ in found) if key.endswith("#pushes") else sorted(found)
    if kind == "set":
        return sorted(db.smembers(key))
    if kind == "stream":
        return statuses(db.xrange(key)) if key.endswith("#inbox") else db.xrange(key)
    if kind == "list":
        return db.lrange(key, 0, -1)
    text = db.get(key).decode()
    if re.match("token:.*#owner", key):
        # What an owner's word was worth is in the devices; one who is none any more is none.
        return None if text.endswith(" -") else text.rsplit(" ", 1)[0]
    return text


def last_told(road):
    """The last event that devices received of each thing, by topic. After a gap a device reads the list of its user."""
    last = {}
    for key in road.db.keys("*#log"):
        topic, chats = key.decode().removesuffix("#log"), {}
        for event, data in road.commands.log(topic):
            if event == "conversation:updated":
                chats[data["id"]] = (data["unread"], data["lastMessageId"], data["title"])
            elif event == "conversation:removed":
                chats.pop(data["id"], None)
            elif event == "booking:status_change":
                last[topic, "booking " + data["bookingId"]] = data["status"]
            elif event == "presence:here":
                last[topic, data["topic"]] = data["here"] or None
            elif event == "presence:changed":
                last[topic, data["userId"]] = (data["online"], data["lastSeen"])
        if has_hole(road.db, topic):
            listed = {id.decode(): json.loads(text) for id, text in road.db.hgetall(f"{topic}#chats").items()}
            chats = {id: (chat["u"], chat.get("i"), chat["t"]) for id, chat in listed.items()}
        last |= {(topic, id): shown for id, shown in chats.items()}
    return {name: value for name, value in last.items() if value is not None}


def has_hole(db, topic):
    """Whether events were deleted from a log."""
    offsets = [int(id.split(b"-")[0]) for id, _ in db.xrange(f"{topic}#log")]
    return offsets != list(range(1, int(db.hget(f"{topic}#meta", "offset") or 0) + 1))


def state_of(road):
    """All that counts in the end: keys, and what devices were told last."""
    found = {}
    for name in road.db.keys("*"):
        key = name.decode()
        value = None if IGNORED.search(key) or key.endswith("#unread") else value_of(road.db, key)
        if value:
            found[key] = value
    return found | last_told(road)


def differences(one, other):
    return [(name, one.get(name), other.get(name)) for name in sorted({*one, *other}, key=str)
            if one.get(name) != other.get(name)]
