"""The run-id fence and the ledger: what Redis may have lost is told, what it kept goes on."""

import shutil
import signal
from contextlib import contextmanager
from types import SimpleNamespace

import pytest

from Fixtures.clients.native import Client
from Fixtures.processes.fault_proxy import FaultProxy
from Fixtures.processes.gateway import command, error_code
from Fixtures.redis.server import RedisServer
from Fixtures.waiting import eventually, pass_time

SYNCED = ("--appendonly", "yes", "--appendfsync", "always")


def broadcast(http, topic, number):
    return http.post("/v1/broadcast", json={
        "topic": topic, "event": "e", "data": {"n": number}, "id": f"op-{number}"})


def publish(http, topic, number):
    """Publishes once, however often it takes."""
    return eventually(
        lambda: (answer := broadcast(http, topic, number)).status_code == 200 and answer, 10, "a publish").json()


@pytest.fixture
def redis_server(tmp_path):
    server = RedisServer(tmp_path / "own")
    yield server
    server.stop()


@contextmanager
def stopped(gw):
    """The gateway does not run meanwhile; what happens in Redis it learns afterwards."""
    gw.signal(signal.SIGSTOP)
    try:
        yield
    finally:
        gw.signal(signal.SIGCONT)


def audit(gw, topic):
    """The ledger; a shard whose link is not back yet answers 503."""
    with gw.http() as http:
        return eventually(
            lambda: (answer := http.get(f"/v1/topics/{topic}/audit")).status_code == 200 and answer, 10).json()


def test_restart_with_every_write_synced_is_invisible(gateway, redis_server, topic):
    redis_server.start(*SYNCED)
    gw = gateway(server=redis_server)
    with gw.client() as client, gw.http() as http:
        epoch = client.subscribe(topic)["epoch"]
        for number in range(1, 10):
            assert publish(http, topic, number) == {"topic": topic, "epoch": epoch, "offset": number}
            client.expect("e", offset=number)
            if number in (3, 6):
                redis_server.kill()
                redis_server.start(*SYNCED)
        client.expect_nothing()
    report = audit(gw, topic)
    assert report["balanced"] and report["ledger"]["resets"] == 0 and report["offset"] == 9


def test_a_restart_is_invisible_though_the_server_has_forgotten_the_scripts(gateway, redis_server, topic):
    """A connection whose scripts were flushed before it had asked about the run served without that answer's `+`: it
    began new epochs, in which all others saw lost writes. Here scripts cannot be loaded ahead at all."""
    flags = (*SYNCED, "--user", *"default on nopass ~* &* +@all -script|load".split())
    redis_server.start(*flags)
    gw = gateway(server=redis_server)
    with gw.client() as client, gw.http() as http:
        epoch = client.subscribe(topic)["epoch"]
        for number in range(1, 5):
            assert publish(http, topic, number) == {"topic": topic, "epoch": epoch, "offset": number}
            client.expect("e", offset=number)
            if number == 2:
                redis_server.kill()
                redis_server.start(*flags)
        client.expect_nothing()
    assert audit(gw, topic)["ledger"]["resets"] == 0


def test_a_restart_is_invisible_though_the_server_has_no_memory_at_first(gateway, redis_server, topic):
    """Refused for want of memory, the question about the run counted as answered: a connection served without the `+`,
    and its first publishes began new epochs."""
    redis_server.start(*SYNCED)
    gw = gateway(server=redis_server, limits={"redisProbeMs": 60_000})
    with gw.client() as client, gw.http() as http:
        epoch = client.subscribe(topic)["epoch"]
        for number in range(1, 5):
            if number == 3:
                redis_server.kill()
                redis_server.start(*SYNCED, "--maxmemory", "1")
                with redis_server.client() as redis:
                    eventually(lambda: redis.info("errorstats").get("errorstat_OOM"), 10, "a question that is refused")
                    redis.config_set("maxmemory", 0)
            assert publish(http, topic, number) == {"topic": topic, "epoch": epoch, "offset": number}
            client.expect("e", offset=number)
        client.expect_nothing()
    assert audit(gw, topic)["ledger"]["resets"] == 0


