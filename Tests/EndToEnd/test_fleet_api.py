"""An operator's questions over all nodes, one request each, on three gateways, two workers and a courier."""

import base64
import json
import secrets
import signal
import time
from contextlib import ExitStack
from datetime import datetime, timedelta

import pytest

from Fixtures.clients import raw
from Fixtures.clients.phoenix import Frames
from Fixtures.clients.tokens import SECRET, sign
from Fixtures.outside.server import Answer, OutsideServer
from Fixtures.processes.asked_fleet import LIMITS, QUESTIONS, READER, WRITER, Fleet
from Fixtures.processes.courier import CourierProcess
from Fixtures.processes.gateway import error_code
from Fixtures.waiting import eventually


@pytest.fixture(scope="module")
def fleet(tmp_path_factory, certificate):
    with OutsideServer(certificate, lambda asked: Answer(503)) as outside:
        directory = tmp_path_factory.mktemp("fleet")
        fleet = Fleet(directory, certificate)
        try:
            fleet.employ(directory, certificate, outside)
            fleet.all_nodes(0)
            yield fleet
        finally:
            fleet.stop()


def test_nodes_show_version_configuration_and_readiness_of_every_process(fleet):
    names = {fleet.node(number) for number in range(3)}
    for number in range(3):
        answer = fleet.all_nodes(number)
        gateways = [node for node in answer["nodes"] if node["role"] == "gateway"]
        assert {node["id"] for node in gateways} == names and answer["unanswered"] == []
        assert {node["configHash"] for node in gateways} == {gateways[0]["configHash"]}, "they are configured alike"
        for node in gateways:
            assert node["ready"] is True and node["reasons"] == [] and node["draining"] is False
            assert node["memoryBytes"] > 1_000_000 and node["descriptors"] > 5 and node["uptimeSeconds"] >= 0
            counts = node["traffic"]
            assert counts["uptimeMs"] >= 1_000 * node["uptimeSeconds"] and counts["cpuMs"] > 0
            assert len(counts["loopTicks"]) == len(counts["loopBoundsUs"]) + 1 and sum(counts["loopTicks"]) > 0
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


def test_ended_sessions_take_no_place_of_open_ones_and_the_total_is_that_of_all(fleet):
    """Ended sessions of one gateway filled the answer, and `total` was as large as `limit` let it be."""
    topic = "shop:ended-1"
    for number in range(12):
        with fleet.gateways[number % 3].client() as client:
            client.subscribe(topic)
    with fleet.gateways[2].client() as client:
        client.subscribe(topic)

        def known():
            found = fleet.ask(f"sessions?topic={topic}")
            return found if sum(one["closed"] is not None for one in found["sessions"]) == 12 else None

        ended = eventually(known, 10, "the ends")
        assert [one["closed"] is None for one in ended["sessions"]] == [True] + 12 * [False]
        ends = [one["closed"] for one in ended["sessions"][1:]]
        assert ends == sorted(ends, reverse=True), "the newest end is first"
        for limit in (1, 2, 5, 500):
            few = fleet.ask(f"sessions?topic={topic}&limit={limit}", 1)
            assert few["total"] == 13 and len(few["sessions"]) == min(limit, 13)
            assert few["sessions"][0]["closed"] is None


def test_the_total_of_all_sessions_does_not_depend_on_the_limit(fleet):
    """A walk over all sessions reads only the busy ones once its rows are full; the others are counted all the same."""
    def open_total(limit):
        return fleet.ask(f"sessions?limit={limit}")["total"]

    eventually(lambda: open_total(1) == open_total(500), 10, "quiet sessions")
    before = open_total(1)
    with ExitStack() as stack:
        clients = [stack.enter_context(fleet.gateways[number % 3].client()) for number in range(7)]
        for client in clients:
            client.subscribe("shop:all-1")
        for limit in (1, 5, 500):
            eventually(lambda: open_total(limit) == before + 7, 10, f"seven more sessions, of which {limit} have a row")
    # Sessions that ended are listed for an hour.
    eventually(lambda: open_total(1) == before + 7, 10, "the same, ended")


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
        assert top[0]["nodes"] == 3, "gateways, not shards"
        found = fleet.ask("topics?namespace=shop&limit=500")
        assert found["total"] == len(found["topics"]), "a topic counts once"
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

        found = eventually(behind, 30, "bytes that wait")
        assert [(one["user"], one["node"]) for one in found] == [("slow-sam", fleet.node(1))]
        assert found[0]["queuedBytes"] > 0 and found[0]["waitingMs"] >= 0
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


