"""Checks what publishers and subscribers wrote down against the guarantees I1 to I10.

An offline, deterministic program over the logs of one run: nothing here talks to a gateway. The directory holds

    publisher*.jsonl    {"t","try","topic","crc"}, {"t","ack","topic","epoch","offset"}, {"t","nack","status","code"}
    subscribers*.log    lines of C, S, J, E, P, G, X, W, D, N (see `Subscribers`)
    facts.json          what was true at the end (see final_facts.py)

usage: python Tests/Chaos/checker.py DIR
"""

import json
import sys
from collections import Counter
from pathlib import Path

import final_facts
from subscribers import Subscribers

SHOWN_MAX = 20


class Report:
    """Violations (the first ones with their lines) and counts."""

    def __init__(self):
        self.violations = []
        self.by_invariant = Counter()
        self.counts = Counter()
        self.holes = Counter()
        self.notes = Counter()

    def violation(self, invariant: str, text: str, where: str = "") -> None:
        self.by_invariant[invariant] += 1
        if len(self.violations) < SHOWN_MAX:
            self.violations.append({"invariant": invariant, "text": text, "where": where})

    def add(self, other: "Report") -> None:
        """Takes in what another run's report says."""
        self.violations = (self.violations + other.violations)[:SHOWN_MAX]
        for mine, more in ((self.by_invariant, other.by_invariant), (self.counts, other.counts),
                           (self.holes, other.holes), (self.notes, other.notes)):
            mine.update(more)

    @property
    def good(self) -> bool:
        return not self.by_invariant

    def summary(self) -> dict:
        return {"good": self.good, "violations": sum(self.by_invariant.values()),
                "by_invariant": dict(self.by_invariant), "counts": dict(self.counts),
                "holes_signalled": dict(self.holes), "notes": dict(self.notes), "first": self.violations}


class Names:
    """What each (topic, epoch, offset) names: one message, for publishers, subscribers and the log alike.

    A message is written as "event id crc". `durable` means that no committed data may be lost during the run, so an
    id has one position ever; otherwise a retry may be stored again after its first position was lost with its epoch.
    """

    def __init__(self, report: Report, durable: bool):
        self.report = report
        self.durable = durable
        self.tables = {}
        self.attempts = {}
        self.attempts_by_topic = Counter()
        self.retried = set()
        self.placed = {}
        self.acks = []

    def table(self, topic: str, epoch: str) -> dict:
        """Offset to message of one epoch."""
        found = self.tables.get((topic, epoch))
        if found is None:
            found = self.tables[topic, epoch] = {}
        return found

    def attempt(self, entry: dict, where: str) -> None:
        identity, topic = entry["try"], entry["topic"]
        known = self.attempts.get(identity)
        if known is None:
            self.attempts[identity] = (topic, entry["crc"], entry.get("event", "e"), entry["t"])
            self.attempts_by_topic[topic] += 1
        elif known[:2] != (topic, entry["crc"]):
            self.report.violation("rig", f"the publisher used id {identity} for two messages", where)
        else:
            self.retried.add(identity)

    def ack(self, entry: dict, where: str) -> None:
        identity, topic = entry["ack"], entry["topic"]
        known = self.attempts.get(identity)
        if known is None or known[0] != topic:
            self.report.violation("I4", f"{identity} was acked on {topic} and never tried there", where)
            return
        self.acks.append((topic, entry["epoch"], entry["offset"], identity, entry["t"], where))

    def apply_acks(self) -> None:
        """After the subscribers, so that each message's first event is held against the time of its publish."""
        for topic, epoch, offset, identity, t, where in self.acks:
            known = self.attempts[identity]
            self.name(topic, epoch, offset, f"{known[2]} {identity} {known[1]}", t, where)

    def name(self, topic: str, epoch: str, offset: int, message: str, t: int, where: str) -> None:
        """Somebody says that this position holds this message."""
        table = self.table(topic, epoch)
        known = table.get(offset)
        if known == message:
            return
        parts = message.split(" ")
        attempt = self.attempts.get(parts[1]) if len(parts) == 3 else None
        if attempt is None:
            self.report.violation("I4", f"never published: {message} at {topic} {epoch} {offset}", where)
        elif attempt[0] != topic:
            self.report.violation("I7", f"{message} was published on {attempt[0]} and came on {topic}", where)
        elif attempt[1] != parts[2] or attempt[2] != parts[0]:
            self.report.violation("I4", f"{message} is not what was published ({attempt[2]}, {attempt[1]})", where)
        elif t and t < attempt[3]:
            self.report.violation("I4", f"{message} came {attempt[3] - t} us before it was published", where)
        if known is not None:
            self.report.violation("I2", f"{topic} {epoch} {offset} names {known} and {message}", where)
            return
        table[offset] = message
        if attempt is not None:
            self._place(parts[1], topic, epoch, offset, where)

    def _place(self, identity: str, topic: str, epoch: str, offset: int, where: str) -> None:
        first = self.placed.get(identity)
        if first is None:
            self.placed[identity] = (epoch, offset)
        elif first != (epoch, offset):
            if self.durable or first[0] == epoch or identity not in self.retried:
                self.report.violation(
                    "I6", f"{identity} is stored at {first} and at {(epoch, offset)} of {topic}", where)
            else:
                self.report.notes["stored again in a later epoch"] += 1

    def check_contiguous(self) -> None:
        """I2: offsets run from 1; only a publish without an answer may be one that nobody can name."""
        unnamed = Counter()
        for (topic, epoch), table in self.tables.items():
            if not table:
                continue
            if min(table) < 1:
                self.report.violation("I2", f"{topic} {epoch} has an offset below 1")
            unnamed[topic] += max(table) - len(table)
        placed = Counter(self.attempts[identity][0] for identity in self.placed)
        for topic, count in sorted(unnamed.items()):
            spare = self.attempts_by_topic[topic] - placed[topic]
            if count > spare:
                self.report.violation(
                    "I2", f"{topic}: {count} offsets name nothing, but only {spare} publishes got no position")


