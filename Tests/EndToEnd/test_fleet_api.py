"""An operator's questions over all nodes, one request each, on three gateways, two workers and a courier."""

import base64
import functools
import json
import secrets
import signal
import time
from datetime import datetime, timedelta

import pytest

from Fixtures.clients import raw
from Fixtures.clients.phoenix import Frames
from Fixtures.clients.tokens import SECRET, sign
from Fixtures.outside.server import Answer, OutsideServer
from Fixtures.processes.courier import CourierProcess
from Fixtures.processes.gateway import Gateway, error_code
from Fixtures.processes.worker import Worker
from Fixtures.redis.server import RedisServer
from Fixtures.waiting import eventually

READER, WRITER = "read-key-0123456789abcdef", "write-key-0123456789abcdef"
#: Every question of the API.
QUESTIONS = ["nodes", "topics", "sessions", "slow", "talkers", "outbox", "workers", "couriers", "webhooks"]
# A busy machine answers late; the tests of the deadline have a gateway of their own.
LIMITS = {"fleetWaitMs": 5_000, "fleetQuestionsPerSecond": 10_000, "redisProbeMs": 500}


class Fleet:
    """Three gateways, two workers and a courier whose receiver is away."""

    def __init__(self, directory, certificate, outside):
        self.redis = RedisServer(directory / "redis").start()
        self.gateways = []
        for number in range(3):
            self.gateways.append(self.gateway(directory / f"gateway-{number}", certificate, LIMITS))
        self.workers = [Worker(directory / f"worker-{number}", self.redis.url).start() for number in range(2)]
        (directory / "secret").write_bytes(b"whsec_" + base64.b64encode(secrets.token_bytes(24)) + b"\n")
        config = {"webhooks": {"kitchen": {
            "url": outside.url + "/hook", "secret-file": str(directory / "secret"), "topics": ["order:*"]}}}
        self.courier = CourierProcess(directory / "courier", self.redis.url, certificate, config).start()

    def gateway(self, directory, certificate, limits, *flags):
        keys = [f"reader:{READER}:read", f"writer:{WRITER}:write"]
        return Gateway(directory, self.redis.url, certificate, SECRET, *flags, limits=limits, keys=keys
                       ).start().wait_ready()

    def stop(self):
        for process in [*self.gateways, *self.workers, self.courier, self.redis]:
            process.stop()

    def ask(self, question, number=0, key=READER):
        """The answer of one gateway to one request."""
        with self.gateways[number].http(key=key) as http:
            response = http.get(f"/v1/{question}")
        assert response.status_code == 200, response.text
        return response.json()

    def all_nodes(self, number):
        """The answer about nodes once a gateway knows all of them."""
        def known():
            answer = self.ask("nodes", number)
            return answer if len(answer["nodes"]) == 6 else None

        return eventually(known, 20, "six processes that know each other")

    @functools.cache  # noqa: B019 the fleet lives as long as the module's tests
    def node(self, number):
        """The id of a gateway."""
        with self.gateways[number].http() as http:
            return http.get("/v1/health").json()["node"]


@pytest.fixture(scope="module")
def fleet(tmp_path_factory, certificate):
    with OutsideServer(certificate, lambda asked: Answer(503)) as outside:
        fleet = Fleet(tmp_path_factory.mktemp("fleet"), certificate, outside)
        try:
            fleet.all_nodes(0)
            yield fleet
        finally:
            fleet.stop()


def test_nodes_tell_version_configuration_and_readiness_of_every_process(fleet):
    names = {fleet.node(number) for number in range(3)}
    for number in range(3):
        answer = fleet.all_nodes(number)
        gateways = [node for node in answer["nodes"] if node["role"] == "gateway"]
        assert {node["id"] for node in gateways} == names and answer["unanswered"] == []
        assert {node["configHash"] for node in gateways} == {gateways[0]["configHash"]}, "they are configured alike"
        for node in gateways:
            assert node["ready"] is True and node["reasons"] == [] and node["draining"] is False
            assert node["memoryBytes"] > 1_000_000 and node["descriptors"] > 5 and node["uptimeSeconds"] >= 0
        roles = sorted(node["role"] for node in answer["nodes"])
        assert roles == ["courier", "gateway", "gateway", "gateway", "worker", "worker"]
        assert {(node["version"], node["format"]) for node in answer["nodes"]} == {
            (gateways[0]["version"], gateways[0]["format"])}