def test_events_published_while_the_gateway_is_away_from_redis_are_fetched(gateway, redis_server, topic):
    """The subscription dies with Redis; what another gateway publishes first comes from the log."""
    redis_server.start(*SYNCED)
    near, far = gateway(server=redis_server), gateway(server=redis_server)
    with near.client() as client, far.http() as http:
        client.subscribe(topic)
        with stopped(near):
            redis_server.kill()
            redis_server.start(*SYNCED)
            for number in range(1, 6):
                publish(http, topic, number)
        for number in range(1, 6):
            client.expect("e", offset=number, timeout=10)
    assert audit(near, topic)["balanced"]


def test_the_first_replica_ends_every_epoch_once(gateway, worker, tmp_path):
    """A worker kept the fence of its first connection: each queue that it published ended the epoch again."""
    server = RedisServer(tmp_path / "own", "--repl-diskless-sync-delay", "0", tcp=True).start()
    replica = RedisServer(tmp_path / "replica")
    soon = {"redisProbeMs": 100}
    try:
        gw = gateway("--shards", "1", server=server, limits=soon)
        worker(server=server, limits=soon)
        with gw.client() as client, gw.http() as http, server.client() as redis:
            client.subscribe("shop:f")
            replica.start("--replicaof", "127.0.0.1", str(server.port))
            eventually(lambda: redis.info("replication")["connected_slaves"] == 1, 10, "the first replica")

            def epoch_is_kept_by_gateway_and_worker():
                booked.append(f"b{len(booked)}")
                before = gw.publish("shop:f", "e")["epoch"]
                command(http, "create_booking", shopId="f", bookingId=booked[-1], userId=booked[-1], tier="standard")
                command(http, "move_booking", shopId="f", bookingId=booked[-1], status="confirmed")
                while (message := client.receive())["event"] != "queue:update" or (
                        message["data"]["queueLength"] != len(booked)):
                    if message["event"] == "gap":  # with which the update may have gone
                        return False
                return redis.hget("shop:f#meta", "epoch").decode() == before
            booked = []
            eventually(epoch_is_kept_by_gateway_and_worker, 10, "one epoch for all who write")
    finally:
        for process in (replica, server):
            process.kill()


@pytest.mark.parametrize("frozen, lives, kept", [
    (False, False, True), (True, True, False), (True, False, False)],
    ids=["nothing was lost", "a gateway saw it", "no gateway is left"])
def test_nobody_is_resumed_across_a_stretch_that_is_in_no_file(gateway, redis_server, topic, frozen, lives, kept):
    """`appendonly no` froze the file with the `+` in it: after the restart its offsets were given again to others."""
    redis_server.start(*SYNCED)
    limits = {"redisProbeMs": 100, "sealBeatMs": 100, "sealGapMs": 120_000 if lives or not frozen else 100}
    near = gateway("--shards", "1", server=redis_server, limits=limits)
    with near.client() as client, near.http() as http:
        since = client.subscribe(topic)
        for number in range(1, 4):
            publish(http, topic, number)
        if frozen:
            with redis_server.client() as redis:
                redis.config_set("appendonly", "no")
        for number in range(4, 14):
            publish(http, topic, number)
        client.expect("e", offset=1)
    if not lives:
        near.kill()
        if frozen:
            pass_time(2.1, "the last beat in the file has to be older than sealGapMs, in Redis's whole seconds")
    redis_server.kill()
    redis_server.start(*SYNCED)
    if lives:
        near.wait_ready()
    late = gateway("--shards", "1", server=redis_server, limits=limits)
    with late.http() as http, late.client() as client:
        for number in range(20, 40):
            publish(http, topic, number)
        answer = client.subscribe(topic, since={"epoch": since["epoch"], "offset": 13})
        assert answer["recovered"] == kept, answer
        if kept:
            client.expect("e", offset=14, data={"n": 20})


def test_a_run_that_ceased_to_sync_leaves_no_position_to_the_next(gateway, redis_server, topic):
    """Nothing is synced while the file is rewritten, and the setting was not looked at."""
    redis_server.start(*SYNCED)
    gw = gateway("--shards", "1", server=redis_server, limits={"redisProbeMs": 100})
    with gw.http() as http, redis_server.client() as redis:
        epoch = publish(http, topic, 1)["epoch"]
        redis.config_set("no-appendfsync-on-rewrite", "yes")
        eventually(lambda: redis.hget("#sealed", "weak") == b"1", 10, "the gateway to write it down")
        redis.config_set("no-appendfsync-on-rewrite", "no")
        with gateway("--shards", "1", server=redis_server).http() as other:
            assert publish(other, topic, 2)["epoch"] == epoch, "in one run nothing is lost"
        assert not redis.hget(f"{topic}#meta", "run").endswith(b"+"), "whoever comes later finds it"
    assert "no longer syncs every write" in gw.log_text
    gw.kill()
    redis_server.kill()
    redis_server.start(*SYNCED)
    with gateway("--shards", "1", server=redis_server).http() as http:
        assert publish(http, topic, 3)["epoch"] != epoch


