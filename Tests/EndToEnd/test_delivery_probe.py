"""Links to Redis that are mute, lead to another server or to a demoted one.

Each fault is found, told and left without a restart; clients stay connected, and what was published meanwhile reaches
them in order from the log, or a gap is told.
"""

import contextlib
import json
import time
from types import SimpleNamespace

import pytest

from Fixtures.processes.fault_proxy import FaultProxy, named
from Fixtures.processes.ports import free_port
from Fixtures.redis.server import RedisServer
from Fixtures.waiting import eventually

# A probe that a busy host keeps for two seconds is not lost: a link that was made anew would be told a second time.
LIMITS = {"redisProbeMs": 200, "redisProbeTimeoutMs": 2_000, "redisCallMs": 500}
FOUND_SECONDS_MAX = 10
SUBSCRIBER, SUBSCRIBER_0, SHARD_0 = named("-subscriber"), named("-shard-0-subscriber"), named("-shard-0")


@pytest.fixture
def proxy(server):
    with FaultProxy(server.socket_path) as proxy:
        yield proxy


@pytest.fixture
def second(tmp_path):
    """Another Redis that has nothing to do with the first."""
    with RedisServer(tmp_path / "second").running() as server:
        yield server


@pytest.fixture
def pair(gateway, server, proxy):
    """A gateway behind the proxy, and one that is not."""
    return (gateway("--shards", "2", server=SimpleNamespace(url=proxy.redis_url), limits=LIMITS),
            gateway("--shards", "1", server=server, limits=LIMITS))


def conditions(gw):
    """What keeps the gateway from being ready, as (part, reason)."""
    return [(part, reason) for part, _, reason in named_conditions(gw)]


def named_conditions(gw):
    """The same with the shard whose subscriber link a part is, as (part, shard, reason)."""
    answer = gw.ops("/readyz")
    body = answer.json()
    if answer.status_code == 200:
        assert body["status"] == "ready" and body["probeAgeMs"] >= 0
        return []
    assert answer.status_code == 503 and body["reason"] == body["conditions"][0]["reason"]
    return [(one["part"], one.get("shard"), one["reason"]) for one in body["conditions"]]


def found(gw, part, *reasons):
    """Waits until readiness tells one of these of the part; liveness is not touched."""
    started = time.monotonic()
    eventually(lambda: any(one == part and why in reasons for one, why in conditions(gw)), FOUND_SECONDS_MAX,
               f"{part} {reasons}")
    print(f"found within {time.monotonic() - started:.2f} s: {conditions(gw)}")
    assert gw.ops("/livez").status_code == 200


def green(gw):
    eventually(lambda: conditions(gw) == [], FOUND_SECONDS_MAX, "readiness")


def told(gw, part, reason):
    """How often the log says it, of the shard of which it says it most often."""
    lines = [json.loads(line) for line in gw.log_text.splitlines()]
    found = [line.get("shard") for line in lines if line.get("part") == part and line.get("reason") == reason]
    return max((found.count(shard) for shard in found), default=0)


def expect_offsets(client, first, last):
    for offset in range(first, last + 1):
        client.expect("e", offset=offset, timeout=10)


@pytest.mark.parametrize("when, part, reasons", [
    (SUBSCRIBER, "subscriber", ["probe_lost"]),
    (SHARD_0, "shard-0", ["timeout", "probe_lost"]),
    (None, "subscriber", ["probe_lost"]),
], ids=["subscriber", "one shard", "all"])
def test_mute_links(pair, proxy, topic, when, part, reasons):
    gw, other = pair
    with gw.client() as client:
        client.subscribe(topic)
        other.publish(topic, "e")
        expect_offsets(client, 1, 1)
        proxy.drop_to_client(when)
        for _ in range(3):
            other.publish(topic, "e")
        found(gw, part, *reasons)
        assert when is None or ("shard-1", "probe_lost") not in conditions(gw) or part == "subscriber"
        other.publish(topic, "e")
        proxy.heal()
        green(gw)
        other.publish(topic, "e")
        expect_offsets(client, 2, 6)
        client.expect_nothing()
    assert {1} <= {told(gw, part, reason) for reason in reasons} <= {0, 1}, "once, not for each probe"
    if part == "subscriber":
        assert gw.metric("switchboard_redis_probe_failures_total", part="subscriber") >= 1
        assert gw.metric("switchboard_redis_resubscribes_total") >= 1
    assert gw.metric("switchboard_redis_probe_age_seconds") < 5
    assert gw.metric("switchboard_ready") == 1


def clients_of_both_shards(stack, gw, redis, topic):
    """Clients until both shards have subscribed to the topic."""
    clients = []
    while redis.pubsub_numsub(topic)[0][1] < 2:
        assert len(clients) < 64, "all clients are on one shard"
        clients.append(stack.enter_context(gw.client()))
        clients[-1].subscribe(topic)
    return clients


