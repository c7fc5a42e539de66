"""emit_each, admit and expel: what a body says of many topics at once, and of who may hear them."""

import pytest
import redis

from Fixtures.scripts.command_scripts import Commands, Failed
from Fixtures.scripts.lua_scripts import Loaded, parts_of
from Scripts.test_rights import Rights

HEADER = """-- @command  try
-- @summary  For these tests.
-- @allow    user|service
-- @arg      groupId id
-- @arg      who     user optional
-- @key      box     group:{groupId}#box
-- @topic    group:{groupId}
-- @topic    user:*
-- @members
-- @returns  {}
-- @cost     O(n) in the topics
"""


@pytest.fixture
def trial(db, tmp_path):
    """Runs a body under a header that may change members."""

    def run(body, header=HEADER, **options):
        (tmp_path / "try.lua").write_text(header + "\n" + body + "\n")
        commands = Commands(db, tmp_path)
        return commands.call("try", **{"groupId": "7", **options})

    return run


# emit_each


def test_one_entry_tells_many_topics(trial, db):
    trial("emit_each({'user:a', 'group:7', 'user:b'}, 'said', {text = 'hi'}) return {}")
    assert db.xlen("#outbox") == 1
    assert Commands(db).outbox() == [("user:a", "said", {"text": "hi"}), ("user:b", "said", {"text": "hi"})]
    assert Commands(db).log("group:7") == [("said", {"text": "hi"})], "a home topic is told in the same step"


def test_each_topic_may_have_data_of_its_own(trial, db):
    trial("emit_each({'user:a', 'user:b', 'user:a'}, 'said', {{n = 1}, '{\"n\":2}', {n = 3}}) return {}")
    assert Commands(db).outbox() == [
        ("user:a", "said", {"n": 1}), ("user:b", "said", {"n": 2}), ("user:a", "said", {"n": 3})]


def test_text_that_is_several_objects_stays_one_topics_affair(trial, db):
    """Joined by commas, the first text would have given its second object to the next topic."""
    trial("emit_each({'user:a', 'user:b'}, 'said', {'{},{\"x\":1}', '{\"n\":2}'}) return {}")
    fields = db.xrange("#outbox")[0][1]
    assert fields[b"l"] == b"10 7" and fields[b"d"][10:] == b'{"n":2}'


def test_names_of_events_are_counted_as_often_as_they_are_kept(trial, monkeypatch):
    """Only the data were: a long name told many topics of little else."""
    replies, call = [], Loaded.call
    monkeypatch.setattr(Loaded, "call", lambda *words: replies.append(call(*words)) or replies[-1])
    name, topics = "n" * 64, ", ".join(f"'user:{number}'" for number in range(100))
    trial(f"emit_each({{{topics}}}, '{name}', {{}}) emit('group:7', '{name}', {{}}) return {{}}")
    words = replies[0].split(b" ")[0] if isinstance(replies[0], bytes) else replies[0][2]
    assert int(words.split(b":")[1]) == 101 * (64 + len("{}"))


def test_no_topics_are_no_entry(trial, db):
    trial("emit_each({}, 'said', {}) emit_each(array(), 'said', array()) return {}")
    assert db.xlen("#outbox") == 0


@pytest.mark.parametrize("body", [
    "emit_each({'order:1'}, 'said', {})",
    "emit_each({'user:a', 5}, 'said', {})",
    "emit_each({'user:a b'}, 'said', {})",
    "emit_each('user:a', 'said', {})",
    "emit_each({'user:a'}, 'two words', {})",
    "emit_each({'user:a', 'user:b'}, 'said', {{n = 1}})",
    "local t = {} for n = 1, 1001 do t[n] = 'user:' .. n end emit_each(t, 'said', {})",
    "emit_each({'user:a'}, 'said', {text = string.rep('x', 1048577)})",
    "local t = {} for n = 1, 1000 do t[n] = 'user:' .. n end emit_each(t, 'said', {text = string.rep('x', 17000)})",
])
def test_what_may_not_be_told_changes_nothing(trial, unchanged, body):
    with unchanged(), pytest.raises(redis.ResponseError):
        trial("write('SET', key.box, 1) " + body + " return {}")


