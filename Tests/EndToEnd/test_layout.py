"""Tagged names: everything works, no script touches two slots, and what the names are is what backends are told."""

import json
from functools import partial

import pytest

from Fixtures.apps.operator_scripts import write_scripts
from Fixtures.clients.tokens import SECRET
from Fixtures.outside.courier import Courier
from Fixtures.processes.gateway import Gateway, command
from Fixtures.processes.ports import free_port
from Fixtures.processes.worker import Worker
from Fixtures.redis.server import RedisServer
from Fixtures.redis.slot_watch import SlotWatch
from Fixtures.waiting import eventually

# Calls a service outside, and takes a member out of the home topic.
CALL = """-- @command  call_and_expel
-- @summary  For these tests.
-- @allow    service
-- @arg      orderId id
-- @arg      userId user
-- @key      box order:{orderId}#box
-- @topic    order:{orderId}
-- @members
-- @call_out catalogue call_answered
-- @returns  {}
-- @cost     O(1)
-- @weight   100
call_out('catalogue', {song = 's1'}, 'call_answered', {orderId = args.orderId})
expel('order:' .. args.orderId, args.userId)
return {}
"""
ANSWERED = """-- @command  call_answered
-- @summary  For these tests.
-- @allow    worker
-- @arg      orderId id
-- @arg      outcome enum ok,failed
-- @arg      answer json 4096 8 optional
-- @key      box order:{orderId}#box
-- @returns  {}
-- @cost     O(1)
-- @weight   100
write('SET', key.box, args.answer)
return {}
"""
LIMITS = {"userActionsPerSecond": 100_000, "messagesPerSecond": 100_000, "joinsPerSecond": 10_000}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """A Redis Cluster of one node: it refuses calls whose keys are of several slots, as any other would."""
    port = free_port()
    server = RedisServer(tmp_path_factory.mktemp("cluster"), "--cluster-enabled", "yes", "--cluster-port", str(port),
                         tcp=True).start()
    with server.client() as db:
        db.execute_command("CLUSTER", "ADDSLOTSRANGE", 0, 16_383)
        eventually(lambda: b"cluster_state:ok" in db.execute_command("CLUSTER", "INFO"), 10, "the cluster")
    yield server
    server.stop()


@pytest.fixture(scope="module")
def db(cluster):
    with cluster.client() as client:
        yield client


@pytest.fixture(scope="module")
def gw(tmp_path_factory, cluster, certificate):
    """A gateway and a worker on tagged names."""
    directory = tmp_path_factory.mktemp("tagged")
    scripts = write_scripts(directory / "scripts", call_and_expel=CALL, call_answered=ANSWERED)
    flags = ("--redis-layout", "tagged", "--packs", "barbershop,people,orders", "--scripts", str(scripts))
    redis_url = f"unix://{cluster.socket_path}"
    gateway = Gateway(directory / "gateway", redis_url, certificate, SECRET, *flags, limits=LIMITS)
    worker = Worker(directory / "worker", redis_url, *flags, limits={"sweepMs": 1_000})
    gateway.start()
    worker.start()
    yield gateway.wait_ready()
    gateway.stop()
    worker.stop()


@pytest.fixture(scope="module")
def http(gw):
    with gw.http() as http:
        yield http


@pytest.fixture
def call(http):
    return partial(command, http)


@pytest.fixture(autouse=True)
def nothing_spans_slots(cluster):
    """No script touches two slots, whatever a test does."""
    with SlotWatch(cluster) as watch:
        yield
    assert watch.lines > 0 and watch.spanning() == []


def event(client, name, **members):
    """The next event of that name; others are passed over."""
    while True:
        message = client.receive(10)
        if message["event"] == name and all(message.get(member) == value for member, value in members.items()):
            return message


def test_events_are_published_heard_and_recovered(gw, http, db):
    with gw.client() as client:
        at = client.subscribe("shop:e1")
        body = {"topic": "shop:e1", "event": "hello", "data": {"n": 1}, "id": "op-1"}
        assert http.post("/v1/broadcast", json=body).json()["offset"] == at["offset"] + 1
        assert http.post("/v1/broadcast", json=body).json()["offset"] == at["offset"] + 1, "a retry is known"
        assert event(client, "hello")["data"] == {"n": 1}
        db.publish("shop:{e1}", json.dumps({"event": "plain", "data": {}}))
        event(client, "plain")
    with gw.client() as client:
        again = client.subscribe("shop:e1", since={"epoch": at["epoch"], "offset": at["offset"]})
        assert again["recovered"] and event(client, "hello")["offset"] == at["offset"] + 1
    assert db.xlen("shop:{e1}#log") == 1 and not db.exists("shop:e1#log")


