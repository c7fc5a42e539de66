"""An app that somebody wrote from docs/scripts alone, an auction room: its pack is `sixth_app/`, five scripts.

No line of Swift knows it. Each of its clients speaks another dialect, and all of them hear the same.
"""

import json
import re
import shutil
import subprocess
from contextlib import ExitStack
from pathlib import Path

import pytest

from Fixtures.clients.native import _run
from Fixtures.clients.phoenix import Frames, Supabase
from Fixtures.clients.socketio import Phone
from Fixtures.clients.streams import stream
from Fixtures.clients.tokens import SECRET
from Fixtures.processes.gateway import Gateway
from Fixtures.processes.node import BINARY, ENVIRONMENT
from Fixtures.processes.worker import Worker
from Fixtures.waiting import eventually

PACK = Path(__file__).resolve().parents[1] / "Fixtures" / "apps" / "sixth_app"


@pytest.fixture(scope="module")
def room(tmp_path_factory, shared_server, certificate):
    """A gateway and a worker with the pack."""
    directory = tmp_path_factory.mktemp("auction")
    gateway = Gateway(directory / "gateway", shared_server.url, certificate, SECRET, "--packs", "none", "--scripts",
                      str(PACK))
    worker = Worker(directory / "worker", shared_server.url, "--packs", "none", scripts=PACK)
    worker.start()
    yield gateway.start().wait_ready()
    gateway.stop()
    worker.stop()


@pytest.fixture
def lot(topics):
    """A lot of this test's own."""
    return topics("lot").removeprefix("lot:")


@pytest.fixture
def people(room, token, lot):
    """HTTP clients by name: `people("ann")`; `name` makes the user of this test's own."""
    with ExitStack() as stack:
        def client(name):
            headers = {"authorization": "Bearer " + token(user(lot, name))}
            return stack.enter_context(room.http(key=None, headers=headers))
        yield client


def user(lot, name):
    return f"{lot}{name}"


def put(room, lot, **more):
    with room.http() as auctioneer:
        answer = auctioneer.put(f"/api/v2/lots/{lot}", json={"lot_title": "A clock"} | more)
    return answer.status_code, answer.json()


def close(room, lot):
    with room.http() as auctioneer:
        answer = auctioneer.post(f"/api/v2/lots/{lot}/close", json={})
    return answer.status_code, answer.json()


def refusal(answer):
    """The status and the body that the pack's own `pack.json` gives to refusals."""
    fault = answer.json()["fault"]
    assert fault["says"], answer.text
    return answer.status_code, fault["code"]


class Listener:
    """Supabase's client for Python, on the loop of all clients."""

    def __init__(self, room, key, topic):
        self.client = Supabase(room, key)
        _run(self.client.__aenter__())
        _run(self.client.join(topic))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        _run(self.client.__aexit__())

    def hears(self):
        told = _run(self.client.next())
        return told["event"], told["payload"]


