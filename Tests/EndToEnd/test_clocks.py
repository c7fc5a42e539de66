"""Clocks of gateways, workers and couriers are compared with Redis's: a wrong one decides nothing, and is told (D5).

A gateway an hour slow answered 200 to a revocation that did not reach a token of ten minutes ago. One that was fast
locked the user out until its time had come. A worker two days fast cancelled a fresh booking.
"""

import base64
import json
import secrets
import subprocess
import time
from datetime import timedelta

import pytest

from Fixtures.clients.certificates import write_certificate
from Fixtures.outside.server import Answer, OutsideServer
from Fixtures.processes.courier import CourierProcess
from Fixtures.processes.faked_clock import needs_faketime, restart
from Fixtures.processes.gateway import command
from Fixtures.processes.node import BINARY, ENVIRONMENT
from Fixtures.redis.server import RedisServer
from Fixtures.waiting import eventually

pytestmark = needs_faketime
LIMITS = {"redisProbeMs": 200}
JUMPS = [("-1h", -3_600), ("+1d", 86_400)]
# A booking that is made by Redis's clock is overdue to a worker that is two days fast.
FURTHER = [*JUMPS, ("+2d", 172_800)]
TOPIC = "/v1/topics/shop:7"


@pytest.fixture
def server(tmp_path):
    """A Redis of its own: its processes must know of no others."""
    with RedisServer(tmp_path / "own").running() as server:
        yield server


@pytest.fixture
def certificate(tmp_path):
    """A certificate that is good by every clock of these tests."""
    return write_certificate(tmp_path, starts=timedelta(days=-5), ends=timedelta(days=5))


def told(node, seconds: int) -> None:
    """Waits until a process says that its clock is wrong, in readiness, metric and log."""
    def is_red() -> bool:
        answer = node.ops("/readyz")
        return answer.status_code == 503 and answer.json()["reason"] == "clock"

    eventually(is_red, 15, "readiness red")
    assert abs(node.metric("switchboard_clock_offset_seconds") - seconds) < 5
    eventually(lambda: "the clock of this process is wrong" in node.log_text, 5, "the log")


def status(gw, token: str) -> int:
    with gw.http(token) as http:
        return http.get(TOPIC).status_code


@pytest.mark.parametrize("offset, seconds", JUMPS, ids=[jump[0] for jump in JUMPS])
def test_a_gateway_with_a_wrong_clock_judges_tokens_by_redis(gateway, worker, server, token, offset, seconds):
    worker(server=server, limits=LIMITS)
    gw = restart(gateway(server=server, limits=LIMITS), offset)
    told(gw, seconds)
    now = int(time.time())
    good = token("u1", iat=now - 600, exp=now + 3_600)
    assert status(gw, good) == 200
    assert status(gw, token("u2", iat=now - 7_200, exp=now - 1_800)) == 401, "it has ended"
    with gw.http() as http:
        before = http.post("/v1/revocations", json={"user": "u1"}).json()["before"]
        assert abs(before - now) < 10
        eventually(lambda: status(gw, good) == 401, 5, "the revocation")
        assert status(gw, token("u1", iat=before + 1, exp=now + 3_600)) == 200, "a later token is good"
        booked = command(http, "create_booking", shopId="7", userId="u1", tier="standard")
    assert booked["createdAt"].startswith(time.strftime("%Y-%m-%dT", time.gmtime(now))) or now % 86_400 > 86_300


@pytest.mark.parametrize("offset, seconds", FURTHER, ids=[jump[0] for jump in FURTHER])
def test_a_worker_with_a_wrong_clock_cancels_no_booking(gateway, worker, server, offset, seconds):
    gw = gateway(server=server, limits=LIMITS)
    one = restart(worker("--worker-ops", "127.0.0.1:0", server=server, limits=LIMITS), offset)
    told(one, seconds)
    with gw.http() as http, server.client() as redis:
        for shop in ("7", "8"):
            command(http, "create_booking", shopId=shop, bookingId=f"b{shop}", userId="u1", tier="standard")
            # What the refresh of the first shop leaves behind goes before the second shop's.
            eventually(lambda shop=shop: redis.exists(f"queue:{shop}") and not redis.xlen("#outbox"), 10, "the queue")
        eventually(lambda: json.loads(redis.hget("shop:7#bookings", "b7") or "{}").get("status"), 5, "the booking")
        assert json.loads(redis.hget("shop:7#bookings", "b7"))["status"] == "pending"
    assert gw.ops("/readyz").status_code == 200, "one wrong clock says nothing against the others"


