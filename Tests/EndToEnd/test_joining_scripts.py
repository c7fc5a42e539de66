"""@subscribe scripts at every door: who may join, whose state is told, and who hears no more."""


import json

import pytest

from Fixtures.apps.operator_scripts import script, write_scripts
from Fixtures.clients.phoenix import Frames
from Fixtures.clients.socketio import Phone
from Fixtures.clients.streams import stream
from Fixtures.waiting import eventually

JOIN = """-- @subscribe  conversation
-- @summary    Who was not sent away may join; tells what the caller has read.
-- @key        bans  conversation:{id}#bans
-- @key        own   conversation:{id}#own#{user}
-- @errors     banned 423
-- @cost       O(1)
-- @weight     100
if caller.user and read('SISMEMBER', key.bans, caller.user) == 1 then fail('banned', 'You were sent away.') end
return {me = caller.user or null, guest = caller.guest, read = read('GET', key.own) or null}
"""
CHANGE = script(
    "change", """if args.isIn then
  write('SREM', key.bans, args.who)
  admit('conversation:' .. args.id7, args.who)
else
  write('SADD', key.bans, args.who)
  expel('conversation:' .. args.id7, args.who)
end
return {}""",
    arg=["id7 id", "who id", "isIn bool"], key="bans conversation:{id7}#bans", topic="conversation:{id7}", members="")
REFUSED = {"code": "banned", "message": "You were sent away."}


@pytest.fixture(scope="module")
def scripts(tmp_path_factory):
    return write_scripts(tmp_path_factory.mktemp("scripts"), join_conversation=JOIN, change=CHANGE)


@pytest.fixture
def nodes(gateway, scripts):
    return gateway("--scripts", scripts), gateway("--scripts", scripts)


@pytest.fixture
def group(topics):
    return topics("conversation")


def change(gw, group, who, is_in):
    with gw.http() as http:
        answer = http.post("/v1/commands/change", json={"id7": group.split(":")[1], "who": who, "isIn": is_in})
        assert answer.status_code == 200, answer.text


def test_each_caller_is_told_its_own_state(nodes, group, token, db):
    gw, _ = nodes
    db.set(f"{group}#own#ann", "5")
    for who in ("ann", "bob"):
        change(gw, group, who, True)
    with gw.client(token=token("ann")) as ann, gw.client(token=token("bob", is_anonymous=True)) as bob, \
            gw.client(token=token("ann")) as tablet:
        ref = {client: next(client.references) for client in (ann, bob, tablet)}
        for client in (ann, bob, tablet):
            client.send("subscribe", {"topic": group}, ref=ref[client])
        states = [client.expect("subscribed", ref=ref[client])["data"]["state"] for client in (ann, bob, tablet)]
        assert states == [{"me": "ann", "guest": False, "read": "5"}, {"me": "bob", "guest": True, "read": None},
                          {"me": "ann", "guest": False, "read": "5"}]
        first = ann.subscribe(group)
        gw.publish(group, "said", {"n": 1})
        for client in (ann, bob, tablet):
            client.expect("said", offset=first["offset"] + 1)
        db.set(f"{group}#own#ann", "6")
        again = ann.request("subscribe", {"topic": group, "since": {"epoch": first["epoch"], "offset": 0}})["data"]
        assert again["recovered"] and again["state"]["read"] == "6"
        ann.expect("said", offset=1)
    for who, read in (("ann", "6"), ("bob", None)):
        with gw.http(key=token(who)) as http:
            assert http.get(f"/v1/topics/{group}").json()["state"] == {"me": who, "guest": False, "read": read}
    with gw.http() as http:
        assert http.get(f"/v1/topics/{group}").json()["state"]["me"] is None


def test_the_rule_of_the_namespace_decides_first(nodes, group, token):
    gw, _ = nodes
    with gw.client(token=token("eve")) as eve:
        eve.refused("subscribe", {"topic": group}, "forbidden")


def test_a_refused_join_is_told_why_at_every_door_and_leaves_nothing(nodes, group, token, db):
    gw, _ = nodes
    change(gw, group, "ann", False)
    pass_ = token("ann", topics=[group])
    with gw.client(token=pass_) as ann:
        error = ann.refused("subscribe", {"topic": group}, "banned", topic=None)
        assert error["topic"] == group and error["data"].items() >= REFUSED.items()
    with gw.http(key=pass_) as http:
        for path in ("", "/events"):
            answer = http.get(f"/v1/topics/{group}{path}")
            assert (answer.status_code, answer.json()["error"]) == (423, REFUSED), answer.text
    with stream(gw, group, key=pass_) as records:
        record = records.next()
        assert record.event == "refused" and json.loads(record.data)["data"].items() >= REFUSED.items()
    with Phone(gw, auth={"token": pass_}) as phone:
        assert phone.call("subscribe", {"topic": group})["error"]["code"] == "banned"
    with Frames(gw, pass_) as frames:
        reason = frames.join(f"realtime:{group}", status="error")["reason"]
        assert reason == "Banned: You were sent away."
        replay = {"since": 1, "limit": 5}
        assert "Banned" in frames.join(f"realtime:{group}", "2", "error", broadcast={"replay": replay}, private=True)[
            "reason"]
    assert not db.exists(f"{group}#meta")


def test_who_is_sent_away_hears_no_more_on_any_node(nodes, group, token):
    """A membership that a token grants could not be taken: the script is asked again for those sessions, too."""
    here, there = nodes
    for who in ("ann", "bob"):
        change(here, group, who, True)
    with here.client(token=token("ann")) as member, there.client(token=token("ann", topics=[group])) as granted, \
            there.client(token=token("bob")) as kept:
        for client in (member, granted, kept):
            client.subscribe(group)
        change(here, group, "ann", False)
        for client, codes in ((member, {"banned", "forbidden"}), (granted, {"banned"})):
            client.expect("unsubscribed", topic=group)
            assert client.expect("error", topic=group)["data"]["code"] in codes
        there.publish(group, "said", {"n": 1})
        kept.expect("said")
        member.expect_nothing()
        granted.expect_nothing()
        granted.refused("subscribe", {"topic": group}, "banned")
        change(there, group, "ann", True)
        member.subscribe(group)
        kept.expect_nothing()


def test_a_crowd_that_joins_at_once_is_told_apart(nodes, group, token, db):
    """One read used to answer all who waited for a topic: the first one's state would have been everybody's."""
    gw, _ = nodes
    users = [f"u{number}" for number in range(40)]
    clients = [gw.client(token=token(user, topics=[group])) for user in users]
    try:
        for client in clients:
            client.send("subscribe", {"topic": group}, ref=1)
        states = [client.expect("subscribed", ref=1)["data"]["state"]["me"] for client in clients]
        assert states == users
    finally:
        for client in clients:
            client.close()


def test_a_script_with_a_fault_lets_nobody_in(gateway, tmp_path, group, token):
    body = JOIN.split("-- @weight     100\n")
    scripts = write_scripts(tmp_path / "faulty", join=body[0] + "-- @weight 100\nreturn missing.member\n")
    gw = gateway("--scripts", scripts)
    with gw.client(token=token("ann", topics=[group])) as ann:
        ann.refused("subscribe", {"topic": group}, "internal")
    eventually(lambda: "join.lua:8" in gw.log_text, 5, "the fault with its file and line")
