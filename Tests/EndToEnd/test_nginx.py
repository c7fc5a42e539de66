"""Two real gateways behind a real nginx, both ways of deploy/: published on one, received on the other."""


import signal

import httpx
import pytest
from websockets.exceptions import ConnectionClosed, InvalidHandshake

from Fixtures.clients.native import Client
from Fixtures.processes.gateway import API_KEY
from Fixtures.processes.nginx import RunningNginx
from Fixtures.waiting import eventually


@pytest.fixture
def pair(gateway):
    """Two gateways of one Redis that believe nginx who the client is."""
    flags = ["--listen-plain", "127.0.0.1:0", "--trust-proxy", "127.0.0.1/32", "--proxy-protocol", "tls"]
    return [gateway(*flags), gateway(*flags)]


@pytest.fixture
def nginx(pair, tmp_path, certificate):
    def addresses(kind):
        return tuple("%s:%d" % gateway.address(kind) for gateway in pair)

    with RunningNginx(
            tmp_path / "nginx", addresses("tls"), addresses("plain"), certificate.cert, certificate.key) as nginx:
        yield nginx


def sessions(gateway):
    return int(gateway.metric("switchboard_sessions"))


@pytest.mark.parametrize("way", ["stream", "http"])
def test_published_on_one_received_on_the_other(pair, nginx, certificate, topic, way):
    address = getattr(nginx, way)
    clients = [Client(f"wss://{address}/ws", certificate.trusting_context()) for _ in range(4)]
    try:
        for client in clients:
            client.subscribe(topic)
        assert [sessions(gateway) for gateway in pair] == [2, 2], "nginx spreads them"
        for number, gateway in enumerate(pair):
            host, port = gateway.address("plain")
            answer = httpx.post(
                f"http://{host}:{port}/v1/broadcast", headers={"apikey": API_KEY}, trust_env=False,
                json={"topic": topic, "event": "e", "data": {"from": number}})
            assert answer.status_code == 200, answer.text
            for client in clients:
                client.expect("e", data={"from": number}, offset=number + 1)
    finally:
        for client in clients:
            client.close()


@pytest.mark.parametrize("way", ["stream", "http"])
def test_publish_through_nginx(pair, nginx, certificate, topic, way):
    with Client(f"wss://{getattr(nginx, way)}/ws", certificate.trusting_context()) as client:
        client.subscribe(topic)
        answer = httpx.post(
            f"https://{getattr(nginx, way)}/v1/broadcast", headers={"apikey": API_KEY}, trust_env=False,
            verify=certificate.trusting_context(), json={"topic": topic, "event": "e", "data": {}})
        assert answer.status_code == 200, answer.text
        client.expect("e", offset=1)


def test_a_client_moves_when_its_gateway_dies(pair, nginx, certificate, topic):
    client = Client(f"wss://{nginx.stream}/ws", certificate.trusting_context())
    position = client.subscribe(topic)
    [holder] = [gateway for gateway in pair if sessions(gateway) == 1]
    [other] = [gateway for gateway in pair if gateway is not holder]
    holder.kill()
    host, port = other.address("plain")
    for number in range(3):
        httpx.post(
            f"http://{host}:{port}/v1/broadcast", headers={"apikey": API_KEY}, trust_env=False,
            json={"topic": topic, "event": "e", "data": {"n": number}})
    with eventually(lambda: reconnected(nginx, certificate), 10, "another gateway") as back:
        since = {"epoch": position["epoch"], "offset": position["offset"]}
        assert back.subscribe(topic, since)["recovered"] is True
        for number in range(3):
            back.expect("e", data={"n": number})


@pytest.mark.parametrize("way", ["stream", "http"])
def test_clients_leave_a_gateway_that_hangs(gateway, tmp_path, certificate, way):
    """nginx kept the clients of a stopped gateway for 75 s, though it pings every 25 s."""
    flags = ["--listen-plain", "127.0.0.1:0", "--trust-proxy", "127.0.0.1/32", "--proxy-protocol", "tls"]
    pair = [gateway(*flags, limits={"pingMs": 1_000, "pongMs": 1_000}) for _ in range(2)]
    tls, plain = (tuple("%s:%d" % one.address(kind) for one in pair) for kind in ("tls", "plain"))
    # As far above the time between two pings as in the files, or more.
    shorter = {"proxy_timeout 40s": "proxy_timeout 3s", "proxy_read_timeout 40s": "proxy_read_timeout 3s"}
    with RunningNginx(
            tmp_path / "nginx", tls, plain, certificate.cert, certificate.key, more=shorter) as nginx:
        address = getattr(nginx, way)
        client = Client(f"wss://{address}/ws", certificate.trusting_context())
        client.request("ping")
        [holder] = [one for one in pair if sessions(one) == 1]
        holder.signal(signal.SIGSTOP)
        try:
            with pytest.raises(ConnectionClosed):
                client.receive(timeout=10)
            with eventually(lambda: reconnected(nginx, certificate, way), 20, "the other gateway") as back:
                back.request("ping")
        finally:
            holder.signal(signal.SIGCONT)


def reconnected(nginx, certificate, way="stream"):
    try:
        return Client(f"wss://{getattr(nginx, way)}/ws", certificate.trusting_context())
    except (OSError, InvalidHandshake):
        return None


@pytest.mark.parametrize("way", ["stream", "http"])
def test_connections_are_counted_by_the_clients_address(gateway, tmp_path, certificate, topic, way):
    """nginx is one address for everybody; the limit is for each client, whom nginx names."""
    flags = ["--listen-plain", "127.0.0.1:0", "--trust-proxy", "127.0.0.1/32", "--proxy-protocol", "tls"]
    gw = gateway(*flags, limits={"connectionsPerAddressMax": 2})
    ports = ["%s:%d" % gw.address(kind) for kind in ("tls", "plain")]
    with RunningNginx(
            tmp_path / "nginx", (ports[0],) * 2, (ports[1],) * 2, certificate.cert, certificate.key) as nginx:
        def connect(source):
            # 127.0.0.1 is the proxy; these are clients.
            return Client(
                f"wss://{getattr(nginx, way)}/ws", certificate.trusting_context(), local_addr=(source, 0))

        clients = [connect("127.0.0.2") for _ in range(2)]
        with pytest.raises((OSError, EOFError, InvalidHandshake, ConnectionClosed)) as refused:
            connect("127.0.0.2")
        if way == "http":
            assert "429" in str(refused.value)
        with connect("127.0.0.3") as other:
            other.subscribe(topic)
        for client in clients:
            client.subscribe(topic)
            client.close()
        eventually(lambda: connected(connect, "127.0.0.2"), 5, "the place is free again")


def connected(connect, source):
    try:
        connect(source).close()
        return True
    except (OSError, EOFError, InvalidHandshake):
        return False
