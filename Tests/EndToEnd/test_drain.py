"""SIGTERM: clients are told, leave at an even rate, and lose nothing."""

import asyncio
import json
import signal
import socket
import threading
import time

import httpx
import pytest
from websockets.exceptions import ConnectionClosed

from Fixtures.clients import raw
from Fixtures.clients.crowd import Crowd
from Fixtures.clients.followers import LEAVES, WAITS, Follower, most_in_window, publish, stalls, true
from Fixtures.clients.green_watch import GreenWatch
from Fixtures.processes.gateway import API_KEY
from Fixtures.processes.nginx import RunningNginx
from Fixtures.processes.ports import free_port
from Fixtures.redis.server import RedisServer
from Fixtures.waiting import eventually



def test_drain_tells_clients_and_exits_with_zero(gateway, topic):
    gw = gateway(limits={"drainMs": 2_000, "drainGraceMs": 0})
    with Crowd(gw, topic, 60) as crowd:
        gw.signal(signal.SIGTERM)
        closed = crowd.closed()
        assert {code for code, _ in closed} == {1012}
        assert all(events == ["draining"] for _, events in closed)
    assert gw.wait() == 0
    lines = [json.loads(line) for line in gw.log_text.splitlines()]
    told = [line["message"] for line in lines if line["message"].startswith("drain")]
    assert told == ["draining", "drained"] and lines[-1]["message"] == "drained", "an operator sees that it ended"
    assert int(lines[-1]["connectionsCut"]) == 0 and int(lines[-1]["tookMs"]) > 0


def test_drain_hints_differ_so_that_clients_do_not_return_at_once(gateway):
    gw = gateway(limits={"drainMs": 1_000, "drainGraceMs": 0})
    clients = [gw.client() for _ in range(10)]
    try:
        gw.signal(signal.SIGTERM)
        delays = [client.expect("draining")["data"]["reconnectAfterMs"] for client in clients]
        assert len(set(delays)) > 1 and all(isinstance(delay, int) and delay >= 0 for delay in delays)
    finally:
        for client in clients:
            client.close()


def test_readiness_turns_red_before_clients_are_closed(gateway):
    gw = gateway(limits={"drainMs": 3_000, "drainGraceMs": 2_000})
    with gw.client() as client:
        gw.signal(signal.SIGTERM)
        eventually(lambda: gw.ops("/readyz").status_code == 503, 2, "readiness red")
        assert gw.ops("/livez").status_code == 200
        client.expect_close(1012, timeout=10, after=("draining",))
    assert gw.wait() == 0


def test_events_arrive_until_the_end(gateway, topic):
    one, two = gateway(limits={"drainMs": 2_000, "drainGraceMs": 500}), gateway()
    with one.client() as client:
        client.subscribe(topic)
        one.signal(signal.SIGTERM)
        two.publish(topic, "e", {})
        events = [message["event"] for message in client.expect_close(1012, timeout=10, after=("draining", "e"))]
        assert events.count("e") == 1


def test_new_connections_are_refused_during_a_drain(gateway):
    gw = gateway(limits={"drainMs": 3_000, "drainGraceMs": 0})
    with gw.client() as client:
        gw.signal(signal.SIGTERM)
        client.expect("draining")
        with pytest.raises(Exception):
            gw.client().request("ping")


def test_second_sigterm_ends_at_once(gateway):
    gw = gateway(limits={"drainMs": 60_000, "drainGraceMs": 30_000})
    with gw.client() as client:
        gw.signal(signal.SIGTERM)
        eventually(lambda: gw.ops("/readyz").status_code == 503, 5, "the drain")
        gw.signal(signal.SIGTERM)
        gw.wait(seconds_max=3)
        with pytest.raises(ConnectionClosed):
            while True:
                client.receive()
    gw.process = None


# Who cannot be hurried, and who was under way


def test_clients_that_do_not_read_do_not_hold_the_process(gateway, topic):
    limits = {"drainMs": 1_000, "drainGraceMs": 200, "closeMs": 1_000}
    gw = gateway(limits=limits)
    stuck = [raw.upgrade(gw, receive_buffer=4_096)[0] for _ in range(20)]
    for connection in stuck:
        connection.sendall(raw.frame(raw.TEXT, json.dumps({"event": "subscribe", "data": {"topic": topic}}).encode()))
    with gw.http() as http:
        eventually(lambda: http.get(f"/v1/topics/{topic}").json()["subscribers"]["sessions"] == 20, 5, "the members")
        # More than the kernel takes for a peer that does not read.
        while gw.metric("switchboard_queued_bytes") < 1_000_000:
            http.post("/v1/broadcast", json={"topic": topic, "event": "e", "data": {"pad": "x" * 60_000}})
    started = time.monotonic()
    gw.signal(signal.SIGTERM)
    assert gw.wait() == 0
    took = (time.monotonic() - started) * 1_000
    print(f"ended after {took:.0f} ms")
    assert took < limits["drainMs"] + limits["drainGraceMs"] + 2 * limits["closeMs"]
    for connection in stuck:
        connection.close()


