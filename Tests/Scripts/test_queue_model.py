"""Random changes, half by commands and half straight into Redis: each refresh equals the model."""

import json

import pytest

from Fixtures.scripts import queue_model
from Fixtures.scripts.command_scripts import Failed
from Fixtures.scripts.lua_scripts import NOW_MS
from Scripts.test_bookings import HOSTILE, STATUSES

CHANGES = [pytest.param(1_500, id="short"), pytest.param(3_000, id="long", marks=pytest.mark.thorough)]
SHOP = "42"
MINUTE_MS = 60_000
HOUR_MS = 3_600_000
POLICY = {"log_max": 5_000, "log_ttl_s": 300, "meta_ttl_s": 86_700}


class Shop:
    """Makes one random change at a time."""

    def __init__(self, commands, db, rng):
        self.commands, self.db, self.rng, self.now_ms = commands, db, rng, NOW_MS
        self.accepted = 0

    def scheduled(self):
        return self.rng.choice([None, None, self.now_ms + self.rng.randint(-40, 40) * HOUR_MS])

    def name(self):
        return f"b{self.rng.randrange(150)}"

    def barber(self):
        return f"x{self.rng.randrange(12)}"

    def by_command(self):
        what = self.rng.choice(["create", "create", "move", "move", "move", "barber"])
        try:
            if what == "create":
                self._call("create_booking", bookingId=self.name(), userId="u1", scheduledAt=self.scheduled(),
                           tier=self.rng.choice(queue_model.TIERS), serviceMinutes=self.rng.choice([None, 20, 35.5]))
            elif what == "move":
                self._call("move_booking", bookingId=self.name(), status=self.rng.choice(STATUSES))
            else:
                self._call("set_barber", barberId=self.barber(), active=self.rng.random() < 0.5)
            self.accepted += 1
        except Failed as failure:
            assert failure.code in ("conflict", "not_found")

    def _call(self, name, **arguments):
        self.commands.call(name, now_ms=self.now_ms, shopId=SHOP, **arguments)

    def directly(self):
        rng, db = self.rng, self.db
        match rng.randrange(8):
            case 0 | 1:
                members = {"userId": "u2", "tier": rng.choice(["standard", "blackCard", "none"]),
                           "status": rng.choice(STATUSES), "createdAt": self.now_ms, "scheduledAt": self.scheduled()}
                db.hset("shop:42#bookings", self.name(), json.dumps(members))
            case 2:
                db.hdel("shop:42#bookings", self.name())
            case 3:
                db.hset("shop:42#bookings", self.name(), rng.choice(HOSTILE))
            case 4:
                db.sadd("shop:42#barbers", self.barber())
            case 5:
                db.srem("shop:42#barbers", self.barber())
            case 6:
                field = rng.choice(["averageMinutes", "count:standard", "sum:standard", "squares:blackCard"])
                db.hset("shop:42#service", field, rng.choice(["7", "33.3", "0", "-1", "nan", "x", "1e9", "12"]))
                if rng.random() < 0.5:
                    db.hdel("shop:42#service", "averageMinutes")
            case 7:
                db.hset("shop:42#settings", "utcOffsetMinutes", rng.choice(["0", "-300", "120", "840", "x", "99999"]))
        self.accepted += 1


@pytest.mark.parametrize("changes_max", CHANGES)
def test_every_refresh_equals_the_model(commands, db, rng, changes_max):
    shop, last, changes, told = Shop(commands, db, rng), None, 0, 0
    while changes < changes_max:
        for _ in range(rng.randint(1, 12)):
            (shop.by_command if changes % 2 else shop.directly)()
            changes += 1
        shop.now_ms += rng.choice([20, 1_000, 30_000, 10 * MINUTE_MS, HOUR_MS])
        commands.call("queue_refresh", now_ms=shop.now_ms, shopId=SHOP, policy=POLICY)
        expected = queue_model.status(db, SHOP, shop.now_ms)
        # What was told: one event when the model's status is another than before, none when it is the same.
        told += expected != last
        last = expected
        assert db.xlen("shop:42#log") == told
        [(_, newest)] = db.xrevrange("shop:42#log", count=1)
        event = json.loads(newest[b"d"])
        event.pop("updatedAt")
        assert event == expected
        cached = commands.queue(shopId=SHOP, now_ms=shop.now_ms)
        db.delete("queue:42")
        computed = commands.queue(shopId=SHOP, now_ms=shop.now_ms)
        cached.pop("updatedAt"), computed.pop("updatedAt")
        assert cached == expected == computed
    assert shop.accepted > changes_max / 2 and told > 100
