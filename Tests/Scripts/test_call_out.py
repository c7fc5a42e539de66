"""call_out: calls of services outside that wait for a courier, put once, bounded, and given up in time."""

import json

import pytest
import redis

from Fixtures.scripts.command_scripts import Commands, Failed
from Fixtures.scripts.lua_scripts import Scripts

HEADER = """-- @command  try
-- @summary  For these tests.
-- @allow    user|service
-- @arg      roomId id
-- @arg      text   string 0..40000 optional
-- @key      box    room:{roomId}#box
-- @call_out spotify found
-- @call_out mail sent
-- @returns  {}
-- @cost     O(1)
"""
BODY = "write('SET', key.box, 1) call_out('spotify', {q = 'a'}, 'found', {roomId = args.roomId}) return {}"


@pytest.fixture
def trial(db, tmp_path):
    """Runs a body under a header that may have services called."""

    def run(body=BODY, header=HEADER, **options):
        (tmp_path / "try.lua").write_text(header + "\n" + body + "\n")
        return Commands(db, tmp_path).call("try", **{"roomId": "7", **options})

    return run


def waiting(db, service="spotify"):
    return [{name.decode(): text.decode() for name, text in fields.items()}
            for _, fields in db.xrange(f"#calls:{service}")]


def test_a_call_waits_for_its_service_alone(trial, db):
    trial(payer="user:ann")
    (call,) = waiting(db)
    assert json.loads(call.pop("r")) == {"q": "a"} and json.loads(call.pop("a")) == {"roomId": "7"}
    assert len(call.pop("i")) == 32 and call == {"c": "found", "p": "user:ann"}
    assert not db.exists("#calls:mail", "#outbox") and db.get("room:7#box") == b"1"


def test_a_retry_makes_no_second_call(trial, db):
    """Nor does it after the memory of the operation has gone: then the id is the same, by which a service can tell."""
    assert trial(id="op-1")[1] == 0 and trial(id="op-1")[1] == 1
    (first,) = waiting(db)
    db.delete(*db.keys("room:7#done#*"))
    trial(id="op-1")
    trial(id="op-2")
    trial(id="op-1", roomId="8")
    trial(user="ann", role="user", id="op-1")
    ids = [call["i"] for call in waiting(db)]
    assert ids[0] == ids[1] == first["i"] and len(set(ids[1:])) == 4


def test_calls_without_a_name_are_calls_of_their_own(trial, db):
    body = "call_out('spotify', {}, 'found') call_out('spotify', {}, 'found') return {}"
    trial(body)
    trial(body)
    calls = waiting(db)
    assert len({call["i"] for call in calls}) == 4 and {call["a"] for call in calls} == {"{}"}


@pytest.mark.parametrize("body", [
    "call_out('apple', {}, 'found')",
    "call_out('spotify', {}, 'sent')",
    "call_out('spotify', {}, nil)",
    "call_out('spotify', 'text', 'found')",
    "call_out('spotify', array{1}, 'found')",
    "call_out('spotify', '{\"a\":NaN}', 'found')",
    "call_out('spotify', '{}{}', 'found')",
    "call_out('spotify', {a = raw('x')}, 'found')",
    "call_out('spotify', {}, 'found', '[]')",
    "call_out('spotify', {}, 'found', 5)",
    "for n = 1, 17 do call_out('spotify', {}, 'found') end",
    "services.spotify = nil",
])
def test_what_may_not_be_called_changes_nothing(trial, unchanged, body):
    with unchanged(), pytest.raises(redis.ResponseError):
        trial("write('SET', key.box, 1) " + body + " return {}")


def test_a_call_is_bounded_in_bytes(trial, db, unchanged):
    """What callers send makes it large, so it is told to them."""
    body = "call_out('spotify', {q = args.text}, 'found') return {}"
    trial(body, text="x" * 16_374)
    with unchanged(), pytest.raises(Failed, match="too_large: a call of spotify may have 16384 bytes"):
        trial(body, text="x" * 16_375)
    assert len(waiting(db)) == 1


