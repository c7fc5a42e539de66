"""A group that Sentinels watch: found, followed, and what a failover may have lost is told (decisions D79)."""

import json
import signal
import subprocess
from functools import partial

import pytest

from Fixtures.processes.gateway import command, error_code
from Fixtures.processes.node import BINARY, ENVIRONMENT
from Fixtures.processes.ports import free_port
from Fixtures.redis.server import RedisServer
from Fixtures.redis.waiting import until
from Fixtures.waiting import eventually

FAILOVER_SECONDS_MAX = 30


@pytest.fixture
def pair(tmp_path):
    """A master and its replica, which nobody watches."""
    master = RedisServer(tmp_path / "master", "--repl-diskless-sync-delay", "0", tcp=True).start()
    replica = RedisServer(tmp_path / "replica", "--repl-diskless-sync-delay", "0", tcp=True)
    replica.start("--replicaof", "127.0.0.1", str(master.port))
    in_step(replica)
    yield master, replica
    for server in (master, replica):
        if server.process is not None:
            server.signal(signal.SIGCONT)
            server.kill()


def in_step(replica):
    """Waits until a server is a replica that has what its master has."""
    with replica.client() as redis:
        until(lambda: redis.info("replication").get("master_link_status") == "up", 40, "a replica in step")


def fail_over(master, replica):
    """Moves the master as an operator does; a replica is taken once the master counts it as online."""
    with master.client() as redis:
        until(lambda: redis.execute_command("FAILOVER", "TO", "127.0.0.1", replica.port), what="a failover")


def calls_of(redis, name):
    """How often a server has run a command."""
    return redis.info("commandstats").get(f"cmdstat_{name}", {"calls": 0})["calls"]


def publish(http, topic, number):
    """Publishes once, however often it takes."""
    def once():
        answer = http.post("/v1/broadcast", json={
            "topic": topic, "event": "e", "data": {"n": number}, "id": f"op-{number}"})
        return answer.status_code == 200 and answer.json()
    answer = eventually(once, FAILOVER_SECONDS_MAX, "a publish")
    return {name: answer[name] for name in ("topic", "epoch", "offset")}


def reasons(gw):
    """Why the gateway is not ready."""
    return {one["reason"] for one in gw.ops("/readyz").json().get("conditions", [])}


def told(node, message):
    """The lines of the log with that message."""
    return [line for line in map(json.loads, node.log_text.splitlines()) if line.get("message") == message]


def leads_to(gw, server):
    """Whether a gateway's links lead to a server and are proven."""
    return (gw.metric("switchboard_redis_master", address=f"127.0.0.1:{server.port}") == 1
            and gw.ops("/readyz").status_code == 200)


def test_a_crash_ends_the_epoch_and_a_planned_failover_keeps_it(gateway, worker, group, topic):
    """One group for all: a crash never is proven whole, FAILOVER TO is, by the old master itself (C1 to C5)."""
    gw, other = gateway("--shards", "2", server=group), gateway("--shards", "1", server=group)
    node = worker(server=group)
    first, second = group.servers
    with gw.client() as client, gw.http() as http, other.http() as far:
        epoch = client.subscribe(topic)["epoch"]
        for number in (1, 2):
            assert publish(http, topic, number) == {"topic": topic, "epoch": epoch, "offset": number}
            client.expect("e", offset=number)
        first.kill()
        after = publish(http, topic, 3)
        assert (after["epoch"] != epoch, after["offset"]) == (True, 1)
        assert client.expect("gap", timeout=FAILOVER_SECONDS_MAX)["data"]["reason"] == "reset"
        client.expect("e", offset=1, timeout=FAILOVER_SECONDS_MAX)
        eventually(lambda: leads_to(gw, second) and leads_to(other, second), FAILOVER_SECONDS_MAX, "the other server")
        # It comes back as a master that takes writes, for as long as the Sentinels let it.
        first.start()
        for number in range(2, 6):
            assert publish(far, topic, number + 2) == {"topic": topic, "epoch": after["epoch"], "offset": number}
            client.expect("e", offset=number)
        assert leads_to(gw, second) and leads_to(other, second)
        with first.client() as redis:
            assert not [one["name"] for one in redis.client_list()
                        if one["name"].startswith("switchboard-") and not one["name"].endswith("-look")]
        # Votes and the outbox go on with the worker, which has followed, too.
        call = partial(command, http)
        call("start_session", shopId="sentinel")
        for user in ("dj", "u1"):
            call("check_in", shopId="sentinel", userId=user)
        call("add_track", shopId="sentinel", trackId="t1", trackName="One", userId="dj")
        assert call("vote", shopId="sentinel", trackId="t1", vote="up", userId="u1")
        assert [line["epochs"] for line in told(node, "redis has another master")] == ["reset"]

        in_step(first)
        until(group.know_each_other, 40, "the Sentinels know the replica")
        fail_over(second, first)
        assert publish(http, topic, 8) == {"topic": topic, "epoch": after["epoch"], "offset": 6}
        assert publish(far, topic, 9) == {"topic": topic, "epoch": after["epoch"], "offset": 7}
        for number in (6, 7):
            client.expect("e", offset=number, timeout=FAILOVER_SECONDS_MAX)
        assert [line["epochs"] for line in told(gw, "redis has another master")] == ["reset", "kept"]
        for epochs in ("kept", "reset"):
            assert gw.metric("switchboard_redis_master_changes_total", epochs=epochs) == 1
        # One that comes later has no proof; what others have written meanwhile needs none.
        with gateway(server=group).http() as late:
            assert publish(late, topic, 10) == {"topic": topic, "epoch": after["epoch"], "offset": 8}
        client.expect("e", offset=8)


