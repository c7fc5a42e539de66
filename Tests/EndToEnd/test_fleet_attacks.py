"""Strangers, hostile queries and hostile nodes against the questions over all nodes."""

import concurrent.futures
import json

import pytest

from Fixtures.clients.other_node import OtherNode
from Fixtures.clients.tokens import SECRET, sign
from Fixtures.processes.asked_fleet import QUESTIONS, READER, WRITER, Fleet
from Fixtures.processes.gateway import error_code
from Fixtures.waiting import eventually


@pytest.fixture(scope="module")
def fleet(tmp_path_factory, certificate):
    with Fleet(tmp_path_factory.mktemp("fleet"), certificate, count=2) as fleet:
        fleet.all_nodes(0)
        yield fleet


def test_faults_of_a_question_are_named(fleet):
    with fleet.gateways[0].http(key=READER) as http:
        for query in ["topics?sort=x", "topics?limit=501", "topics?limit=0", "sessions?usr=ann", "sessions?user=a%20b",
                      "sessions?user=a&user=b", "sessions?address=1.2", "slow?user=a", "talkers?by=topic", "nodes?x=1",
                      "outbox?x=1", "sessions?user=%zz", "sessions?user=%00", "sessions?user=" + 300 * "u",
                      "sessions?limit=1e3", "sessions?limit=%2B5", "sessions?limit=-1", "sessions?limit=05",
                      "sessions?limit=" + 40 * "9", "sessions?node=%23node:x", "sessions?node=a%0Ab",
                      "sessions?node=" + 33 * "n", "sessions?topic=shop:1%0A2", "topics?namespace=*", "topics?limit=",
                      "topics?sort[]=rate", "talkers?by=%F0%9F%92%A3", "workers?limit=1", "webhooks?a"]:
            response = http.get(f"/v1/{query}")
            assert (response.status_code, error_code(response)) == (400, "bad_request"), query
        assert http.post("/v1/nodes").status_code == 405


def test_only_keys_with_the_right_may_ask_and_act(fleet):
    user = {"authorization": "Bearer " + sign(SECRET, "ann")}
    bound = {"authorization": "Bearer " + sign(SECRET, "kitchen", role="service", topics=["order:7"])}
    for question in QUESTIONS:
        for key, headers, status in ((None, None, 401), ("a-strangers-key-0123456789", None, 401), (None, user, 403),
                                     (None, bound, 403), (WRITER, None, 403), (READER, None, 200)):
            with fleet.gateways[0].http(key=key, headers=headers) as http:
                assert http.get(f"/v1/{question}").status_code == status, (question, key, headers)
    for key, headers, status in ((None, None, 401), ("a-strangers-key-0123456789", None, 401), (None, user, 403),
                                 (None, bound, 403), (READER, None, 403), (WRITER, None, 404)):
        with fleet.gateways[0].http(key=key, headers=headers) as http:
            assert http.post(f"/v1/sessions/{fleet.node(0)}.0.99999/close").status_code == status, (key, headers)


def test_hostile_bytes_on_the_channel_change_nothing(fleet):
    name = fleet.node(0)
    before = fleet.gateways[0].metric("switchboard_hops_refused_total")
    hostile = [b"?", b"?\n", b"?x 0 0 1\n", b"?x 0 0 1\n" + b"y" * 64, b"?" + b"9" * 5_000, b"?x 0 99 1\nz",
               b"?x 0 0 99999999999999999999\nz", f"?{name} 0 0 1\n".encode() + b"z" * 40, b"?" + bytes(range(256)),
               b"?x 0 0 1\n" + b"\0" * 1_000_000]
    with fleet.redis.client() as db:
        for message in hostile:
            assert db.publish(f"#node:{name}", message) == 1
    eventually(
        lambda: fleet.gateways[0].metric("switchboard_hops_refused_total") == before + len(hostile), 5, "refusals")
    assert not {fleet.node(number) for number in range(2)} & set(fleet.ask("nodes")["unanswered"])


