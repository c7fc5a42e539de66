"""Changes of several homes on a Cluster: whatever comes between their steps, they become whole or leave nothing."""

import pytest
import redis

from Fixtures.redis.cluster import RedisCluster
from Fixtures.scripts.command_scripts import Failed
from Fixtures.scripts.saga_map import SPOTS, Map
from Fixtures.scripts.saga_town import USERS, Town, outcomes
from Fixtures.seeds import lives


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """Three masters, without replicas."""
    cluster = RedisCluster(tmp_path_factory.mktemp("cluster"), replicas=0)
    try:
        yield cluster.start()
    finally:
        cluster.stop()


@pytest.fixture
def db(cluster):
    with redis.RedisCluster(host="127.0.0.1", port=cluster.nodes[0].port) as client:
        client.flushall()
        yield client


def run(town, count):
    for _ in range(count):
        deeds, places = town.schedule()
        town.check()
        for user in USERS:
            own = [deed[1:] for deed in deeds if deed[0] == user]
            assert town.place(user) in outcomes(own, places[user]), (user, own, places[user])
        for _, kind, _, result in deeds:
            if isinstance(result, Failed):
                allowed = {"join": {"not_found"}, "create": {"code_taken"}, "vote": {"not_found"},
                           "skip": {"no_session"}, "add": {"no_session", "queue_full", "too_many"}}
                assert result.code in allowed.get(kind, set()) | {"conflict"}, (kind, result)


@pytest.mark.parametrize("round_", lives(100))
def test_races_across_homes_end_as_the_model_allows(db, rng, round_):
    """100 schedules in one town: joins, leaves, votes, blocks and erasures at once, gateways die between steps."""
    run(Town(db, rng), 100)


@pytest.mark.parametrize("round_", lives(20))
def test_cells_agree_with_what_listeners_say(db, rng, round_):
    """50 schedules on one map: moves, privacy, tracks and blocks at once, gateways die between steps."""
    town = Map(db, rng)
    for _ in range(50):
        town.schedule()
        town.check()


def kill_at(town, name, user, steps, **arguments):
    """Begins a call, and lets its gateway die before its step of that number; whether it came so far."""
    flight = town.flight(name, user, **arguments)
    try:
        for _ in range(steps + 1):
            next(flight)
    except StopIteration:
        return False
    flight.close()
    return True


@pytest.mark.parametrize("name, arguments", [
    ("create_listening", {"joinCode": "other"}), ("join_listening", {"joinCode": "party"}), ("leave_listening", {}),
    ("end_visit", {})])
def test_a_change_that_is_killed_at_any_step_is_whole_or_undone(db, rng, name, arguments):
    """A user who is in a session changes it; the gateway dies before each step in turn, and a worker comes later."""
    ends = set()
    for steps in range(20):
        db.flushall()
        town = Town(db, rng)
        town.commands.call("create_listening", "ann", "user", joinCode="party", random="a" * 32)
        town.commands.call("create_listening", "bob", "user", joinCode="here", random="b" * 32)
        town.settle()
        first = town.fields("user:bob#listening")["session"]
        more = {"sessionId": first} if name == "end_visit" else arguments
        was_killed = kill_at(town, name, "bob", steps, **more)
        town.settle()
        place = town.place("bob")
        ends.add(place)
        wanted = arguments.get("joinCode")
        assert place in ("here", wanted) if was_killed else place == wanted
        assert ("bob" in town.fields(f"session:{first}#people")) == (place == "here")
        for id in town.sessions():
            session = town.fields(f"session:{id}#session")
            assert town.text(f"joincode:{session['code']}") == id
            assert ("bob" in town.fields(f"session:{id}#people")) == (place == session["code"])
        if not was_killed:
            break
    assert not was_killed and steps >= 1, "every step was tried"
    assert len(ends) == 2, "some were killed before they began, and some after"


def test_an_erasure_leaves_its_time_alone(db, rng):
    """docs/erasure.md lists it: what a session began before the erasure, and ends after it, is undone by that time."""
    town = Town(db, rng)
    town.commands.call("create_listening", "ann", "user", joinCode="party", random="a" * 32)
    town.commands.call("join_listening", "bob", "user", joinCode="party", random="b" * 32)
    town.commands.call("erase_listener", "bob", "worker", userId="bob")
    town.settle()
    keys = {key.decode(): db.ttl(key) for key in db.scan_iter(match="user:{bob}*")}
    assert keys.keys() == {"user:{bob}#listening", "user:{bob}#version"}
    assert set(town.fields("user:bob#listening")) == {"at", "erased"}
    assert 0 < keys["user:{bob}#listening"] <= 86_400 and 0 < keys["user:{bob}#version"] <= 3_600


def test_a_track_is_told_once_though_its_step_is_made_twice(db, rng):
    """A worker that was woken for another cell made the step beside the gateway, and neighbours heard it twice."""
    town = Map(db, rng)
    for user, spot in (("ann", SPOTS[0]), ("bob", SPOTS[1])):
        town.commands.call("set_location", user, "user", latitude=spot[0], longitude=spot[1])
    town.commands.relay()
    told, call = [], town.commands._loaded.call

    def seen(name, *words):
        reply = call(name, *words)
        told.extend(text for text in (reply[4] if isinstance(reply, list) and len(reply) > 4 else [])
                    if b"nearby:track" in text)
        return reply

    town.commands._loaded.call = seen
    for number in (1, 2):
        town.commands.now_ms += 30_000
        flight = town.flight("set_track", "bob", trackId="t", trackName=f"n{number}", artist="a", duration=1,
                             isPlaying=True)
        while not next(flight).startswith("sync_listener"):
            pass
        town.commands.relay()
        for _ in flight:
            pass
        assert len(told) == number, "the worker told it, and the gateway no more"
