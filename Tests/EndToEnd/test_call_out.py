"""Calls of services outside: the guide's scripts, a courier written from docs/courier.md, the service, and back."""

import json
import re

import httpx
import pytest

from EndToEnd.test_operator_scripts import check
from Fixtures.apps.operator_scripts import example_pack, examples, script, write_scripts
from Fixtures.clients.tokens import SECRET
from Fixtures.outside.courier import Courier, Service
from Fixtures.processes.gateway import Gateway
from Fixtures.processes.worker import Worker
from Fixtures.redis import outbox
from Fixtures.waiting import eventually

LIMITS = {"callSeconds": 600, "callsMax": 50}


@pytest.fixture(scope="module")
def nodes(tmp_path_factory, shared_server, certificate):
    """A gateway and a worker with the guide's scripts."""
    directory = tmp_path_factory.mktemp("callout")
    scripts = write_scripts(directory / "scripts", pack=example_pack(), **examples())
    gateway = Gateway(directory / "gateway", shared_server.url, certificate, SECRET, "--scripts", scripts,
                      limits={"userActionsPerSecond": 1_000, **LIMITS})
    worker = Worker(directory / "worker", shared_server.url, "--worker-ops", "127.0.0.1:0",
                    scripts=scripts, limits=LIMITS).start()
    yield gateway.start().wait_ready(), worker
    gateway.stop()
    worker.stop()


@pytest.fixture
def gateway(nodes):
    return nodes[0]


@pytest.fixture
def courier(db):
    """A courier that lives while the test runs; nothing waits at its start and at its end."""
    db.delete("#calls:catalogue", "#calls-dead:catalogue")
    one = Courier(db, "catalogue")
    one.join()
    one.live(600)
    yield one
    one.die()
    db.delete("#calls:catalogue", "#calls-dead:catalogue")


@pytest.fixture
def room(topic):
    return "r-" + topic.removeprefix("shop:")


@pytest.fixture
def phone(gateway, token, room):
    """A user's phone, in whose room is a song."""
    with gateway.http(key=None, headers={"authorization": "Bearer " + token("u-" + room)}) as http:
        answer = http.post(f"/api/v1/rooms/{room}/songs", json={"id": "s1", "song_title": "?"})
        assert answer.status_code == 201, answer.text
        yield http


def look_up(phone, room, name="op-1"):
    answer = phone.post(f"/api/v1/rooms/{room}/songs/s1/look_up", headers={"idempotency-key": name})
    assert (answer.status_code, answer.json()) == (202, {"ok": True}), answer.text


def carry(service, call):
    """What a courier does with a claimed call: the service is asked under the call's id."""
    _, fields = call
    answer = httpx.post(service.url, content=fields[b"r"], headers={
        "idempotency-key": fields[b"i"].decode(), "content-type": "application/json"}, trust_env=False)
    return answer.json()


def figure(worker, name):
    return worker.metric("switchboard_" + name)


def test_a_call_goes_out_and_its_answer_comes_back(gateway, courier, phone, room, token):
    with Service(lambda body: {"title": "Blue of " + body["song"]}) as service, gateway.client(
            token=token("u1")) as watcher:
        watcher.subscribe(f"room:{room}")
        look_up(phone, room)
        look_up(phone, room)
        (call,) = courier.claim()
        assert courier.finish(*call, carry(service, call))
        watcher.expect("song.put", data={"room_id": room, "id": "s1", "song_title": "Blue of s1"}, offset=2)
        assert service.asked == [(call[1][b"i"].decode(), {"song": "s1"})]
        watcher.expect_nothing()
    assert courier.db.xlen(courier.calls) == 0


def test_a_courier_that_dies_before_it_answers_leaves_the_call_to_another(gateway, courier, phone, room, db, token):
    """The service is asked twice under one id; the command is called once, though the first courier comes back."""
    with Service(lambda body: {"title": "Blue"}) as service, gateway.client(token=token("u1")) as watcher:
        watcher.subscribe(f"room:{room}")
        look_up(phone, room)
        (call,) = courier.claim()
        late = carry(service, call)
        other = Courier(db, "catalogue", "other")
        (again,) = other.take_over(idle_ms=0)
        assert again == call and other.finish(*again, carry(service, again))
        assert not courier.finish(*call, late) and not other.finish(*again, late)
        watcher.expect("song.put", data={"room_id": room, "id": "s1", "song_title": "Blue"}, offset=2)
        watcher.expect_nothing()
        assert len({name for name, _ in service.asked}) == 1 and len(service.asked) == 2
        assert other.take_over(idle_ms=0) == [] and db.xlen(courier.calls) == 0


def test_a_call_that_is_given_up_is_told_and_kept(courier, phone, room, db):
    look_up(phone, room)
    (call,) = courier.claim()
    assert courier.finish(*call, reason="the catalogue is down")
    eventually(lambda: outbox.waiting(db) == 0, what="the command was told")
    ((_, dead),) = db.xrange(courier.dead)
    assert dead[b"reason"] == b"the catalogue is down" and dead[b"c"] == b"song_found" and dead[b"id"] == call[0]
    assert db.hget(f"room:{room}#songs", "s1") == b"?"