class Checker:
    """One run: attempts and acks first, then subscribers, then the final facts."""

    def __init__(self, facts: dict):
        self.facts = facts
        self.report = Report()
        self.names = Names(self.report, bool(facts.get("durable")))
        self.subscribers = []

    def read_publisher(self, lines, name: str) -> None:
        """Attempts are read before acks of any log: a retry may go over another connection."""
        acks = []
        for number, line in enumerate(lines, 1):
            if line[-1:] != "\n":
                self.report.notes["torn last line"] += 1
                break
            entry = json.loads(line)
            where = (name, number, line)
            if "try" in entry:
                self.names.attempt(entry, where)
            elif "ack" in entry:
                acks.append((entry, where))
            else:
                self.report.counts["nacks"] += 1
        for entry, where in acks:
            self.names.ack(entry, where)

    def read_subscribers(self, lines, name: str) -> None:
        one = Subscribers(self.names, self.report, name)
        self.subscribers.append(one)
        one.read(lines)

    def finish(self) -> Report:
        report, names = self.report, self.names
        report.counts["attempts"] = len(names.attempts)
        acked = {ack[3] for ack in names.acks}
        report.counts["acked"] = len(acked)
        report.counts["unacked"] = len(names.attempts) - len(acked)
        names.apply_acks()
        # What the log holds names positions too, so it is read before positions are counted.
        final_facts.check_history(self.facts, names, report)
        names.check_contiguous()
        final_facts.check_tails(self.facts, names, self.subscribers, report)
        final_facts.check_epochs(self.facts, names, report)
        final_facts.check_votes(self.facts, report)
        final_facts.check_outbox(self.facts, report)
        final_facts.check_channels(self.facts, report)
        final_facts.check_resources(self.facts, report)
        final_facts.check_ledgers(self.facts, report)
        for shown in report.violations:
            if isinstance(shown["where"], tuple):
                name, number, line = shown["where"]
                shown["where"] = f"{name}:{number}: {line.rstrip()}"
        return report


def check(directory) -> Report:
    """Checks one run's directory."""
    directory = Path(directory)
    checker = Checker(json.loads((directory / "facts.json").read_text()))
    for path in sorted(directory.glob("publisher*.jsonl")):
        with open(path, encoding="utf-8", errors="replace") as lines:
            checker.read_publisher(lines, path.name)
    for path in sorted(directory.glob("subscribers*.log")):
        with open(path, encoding="utf-8", errors="replace") as lines:
            checker.read_subscribers(lines, path.name)
    return checker.finish()


def main(arguments) -> int:
    if len(arguments) != 1:
        print(__doc__.strip().splitlines()[-1], file=sys.stderr)
        return 2
    report = check(arguments[0])
    print(json.dumps(report.summary(), indent=2))
    return 0 if report.good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
