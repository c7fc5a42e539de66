"""What a body may not do is refused before anything is written, with the file's line."""

import json

import pytest
import redis

from Fixtures.scripts.command_scripts import Commands

SCRIPT = """-- @command  try
-- @summary  For these tests.
-- @allow    user|service
-- @arg      shopId id
-- @arg      what   string 0..400 optional
-- @key      box    shop:{shopId}#box
-- @key      text   shop:{shopId}#text
-- @key      hash   shop:{shopId}#hash
-- @key      rank   shop:{shopId}#rank
-- @key      list   shop:{shopId}#list
-- @key      stream shop:{shopId}#stream
-- @topic    shop:{shopId}
-- @topic    user:*
-- @calls    other
-- @returns  {}
-- @cost     O(1)
"""
LINE = len(SCRIPT.splitlines()) + 2


@pytest.fixture
def trial(db, tmp_path):
    """Runs a body, which begins on line LINE of its file, beside data of every type."""
    db.set("shop:42#text", "words")
    db.hset("shop:42#hash", mapping={"n": 5, "text": "words", "half": "0.5"})
    db.zadd("shop:42#rank", {"a": 1})
    db.rpush("shop:42#list", "x")
    db.xadd("shop:42#stream", {"a": "b"}, id="5-5")

    def run(body, header=SCRIPT, **options):
        (tmp_path / "try.lua").write_text(header + "\n" + body + "\n")
        commands = Commands(db, tmp_path)
        run.before = commands.text("try").decode().split(body)[0].count("\n") + 1
        return commands.call("try", **{"shopId": "42", **options})

    return run


# Before the first write everything that can be checked is checked

WRONG_WRITES = [
    "write('SADD')", "write()", "write(nil, key.box)", "write('SADD', key.box)", "write('SADD', key.box, nil)",
    "write('SADD', key.box, 'a', nil, 'b')", "write('SADD', key.box, {})", "write('SADD', key.box, true)",
    "write('NOSUCH', key.box)", "write('hset', key.hash, 'a', 'b')", "write('FLUSHALL')",
    "write('PUBLISH', key.box, 'x')",
    "write('EVAL', key.box, 'x')", "write('RENAME', key.box, key.text)", "write('SADD key', key.box, 'x')",
    "write('EXPIRE::E SET', key.box, 'x')",
    "write('HSET', key.hash, 'a')", "write('HSET', key.hash, 'a', 'b', 'c')", "write('HSET', key.hash)",
    "write('SET', key.text)", "write('SET', key.text, 'a', 'EX')", "write('SET', key.text, 'a', 'EX', 0)",
    "write('SET', key.text, 'a', 'EX', 'soon')", "write('SET', key.text, 'a', 'EX', 5, 'PX', 5)",
    "write('SET', key.text, 'a', 'NX', 'XX')", "write('SET', key.text, 'a', 'GET')", "write('SET', key.text, 'a', 'b')",
    "write('EXPIRE', key.hash)", "write('EXPIRE', key.hash, 'soon')", "write('EXPIRE', key.hash, 1.5)",
    "write('EXPIRE', key.hash, 9e18)", "write('EXPIRE', key.hash, 0 / 0)", "write('PEXPIRE', key.hash, -1)",
    "write('ZADD', key.rank, 'a', 'b')", "write('ZADD', key.rank, 1)", "write('ZADD', key.rank, 1, 'a', 2)",
    "write('ZADD', key.rank, 'nan', 'a')", "write('ZADD', key.rank, 'NX', 'GT', 1, 'a')",
    "write('ZADD', key.rank, 'INCR', 1, 'a')", "write('ZINCRBY', key.rank, 'a', 1)",
    "write('ZREMRANGEBYSCORE', key.rank, 'a', 1)", "write('ZREMRANGEBYRANK', key.rank, 0.5, 1)",
    "write('INCRBY', key.box, 'x')", "write('INCRBY', key.box, 1e16)", "write('HINCRBY', key.hash, 'n', 0.5)",
    "write('HINCRBY', key.hash, 'n', '05')", "write('LTRIM', key.list, 'a', 1)", "write('LREM', key.list, 'a', 'b')",
    "write('XADD', key.stream, 'a', 'b')", "write('XADD', key.stream, '*', 'a')", "write('XADD', key.stream, '6-0')",
    "write('XADD', key.stream, 'MAXLEN', 'x', '*', 'a', 'b')", "write('XTRIM', key.stream, 'MINID', 5)",
    "write('SPOP', key.box, -1)", "write('SETEX', key.text, 'a', 5)", "write('PERSIST', key.text, 'x')",
    "local many = {} for n = 1, 5000 do many[n] = n end write('SADD', key.box, unpack(many))",
]


