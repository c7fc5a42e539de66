"""The pack `push`: devices and whose their tokens are, preferences, and what waits to be pushed."""

import json

import pytest

from Fixtures.scripts.command_scripts import Commands, Failed
from Fixtures.scripts.lua_scripts import LUA, NOW_MS
from Fixtures.scripts.push_scripts import TOKEN, answer, call, devices, notify, owners, pushes, refresh, register

LIVE_MS = PROOF_MS = 45_000


@pytest.fixture
def commands(db):
    return Commands(db, LUA / "push", LUA / "barbershop")


# Devices


def test_a_device_is_kept_and_its_token_has_an_owner(commands, db):
    assert register(commands, timezone="Europe/Berlin", environment="sandbox", platform="ipados") == 1
    assert devices(db) == {"phone": {"k": TOKEN["a"], "p": "ipados", "e": "sandbox", "z": "Europe/Berlin",
                                     "r": NOW_MS, "v": NOW_MS * 1_000}}
    (owner,) = owners(db)
    assert db.get(owner) == b"ann phone %d" % (NOW_MS * 1_000) and TOKEN["a"].encode() not in owner
    assert register(commands, token="B" * 64) == 1 and devices(db)["phone"]["k"] == "b" * 64
    assert len(owners(db)) == 1, "the former token belongs to nobody"
    for key in [*owners(db), "user:ann#devices"]:
        assert 0 < db.ttl(key) <= 31_622_400


@pytest.mark.parametrize("wrong", [
    {"token": "g" * 64}, {"token": "a" * 31 + " "}, {"device": "x" * 65}, {"timezone": "../../etc/passwd"},
    {"timezone": "/etc/passwd"}, {"timezone": "Europe//Berlin"}, {"timezone": "Europe/../Berlin"},
    {"timezone": "A/B/C/D"}, {"timezone": "Z\n"}, {"timezone": "a" * 65},
])
def test_what_is_no_device_changes_nothing(commands, unchanged, wrong):
    with unchanged(), pytest.raises(Failed, match="bad_request"):
        register(commands, **wrong)


def test_the_device_that_was_registered_longest_ago_leaves(commands, db):
    for n in range(12):
        commands.now_ms = NOW_MS + n
        assert register(commands, device=f"d{n}", token=f"{n:064x}") == min(n + 1, 10)
    assert set(devices(db)) == {f"d{n}" for n in range(2, 12)} and len(owners(db)) == 10
    commands.now_ms += 1
    register(commands, device="d2", token=f"{2:064x}")
    assert len(devices(db)) == 10, "one that registers again pushes nobody out"


def test_an_app_that_was_installed_anew_has_one_device(commands, db):
    register(commands, device="old")
    assert register(commands, device="new") == 1 and set(devices(db)) == {"new"}
    (owner,) = owners(db)
    assert db.get(owner).startswith(b"ann new ")


def test_a_token_leaves_its_former_user(commands, db):
    register(commands)
    register(commands, device="other", token="b")
    commands.now_ms += 1
    register(commands, "bob", "his")
    assert set(devices(db)) == {"other"} and set(devices(db, "bob")) == {"his"}
    register(commands)
    assert set(devices(db)) == {"other", "phone"} and devices(db, "bob") == {}, "and comes back"


def test_claims_that_come_late_take_nothing(commands, db):
    """The outbox may pass on two users' registrations in either order; the later registration has the token."""
    register(commands, relayed=False)
    (first,) = db.xrange("#outbox")
    db.delete("#outbox")
    commands.now_ms += 1
    register(commands, "bob", "his")
    commands.call("claim_token", role="worker", **json.loads(first[1][b"a"]))
    commands.relay()
    assert devices(db) == {} and set(devices(db, "bob")) == {"his"}
    assert db.get(owners(db)[0]).startswith(b"bob his ")


def test_a_removed_device_is_forgotten_with_its_token(commands, db):
    register(commands)
    remove = {"user": "ann", "role": "user", "deviceId": "phone"}
    assert commands.remove_device(**remove)["removed"] and not commands.remove_device(**remove)["removed"]
    commands.relay()
    assert owners(db) == [] and devices(db) == {}


