"""What command.lua promises to every script: all or nothing, idempotency, exact JSON, the outbox."""

import json

import pytest
import redis

from Fixtures.scripts.command_scripts import Commands, Failed
from Fixtures.scripts.lua_scripts import NOW_MS

SCRIPT = """-- @command  try
-- @summary  For these tests.
-- @allow    user|service
-- @arg      shopId id
-- @arg      what   string 0..400 optional
-- @arg      amount number optional
-- @key      hash   shop:{shopId}#hash
-- @key      list   shop:{shopId}#list
-- @topic    shop:{shopId}
-- @topic    user:*
-- @calls    other
-- @errors   not_found, full 422
-- @returns  {}
-- @cost     O(1)
"""


@pytest.fixture
def trial(db, tmp_path):
    """Runs a body under a header of every right."""

    def run(body, header=SCRIPT, **options):
        (tmp_path / "try.lua").write_text(header + "\n" + body + "\n")
        commands = Commands(db, tmp_path)
        return commands.call("try", **{"shopId": "42", **options})

    return run


def test_answer_and_writes(trial, db):
    answer = trial("write('HSET', key.hash, 'a', 1) emit('shop:' .. args.shopId, 'done', {n = 1}) return {ok = true}")
    assert answer == ({"ok": True}, 0)
    assert db.hgetall("shop:42#hash") == {b"a": b"1"}
    assert Commands(db).log("shop:42") == [("done", {"n": 1})]


@pytest.mark.parametrize("end, code", [
    ("fail('not_found', 'no such thing')", "not_found"),
    ("fail('full', 'no room')", "full"),
])
def test_nothing_is_written_after_fail(trial, unchanged, end, code):
    with unchanged(), pytest.raises(Failed) as failure:
        trial(f"write('HSET', key.hash, 'a', 1) emit('shop:42', 'done', {{}}) later('other', {{}}) {end}", id="op-1")
    assert failure.value.code == code


@pytest.mark.parametrize("end", [
    "local missing = nil; return missing.field",
    "emit('shop:43', 'done', {})",
    "emit('shop:42', 'bad name', {})",
    "emit('shop:42', 'done', 'text')",
    "emit('user:7', 'bad name', {})",
    "later('unknown', {})",
    "return {n = 0 / 0}",
    "return {n = 1 / 0}",
    "write('HSET', key.list, 'a', 1) return {}",
    "read('GET', key.list)",
    "read('NOSUCHCOMMAND', key.list)",
])
def test_nothing_is_written_after_a_fault(trial, db, unchanged, end):
    db.rpush("shop:42#list", "x")
    with unchanged(), pytest.raises(redis.ResponseError):
        trial(f"write('HSET', key.hash, 'a', 1) emit('shop:42', 'done', {{}}) emit('user:7', 'e', {{}}) {end}")


@pytest.mark.parametrize("broken", ["#log", "#meta"])
def test_nothing_is_written_when_the_log_cannot_be(trial, db, unchanged, broken):
    db.set("shop:42" + broken, "text")
    with unchanged(), pytest.raises(redis.ResponseError, match="BADKEY"):
        trial("write('HSET', key.hash, 'a', 1) emit('shop:42', 'done', {}) return {}")


def test_nothing_is_written_when_memory_is_full(trial, db, unchanged):
    trial("return {}")
    db.config_set("maxmemory", 1)
    with unchanged(), pytest.raises(redis.ResponseError, match="maxmemory"):
        trial("write('HSET', key.hash, 'a', 1) emit('shop:42', 'e', {}) emit('user:1', 'e', {}) return {}", id="op-1")


def test_full_outbox_refuses_before_writing(trial, db, unchanged):
    trial("emit('user:7', 'e', {}) return {}")
    with unchanged(), pytest.raises(Failed) as failure:
        trial("write('HSET', key.hash, 'a', 1) emit('user:7', 'e', {}) return {}", outbox_max=1)
    assert failure.value.code == "unavailable"


def test_retry_returns_the_first_answer_and_changes_nothing(trial, db, unchanged):
    body = "write('HINCRBY', key.hash, 'n', 1) emit('shop:42', 'done', {}) return {n = now_ms}"
    first = trial(body, id="op-1")
    with unchanged():
        assert trial(body, id="op-1", now_ms=NOW_MS + 5_000) == (first[0], 1)
    assert trial(body, id="op-2")[1] == 0
    assert db.hgetall("shop:42#hash") == {b"n": b"2"}


