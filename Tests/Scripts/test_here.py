"""here_change.lua, here_read.lua and here_nodes.lua: who is here on a topic, and which gateways live."""

import json

import pytest
import redis

from Fixtures.scripts.lua_scripts import Scripts

TOPIC = "room:1"
HERE, NODES = TOPIC + "#here", "#here-nodes"


def member(number, **meta):
    return json.dumps({"k": f"k{number}", "u": f"u{number}", "r": 1, "m": meta}, separators=(",", ":"))


class Room:
    def __init__(self, db):
        self.db = db
        self.scripts = Scripts(db)

    def change(self, here=None, left=(), most=1_000, epoch="e1", ttl=300):
        pairs = [word for pair in (here or {}).items() for word in pair]
        epoch, version, refused = self.scripts.call(
            "here_change", [HERE], [TOPIC, epoch, most, ttl, len(left), *left, *pairs])
        return epoch.decode(), int(version), [id.decode() for id in refused]

    def read(self, most=1_000):
        epoch, version, pairs = self.scripts.call("here_read", [HERE], [most])
        return epoch.decode(), int(version), {
            id.decode(): text.decode() for id, text in zip(*[iter(pairs)] * 2, strict=True)}

    def nodes(self, name="", keep=120_000):
        words = self.scripts.call("here_nodes", [NODES], [name, keep])
        return {words[index].decode(): int(words[index + 1]) for index in range(0, len(words), 2)}


@pytest.fixture
def room(db):
    return Room(db)


@pytest.fixture
def heard(db):
    """Takes what was told on the topic's channel: (epoch and version, the change)."""
    with db.pubsub() as channel:
        channel.subscribe(TOPIC)
        assert channel.get_message(timeout=5)["type"] == "subscribe"

        def take(count):
            told = []
            while len(told) < count:
                text = channel.get_message(timeout=5)["data"].decode()
                head, _, body = text.partition("\n")
                told.append((head, json.loads(body)))
            db.publish(TOPIC, "end")
            assert channel.get_message(timeout=5)["data"] == b"end", "nothing else was told"
            return told
        yield take


def test_who_comes_and_who_leaves_is_kept_and_told(room, heard):
    assert room.change({"n.0.1": member(1, a=1), "n.0.2": member(2)}) == ("e1", 1, [])
    assert room.read() == ("e1", 1, {"n.0.1": member(1, a=1), "n.0.2": member(2)})
    assert room.change({"n.0.2": member(2, b="new")}, left=["n.0.1"], epoch="other") == ("e1", 2, [])
    assert room.read() == ("e1", 2, {"n.0.2": member(2, b="new")})
    assert heard(2) == [
        ("He1 1", {"left": [], "here": [["n.0.1", json.loads(member(1, a=1))], ["n.0.2", json.loads(member(2))]]}),
        ("He1 2", {"left": ["n.0.1"], "here": [["n.0.2", json.loads(member(2, b="new"))]]})]


def test_what_changes_nothing_is_not_told(room, heard, db):
    """A gateway repeats what it is not sure of: others must not take it for a change."""
    room.change({"n.0.1": member(1)}, ttl=100)
    assert room.change({"n.0.1": member(1)}, left=["n.0.9"], ttl=200) == ("e1", 1, [])
    assert room.change() == ("e1", 1, [])
    assert 200 < db.ttl(HERE) <= 300, "it is kept alive all the same"
    assert len(heard(1)) == 1
    db.delete(HERE)
    assert room.change() == ("", 0, []) and db.exists(HERE) == 0
    assert room.read() == ("", 0, {})


def test_a_full_topic_takes_nobody_in_and_loses_nobody(room, heard):
    room.change({f"n.0.{n}": member(n) for n in range(3)})
    assert room.change({"n.0.3": member(3), "n.0.1": member(1, a=2)}, most=3) == ("e1", 2, ["n.0.3"])
    assert room.change({"n.0.3": member(3)}, left=["n.0.0"], most=3) == ("e1", 3, []), "who leaves makes room"
    assert room.change({"n.0.4": member(4)}, most=3) == ("e1", 3, ["n.0.4"])
    assert sorted(room.read()[2]) == ["n.0.1", "n.0.2", "n.0.3"]
    assert len(heard(3)) == 3


