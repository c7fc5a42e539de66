"""docs/troubleshooting.md: a test has caused each symptom; those that no other test causes are caused here."""

import contextlib
import re
import shutil
from pathlib import Path

import pytest

from Fixtures.clients.tokens import SECRET
from Fixtures.processes.gateway import Gateway, command
from Fixtures.redis.cluster import RedisCluster
from Fixtures.redis.server import RedisServer
from Fixtures.redis.waiting import until
from Fixtures.waiting import eventually

TESTS = Path(__file__).resolve().parents[1]
PAGE = (TESTS.parent / "docs/troubleshooting.md").read_text()
HERE = "EndToEnd/test_symptoms.py"
# The beginning of a row's first cell, the file that causes it, and words of the test there.
CAUSED = [
    ("the gateway does not start and says", "EndToEnd/test_starting.py", "test_a_port_of_another_gateway_is_an_error"),
    ("the connection is refused in the first seconds", "EndToEnd/test_starting.py", "listens_after_the_grace"),
    ("every TLS connection fails behind", "Chaos/night_faults.py", "proxy-protocol"),
    ("HTTP 403 on the upgrade", "EndToEnd/test_client_log.py", "test_a_refused_origin_is_logged_and_counted"),
    ("HTTP 401 on the upgrade", "EndToEnd/test_tokens.py", "test_bad_token_at_the_upgrade_is_401"),
    ("HTTP 404 or 426", "EndToEnd/test_client_log.py", "test_a_websocket_without_upgrade_is_logged_and_counted"),
    ("the connection is refused at once", "EndToEnd/test_overload.py", "switchboard_connections_refused_total"),
    ("new clients are refused, old ones stay", "EndToEnd/test_overload.py", "memoryBytesMax"),
    ("clients of one gateway hear nothing", "EndToEnd/test_nginx.py", "test_clients_leave_a_gateway_that_hangs"),
    ("`the process stood still", "EndToEnd/test_watchdog.py", "the process stood still and goes on"),
    ("every client is refused with 426", "EndToEnd/test_client_log.py", "LOST_UPGRADE"),
    ("a gateway ended with `a loop is stuck", "EndToEnd/test_watchdog.py", "the process ends itself"),
    ("the log says `every user of this machine", "EndToEnd/test_secret_files.py", "that_everybody_can_read"),
    ("4408 after 10 s", "EndToEnd/test_deadlines.py", "test_client_that_does_nothing"),
    ("4408 later", "EndToEnd/test_deadlines.py", "test_client_that_does_not_answer_pings"),
    ("4401", "EndToEnd/test_tokens.py", "4401"),
    ("4410", "EndToEnd/test_why.py", "4410"),
    ("4429", "EndToEnd/test_limits.py", "4429"),
    ("1012", "EndToEnd/test_drain.py", "test_drain_tells_clients_and_exits_with_zero"),
    ("`subscribe` is `not_found`", "EndToEnd/test_topic_rights.py", '"not_found"'),
    ("`subscribe` is `forbidden`", "EndToEnd/test_topic_rights.py", '"forbidden"'),
    ("broadcasts arrive, a plain `PUBLISH` does not", "EndToEnd/test_broadcast.py", "channel_messages_refused_total"),
    ("some events are missing, a `gap`", "EndToEnd/test_why.py", "conflated"),
    ("an event was answered 200 and nobody got it", "EndToEnd/test_fence.py", "/audit"),
    ("a client that returned has a hole", "EndToEnd/test_reference_client.py", "resumes"),
    ("events come late", "EndToEnd/test_fleet_api.py", "test_who_reads_slowly"),
    ("`state` is absent", HERE, "def test_no_state"),
    ("`/readyz` says `clock`", "EndToEnd/test_clocks.py", '"clock"'),
    ("`/readyz` says `descriptors`", "EndToEnd/test_overload.py", '"descriptors"'),
    ("`/readyz` says `format`", "EndToEnd/test_clocks.py", '"format"'),
    ("the queue of a shop does not move", "EndToEnd/test_readiness.py", "no worker is alive"),
    ("any row in the `reasons` or `warnings`", "Chaos/night_rows.py", "@fault"),
    ("`outbox` in the `warnings`", "EndToEnd/test_outbox_lanes.py", "stands_still_is_warned_of"),
    ("a command is `unavailable`, the message speaks of the outbox", "EndToEnd/test_outbox_lanes.py", "outboxMax"),
    ("a command is `unavailable`, the message speaks of what", "EndToEnd/test_outbox_lanes.py", "outboxPayerMax"),
    ("a webhook does not come", "EndToEnd/test_fleet_api.py", '["lastError"]'),
    ("a push does not come", "EndToEnd/test_push.py", "it is dropped"),
    ("something that was to happen at a time", "EndToEnd/test_pack_tests.py", "a script failed: refresh/again"),
    ("calls end in `#outbox-dead`", "EndToEnd/test_outbox_log.py", "#outbox-dead"),
    ("a command is `internal`", "EndToEnd/test_commands.py", "a script failed"),
    ("a repeated call is a `conflict`", "EndToEnd/test_publish_ids.py", "conflict"),
    ("503 with `Retry-After`", "EndToEnd/test_samples.py", "test_a_publisher_waits_for_redis"),
    ("`readonly` in `/readyz`", "EndToEnd/test_redis_access.py", "test_a_replica_is_not_taken"),
    ("`no_master` in `/readyz`", "EndToEnd/test_sentinel.py", "no_master"),
    ("`noreplicas` in `/readyz`", "EndToEnd/test_sentinel.py", "noreplicas"),
    ("a publish is 503, the message speaks of a replica", "EndToEnd/test_sentinel.py", "--redis-wait"),
    ("`oom` in `/readyz`", HERE, "def test_oom"),
    ("`misconf` in `/readyz`", HERE, "def test_misconf"),
    ("`noperm` in `/readyz`", HERE, "def test_noperm"),
    ("`slots_uncovered` in `/readyz`", HERE, "def test_slots_uncovered"),
    ("`subscriber@HOST:PORT`", HERE, "def test_slots_uncovered"),
    ("the log says `slots are open`", HERE, "def test_open_slots"),
    ("`redis_mismatch` in `/readyz`", "EndToEnd/test_delivery_probe.py", "redis_mismatch"),
    ("`layout` in `/readyz`", HERE, "def test_layout"),
    ("the log says `redis could not load its own file`", "EndToEnd/test_load_rights.py", "redis_default_user"),
    ("the log says `redis does not say whether", "EndToEnd/test_load_rights.py", "does not say whether"),
    ("every client got `gap` with `reset` |", "EndToEnd/test_recovery.py", "test_epoch_change_is_told"),
    ("votes, orders and events are gone", "EndToEnd/test_redis_restarts.py", "test_everything_is_there"),
    ("every client got `gap` with `reset` after", "EndToEnd/test_sentinel.py", "reset"),
    ("clients miss events and were not told", "EndToEnd/test_reset_epochs.py", "older append-only file"),
]