def test_an_id_belongs_to_one_request(trial, unchanged):
    trial("return {}", id="op-1", what="a")
    with unchanged(), pytest.raises(Failed) as failure:
        trial("return {}", id="op-1", what="b")
    assert failure.value.code == "conflict"


def test_an_id_belongs_to_one_user(trial):
    assert trial("return {}", id="op-1", user="u1") == ({}, 0)
    assert trial("return {}", id="op-1", user="u2") == ({}, 0)


def test_a_failed_operation_may_be_tried_again(trial, db):
    with pytest.raises(Failed):
        trial("if read('EXISTS', key.hash) == 0 then fail('not_found', 'none') end return {}", id="op-1")
    db.hset("shop:42#hash", "a", "1")
    assert trial("if read('EXISTS', key.hash) == 0 then fail('not_found', 'none') end return {}", id="op-1") == ({}, 0)


def test_several_events_on_one_topic_keep_their_order(trial, db):
    trial("for n = 1, 5 do emit('shop:42', 'e', {n = n}) end return {}")
    assert Commands(db).log("shop:42") == [("e", {"n": n}) for n in range(1, 6)]
    assert db.hget("shop:42#meta", "offset") == b"5"


def test_foreign_topics_and_calls_wait_in_the_outbox(trial, db):
    with db.pubsub() as link:
        link.subscribe("#outbox")
        link.get_message(timeout=5)
        trial("emit('user:7', 'e', {n = 1}) later('other', {a = 'b'}) return {}")
        assert link.get_message(timeout=5)["data"] == b"#outbox"
    assert Commands(db).outbox() == [("user:7", "e", {"n": 1}), ("other", {"a": "b"})]


@pytest.mark.parametrize("lua, value", [
    ("1", 1), ("-1", -1), ("0", 0), ("-0", 0), ("2^53 - 1", 2**53 - 1), ("1795205000123", 1795205000123),
    ("0.1", 0.1), ("34 * 0.4", 34 * 0.4), ("1/3", 1 / 3), ("1e300", 1e300), ("5e-324", 5e-324), ("2^53", 2**53),
    ("array{}", []), ("array{1, 'a', array{}}", [1, "a", []]), ("{}", {}), ("null", None), ("true", True),
    ("raw('[1.0]')", [1.0]), ("'\\\\u{1}\"/'", '\\u{1}"/'), ("'\\195\\169'", "é"), ("'\\237\\160\\128'", "???"),
    ("'\\192\\128'", "??"), ("'\\244\\144\\128\\128'", "????"), ("'\\0\\31\\127'", "\0\x1f\x7f"),
])
def test_json_is_exact(trial, lua, value):
    answer, _ = trial(f"return {{value = {lua}}}")
    assert answer == {"value": value} and type(answer["value"]) is type(value)


@pytest.mark.parametrize("text, value", [
    ("12", 12), ("-1.5", -1.5), ("1e3", 1000), ("0x10", None), ("nan", None), ("inf", None), ("-inf", None),
    ("1e999", None), ("", None), (" 1", None), ("1_0", None), ("--1", None),
])
def test_number_reads_finite_decimals_only(trial, text, value):
    answer, _ = trial(f"return {{value = number('{text}') or null}}")
    assert answer == {"value": value}


@pytest.mark.parametrize("text, kept", [
    ("{}", True), ('{"a":[1,-0.5,1e3,true,false,null,"1.","nan","\\\\\\"}"]}', True), ('{"a":"é"}', True),
    ('{\n "a": 0}', True), ("[]", False), ("", False), ("{", False), (" {}", False), ('{"a":1}}', False),
    ('{"a":nan}', False), ('{"a":Infinity}', False), ('{"a":-inf}', False), ('{"a":0x10}', False), ('{"a":1.}', False),
    ('{"a":01}', False), ('{"a":"\n"}', False), ('{"a":"\0"}', False), (b'{"a":"\xff"}', False),
])
def test_stored_objects_are_json_or_nothing(trial, db, text, kept):
    db.hset("shop:42#hash", "o", text)
    answer, _ = trial("return {o = stored_object(read('HGET', key.hash, 'o')) or false}")
    assert answer == {"o": json.loads(text) if kept else False}


