"""Floods of the outbox: one payer's entries by the thousand, and what became of them in the end.

Each step of a flood is one transaction of entries for topics of its own, as a script would put them there. So a step is
there whole or not at all, whatever breaks meanwhile.
"""

import json

import redis
from Fixtures.redis import outbox

STEP = 250
STEPS_MAX = 12
TOPICS = 5
KEPT = 50


class Floods:
    """The floods of one run."""

    def __init__(self, durable: bool):
        self.durable = durable
        self.steps = []

    def add(self, db, rng, ended) -> None:
        """Puts a flood of one payer into its lane."""
        payer, lane = f"user:flood-{len(self.steps)}", rng.randrange(outbox.LANES)
        for number in range(rng.randrange(2, STEPS_MAX)):
            if ended.is_set():
                return
            topics = [f"{payer}-{number}-{index}" for index in range(TOPICS)]
            step = {"topics": topics, "told": False}
            self.steps.append(step)
            try:
                with db.pipeline(transaction=True) as pipe:
                    for entry in range(STEP):
                        pipe.xadd(f"#outbox:{lane}" if lane else "#outbox", {
                            "p": payer, "t": topics[entry % TOPICS], "e": "note",
                            "d": json.dumps({"n": entry // TOPICS})})
                    pipe.publish("#outbox", f"#outbox:{lane}" if lane else "#outbox")
                    pipe.execute()
                step["told"] = True
            except redis.RedisError:
                # It is there or it is not.
                continue

    def facts(self, db) -> list:
        """What each topic of a flood was told: the numbers of its log, and how many events there were."""
        found = []
        for step in self.steps:
            for topic in step["topics"]:
                log = [json.loads(fields[b"d"])["n"] for _, fields in db.xrange(f"{topic}#log")]
                offset = int(db.hget(f"{topic}#meta", "offset") or 0)
                found.append({"topic": topic, "told": step["told"] and self.durable, "events": STEP // TOPICS,
                              "durable": self.durable, "offset": offset, "log": log[-KEPT:]})
        return found