@pytest.mark.parametrize("wrong", WRONG_WRITES)
def test_a_write_with_wrong_words_is_refused_with_its_line(trial, unchanged, wrong):
    """The writes before it stayed, and the answer was `internal` without a place."""
    with unchanged(), pytest.raises(redis.ResponseError, match="^FAULT user_script:") as failure:
        trial(f"write('SADD', key.box, 'member')\n{wrong}\nreturn {{}}")
    assert f"user_script:{trial.before + 1}: " in str(failure.value)


@pytest.mark.parametrize("wrong", [
    "write('INCRBY', key.text, 1)", "write('INCR', key.text)", "write('HINCRBY', key.hash, 'text', 1)",
    "write('HINCRBY', key.hash, 'half', 1)", "write('HINCRBYFLOAT', key.hash, 'text', 0.5)",
    "write('INCRBYFLOAT', key.text, 1)", "write('SADD', key.hash, 'x')", "write('HSET', key.list, 'a', 'b')",
    "write('LPUSH', key.rank, 'a')", "write('APPEND', key.hash, 'a')", "write('XADD', key.stream, '5-5', 'a', 'b')",
    "write('XADD', key.stream, '4-9', 'a', 'b')", "write('SET', key.hash, 'a', 'NX') write('APPEND', key.hash, 'b')",
    # What earlier writes of the same run will have done counts.
    "write('SET', key.box, 'x')",
    "write('DEL', key.hash) write('SADD', key.hash, 'x') write('HSET', key.hash, 'a', 'b')",
    "write('SET', key.text, 'x') write('INCR', key.text)",
    "write('HSET', key.hash, 'n', 'x') write('HINCRBY', key.hash, 'n', 1)",
    "write('HINCRBYFLOAT', key.hash, 'n', 0.5) write('HINCRBY', key.hash, 'n', 1)",
    "write('XADD', key.stream, '7-0', 'a', 'b') write('XADD', key.stream, '6-0', 'a', 'b')",
    "write('APPEND', key.text, '1') write('INCR', key.text)",
    "write('HSETNX', key.hash, 'm', 'x') write('HINCRBY', key.hash, 'm', 1)",
])
def test_a_write_that_its_key_refuses_is_found_before_the_first(trial, unchanged, wrong):
    with unchanged(), pytest.raises(redis.ResponseError, match="^BADKEY "):
        if "key.box, 'x'" in wrong:
            trial(f"{wrong} write('SADD', key.box, 'member') return {{}}")
        else:
            trial(f"write('SADD', key.box, 'member') {wrong} return {{}}")


@pytest.mark.parametrize("right, key, value", [
    ("write('DEL', key.text) write('INCR', key.text)", "text", b"1"),
    ("write('SET', key.text, 7) write('INCRBY', key.text, -9)", "text", b"-2"),
    ("write('DEL', key.hash) write('SET', key.hash, 'x') write('APPEND', key.hash, 'y')", "hash", b"xy"),
    ("write('INCRBYFLOAT', key.box, 0.5)", "box", b"0.5"),
    ("write('SET', key.text, 'a', 'EX', 60, 'XX')", "text", b"a"),
    ("write('UNLINK', key.text, key.hash)", "hash", None),
    ("write('SET', key.box, 1e15)", "box", b"1000000000000000"), ("write('SETEX', key.box, 60, 0.1)", "box",
                                                                  b"0.10000000000000001"),
])
def test_right_writes_are_made(trial, db, right, key, value):
    trial(f"{right} return {{}}")
    assert db.get(f"shop:42#{key}") == value