@pytest.mark.parametrize("answer", [
    None, [], "text", {"title": 5}, {"title": ""}, {"title": "x" * 201}, {"title": "x" * 5_000}, {"other": 1},
])
def test_a_service_may_say_anything(courier, phone, room, db, answer):
    look_up(phone, room)
    (call,) = courier.claim()
    assert courier.finish(*call, answer)
    eventually(lambda: outbox.waiting(db) == 0, what="the answer was taken or given up")
    assert db.hget(f"room:{room}#songs", "s1") == b"?"


def test_nobody_answers_in_the_couriers_place(gateway, phone, room, token):
    """A command that only the worker may call is there for no client, whatever key or token it has."""
    forged = {"roomId": room, "songId": "s1", "outcome": "ok", "answer": {"title": "Mine"}}
    with gateway.http() as backend, gateway.client(token=token("u1")) as socket:
        for http in (phone, backend):
            assert http.post("/v1/commands/song_found", json=forged).status_code in (403, 404)
        assert socket.request("song_found", forged)["event"] == "error"
        for name in ("#calls:catalogue", "#outbox", "room:" + room + "#songs"):
            refused = backend.post("/v1/broadcast", json={"topic": name, "event": "e", "data": {}})
            assert refused.status_code == 400, refused.text


def test_what_waits_is_counted_and_bounded_and_blocks_nothing_else(nodes, courier, phone, room, db, token):
    gateway, worker = nodes
    courier.die()
    for n in range(10):
        look_up(phone, room, f"op-{n}")
    with db.pipeline() as pipe:
        for n in range(40):
            pipe.xadd(courier.calls, {"i": str(n), "r": "{}", "c": "song_found", "a": "{}"})
        pipe.execute()
    with gateway.http() as backend:
        path = f"/api/v1/rooms/{room}/songs/s1/look_up"
        full = backend.post(path)
        assert full.status_code == 503 and "is a courier running?" in full.json()["error"], full.text
        other = backend.post(f"/api/v1/rooms/{room}/songs", json={"id": "s2", "song_title": "Green"})
        assert other.status_code == 201, other.text
    eventually(lambda: "switchboard_calls_waiting" in worker.metrics().text, 10, "the calls are told")
    eventually(lambda: figure(worker, "calls_waiting") == 50, 10, "the calls are counted")
    # A gateway has the same figures: the last worker may be dead, too.
    for node in (worker, gateway):
        for name, value in (("calls_waiting", 50), ("courier_alive", 0)):
            eventually(lambda node=node, name=name, value=value: figure(node, name) == value, 10, name)
        assert node.metric("switchboard_calls_oldest_seconds", service="catalogue") < 60
        assert node.metric("switchboard_calls_dead_entries", service="catalogue") == 0
    courier.live(600)
    eventually(lambda: gateway.metric("switchboard_courier_alive", service="catalogue") == 1, 10, "the courier")


def test_what_waits_too_long_is_given_up(nodes, courier, db):
    _, worker = nodes
    before = figure(worker, "worker_calls_dropped_total")
    old = int(db.time()[0]) * 1_000 - 601_000
    db.delete(courier.calls)
    for n in range(120):
        db.xadd(courier.calls, {"i": "x", "r": "{}", "c": "song_found", "a": "{}"}, id=f"{old}-{n + 1}")
    eventually(lambda: db.xlen(courier.dead) >= 120 and not db.xlen(courier.calls), 12, "they were given up")
    eventually(lambda: figure(worker, "worker_calls_dropped_total") == before + 120, 12, "they are counted")
    eventually(lambda: figure(worker, "calls_dead_entries") >= 120, 12, "they are told")
    told = eventually(lambda: worker.lines("calls of a service outside were given up"), what="it is logged")
    assert told[0]["service"] == "catalogue"


ALONE = {
    "bad_name": ({"call_out": "Cata_logue song_found"}, "is no name of a service"),
    "one_word": ({"call_out": "catalogue"}, "expected a service and the command that gets its answer"),
    "unrated": ({"call_out": "catalogue song_found", "rate": []}, "e.g. @rate 10/60 s user"),
}
TOGETHER = {
    "no_such": ({"call_out": "catalogue song_fond"}, "there is no command song_fond; did you mean song_found?"),
    "open": ({"call_out": "catalogue put_song"}, "must not @allow user, who could answer in the courier's place"),
}


@pytest.mark.parametrize("mistakes", [ALONE, TOGETHER])
def test_check_tells_what_is_wrong_with_file_line_and_mend(mistakes, tmp_path, shared_server):
    wrong = {name: script(name, key="box room:{shopId}#box", topic="room:{shopId}",
                          **({"rate": ["1/1 s user", "1/1 s address"]} | tags)) for name, (tags, _) in mistakes.items()}
    directory = write_scripts(tmp_path / "scripts", pack=example_pack(), **examples(), **wrong)
    told = check(shared_server.url, directory, tmp_path)
    assert told.returncode == 1
    for name, (_, message) in mistakes.items():
        line = rf"^error: \S+/{name}\.lua:\d+: @call_out: .*{re.escape(message)}"
        assert re.search(line, told.stdout, re.M), told.stdout