def test_sessions_are_found_on_every_node_by_user_address_topic_and_node(fleet):
    order = ["order:ses-1"]
    tokens = [sign(SECRET, "ann", topics=order), sign(SECRET, "ann", topics=order), sign(SECRET, "bob", topics=order)]
    clients = [fleet.gateways[number].client(token=tokens[number]) for number in range(3)]
    for client in clients:
        client.subscribe("order:ses-1")
    try:
        found = fleet.ask("sessions?user=ann", 2)
        assert found["total"] == 2 and found["unanswered"] == []
        assert {one["node"] for one in found["sessions"]} == {fleet.node(0), fleet.node(1)}
        for one in found["sessions"]:
            assert (one["user"], one["key"], one["address"]) == ("ann", None, "127.0.0.1")
            assert (one["topics"], one["topicCount"], one["dialect"]) == (["order:ses-1"], 1, "native")
            assert one["id"].startswith(one["node"] + ".") and one["since"].startswith("20")
            assert (one["closed"], one["why"]) == (None, None)
        assert fleet.ask("sessions?topic=order:ses-1")["total"] == 3
        assert fleet.ask("sessions?address=127.0.0.1&topic=order:ses-1")["total"] == 3
        assert fleet.ask("sessions?address=192.0.2.1")["sessions"] == []
        there = fleet.ask(f"sessions?topic=order:ses-1&node={fleet.node(2)}")
        assert [one["user"] for one in there["sessions"]] == ["bob"]
        few = fleet.ask("sessions?topic=order:ses-1&limit=2")
        assert len(few["sessions"]) == 2 and few["total"] == 3
        with fleet.gateways[1].client(headers=[("apikey", READER)]) as backend:
            backend.subscribe("order:ses-2")
            assert [one["key"] for one in fleet.ask("sessions?topic=order:ses-2")["sessions"]] == ["reader"]
    finally:
        for client in clients:
            client.close()
    eventually(lambda: all(one["closed"] for one in fleet.ask("sessions?topic=order:ses-1")["sessions"]), 5,
               "the end of all three")
    assert fleet.ask("sessions?topic=order:ses-1")["total"] == 3, "they are listed for an hour"


def test_a_session_of_another_dialect_has_its_name(fleet):
    with Frames(fleet.gateways[1], sign(SECRET, "phx")) as client:
        client.join("realtime:shop:phx-1")
        found = eventually(lambda: fleet.ask("sessions?topic=shop:phx-1")["sessions"], 5, "the session")
        assert found[0]["dialect"].startswith("phoenix")


def test_topics_are_added_up_over_all_nodes(fleet):
    clients = [fleet.gateways[number % 3].client() for number in range(5)]
    for client in clients:
        client.subscribe("shop:top-1")
    clients[0].subscribe("shop:top-2")
    for _ in range(20):
        fleet.gateways[0].publish("shop:top-2", data={"pad": "x" * 100})
    for client in clients[:1]:
        for _ in range(20):
            client.expect("queue:update")
    try:
        top = fleet.ask("topics?namespace=shop&limit=2", 1)["topics"]
        assert (top[0]["topic"], top[0]["members"], top[0]["eventsPerMinute"]) == ("shop:top-1", 5, 0)
        for sort, figure in (("rate", "eventsPerMinute"), ("bytes", "bytesPerMinute")):
            fastest = fleet.ask(f"topics?sort={sort}&namespace=shop&limit=1", 2)["topics"][0]
            assert fastest["topic"] == "shop:top-2" and fastest["members"] == 1
            assert fastest[figure] >= 20 * (100 if figure == "bytesPerMinute" else 1) * 60 / 60
        assert fleet.ask("topics?namespace=feed")["topics"] == []
    finally:
        for client in clients:
            client.close()