def rows() -> list[str]:
    """The rows of the page's tables, from the first cell on."""
    found = [line[2:] for line in PAGE.splitlines() if line.startswith("| ")]
    return [row for row in found if not re.match(r"(you see|code) \|", row)]


def test_each_symptom_of_the_page_is_caused_by_a_test():
    assert len(rows()) >= 40
    for row in rows():
        matching = [entry for entry in CAUSED if row.startswith(entry[0])]
        assert matching, f"no test causes: {row[:80]}"
    for start, file, words in CAUSED:
        assert any(row.startswith(start) for row in rows()), f"no row begins so: {start}"
        assert words in (TESTS / file).read_text(), f"{file} has no {words}"


def test_no_state_before_a_worker_has_computed_the_queue(gw, worker):
    shop = "symptom"
    with gw.http() as http:
        command(http, "create_booking", shopId=shop, bookingId="b1", userId="u1", tier="standard")
    with gw.client() as client:
        assert "state" not in client.subscribe(f"shop:{shop}")
    worker()

    def state():
        with gw.client() as client:
            return client.subscribe(f"shop:{shop}").get("state")
    assert eventually(state, 15, "the state")["shopId"] == shop


def reasons(gateway: Gateway) -> set[str]:
    """The reasons of all conditions of `/readyz`."""
    return {one["reason"] for one in gateway.ops("/readyz").json().get("conditions", [])}


@pytest.fixture
def short(gateway):
    """A gateway that looks often, to be used while its Redis has a fault."""
    return lambda server, *flags: gateway(*flags, server=server, limits={"redisProbeMs": 500})


def test_oom(short, server):
    gw = short(server)
    with server.client() as redis:
        redis.config_set("maxmemory", "1")
        with gw.http() as http:
            assert http.post("/v1/broadcast", json={"topic": "shop:1", "event": "e", "data": {}}).status_code == 503
        eventually(lambda: "oom" in reasons(gw), 15, "the reason")
        redis.config_set("maxmemory", "0")
        eventually(lambda: gw.ops("/readyz").status_code == 200, 15, "readiness")


