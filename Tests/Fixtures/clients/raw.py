"""Bytes over TLS, for what no library would send."""

import base64
import json
import os
import socket
import struct

TEXT, CLOSE, PING, PONG, CONTINUATION = 0x1, 0x8, 0x9, 0xA, 0x0


def connect(gateway, receive_buffer: int | None = None) -> socket.socket:
    """A TLS connection on which nothing has been sent."""
    plain = socket.socket()
    if receive_buffer is not None:
        plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
    plain.settimeout(10)
    plain.connect(gateway.address())
    return gateway.certificate.trusting_context().wrap_socket(plain, server_hostname="127.0.0.1")


def read_to_end(connection: socket.socket) -> bytes:
    """Everything until the peer ends the connection; fails after the socket's timeout."""
    received = b""
    while True:
        try:
            piece = connection.recv(65_536)
        except (ConnectionError, OSError) as error:
            if isinstance(error, TimeoutError):
                raise AssertionError(f"the peer did not end the connection; it sent {received[:200]!r}") from None
            return received
        if not piece:
            return received
        received += piece


def exchange(gateway, request: bytes) -> tuple[int, dict]:
    """Sends one request and reads to the end: status and JSON body."""
    with connect(gateway) as connection:
        connection.sendall(request)
        return response(read_to_end(connection))


def response(received: bytes) -> tuple[int, dict]:
    head, _, body = received.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 "), received[:200]
    return int(head.split(b" ")[1]), json.loads(body) if body else {}


def upgrade(gateway, *headers: str, path: str = "/ws", receive_buffer: int | None = None):
    """Opens a WebSocket by hand: the connection and the bytes read after the head, or the refused status."""
    connection = connect(gateway, receive_buffer)
    key = base64.b64encode(os.urandom(16)).decode()
    host, port = gateway.address()
    lines = [f"GET {path} HTTP/1.1", f"Host: {host}:{port}", "Upgrade: websocket", "Connection: Upgrade",
             f"Sec-WebSocket-Key: {key}", "Sec-WebSocket-Version: 13", *headers]
    connection.sendall(("\r\n".join(lines) + "\r\n\r\n").encode("latin-1"))
    head = b""
    while b"\r\n\r\n" not in head:
        piece = connection.recv(4_096)
        assert piece, f"ended in the head: {head!r}"
        head += piece
    return connection, int(head.split(b" ")[1]), head.partition(b"\r\n\r\n")[2]


def frame(opcode: int, payload: bytes = b"", final: bool = True, reserved: int = 0) -> bytes:
    """A masked client frame; `reserved` 4 says that its message is deflated."""
    first = (0x80 if final else 0) | reserved << 4 | opcode
    if len(payload) < 126:
        head = struct.pack("!BB", first, 0x80 | len(payload))
    elif len(payload) < 65_536:
        head = struct.pack("!BBH", first, 0x80 | 126, len(payload))
    else:
        head = struct.pack("!BBQ", first, 0x80 | 127, len(payload))
    mask = os.urandom(4)
    return head + mask + bytes(byte ^ mask[index % 4] for index, byte in enumerate(payload))


def frames(received: bytes) -> list[tuple[int, bytes]]:
    """Opcodes and payloads of server frames; a cut-off last frame is left out."""
    result, at = [], 0
    while at + 2 <= len(received):
        opcode, length = received[at] & 0x0F, received[at + 1] & 0x7F
        at += 2
        if length == 126:
            length, at = struct.unpack("!H", received[at:at + 2])[0], at + 2
        elif length == 127:
            length, at = struct.unpack("!Q", received[at:at + 8])[0], at + 8
        if at + length > len(received):
            break
        result.append((opcode, received[at:at + length]))
        at += length
    return result


def close_code(received: bytes) -> int | None:
    """The code of the close frame among the frames, if there is one."""
    for opcode, payload in frames(received):
        if opcode == CLOSE:
            return struct.unpack("!H", payload[:2])[0]
    return None