def test_a_shop_works(gw, call, token, db):
    """Votes, bookings, the queue, presence, notifications and points: homes, refreshes and the outbox."""
    with gw.client(token=token("ann")) as ann, gw.client() as board:
        for topic in ("user:ann", "shop:s1", "dj:s1"):
            ann.subscribe(topic)
        board.subscribe("challenge:c1")
        call("set_barber", shopId="s1", barberId="b1", active=True)
        call("start_session", shopId="s1")
        for shop in ("s1", "s2"):
            call("check_in", shopId=shop, userId="ann")
        here = [event(ann, "presence:here")["data"]["topic"] for _ in range(2)]
        assert sorted(here) == ["shop:s1", "shop:s2"], "by the outboxes of two slots"
        call("add_track", shopId="s1", trackId="t1", trackName="T", userId="ann")
        call("check_in", shopId="s1", userId="ben")
        call("vote", shopId="s1", trackId="t1", vote="down", userId="ben")
        assert event(ann, "queue:update", topic="dj:s1")["data"]["downvotes"] == 1
        call("create_booking", shopId="s1", bookingId="b7", userId="ann", tier="standard")
        assert event(ann, "booking:status_change")["topic"] == "user:ann"
        call("notify", userId="ann", type="news", title="T", body="B")
        assert {event(ann, "notification")["data"]["title"] for _ in range(2)} == {"Booking received", "T"}
        call("add_points", challengeId="c1", userId="ann", points=5)
        event(board, "leaderboard:moves")
    assert json.loads(eventually(lambda: db.get("queue:{s1}"), 5, "the queue"))["currentlyServing"] == 1
    assert db.zscore("leaderboard:{c1}", "ann") == 5


def test_members_are_taken_out_everywhere(gw, http, call, token, db):
    """The note for all gateways lies in another slot than the members: by a second call, or by the outbox."""
    for way in ("http", "script"):
        assert http.put("/v1/topics/order:o1/members/eve").status_code in (200, 204)
        with gw.client(token=token("eve")) as eve:
            eve.subscribe("order:o1")
            if way == "http":
                assert http.delete("/v1/topics/order:o1/members/eve").status_code in (200, 204)
            else:
                call("call_and_expel", orderId="o1", userId="eve")
            event(eve, "unsubscribed")
        assert not db.sismember("order:{o1}#members", "eve")


def test_calls_of_services_outside_come_and_are_answered(call, db):
    """The stream of calls is another slot's: the worker carries a call there, and the answer back."""
    courier = Courier(db, "catalogue", prefix="{sb}")
    courier.join()
    courier.live(600)
    call("call_and_expel", orderId="o2", userId="eve")

    def carry():
        for entry, fields in courier.claim():
            assert json.loads(fields[b"r"]) == {"song": "s1"}
            assert courier.finish(entry, fields, {"title": "Blue"})
        return db.get("order:{o2}#box")
    assert json.loads(eventually(carry, 10, "the answer")) == {"title": "Blue"}


def test_a_users_data_are_erased(http, call, db):
    call("follow", userId="bob", barberId="ann")
    assert db.exists("user:{bob}#follows")
    assert http.delete("/v1/users/bob/data").status_code == 202
    eventually(lambda: not db.exists("user:{bob}#follows"), 5, "erased")


def test_the_outboxes_are_empty_in_the_end(gw, db):
    """Whatever the tests before have left; a worker that has just begun has no lease yet."""
    def left():
        return [key for key in db.scan_iter("*#outbox*", count=10_000)
                if not key.endswith(b":payers") and db.type(key) == b"stream" and db.xlen(key)]
    eventually(lambda: not left(), 10, "nothing waits")
    eventually(lambda: db.exists("{sb}#leases"), 10, "a worker has leases")
    assert not db.exists("{sb}#outbox-dead"), db.xrange("{sb}#outbox-dead")
    names = [key for key in db.scan_iter(count=10_000) if b"{" not in key]
    assert names == [b"#layout"], "every other name has a tag"