def test_outbox_workers_couriers_and_webhooks_show_waiting_work_and_last_errors(fleet):
    with fleet.redis.client() as db:
        db.xadd("#outbox-dead", {"reason": "no such script", "entry": "x"}, id="1795205000000-0")
    outbox = fleet.ask("outbox", 1)["outbox"]
    assert (outbox["dead"], outbox["lastError"]["reason"]) == (1, "no such script")
    assert outbox["lastError"]["at"].startswith("2026-11-20T")
    eventually(lambda: sum(one["partitions"] for one in fleet.ask("workers", 2)["workers"]) == 65, 20, "partitions")
    assert len(fleet.ask("workers", 2)["workers"]) == 2
    assert [one["role"] for one in fleet.ask("couriers")["couriers"]] == ["courier"]
    fleet.gateways[0].publish("order:hook-1", "status")

    def failed():
        found = fleet.ask("webhooks", 2)["webhooks"]
        return found if found and found[0]["lastError"] else None

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
                found = ask()
                return found if name in found[0]["unanswered"] else None

            eventually(lambda: name in {one["id"] for one in ask()[0]["nodes"]}, 10, "the node in answers")
            mute.signal(sign_number)
            answer, took = eventually(missing, 10, "the missing node")
            assert name not in {one["id"] for one in answer["nodes"]}
            assert took < 1.5, "the deadline is 0.25 s, and the machine is busy"
            (reason,) = [one["reason"] for one in answer["reasons"] if one["node"] == name]
            assert reason in ("no_answer", "not_listening"), "Redis may see the end of a killed one later"
            assert asking.metric("switchboard_fleet_questions_total", outcome="partial") >= 1
            assert len([one for one in answer["nodes"] if one["role"] == "gateway"]) >= 1
            if sign_number == signal.SIGSTOP:
                mute.signal(signal.SIGCONT)
                eventually(lambda: name in {one["id"] for one in ask()[0]["nodes"]}, 10, "its answers again")
    finally:
        asking.stop()
        mute.kill()


def test_too_many_questions_get_429_and_so_do_reads_of_queues_but_no_erasure(fleet, tmp_path, certificate):
    """An erasure beyond the rate was dropped in silence, and the user's sessions stayed in the records."""
    gateway = fleet.gateway(tmp_path / "few", certificate, {"fleetQuestionsPerSecond": 1})
    try:
        with fleet.gateways[1].client(token=sign(SECRET, "erased-eve", topics=["order:gone"])) as eve:
            eve.subscribe("order:gone")
        known = "sessions?user=erased-eve"
        eventually(lambda: any(one["closed"] for one in fleet.ask(known)["sessions"]), 10, "its end")
        with gateway.http(key=READER) as http, gateway.http(key=WRITER) as writer:
            eventually(lambda: len(http.get("/v1/nodes").json().get("nodes", ())) >= 7, 20, "the other processes")

            def refused():
                answers = [http.get(f"/v1/topics?limit={number}") for number in range(1, 12)]
                answers += [http.get(f"/v1/{queue}") for queue in ("outbox", "workers", "couriers", "webhooks")]
                return answers if any(one.status_code == 429 for one in answers[-4:]) else None

            # Of four queues read in a row, the rate allows the last one only to a slow machine.
            answers = eventually(refused, 20, "a refusal")
            assert {one.status_code for one in answers} <= {200, 429}
            refusals = [one for one in answers if one.status_code == 429]
            assert error_code(refusals[0]) == "rate_limited" and int(refusals[0].headers["retry-after"]) >= 1
            assert gateway.metric("switchboard_fleet_questions_total", outcome="refused") >= len(refusals)
            assert gateway.ops("/readyz").status_code == 200
            for _ in range(5):
                assert writer.delete("/v1/users/erased-eve/data").status_code == 202
        eventually(lambda: fleet.ask(known)["total"] == 0, 10, "an empty record")
    finally:
        gateway.stop()


