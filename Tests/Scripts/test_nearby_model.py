"""Random lives of listeners nearby: every enter, move and leave is the model's."""

import itertools

import pytest

from Fixtures.scripts.lua_scripts import NOW_MS
from Fixtures.scripts.nearby_model import LIVE_METRES, MOVE_METRES, ROUNDINGS, SIGN_MS, Model, rounded
from Fixtures.scripts.nearby_scripts import Ears, NearbyCommands, geohash, metres, pictures_of

USERS = [f"u{number}" for number in range(12)]
STEPS = 250
TRACK = {"trackId": "t1", "trackName": "n", "artist": "a", "duration": 1, "isPlaying": True}
# In the middle of a cell, and where two and four cells meet.
CENTRES = {"inside": (52.5, 13.4), "border": (52.5, 12.65625), "corner": (0.0, 0.0), "date line": (-16.9, 180.0)}


def same(heard, expected):
    """Whether both are the same, with distances to 60 cm and rounded to metres."""
    return [one[:-1] for one in heard] == [one[:-1] for one in expected] and all(
        one[-1] == other[-1] or abs(one[-1] - other[-1]) < 1.5 for one, other in zip(heard, expected, strict=True))


def is_clear(one, other):
    """Whether no rule has its border near the distance of two places, which Redis keeps to 60 cm."""
    distance = metres(one, other)
    return all(abs(distance - border) > 3 for border in (LIVE_METRES, MOVE_METRES))


def spots(rng, centre, count):
    """Places within some kilometres whose distances, also when rounded, are clear of all borders."""
    chosen = []
    while len(chosen) < count:
        wide = rng.choice([0.0005, 0.004, 0.02])
        near = rng.choice(chosen) if chosen and rng.random() < 0.5 else centre
        place = (round(near[0] + rng.uniform(-wide, wide), 7), round(near[1] + rng.uniform(-wide, wide), 7))
        place = (place[0], (place[1] + 180) % 360 - 180)
        kept = [rounded(place, size) for size in ROUNDINGS]
        others = [rounded(one, size) for one in chosen for size in ROUNDINGS]
        if all(is_clear(one, other) for one, other in itertools.product(kept, kept + others)):
            chosen.append(place)
    return chosen


class Life:
    """The scripts and the model, step by step."""

    def __init__(self, db, rng, centre):
        self.db, self.rng = db, rng
        self.commands, self.model, self.ears = NearbyCommands(db), Model(USERS), Ears(db)
        self.spots = spots(rng, centre, 40)
        self.now_ms = NOW_MS

    def run(self, name, **arguments):
        self.commands.now_ms = self.now_ms
        return self.commands.call(name, **arguments)[0]

    def heard(self):
        self.commands.relay()
        alive = {user for user, one in self.model.listeners.items() if one.place}
        return sorted(((user, event, data["id"], data.get("distance")) for user, event, data in self.ears.heard()
                       if event != "nearby:track" and user in alive), key=lambda one: one[:3])

    def set_location(self, user):
        listener, place = self.model.listeners[user], self.rng.choice(self.spots)

        def change():
            listener.place, listener.ends = rounded(place, listener.kept_rounding), self.now_ms + SIGN_MS
        expected = self.model.step(change, moved=user, quiet=user)
        answer = self.run("set_location", userId=user, latitude=place[0], longitude=place[1])
        assert same([(one["id"], one["distance"]) for one in sorted(answer["nearby"], key=lambda one: one["id"])], [
            (shown, metres(listener.place, self.model.listeners[shown].place))
            for shown in sorted(self.model.pictures[user])])
        return expected

    def delete_location(self, user):
        listener = self.model.listeners[user]
        expected = self.model.step(lambda: setattr(listener, "place", None))
        self.run("delete_location", userId=user)
        return expected

    def set_privacy(self, user):
        listener = self.model.listeners[user]
        visible, rounding = self.rng.choice(["everyone", "followers", "nobody"]), self.rng.choice(ROUNDINGS)

        def change():
            before = listener.kept_rounding
            listener.visible, listener.rounding = visible, rounding
            if listener.place and listener.kept_rounding > before:
                listener.place = rounded(listener.place, listener.kept_rounding)
        expected = self.model.step(change, moved=user)
        self.run("set_privacy", userId=user, visible=visible, rounding=rounding)
        return expected

    def set_track(self, user):
        listener = self.model.listeners[user]
        if listener.place:
            listener.ends = self.now_ms + SIGN_MS
        self.run("set_track", userId=user, **TRACK)
        return []

    def block(self, user):
        return self.turn(user, self.model.blocks, "blocks", "blockers")

    def mute(self, user):
        return self.turn(user, self.model.mutes, "mutes", "muters")

    def turn(self, user, pairs, own, others):
        """Blocks or mutes somebody, or does so no more."""
        other = self.rng.choice([one for one in USERS if one != user])
        pair, is_new = (user, other), (user, other) not in pairs
        expected = self.model.step(lambda: pairs.add(pair) if is_new else pairs.remove(pair), moved=user)
        (self.db.sadd if is_new else self.db.srem)(f"user:{user}#{own}", other)
        (self.db.sadd if is_new else self.db.srem)(f"user:{other}#{others}", user)
        self.run(f"{own}_refresh", userId=user)
        return expected

    def follow(self, user):
        other = self.rng.choice([one for one in USERS if one != user])
        pair, is_new = (user, other), (user, other) not in self.model.followers
        expected = self.model.step(
            lambda: self.model.followers.add(pair) if is_new else self.model.followers.remove(pair), moved=user)
        self.run("allow_follower" if is_new else "drop_follower", userId=user, followerId=other)
        return expected

    def pass_on(self, user):
        self.now_ms += self.rng.choice([1_000, 100_000, 300_000])

        def change():
            for listener in self.model.listeners.values():
                if listener.place and listener.ends <= self.now_ms:
                    listener.place = None
        expected = self.model.step(change)
        for cell in {name.split(b"#")[0].decode().removeprefix("cell:") for name in self.db.scan_iter("cell:*#signs")}:
            answer = {"idle": False, "again_ms": 0}
            while not answer["idle"] and answer["again_ms"] <= self.now_ms:
                answer = self.run("listeners_refresh", cell=cell)
        return expected

    def step(self):
        action = self.rng.choices(
            [self.set_location, self.set_privacy, self.set_track, self.block, self.mute, self.follow,
             self.delete_location, self.pass_on], [12, 3, 2, 2, 2, 2, 1, 2])[0]
        user = self.rng.choice(USERS)
        expected = action(user)
        assert same(self.heard(), expected), (action.__name__, user)

    def check_kept(self):
        """What Redis keeps is what the model has."""
        pictures = {}
        for (cell, viewer), shown in pictures_of(self.db).items():
            assert geohash(*self.model.listeners[viewer].place) == cell
            pictures[viewer] = shown
        assert pictures == {viewer: shown for viewer, shown in self.model.pictures.items()
                            if shown and self.model.listeners[viewer].place}
        watched = {(shown, viewer) for (_, shown), viewers in pictures_of(self.db, "watchers").items()
                   for viewer in viewers}
        assert watched == {(shown, viewer) for viewer, shown_to in pictures.items() for shown in shown_to}


@pytest.mark.parametrize("where", CENTRES)
def test_random_lives(db, rng, where):
    life = Life(db, rng, CENTRES[where])
    for step in range(STEPS):
        life.step()
        if step % 25 == 0:
            life.check_kept()
    life.check_kept()
    life.ears.close()
