"""Random comings and goings with time moving: who is present, and what was told, is the model's."""

import pytest

from Fixtures.scripts.command_scripts import Failed
from Fixtures.scripts.lua_scripts import NOW_MS
from Fixtures.seeds import lives

SHOPS = ["1", "2"]
USERS = [f"u{n}" for n in range(6)]
PRESENCE_MS = 90_000
BEAT_LEAST_MS = 15_000
STEPS = 300
POLICY = {"log_max": 5_000, "log_ttl_s": 300, "meta_ttl_s": 86_700}


class Model:
    """When each presence ends, what was told last, and where each user was told to be."""

    def __init__(self):
        self.beats = {}
        self.ends = {shop: {} for shop in SHOPS}
        self.counts = {shop: [] for shop in SHOPS}
        self.places = {user: [] for user in USERS}
        self.marked = {user: set() for user in USERS}

    def present(self, shop, now_ms):
        return {user for user, end in self.ends[shop].items() if end > now_ms}

    def tell(self, shop, now_ms):
        count = len(self.present(shop, now_ms))
        if count != (self.counts[shop][-1] if self.counts[shop] else 0):
            self.counts[shop].append(count)

    def mark(self, user, shop, here):
        if here != (shop in self.marked[user]):
            (self.marked[user].add if here else self.marked[user].discard)(shop)
            self.places[user].append((f"shop:{shop}", here))

    def check_in(self, shop, user, now_ms):
        if user not in self.present(shop, now_ms):
            self.mark(user, shop, True)
        self.ends[shop][user] = max(self.ends[shop].get(user, 0), now_ms + PRESENCE_MS)
        self.tell(shop, now_ms)

    def check_out(self, shop, user, now_ms):
        if self.ends[shop].pop(user, None):
            self.mark(user, shop, False)
        self.tell(shop, now_ms)

    def beat(self, user, now_ms):
        if now_ms - self.beats.get(user, -BEAT_LEAST_MS) < BEAT_LEAST_MS:
            return
        self.beats[user] = now_ms
        for shop in sorted(self.marked[user]):
            if user in self.present(shop, now_ms):
                self.ends[shop][user] = max(self.ends[shop][user], now_ms + PRESENCE_MS)
            else:
                self.mark(user, shop, False)

    def refresh(self, shop, now_ms):
        for user in [user for user, end in self.ends[shop].items() if end <= now_ms]:
            del self.ends[shop][user]
            self.mark(user, shop, False)
        self.tell(shop, now_ms)
        ends = self.ends[shop].values()
        return {"idle": False, "again_ms": min(ends)} if ends else {"idle": True}


@pytest.mark.parametrize("life", lives(4))
def test_random_lives(commands, rng, life):
    model, now_ms = Model(), NOW_MS
    for step in range(STEPS):
        now_ms += rng.choice([0, 1, 1_000, 15_000, 45_000])
        shop, user = rng.choice(SHOPS), rng.choice(USERS)
        common = {"now_ms": now_ms, "policy": POLICY, "shopId": shop}
        action = rng.choices(["check_in", "by_user", "check_out", "beat", "refresh"], [3, 2, 1, 6, 4])[0]
        if action == "check_in":
            for _ in range(rng.choice([1, 2])):
                commands.check_in(role="service", id=f"op-{step}", userId=user, **common)
            model.check_in(shop, user, now_ms)
        elif action == "by_user":
            if user in model.present(shop, now_ms):
                commands.check_in(role="user", user=user, **common)
                model.check_in(shop, user, now_ms)
            else:
                with pytest.raises(Failed):
                    commands.check_in(role="user", user=user, **common)
        elif action == "check_out":
            for _ in range(rng.choice([1, 2])):
                commands.check_out(role="user", id=f"op-{step}", user=user, **common)
            model.check_out(shop, user, now_ms)
        elif action == "beat":
            commands.beat_user(role="worker", userId=user, now_ms=now_ms)
            model.beat(user, now_ms)
        else:
            assert commands.presence_refresh(**common) == model.refresh(shop, now_ms), (step, action)
        commands.now_ms = now_ms  # of the calls that the relay makes
        commands.relay()
        for shop in SHOPS:
            present = model.present(shop, now_ms)
            assert set(commands.roster(shopId=shop)["users"]) == present, (step, action)
            assert commands.presence_count(shopId=shop)["count"] == len(present)
            assert [data["count"] for _, data in commands.log(f"shop:{shop}")] == model.counts[shop], (step, action)
        for user in USERS:
            told = [(data["topic"], data["here"]) for _, data in commands.log(f"user:{user}")]
            assert sorted(told) == sorted(model.places[user]), (step, action)
    assert all(len(counts) > 10 for counts in model.counts.values())