def test_who_reads_slowly_and_who_asks_most(fleet):
    """The slow one is named while bytes wait for it; who publishes is counted by key, user and namespace."""
    topic, gateway = "order:slow-1", fleet.gateways[1]
    token = sign(SECRET, "slow-sam", topics=[topic])
    slow, status, _ = raw.upgrade(gateway, "Authorization: Bearer " + token, receive_buffer=4_096)
    assert status == 101
    with slow, fleet.gateways[2].http(key=WRITER) as http:
        slow.sendall(raw.frame(raw.TEXT, json.dumps({"event": "subscribe", "data": {"topic": topic}}).encode()))
        eventually(lambda: fleet.ask(f"sessions?topic={topic}")["total"] == 1, 5, "the slow member")
        body = {"topic": topic, "event": "e", "data": {"pad": "x" * 30_000}}

        def behind():
            assert http.post("/v1/broadcast", json=body).status_code == 200
            return fleet.ask("slow", 0)["sessions"]

        told = eventually(behind, 30, "bytes that wait")
        assert [(one["user"], one["node"]) for one in told] == [("slow-sam", fleet.node(1))]
        assert told[0]["queuedBytes"] > 0 and told[0]["waitingMs"] >= 0
    by_key = {one["key"]: one for one in fleet.ask("talkers?by=key&sort=bytes")["talkers"]}
    assert by_key["writer"]["bytes"] >= 30_000 and by_key["writer"]["events"] >= 1 and by_key["writer"]["redisUs"] > 0
    assert next(iter(fleet.ask("talkers?by=namespace&sort=bytes&limit=1")["talkers"]))["namespace"] == "order"
    with fleet.gateways[0].client(token=sign(SECRET, "tom", topics=["session:tom"])) as tom:
        for _ in range(40):
            tom.send("publish", {"topic": "session:tom", "event": "e", "data": {}})
        while (answer := tom.receive())["event"] == "ack":
            pass
        assert answer["data"]["code"] == "rate_limited", answer
    users = eventually(lambda: fleet.ask("talkers?by=user&sort=refusals")["talkers"], 5, "callers")
    assert users[0]["user"] == "tom" and users[0]["refusals"] >= 1


def test_a_session_is_closed_on_another_node_with_a_reason_of_the_table(fleet):
    with fleet.gateways[1].client(token=sign(SECRET, "eve", topics=["order:eve"])) as eve:
        eve.subscribe("order:eve")
        (session,) = fleet.ask("sessions?user=eve")["sessions"]
        with fleet.gateways[0].http(key=WRITER) as http:
            closed = http.post(f"/v1/sessions/{session['id']}/close?reason=policy_violation")
            assert (closed.status_code, closed.json()) == (200, {
                "id": session["id"], "user": "eve", "node": fleet.node(1), "why": "policy_violation"})
            eve.expect_close(1008)
            (ended,) = eventually(
                lambda: [one for one in fleet.ask("sessions?user=eve")["sessions"] if one["closed"]], 5, "its end")
            assert (ended["id"], ended["why"], ended["topics"]) == (session["id"], "policy_violation", ["order:eve"])
            begun = [datetime.fromisoformat(one["since"]) for one in (session, ended)]
            assert abs(begun[0] - begun[1]) <= timedelta(milliseconds=5) and ended["since"] < ended["closed"]
            assert (ended["user"], ended["address"], ended["dialect"]) == ("eve", "127.0.0.1", "native")
            again = http.post(f"/v1/sessions/{session['id']}/close")
            assert (again.status_code, error_code(again)) == (404, "not_found")
            gone = http.post("/v1/sessions/nobody.0.1/close")
            assert (gone.status_code, error_code(gone)) == (404, "not_found")
            assert http.post(f"/v1/sessions/{session['id']}/close?reason=normal").status_code == 400
            assert http.post("/v1/sessions/nonsense/close").status_code == 400
    for number, key in ((0, "writer"), (1, "writer")):
        text = fleet.gateways[number].log_text
        lines = [json.loads(line) for line in text.splitlines() if session["id"] in line and "operator" in line]
        assert [line["key"] for line in lines] == [key], f"gateway {number} says who did it"
    with fleet.gateways[2].client() as client:
        client.subscribe("shop:close-1")
        (session,) = fleet.ask("sessions?topic=shop:close-1")["sessions"]
        with fleet.gateways[2].http(key=WRITER) as http:
            assert http.post(f"/v1/sessions/{session['id']}/close").json()["why"] == "restart"
        client.expect_close(1012)


