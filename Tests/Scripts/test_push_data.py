"""Push beside other packs: what messages lead to, and that an erased user is found nowhere."""

import json

import pytest

from Fixtures.scripts.command_scripts import Commands
from Fixtures.scripts.lua_scripts import LUA, NOW_MS
from Fixtures.scripts.push_scripts import TOKEN, call, devices, notify, owners, pushes, register
from Scripts.test_erase_barbershop import holding


@pytest.fixture
def commands(db):
    return Commands(db, LUA / "push", LUA / "messaging", LUA / "people", LUA / "barbershop")


@pytest.fixture
def called(commands, db):
    register(commands)
    return notify(commands), call(commands, db)[1]


# Erasure and export


def test_an_erased_user_is_found_nowhere(commands, db, called):
    register(commands, "bob", "his", "c")
    commands.set_preferences(user="ann", role="user", types='{"x":"off"}')
    db.hset("user:ann#push_tries", "n:1-0", "{}")
    commands.erase_barbershop(role="worker", userId="ann")
    assert commands.erase_push(role="worker", userId="ann") == {"devices": 1}
    commands.relay()
    assert commands.erase_push(role="worker", userId="ann") == {"devices": 0}
    assert holding(db, "ann") == ["user:ann#fence", "user:ann#meta"] and holding(db, TOKEN["a"]) == []
    assert set(devices(db, "bob")) == {"his"}


def test_an_export_tells_devices_and_no_token(commands, called):
    told = commands.export_push(role="worker", userId="ann")
    assert told["waiting"] == 1 and [one["deviceId"] for one in told["devices"]] == ["phone"]
    assert told["devices"][0]["tokenEnd"] == TOKEN["a"][-6:] and TOKEN["a"] not in json.dumps(told)


# Conversations


def send(commands, sender, conversation="ann_bob", id="m1", now_ms=NOW_MS):
    commands.send_message(user=sender, role="user", conversationId=conversation, messageId=id, text="Hi", now_ms=now_ms)
    commands.relay()


def test_a_message_waits_for_who_has_not_written_it(commands, db):
    for user, token in (("ann", "a"), ("bob", "b")):
        register(commands, user, token=token)
    send(commands, "bob")
    assert list(pushes(db)) == ["c:ann_bob"] and pushes(db, "bob") == {}
    assert db.hgetall("user:ann#chat_unread") == {b"ann_bob": b"1"} and not db.exists("user:bob#chat_unread")
    send(commands, "bob", id="m2", now_ms=NOW_MS + 7)
    assert pushes(db)["c:ann_bob"] >= NOW_MS + 1 and db.hget("user:ann#chat_unread", "ann_bob") == b"2"
    commands.read(user="ann", role="user", conversationId="ann_bob", upTo="m2", now_ms=NOW_MS + 9)
    commands.relay()
    assert not db.exists("user:ann#chat_unread")


def test_a_message_that_is_taken_back_pushes_no_older_one(commands, db):
    register(commands)
    for n in (1, 2):
        send(commands, "bob", id=f"m{n}", now_ms=NOW_MS + n)
    db.delete("user:ann#pushes")
    commands.remove_message(user="bob", role="user", conversationId="ann_bob", id=None, messageId="m2")
    commands.relay()
    assert pushes(db) == {}


def test_who_is_muted_pushes_nothing(commands, db):
    register(commands)
    commands.mute(user="ann", role="user", other="bob")
    commands.relay()
    send(commands, "bob")
    assert pushes(db) == {}