def test_without_a_majority_links_that_work_are_kept_and_none_is_made(gateway, group, topic):
    gw = gateway("--shards", "1", server=group)
    with gw.client() as client, gw.http() as http:
        epoch = client.subscribe(topic)["epoch"]
        for sentinel in group.sentinels[1:]:
            sentinel.stop()
        eventually(lambda: gw.metric("switchboard_sentinels_answering") == 1, 30, "two silent Sentinels")
        assert publish(http, topic, 1)["epoch"] == epoch
        client.expect("e", offset=1)
        with group.servers[0].client() as redis:
            redis.client_kill_filter(_type="normal", skipme=True)
        eventually(lambda: "no_master" in reasons(gw), 10, "no majority is told")
        assert "2 of 3 Sentinels do not answer" in gw.log_text
        for sentinel in group.sentinels[1:]:
            sentinel.start()
        assert publish(http, topic, 2) == {"topic": topic, "epoch": epoch, "offset": 2}
        client.expect("e", offset=2)
    checked = partial(check, gw)
    wrong = checked(group.url.replace("/group", "/grupp"))
    assert wrong.returncode != 0 and "watch no master named grupp" in wrong.stdout
    good = checked(group.url)
    assert "3 of 3 Sentinels answer" in good.stdout and "min-replicas-to-write" in good.stdout, good.stdout
    alone = checked(f"redis+sentinel://127.0.0.1:{group.sentinels[0].port}/group")
    assert "know of 3 Sentinels, 1 is configured" in alone.stdout, alone.stdout
    server = checked(f"redis+sentinel://127.0.0.1:{group.servers[0].port}/group")
    assert "the server is no Sentinel" in server.stdout, server.stdout
    sentinel = checked(f"redis://127.0.0.1:{group.sentinels[0].port}")
    assert "write redis+sentinel://" in sentinel.stdout, sentinel.stdout
    nobody = checked(f"redis+sentinel://127.0.0.1:{free_port()}/group")
    assert "1 of 1 Sentinels do not answer" in nobody.stdout, nobody.stdout


def check(gw, url):
    """`switchboard check` with a gateway's keys and another Redis."""
    return subprocess.run(
        [str(BINARY.absolute()), "check", "--listen-plain", "127.0.0.1:0", "--redis", url, "--jwt-secret-file",
         str(gw.directory / "secret"), "--limit", "redisConnectMs=700", "--limit", "redisCallMs=500"],
        capture_output=True, text=True, env=ENVIRONMENT, timeout=60)