def test_the_last_who_leaves_leaves_the_version(room, db):
    """A set that began anew at once would have its first version twice, and who missed the end would not know."""
    room.change({"n.0.1": member(1)})
    assert room.change(left=["n.0.1"]) == ("e1", 2, [])
    assert room.read() == ("e1", 2, {}) and 0 < db.ttl(HERE) <= 300
    assert room.change({"n.0.2": member(2)}, epoch="e2") == ("e1", 3, [])
    db.delete(HERE)
    assert room.change({"n.0.2": member(2)}, epoch="e2") == ("e2", 1, [])


def test_an_unreadable_version_begins_anew(room, db):
    room.change({"n.0.1": member(1)})
    db.hset(HERE, "#", "nonsense")
    assert room.read()[:2] == ("", 0)
    assert room.change({"n.0.2": member(2)}, epoch="e9") == ("e9", 1, [])
    assert sorted(room.read()[2]) == ["n.0.1", "n.0.2"]


@pytest.mark.parametrize("arguments", [
    [], [TOPIC, "e1", 10, 300], ["", "e1", 10, 300, 0], [TOPIC, "e 1", 10, 300, 0], [TOPIC, "e1", 0, 300, 0],
    [TOPIC, "e1", 10, 0, 0], [TOPIC, "e1", 10, 300, 1], [TOPIC, "e1", 10, 300, 129, *["a"] * 129],
    [TOPIC, "e1", 10, 300, 0, "id"], [TOPIC, "e1", 10, 300, 0, "#", "{}"], [TOPIC, "e1", 10, 300, 0, "a b", "{}"],
    [TOPIC, "e1", 10, 300, 0, "id", "[]"], [TOPIC, "e1", 10, 300, 0, "i" * 65, "{}"],
    [TOPIC, "e1", 10, 300, 0, *["id", "{}"] * 129], [TOPIC, "e1", 10, 300, "1e1", "id"]])
def test_a_change_that_is_none_writes_nothing(room, db, arguments):
    with pytest.raises(redis.ResponseError, match="BADARG"):
        room.scripts.call("here_change", [HERE], arguments)
    assert db.dbsize() == 0


def test_keys_of_other_types_are_told(room, db):
    for key, call in [(HERE, room.change), (HERE, room.read), (NODES, room.nodes), (NODES, lambda: room.nodes("n"))]:
        db.flushall()
        db.lpush(key, "x")
        with pytest.raises(redis.ResponseError, match="BADKEY"):
            call()
        assert db.lrange(key, 0, -1) == [b"x"]


def test_a_set_beyond_its_bound_is_not_read(room, db):
    room.change({f"n.0.{n}": member(n) for n in range(5)})
    assert len(room.read(most=5)[2]) == 5
    with pytest.raises(redis.ResponseError, match="BADKEY"):
        room.read(most=4)


def test_a_change_that_redis_refuses_is_not_made(room, db, heard):
    room.change({"n.0.1": member(1)})
    db.config_set("maxmemory", 1)
    try:
        with pytest.raises(redis.RedisError):
            room.change({"n.0.2": member(2)}, left=["n.0.1"])
    finally:
        db.config_set("maxmemory", 0)
    assert room.read() == ("e1", 1, {"n.0.1": member(1)})
    assert len(heard(1)) == 1


def test_a_dead_gateway_is_no_younger_after_the_clock_went_back(room, db):
    """Its last word lay an hour ahead, so its members stayed on the list for the hour."""
    seconds = int(db.time()[0])
    db.zadd("#here-nodes", {"dead": (seconds + 3_600) * 1_000})
    room.nodes("a")
    assert db.zscore("#here-nodes", "dead") < (seconds + 60) * 1_000, "its age is counted from now"


def test_gateways_say_that_they_live(room, db):
    assert room.nodes() == {} and db.exists(NODES) == 0
    assert room.nodes("one").keys() == {"one"}
    assert room.nodes("two").keys() == {"one", "two"}
    assert room.nodes().keys() == {"one", "two"}, "who only asks is not listed"
    seconds, micros = db.time()
    db.zadd(NODES, {"one": seconds * 1_000 + micros // 1_000 - 30_000})
    assert 30_000 <= room.nodes("two")["one"] < 60_000
    assert room.nodes("two", keep=20_000).keys() == {"two"}, "one that is silent for long is forgotten"
    assert 0 < db.pttl(NODES) <= 20_000
    for name, keep in [("x" * 33, 20_000), ("a b", 20_000), ("one", 10), ("one", "1e9")]:
        with pytest.raises(redis.ResponseError, match="BADARG"):
            room.nodes(name, keep)