def test_what_others_wrote_into_the_devices_is_no_device(commands, db):
    db.hset("user:ann#devices", mapping={"x": "{", "y": '{"k":"zz","p":1}', "z": json.dumps({"k": 1, "r": "now"})})
    assert register(commands) == 1 and set(devices(db)) == {"phone"}
    db.hset("user:ann#devices", mapping={str(n): "{" for n in range(41)})
    with pytest.raises(Failed, match="conflict"):
        register(commands)


# Preferences


def settings(commands, user="ann"):
    return commands.push_settings(user=user, role="user")


def test_preferences_are_kept_and_told(commands, db):
    none = {"types": {}, "quietFrom": None, "quietTo": None, "quietMode": "hold", "timezone": None}
    assert settings(commands) == {**none, "devices": []}
    wanted = {"types": {"booking": "urgent", "feed": "off"}, "quietFrom": "22:30", "quietTo": "07:00",
              "quietMode": "silent", "timezone": "America/New_York"}
    given = {**wanted, "types": json.dumps(wanted["types"])}
    assert commands.set_preferences(user="ann", role="user", **given) == wanted
    register(commands)
    told = settings(commands)
    assert {name: told[name] for name in wanted} == wanted
    assert told["devices"][0]["deviceId"] == "phone" and TOKEN["a"] not in json.dumps(told)
    assert commands.log("user:ann") == [("preferences:changed", wanted)]
    assert commands.set_preferences(user="ann", role="user") == none, "what is not given is not set"
    assert 0 < db.ttl("user:ann#push_rules") <= 31_622_400


def test_preferences_live_as_long_as_a_device_registers(commands, db):
    """They ended a year after they were set, and phones rang at night again."""
    commands.set_preferences(user="ann", role="user", quietFrom="22:00", quietTo="07:00")
    db.expire("user:ann#push_rules", 1_000)
    register(commands)
    assert db.ttl("user:ann#push_rules") > 31_000_000
    register(commands, "bob", "his", "b")
    assert not db.exists("user:bob#push_rules")


@pytest.mark.parametrize("wrong", [
    {"quietFrom": "22:00"}, {"quietFrom": "24:00", "quietTo": "07:00"}, {"quietFrom": "2200 ", "quietTo": "07:00"},
    {"quietFrom": "22:60", "quietTo": "07:00"}, {"quietFrom": "07:00", "quietTo": "07:00"}, {"types": "[]"},
    {"types": '{"a":1}'}, {"types": '{"a":"loud"}'}, {"types": '{"":"on"}'},
    {"types": json.dumps({str(n): "on" for n in range(51)})}, {"timezone": "../x"},
])
def test_wrong_preferences_change_nothing(commands, unchanged, wrong):
    with unchanged(), pytest.raises(Failed, match="bad_request"):
        commands.set_preferences(user="ann", role="user", **wrong)


# What waits


def test_nothing_waits_for_who_has_no_device(commands, db):
    notify(commands)
    assert pushes(db) == {}


def test_what_waits_is_bounded(commands, db):
    register(commands)
    names = [notify(commands, now_ms=NOW_MS + n) for n in range(105)]
    assert list(pushes(db)) == names[5:] and 0 < db.ttl("user:ann#pushes") <= 172_800


def test_a_user_who_is_away_is_pushed_to(commands, db):
    register(commands)
    name = notify(commands)
    request, arguments = call(commands, db)
    assert request == {"user": "ann", "pushes": [{"p": name, "s": NOW_MS}]}
    assert arguments == {"userId": "ann", "round": NOW_MS, "pushes": [name]}
    assert answer(commands, arguments, [{"p": name, "s": NOW_MS}]) == {"done": 1, "again": 0, "dead": 0}
    assert pushes(db) == {} and refresh(commands, NOW_MS) == {"idle": True}


