"""A gateway begins to listen when it can serve, and a port that is taken is an error."""

import concurrent.futures
import json
import socket
import subprocess
import time

import httpx
import pytest

from Fixtures.clients.tokens import SECRET
from Fixtures.processes.gateway import API_KEY, Gateway
from Fixtures.processes.node import BINARY, ENVIRONMENT, NodeProcess
from Fixtures.redis.server import free_port
from Fixtures.waiting import eventually

CLIENTS = 40


def is_open(address: tuple[str, int]) -> bool:
    """Whether somebody accepts connections there."""
    try:
        with socket.create_connection(address, timeout=5):
            return True
    except ConnectionRefusedError:
        return False


def log_lines(node) -> list[dict]:
    return [json.loads(line) for line in node.log_text.splitlines()]


def begin(node: NodeProcess) -> None:
    """Starts the process and waits for nothing."""
    with open(node.log_path, "ab") as log:
        node.process = subprocess.Popen(node.arguments, stdout=log, stderr=log, env=ENVIRONMENT)


@pytest.fixture
def starting(tmp_path, server, certificate):
    """Makes a gateway that is not started yet, at known ports; ends it."""
    made = []

    def make(*flags, **more):
        clients, ops = free_port(), free_port()
        gateway = Gateway(tmp_path / f"starting-{len(made)}", server.url, certificate, SECRET, "--ops",
                          f"127.0.0.1:{ops}", *flags, listen=f"127.0.0.1:{clients}", has_ops=False, **more)
        gateway.addresses = {"tls": [{"host": "127.0.0.1", "port": clients}],
                             "ops": [{"host": "127.0.0.1", "port": ops}]}
        made.append(gateway)
        return gateway

    yield make
    for gateway in made:
        gateway.stop()


@pytest.mark.parametrize("server", ["server", "group"], indirect=True)
def test_clients_that_come_with_the_start_are_served(starting, topic):
    """Of 1,000 clients 44 were refused `unavailable`: the listener was open before the links to Redis were."""
    gateway = starting()

    def publish_at_once(_) -> int:
        eventually(lambda: is_open(gateway.address()), 30, "clients can connect")
        body = {"topic": topic, "event": "e", "data": {}}
        return httpx.post(f"{gateway.origin}/v1/broadcast", headers={"apikey": API_KEY}, json=body, timeout=20,
                          verify=gateway.certificate.trusting_context(), trust_env=False).status_code

    with concurrent.futures.ThreadPoolExecutor(CLIENTS) as pool:
        begin(gateway)
        assert set(pool.map(publish_at_once, range(CLIENTS))) == {200}
    # The first start with empty data logged "redis cannot be used" once for each shard.
    assert {line["level"] for line in log_lines(gateway)} == {"info"}, gateway.log_text


def test_without_redis_a_gateway_listens_after_the_grace(starting, server):
    server.stop()
    gateway = starting(limits={"listenGraceMs": 1_500})
    begin(gateway)
    began = time.monotonic()
    eventually(lambda: is_open(gateway.address("ops")), 10, "operations are served")
    answer = gateway.ops("/readyz")
    assert answer.status_code == 503 and answer.json()["reason"] in ("starting", "connecting", "disconnected")
    if time.monotonic() - began < 1:
        assert not is_open(gateway.address()), "it cannot serve anybody"
    eventually(lambda: is_open(gateway.address()), 10, "it listens all the same")
    assert time.monotonic() - began >= 1.4
    eventually(gateway.ready_path.exists, 5, "the ready file")
    server.start()
    gateway.wait_ready()


@pytest.fixture
def waiting_gateway(starting, server):
    """A gateway that serves operations and waits for Redis, which is stopped."""
    server.stop()
    gateway = starting(limits={"listenGraceMs": 600_000})
    begin(gateway)
    eventually(lambda: is_open(gateway.address("ops")), 10, "operations are served")
    return gateway


def test_clients_can_connect_when_redis_comes_before_the_grace_is_over(waiting_gateway, server):
    server.start()
    eventually(lambda: is_open(waiting_gateway.address()), 10, "clients can connect")
    waiting_gateway.wait_ready()


def test_a_gateway_that_waits_for_redis_can_be_ended(waiting_gateway):
    waiting_gateway.stop()


# Ports


def refused(*arguments) -> str:
    done = subprocess.run([str(BINARY.absolute()), *map(str, arguments)], capture_output=True, text=True, timeout=30,
                          env=ENVIRONMENT)
    assert done.returncode == 1, done.stderr
    return done.stderr


@pytest.mark.parametrize("flag", ["--listen-plain", "--ops"])
def test_a_port_of_another_gateway_is_an_error(starting, server, flag):
    """Both listened, and the kernel gave each of them half of the clients."""
    port = free_port()
    starting("--listen-plain", f"127.0.0.1:{port}").start()
    words = refused("gateway", flag, f"127.0.0.1:{port}", *(
        () if flag == "--listen-plain" else ("--listen-plain", "127.0.0.1:0")), "--redis", server.url)
    assert f"cannot listen on 127.0.0.1:{port}: Address already in use" in words and "--reuse-port" in words


def test_a_port_of_another_gateway_is_an_error_for_dev(starting, tmp_path):
    gateway = starting().start()
    port = gateway.address()[1]
    words = refused("dev", "--port", port, "--state", tmp_path / "state", "--demo=false")
    assert f"cannot listen on 127.0.0.1:{port}: Address already in use" in words


def test_gateways_share_a_port_when_they_are_told_to(starting, server):
    first = starting("--reuse-port").start().wait_ready()
    second = Gateway(first.directory / "second", server.url, first.certificate, SECRET, "--reuse-port",
                     listen=f"127.0.0.1:{first.address()[1]}").start().wait_ready()
    assert second.address() == first.address()
    first.stop()
    second.publish()
    second.stop()


def test_one_of_two_gateways_that_start_at_once_gets_the_port(starting):
    """Neither listened yet when the other bound the address."""
    one, other = starting(), starting()
    place = other.arguments.index("--listen") + 1
    other.arguments[place] = "{}:{}".format(*one.address())
    begin(one)
    begin(other)
    pair = [one, other]
    ended = eventually(lambda: next((node for node in pair if node.process.poll() is not None), None), 20, "one ended")
    assert ended.process.returncode == 1 and "Address already in use" in ended.log_text
    ended.process = None
    eventually(lambda: is_open(one.address()), 10, "the other one listens")