@pytest.mark.parametrize("right", [
    "write('HINCRBY', key.hash, 'n', 2) write('HINCRBY', key.hash, 'n', 2)", "write('HDEL', key.hash, 'text') "
    "write('HINCRBY', key.hash, 'text', 1)", "write('HINCRBYFLOAT', key.hash, 'half', 0.25)",
    "write('ZADD', key.rank, 'GT', 'CH', 5, 'a')", "write('ZADD', key.rank, '-inf', 'a', 1.5, 'b')",
    "write('ZREMRANGEBYSCORE', key.rank, '(1', '+inf')", "write('XADD', key.stream, 'MAXLEN', '~', 5, '5-6', 'a', 'b')",
    "write('XADD', key.stream, '*', 'a', 'b')", "write('XTRIM', key.stream, 'MAXLEN', 0)",
    "write('XDEL', key.stream, '5-5')",
    "write('LTRIM', key.list, 0, -1)", "write('SPOP', key.box)", "write('ZPOPMIN', key.rank, 2)",
    "write('EXPIRE', key.hash, 5) write('PERSIST', key.hash)", "write('PEXPIREAT', key.hash, 4102444800000)",
])
def test_every_form_of_a_write_is_taken(trial, right):
    assert trial(f"{right} return {{}}") == ({}, 0)


@pytest.mark.parametrize("answer", ["5", "'text'", "true", "false", "array{1}", "raw('5')", "raw('{')",
                                    "raw('[1]')", "{a = raw('x')}", "{a = 0 / 0}", "{a = string.len}"])
def test_an_answer_that_is_no_object_is_found_before_the_first_write(trial, unchanged, answer):
    """`return 5` was `internal`, and the writes stayed."""
    with unchanged(), pytest.raises(redis.ResponseError, match="FAULT|nonexistent"):
        trial(f"write('SADD', key.box, 'a') return {answer}")


def test_an_answer_of_too_many_values_is_found_before_the_first_write(trial, unchanged):
    body = "local list = {} for n = 1, %d do list[n] = n end write('SADD', key.box, 'a') return {list = array(list)}"
    with unchanged(), pytest.raises(redis.ResponseError, match="more than 10000 values"):
        trial(body % 9_999)
    assert len(trial(body % 9_998)[0]["list"]) == 9_998


# What a body reaches


@pytest.mark.parametrize("use, told", [
    ("key.boxx", "key.boxx is no @key of the header"), ("args.shopID", "args.shopID is no @arg of the header"),
    ("random", "nonexistent global variable 'random'"), ("redis.call('DEL', key.box)", "'redis' (a nil value)"),
    ("KEYS[1]", "'KEYS' (a nil value)"), ("ARGV[1]", "'ARGV' (a nil value)"), ("_G.redis", "'_G' (a nil value)"),
    ("getfenv()", "'getfenv' (a nil value)"), ("loadstring('x')", "'loadstring' (a nil value)"),
    ("publish_event({})", "'publish_event' (a nil value)"), ("queued[1]", "'queued' (a nil value)"),
    ("epochs()", "'epochs' (a nil value)"), ("write_rest({}, 0)", "'write_rest' (a nil value)"),
    ("publishing()", "'publishing' (a nil value)"), ("log_event('a')", "'log_event' (a nil value)"),
    ("run(print)", "'run' (a nil value)"), ("os.clock()", "'os' (a nil value)"),
    ("read('GET', 'user:bob#secret')", "user:bob#secret is no @key of the header"),
    ("read('MGET', key.text, 'user:bob#secret')", "user:bob#secret is no @key of the header"),
    ("read('SET', key.text, 'x')", "SET is no command to read by"), ("read('KEYS', key.text)", "KEYS is no command"),
    ("read('EVAL', key.text)", "EVAL is no command"),
    ("read('HGET', key.text, nil)", "a word is neither text nor a number"),
    ("read('XINFO', 'STREAM', 'user:bob#inbox')", "user:bob#inbox is no @key"),
    ("write('SET', 'user:bob#secret', 'x')", "user:bob#secret is no @key of the header"),
    ("write('DEL', key.box, 'user:bob#secret')", "user:bob#secret is no @key of the header"),
    ("write('SET', topic_log('shop:42'), 'x')", "shop:42#log is no @key of the header"),
    ("emit('shop:43', 'e', {})", "which no @topic names"),
    ("emit(nil, 'e', {})", "the topic is nil"), ("later('others', {})", "which no @calls names"),
    ("later(nil, {})", "which no @calls names"),
    ("1; key.box = 'user:bob#secret'; write('SET', key.box, 'x')", "user:bob#secret is no @key of the header"),
])
def test_what_the_header_does_not_name_is_out_of_reach(trial, db, unchanged, use, told):
    """`args.shopID` was silently nil, `key.boxx` failed without a place, `random` was empty, and
    another's key was written."""
    with unchanged(), pytest.raises(redis.ResponseError, match="FAULT|nonexistent") as failure:
        trial(f"write('SADD', key.box, 'member')\nlocal used = {use}\nreturn {{}}")
    assert told in str(failure.value), failure.value
    assert f"user_script:{trial.before + 1}: " in str(failure.value), failure.value