def test_five_dialects_hear_one_sale(room, people, token, lot, certificate, monkeypatch):
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate.cert))
    topic, ann, bob = f"lot:{lot}", user(lot, "ann"), user(lot, "bob")
    assert put(room, lot.upper(), start_cents=500) == (
        201, {"lot_id": lot, "lot_title": "A clock", "least_cents": 500})
    with ExitStack() as stack:
        native = stack.enter_context(room.client(token=token(ann)))
        phone = stack.enter_context(Phone(room, auth={"token": token(bob), "positions": True}))
        supabase = stack.enter_context(Listener(room, token("eve"), topic))
        # Python's client hides the offset that its frames have.
        frames = stack.enter_context(Frames(room, token("eve")))
        frames.join(f"realtime:{topic}")
        records = stack.enter_context(stream(room, topic, key=token("eve")))
        records.expect("subscribed")
        state = native.subscribe(topic)["state"]
        assert state == {"lot_title": "A clock", "least_cents": 500, "bids": 0, "leads": False, "closed": False}
        assert phone.call("subscribe", {"topic": topic})["state"] == state
        own = native.subscribe(f"user:{ann}")

        # Each client does its part by its own door: a request, a message, an event of Socket.IO.
        native.send("take_seat", {"lot_id": lot}, ref="seat")
        own_lines = [native.receive(), native.receive()]  # the answer and the event, in any order
        assert phone.call("take_seat", {"lot_id": lot.upper()}) == {"lot_id": lot, "seats": 2}
        answer = people("ann").post("/api/v2/bids", json={"id": "b1", "amount_cents": 500})
        assert (answer.status_code, answer.json()) == (
            201, {"lot_id": lot, "id": "b1", "amount_cents": 500, "bids": 1})
        assert phone.call("bid", {"id": "b2", "amount_cents": 700})["bids"] == 2
        assert close(room, lot) == (202, {"lot_id": lot, "winner": bob, "told": 2})

        wanted = [
            ("seat.taken", {"lot_id": lot, "seats": 1}, 2), ("seat.taken", {"lot_id": lot, "seats": 2}, 3),
            ("bid.placed", {"lot_id": lot, "id": "b1", "amount_cents": 500, "bids": 1, "least_cents": 600}, 4),
            ("bid.placed", {"lot_id": lot, "id": "b2", "amount_cents": 700, "bids": 2, "least_cents": 800}, 5),
            ("lot.closed", {"lot_id": lot, "bids": 2}, 6)]
        for event, data, offset in wanted:
            told = records.expect(event)
            assert (told["data"], told["offset"]) == (data, offset)
            assert supabase.hears() == (event, data)
            *_, broadcast = frames.pull()
            assert (broadcast["event"], broadcast["payload"], broadcast["meta"]["offset"]) == (event, data, offset)
            heard, position = phone.hears(event)
            assert (heard, position["topic"], position["offset"]) == (data, topic, offset)
        # What concerns one user alone comes by the worker to that user.
        own_lines += [native.receive() for _ in range(len(wanted) + 1)]
        [ack] = [one for one in own_lines if one["event"] == "ack"]
        assert (ack["ref"], ack["data"]) == ("seat", {"lot_id": lot, "seats": 1})
        seen = [one for one in own_lines if one is not ack]
        assert [(one["event"], one["data"], one["offset"]) for one in seen if one["topic"] == topic] == wanted
        # Two payers caused the two, so their order is open.
        told = [one for one in seen if one["topic"] == f"user:{ann}"]
        assert [one["offset"] - own["offset"] for one in told] == [1, 2]
        assert sorted((one["event"], one["data"]) for one in told) == [
            ("bid.passed", {"lot_id": lot, "amount_cents": 700}), ("sale.ended", {"lot_id": lot, "won": False})]
        with room.http(key=token(bob)) as http:
            def ended():
                return http.get(f"/v1/topics/user:{bob}/events").json().get("events")
            last = eventually(ended, what="the winner's event")[-1]
            assert (last["event"], last["data"]) == ("sale.ended", {"lot_id": lot, "won": True})
            assert http.get(f"/v1/topics/{topic}").json()["state"] == {
                "lot_title": "A clock", "least_cents": 800, "bids": 2, "leads": True, "closed": True}


def test_refusals_look_as_the_pack_says(room, people, lot):
    ann, bob = people("ann"), people("bob")

    def bid(http, number, cents):
        return http.post("/api/v2/bids", json={"id": f"b{number}", "amount_cents": cents})

    assert refusal(bid(ann, 1, 500)) == (404, "no_seat")
    assert refusal(ann.post(f"/api/v2/lots/{lot}/seat")) == (404, "no_lot")
    assert refusal(ann.put(f"/api/v2/lots/{lot}", json={"lot_title": "Mine"})) == (403, "forbidden")
    assert put(room, lot, start_cents=500)[0] == 201
    assert [http.post(f"/api/v2/lots/{lot}/seat").status_code for http in (ann, bob)] == [200, 200]
    assert refusal(bid(ann, 1, 499)) == (409, "too_low")
    assert refusal(bid(ann, 1, 0)) == (422, "bad_request")
    assert bid(ann, 1, 500).status_code == 201
    assert refusal(bid(ann, 2, 900)) == (409, "leads_already")
    assert refusal(bid(bob, 1, 599)) == (409, "too_low")
    assert put(room, lot) == (409, {"fault": {
        "code": "has_bids", "says": "Somebody has bid for this lot already.", "status": 409}})
    assert close(room, lot)[0] == 202
    assert close(room, lot)[1]["fault"]["code"] == "closed_already"
    assert refusal(bid(bob, 2, 900)) == (404, "no_lot")
    for _ in range(40):
        answer = bid(bob, 3, 900)
        if answer.status_code == 429:
            break
    fault = answer.json()["fault"]
    assert fault.keys() == {"code", "says", "wait_seconds"} and fault["code"] == "too_fast" and fault["wait_seconds"]


def test_a_retry_is_no_second_bid(room, people, lot, db):
    assert put(room, lot)[0] == 201
    ann = people("ann")
    assert ann.post(f"/api/v2/lots/{lot}/seat").status_code == 200
    answers = [ann.post("/api/v2/bids", json={"id": "b1", "amount_cents": 100}, headers={"idempotency-key": "op-1"})
               for _ in range(2)]
    assert [answer.status_code for answer in answers] == [201, 201] and answers[0].json() == answers[1].json()
    assert db.hmget(f"lot:{lot}#lot", "bids", "least") == [b"1", b"200"]


# What `switchboard check` says of the pack, and of mistakes in it

