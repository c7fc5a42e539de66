"""The fault proxy of the other tests does what its names say."""

import socket
import socketserver
import threading
import time

import pytest

from Fixtures.processes.fault_proxy import FaultProxy, named
from Fixtures.waiting import eventually


class Echo(socketserver.BaseRequestHandler):
    """Answers every byte by itself, after its own name."""

    def handle(self):
        self.request.sendall(self.server.greeting)
        try:
            while data := self.request.recv(65_536):
                self.server.received.append(data)
                self.request.sendall(data)
            self.server.ended += 1
        except ConnectionError:
            self.server.resets += 1


@pytest.fixture
def echo():
    """A factory of echo servers, told apart by what they say first."""
    servers = []

    def start(greeting=b""):
        server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Echo)
        server.daemon_threads = True
        server.greeting, server.received, server.ended, server.resets = greeting, [], 0, 0
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        servers.append(server)
        return server

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.fixture
def proxy(echo):
    with FaultProxy(echo().server_address, seed=1) as proxy:
        yield proxy


def dial(proxy):
    connection = socket.create_connection(("127.0.0.1", proxy.port), timeout=5)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


def read(connection, count):
    data = b""
    while len(data) < count:
        chunk = connection.recv(count - len(data))
        if not chunk:
            raise EOFError(data)
        data += chunk
    return data


def echoed(connection, data=b"hello"):
    connection.sendall(data)
    return read(connection, len(data)) == data


def is_silent(connection, seconds=0.2):
    connection.settimeout(seconds)
    try:
        return connection.recv(1) is None
    except TimeoutError:
        return True
    finally:
        connection.settimeout(5)


def test_without_faults_everything_passes_both_ways(proxy):
    data = bytes(range(256)) * 20_000
    with dial(proxy) as connection:
        threading.Thread(target=connection.sendall, args=(data,)).start()
        assert read(connection, len(data)) == data
        # What has been sent is counted afterwards.
        eventually(lambda: proxy.bytes_to_client == proxy.bytes_to_server == len(data))
        assert (proxy.accepted, proxy.open, proxy.bytes_swallowed) == (1, 1, 0)
    eventually(lambda: proxy.open == 0)


def test_the_end_passes_as_an_end(proxy):
    with dial(proxy) as connection:
        connection.sendall(b"last words")
        connection.shutdown(socket.SHUT_WR)
        assert read(connection, 10) == b"last words"
        assert connection.recv(1) == b""
    eventually(lambda: proxy.open == 0)


def test_delay(proxy):
    with dial(proxy) as connection:
        assert echoed(connection)
        proxy.delay(100)
        started = time.monotonic()
        assert echoed(connection)
        assert time.monotonic() - started >= 0.2, "once each way"


def test_throttle(proxy):
    proxy.throttle(100_000)
    with dial(proxy) as connection:
        started = time.monotonic()
        assert echoed(connection, b"x" * 30_000)
        assert time.monotonic() - started >= 0.25


def test_split(proxy):
    proxy.split(3)
    with dial(proxy) as connection:
        assert echoed(connection, bytes(range(256)))
        connection.sendall(b"y" * 1_000)
        assert len(connection.recv(1_000)) < 1_000
    assert proxy.bytes_to_client >= 256


def test_swallowed_to_client_then_reset_by_heal(echo):
    server = echo()
    with FaultProxy(server.server_address) as proxy, dial(proxy) as connection:
        assert echoed(connection)
        proxy.drop_to_client()
        connection.sendall(b"lost answer")
        eventually(lambda: b"lost answer" in server.received, what="the other direction")
        assert is_silent(connection)
        assert proxy.bytes_swallowed == 11
        proxy.heal()
        with pytest.raises(ConnectionResetError):
            connection.recv(1)
        with dial(proxy) as another:
            assert echoed(another)


def test_swallowed_to_server_and_going_on_with_a_hole(echo):
    server = echo()
    with FaultProxy(server.server_address) as proxy, dial(proxy) as connection:
        assert echoed(connection)
        proxy.drop_to_server()
        connection.sendall(b"unheard")
        eventually(lambda: proxy.bytes_swallowed == 7)
        proxy.heal(reset_holed=False)
        assert echoed(connection, b"heard")
        assert server.received == [b"hello", b"heard"]