def test_a_flood_of_news_is_a_call_in_two_seconds(commands, db):
    """A sender of many messages could have made a phone ring as often as a courier answers."""
    register(commands)
    notify(commands)
    request, arguments = call(commands, db)
    answer(commands, arguments, request["pushes"])
    notify(commands, now_ms=NOW_MS + 1)
    told = refresh(commands, NOW_MS + 1)
    assert not told["idle"] and 0 < told["again_ms"] - NOW_MS <= 2_001 and db.xlen("#outbox") == 0
    assert 0 < db.pttl("user:ann#push_call") <= 2_000 and call(commands, db, NOW_MS + 2_001)[0] is not None


def test_one_call_is_on_its_way_at_a_time(commands, db):
    register(commands)
    first = notify(commands)
    _, arguments = call(commands, db)
    notify(commands, now_ms=NOW_MS + 5)
    told = refresh(commands, NOW_MS + 10)
    assert not told["idle"] and told["again_ms"] > NOW_MS + 3_600_000 and db.xlen("#outbox") == 0
    answer(commands, arguments, [{"p": first, "s": NOW_MS}])
    request, _ = call(commands, db, NOW_MS + 20)
    assert len(request["pushes"]) == 1


def test_a_call_that_is_lost_is_made_again(commands, db):
    register(commands)
    notify(commands)
    call(commands, db)
    db.delete("user:ann#push_call")  # its time is over
    assert call(commands, db, NOW_MS + 4_200_001)[0] is not None


def test_a_connected_user_gets_no_push(commands, db):
    """Heartbeats that still come after every ping that could have failed show that a session has heard it."""
    register(commands)
    db.set("user:ann#online", NOW_MS - 10_000)
    notify(commands)
    assert refresh(commands, NOW_MS) == {"idle": False, "again_ms": NOW_MS - 10_000 + LIVE_MS}
    for seen, later in ((20_000, 40_000), (44_999, 46_000)):
        db.set("user:ann#online", NOW_MS + seen)
        told = refresh(commands, NOW_MS + later)
        assert told == {"idle": False, "again_ms": NOW_MS + seen + LIVE_MS} and len(pushes(db)) == 1
    db.set("user:ann#online", NOW_MS + PROOF_MS)
    assert refresh(commands, NOW_MS + 50_000) == {"idle": True}
    assert pushes(db) == {} and db.xlen("#outbox") == 0


@pytest.mark.parametrize("facet", ["online", "awake"])
def test_a_session_that_ended_unseen_loses_nothing(commands, db, facet):
    register(commands)
    db.set(f"user:ann#{facet}", NOW_MS - 1)
    name = notify(commands)
    assert refresh(commands, NOW_MS)["again_ms"] == NOW_MS - 1 + LIVE_MS
    request, _ = call(commands, db, NOW_MS + LIVE_MS)
    assert [push["p"] for push in request["pushes"]] == [name]


def test_what_waits_is_dropped_with_the_last_device(commands, db):
    register(commands)
    notify(commands)
    commands.remove_device(user="ann", role="user", deviceId="phone")
    assert refresh(commands, NOW_MS) == {"idle": True} and pushes(db) == {}


def test_a_full_stream_of_calls_makes_a_user_wait(commands, db):
    """A script that calls in vain would be tried again at once, by every user whom somebody has told something."""
    register(commands)
    notify(commands)
    assert call(commands, db, calls_max=0) == (None, None)
    assert 0 < db.pttl("user:ann#push_call") <= 60_000 and len(pushes(db)) == 1


def test_a_call_takes_eight_and_the_rest_follow(commands, db):
    register(commands)
    names = [notify(commands, now_ms=NOW_MS + n) for n in range(10)]
    request, arguments = call(commands, db, NOW_MS + 10)
    assert [push["p"] for push in request["pushes"]] == names[:8]
    answer(commands, arguments, request["pushes"], now_ms=NOW_MS + 11)
    assert [push["p"] for push in call(commands, db, NOW_MS + 12)[0]["pushes"]] == names[8:]


def test_names_that_nobody_of_ours_wrote_leave(commands, db):
    register(commands)
    db.zadd("user:ann#pushes", {"x:1": 1, "n:a b": 2, "n:": 3})
    assert call(commands, db) == (None, None) and pushes(db) == {}


