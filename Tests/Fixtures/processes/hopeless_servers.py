"""Servers at which no client can ever open its connection, each in a way of its own. Needs the standard library only.

usage: python3 Tests/Fixtures/processes/hopeless_servers.py

It prints their addresses as JSON by name, and ends with its input.

A client's test also runs it as a program, so that it needs no servers of its own.
"""

import base64
import hashlib
import json
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

REFUSAL = {"event": "error", "data": {"code": "unauthorized", "message": "The token has expired."}}


def serve(answer, secure: ssl.SSLContext | None = None) -> int:
    """Lets `answer` speak with each connection; returns the port."""
    listener = socket.create_server(("127.0.0.1", 0))

    def talk(connection):
        try:
            with connection:
                answer(secure.wrap_socket(connection, server_side=True) if secure else connection)
        except OSError:
            pass  # the client went away, as it should

    def run():
        while True:
            connection, _ = listener.accept()
            threading.Thread(target=talk, args=(connection,), daemon=True).start()

    threading.Thread(target=run, daemon=True).start()
    return listener.getsockname()[1]


def head_of(connection) -> bytes:
    """The head of a request; less when the client ends, or speaks no HTTP."""
    head = b""
    while b"\r\n\r\n" not in head and head[:1] in (b"", b"G") and (more := connection.recv(4096)):
        head += more
    return head


def answering(status: str):
    """A server of HTTP that refuses every upgrade."""
    def answer(connection):
        head_of(connection)
        connection.sendall(f"HTTP/1.1 {status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".encode())
    return answer


def banner(connection):
    """Says at once that it is something else."""
    connection.sendall(b"SSH-2.0-OpenSSH_9.2\r\n")
    connection.recv(4096)


def refusing_tokens(connection):
    """A gateway that opens a WebSocket, and refuses the token in the first message."""
    key = head_of(connection).split(b"Sec-WebSocket-Key: ")[1].split(b"\r\n")[0]
    proof = base64.b64encode(hashlib.sha1(key + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest()).decode()
    connection.sendall(("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                        f"Sec-WebSocket-Accept: {proof}\r\n\r\n").encode())
    frame = connection.recv(4096)
    at = {126: 4, 127: 10}.get(frame[1] & 127, 2)
    mask, masked = frame[at:at + 4], frame[at + 4:]
    request = json.loads(bytes(byte ^ mask[index % 4] for index, byte in enumerate(masked)))
    text = json.dumps({**REFUSAL, "ref": request["ref"]}).encode()
    connection.sendall(bytes([0x81, 126]) + len(text).to_bytes(2, "big") + text)
    connection.sendall(bytes([0x88, 2]) + (4401).to_bytes(2, "big"))
    connection.recv(4096)


def stranger(directory: Path) -> ssl.SSLContext:
    """TLS with a certificate that nobody trusts."""
    cert, key = directory / "cert.pem", directory / "key.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "1",
         "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1",
         "-keyout", key, "-out", cert],
        check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cert, key)
    return context


def addresses(directory: Path) -> dict:
    """Starts the servers, which end with the process; returns an address for each way, by its name."""
    tls = serve(answering("404 Not Found"), stranger(directory))
    missing = serve(answering("404 Not Found"))
    return {
        "another certificate": f"wss://127.0.0.1:{tls}/ws",
        "another path": f"ws://127.0.0.1:{missing}/nothing",
        "another scheme": f"ftp://127.0.0.1:{missing}/ws",
        "a foreign origin": f"ws://127.0.0.1:{serve(answering('403 Forbidden'))}/ws",
        "a refused token": f"ws://127.0.0.1:{serve(refusing_tokens)}/ws",
        "a refused API key": f"ws://127.0.0.1:{serve(answering('401 Unauthorized'))}/ws",
        "another protocol": f"ws://127.0.0.1:{serve(banner)}/ws",
        "TLS at a plain port": f"wss://127.0.0.1:{missing}/ws",
        "no TLS at its port": f"ws://127.0.0.1:{tls}/ws",
        "a name that does not resolve": "ws://switchboard.invalid/ws",
        "a proxy without upgrades": f"ws://127.0.0.1:{serve(answering('426 Upgrade Required'))}/ws",
    }


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as work:
        print(json.dumps(addresses(Path(work))), flush=True)
        sys.stdin.read()