def test_misconf(short, tmp_path):
    """Redis cannot write its dump, so it takes no more writes."""
    server = RedisServer(tmp_path / "redis", "--enable-protected-configs", "yes").start()
    try:
        gw = short(server)
        with server.client() as redis:
            away = tmp_path / "away"
            away.mkdir()
            redis.config_set("dir", str(away))
            redis.config_set("save", "3600 1")
            shutil.rmtree(away)
            redis.set("x", "1")
            redis.bgsave()
            until(lambda: redis.info("persistence")["rdb_last_bgsave_status"] == "err", what="a failed dump")
            with gw.http() as http:
                answer = http.post("/v1/broadcast", json={"topic": "shop:1", "event": "e", "data": {}})
            assert answer.status_code == 503
            eventually(lambda: "misconf" in reasons(gw), 15, "the reason")
            redis.config_set("stop-writes-on-bgsave-error", "no")
            redis.config_set("save", "")  # it would not end without one more dump
        eventually(lambda: gw.ops("/readyz").status_code == 200, 15, "readiness")
    finally:
        server.stop()


def test_noperm(short, server):
    gw = short(server)
    with server.client() as redis:
        redis.execute_command("ACL", "SETUSER", "default", "-evalsha", "-eval", "-fcall", "-publish")
        eventually(lambda: "noperm" in reasons(gw), 15, "the reason")
        redis.execute_command("ACL", "SETUSER", "default", "+@all")
    eventually(lambda: gw.ops("/readyz").status_code == 200, 15, "readiness")


def test_layout(short, server, tmp_path, certificate):
    """A second gateway comes with the other names."""
    short(server)
    other = Gateway(tmp_path / "other", server.url, certificate, SECRET, "--redis-layout", "tagged",
                    limits={"listenGraceMs": 0, "redisProbeMs": 500}).start()
    try:
        eventually(lambda: "layout" in reasons(other), 15, "the reason")
    finally:
        other.stop()


@pytest.fixture(scope="module")
def small(tmp_path_factory, certificate):
    """A Cluster of three masters without replicas, and a gateway."""
    cluster = RedisCluster(tmp_path_factory.mktemp("small"), "--cluster-require-full-coverage", "no", replicas=0)
    cluster.start()
    gateway = Gateway(tmp_path_factory.mktemp("gateway"), cluster.url, certificate, SECRET, "--shards", "1",
                      limits={"redisProbeMs": 500})
    try:
        yield cluster, gateway.start().wait_ready(30)
    finally:
        gateway.stop()
        cluster.stop()


@pytest.mark.xdist_group("small-cluster")
def test_open_slots(small):
    """Slots that are being moved, or were left half-way. Only the two masters of a move know of it, and a gateway asks
    any of the three, so each of them has one."""
    cluster, gw = small
    masters = cluster.masters()
    slots = {owner.port: slot for slot, owner in enumerate(cluster.owners())}
    with contextlib.ExitStack() as stack:
        clients = [stack.enter_context(master.client()) for master in masters]
        names = [client.execute_command("CLUSTER", "MYID").decode() for client in clients]
        for number, master in enumerate(masters):
            following = (number + 1) % len(masters)
            clients[following].execute_command("CLUSTER", "SETSLOT", slots[master.port], "IMPORTING", names[number])
            clients[number].execute_command("CLUSTER", "SETSLOT", slots[master.port], "MIGRATING", names[following])
        eventually(lambda: "slots are open" in gw.log_text, 60, "the line")
        for client in clients:
            for slot in slots.values():
                client.execute_command("CLUSTER", "SETSLOT", slot, "STABLE")


@pytest.mark.xdist_group("small-cluster")
def test_slots_uncovered(small):
    """One master dies and has no replica: its parts are named, and its slots in the end."""
    cluster, gw = small
    dead = cluster.masters()[-1]
    slots = [slot for slot, owner in enumerate(cluster.owners()) if owner is dead]
    others = [master for master in cluster.masters() if master is not dead]
    dead.stop()
    eventually(lambda: any(f"@127.0.0.1:{dead.port}" in one["part"] for one in gw.ops("/readyz").json()["conditions"]),
               15, "the parts of the dead master")
    for master in others:
        with master.client() as redis:
            redis.execute_command("CLUSTER", "DELSLOTS", *slots)
    eventually(lambda: "slots_uncovered" in reasons(gw), 60, "the reason")