# Answers


@pytest.fixture
def called(commands, db):
    register(commands)
    name = notify(commands)
    return name, call(commands, db)[1]


def test_a_push_is_held_or_tried_again(commands, db, called):
    name, arguments = called
    morning = NOW_MS + 30_000_000
    assert answer(commands, arguments, [{"p": name, "s": NOW_MS, "at": morning}])["again"] == 1
    assert pushes(db) == {name: morning} and db.hgetall("user:ann#push_tries") == {}
    assert refresh(commands, NOW_MS + 5) == {"idle": False, "again_ms": morning}
    _, arguments = call(commands, db, morning)
    result = {"p": name, "s": morning, "at": morning + 5_000, "tries": 2, "done": ["phone", 7, "x y"]}
    answer(commands, arguments, [result], now_ms=morning)
    assert json.loads(db.hget("user:ann#push_tries", name)) == {"n": 2, "d": ["phone"]}
    _, arguments = call(commands, db, morning + 5_000)
    answer(commands, arguments, [{"p": name, "s": morning + 5_000}], now_ms=morning)
    assert pushes(db) == {} and not db.exists("user:ann#push_tries")


def test_news_that_came_meanwhile_goes_again(commands, db, called):
    name, arguments = called
    db.zadd("user:ann#pushes", {name: NOW_MS + 3})
    assert answer(commands, arguments, [{"p": name, "s": NOW_MS}])["again"] == 1
    assert pushes(db) == {name: NOW_MS + 4}, "a change, of which the worker hears"


def test_an_answer_to_an_older_call_changes_nothing(commands, db, called, unchanged):
    name, arguments = called
    with unchanged():
        answer(commands, {**arguments, "round": NOW_MS - 1}, [{"p": name, "s": NOW_MS}])


@pytest.mark.parametrize("rest, least, most", [(9_000, 8_000, 9_000), (1e300, 3_500_000, 3_600_000), (-5, 1, 2_000)])
def test_a_user_rests_as_long_as_the_courier_says(commands, db, called, rest, least, most):
    name, arguments = called
    text = json.dumps({"results": [{"p": name, "s": NOW_MS, "at": NOW_MS}], "dead": [], "rest": NOW_MS + rest})
    answer(commands, arguments, text=text)
    assert pushes(db) == {name: NOW_MS + 1}, "it keeps its turn"
    assert least < db.pttl("user:ann#push_call") <= most


@pytest.mark.parametrize("text, outcome", [
    (None, "failed"), ("[]", "ok"), ("{}", "ok"), ("7", "ok"), ('{"results":{"p":1},"dead":"x"}', "ok"),
    ('{"results":[1,null,{"p":"n:other","s":1},{"p":7}]}', "ok"),
    ('{"dead":[1,{"device":"phone"},{"device":7,"until":1e99}]}', "ok"),
])
def test_an_answer_that_says_nothing_leaves_the_push_waiting(commands, db, called, text, outcome):
    name, arguments = called
    answer(commands, arguments, text=text or "", outcome=outcome)
    assert pushes(db) == {name: NOW_MS + 60_000} and set(devices(db)) == {"phone"}


def test_no_answer_makes_a_push_wait_for_ever(commands, db, called):
    name, arguments = called
    answer(commands, arguments, [{"p": name, "s": NOW_MS, "at": 1e300}])
    assert pushes(db) == {name: NOW_MS + 172_800_000}


def test_a_dead_device_is_forgotten_unless_it_registered_since(commands, db, called):
    name, arguments = called
    register(commands, device="other", token="b", now_ms=NOW_MS + 9)
    dead = [{"device": "phone", "until": NOW_MS}, {"device": "other", "until": NOW_MS + 8},
            {"device": "nobody", "until": NOW_MS}]
    assert answer(commands, arguments, [{"p": name, "s": NOW_MS}], dead)["dead"] == 1
    commands.relay()
    assert set(devices(db)) == {"other"} and len(owners(db)) == 1