def test_a_master_that_was_a_replica_meanwhile_begins_new_epochs(gateway, pair, topic):
    """C1: the process, its run id and even its connections are the same; its offset 2 would be another event's."""
    master, replica = pair
    gw = gateway("--shards", "1", server=master, limits={"redisProbeMs": 200, "redisProbeTimeoutMs": 1_000})
    with gw.client() as client, gw.http() as http, master.client() as here, replica.client() as there:
        epoch = client.subscribe(topic)["epoch"]
        assert publish(http, topic, 1) == {"topic": topic, "epoch": epoch, "offset": 1}
        client.expect("e", offset=1)
        until(lambda: there.hget(f"{topic}#meta", "offset") == b"1", what="the first event on the replica")
        there.replicaof("NO", "ONE")
        assert publish(http, topic, 2) == {"topic": topic, "epoch": epoch, "offset": 2}
        # Before the link is lost: what the gateway has not read then, the old master does not have when it returns.
        client.expect("e", offset=2)
        run_id = master.run_id
        here.replicaof("127.0.0.1", replica.port)
        in_step(master)
        fail_over(replica, master)
        until(lambda: here.role()[0] in (b"master", "master"), what="the old master as the master")
        assert master.run_id == run_id and here.hget(f"{topic}#meta", "offset") == b"1"
        # Until its next probe a gateway may use the old fence (D79); it sends the third when it knows from the second.
        probes = calls_of(here, "publish")
        until(lambda: calls_of(here, "publish") >= probes + 3, what="three probes")
        gw.wait_ready(30)
        again = publish(http, topic, 3)
        assert (again["epoch"] != epoch, again["offset"]) == (True, 1)
        assert client.expect("gap", timeout=10)["data"]["reason"] == "reset"
        client.expect("e", offset=1, data={"n": 3})


def test_what_is_acknowledged_is_on_the_replica(gateway, pair, topic):
    """--redis-wait: a replica that stands still holds up the answers, and is named; nothing is stored twice (C7)."""
    master, replica = pair
    gw = gateway("--shards", "1", "--redis-wait", "1", server=master, limits={"redisWaitMs": 1_500})
    with gw.client() as client, gw.http() as http, replica.client() as there:
        client.subscribe(topic)
        body = {"topic": topic, "event": "e", "data": {"n": 1}, "id": "op-1"}
        for number in range(1, 20):
            answer = http.post("/v1/broadcast", json=body | {"data": {"n": number}, "id": f"op-{number}"})
            assert answer.status_code == 200
            # At this moment, with no time to catch up.
            assert there.hget(f"{topic}#meta", "offset") == str(number).encode()
        replica.signal(signal.SIGSTOP)
        refused = http.post("/v1/broadcast", json=body | {"id": "late"})
        assert (refused.status_code, error_code(refused)) == (503, "unavailable")
        assert "no replica is known to have it" in refused.json()["error"]["message"]
        called = http.post("/v1/commands/start_session", json={"shopId": "wait", "id": "s-1"})
        assert (called.status_code, error_code(called)) == (503, "unavailable")
        # What is only read waits for nobody.
        assert http.get(f"/v1/topics/{topic}/events").status_code == 200
        replica.signal(signal.SIGCONT)

        def again():
            answer = http.post("/v1/broadcast", json=body | {"id": "late"})
            return answer.status_code == 200 and answer.json()
        assert eventually(again, 10, "the replica has it")["offset"] == 20
        assert there.hget(f"{topic}#meta", "offset") == b"20"


def test_a_write_that_is_refused_is_told_and_no_link_is_dialled_again(gateway, server, topic):
    """PUBLISH works without the replicas that a write needs, so a probe by PUBLISH alone stayed green."""
    gw = gateway("--shards", "1", server=server, limits={"redisProbeMs": 100, "redisProbeTimeoutMs": 1_000})
    with server.client() as redis, gw.client() as client:
        client.subscribe(topic)
        before = gw.metric("switchboard_redis_connects_total")
        redis.config_set("min-replicas-to-write", 1)
        eventually(lambda: reasons(gw) == {"noreplicas"}, 10, "the refusal")
        redis.config_set("min-replicas-to-write", 0)
        gw.wait_ready()
        gw.publish(topic, "e")
        client.expect("e", offset=1)
        assert gw.metric("switchboard_redis_connects_total") == before
        # What the probe wrote does not stay.
        assert all(redis.ttl(key) > 0 for key in redis.keys("*#probe:*"))
