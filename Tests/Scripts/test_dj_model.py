"""Random lives of a DJ session: after each step every answer, event and state is the model's."""

import pytest

from Fixtures.scripts.command_scripts import Failed
from Fixtures.scripts.dj_model import SHOP, Model, state
from Fixtures.scripts.lua_scripts import NOW_MS
from Fixtures.seeds import lives

USERS = [f"u{n}" for n in range(5)]
TRACKS = [f"t{n}" for n in range(7)]
STEPS = 400
POLICY = {"log_max": 5_000, "log_ttl_s": 3_600, "meta_ttl_s": 90_000}
OPERATIONS = {"vote": 60, "add_track": 16, "next_track": 5, "remove_track": 4, "stop_session": 1, "start_session": 3}


def choose(rng):
    """One operation: its name, who does it (None: a service), and its arguments."""
    name = rng.choices(list(OPERATIONS), OPERATIONS.values())[0]
    if name in ("vote", "add_track"):
        arguments = {"trackId": rng.choice(TRACKS)}
        if name == "vote":
            arguments["vote"] = rng.choice(["up", "down", "none"])
        return name, rng.choice(USERS), arguments
    if name == "remove_track":
        return name, rng.choice([*USERS, None]), {"trackId": rng.choice(TRACKS)}
    if name == "start_session":
        return name, None, {"voters": rng.choice([True, False])}
    return name, None, {}


def expect(model, name, user, present, arguments, now_ms):
    """The model's answer or failure."""
    rest = list(arguments.values())
    if name in ("vote", "add_track"):
        return getattr(model, name)(now_ms, user, present, *rest)
    if name == "remove_track":
        return model.remove_track(now_ms, user, *rest)
    return getattr(model, name)(now_ms, *rest)


@pytest.mark.parametrize("life", lives(4))
def test_random_lives(commands, scripts, db, rng, life):
    model, now_ms = Model(), NOW_MS
    for step in range(STEPS):
        now_ms += rng.randrange(3)
        name, user, arguments = choose(rng)
        present = bool(user) and rng.random() < 0.9
        if user:
            db.zadd(f"shop:{SHOP}#presence", {user: now_ms + (1 if present else 0)})

        def attempt():
            return commands.call(name, user=user or "", role="user" if user else "service", id=f"op-{step}",
                                 policy=POLICY, now_ms=now_ms, random=f"{rng.getrandbits(128):032x}", shopId=SHOP,
                                 **arguments)

        before = len(model.events)
        try:
            expected = expect(model, name, user, present, arguments, now_ms)
        except Failed as failure:
            with pytest.raises(Failed) as told:
                attempt()
            assert told.value.code == failure.code and failure.message in told.value.message, (step, name)
            assert len(model.events) == before
        else:
            assert attempt() == (expected, 0), (step, name, arguments)
            if rng.random() < 0.3:
                assert attempt() == (expected, 1), "a retry is answered alike"
        assert commands.log(f"dj:{SHOP}") == model.events, (step, name)
        assert state(scripts) == model.page(), (step, name)
        assert commands.dj(shopId=SHOP, role="anonymous") == model.page()
        for user in USERS:
            assert commands.my_votes(shopId=SHOP, user=user, role="user") == model.my_votes(user), (step, user)
    assert {name for name, _ in model.events} >= {"queue:update", "track:added", "track:playing"}
