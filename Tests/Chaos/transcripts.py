"""Makes up logs of a run that kept every promise, from a seed: what the checker must accept."""

import json
import random
import zlib

from checker import Checker

TOPICS = 3
CLIENTS = 5
STEPS = 420
LOG_MAX = 12


class Transcript:
    """The logs and final facts of one made-up run."""

    def __init__(self, publisher: list, subscribers: list, facts: dict):
        self.publisher, self.subscribers, self.facts = publisher, subscribers, facts

    def check(self):
        """What the checker says."""
        checker = Checker(json.loads(json.dumps(self.facts)))
        checker.read_publisher([json.dumps(entry) + "\n" for entry in self.publisher], "publisher.jsonl")
        checker.read_subscribers([" ".join(map(str, fields)) + "\n" for fields in self.subscribers],
                                 "subscribers.log")
        return checker.finish()

    def events(self, client=None, topic=None) -> list:
        """Where the events (of one client on one topic) are."""
        return [index for index, fields in enumerate(self.subscribers) if fields[1] == "E"
                and (client is None or (fields[2], fields[3]) == (client, topic))]

    def following(self, index: int, kinds: str = "SEGD"):
        """The next line of that client that is about its topic or its connection: its index, or None."""
        _, _, client, topic = self.subscribers[index][:4]
        for later in range(index + 1, len(self.subscribers)):
            fields = self.subscribers[later]
            if fields[1] in kinds and fields[2] == client and (fields[1] == "D" or fields[3] == topic):
                return later
        return None


class _Topic:
    """The log of one topic, as Redis and a gateway that makes no mistake hold it."""

    def __init__(self, name: str, rng: random.Random):
        self.name = name
        self.rng = rng
        self.epochs = {}
        self.begin()

    def begin(self) -> None:
        self.epoch = f"{self.rng.randrange(36**6):x}"
        self.offset = 0
        self.epochs[self.epoch] = {}

    def store(self, message: str) -> int:
        self.offset += 1
        self.epochs[self.epoch][self.offset] = message
        return self.offset