#: file, what is replaced, by what, what the line says, the mend in it
MISTAKES = {
    "variable": ("bid.lua", "{userId}#seat", "{usrId}#seat", "{usrId} is no @arg", "did you mean userId?"),
    "namespace": ("bid.lua", "@topic    lot:", "@topic    lots:", "lots is not configured", "did you mean lot?"),
    "route": ("put_lot.lua", "/lots/{lot_id} 201", "/lots/{lot} 201", "{lot} is no @arg", "did you mean lotId?"),
    "rate": ("bid.lua", "20/60 s user", "20 per minute", "@rate: expected calls, seconds", "e.g. 6/60 s user"),
    "wire name": ("bid.lua", "1000000000 as amount_cents", "1000000000 amount_cents", 'unexpected "amount_cents"',
                  "then as NAME"),
    "wire name in a body": ("bid.lua", "args.cents < least", "args.amount_cents < least",
                            "args.amount_cents is no @arg", "here it is args.cents"),
    "undeclared key": ("bid.lua", "key.lot, 'least'", "key.lots, 'least'", "key.lots is no @key", "did you mean lot?"),
    "undeclared error": ("bid.lua", "fail('too_low'", "fail('to_low'", '"to_low" is in no @errors', "too_low?"),
    "no such word": ("close_lot.lua", "emit_each(topics", "emit_eech(topics", "emit_eech is no local", "emit_each?"),
    "topic of many": ("close_lot.lua", "= 'user:'", "= 'usr:'", 'no @topic of the header is in "usr"', "mean user?"),
    "global": ("bid.lua", "bids = bids + 1", "total = bids + 1", "total is no local", "write local total"),
    "no such command": ("put_lot.lua", "write('HSET'", "write('HMSET'", '"HMSET" is no command to write by', "HSET?"),
    "writing read": ("bid.lua", "read('HMGET'", "read('HSET'", '"HSET" is no command to read by', "write() takes it"),
    "no such member": ("join_lot.lua", "caller.user ==", "caller.id ==", "caller.id is not there", "caller.user"),
    "writing join": ("join_lot.lua", "local least", "write('DEL', key.lot) local least", "write", "@readonly"),
    "no Lua": ("bid.lua", "'This lot is not for sale.'", "'This lot", "unfinished string", ""),
    "no JSON": ("pack.json", '"lot": {', '"lot" {', "not valid JSON", ""),
    "unknown key": ("pack.json", '"errors": [', '"error": [', "error: unknown key", "did you mean errors?"),
    "rule": ("pack.json", '"subscribe": "user"', '"subscribe": "users"', "expected one of anyone, user", "user?"),
    "status": ("pack.json", '"bad_request": 422', '"bad_request": 722', "statuses.bad_request", "from 400 to 599"),
    "word of a refusal": ("pack.json", "$code", "$kode", "$kode stands for nothing", "did you mean $code?"),
    "own route": ("pack.json", '"/api/v2/"', '"/v1/"', "the gateway's own /v1/", "among these"),
}


def check(url: str, directory: Path) -> list[str]:
    """What `switchboard check` says of the pack in a directory, but for what every gateway without flags lacks."""
    result = subprocess.run(
        [str(BINARY), "check", "--packs", "none", "--redis", url, "--scripts", str(directory)], capture_output=True,
        text=True, timeout=20, env=ENVIRONMENT)
    # The settings that come from the pack are listed with its name, too.
    return [line for line in (result.stdout + result.stderr).splitlines()
            if f"{directory}/" in line and not line.startswith("namespaces.")]


def test_check_is_content_with_the_pack(shared_server):
    assert check(shared_server.url, PACK) == []


@pytest.mark.parametrize("name, old, new, told, mend", MISTAKES.values(), ids=MISTAKES.keys())
def test_check_explains_a_mistake_with_file_line_and_mend(shared_server, tmp_path, name, old, new, told, mend):
    directory = tmp_path / "pack"
    shutil.copytree(PACK, directory)
    text = (directory / name).read_text()
    line = text[:text.index(old)].count("\n") + 1
    (directory / name).write_text(text.replace(old, new, 1))
    lines = check(shared_server.url, directory)
    assert len(lines) == 1 and f"{directory}/{name}:{line}: " in lines[0], lines
    assert told in lines[0] and mend in lines[0], lines


def test_the_pack_uses_what_the_guide_teaches():
    """It is the guide that is tried by this pack, so the pack goes through most of its features."""
    texts = "".join(path.read_text() for path in sorted(PACK.glob("*.lua")))
    tags = set(re.findall(r"^-- @(\w+)", texts, re.M))
    assert tags >= {"resolve", "rate", "subscribe", "span", "http", "errors"} and "emit_each(" in texts
    assert len(list(PACK.glob("*.lua"))) == 5 and json.loads((PACK / "pack.json").read_text())["errors"]