def test_a_black_hole_swallows_the_end_too(echo):
    server = echo()
    with FaultProxy(server.server_address) as proxy:
        connection = dial(proxy)
        assert echoed(connection)
        proxy.drop_to_server()
        connection.close()
        eventually(lambda: any(one.is_holed for one in proxy._connections), what="the end swallowed")
        assert (server.ended, server.resets, proxy.open) == (0, 0, 1)
        proxy.heal()
        eventually(lambda: server.resets == 1)


def test_faults_choose_by_first_bytes(proxy):
    proxy.drop_to_client(when=named("-subscriber"))
    with dial(proxy) as one, dial(proxy) as other:
        one.sendall(b"$12\r\nx-subscriber\r\n")
        assert echoed(other, b"$9\r\nx-shard-0\r\n")
        assert is_silent(one)
        assert proxy.reset_all(when=named("-shard-0")) == 1
        with pytest.raises(ConnectionResetError):
            other.recv(1)
        assert is_silent(one)


def test_refuse(proxy):
    with dial(proxy) as before:
        assert echoed(before)
        proxy.refuse()
        with dial(proxy) as connection:
            assert connection.recv(1) == b""
        proxy.refuse(when=lambda first: first.startswith(b"bad"))
        with dial(proxy) as bad, dial(proxy) as good:
            bad.sendall(b"bad")
            assert bad.recv(1) == b""
            assert echoed(good)
        assert echoed(before), "existing connections are not touched"


def test_truncate(proxy):
    with dial(proxy) as connection:
        assert echoed(connection)
        proxy.truncate(3)
        connection.sendall(b"hello")
        with pytest.raises(ConnectionResetError):
            # What came before a reset may be lost with it; never is there more.
            assert b"hel".startswith(read(connection, 3))
            connection.recv(1)
    assert proxy.bytes_to_client == 5 + 3


def test_half_close(echo):
    server = echo()
    with FaultProxy(server.server_address) as proxy, dial(proxy) as connection:
        assert echoed(connection)
        proxy.half_close()
        assert connection.recv(1) == b""
        connection.sendall(b"still heard")
        eventually(lambda: b"still heard" in server.received)


def test_retarget_and_back(echo):
    first, second = echo(b"1"), echo(b"2")
    with FaultProxy(first.server_address) as proxy:
        def leads_to(text=b"x"):
            with dial(proxy) as connection:
                connection.sendall(text)
                return read(connection, 1)

        assert leads_to() == b"1"
        proxy.retarget(second.server_address)
        assert leads_to() == b"2"
        proxy.retarget(second.server_address, when=lambda first: first == b"chosen")
        assert (leads_to(b"chosen"), leads_to()) == (b"2", b"1")
        proxy.heal()
        assert leads_to(b"chosen") == b"1"


def test_unreachable_target_resets():
    with socket.create_server(("127.0.0.1", 0)) as unused:
        target = unused.getsockname()
    with FaultProxy(target) as proxy, dial(proxy) as connection:
        connection.sendall(b"x")
        with pytest.raises(ConnectionResetError):
            connection.recv(1)


def test_one_whole_frame_is_lost(echo):
    """Frames of each form of length, in pieces: the lost one is the first that holds the bytes, and nothing else."""
    def frame(text):
        size = len(text)
        length = bytes([size]) if size < 126 else b"\x7e" + size.to_bytes(2) if size < 1 << 16 \
            else b"\x7f" + size.to_bytes(8)
        return b"\x81" + length + text

    frames = [frame(text * times) for times in (1, 300, 100_000) for text in (b"a", b"b", b"c")]
    head = b"HTTP/1.1 101 Switching Protocols\r\n\r\n"
    with FaultProxy(echo(head).server_address, seed=1, websockets=True) as proxy, dial(proxy) as connection:
        connection.sendall(frames[0])
        assert read(connection, len(head) + len(frames[0])) == head + frames[0]
        for lost, size in ((b"b", 1), (b"b" * 300, 300), (b"b" * 100_000, 100_000)):
            proxy.lose_frame(lost)
            some = [one for one in frames if len(one) - size in (2, 4, 10)]
            threading.Thread(target=connection.sendall, args=(b"".join(some),)).start()
            assert read(connection, len(some[0]) * 2) == some[0] + some[2]
        assert proxy.frames_lost == 3 and is_silent(connection)