class Generator:
    """Plays publishers, a gateway and subscribers, with reconnects, gaps, new epochs and conflation."""

    def __init__(self, seed: int):
        self.rng = random.Random(seed)
        self.now = 1_000_000
        self.publisher, self.subscribers = [], []
        self.topics = {f"load:t{number}": _Topic(f"load:t{number}", self.rng) for number in range(TOPICS)}
        names = list(self.topics)
        self.clients = {
            f"c{number}": {"connected": False, "at": {}, "topics": self.rng.sample(names, 2)}
            for number in range(CLIENTS)}
        self.serial = 0
        self.unanswered = []
        self.committed = {}

    def make(self) -> Transcript:
        for client in self.clients:
            self._connect(client)
        actions = [(self._publish, 40), (self._deliver, 50), (self._retry, 4), (self._leave_or_return, 8),
                   (self._gap, 4), (self._new_epoch, 0.7)]
        for _ in range(STEPS):
            self.rng.choices([action for action, _ in actions], [weight for _, weight in actions])[0]()
        self._end()
        return Transcript(self.publisher, self.subscribers, self._facts())

    def _tick(self) -> int:
        self.now += self.rng.randrange(1, 500)
        return self.now

    def _line(self, *fields) -> None:
        self.subscribers.append([self._tick(), *fields])

    # Publishers

    def _publish(self) -> None:
        topic = self.rng.choice(list(self.topics.values()))
        identity = f"p{self.rng.randrange(3)}-{self.serial}"
        self.serial += 1
        crc = f"{zlib.crc32(identity.encode()):08x}"
        self._try(identity, topic.name, crc)

    def _try(self, identity: str, name: str, crc: str) -> None:
        self.publisher.append({"t": self._tick(), "try": identity, "topic": name, "crc": crc})
        fate = self.rng.random()
        topic = self.topics[name]
        if fate < 0.05:
            self.publisher.append({"t": self._tick(), "nack": identity, "status": 503, "code": "unavailable"})
            self.unanswered.append((identity, name, crc))
            return
        known = self.committed.get(identity)
        if known is None:
            known = self.committed[identity] = (topic.epoch, topic.store(f"e {identity} {crc}"))
            duplicate = {}
        else:
            duplicate = {"dup": True}
        if fate < 0.12:
            self.unanswered.append((identity, name, crc))
            return
        self.publisher.append(
            {"t": self._tick(), "ack": identity, "topic": name, "epoch": known[0], "offset": known[1]} | duplicate)

    def _retry(self) -> None:
        if self.unanswered:
            self._try(*self.unanswered.pop(self.rng.randrange(len(self.unanswered))))

    # Subscribers

    def _connect(self, name: str) -> None:
        client = self.clients[name]
        client["connected"] = True
        self._line("C", name, self.rng.randrange(2))
        for topic_name in client["topics"]:
            topic, at = self.topics[topic_name], client["at"].get(topic_name)
            recovered = at is not None and at[0] == topic.epoch and topic.offset - at[1] <= LOG_MAX
            since = at or ("-", "-")
            self._line("S", name, topic_name, topic.epoch, topic.offset, int(recovered), *since)
            if not recovered:
                client["at"][topic_name] = (topic.epoch, topic.offset)

    def _leave_or_return(self) -> None:
        name = self.rng.choice(list(self.clients))
        client = self.clients[name]
        if client["connected"]:
            if self.rng.random() < 0.2:
                self._line("W", name, 500)
            self._line("D", name, self.rng.choice((0, 1006, 1012)))
            client["connected"] = False
        elif self.rng.random() < 0.2:
            self._line("N", name, "ECONNREFUSED")
        else:
            self._connect(name)

    def _behind(self):
        """A connected client and a topic of it, by chance."""
        names = [name for name, client in self.clients.items() if client["connected"]]
        if not names:
            return None
        name = self.rng.choice(names)
        return name, self.topics[self.rng.choice(self.clients[name]["topics"])]

    def _deliver(self, pair=None, count=None) -> None:
        pair = pair or self._behind()
        if pair is None:
            return
        name, topic = pair
        at = self.clients[name]["at"]
        if at[topic.name][0] != topic.epoch:
            at[topic.name] = (topic.epoch, 0 if self.rng.random() < 0.5 else topic.offset)
            self._line("G", name, topic.name, *at[topic.name], "reset")
        offset = at[topic.name][1]
        for offset in range(offset + 1, min(topic.offset, offset + (count or self.rng.randrange(1, 8))) + 1):
            self._line("E", name, topic.name, offset, topic.epochs[topic.epoch][offset])
            at[topic.name] = (topic.epoch, offset)

    def _gap(self) -> None:
        pair = self._behind()
        if pair is None:
            return
        name, topic = pair
        epoch, offset = self.clients[name]["at"][topic.name]
        if epoch == topic.epoch and offset < topic.offset:
            there = self.rng.randrange(offset + 1, topic.offset + 1)
            self.clients[name]["at"][topic.name] = (epoch, there)
            self._line("G", name, topic.name, epoch, there, self.rng.choice(("missed", "slow", "conflated")))

    def _new_epoch(self) -> None:
        self.rng.choice(list(self.topics.values())).begin()

    # The end

    def _end(self) -> None:
        for name, client in self.clients.items():
            if not client["connected"]:
                self._connect(name)
        for topic in self.topics.values():
            identity, crc = f"last-{topic.name[-1]}", "00000001"
            self.publisher.append({"t": self._tick(), "try": identity, "topic": topic.name, "crc": crc})
            offset = topic.store(f"e {identity} {crc}")
            self.publisher.append(
                {"t": self._tick(), "ack": identity, "topic": topic.name, "epoch": topic.epoch, "offset": offset})
        for name, client in self.clients.items():
            for topic_name in client["topics"]:
                self._deliver((name, self.topics[topic_name]), STEPS)

    def _facts(self) -> dict:
        topics = {}
        for topic in self.topics.values():
            kept = list(topic.epochs[topic.epoch].items())[-LOG_MAX:]
            topics[topic.name] = {"epoch": topic.epoch, "offset": topic.offset, "log": [list(one) for one in kept]}
        voters = {f"u{number}": self.rng.choice(("up", "down")) for number in range(20)}
        tally = {choice: list(voters.values()).count(choice) for choice in ("up", "down")}
        usage = {"fds": 40, "rss": 50 << 20, "queued": 0}
        ledger = {"handed": 100, "written": 90, "conflated": 6, "droppedSlow": 3, "droppedGone": 1, "waiting": 0}
        return {
            "durable": False, "log_max": LOG_MAX, "topics": topics,
            "votes": [{"what": "dj:1 t1", "tally": tally, "voters": voters}],
            "outbox": {"wait": 0, "are dead": 0},
            "floods": [{"topic": "user:f", "told": True, "events": 50, "durable": True, "offset": 50,
                        "log": list(range(50))}],
            "boards": [{"what": "challenge:1", "stored": {"u1": 5, "u2": 3}, "model": {"u1": 5, "u2": 3}}],
            "channels": {"actual": sorted(self.topics), "desired": sorted(self.topics)},
            "gateways": [{"name": "g1", "before": dict(usage), "after": usage | {"fds": 41}}],
            "audits": [{"node": "g1", "topic": name, "balanced": True, "ledger": dict(ledger)} for name in topics],
        }


def transcript(seed: int) -> Transcript:
    """A run that kept every promise."""
    return Generator(seed).make()