def test_a_body_may_set_no_globals(trial, db, unchanged):
    with unchanged(), pytest.raises(redis.ResponseError, match="global|readonly table"):
        trial("write('SADD', key.box, 'member') shared = 1 return {}")


def test_optional_arguments_and_logs_may_be_read(trial, db):
    db.xadd("feed:7#log", {"a": "b"})
    assert trial("return {what = args.what or null, n = read('XLEN', topic_log('feed:7')), m = read('EXISTS', key.box)}"
                 )[0] == {"what": None, "n": 1, "m": 0}


@pytest.mark.parametrize("use", ["write('SADD', key.box, 'x')", "emit('shop:42', 'e', {})", "emit('user:7', 'e', {})",
                                 "later('other', {})"])
def test_a_readonly_script_only_reads(trial, unchanged, use):
    """A @readonly script wrote, and a retry of it wrote again."""
    header = SCRIPT.replace("-- @cost", "-- @readonly\n-- @cost")
    with unchanged(), pytest.raises(redis.ResponseError, match="@readonly"):
        trial(f"{use} return {{}}", header=header)
    assert trial("return {n = read('SCARD', key.box)}", header=header)[0] == {"n": 0}


# Events and calls are bounded


@pytest.mark.parametrize("effect", ["emit('user:7', 'e', {})", "emit('shop:42', 'e', {})", "later('other', {})"])
def test_events_and_calls_are_bounded(trial, unchanged, db, effect):
    """One call put 20,000 events into the outbox."""
    with unchanged(), pytest.raises(redis.ResponseError, match="more than 1000 events and calls"):
        trial(f"for n = 1, 1001 do {effect} end return {{}}")
    trial(f"for n = 1, 1000 do {effect} end return {{}}")


def test_the_data_of_events_is_bounded_together(trial, unchanged):
    with unchanged(), pytest.raises(redis.ResponseError, match="more than 1 MiB of data"):
        trial("for n = 1, 20 do emit('user:7', 'e', {text = string.rep('x', 60000)}) end return {}")


def test_the_reply_tells_what_events_and_calls_cost(trial, db, tmp_path):
    """So that a caller can be made to pay for them: an event is one publish, a call six."""
    trial("return {}")
    commands = Commands(db, tmp_path)
    (tmp_path / "try.lua").write_text(
        SCRIPT + "\nemit('shop:42', 'e', {}) emit('user:7', 'e', {}) later('other', {}) return {}\n")
    seen = []
    original, commands.db = commands.db, commands.db
    evaluate = original.evalsha
    original.evalsha = lambda *words: seen.append(evaluate(*words)) or seen[-1]
    commands.call("try", shopId="42")
    assert seen == [b"8 {}"]