@pytest.mark.parametrize("offset, seconds", JUMPS, ids=[jump[0] for jump in JUMPS])
def test_a_courier_with_a_wrong_clock_signs_by_redis(gateway, server, certificate, tmp_path, offset, seconds):
    (tmp_path / "secret").write_bytes(b"whsec_" + base64.b64encode(secrets.token_bytes(32)) + b"\n")
    stamps = []

    def receive(asked) -> Answer:
        stamps.append(int(asked.headers["webhook-timestamp"]))
        return Answer(204)

    gw = gateway(server=server, limits=LIMITS)
    with OutsideServer(certificate, receive) as receiver:
        config = {"webhooks": {"kitchen": {
            "url": receiver.url, "secret-file": str(tmp_path / "secret"), "topics": ["shop:*"]}}}
        courier = CourierProcess(tmp_path / "courier", server.url, certificate, config, limits=LIMITS)
        courier.start()
        try:
            restart(courier, offset)
            told(courier, seconds)
            gw.publish("shop:7")
            eventually(lambda: stamps, 10, "the webhook")
            assert abs(stamps[0] - time.time()) < 30
        finally:
            courier.stop()


@pytest.mark.parametrize("offset, seconds", JUMPS, ids=[jump[0] for jump in JUMPS])
def test_where_all_agree_but_redis_they_keep_their_time_and_warn(gateway, worker, server, token, offset, seconds):
    """All processes are turned alike, as if Redis were turned back: its allocator does not bear libfaketime."""
    restart(worker(server=server, limits=LIMITS), offset)
    gw = restart(gateway(server=server, limits=LIMITS), offset)

    def warnings() -> dict:
        answer = gw.ops("/readyz")
        return answer.status_code == 200 and {one["name"]: one["mend"] for one in answer.json().get("warnings", ())}

    eventually(lambda: "of redis" in (warnings() or {}).get("clock", ""), 30, "the warning")
    eventually(lambda: "the clock of redis is wrong" in gw.log_text, 5, "the log")
    now = int(time.time()) + seconds
    assert status(gw, token("u1", iat=now - 600, exp=now + 900)) == 200
    assert status(gw, token("u1", iat=now - 7_200, exp=now - 1_800)) == 401


def test_a_clock_that_is_set_right_is_told(gateway, worker, server):
    worker(server=server, limits=LIMITS)
    gw = restart(gateway(server=server, limits=LIMITS), "-1h")
    told(gw, -3_600)
    restart(gw, "").wait_ready()
    assert abs(gw.metric("switchboard_clock_offset_seconds")) < 5


def test_versions_of_processes_are_told_and_another_format_is_refused(gateway, worker, server, tmp_path):
    """Two versions side by side went unnoticed, as nothing in Redis named them (D10)."""
    one = worker(server=server, limits=LIMITS)
    gw = gateway(server=server, limits=LIMITS)
    version = gw.metrics()
    assert version.value("switchboard_build_info") == 1
    eventually(lambda: gw.metric("switchboard_nodes") == 2, 5, "the worker")
    with server.client() as redis:
        ends = int(time.time() + 600) * 1_000
        redis.hset("#nodes", "older", f"{ends} gateway 9.9.9 1 0")
        eventually(lambda: gw.metric("switchboard_nodes", version="9.9.9") == 1, 5, "the other version")
        for node in (gw, one):
            eventually(lambda node=node: "several versions" in node.log_text and "9.9.9" in node.log_text, 5, "the log")
        check = [str(BINARY), "check", "--redis", server.url, "--listen-plain", "127.0.0.1:1"]
        done = subprocess.run(check, capture_output=True, text=True, timeout=30, env=ENVIRONMENT)
        assert done.returncode == 0 and "9.9.9" in done.stdout, done.stdout
        redis.hdel("#nodes", "older")
        eventually(lambda: gw.metric("switchboard_nodes") == 2, 5, "its end")

        # What it keeps in Redis would be misread: it is refused, and says so, until the other has ended.
        redis.hset("#nodes", "newer", f"{ends} gateway 9.9.9 99 0")
        gw.stop()
        gw.start()
        # Between two tries to connect the reason is another one, so one answer is looked at.
        answer = eventually(lambda: "format" in (one := gw.ops("/readyz")).text and one, 10, "the refusal")
        assert answer.status_code == 503 and answer.json()["reason"] == "format"
        eventually(lambda: "9.9.9 works here with data of format 99" in gw.log_text, 5, "the log")
        done = subprocess.run(check, capture_output=True, text=True, timeout=30, env=ENVIRONMENT)
        assert done.returncode != 0 and "format 99" in done.stdout, done.stdout
        redis.hdel("#nodes", "newer")
        gw.wait_ready()
