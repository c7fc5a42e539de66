"""Redis goes and comes back: clients stay, publishers are told, nothing is lost in silence."""

import time

import pytest

from Fixtures.clients.crowd import Crowd
from Fixtures.processes.gateway import Gateway, error_code
from Fixtures.redis.server import RedisServer
from Fixtures.waiting import eventually


@pytest.fixture(params=["unix", "tcp"])
def own_server(request, tmp_path):
    with RedisServer(tmp_path / "own-redis", tcp=request.param == "tcp").running() as server:
        yield server


def broadcast(http, topic, **more):
    return http.post("/v1/broadcast", json={"topic": topic, "event": "e", "data": {}, **more})


def test_two_hundred_clients_stay(gateway, own_server, topic):
    gw = gateway(server=own_server)
    with Crowd(gw, topic, 200) as crowd, gw.http() as http:
        assert broadcast(http, topic).status_code == 200
        crowd.receive("e")
        own_server.kill()

        def refused():
            response = broadcast(http, topic)
            return response if response.status_code != 200 else None

        response = eventually(refused, 5, "503")
        assert response.status_code == 503 and error_code(response) == "unavailable"
        assert 1 <= int(response.headers["retry-after"]) <= 30
        eventually(lambda: gw.ops("/readyz").status_code == 503, 10, "readiness red")
        assert gw.ops("/livez").status_code == 200, "an outage is no reason to restart the gateway"

        own_server.start()
        returned = time.monotonic()
        eventually(lambda: broadcast(http, topic).status_code == 200, 3, "publishing again")
        messages = crowd.receive("e", seconds_max=3)
        assert time.monotonic() - returned <= 3.5, "delivery is back within 3 s"
        assert len(messages) == 200 and all(message["topic"] == topic for message in messages)
        eventually(lambda: gw.ops("/readyz").status_code == 200, 10, "readiness green")


def test_requests_during_the_outage_are_answered_unavailable(gateway, own_server, topic, token):
    gw = gateway(server=own_server)
    with gw.client(token=token("u1", topics=["conversation:1"])) as client, gw.http() as http:
        own_server.kill()
        eventually(lambda: broadcast(http, topic).status_code == 503, 5, "503")
        client.refused("publish", {"event": "e", "data": {}}, "unavailable", topic="conversation:1")
        assert http.get(f"/v1/topics/{topic}").status_code == 503
        batch = http.post("/v1/broadcast", json={"messages": [{"topic": topic, "event": "e", "data": {}}] * 3})
        assert batch.status_code == 503
        client.request("ping")
        own_server.start()
        eventually(lambda: broadcast(http, topic).status_code == 200, 5, "publishing again")


def test_a_client_that_repeats_during_the_outage_keeps_its_connection(gateway, own_server, topic, token):
    """After a hundred answers `unavailable` it was closed 4429, as if the outage were the client's fault."""
    gw = gateway(server=own_server, limits={"refusalsMax": 5, "redisWaitMs": 50})
    with gw.client(token=token("u1", topics=["conversation:1"])) as client, gw.http() as http:
        own_server.kill()
        eventually(lambda: broadcast(http, topic).status_code == 503, 5, "503")
        for _ in range(20):
            client.refused("publish", {"event": "e", "data": {}}, "unavailable", topic="conversation:1")
        # Faults of its own still count.
        for _ in range(5):
            client.refused("nothing", {}, "not_found")
        client.send("nothing", {})
        client.expect_close(4429, after=("error",))


def test_subscription_made_during_the_outage_ends_live_or_refused(gateway, own_server, topic):
    gw = gateway(server=own_server)
    with gw.client() as client, gw.http() as http:
        own_server.kill()
        eventually(lambda: broadcast(http, topic).status_code == 503, 5, "503")
        client.send("subscribe", {"topic": topic}, ref=1)
        own_server.start()
        answer = client.receive(timeout=10)
        assert answer["ref"] == 1
        if answer["event"] == "error":
            assert answer["data"]["code"] == "unavailable"
            eventually(lambda: client.request("subscribe", {"topic": topic})["event"] == "subscribed", 5, "a join")
        eventually(lambda: broadcast(http, topic).status_code == 200, 5, "publishing again")
        client.expect("e")


def test_retry_after_the_outage_with_an_id(gateway, own_server, topic):
    gw = gateway(server=own_server)
    with gw.http() as http:
        assert broadcast(http, topic, id="op-1").status_code == 200
        own_server.kill()
        eventually(lambda: broadcast(http, topic, id="op-2").status_code == 503, 5, "503")
        own_server.start()
        response = eventually(
            lambda: (answer := broadcast(http, topic, id="op-2")).status_code == 200 and answer, 5, "the retry")
        assert broadcast(http, topic, id="op-2").json()["offset"] == response.json()["offset"]


def test_script_cache_flushed_all_the_time(gateway, server, topic):
    gw = gateway(server=server)
    with gw.client() as client, gw.http() as http, server.client() as redis:
        client.subscribe(topic)
        for offset in range(1, 101):
            redis.script_flush()
            assert broadcast(http, topic).json()["offset"] == offset
            client.expect("e", offset=offset)


def test_scripts_that_redis_has_are_not_loaded_again(gateway, server, topic):
    """Each link sent all of them after each connection: megabytes, and 20 ms of Redis."""
    def calls(name):
        return redis.info("commandstats").get(f"cmdstat_script|{name}", {}).get("calls", 0)

    gw = gateway("--shards", "1", server=server)
    with gw.http() as http, server.client() as redis:
        # Its answer lies behind what was loaded.
        assert broadcast(http, topic).status_code == 200
        loaded = calls("load")
        assert loaded > 20 and calls("exists") == 1
        redis.client_kill_filter(_type="normal", skipme=True)
        eventually(lambda: calls("exists") == 2, what="the next connection")
        eventually(lambda: broadcast(http, topic).status_code == 200, what="the next publish")
        assert calls("load") == loaded


def test_gateway_starts_without_redis_and_becomes_ready_with_it(tmp_path, certificate, secret, topic):
    server = RedisServer(tmp_path / "late")
    gw = Gateway(tmp_path / "gateway", server.url, certificate, secret, limits={"listenGraceMs": 0}).start()
    try:
        assert gw.ops("/livez").status_code == 200 and gw.ops("/readyz").status_code == 503
        server.start()
        gw.wait_ready()
        gw.publish(topic)
    finally:
        gw.stop()
        server.stop()


def test_subscriber_link_killed(gateway, server, topic):
    gw = gateway(server=server)
    with gw.client() as client, gw.http() as http, server.client() as redis:
        client.subscribe(topic)
        for offset in range(1, 6):
            redis.client_kill_filter(_type="pubsub")
            assert broadcast(http, topic).status_code == 200
            client.expect("e", offset=offset, timeout=10)
        client.expect_nothing()


def test_all_links_killed_again_and_again(gateway, server, topic):
    gw = gateway(server=server)
    with gw.client() as client, gw.http() as http, server.client() as redis:
        client.subscribe(topic)
        for number in range(1, 11):
            redis.client_kill_filter(_type="normal", skipme=True)
            redis.client_kill_filter(_type="pubsub")
            eventually(lambda: broadcast(http, topic, id=f"op-{number}").status_code == 200, 5, "publishing")
            client.expect("e", offset=number, timeout=10)