@pytest.mark.parametrize("question", ["topics?limit=7", "outbox", "couriers"])
def test_the_same_question_within_a_moment_gets_the_same_answer(fleet, question):
    def shared(http):
        before = fleet.gateways[0].metric("switchboard_fleet_questions_total", outcome="shared")
        answers = [http.get(f"/v1/{question}") for _ in range(10)]
        assert {one.status_code for one in answers} == {200}
        return fleet.gateways[0].metric("switchboard_fleet_questions_total", outcome="shared") - before

    with fleet.gateways[0].http(key=READER) as http:
        # One connection lies on one shard, so that its questions share their answers.
        eventually(lambda: shared(http) >= 1, 20, "a shared answer")


def test_a_courier_that_stops_removes_its_figures(fleet, tmp_path, certificate):
    """They were kept for a day, so couriers that came and went filled the hash until all of it was dropped."""
    (tmp_path / "secret").write_bytes(b"whsec_" + base64.b64encode(secrets.token_bytes(24)) + b"\n")
    config = {"webhooks": {"cellar": {"url": "https://127.0.0.1:9/hook", "secret-file": str(tmp_path / "secret"),
                                      "topics": ["order:*"]}}}
    courier = CourierProcess(tmp_path / "courier", fleet.redis.url, certificate, config).start()
    try:
        with fleet.redis.client() as db:
            def figures():
                return [name for name in db.hkeys("#webhook-figures") if name.startswith(b"cellar ")]

            eventually(figures, 20, "its figures")
            courier.stop()
            assert figures() == []
    finally:
        courier.stop()


@pytest.mark.parametrize("server", ["group", "cluster"], indirect=True)
def test_every_question_is_answered_wholly_on_a_group_and_on_a_cluster(server, gateway):
    gateways = [gateway(server=server, limits=LIMITS) for _ in range(3)]
    with gateways[0].client() as one, gateways[1].client() as two, gateways[2].http() as http:
        def ask(question):
            return http.get(f"/v1/{question}").raise_for_status().json()

        eventually(lambda: len(ask("nodes")["nodes"]) == 3, 30, "three gateways that know each other")
        for client in (one, two):
            client.subscribe("shop:kinds-1")
        for question in QUESTIONS[:5]:
            answer = ask(question)
            assert (answer["unanswered"], answer["reasons"], answer["truncated"]) == ([], [], False), (question, answer)
        (topic,) = ask("topics?namespace=shop")["topics"]
        assert (topic["members"], topic["nodes"]) == (2, 2)
        found = ask("sessions?topic=shop:kinds-1")["sessions"]
        assert len({session["node"] for session in found}) == 2
        closed = http.post(f"/v1/sessions/{found[0]['id']}/close")
        assert closed.status_code == 200, closed.text
        assert ask("workers") == {"workers": []} and ask("couriers")["couriers"] == [] == ask("webhooks")["webhooks"]
        with server.client() as db:
            if "cluster" not in server.url:
                assert ask("outbox")["outbox"]["entries"] == 0
                return
            # What waits in other slots was 0 here.
            outbox = ask("outbox")["outbox"]
            assert [outbox[name] for name in ("entries", "oldestSeconds", "lanes", "dead")] == [None, None, None, 0]
            db.set("{sb}#outbox-figures", "7 3000", px=600_000)
            try:
                known = eventually(lambda: ask("outbox")["outbox"] if ask("outbox")["outbox"]["entries"] else None, 10,
                                   "the figures of a worker")
                assert (known["entries"], known["oldestSeconds"], known["lanes"]) == (7, 3, None)
            finally:
                db.delete("{sb}#outbox-figures")