def test_synced_later_than_written_is_another_epoch(gateway, redis_server, topic):
    """What was written before CONFIG SET made Redis sync every write may have been lost by the crash."""
    redis_server.start("--appendonly", "yes", "--appendfsync", "everysec")
    gw = gateway(server=redis_server)
    with gw.client() as client, gw.http() as http:
        epoch = client.subscribe(topic)["epoch"]
        publish(http, topic, 1)
        client.expect("e", offset=1)
        redis_server.kill()
        redis_server.start(*SYNCED)
        again = publish(http, topic, 2)
        assert (again["epoch"] != epoch, again["offset"]) == (True, 1)
        assert client.expect("gap", timeout=10)["data"]["reason"] == "reset"
        client.expect("e", offset=1)


def test_old_dump_is_noticed_though_its_offsets_were_passed_again(gateway, redis_server, topic):
    """Epoch and offset alone would say that nothing is missing."""
    redis_server.start()
    gw = gateway(server=redis_server)
    with gw.client() as client, gw.http() as http, redis_server.client() as redis:
        since = client.subscribe(topic)
        for number in range(1, 6):
            publish(http, topic, number)
            client.expect("e", offset=number)
        redis.save()
        dump = redis_server.directory / "dump.rdb"
        shutil.copy(dump, redis_server.directory / "old.rdb")
        for number in range(6, 11):
            publish(http, topic, number)
            client.expect("e", offset=number)
        redis_server.kill()
        shutil.copy(redis_server.directory / "old.rdb", dump)
        redis_server.start()
        for number in range(11, 31):
            assert publish(http, topic, number)["epoch"] != since["epoch"]
        assert client.expect("gap", timeout=10)["data"]["reason"] == "reset"
        for offset in range(1, 21):
            client.expect("e", offset=offset, data={"n": offset + 10})
        with gw.client() as late:
            assert not late.subscribe(topic, since={"epoch": since["epoch"], "offset": 10})["recovered"]


def test_rollback_within_one_run_is_noticed_by_the_gateway_that_knows(gateway, server, topic):
    gw = gateway(server=server)
    with gw.client() as client, gw.http() as http, server.client() as redis:
        epoch = client.subscribe(topic)["epoch"]
        for number in range(1, 6):
            publish(http, topic, number)
            client.expect("e", offset=number)
        old = {key: redis.dump(key) for key in (f"{topic}#log", f"{topic}#meta")}
        for number in range(6, 8):
            publish(http, topic, number)
            client.expect("e", offset=number)
        for key, value in old.items():
            redis.restore(key, 0, value, replace=True)
        answer = publish(http, topic, 8)
        assert (answer["epoch"] != epoch, answer["offset"]) == (True, 1)
        client.expect("gap")
        client.expect("e", offset=1, data={"n": 8})


def test_log_longer_than_one_step_of_a_repair(gateway, server, topic):
    """A repair goes on page by page; the client notices nothing."""
    gw = gateway(server=server, limits={"recoveryEventsMax": 10})
    with gw.client() as client, gw.http() as http, server.client() as redis:
        client.subscribe(topic)
        with stopped(gw):
            redis.client_kill_filter(_type="pubsub")
            with gateway(server=server).http() as other:
                for number in range(1, 101):
                    publish(other, topic, number)
        for number in range(1, 101):
            client.expect("e", offset=number, timeout=10)
    report = audit(gw, topic)
    assert report["balanced"] and report["ledger"]["repaired"] >= 90


