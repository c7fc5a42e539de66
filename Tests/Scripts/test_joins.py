"""@subscribe scripts: the decision who may join, and the caller's own state, in the same step as the position."""

import json

import pytest
import redis

from Fixtures.scripts.command_scripts import HIDDEN_FROM_JOINS
from Fixtures.scripts.lua_scripts import NOW_MS, needed, script_path, script_text

TOPIC = "group:7"
BODY = """
if read('SISMEMBER', key.bans, caller.user or '*') == 1 then fail('banned', 'You were sent away') end
return {me = caller.user or null, role = caller.role, guest = caller.guest, id = args.id, now = now_ms,
  votes = read('GET', key.own) or null}
"""


class Joins:
    """The two scripts of a namespace, called as the gateway calls them."""

    def __init__(self, db, body=BODY):
        self.db, self.body = db, body

    def text(self, name):
        generated = ["own_arguments = 4", "now_ms = integer(ARGV[#ARGV - 3], 0, INTEGER_MAX)",
                     "caller = known_as(ARGV[#ARGV - 2], ARGV[#ARGV - 1])", "args = {id = ARGV[#ARGV]}",
                     "readonly = true", "key = {bans = KEYS[3], own = KEYS[4]}", "first_key, last_key = 3, 4"]
        files = [script_text(script_path(part)) for part in ("prelude", "writes", "checks", "values", "command", "run")]
        rest = ["end", "local refused = decide(command)", "if refused then return refused end",
                script_text(script_path(name))]
        return "\n".join([
            *needed(files, "\n".join([*generated, self.body, *rest])), *generated, "local function command()",
            "local " + HIDDEN_FROM_JOINS, self.body, *rest])

    def _call(self, name, arguments, user, role):
        keys = [f"{TOPIC}#log", f"{TOPIC}#meta", f"{TOPIC}#bans", f"{TOPIC}#own#{user or '*'}"]
        return self.db.eval(self.text(name), len(keys), *keys, *arguments, NOW_MS, user, role, "7")

    def join(self, user="ann", role="user"):
        """The state of a joining caller."""
        *_, state = self._call("subscribe", ["e1", "r" * 40, "", NOW_MS, 300, "", "", "newest", 10, 1000, 60, 0],
                               user, role)
        return None if state is None else json.loads(state)

    def position(self, user="ann", role="user"):
        *_, state = self._call("position", ["r" * 40], user, role)
        return None if state is None else json.loads(state)


@pytest.fixture
def joins(db):
    return Joins(db)


def test_each_caller_is_told_a_state_of_its_own(joins, db):
    db.set("group:7#own#ann", "5")
    told = {"role": "user", "guest": False, "id": "7", "now": NOW_MS}
    for read in (joins.join, joins.position):
        assert read("ann") == told | {"me": "ann", "votes": "5"}
        assert read("bob", "guest") == told | {"me": "bob", "guest": True, "votes": None}
        assert read("", "service") == told | {"me": None, "role": "service", "votes": None}


def test_a_refused_join_leaves_nothing_behind(joins, db, unchanged):
    db.sadd("group:7#bans", "ann")
    for read in (joins.join, joins.position):
        with unchanged(), pytest.raises(redis.ResponseError, match="FAIL banned You were sent away"):
            read("ann")
    assert not db.exists("group:7#meta")
    joins.join("bob")
    assert db.exists("group:7#meta")


def test_no_state_is_none(db):
    assert Joins(db, "return nil").join() is None
    assert Joins(db, "").position() is None


@pytest.mark.parametrize("body", [
    "write('SET', key.own, '1')", "emit('group:7', 'said', {})", "admit('group:7', 'ann')", "return 5",
    "return array({1})", "read('GET', 'group:7#secret')", "topic_log('group:8')", "return {x = args.other}",
    "redis.call('SET', 'x', 1)", "decide(function() end)", "state = function() return '{}' end return nil + 1",
])
def test_the_decision_only_reads(db, unchanged, body):
    with unchanged(), pytest.raises(redis.ResponseError, match="FAULT|nonexistent"):
        Joins(db, body).join()
