"""Deadlines: each is absolute, so that traffic that trickles in does not move it; and the pings that keep a client."""

import json
import socket
import time

import pytest
from websockets.exceptions import ConnectionClosed

from Fixtures.clients import raw
from Fixtures.processes.gateway import API_KEY
from Fixtures.waiting import pass_time


# Far above the deadlines that the tests set, far below the default ones: which of them ended a connection is certain
# on a busy host, too.
HIGH = 5


def ends_after(connection: socket.socket, low: float) -> bytes:
    """What came until the end, which must come by the deadline that the test set."""
    started = time.monotonic()
    received = raw.read_to_end(connection)
    assert low <= time.monotonic() - started <= HIGH
    return received


def test_tls_handshake_deadline(gateway):
    gw = gateway(limits={"tlsHandshakeMs": 400})
    with socket.create_connection(gw.address(), timeout=5) as connection:
        assert ends_after(connection, 0.2) == b""


def test_request_head_deadline_is_not_moved_by_bytes(gateway):
    gw = gateway(limits={"requestHeadMs": 600})
    with raw.connect(gw) as connection:
        started, closed = time.monotonic(), False
        connection.settimeout(0.05)
        for byte in b"GET / HTTP/1.1\r\nX: " + b"x" * 200:
            try:
                connection.sendall(bytes([byte]))
                closed = connection.recv(4_096) is not None
            except TimeoutError:
                continue
            except OSError:
                closed = True
            if closed:
                break
        assert closed and 0.4 <= time.monotonic() - started <= HIGH


def test_request_body_deadline(gateway):
    gw = gateway(limits={"requestBodyMs": 400})
    with raw.connect(gw) as connection:
        connection.sendall((
            f"POST /v1/broadcast HTTP/1.1\r\nHost: x\r\napikey: {API_KEY}\r\nContent-Length: 10\r\n\r\n{{").encode())
        assert raw.response(ends_after(connection, 0.2))[0] == 408


def test_keep_alive(gateway):
    gw = gateway(limits={"keepAliveMs": 400})
    with raw.connect(gw) as connection:
        connection.sendall(b"GET /v1/topics/shop:1 HTTP/1.1\r\nHost: x\r\n\r\n")
        assert raw.response(ends_after(connection, 0.2))[0] == 200


def test_client_that_does_nothing(gateway):
    gw = gateway(limits={"authenticateMs": 400})
    with gw.client() as client:
        client.expect_close(4408, timeout=3)


def test_client_that_only_pings_does_nothing(gateway):
    gw = gateway(limits={"authenticateMs": 600, "messagesPerSecond": 1_000_000})
    with gw.client() as client:
        started = time.monotonic()
        with pytest.raises(ConnectionClosed) as closed:
            while time.monotonic() - started < 5:
                client.request("ping")
        assert closed.value.rcvd.code == 4408


def test_subscribed_client_may_be_silent(gateway, topic):
    gw = gateway(limits={"authenticateMs": 300})
    with gw.client() as client:
        client.subscribe(topic)
        pass_time(1, "longer than the deadline of those who do not authenticate")
        gw.publish(topic, "e", {})
        client.expect("e")


def test_client_that_does_not_answer_pings(gateway, topic):
    gw = gateway(limits={"pingMs": 300, "pongMs": 300})
    connection, _, _ = raw.upgrade(gw)
    with connection:
        connection.sendall(raw.frame(raw.TEXT, json.dumps({"event": "subscribe", "data": {"topic": topic}}).encode()))
        received = ends_after(connection, 0.4)
        assert raw.PING in [opcode for opcode, _ in raw.frames(received)]
        assert raw.close_code(received) == 4408


def test_client_that_answers_pings_stays(gateway, topic):
    gw = gateway(limits={"pingMs": 100, "pongMs": 200})
    with gw.client() as client:
        client.subscribe(topic)
        pass_time(1.5, "several pings and their pongs")
        client.expect_nothing()