def test_what_the_log_still_has_is_delivered_behind_the_gap(gateway, server, topic):
    """Only what no log holds any more is missed."""
    gw = gateway(server=server)
    with gw.client() as client, gw.http() as http, server.client() as redis:
        epoch = client.subscribe(topic)["epoch"]
        publish(http, topic, 1)
        client.expect("e", offset=1)
        with stopped(gw):
            redis.client_kill_filter(_type="pubsub")
            with gateway(server=server).http() as other:
                for number in range(2, 11):
                    publish(other, topic, number)
            redis.xtrim(f"{topic}#log", maxlen=4, approximate=False)
        gap = client.expect("gap", timeout=10)["data"]
        assert (gap["epoch"], gap["offset"], gap["reason"]) == (epoch, 6, "missed")
        for number in range(7, 11):
            client.expect("e", offset=number)
    report = audit(gw, topic)
    assert report["balanced"] and report["ledger"]["missed"] == 5, report


def test_audit_tells_what_became_of_a_topics_events(gateway, server, topic, token):
    gw = gateway(server=server)
    with gw.http() as http, gw.client() as first, gw.client() as second:
        first.subscribe(topic)
        for number in range(1, 4):
            publish(http, topic, number)
            first.expect("e", offset=number)
        epoch = first.subscribe(topic)["epoch"]
        second.subscribe(topic, since={"epoch": epoch, "offset": 1})
        for offset in (2, 3):
            second.expect("e", offset=offset)
        report = audit(gw, topic)
        assert (report["topic"], report["epoch"], report["offset"], report["sessions"]) == (topic, epoch, 3, 2)
        ledger = report["ledger"]
        assert (ledger["published"], ledger["came"], ledger["recovered"], ledger["handed"]) == (3, 3, 2, 5)
        assert (ledger["written"], ledger["waiting"], report["balanced"]) == (5, 0, True)
        page = gw.metrics()
        ended = page.value("switchboard_events_ended_total")
        assert page.value("switchboard_deliveries_total") == ended == 5, "the node's totals balance, too"

    assert eventually(lambda: (r := audit(gw, topic))["sessions"] == 0 and r, 5)["ledger"]["written"] == 5, "kept"
    with gw.http(key=None) as http:
        response = http.get(f"/v1/topics/{topic}/audit")
        assert (response.status_code, error_code(response)) == (401, "unauthorized")
        response = http.get(f"/v1/topics/{topic}/audit", headers={"authorization": f"Bearer {token('u1')}"})
        assert (response.status_code, error_code(response)) == (403, "forbidden")


def test_a_frame_lost_behind_the_gateway_is_a_hole_that_the_client_alone_sees(gateway, server, topic):
    """The fault that proves the chaos checker: the next offset tells the client, and the ledger knows nothing."""
    gw = gateway("--listen-plain", "127.0.0.1:0", server=server)
    with FaultProxy(gw.address("plain"), websockets=True) as proxy, gw.http() as http:
        with Client(f"ws://127.0.0.1:{proxy.port}/ws", None) as client:
            client.subscribe(topic)
            publish(http, topic, 1)
            client.expect("e", offset=1)
            proxy.lose_frame(b'"offset":2')
            for number in (2, 3):
                publish(http, topic, number)
            client.expect("e", offset=3)
            assert proxy.frames_lost == 1
            report = audit(gw, topic)
    assert report["balanced"] and report["ledger"]["written"] == 3, report


def test_what_redis_does_not_let_through_is_not_stored(gateway, tmp_path):
    """The publish was answered 500 and stored; its retry was a duplicate, and the subscriber lacked it."""
    server = RedisServer(tmp_path / "own", tcp=True).start()
    try:
        with server.client() as redis:
            rights = ("on", ">secret", "~*", "+@all")
            redis.execute_command("ACL", "SETUSER", "g", *rights, "&*")
            named = SimpleNamespace(url=f"redis://g:secret@127.0.0.1:{server.port}")
            gw = gateway("--shards", "1", server=named)
            with gw.client() as client, gw.http() as http:
                client.subscribe("shop:1")
                publish(http, "shop:1", 1)
                client.expect("e", offset=1)
                redis.execute_command("ACL", "SETUSER", "g", "-publish")
                assert broadcast(http, "shop:1", 2).status_code >= 500
                assert redis.xlen("shop:1#log") == 1 and redis.hget("shop:1#meta", "offset") == b"1"
                redis.execute_command("ACL", "SETUSER", "g", "+publish")
                answer = publish(http, "shop:1", 2)
                assert answer["offset"] == 2 and not answer.get("duplicate")
                client.expect("e", offset=2)
    finally:
        server.kill()