def test_who_calls_pays_for_each_topic(db, tmp_path):
    """The answer says how much a call led to; an entry for many topics once counted as one."""
    (tmp_path / "try.lua").write_text(
        HEADER + "\nemit_each({'user:a', 'user:b', 'group:7'}, 'said', {}) admit('group:7', 'bob') return {}\n")
    commands, replies = Commands(db, tmp_path), []
    evalsha = db.evalsha
    db.evalsha = lambda *words: replies.append(evalsha(*words)) or replies[-1]
    commands.call("try", groupId="7")
    assert parts_of(replies[0])[2] == 4


def test_a_call_costs_who_calls_as_much_as_six_publishes(db, tmp_path):
    """A call was charged like one publish of 100 us, while the script that it calls took Redis 600 us."""
    for name, body in {"few": "emit('user:a', 'said', {}) for _ = 1, 2 do later('remember', {}) end",
                       "many": "for _ = 1, 1000 do later('remember', {}) end",
                       "more": "for _ = 1, 1001 do later('remember', {}) end"}.items():
        header = HEADER.replace("@command  try", f"@command  {name}") + "-- @calls remember\n"
        (tmp_path / f"{name}.lua").write_text(f"{header}\n{body} return {{}}\n")
    commands, replies = Commands(db, tmp_path), []
    evalsha = db.evalsha
    db.evalsha = lambda *words: replies.append(evalsha(*words)) or replies[-1]
    for name in ("few", "many"):
        commands.call(name, groupId="7")
    assert [parts_of(reply)[2] for reply in replies] == [13, 6_000]
    with pytest.raises(redis.ResponseError, match="more than 1000 events and calls"):
        commands.call("more", groupId="7")


# admit and expel


def test_who_is_taken_in_and_out_is_known_everywhere(trial, db):
    trial("admit('group:7', 'ann') admit('group:7', 'bob') return {}")
    assert db.smembers("group:7#members") == {b"ann", b"bob"}
    assert Rights(db).changes()[2] == []
    trial("expel('group:7', 'ann') expel('group:7', 'bob') expel('group:7', 'eve') return {}")
    assert db.exists("group:7#members") == 0
    places = Rights(db).changes()[2]
    assert [name for name, _ in places] == [b"group:7 ann", b"group:7 bob", b"group:7 eve"]
    assert len({place for _, place in places}) == 3, "a gateway reads on behind the last place"
    Rights(db).member("group:7", "eve", "remove")
    assert Rights(db).changes()[2][-1][0] == b"group:7 eve", "the script's places and set_member's are in one order"
    assert 0 < db.pttl("#removed") <= 120_000


def test_members_of_another_home_go_by_the_outbox(trial, db):
    trial("admit('user:a', 'ann') expel('user:b', 'ann') emit('user:a', 'said', {}) return {}")
    entries = [fields for _, fields in db.xrange("#outbox")]
    assert [fields.get(b"x") for fields in entries] == [b"add", b"remove", None]
    Commands(db).relay()
    assert db.smembers("user:a#members") == {b"ann"}


def test_a_topic_has_so_many_members(trial, db, unchanged):
    trial("admit('group:7', 'ann') admit('group:7', 'bob') return {}", members_max=2)
    trial("admit('group:7', 'bob') return {}", members_max=2)
    with unchanged(), pytest.raises(Failed) as failure:
        trial("write('SET', key.box, 1) admit('group:7', 'eve') return {}", members_max=2)
    assert failure.value.code == "too_large"


@pytest.mark.parametrize("body", [
    "admit('order:1', 'bob')", "admit('group:8', 'bob')", "admit('group:7', 'two words')", "admit('group:7')",
    "expel('group:7', string.rep('x', 129))", "for n = 1, 1001 do expel('group:7', 'u' .. n) end",
])
def test_whose_members_may_not_be_changed(trial, unchanged, body):
    with unchanged(), pytest.raises(redis.ResponseError):
        trial("write('SET', key.box, 1) " + body + " return {}")


@pytest.mark.parametrize("key", ["group:7#members", "#removed"])
def test_a_key_of_another_type_changes_nothing(trial, db, unchanged, key):
    db.set(key, "text")
    with unchanged(), pytest.raises(redis.ResponseError, match="BADKEY"):
        trial("write('SET', key.box, 1) admit('group:7', 'ann') expel('group:7', 'ann') return {}")


def test_only_who_says_so_changes_members(trial, unchanged):
    with unchanged(), pytest.raises(redis.ResponseError, match="@members"):
        trial("admit('group:7', 'bob') return {}", header=HEADER.replace("-- @members\n", ""))
