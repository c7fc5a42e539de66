"""A call that fails leaves every key byte for byte as it was, and sends nothing."""

import pytest
import redis

from Fixtures.scripts.command_scripts import Commands
from Fixtures.scripts.lua_scripts import Keys, source

KEYS = Keys()
WRONG_NUMBERS = ["", "-1", "+1", "1.5", "1e3", "0x10", " 5", "5 ", "05", "nan", "inf", "-inf", "1e999", "--", "५",
                 "9007199254740992", "18446744073709551616", "9" * 400, b"5\x00", b"\xff"]


def filled(db, scripts):
    for number in range(3):
        scripts.publish(id=f"op-{number}", epoch="k")


@pytest.mark.parametrize("name", ["now_ms", "log_max", "log_ttl_s", "meta_ttl_s", "seen_ttl_s"])
@pytest.mark.parametrize("value", WRONG_NUMBERS, ids=repr)
def test_publish_refuses_a_wrong_number(scripts, db, listener, unchanged, name, value):
    filled(db, scripts)
    listener()
    with unchanged(), pytest.raises(redis.ResponseError, match="^BADARG "):
        scripts.publish(**{name: value})
    assert listener() == []


@pytest.mark.parametrize("arguments", [
    {"log_max": 1_000_001}, {"log_ttl_s": 0}, {"meta_ttl_s": 0}, {"seen_ttl_s": 0}, {"log_ttl_s": 315_360_001},
    {"log_ttl_s": 300, "meta_ttl_s": 299},
    {"event": ""}, {"event": "a b"}, {"event": "a\nb"}, {"event": "x" * 65}, {"event": "é"}, {"event": b"a\x00"},
    {"data": ""}, {"data": "{"}, {"data": "[]"}, {"data": "null"}, {"data": " {}"}, {"data": "{}\n"}, {"data": "}"},
    {"id": ""}, {"id": "a b c"}, {"id": " a"}, {"id": "a "}, {"id": "a " + "b" * 33}, {"id": "x" * 129},
    {"id": "a\nb"}, {"id": "a#b"}, {"id": b"a\x00"},
    {"epoch": "a b"}, {"epoch": "x" * 33}, {"epoch": "a.b"}, {"epoch": "\n"},
    {"run": "a b"}, {"run": "x" * 513}, {"run": b"\xff"},
], ids=repr)
def test_publish_refuses_a_wrong_argument(scripts, db, listener, unchanged, arguments):
    filled(db, scripts)
    listener()
    with unchanged(), pytest.raises(redis.ResponseError, match="^BADARG "):
        scripts.publish(**arguments)
    assert listener() == []


@pytest.mark.parametrize("arguments", [
    {"epoch": "a b"}, {"run": "a b"}, {"recovery_max": -1}, {"recovery_max": "1e3"}, {"meta_ttl_s": 0},
    {"now_ms": "nan"}, {"since": ("a b", 1)}, {"since": ("x" * 33, 1)}, {"since": ("k", "")}, {"since": ("k", "-1")},
    {"since": ("k", "1.0")}, {"since": ("k", "9" * 20)}, {"since": ("k", b"1\x00")}, {"order": ""}, {"order": "Newest"},
    {"idle_ttl_s": 0}, {"idle_ttl_s": ""}, {"bytes_max": -1}, {"bytes_max": "inf"}, {"run": "r++"}, {"run": "+"},
    {"before": -1}, {"before": ""},
], ids=repr)
def test_subscribe_refuses_a_wrong_argument(scripts, db, unchanged, arguments):
    filled(db, scripts)
    with unchanged(), pytest.raises(redis.ResponseError, match="^BADARG "):
        scripts.subscribe(**arguments)


