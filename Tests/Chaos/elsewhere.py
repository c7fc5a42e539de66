"""What became of publishes on topics that a fault was not about: none may be refused or wait."""

import json
from collections import Counter

from gauges import quantile


class Publish:
    """One message as the publishers saw it; times in microseconds."""

    __slots__ = ("topic", "first_us", "tries", "refusals", "acked_us", "came_us")

    def __init__(self, topic: str, first_us: int):
        self.topic, self.first_us = topic, first_us
        self.tries, self.refusals, self.acked_us, self.came_us = 0, [], None, None


class Elsewhere:
    """The publishes of one run, whose rounds are judged one by one.

    The publishers must send each message by itself: in a batch a topic waits for the others'.
    """

    def __init__(self, directory):
        self.publishes = {}
        with open(directory / "publisher.jsonl", encoding="ascii", errors="replace") as lines:
            for line in lines:
                if line[-1:] == "\n":
                    self._entry(json.loads(line))
        with open(directory / "subscribers.log", encoding="ascii", errors="replace") as lines:
            for line in lines:
                fields = line.split(" ")
                if fields[1] == "E" and len(fields) == 8 and fields[6] in self.publishes:
                    # The last client that was told, so that no other's promptness hides it.
                    self.publishes[fields[6]].came_us = int(fields[0])

    def _entry(self, entry: dict) -> None:
        if "try" in entry:
            one = self.publishes.setdefault(entry["try"], Publish(entry["topic"], entry["t"]))
            one.tries += 1
        elif "ack" in entry:
            self.publishes[entry["ack"]].acked_us = entry["t"]
        else:
            self.publishes[entry["nack"]].refusals.append(f'{entry["status"]} {entry["code"]}')

    def of_round(self, played) -> list:
        """Publishes of other topics that began while the round was played."""
        return [one for one in self.publishes.values()
                if played.since_us <= one.first_us < played.until_us and one.topic not in played.concerned]

    def judge(self, rounds) -> list:
        """Prints what was measured of each kind of rounds; returns what was not as it must be."""
        problems = []
        for kind in dict.fromkeys(one.kind for one in rounds):
            found = [one for played in rounds if played.kind == kind for one in self.of_round(played)]
            refused = Counter(reason for one in found for reason in one.refusals)
            unanswered = sum(one.tries - len(one.refusals) - (one.acked_us is not None) for one in found)
            acked = [(one.acked_us - one.first_us) / 1_000 for one in found if one.acked_us]
            came = [(one.came_us - one.first_us) / 1_000 for one in found if one.came_us]
            print(f"{kind}: {len(found)} publishes on topics of other slots, refused {refused.total()}, without an "
                  f"answer {unanswered}; answer p50 {quantile(acked, 0.5):.1f} p99 {quantile(acked, 0.99):.1f} max "
                  f"{max(acked, default=0):.0f} ms; event p99 {quantile(came, 0.99):.1f} ms", flush=True)
            if not found:
                problems.append(f"{kind}: nothing was published elsewhere, so nothing is proven")
            if refused:
                problems.append(f"{kind}: refused on topics of other slots: {dict(refused)}")
            if unanswered:
                problems.append(f"{kind}: {unanswered} attempts on topics of other slots had no answer")
        return problems
