"""Listeners nearby on a Cluster under calls whose steps come in any order, and what their cells must agree with."""

from Fixtures.redis.cluster import tagged
from Fixtures.scripts.cluster_scripts import ClusterCommands, interleaved
from Fixtures.scripts.lua_scripts import LUA, NOW_MS
from Fixtures.scripts.nearby_scripts import EARTH_METRES, geohash
from Fixtures.scripts.saga_town import USERS

# Two cells meet here, and far from it there is one alone.
SPOTS = [(52.5, 12.65), (52.5003, 12.6501), (52.5001, 12.6604), (52.501, 12.6598), (52.4, 13.4), (52.4003, 13.4004)]
HALO_DEGREES = 21_000 / (EARTH_METRES * 3.141592653589793 / 180)


def cells_of(latitude, longitude):
    """The cells that a place is shown in: its own, and those within 21 km."""
    wide = HALO_DEGREES / 0.6
    return {geohash(latitude + HALO_DEGREES * north, longitude + wide * east) for north in (-1, 0, 1)
            for east in (-1, 0, 1)}


class Map:
    """Some listeners; every schedule goes on from where they are."""

    def __init__(self, db, rng):
        self.db, self.rng, self.changed = db, rng, set()
        self.commands = ClusterCommands(db, LUA / "nearby")
        self.commands.now_ms = NOW_MS

    def flight(self, name, user, role="user", **arguments):
        self.commands.now_ms += self.rng.choice([0, 1, 7])
        return self.commands.flight(name, user, role, now_ms=self.commands.now_ms, **arguments)

    def deed(self, user):
        """A random deed of a listener, as a flight."""
        kind = self.rng.choices(["go", "delete", "privacy", "track", "look", "block"], [8, 2, 2, 2, 2, 4])[0]
        if kind == "go":
            latitude, longitude = self.rng.choice(SPOTS)
            return self.flight("set_location", user, latitude=latitude, longitude=longitude)
        if kind == "delete":
            return self.flight("delete_location", user)
        if kind == "privacy":
            return self.flight("set_privacy", user, visible=self.rng.choice(["everyone", "followers", "nobody"]),
                               rounding=self.rng.choice([0, 100, 1000]))
        if kind == "track":
            return self.flight("set_track", user, trackId="t", trackName="n", artist="a", duration=1, isPlaying=True)
        if kind == "look":
            return self.flight("nearby", user)
        return self.block(user, self.rng.choice([other for other in USERS if other != user]))

    def block(self, user, other):
        """Blocks or unblocks; the pack people notes it at the other's home as well, by the outbox."""
        for key, member in ((f"user:{user}#blocks", other), (f"user:{other}#blockers", user)):
            yield "block"
            if not self.db.srem(tagged(key), member):
                self.db.sadd(tagged(key), member)
            self.changed |= {user, other}
        yield from self.refresh(user)

    def refresh(self, user):
        self.commands.now_ms += 1
        yield from self.commands.flight("blocks_refresh", role="worker", userId=user)

    def worker(self):
        for _ in range(self.rng.randint(0, 6)):
            yield "worker"
            waiting = self.commands.outboxes()
            if waiting:
                yield from self.commands.deliver(*self.rng.choice(waiting))

    def schedule(self):
        """Some listeners do some things at once, gateways die, and a worker does what is left."""
        flights = [self.deed(user) for user in self.rng.choices(USERS, k=self.rng.randint(2, 5))]
        interleaved([*flights, self.worker(), self.worker()], self.rng, lost=0.04)
        for user in sorted(self.changed):
            for _ in self.refresh(user):
                pass
        self.changed = set()
        while waiting := self.commands.outboxes():
            for _ in self.commands.deliver(*self.rng.choice(waiting)):
                pass

    def fields(self, key):
        return {name.decode(): value.decode() for name, value in self.db.hgetall(tagged(key)).items()}

    def check(self):
        """Each cell shows who is near, where each is, and to nobody whom a block parts from it."""
        places = {user: self.fields(f"user:{user}#place") for user in USERS}
        settings = {user: self.fields(f"user:{user}#listener").get("visible", "everyone") for user in USERS}
        blocks = {user: {other.decode() for other in self.db.smembers(tagged(f"user:{user}#blocks"))}
                  for user in USERS}
        for cell in {cell for spot in SPOTS for cell in cells_of(*spot)}:
            slots = {user: slot for user, slot in self.fields(f"cell:{cell}#slots").items() if user}
            wanted = {user for user, place in places.items()
                      if place and cell in cells_of(float(place["latitude"]), float(place["longitude"]))}
            assert set(slots) == wanted, f"{cell} has {slots}, and near are {wanted}"
            cards = self.fields(f"cell:{cell}#cards")
            for user, slot in slots.items():
                assert (slot in cards) == (settings[user] != "nobody"), f"{user} is {settings[user]}"
                told = f'"latitude":{places[user]["latitude"]},"longitude":{places[user]["longitude"]}'
                alike = f'"longitude":{places[user]["longitude"]},"latitude":{places[user]["latitude"]}'
                assert slot not in cards or told in cards[slot] or alike in cards[slot], f"{user} is shown elsewhere"
            lists = {kind: {owner: {text[place:place + 5] for place in range(4, len(text), 5)}
                            for owner, text in self.fields(f"cell:{cell}#{kind}").items()}
                     for kind in ("pictures", "watchers")}
            names = {slot: user for user, slot in slots.items()}
            for viewer, seen in lists["pictures"].items():
                for slot in seen:
                    one, other = names[viewer], names[slot]
                    assert viewer in lists["watchers"].get(slot, set()), f"{other} does not know that {one} sees it"
                    assert other not in blocks[one] and one not in blocks[other], f"{one} sees {other}"
            for owner, watching in lists["watchers"].items():
                for viewer in watching:
                    assert owner in lists["pictures"].get(viewer, set()), "a watcher without a picture"