@pytest.mark.parametrize("arguments", [
    {"after": -1}, {"after": "1e3"}, {"after": 2**53}, {"limit": 0}, {"limit": "nan"}, {"limit": 1_000_001},
    {"run": "a b"}, {"bytes_max": -1}, {"bytes_max": "inf"},
], ids=repr)
def test_history_refuses_a_wrong_argument(scripts, db, unchanged, arguments):
    filled(db, scripts)
    with unchanged(), pytest.raises(redis.ResponseError, match="^BADARG "):
        scripts.page(**arguments)


@pytest.mark.parametrize("arguments", [
    {"since_ms": -1}, {"since_ms": "1e3"}, {"since_ms": 2**53}, {"limit": 0}, {"limit": "nan"}, {"limit": 26},
    {"run": "a b"}, {"bytes_max": -1}, {"bytes_max": "inf"},
], ids=repr)
def test_replay_refuses_a_wrong_argument(scripts, db, unchanged, arguments):
    filled(db, scripts)
    with unchanged(), pytest.raises(redis.ResponseError, match="^BADARG "):
        scripts.replay(**{"since_ms": 0, **arguments})


@pytest.mark.parametrize("name,keys,arguments", [
    ("publish", 2, 13), ("publish", 4, 13), ("publish", 3, 12), ("publish", 3, 14), ("publish", 0, 0),
    ("publish", 3, 17), ("publish", 4, 21), ("publish", 2, 9),
    ("subscribe", 1, 12), ("subscribe", 2, 11), ("subscribe", 2, 13),
    ("renew", 0, 1), ("renew", 1, 0), ("renew", 65, 1), ("history", 1, 4), ("history", 2, 3),
    ("replay", 1, 4), ("replay", 2, 3),
    ("position", 2, 0), ("position", 1, 1),
])
def test_wrong_number_of_keys_or_arguments_is_refused(scripts, unchanged, name, keys, arguments):
    with unchanged(), pytest.raises(redis.ResponseError, match="^BADARG "):
        scripts.call(name, [f"k{index}" for index in range(keys)], ["1"] * arguments)


def occupy(db, key, kind):
    db.delete(key)
    {"string": lambda: db.set(key, "x"), "list": lambda: db.rpush(key, "x"), "set": lambda: db.sadd(key, "x"),
     "hash": lambda: db.hset(key, "x", "y"), "zset": lambda: db.zadd(key, {"x": 1}),
     "stream": lambda: db.xadd(key, {"x": "y"})}[kind]()


@pytest.mark.parametrize("kind", ["string", "list", "set", "zset", "stream"])
@pytest.mark.parametrize("call", ["publish", "subscribe", "history", "position"])
def test_meta_of_another_type(scripts, db, unchanged, call, kind):
    filled(db, scripts)
    occupy(db, KEYS.meta, kind)
    with unchanged(), pytest.raises(redis.ResponseError, match="^BADKEY meta"):
        getattr(scripts, call)()


@pytest.mark.parametrize("kind", ["string", "list", "set", "zset", "hash"])
@pytest.mark.parametrize("run", [None, "second"], ids=["same run", "new run"])
def test_log_of_another_type_stops_a_publish(scripts, db, listener, unchanged, kind, run):
    filled(db, scripts)
    occupy(db, KEYS.log, kind)
    listener()
    with unchanged(), pytest.raises(redis.ResponseError, match="^BADKEY log"):
        scripts.publish(id="new", run=run)
    assert listener() == []


@pytest.mark.parametrize("call", [
    lambda scripts: scripts.subscribe(since=("k", 1)), lambda scripts: scripts.subscribe(run="second"),
    lambda scripts: scripts.history(), lambda scripts: scripts.position(),
])
def test_log_of_another_type_stops_a_read(scripts, db, unchanged, call):
    filled(db, scripts)
    occupy(db, KEYS.log, "list")
    with unchanged(), pytest.raises(redis.ResponseError, match="^BADKEY log"):
        call(scripts)


@pytest.mark.parametrize("kind", ["list", "set", "zset", "hash", "stream"])
def test_seen_of_another_type(scripts, db, unchanged, kind):
    filled(db, scripts)
    occupy(db, KEYS.seen("new"), kind)
    with unchanged(), pytest.raises(redis.ResponseError, match="^BADKEY seen"):
        scripts.publish(id="new")


