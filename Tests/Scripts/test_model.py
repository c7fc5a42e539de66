"""Ten thousand random calls against a model in Python; the seed is printed and can be given again."""

from Fixtures.scripts.lua_scripts import Keys

TOPICS = ["shop:1", "order:2", "user:3"]
LOG_MAX = 12
RECOVERY_MAX = 8


class Model:
    """What one topic must be."""

    def __init__(self):
        self.epoch = None
        self.run = None
        self.offset = 0
        self.log = {}
        self.seen = {}
        self.known = []  # positions that clients may come back with

    def enter(self, run, candidate):
        if self.epoch is None or self.run != run:
            self.epoch, self.run, self.offset, self.log = candidate, run, 0, {}

    def publish(self, run, candidate, data, id):
        known = self.seen.get(id)
        if known and self.run == run and known[0] == self.epoch:
            return (*known[:2], 1) if known[2] == data else ("", 0, 2)
        self.enter(run, candidate)
        self.offset += 1
        self.log[self.offset] = (data, id)
        for old in sorted(self.log)[:-LOG_MAX]:
            del self.log[old]
        if id != "-":
            self.seen[id] = (self.epoch, self.offset, data)
        self.known.append((self.epoch, self.offset))
        return self.epoch, self.offset, 0

    def subscribe(self, run, candidate, since):
        self.enter(run, candidate)
        self.known.append((self.epoch, self.offset))
        if since is None or since[0] != self.epoch or not 0 <= since[1] <= self.offset:
            return 0, []
        missing = list(range(since[1] + 1, self.offset + 1))
        if len(missing) > RECOVERY_MAX or not all(offset in self.log for offset in missing):
            return 0, []
        return 1, [(offset, *self.log[offset]) for offset in missing]


def test_random_calls_agree_with_the_model(scripts, db, rng):
    models = {topic: Model() for topic in TOPICS}
    run, given = "run-0", set()
    for step in range(10_000):
        topic = rng.choice(TOPICS)
        model, keys, candidate = models[topic], Keys(topic), f"e{step}"
        action = rng.random()
        if action < 0.55:
            id = "-" if rng.random() < 0.6 else f"op-{rng.randrange(400)}"
            data = '{"step":%d}' % (step if rng.random() < 0.5 else 0)
            got = scripts.publish(topic, data=data, id=id, log_max=LOG_MAX, epoch=candidate, run=run)
            assert got == model.publish(run, candidate, data, id), f"step {step}"
            if not got[2]:
                assert (topic, *got[:2]) not in given, f"step {step}: a position was given twice"
                given.add((topic, *got[:2]))
        elif action < 0.97:
            since = None
            if model.known and rng.random() < 0.9:
                epoch, offset = rng.choice(model.known[-25:])
                since = (epoch, max(0, offset + rng.choice([0, 0, 0, -1, 1, -5, 1_000])))
            joined = scripts.subscribe(topic, since=since, recovery_max=RECOVERY_MAX, epoch=candidate, run=run)
            recovered, events = model.subscribe(run, candidate, since)
            assert (joined.epoch, joined.offset, joined.recovered) == (model.epoch, model.offset, recovered), (
                f"step {step}")
            assert [(int(o), d.decode(), i.decode()) for o, _, d, i in joined.events] == events, f"step {step}"
        elif action < 0.98:
            db.delete(keys.log)
            model.log = {}
        elif action < 0.985:
            db.delete(keys.meta)
            model.epoch = None
        elif action < 0.99:
            run = f"run-{step}"
        elif action < 0.993:
            db.flushall()
            models = {topic: Model() for topic in TOPICS}
        else:
            epoch, offset, first, events = scripts.history(topic, after=max(0, model.offset - 5), run=run)
            if model.epoch is None or model.run != run:
                assert (epoch, offset, first, events) == ("", 0, 0, []), f"step {step}"
            else:
                assert (epoch, offset) == (model.epoch, model.offset), f"step {step}"
                wanted = [offset for offset in sorted(model.log) if offset > model.offset - 5]
                assert [int(event[0]) for event in events] == wanted, f"step {step}"
                assert first == min(model.log, default=0), f"step {step}"
