"""Notifications: the inbox, what is unread on every device, and pages that never break."""

import datetime
import json

import pytest
import redis

from Fixtures.scripts.command_scripts import Failed
from Fixtures.scripts.lua_scripts import NOW_MS

INBOX, UNREAD, TOPIC = "user:u1#inbox", "user:u1#unread", "user:u1"


def iso(ms):
    return datetime.datetime.fromtimestamp(ms // 1000, datetime.UTC).strftime("%Y-%m-%dT%H:%M:%S.") + f"{ms % 1000:03}Z"


def notify(commands, title="Hello", **more):
    return commands.notify(**{"userId": "u1", "type": "t", "title": title, "body": "", **more})["id"]


def page(commands, **more):
    """The titles and flags of a page, the unread count, and whether there is more."""
    answer = commands.notifications(user="u1", role="user", **more)
    return [(item["title"], item["read"]) for item in answer["notifications"]], answer["unread"], answer["more"]


def mark(commands, *ids, **more):
    return commands.mark_read(user="u1", role="user", ids=list(ids), **more)["unread"]


def test_a_notification_is_kept_and_told(commands, db):
    data = '{"bookingId":"b1","big":12345678901234567890,"list":[]}'
    id = notify(commands, "Ready \"now\"", type="booking_status_change", body="Caf\u00e9\n", data=data)
    told = {"id": id, "type": "booking_status_change", "title": 'Ready "now"', "body": "Caf\u00e9\n",
            "data": json.loads(data), "timestamp": iso(NOW_MS)}
    assert id == f"{NOW_MS}-0" and commands.log(TOPIC) == [("notification", told)]
    assert data.encode() in db.xrange(TOPIC + "#log")[0][1][b"d"], "numbers keep their digits"
    assert commands.notifications(userId="u1") == {
        "notifications": [{**told, "read": False}], "unread": 1, "more": False}
    assert db.smembers(UNREAD) == {id.encode()}
    assert db.ttl(INBOX) == db.ttl(UNREAD) == 7_776_000


def test_data_may_be_left_out(commands):
    notify(commands)
    assert commands.log(TOPIC)[0][1]["data"] == {}
    assert commands.notifications(userId="u1")["notifications"][0]["data"] == {}


@pytest.mark.parametrize("data", ["[]", "1", "null", '"{}"', "", "{", '{"a":nan}'])
def test_data_must_be_an_object(commands, unchanged, data):
    with unchanged(), pytest.raises(Failed) as failed:
        notify(commands, data=data, id="op-1")
    assert failed.value.code == "bad_request"


def test_ids_grow_when_the_clock_goes_back(commands, db):
    ids = [notify(commands, now_ms=NOW_MS + step) for step in (0, 0, -5000, 1, 0, 0)]
    assert ids == [f"{NOW_MS}-0", f"{NOW_MS}-1", f"{NOW_MS}-2", f"{NOW_MS + 1}-0", f"{NOW_MS + 1}-1", f"{NOW_MS + 1}-2"]
    assert [event["timestamp"] for _, event in commands.log(TOPIC)][2] == iso(NOW_MS - 5000)
    db.xdel(INBOX, ids[-1])
    assert notify(commands) == f"{NOW_MS + 1}-3", "an id is not used twice"


def test_a_retry_notifies_once(commands, unchanged):
    first = commands.call("notify", role="worker", id="o:1-1", userId="u1", type="t", title="x", body="")
    with unchanged():
        again = commands.call("notify", role="worker", id="o:1-1", userId="u1", type="t", title="x", body="", now_ms=5)
    assert again == (first[0], 1)


def test_the_oldest_leaves_and_is_unread_no_longer(commands, db):
    ids = [notify(commands, str(n), now_ms=NOW_MS + n) for n in range(502)]
    assert db.xlen(INBOX) == 500 == db.scard(UNREAD)
    assert {id.encode() for id in ids[2:]} == db.smembers(UNREAD) == {id for id, _ in db.xrange(INBOX)}


def test_an_overfull_inbox_shrinks_by_steps(commands, db):
    for n in range(1, 801):
        db.xadd(INBOX, {"x": "y"}, id=f"{n}-0")
        db.sadd(UNREAD, f"{n}-0")
    lengths = []
    for _ in range(5):
        notify(commands)
        lengths.append(db.xlen(INBOX))
        assert db.smembers(UNREAD) == {id for id, _ in db.xrange(INBOX)}
    assert lengths == [701, 602, 503, 500, 500]


@pytest.mark.parametrize("last", ["18446744073709551615-18446744073709551615", f"{2**53}-0", f"{NOW_MS}-{2**53 - 1}"])
def test_an_id_that_none_can_follow(commands, db, unchanged, last):
    db.xadd(INBOX, {"x": "y"}, id=last)
    with unchanged(), pytest.raises(Failed) as failed:
        notify(commands)
    assert failed.value.code == "conflict"


@pytest.mark.parametrize("key", [INBOX, UNREAD])
def test_another_type_changes_nothing(commands, db, unchanged, key):
    db.set(key, "x")
    calls = [notify, page] + ([lambda c: mark(c, "1-1"), lambda c: c.mark_all_read(userId="u1")] * (key == UNREAD))
    if key == UNREAD:  # an empty page asks nobody what is unread until it counts
        calls.append(lambda c: page(c, limit=1))
    for call in calls:
        with unchanged(), pytest.raises(redis.ResponseError, match="BADKEY"):
            call(commands)


def test_pages(commands):
    ids = [notify(commands, str(n), now_ms=NOW_MS + n // 2) for n in range(10)]

    def titles(**more):
        rows, _, has_more = page(commands, **more)
        return "".join(title for title, _ in rows), has_more

    assert titles() == ("9876543210", False) == titles(limit=10)
    assert titles(limit=3) == ("987", True)
    assert titles(before=ids[7], limit=3) == ("654", True)
    assert titles(before=ids[3], limit=3) == ("210", False) and titles(before=ids[0]) == ("", False)
    assert titles(after=ids[3], limit=3) == ("456", True)
    assert titles(after=ids[6]) == ("789", False) and titles(after=ids[9]) == ("", False)
    assert titles(after=ids[2], before=ids[6]) == ("345", False)
    assert titles(after=ids[6], before=ids[2]) == ("", False)


@pytest.mark.parametrize("id", ["x", "1", "1-", "-1", "1-1-1", "01-1", "0-0", f"{2**53}-0", "99999999999999999999-0"])
@pytest.mark.parametrize("name", ["after", "before"])
def test_ids_of_pages_are_checked(commands, id, name):
    with pytest.raises(Failed) as failed:
        page(commands, **{name: id})
    assert failed.value.code == "bad_request"


def test_reading_is_told_to_other_devices(commands, db, unchanged):
    ids = [notify(commands, str(n)) for n in range(4)]
    assert mark(commands, ids[1], "nonsense", ids[2], ids[1]) == 2
    assert commands.log(TOPIC)[-1] == ("notifications:read", {"ids": [ids[1], ids[2]], "unread": 2})
    assert page(commands) == ([("3", False), ("2", True), ("1", True), ("0", False)], 2, False)
    with unchanged():
        assert mark(commands, ids[1], "9-9") == 2
    assert commands.mark_all_read(userId="u1") == {"unread": 0}
    assert commands.log(TOPIC)[-1] == ("notifications:read", {"ids": [ids[0], ids[3]], "unread": 0})
    with unchanged():
        assert commands.mark_all_read(userId="u1") == {"unread": 0}
    assert page(commands)[1] == 0


def test_garbage_is_left_out(commands, db):
    good = {"type": "t", "title": b"b\xffd", "body": "\0", "data": "{}", "timestamp": "x"}
    for change in ({}, {"data": "[]"}, {"data": '{"a":nan}'}, {"data": b'{"a":"\xff"}'}, {"data": ""}, {"more": "x"},
                   {"type": None}, {"body": None}):
        db.xadd(INBOX, {name: value for name, value in {**good, **change}.items() if value is not None})
    db.xadd(INBOX, {name: good[name] for name in ("title", "type", "body", "data", "timestamp")})
    db.sadd(UNREAD, b"\xff\"", "x" * 200)
    answer = commands.notifications(userId="u1")
    assert [(item["title"], item["body"], item["read"]) for item in answer["notifications"]] == [("b?d", "\0", True)]
    commands.mark_all_read(userId="u1")
    assert commands.log(TOPIC)[-1] == ("notifications:read", {"ids": [], "unread": 0}) and not db.exists(UNREAD)


def test_a_page_ends_before_it_is_too_long(commands):
    ids = [notify(commands, body="\x01" * 2000, now_ms=NOW_MS + n) for n in range(100)]
    seen, before = [], {}
    while True:
        answer = commands.notifications(userId="u1", limit=100, **before)
        seen += [item["id"] for item in answer["notifications"]]
        assert len(answer["notifications"]) <= 8
        if not answer["more"]:
            break
        before = {"before": seen[-1]}
    assert seen == ids[::-1] and before


def test_an_answer_has_fewer_values_than_a_clients_json_may_have(commands):
    """Pages ended at 768 KiB: a few notifications of many values made an answer that no gateway could read."""
    for n in range(20):
        notify(commands, data={"values": [1] * 2_500}, now_ms=NOW_MS + n)
    answer = commands.notifications(userId="u1", limit=100)
    assert 1 <= len(answer["notifications"]) and answer["more"]
    assert sum(len(item["data"]["values"]) for item in answer["notifications"]) < 9_000


def test_random_operations_agree_with_a_model(commands, rng):
    inbox, unread, clock = [], set(), NOW_MS
    for n in range(1_000):
        clock += rng.choice([0, 0, 1, 7, -3])
        action = rng.choices(["notify", "mark", "all", "page"], [60, 15, 0.3, 25])[0]
        if action == "notify":
            last = inbox[-1][0] if inbox else (-1, 0)
            id = (clock, 0) if clock > last[0] else (last[0], last[1] + 1)
            assert notify(commands, str(n), now_ms=clock) == f"{id[0]}-{id[1]}"
            inbox.append((id, str(n)))
            unread.add(id)
            unread -= {old for old, _ in inbox[:-500]}
            inbox = inbox[-500:]
        elif action == "mark" and inbox:
            ids = {id for id, _ in rng.choices(inbox, k=rng.randrange(1, 5))}
            unread -= ids
            assert mark(commands, *(f"{ms}-{n}" for ms, n in ids)) == len(unread)
        elif action == "all":
            unread.clear()
            commands.mark_all_read(userId="u1")
        elif action == "page" and inbox:
            limit, (edge, _) = rng.randrange(1, 101), rng.choice(inbox)
            chosen, bound = rng.choice([
                (inbox[::-1], {}), ([item for item in inbox if item[0] > edge], {"after": f"{edge[0]}-{edge[1]}"}),
                ([item for item in inbox[::-1] if item[0] < edge], {"before": f"{edge[0]}-{edge[1]}"})])
            assert page(commands, limit=limit, **bound) == (
                [(title, id not in unread) for id, title in chosen[:limit]], len(unread), len(chosen) > limit)
    assert inbox and unread