def test_outbox_workers_couriers_and_webhooks_tell_what_waits_and_failed(fleet):
    with fleet.redis.client() as db:
        db.xadd("#outbox-dead", {"reason": "no such script", "entry": "x"}, id="1795205000000-0")
    outbox = fleet.ask("outbox", 1)["outbox"]
    assert (outbox["dead"], outbox["lastError"]["reason"]) == (1, "no such script")
    assert outbox["lastError"]["at"].startswith("2026-11-20T")
    eventually(lambda: any(one["partitions"] for one in fleet.ask("workers", 2)["workers"]), 10, "partitions")
    workers = fleet.ask("workers", 2)["workers"]
    assert len(workers) == 2 and sum(one["partitions"] for one in workers) <= 256
    assert [one["role"] for one in fleet.ask("couriers")["couriers"]] == ["courier"]
    fleet.gateways[0].publish("order:hook-1", "status")

    def failed():
        told = fleet.ask("webhooks", 2)["webhooks"]
        return told if told and told[0]["lastError"] else None

    (kitchen,) = eventually(failed, 20, "a receiver that fails")
    assert (kitchen["receiver"], kitchen["couriers"], kitchen["lastError"]["reason"]) == ("kitchen", 1, "status 503")


@pytest.mark.parametrize("sign_number", [signal.SIGSTOP, signal.SIGKILL], ids=["stopped", "killed"])
def test_a_node_that_does_not_answer_is_named_within_the_deadline(fleet, tmp_path, certificate, sign_number):
    asking = fleet.gateway(tmp_path / "asking", certificate, {"fleetQuestionsPerSecond": 10_000, "redisProbeMs": 500})
    mute = fleet.gateway(tmp_path / "mute", certificate, {})
    try:
        with mute.http() as http:
            name = http.get("/v1/health").json()["node"]
        with asking.http(key=READER) as http, mute.client() as client:
            client.subscribe("shop:mute-1")

            def ask():
                began = time.monotonic()
                answer = http.get("/v1/nodes").json()
                return answer, time.monotonic() - began

            def missing():
                told = ask()
                return told if name in told[0]["unanswered"] else None

            eventually(lambda: name in {one["id"] for one in ask()[0]["nodes"]}, 10, "the node in answers")
            mute.signal(sign_number)
            answer, took = eventually(missing, 10, "the missing node")
            assert name not in {one["id"] for one in answer["nodes"]}
            assert took < 1.5, "the deadline is 0.25 s, and the machine is busy"
            assert len([one for one in answer["nodes"] if one["role"] == "gateway"]) >= 1
            if sign_number == signal.SIGSTOP:
                mute.signal(signal.SIGCONT)
                eventually(lambda: name in {one["id"] for one in ask()[0]["nodes"]}, 10, "its answers again")
    finally:
        asking.stop()
        mute.kill()


def test_faults_of_a_question_are_named(fleet):
    with fleet.gateways[0].http(key=READER) as http:
        for query in ["topics?sort=x", "topics?limit=501", "topics?limit=0", "sessions?usr=ann", "sessions?user=a%20b",
                      "sessions?user=a&user=b", "sessions?address=1.2", "slow?user=a", "talkers?by=topic", "nodes?x=1",
                      "outbox?x=1", "sessions?user=%zz"]:
            response = http.get(f"/v1/{query}")
            assert (response.status_code, error_code(response)) == (400, "bad_request"), query
        assert http.post("/v1/nodes").status_code == 405


def test_only_keys_with_the_right_may_ask_and_act(fleet):
    user = {"authorization": "Bearer " + sign(SECRET, "ann")}
    bound = {"authorization": "Bearer " + sign(SECRET, "kitchen", role="service", topics=["order:7"])}
    for question in QUESTIONS:
        for key, headers, status in ((None, None, 401), (None, user, 403), (None, bound, 403), (WRITER, None, 403),
                                     (READER, None, 200)):
            with fleet.gateways[0].http(key=key, headers=headers) as http:
                assert http.get(f"/v1/{question}").status_code == status, (question, key, headers)
    for key, headers, status in ((None, None, 401), (None, user, 403), (None, bound, 403), (READER, None, 403),
                                 (WRITER, None, 404)):
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
    assert not {fleet.node(number) for number in range(3)} & set(fleet.ask("nodes")["unanswered"])


def test_too_many_questions_get_429_and_the_same_question_one_answer(fleet, tmp_path, certificate):
    gateway = fleet.gateway(tmp_path / "few", certificate, {"fleetQuestionsPerSecond": 1})
    try:
        with gateway.http(key=READER) as http:
            statuses = [http.get(f"/v1/topics?limit={number}") for number in range(1, 12)]
            refused = [one for one in statuses if one.status_code != 200]
            assert refused and {one.status_code for one in refused} == {429}
            assert error_code(refused[0]) == "rate_limited" and int(refused[0].headers["retry-after"]) >= 1
            assert gateway.ops("/readyz").status_code == 200
    finally:
        gateway.stop()
