"""lease.lua: at most one holder of a partition at any time, tokens that only grow, and a time that is Redis's own."""

import time

import pytest
import redis

from Fixtures.scripts.lua_scripts import Scripts

WORKERS, LEASES = "#workers", "#leases"


class Leases:
    """The script as a function."""

    def __init__(self, db):
        self.scripts = Scripts(db)
        self.db = db

    def ask(self, name, wanted=(), lease_ms=60_000, keys=(WORKERS, LEASES)):
        """Returns the live workers and the held partitions with their tokens."""
        names, held = self.scripts.call("lease", list(keys), [name, lease_ms, " ".join(map(str, wanted))])
        return [text.decode() for text in names], {
            int(partition): int(token) for partition, token in zip(held[::2], held[1::2])}

    def expire(self, name):
        """Lets the time of a worker be over, as if it had been silent."""
        self.db.zadd(WORKERS, {name: 1})
        for partition, value in self.db.hgetall(LEASES).items():
            words = value.split()
            if words[0].decode() == name:
                self.db.hset(LEASES, partition, b" ".join([words[0], words[1], b"1"]))


@pytest.fixture
def leases(db):
    return Leases(db)


def now_ms(db):
    seconds, microseconds = db.time()
    return seconds * 1000 + microseconds // 1000


def test_a_worker_gets_what_is_free_and_renews_it_with_the_same_token(leases, db):
    before = now_ms(db)
    names, held = leases.ask("a", [0, 7, 64])
    assert names == ["a"] and sorted(held) == [0, 7, 64]
    assert len(set(held.values())) == 3 and min(held.values()) >= before
    assert leases.ask("a", [0, 7, 64]) == (["a"], held)


def test_nobody_gets_what_another_holds(leases):
    _, first = leases.ask("a", [1, 2])
    names, held = leases.ask("b", [1, 2, 3])
    assert sorted(names) == ["a", "b"] and sorted(held) == [3]
    assert leases.ask("a", [1, 2])[1] == first


def test_what_is_no_longer_wanted_is_free_at_once_and_changes_hands_with_a_greater_token(leases):
    _, first = leases.ask("a", [1, 2])
    assert leases.ask("a", [2])[1] == {2: first[2]}
    _, held = leases.ask("b", [1, 2])
    assert sorted(held) == [1] and held[1] > max(first.values())
    _, again = leases.ask("a", [1, 2])
    assert again == {2: first[2]}


def test_no_lease_stands_longer_than_one_lease(leases, db):
    """Redis's clock went back an hour: what a dead worker held stood for the hour, and the outbox with it."""
    _, first = leases.ask("a", [5, 6], lease_ms=3_000)
    ahead = now_ms(db) + 3_600_000
    db.zadd(WORKERS, {"a": ahead, "dead": ahead})
    for partition in (5, 6):
        db.hset(LEASES, partition, f"a {first[partition]} {ahead}")
    names, held = leases.ask("b", [5], lease_ms=3_000)
    assert names == ["b"] and held[5] > first[5]
    names, held = leases.ask("a", [5, 6], lease_ms=3_000)
    assert sorted(names) == ["a", "b"] and list(held) == [6] and held[6] > first[6]


def test_silence_frees_everything_after_the_lease_and_not_before(leases, db):
    _, first = leases.ask("a", [5], lease_ms=300)
    assert leases.ask("b", [5])[1] == {}
    deadline = time.monotonic() + 5
    while not (held := leases.ask("b", [5])[1]):
        assert time.monotonic() < deadline
    assert held[5] > first[5]
    until = int(db.hget(LEASES, "5").split()[2])
    assert 0 < until - now_ms(db) <= 60_000
    assert leases.ask("b", [5])[0] == ["b"], "the silent one is no longer live"


def test_the_end_frees_everything(leases, db):
    _, first = leases.ask("a", [1, 2])
    assert leases.ask("a", [], lease_ms=0) == ([], {})
    assert db.zcard(WORKERS) == 0 and set(db.hkeys(LEASES)) == {b"token"}
    assert min(leases.ask("b", [1, 2])[1].values()) > max(first.values())


def test_tokens_grow_even_when_the_keys_are_lost_or_time_goes_back(leases, db):
    _, first = leases.ask("a", [1])
    db.delete(LEASES, WORKERS)
    _, second = leases.ask("b", [1])
    assert second[1] >= first[1]  # equal only within the same millisecond
    future = now_ms(db) + 10**9
    db.hset(LEASES, "token", future)
    leases.expire("b")
    assert leases.ask("c", [1])[1][1] > future


@pytest.mark.parametrize("value", ["", "nonsense", "a b c", "x 1", "a 1 99999999999999999999", "a 5 -1", "\xff 1 9"])
def test_what_is_no_lease_is_free(leases, db, value):
    db.hset(LEASES, mapping={"3": value, "token": "nan", "other": "x", "999": "a 1 99999999999999"})
    assert sorted(leases.ask("b", [3])[1]) == [3]


@pytest.mark.parametrize("arguments", [
    ["", 1000, ""], ["a b", 1000, ""], ["x" * 65, 1000, ""], ["a", 99, ""], ["a", 600001, ""], ["a", "1e3", ""],
    ["a", -1, ""], ["a", 1000, "256"], ["a", 1000, "-1"], ["a", 1000, "1.5"], ["a", 1000, "x"], ["a", 0, "1"]])
def test_bad_arguments_change_nothing(leases, unchanged, arguments):
    leases.ask("a", [1])
    with unchanged(), pytest.raises(redis.ResponseError, match="^BADARG"):
        leases.scripts.call("lease", [WORKERS, LEASES], arguments)
    with unchanged(), pytest.raises(redis.ResponseError, match="^BADARG"):
        leases.scripts.call("lease", [WORKERS], arguments)


@pytest.mark.parametrize("key", [WORKERS, LEASES])
def test_keys_of_another_type_are_refused_and_kept(leases, db, unchanged, key):
    db.set(key, "mine")
    with unchanged(), pytest.raises(redis.ResponseError, match="^BADKEY"):
        leases.ask("a", [1])


def test_no_memory_changes_nothing(leases, db, unchanged):
    leases.ask("a", [1])
    db.config_set("maxmemory", 1)
    with unchanged(), pytest.raises(redis.exceptions.OutOfMemoryError):
        leases.ask("b", [2])


def test_against_a_model(leases, rng):
    """Workers ask for random sets and fall silent at random; a dictionary says who may hold what."""
    holder, last = {}, {}
    names = [f"w{number}" for number in range(5)]
    for _ in range(600):
        name = rng.choice(names)
        if rng.random() < 0.15:
            leases.expire(name)
            holder = {partition: other for partition, other in holder.items() if other != name}
            continue
        if rng.random() < 0.05:
            leases.ask(name, lease_ms=0)
            holder = {partition: other for partition, other in holder.items() if other != name}
            continue
        wanted = rng.sample(range(20), rng.randrange(12))
        _, held = leases.ask(name, wanted)
        expected = {partition for partition in wanted if holder.get(partition, name) == name}
        assert set(held) == expected
        for partition, token in held.items():
            if holder.get(partition) == name:
                assert token == last[partition]
            else:
                assert token > last.get(partition, 0)
            last[partition] = token
        holder = {partition: other for partition, other in holder.items() if other != name}
        holder |= {partition: name for partition in expected}
