"""deploy/nginx*.conf in a real nginx, before stand-ins for the gateways that tell what reached them."""

import asyncio
import http
import json
import queue
import socket
import ssl
import subprocess
import threading

import pytest
from websockets.asyncio.client import connect
from websockets.sync.server import serve

from Fixtures.processes.nginx import RunningNginx

DEADLINE_SECONDS = 10


class StandIn:
    """A plain WebSocket server that keeps each request's headers; it echoes, and answers HTTP with the headers."""

    def __init__(self):
        self.requests = queue.Queue()
        self._server = serve(self._echo, "127.0.0.1", 0, process_request=self._seen, compression=None)
        self.address = "127.0.0.1:%d" % self._server.socket.getsockname()[1]
        self._thread = threading.Thread(target=self._server.serve_forever)
        self._thread.start()

    def close(self):
        self._server.shutdown()
        self._thread.join(DEADLINE_SECONDS)

    def _seen(self, connection, request):
        self.requests.put(request)
        if request.headers.get("Upgrade") is None:
            return connection.respond(http.HTTPStatus.OK, "plain\n")
        return None

    @staticmethod
    def _echo(connection):
        for message in connection:
            connection.send(message)


class RawListener:
    """Accepts TCP connections and keeps the first bytes of each."""

    def __init__(self):
        self.first_bytes = queue.Queue()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = "127.0.0.1:%d" % self._listener.getsockname()[1]
        self._thread = threading.Thread(target=self._accept)
        self._thread.start()

    def close(self):
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join(DEADLINE_SECONDS)

    def _accept(self):
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            with connection:
                connection.settimeout(DEADLINE_SECONDS)
                self.first_bytes.put(connection.recv(4096))


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    directory = tmp_path_factory.mktemp("certificate")
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
         "-subj", "/CN=localhost", "-keyout", directory / "key.pem", "-out", directory / "certificate.pem"],
        check=True, capture_output=True)
    return directory / "certificate.pem", directory / "key.pem"


@pytest.fixture
def gateways():
    """The stand-in behind the HTTP proxy and the one behind the pass-through; each has a dead neighbour."""
    plain, raw = StandIn(), RawListener()
    yield plain, raw
    plain.close()
    raw.close()


@pytest.fixture
def nginx(tmp_path, certificate, gateways):
    plain, raw = gateways
    # Bound and not listening: connections are refused, and nobody else can take the port.
    with socket.socket() as neighbour:
        neighbour.bind(("127.0.0.1", 0))
        dead = "127.0.0.1:%d" % neighbour.getsockname()[1]
        with RunningNginx(tmp_path / "nginx", (raw.address, dead), (plain.address, dead), *certificate) as nginx:
            yield nginx


@pytest.fixture
def unverified():
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


def request(nginx, unverified, text):
    """Sends a request to the HTTP proxy over TLS and returns the whole answer."""
    host, port = nginx.http.split(":")
    with socket.create_connection((host, int(port)), timeout=DEADLINE_SECONDS) as connection:
        with unverified.wrap_socket(connection) as secure:
            secure.sendall(text.encode())
            answer = b""
            while chunk := secure.recv(65536):
                answer += chunk
            return answer.decode()


def echo(url, unverified, message="hello", headers=None):
    """Opens a WebSocket, sends a message and returns what came back.

    By the asynchronous client: the threaded one reads and writes one TLS connection from two threads, and on Python
    3.11 one in fifty of its first writes never arrives.
    """
    async def exchange():
        async with connect(url, ssl=unverified, additional_headers=headers) as client:
            await client.send(message)
            return await asyncio.wait_for(client.recv(), DEADLINE_SECONDS)

    return asyncio.run(exchange())


def test_a_websocket_passes_with_the_clients_own_address(nginx, gateways, unverified):
    claims = {"X-Forwarded-For": "203.0.113.9", "Forwarded": "for=203.0.113.9", "X-Real-IP": "203.0.113.9"}
    assert echo(f"wss://{nginx.http}/ws", unverified, "through", claims) == "through"
    seen = gateways[0].requests.get(timeout=DEADLINE_SECONDS)
    assert seen.headers.get_all("X-Forwarded-For") == ["127.0.0.1"]
    assert seen.headers["X-Forwarded-Proto"] == "https"
    assert seen.headers["Host"] == nginx.http
    assert "Forwarded" not in seen.headers and "X-Real-IP" not in seen.headers


def test_logs_hold_no_secret_of_the_query(nginx, unverified):
    canary = "canary-7d1f"
    answer = request(nginx, unverified,
                     f"GET /v1/topics/shop:42?apikey={canary} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
    assert answer.startswith("HTTP/1.1 200 ")
    echo(f"wss://{nginx.http}/ws?apikey={canary}", unverified)
    nginx.stop()
    line = json.loads(nginx.log("switchboard-http.log").splitlines()[0])
    assert (line["uri"], line["status"]) == ("/v1/topics/shop:42", 200)
    logs = [path for path in nginx.directory.iterdir() if path.suffix == ".log"]
    assert len(logs) >= 4
    assert [path.name for path in logs if canary in path.read_text()] == []


def test_a_dead_gateway_is_passed_over(nginx, gateways, unverified):
    for _ in range(6):
        echo(f"wss://{nginx.http}/ws", unverified)
    assert gateways[0].requests.qsize() == 6


def test_operations_are_not_for_everybody(nginx, gateways, unverified):
    for path in ("/metrics", "/livez", "/readyz", "/%6detrics", "//metrics", "/x/../metrics"):
        answer = request(nginx, unverified, f"GET {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        assert answer.startswith("HTTP/1.1 404 "), path
    assert gateways[0].requests.empty()


def test_the_body_limit_is_the_gateways_own(nginx, unverified):
    answer = request(nginx, unverified,
                     "POST /v1/broadcast HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 1048577\r\n\r\n")
    assert answer.startswith("HTTP/1.1 413 ")


def test_the_pass_through_says_who_the_client_is(nginx, gateways):
    host, port = nginx.stream.split(":")
    for _ in range(4):
        with socket.create_connection((host, int(port)), timeout=DEADLINE_SECONDS) as client:
            own_port = client.getsockname()[1]
            client.sendall(b"\x16\x03\x01")
            expected = b"PROXY TCP4 127.0.0.1 127.0.0.1 %d %s\r\n" % (own_port, port.encode())
            # Before ours came the connection by which nginx was found to be up.
            while not gateways[1].first_bytes.get(timeout=DEADLINE_SECONDS).startswith(expected):
                pass
