"""reset_epoch.lua: what Redis may have lost is told to whoever comes back, also where the run-id fence sees nothing."""

import pytest
import redis

from Fixtures.scripts.lua_scripts import Keys, Scripts

KEYS = Keys()


@pytest.fixture
def synced(db):
    """Scripts of a Redis that syncs every write: its epochs survive a restart."""
    return Scripts(db, run="r" * 40 + "+")


def test_the_next_subscriber_begins_a_new_epoch(synced, db):
    for number in range(8):
        synced.publish(epoch="k")
    assert synced.reset_epoch() == 1
    joined = synced.subscribe(since=("k", 8), epoch="new")
    assert (joined.epoch, joined.offset, joined.recovered, joined.events) == ("new", 0, 0, [])
    assert not db.exists(KEYS.log), "the log's offsets belong to the old epoch"


def test_the_next_publish_begins_a_new_epoch(synced):
    synced.publish(epoch="k")
    synced.reset_epoch()
    assert synced.publish(epoch="new") == ("new", 1, 0)


def test_a_second_call_in_one_life_of_redis_changes_nothing(synced, db, unchanged):
    """A command that was interrupted and is run again does not tell everybody a second time."""
    synced.publish(epoch="k")
    life = "a" * 40
    assert synced.reset_epoch(life=life) == 1
    with unchanged():
        assert synced.reset_epoch(life=life) == 2
    synced.publish(epoch="new")
    with unchanged():
        assert synced.reset_epoch(life=life) == 2, "the mark outlives the new epoch's first event"
    assert synced.reset_epoch(life="b" * 40) == 1, "another restore"
    assert synced.reset_epoch(life="b" * 40, mode="again") == 1


def test_a_look_writes_nothing(synced, unchanged):
    synced.publish()
    with unchanged():
        assert synced.reset_epoch(mode="look") == 1
        assert synced.reset_epoch(topic="shop:43", mode="look") == 0


def test_a_topic_without_a_position_is_left_alone(synced, db):
    assert synced.reset_epoch() == 0
    db.hset(KEYS.meta, "other", "program")
    assert synced.reset_epoch() == 0 and db.hgetall(KEYS.meta) == {b"other": b"program"}
    db.delete(KEYS.meta)
    db.set(KEYS.meta, "text")
    with pytest.raises(redis.ResponseError, match="BADKEY"):
        synced.reset_epoch()


def test_the_position_keeps_its_end(synced, db):
    synced.publish(meta_ttl_s=86_400)
    synced.reset_epoch()
    assert 86_000 < db.ttl(KEYS.meta) <= 86_438


def test_gateways_are_woken(synced, db):
    with db.pubsub() as channel:
        channel.subscribe("shop:42")
        assert channel.get_message(timeout=5)["type"] == "subscribe"
        synced.publish()
        synced.reset_epoch()
        told = [channel.get_message(timeout=5)["data"] for _ in range(2)]
    assert told[1] == b"Px-nobodys 1 epoch:reset -\n{}"