@pytest.mark.parametrize("mute", [0, 1])
def test_a_mute_subscriber_of_one_shard_is_named_and_its_topics_are_repaired(pair, proxy, server, topic, mute):
    """Only this link is dialled again; members on the other shard miss nothing meanwhile."""
    gw, other = pair
    others_name = f"-shard-{1 - mute}-subscriber"

    def others(redis):
        return {one["id"] for one in redis.client_list() if one["name"].endswith(others_name)}

    with contextlib.ExitStack() as stack, server.client() as redis:
        clients = clients_of_both_shards(stack, gw, redis, topic)
        other.publish(topic, "e")
        for client in clients:
            expect_offsets(client, 1, 1)
        before = others(redis)
        proxy.drop_to_client(named(f"-shard-{mute}-subscriber"))
        for _ in range(3):
            other.publish(topic, "e")
        eventually(lambda: ("subscriber", mute, "probe_lost") in named_conditions(gw), FOUND_SECONDS_MAX, "the link")
        assert {(part, shard) for part, shard, _ in named_conditions(gw)} == {("subscriber", mute)}
        assert gw.ops("/livez").status_code == 200
        proxy.heal()
        green(gw)
        other.publish(topic, "e")
        for client in clients:
            expect_offsets(client, 2, 5)
            client.expect_nothing()
        assert others(redis) == before != set()
    lines = [json.loads(line) for line in gw.log_text.splitlines()]
    lost = [line for line in lines if line.get("reason") == "probe_lost" and line.get("part")]
    assert [(line["part"], line["shard"]) for line in lost] == [("subscriber", str(mute))]
    assert gw.metric("switchboard_redis_probe_failures_total", part="subscriber") == 1


def test_one_mute_shard_leaves_the_other_links_alone(pair, proxy, server):
    gw, _ = pair

    def ports(redis):
        return {one["name"]: one["id"]
                for one in redis.client_list() if one["name"].endswith(("-shard-1", "-subscriber"))}

    with server.client() as redis:
        before = ports(redis)
        proxy.drop_to_client(SHARD_0)
        found(gw, "shard-0", "timeout", "probe_lost")
        proxy.heal()
        green(gw)
        assert ports(redis) == before


def test_wrong_server_for_the_subscriber(pair, proxy, second, topic):
    gw, other = pair
    with gw.client() as client:
        client.subscribe(topic)
        other.publish(topic, "e")
        expect_offsets(client, 1, 1)
        proxy.retarget(second.socket_path, SUBSCRIBER)
        assert proxy.reset_all(SUBSCRIBER) == 2
        for _ in range(3):
            other.publish(topic, "e")
        found(gw, "subscriber", "redis_mismatch")
        assert told(gw, "subscriber", "redis_mismatch") == 1
        other.publish(topic, "e")
        # Nothing ends the connection to the wrong server but the gateway itself.
        proxy.heal()
        green(gw)
        other.publish(topic, "e")
        expect_offsets(client, 2, 6)
        client.expect_nothing()
    assert gw.metric("switchboard_redis_probe_failures_total", part="mismatch") >= 1


def test_name_moves_while_only_one_connection_is_cut(pair, proxy, server, second, topic):
    """What is written to a server that the name no longer leads to would be lost: every link must follow."""
    gw, other = pair

    def links(redis_server):
        with redis_server.client() as redis:
            return sorted(one["name"].rpartition("-shard")[2] for one in redis.client_list()
                          if one["name"].startswith("switchboard-") and one["name"] not in others)

    with server.client() as redis:
        name = next(one["name"] for one in redis.client_list() if one["name"].endswith("-shard-1"))[:-len("-shard-1")]
        others = {one["name"] for one in redis.client_list() if not one["name"].startswith(name)}
    every = sorted(["-0", "-1", "-0-subscriber", "-1-subscriber"])
    with gw.client() as client:
        position = client.subscribe(topic)
        other.publish(topic, "e")
        expect_offsets(client, 1, 1)
        proxy.retarget(second.socket_path)
        assert proxy.reset_all(SUBSCRIBER_0) == 1
        found(gw, "subscriber", "redis_mismatch")
        green(gw)
        assert (links(second), links(server)) == (every, [])
        for _ in range(3):
            other.publish(topic, "e")
        proxy.heal()
        assert proxy.reset_all(SHARD_0) == 1
        found(gw, "shard-0", "redis_mismatch")
        green(gw)
        assert (links(second), links(server)) == ([], every)
        other.publish(topic, "e")
        epoch, offset = position["epoch"], 1
        while (epoch, offset) != (position["epoch"], 5):
            message = client.receive(timeout=10)
            if message["event"] == "gap":
                epoch, offset = message["data"]["epoch"], message["data"]["offset"]
            else:
                assert message["event"] == "e" and message["offset"] == offset + 1, message
                offset += 1
        client.expect_nothing()


def test_demoted_server(pair, server, topic):
    """A replica brings probes back but takes no writes: the role is asked, idle or not.

    A server that has been a replica writes another history, though it is the same process: whether its data were
    another's meanwhile nobody knows, and clients are told.
    """
    gw, other = pair
    with gw.client() as client, server.client() as redis:
        client.subscribe(topic)
        gw.publish(topic, "e")
        expect_offsets(client, 1, 1)
        redis.replicaof("127.0.0.1", free_port())
        for part in ("subscriber", "shard-0", "shard-1"):
            found(gw, part, "readonly")
        # A link that slept over it all would write under the old fence until its next probe.
        found(other, "shard-0", "readonly")
        redis.replicaof("NO", "ONE")
        green(gw)
        green(other)
        gw.publish(topic, "e")
        other.publish(topic, "e")
        assert client.expect("gap")["data"]["reason"] == "reset"
        expect_offsets(client, 1, 2)
        client.expect_nothing()
    for part in ("subscriber", "shard-0", "shard-1"):
        assert told(gw, part, "readonly") == 1