@pytest.mark.parametrize("value", ["", "x", "k", "k ", " 1", "k 0", "k -1", "k 1 ", "k 1e3", "k 9007199254740992",
                                   "k\n1", b"\xff 1", "k 1", "k 1 x", "k 1 a b"], ids=repr)
def test_seen_that_is_no_position(scripts, db, unchanged, value):
    filled(db, scripts)
    db.set(KEYS.seen("new"), value)
    with unchanged(), pytest.raises(redis.ResponseError, match="^BADKEY seen"):
        scripts.publish(id="new")


@pytest.mark.parametrize("call", ["publish", "subscribe"])
def test_candidate_equal_to_the_epoch_it_replaces(scripts, db, unchanged, call):
    filled(db, scripts)
    with unchanged(), pytest.raises(redis.ResponseError, match="^BADEPOCH "):
        getattr(scripts, call)(epoch="k", run="second")


def test_rolled_back_meta_with_the_same_candidate(scripts, db, unchanged):
    filled(db, scripts)
    db.hset(KEYS.meta, "offset", 1)
    with unchanged(), pytest.raises(redis.ResponseError, match="^BADEPOCH "):
        scripts.publish(epoch="k")


# What Redis itself refuses


@pytest.fixture
def full_memory(db):
    """Makes Redis refuse every write that needs memory."""
    def fill():
        db.config_set("maxmemory-policy", "noeviction")
        db.config_set("maxmemory", 1)
    yield fill
    db.config_set("maxmemory", 0)


@pytest.mark.parametrize("arguments", [
    {}, {"id": "new"}, {"log_max": 0}, {"run": "second"}, {"run": "second", "log_max": 0}, {"topic": "shop:new"},
], ids=repr)
def test_publish_without_memory(scripts, db, listener, unchanged, full_memory, arguments):
    filled(db, scripts)
    scripts.publish("warm:up")
    listener()
    full_memory()
    with unchanged(), pytest.raises(redis.exceptions.ResponseError, match="used memory"):
        scripts.publish(**arguments)
    assert listener() == []


def test_reads_work_without_memory(scripts, db, full_memory):
    filled(db, scripts)
    for call in (scripts.subscribe, scripts.history, scripts.position):
        call()
    full_memory()
    assert scripts.subscribe(since=("k", 1)).offsets == [2, 3]
    assert scripts.history(after=1)[1] == 3
    assert scripts.position() == ("k", 3, 1, 3)
    assert scripts.publish(id="op-1") == ("k", 2, 1), "a retry needs no memory"


def test_new_topic_cannot_be_joined_without_memory(scripts, unchanged, full_memory):
    scripts.subscribe()
    full_memory()
    with unchanged(), pytest.raises(redis.exceptions.ResponseError, match="used memory"):
        scripts.subscribe("shop:new")


def test_read_only_redis(scripts, db, server, unchanged):
    filled(db, scripts)
    scripts.subscribe("shop:1")
    db.execute_command("REPLICAOF", "127.0.0.1", "1")
    try:
        with unchanged(), pytest.raises(redis.exceptions.ReadOnlyError):
            scripts.publish()
        with unchanged(), pytest.raises(redis.exceptions.ReadOnlyError):
            scripts.subscribe("shop:new")
        assert scripts.subscribe(since=("k", 2)).offsets == [3]
    finally:
        db.execute_command("REPLICAOF", "NO", "ONE")


@pytest.fixture
def limited(db, server):
    """Takes rights from a user of Redis, and gives a client that is this user."""
    clients = []

    def limit(rule):
        rules = ["on", "nopass", "+@all", "~*" if not rule.startswith("%") else rule,
                 "&*" if not rule.startswith("&") else rule]
        if rule.startswith("-"):
            rules.append(rule)
        db.execute_command("ACL", "SETUSER", "gateway", "reset", *rules)
        if not clients:
            clients.append(server.client(username="gateway", password="any"))
        return clients[0]

    yield limit
    for client in clients:
        client.close()
    db.execute_command("ACL", "DELUSER", "gateway")