def test_a_request_under_way_is_answered(gateway, server):
    # The question what became of rights must not be taken for the publish.
    gw = gateway(server=server, limits={"drainMs": 1_000, "drainGraceMs": 0, "rightsPollMs": 86_400_000})
    answers = []

    def post():
        answers.append(httpx.post(
            f"{gw.origin}/v1/broadcast", headers={"apikey": API_KEY}, verify=gw.certificate.trusting_context(),
            trust_env=False, timeout=10, json={"topic": "shop:1", "event": "e", "data": {}}))

    with server.client() as db:
        commands = db.info("commandstats").get("cmdstat_evalsha", {}).get("calls", 0)
        db.execute_command("CLIENT", "PAUSE", "1200", "WRITE")
        thread = threading.Thread(target=post)
        thread.start()
        eventually(
            lambda: db.info("clients").get("blocked_clients", 0) > 0
            or db.info("commandstats").get("cmdstat_evalsha", {}).get("calls", 0) > commands, 5, "the publish at Redis")
        gw.signal(signal.SIGTERM)
        thread.join()
    assert [answer.status_code for answer in answers] == [200]
    assert answers[0].headers["connection"] == "close"
    assert gw.wait() == 0


def test_an_idle_connection_is_kept_a_while_and_does_not_hold_the_process(gateway, topic):
    gw = gateway(limits={"drainMs": 12_000, "drainGraceMs": 500})
    with gw.http() as http, gw.http() as idle:
        for client in (http, idle):
            assert client.post("/v1/broadcast", json={"topic": topic, "event": "e", "data": {}}).status_code == 200
        started = time.monotonic()
        gw.signal(signal.SIGTERM)
        eventually(lambda: gw.ops("/readyz").status_code == 503, 3, "the drain")
        answer = http.post("/v1/broadcast", json={"topic": topic, "event": "e", "data": {}})
        assert answer.status_code == 200 and answer.headers["connection"] == "close"
        assert gw.wait() == 0
        assert 3 < time.monotonic() - started < 8, "a quarter of the drain time, not all of it"


def test_connections_that_wait_to_be_accepted_are_served(gateway):
    """A listener that is closed resets what it has not accepted: a publisher's request would be lost."""
    gw = gateway("--shards", "1", limits={"drainMs": 20_000, "drainGraceMs": 0})
    context = gw.certificate.trusting_context()
    gw.signal(signal.SIGSTOP)
    waiting = [socket.create_connection(gw.address(), timeout=10) for _ in range(150)]
    gw.signal(signal.SIGTERM)
    gw.signal(signal.SIGCONT)
    for plain in waiting:
        with context.wrap_socket(plain, server_hostname="127.0.0.1") as connection:
            connection.sendall(b"GET /none HTTP/1.1\r\nHost: h\r\n\r\n")
            assert connection.recv(65_536).startswith(b"HTTP/1.1 404 ")
    assert gw.wait() == 0


# The rate at which clients return