def test_a_question_of_another_node_is_answered_once_and_its_repetition_refused(fleet):
    """Whoever may subscribe in Redis could repeat the question of a node, or its order to close a session."""
    name, gateway = fleet.node(0), fleet.gateways[0]
    with fleet.redis.client() as db, OtherNode(db) as other:
        message = other.message(other.question("nodes", 7), name)
        other.send(message, name)
        node, _, text = other.received()
        assert node == name and text.startswith(b"answer 7\n[1,null,false,[],")
        before = gateway.metric("switchboard_hops_refused_total")
        other.send(message, name)
        eventually(lambda: gateway.metric("switchboard_hops_refused_total") == before + 1, 5, "a refusal")
        declined = gateway.metric("switchboard_fleet_questions_total", outcome="declined")
        for text, word in ((b"ask 8 1 nodes 0 50\n{}", b"clock"), (other.question("weather", 8), b"version"),
                           (other.question("nodes", 8, limit=501), b"version"),
                           (other.question("topics", 8, order=9), b"version"),
                           (other.question("sessions", 8, '{"user":7}'), b"version")):
            other.send(other.message(text, name), name)
            assert other.received()[2] == b"refuse 8 " + word + b"\n", text
        assert gateway.metric("switchboard_fleet_questions_total", outcome="declined") == declined + 5
        for text in (b"", b"ask", b"ask x\n", b"answer 1\n[]", b"refuse 1 busy\n", b"\xff" * 1_000, b"[" * 100_000):
            other.send(other.message(text, name), name)
        # A session of another shard's id, and one that is none.
        for session in (f"{name}.999.1", f"{name}.0.99999999", "x"):
            other.send(other.message(other.question("close", 9, json.dumps({"session": session})), name), name)
            assert other.received()[2] == b"answer 9\n[0,null,false,[],[]]"
    assert fleet.ask("nodes")["unanswered"] == []


def test_hostile_answers_of_a_node_are_its_own_fault_and_nobody_elses(fleet):
    """A node that answers nonsense is named with a reason; the others' rows are there, and the gateway lives."""
    hostile = [b"", b"[]", b"[" * 100_000, b"[0,null,false,[],[[1,[],{}]]]", b"[-1,null,false,[],[]]",
               b'[1,null,false,[],[["x",[1],{}]]]', b'[0,"x",false,[],[]]', b"[0,null,false,[5,4],[]]", b"\xff" * 1_000,
               b"[0,null,false,[]," + b"[[]," * 9_000 + b"[]]]"]
    names = {fleet.node(number) for number in range(2)}
    with fleet.redis.client() as db, OtherNode(db) as other, fleet.gateways[0].http(key=READER) as http:
        other.join()
        for text in hostile:
            fleet_asks(other, http, lambda number, text=text: b"answer %d\n" % number + text, names, "version")
        fleet_asks(other, http, lambda number: b"refuse %d busy\n" % number, names, "busy")
        # A row is taken as it is. The largest numbers are no trap, also with the worker's row beside them.
        row = b'[1,null,false,[],[["x",[],{"id":"x","role":"gateway"}]]]'
        answer = fleet_asks(other, http, lambda number: b"answer %d\n" % number + row, names, None)
        assert {"id": "x", "role": "gateway"} in answer["nodes"]
        huge = b"[9223372036854775807,null,true,[],[]]"
        answer = fleet_asks(other, http, lambda number: b"answer %d\n" % number + huge, names, None)
        assert answer["truncated"] is True and answer["total"] == 2**63 - 1
        other.leave()
    eventually(lambda: fleet.ask("nodes")["unanswered"] == [], 20, "it is forgotten")


def fleet_asks(other, http, reply, names, reason):
    """Asks about nodes while the other node answers with `reply` of the question's number; returns the answer.

    A gateway asks the other node once it has read its entry in the list of nodes.
    """
    def asked():
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            answer = pool.submit(lambda: http.get("/v1/nodes").json())
            while not answer.done():
                message = other.ears.get_message(timeout=0.05)
                if message and message["type"] == "message":
                    node, shard, text = other.opened(message["data"])
                    other.send(other.message(reply(int(text.split(b" ")[1])), node, shard), node)
            found = answer.result()
        reasons = {one["node"]: one["reason"] for one in found["reasons"]}
        return found if other.asked and reasons.get(other.name) == reason else None

    other.asked = 0
    found = eventually(asked, 30, f"an answer with the reason {reason}")
    assert names <= {one["id"] for one in found["nodes"]} and set(found["unanswered"]) <= {other.name}
    return found