def terms(now_ms=1):
    return f"{now_ms} 200 300 86400 300 k2"


@pytest.mark.parametrize("rule", ["&other", "-publish", "-hset", "-xadd", "-expire", "-del", "-set", "%R~shop:*"])
@pytest.mark.parametrize("start", ["no position", "first event"])
def test_user_without_a_right(scripts, limited, unchanged, rule, start):
    """An ACL that forbids one command of the script must not leave half an event."""
    if start == "first event":
        scripts.subscribe(epoch="k")
    client = limited(rule)
    with unchanged(), pytest.raises(redis.exceptions.RedisError, match="may not|ACL|permission"):
        client.eval(source("publish"), 3, KEYS.log, KEYS.meta, KEYS.seen("new"), "shop:42", "e", "{}", "new", "ab",
                    terms(), scripts.run, "")


@pytest.mark.parametrize("rule", ["&other", "-publish"])
@pytest.mark.parametrize("more", [[], ["f", "{}", "two", "cd"]], ids=["one event", "two events"])
@pytest.mark.parametrize("id", ["new", "-"])
def test_a_right_to_send_that_is_lost_in_mid_epoch_leaves_no_half_event(scripts, limited, unchanged, rule, more, id):
    """The event was logged and its id remembered, and nobody was told: its retry was a duplicate."""
    keys = [KEYS.log, KEYS.meta, KEYS.seen("new") if id == "new" else KEYS.meta, *([KEYS.seen("two")] if more else [])]
    words = ["shop:42", "e", "{}", id, "ab" if id == "new" else "", terms(), scripts.run, "", *more]
    scripts.publish()
    client = limited(rule)
    with unchanged(), pytest.raises(redis.exceptions.RedisError, match="may not"):
        client.eval(source("publish"), len(keys), *keys, *words)
    told = limited("&*").eval(source("publish"), len(keys), *keys, *words).split()
    assert told[1::3] == ([b"2", b"3"] if more else [b"2"]) and set(told[2::3]) == {b"0"}


@pytest.mark.parametrize("rule", ["&other", "-publish"])
def test_a_command_that_may_not_send_its_event_changes_nothing(db, limited, unchanged, tmp_path, rule):
    """A vote was counted and answered 500, and the room did not hear of it."""
    header = """-- @command  try
-- @summary  For this test.
-- @allow    service
-- @arg      shopId id
-- @key      hash   shop:{shopId}#hash
-- @topic    shop:{shopId}
-- @returns  {}
-- @cost     O(1)
"""
    (tmp_path / "try.lua").write_text(header + "write('HSET', key.hash, 'a', 1) emit('shop:42', 'e', {}) return {}\n")
    Commands(db, tmp_path).call("try", shopId="42", id="first")
    client = limited(rule)
    with unchanged(), pytest.raises(redis.exceptions.RedisError, match="may not send"):
        Commands(client, tmp_path).call("try", shopId="42", id="second")
    assert Commands(limited("&*"), tmp_path).call("try", shopId="42", id="second") == ({}, 0)


# The script cache


def test_unknown_script_is_noscript_and_eval_does_the_same(scripts, db):
    first = scripts.publish()
    sha = db.script_load(source("position"))
    db.script_flush()
    with pytest.raises(redis.exceptions.NoScriptError):
        db.evalsha(sha, 2, KEYS.log, KEYS.meta, scripts.run)
    by_text = db.eval(source("position"), 2, KEYS.log, KEYS.meta, scripts.run)
    assert by_text == [first[0].encode(), b"1", 1, 1, None]
    assert db.evalsha(sha, 2, KEYS.log, KEYS.meta, scripts.run) == by_text