def test_a_service_that_is_down_fills_its_own_stream_only(trial, db, unchanged):
    for _ in range(3):
        trial(calls_max=3)
    with unchanged(), pytest.raises(Failed, match="unavailable: too many calls of spotify wait"):
        trial(calls_max=3)
    trial("call_out('mail', {}, 'sent') return {}", calls_max=3)
    with unchanged(), pytest.raises(Failed, match="unavailable"):
        trial("call_out('mail', {}, 'sent') call_out('spotify', {}, 'found') return {}", calls_max=3)
    trial("write('SET', key.box, 2) return {}", calls_max=3)
    assert len(waiting(db)) == 3 and len(waiting(db, "mail")) == 1


def test_a_key_of_another_type_stops_it_before_the_first_write(trial, db, unchanged):
    db.set("#calls:spotify", "x")
    with unchanged(), pytest.raises(redis.ResponseError, match="BADKEY calls holds another type"):
        trial()


def test_a_full_memory_changes_nothing(trial, db, unchanged):
    trial("call_out('spotify', {}, 'found') return {}")
    db.config_set("maxmemory", 1)
    try:
        with unchanged(), pytest.raises(redis.ResponseError, match="maxmemory"):
            trial("call_out('spotify', {}, 'found') return {}")
    finally:
        db.config_set("maxmemory", 0)


def test_it_goes_with_members_and_with_what_waits_in_the_outbox(trial, db):
    """Members stand before the services in KEYS and ARGV."""
    header = HEADER + "-- @topic    room:{roomId}\n-- @topic    user:*\n-- @members\n"
    trial("admit('room:7', 'ann') emit('user:ann', 'in', {}) call_out('mail', {}, 'sent') return {}", header)
    assert db.smembers("room:7#members") == {b"ann"} and db.xlen("#outbox") == 1 and len(waiting(db, "mail")) == 1


# In time


KEYS = ["#calls:spotify", "#calls-dead:spotify", "#courier:spotify"]


def expire(db, life_ms=1_000, dead_max=10):
    return Scripts(db).call("expire_calls", KEYS, [life_ms, dead_max])


def test_what_is_too_old_is_given_up_and_kept(trial, db):
    assert expire(db) == [0, 0, 0, 0, 0]
    for age in (5_000, 2_000):
        db.xadd(KEYS[0], {"i": "1", "r": "{}", "c": "found", "a": "{}"}, id=f"{int(db.time()[0]) * 1_000 - age}-1")
    db.xgroup_create(KEYS[0], "couriers", "0")
    claimed = db.xreadgroup("couriers", "py", {KEYS[0]: ">"}, count=1)
    trial()
    db.set(KEYS[2], "py")
    left, oldest, dropped, dead, alive = expire(db)
    assert (left, dropped, dead, alive) == (1, 2, 2, 1) and 1 <= oldest < 1_000
    assert claimed and db.xpending(KEYS[0], "couriers")["pending"] == 0, "nobody has it any more"
    entry = db.xrange(KEYS[1])[0][1]
    assert entry[b"c"] == b"found" and entry[b"reason"] and entry[b"id"].endswith(b"-1")
    assert expire(db)[2] == 0 and 604_000 < db.ttl(KEYS[1]) <= 604_800, "what users said does not stay for ever"


def test_one_run_gives_up_so_many(db):
    pipe = db.pipeline()
    for n in range(60):
        pipe.xadd(KEYS[0], {"c": "found"} | {f"x{i}": "y" for i in range(40)}, id=f"{n + 1}-1")
    pipe.execute()
    assert [expire(db)[:3:2] for _ in range(4)] == [[35, 25], [10, 25], [0, 10], [0, 0]]
    assert len(db.xrange(KEYS[1])[-1][1]) <= 18


@pytest.mark.parametrize("arguments", [[0, 1], [999, 1], [1_000, 0], ["x", 1], [1_000]])
def test_expire_reads_its_arguments(db, unchanged, arguments):
    with unchanged(), pytest.raises(redis.ResponseError, match="BADARG"):
        Scripts(db).call("expire_calls", KEYS, arguments)


@pytest.mark.parametrize("key", KEYS[:2])
def test_expire_reads_its_keys(db, unchanged, key):
    db.set(key, "x")
    with unchanged(), pytest.raises(redis.ResponseError, match="BADKEY"):
        expire(db)