def test_topic_log_is_the_name_of_a_log(trial):
    assert trial("return {name = topic_log('feed:7')}", prefix="app:")[0] == {"name": "app:feed:7#log"}
    tagged = trial("return {log = topic_log('feed:7:8'), latest = topic_latest('feed:7')}", prefix="app:{")[0]
    assert tagged == {"log": "app:feed:{7:8}#log", "latest": "app:feed:{7}#latest"}, "ids are hash tags"


@pytest.mark.parametrize("ms, text", [
    (0, "1970-01-01T00:00:00.000Z"), (951782399999, "2000-02-28T23:59:59.999Z"),
    (951868800000, "2000-03-01T00:00:00.000Z"), (1709164800001, "2024-02-29T00:00:00.001Z"),
    (NOW_MS, "2026-11-20T20:03:20.123Z"), (4102444799999, "2099-12-31T23:59:59.999Z"),
])
def test_iso(trial, ms, text):
    assert trial(f"return {{at = iso({ms})}}")[0] == {"at": text}


def test_names_and_roles(trial):
    answer, _ = trial("return {what = args.what or null, user = caller.user or null, role = caller.role, at = now_ms}",
                      user="u1", role="user")
    assert answer == {"what": None, "user": "u1", "role": "user", "at": NOW_MS}


@pytest.mark.parametrize("told, role, guest, name", [
    ("user", "user", False, None), ("guest", "user", True, None), ("user dana", "user", False, "dana"),
    ("guest guest  x", "user", True, "guest  x"), ("user service", "user", False, "service"),
    ("service", "service", False, None)])
def test_what_the_token_says_of_its_user(trial, told, role, guest, name):
    answer, _ = trial("return {role = caller.role, guest = caller.guest, name = caller.name or null}",
                      user="u1", role=told)
    assert answer == {"role": role, "guest": guest, "name": name}


def test_scripts_leak_no_globals(trial, db):
    before = db.eval("local n = 0 for name in pairs(_G) do n = n + 1 end return n", 0)
    trial("return {}")
    assert db.eval("local n = 0 for name in pairs(_G) do n = n + 1 end return n", 0) == before


# Events that are kept nowhere


@pytest.fixture
def ear(db):
    """What was told on any topic since it was last asked: (topic, message)."""
    link = db.pubsub(ignore_subscribe_messages=True)
    link.psubscribe("*:*")
    link.get_message(timeout=5)

    def heard():
        link.ping()
        messages = []
        while (message := link.parse_response(block=True))[0] != b"pong":
            messages.append((message[2].decode(), message[3].decode()))
        return messages

    yield heard
    link.close()


def test_what_is_told_now_is_heard_and_kept_nowhere(trial, db, ear):
    """On home topics and foreign ones, in order, behind the writes; no log, no position, no outbox."""
    answer = trial("write('HSET', key.hash, 'a', 1) tell_now('shop:42', 'one', {n = 1}) "
                   "tell_now('user:u1', 'two', '{\"n\":2}') return {}")
    assert answer == ({}, 0)
    assert ear() == [("shop:42", '{"event":"one","data":{"n":1}}'), ("user:u1", '{"event":"two","data":{"n":2}}')]
    assert list(db.scan_iter("*")) == [b"shop:42#hash"]


@pytest.mark.parametrize("words", [
    "'shop:43', 'e', {}", "'shop', 'e', {}", "'user:', 'e', {}", "'user:a b', 'e', {}", "'other:1', 'e', {}",
    "nil, 'e', {}", "'user:1', 'bad name', {}", "'user:1', 'e', 'no object'", "'user:1', 'e', nil"])
def test_what_cannot_be_told_now_ends_the_script_with_nothing_done(trial, db, ear, unchanged, words):
    with unchanged(), pytest.raises(redis.ResponseError, match="FAULT"):
        trial(f"write('HSET', key.hash, 'a', 1) tell_now('shop:42', 'one', {{}}) tell_now({words})")
    assert ear() == []


def test_a_retry_does_not_tell_again(trial, ear):
    for _ in range(2):
        trial("tell_now('user:u1', 'one', {}) return {}", id="op-1")
    assert len(ear()) == 1


def test_one_run_tells_a_thousand_at_most(trial, ear):
    with pytest.raises(redis.ResponseError, match="more than 1000 events"):
        trial("for n = 1, 1001 do tell_now('user:u1', 'one', {}) end return {}")
    assert ear() == []