@pytest.mark.slow
@pytest.mark.parametrize("manner", [LEAVES, WAITS])
def test_clients_return_at_an_even_rate_and_miss_nothing(gateway, topics, manner):
    """300 clients leave one gateway for another while events are published there."""
    count, seconds = 300, 10
    one = gateway(limits={"drainMs": seconds * 1_000, "drainGraceMs": 0})
    two = gateway()
    names = [topics() for _ in range(5)]

    async def run():
        home = one
        context = one.certificate.trusting_context()
        followers = [
            Follower(lambda: "%s:%d" % home.address(), context, names[n % len(names)], manner) for n in range(count)]
        failures, published = [], {}
        async with asyncio.TaskGroup() as group, httpx.AsyncClient(verify=context, trust_env=False) as http:
            tasks = [group.create_task(follower.run()) for follower in followers]
            await true(lambda: all(follower.live for follower in followers), 60, "everybody's arrival")
            tasks.append(group.create_task(stalls(longest)))
            publisher = group.create_task(publish(http, two.origin, names, 0.1, failures, published))
            await true(lambda: len(published) == len(names), 10, "the first events")
            home = two
            one.signal(signal.SIGTERM)
            assert await asyncio.to_thread(one.wait, 30) == 0
            await true(lambda: all(follower.live for follower in followers), 60, "everybody's return")
            publisher.cancel()
            await true(
                lambda: all(follower.offset >= published[follower.topic] for follower in followers), 10,
                "the last event")
            for task in tasks:
                task.cancel()
        return followers, failures, published

    longest = [0.0]
    followers, failures, published = asyncio.run(run())
    returns = [at for follower in followers for at in follower.returns]
    most = most_in_window(returns, seconds / 10)
    print(f"{len(returns)} returns in {max(returns) - min(returns):.1f} s, at most {most} in {seconds / 10} s; "
          f"{sum(published.values())} published, {sum(follower.events for follower in followers)} received")
    assert failures == []
    assert [follower.holes for follower in followers if follower.holes] == []
    assert all(len(follower.returns) == 1 and len(follower.hints) == 1 for follower in followers)
    assert manner == LEAVES or all(follower.codes == [1012] for follower in followers)
    # Whoever was due while this process stood still returns right after that.
    assert most <= count * (0.1 + longest[0] / seconds) * 1.5


def handshakes(gw) -> int:
    """TLS handshakes since the gateway was started."""
    return int(gw.metric("switchboard_tls_handshakes_total"))


@pytest.fixture
def own_server(tmp_path):
    """A Redis without the leftovers of other tests, of which every gateway would warn."""
    with RedisServer(tmp_path / "own").running() as server:
        yield server


@pytest.mark.slow
def test_rolling_restart_behind_nginx(gateway, worker, own_server, tmp_path, certificate, topics):
    """Three gateways behind nginx, and workers, are restarted in turn: no publish fails, no client misses an event.

    The other gateways stay ready without a warning all the while.
    """
    gateways = [
        gateway("--trust-proxy", "127.0.0.1/32", "--proxy-protocol", "tls", listen=f"127.0.0.1:{free_port()}",
                server=own_server, limits={"drainMs": 2_000, "drainGraceMs": 500}) for _ in range(3)]
    workers = [worker(server=own_server) for _ in range(2)]
    tls = tuple("%s:%d" % one.address() for one in gateways)
    names = [topics() for _ in range(4)]

    async def run(nginx):
        context = certificate.trusting_context()
        followers = [Follower(lambda: nginx.stream, context, names[n % len(names)]) for n in range(60)]
        failures, published = [], {}
        async with asyncio.TaskGroup() as group:
            keeping = httpx.AsyncClient(verify=context, trust_env=False, timeout=20)
            fresh = httpx.AsyncClient(
                verify=context, trust_env=False, timeout=20, limits=httpx.Limits(max_keepalive_connections=0))
            tasks = [group.create_task(follower.run()) for follower in followers]
            await true(lambda: all(follower.live for follower in followers), 30, "everybody's arrival")
            tasks += [
                group.create_task(publish(http, f"https://{nginx.stream}", names[n::2], 0.05, failures, published))
                for http in (keeping, fresh) for n in range(2)]
            for one in gateways:
                with watch.without(one):
                    one.signal(signal.SIGTERM)
                    assert await asyncio.to_thread(one.wait, 15) == 0
                    await asyncio.to_thread(lambda: one.start().wait_ready())
                # nginx leaves alone for fail_timeout who refused it: the next one goes when this one is used again.
                await true(lambda: handshakes(one) > 0, 15, "nginx's trust")
            for one in workers:
                await asyncio.to_thread(lambda: (one.stop(), one.start()))
            await true(lambda: all(follower.live for follower in followers), 20, "everybody's return")
            for task in tasks[len(followers):]:
                task.cancel()
            await true(
                lambda: all(follower.offset >= published[follower.topic] for follower in followers), 10,
                "the last event")
            for task in tasks:
                task.cancel()
            await keeping.aclose()
            await fresh.aclose()
        return followers, failures, published

    with RunningNginx(tmp_path / "nginx", tls, ("127.0.0.1:9", "127.0.0.1:9"), certificate.cert, certificate.key) \
            as nginx, GreenWatch(*gateways) as watch:
        followers, failures, published = asyncio.run(run(nginx))
    print(f"{sum(published.values())} published, {len(failures)} failed; "
          f"{sum(len(follower.returns) for follower in followers)} returns; {watch.looks} looks at readiness")
    assert failures == []
    assert watch.problems == [] and watch.looks > 0
    assert [follower.holes for follower in followers if follower.holes] == []
    assert sum(len(follower.returns) for follower in followers) >= len(followers)
