"""A log's bound in bytes, beside that in events."""

import json

import pytest

from Fixtures.scripts.command_scripts import Commands
from Fixtures.scripts.lua_scripts import Keys
from redis.exceptions import ResponseError

KEYS = Keys()
BYTES = 131_072


def object_of(size: int) -> str:
    return '{"x":"' + "x" * (size - 8) + '"}'


def used(db, log=KEYS.log) -> int:
    return db.memory_usage(log, samples=0)


def test_large_events_fill_no_log_beyond_its_bytes(scripts, db):
    """A log was bound in events alone: 200 events of 64 kB took 13 MB for each topic."""
    for offset in range(1, 31):
        scripts.publish(data=object_of(64_000), log_max=f"200:{BYTES}b")
        assert used(db) <= BYTES or db.xlen(KEYS.log) == 1
        assert db.xinfo_stream(KEYS.log)["last-entry"][0] == f"{offset}-0".encode()
    assert db.xlen(KEYS.log) == 1 + (used(db) > 80_000)


def test_a_large_event_takes_the_place_of_few_small_ones(scripts, db):
    """The oldest leave, about as many bytes as are too many, not as many events as if all were large."""
    for _ in range(100):
        scripts.publish(data=object_of(1_000), log_max="200")
    before = used(db)
    scripts.publish(data=object_of(60_000), log_max=f"200:{BYTES}b")
    assert before + 60_000 > BYTES >= used(db)
    assert 30 <= db.xlen(KEYS.log) < 90


def test_an_event_larger_than_the_bound_stays_alone(scripts, db):
    for _ in range(3):
        scripts.publish(data=object_of(200_000), log_max=f"200:{BYTES}b")
        assert db.xlen(KEYS.log) == 1


def test_several_events_of_one_call_keep_the_bound(scripts, db):
    scripts.publish_several([("e", object_of(30_000), "-")] * 16, log_max=f"200:{BYTES}b")
    assert 1 < db.xlen(KEYS.log) and used(db) <= BYTES
    assert scripts.position()[1] == 16


def test_the_bound_in_events_holds_beside_it(scripts, db):
    for _ in range(30):
        scripts.publish(data=object_of(1_000), log_max=f"10:{BYTES}b")
    assert db.xlen(KEYS.log) == 10


@pytest.mark.parametrize("bound", ["b", "5b", "5:b", "0:5b", "5:05b", "5:5", "5:" + "9" * 16 + "b"])
def test_a_bound_of_another_form_publishes_nothing(scripts, db, unchanged, bound):
    with unchanged(), pytest.raises(ResponseError, match="BADARG"):
        scripts.publish(log_max=bound)


def test_a_command_keeps_the_bound_of_its_topic(commands, db):
    """A post is an event of the barber's topic: 30 posts of 20 kB are more than the log may hold."""
    policy = {"log_max": f"400:{BYTES}b", "log_ttl_s": 300, "meta_ttl_s": 86_700}
    for number in range(30):
        post = json.dumps({"id": f"p{number}", "text": "w" * 20_000})
        commands.call("publish_post", barberId="b", post=post, id=f"op-{number}", policy=policy)
    assert 1 < db.xlen("feed:b#log") < 20 and used(db, "feed:b#log") <= BYTES


def test_the_name_of_a_commands_event_counts_for_the_bound(db, tmp_path):
    """Only the data were compared with the bound, so small data under long names grew beyond it."""
    (tmp_path / "tell.lua").write_text("\n".join([
        "-- @command  tell", "-- @summary  For this test.", "-- @allow    service", "-- @arg      groupId id",
        "-- @key      box     group:{groupId}#box", "-- @topic    group:{groupId}", "-- @returns  {}",
        "-- @cost     O(1)", "", f"emit('group:7', '{'n' * 64}', {{}})", "return {}", ""]))
    commands = Commands(db, tmp_path)
    # Events of up to 30 bytes need no look; with its name each has 66.
    policy = {"log_max": f"100:{2 * 100 * 30}b", "log_ttl_s": 300, "meta_ttl_s": 86_700}
    for _ in range(100):
        commands.call("tell", groupId="7", policy=policy)
    assert db.xlen("group:7#log") < 60 and used(db, "group:7#log") <= 2 * 100 * 30
