"""publish.lua with several events: what as many single calls would do, in one."""

import pytest
import redis

from Fixtures.scripts.lua_scripts import Keys

KEYS = Keys()


def entries(db, topic):
    return db.xrange(Keys(topic).log)


def test_is_the_same_as_single_publishes(scripts, db, rng, listener):
    """Random batches on shop:42, the same events one by one on shop:43."""
    candidates = iter(f"c{number}" for number in range(10_000))
    sent = []
    for _ in range(60):
        log_max = rng.choice([0, 1, 5, 99, 100, 120])
        events = [(rng.choice(["a", "b.c"]), f'{{"n":{rng.randrange(9)}}}',
                   rng.choice(["-", "-", f"op-{rng.randrange(60)}"])) for _ in range(rng.randrange(1, 14))]
        epoch = next(candidates)
        if rng.random() < 0.15:
            for topic in ("shop:42", "shop:43"):
                db.hset(Keys(topic).meta, "offset", 2**53 - rng.randrange(1, 8) if log_max == 0 else 1)
                db.delete(Keys(topic).log)
            db.hset(Keys("shop:43").meta, "offset", db.hget(KEYS.meta, "offset"))
        together = scripts.publish_several(events, epoch=epoch, log_max=log_max)
        alone = [scripts.publish("shop:43", *event, epoch=epoch, log_max=log_max) for event in events]
        assert together == alone
        assert db.hgetall(KEYS.meta) == db.hgetall(Keys("shop:43").meta)
        assert entries(db, "shop:42") == entries(db, "shop:43")
        for name in ("log", "meta"):
            assert abs(db.ttl(getattr(KEYS, name)) - db.ttl(getattr(Keys("shop:43"), name))) <= 1
        sent += [f"P{epoch} {offset} {event} {id}\n{data}".encode()
                 for (event, data, id), (epoch, offset, duplicate) in zip(events, together, strict=True)
                 if not duplicate]
    assert listener() == sent


def test_one_id_twice_in_a_batch_is_published_once(scripts, db):
    assert scripts.publish_several([("a", "{}", "op"), ("b", "{}", "-"), ("a", "{}", "op")], epoch="k") == [
        ("k", 1, 0), ("k", 2, 0), ("k", 1, 1)]
    assert db.xlen(KEYS.log) == 2 and db.get(KEYS.seen("op")).startswith(b"k 1 ")


def test_one_id_of_two_publishers_in_a_batch_is_published_twice(scripts, db, listener):
    """What two publishers called alike was taken for one event; the second was acked and lost."""
    events = [("a", '{"n":1}', ("user:u1", "op")), ("a", '{"n":2}', ("user:u2", "op")), ("a", '{"n":1}', "op")]
    assert scripts.publish_several(events, epoch="k") == [("k", 1, 0), ("k", 2, 0), ("k", 1, 1)]
    assert len(listener()) == 2


@pytest.mark.parametrize("first", ["before", "in the batch"])
def test_a_conflict_in_a_batch_harms_no_other(scripts, db, listener, first):
    events = [("a", '{"n":2}', "op"), ("a", '{"n":3}', "-"), ("b", '{"n":2}', "op")]
    if first == "before":
        scripts.publish(event="a", data='{"n":1}', id="op", epoch="k")
    else:
        events.insert(0, ("a", '{"n":1}', "op"))
    answer = scripts.publish_several(events, epoch="k")
    assert answer[-3:] == [("", 0, 2), ("k", 2, 0), ("", 0, 2)]
    assert db.hget(KEYS.meta, "offset") == b"2" and db.xlen(KEYS.log) == 2 == len(listener())


def test_known_ids_of_an_epoch_that_ends_in_the_batch_are_published_anew(scripts, db):
    """The first event of the batch finds the log ahead of the position; what was acked before it is in no log."""
    scripts.publish(id="op-1", data='{"n":1}', epoch="old")
    for _ in range(4):
        scripts.publish()
    db.hset(KEYS.meta, "offset", 2)
    answer = scripts.publish_several(
        [("queue:update", '{"n":1}', "op-1"), ("a", "{}", "-"), ("queue:update", '{"n":1}', "op-1")], epoch="new")
    assert answer == [("new", 2, 1), ("new", 1, 0), ("new", 2, 0)]
    assert [entry[1][b"i"] for entry in db.xrange(KEYS.log)] == [b"-", b"op-1"]


def test_a_retry_of_a_batch_in_another_epoch_is_published_anew(scripts, db):
    """It was acked as duplicates in the dead epoch, and no log held the events."""
    events = [("a", "{}", f"op-{number}") for number in range(3)]
    scripts.publish_several(events, epoch="old")
    assert scripts.publish_several(events, epoch="new", run="second") == [("new", n, 0) for n in (1, 2, 3)]
    assert db.xlen(KEYS.log) == 3


def test_retry_of_a_batch_changes_nothing(scripts, unchanged, listener):
    events = [("a", "{}", f"op-{number}") for number in range(5)]
    first = scripts.publish_several(events)
    listener()
    with unchanged():
        assert scripts.publish_several(events) == [(epoch, offset, 1) for epoch, offset, _ in first]
    assert listener() == []


@pytest.mark.parametrize("wrong", [("a b", "{}", "-"), ("a", "[]", "-"), ("a", "{}", "a b c")], ids=repr)
@pytest.mark.parametrize("place", [0, 1, 2])
def test_one_wrong_event_refuses_all(scripts, unchanged, listener, wrong, place):
    scripts.publish()
    listener()
    events = [("a", "{}", "op-1"), ("a", "{}", "op-2")]
    events.insert(place, wrong)
    with unchanged(), pytest.raises(redis.ResponseError, match="^BADARG "):
        scripts.publish_several(events)
    assert listener() == []


def test_a_key_of_another_type_refuses_all(scripts, db, unchanged, listener):
    scripts.publish()
    db.rpush(KEYS.seen("op-2"), "x")
    listener()
    with unchanged(), pytest.raises(redis.ResponseError, match="^BADKEY "):
        scripts.publish_several([("a", "{}", "op-1"), ("a", "{}", "op-2")])
    assert listener() == []


def test_a_position_that_went_backwards_begins_one_new_epoch(scripts, db):
    for _ in range(5):
        scripts.publish(epoch="old")
    db.hset(KEYS.meta, "offset", 2)
    assert scripts.publish_several([("a", "{}", "-")] * 3, epoch="new") == [("new", 1, 0), ("new", 2, 0), ("new", 3, 0)]
    assert [entry[0] for entry in db.xrange(KEYS.log)] == [b"1-0", b"2-0", b"3-0"]
