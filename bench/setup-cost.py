"""What a connection costs to set up, in instructions and system calls: the gateway beside the floor (bench/floor).

usage: .venv/bin/python bench/setup-cost.py [CONNECTIONS [KIB]]

Method: one client makes connections one after the other: TLS 1.3 handshake, upgrade, and at the gateway a subscription,
which the floor does not have; each is closed at once, which counts, too. "resumed" offers the ticket of the connection
before. callgrind counts what the process executes, outside the kernel; strace counts its system calls. Both are the
same on a busy machine, but are no times: valgrind knows no SHA or ADX instructions, and the kernel's work is not in
them. With KIB, callgrind also simulates caches: 32 KiB each for code and data, and a second level of so many KiB.
The cache lines that a full connection needs from beyond it take most of the time that instructions do not explain.
Needs valgrind and strace, and what `make build` and bench/floor/build.sh build.
"""

import re
import socket
import ssl
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "Tests")]

from Fixtures.clients.certificates import write_certificate  # noqa: E402
from Fixtures.clients.tokens import SECRET  # noqa: E402
from Fixtures.processes import node  # noqa: E402
from Fixtures.processes.gateway import Gateway  # noqa: E402
from Fixtures.redis.server import RedisServer  # noqa: E402
from Fixtures.waiting import eventually  # noqa: E402

SUBSCRIBE = b'{"event":"subscribe","data":{"topic":"shop:1"}}'
WARM_UP = 30
MODES = ("full", "resumed")
UNLIMITED = {"connectsPerAddressPerSecond": 1_000_000, "connectionsPerAddressMax": 100_000,
             "topicsPerAddressMax": 10_000_000}


def connect(port, trust, path, session):
    """One connection from connect(2) to close(2); its session."""
    with socket.create_connection(("127.0.0.1", port), timeout=30) as raw:
        with trust.wrap_socket(raw, server_hostname="localhost", session=session) as tls:
            assert tls.session_reused == (session is not None)
            tls.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n".encode())
            head = b""
            while b"\r\n\r\n" not in head:
                head += tls.recv(4096)
            assert head.startswith(b"HTTP/1.1 101")
            if path == "/ws":
                # Masked with zeroes, so that the text stays as it is.
                tls.sendall(bytes([0x81, 0x80 | len(SUBSCRIBE), 0, 0, 0, 0]) + SUBSCRIBE)
                assert b'"subscribed"' in tls.recv(4096)
            return tls.session


def connections(count, mode, port, trust, path):
    session = None
    for _ in range(count):
        made = connect(port, trust, path, session)
        session = made if mode == "resumed" else None


class Floor(node.NodeProcess):
    """The bare loop; it tells its port on its first line."""

    def __init__(self, directory, certificate):
        super().__init__(directory, "floor")
        self.arguments = [str(ROOT / ".build" / "floor"), "0", str(certificate.cert), str(certificate.key)]

    def start(self):
        with open(self.log_path, "wb") as log:
            self.process = subprocess.Popen(self.arguments, stdout=log, stderr=subprocess.DEVNULL)
        self.port = int(eventually(lambda: self.log_text.split(), 60, "the floor's port")[0])
        return self

    def wait_ready(self, seconds_max):
        """It is ready when it has told its port."""

    def stop(self):
        self.process.terminate()
        self.process.wait()


def instructions(server, count, client, flags):
    """What callgrind counts for each connection, by mode: instructions first, and misses with the flags of a cache."""
    profile = server.directory / "callgrind"
    # valgrind stumbles over the debug information of Swift's runtime.
    binary = server.directory / "binary"
    subprocess.run(["strip", "--strip-debug", "-o", binary, server.arguments[0]], check=True)
    server.arguments[:1] = [
        "valgrind", "--quiet", "--tool=callgrind", "--instr-atstart=no", f"--callgrind-out-file={profile}", *flags,
        str(binary)]
    server.start().wait_ready(60)
    found = {}
    for number, mode in enumerate(MODES, 1):
        client(WARM_UP, mode)
        control(server, "--instr=on")
        client(count, mode)
        control(server, "--instr=off")
        control(server, "--dump")
        text = Path(f"{profile}.{number}").read_text()
        found[mode] = [int(word) // count for word in re.search(r"^totals: (.*)", text, re.MULTILINE)[1].split()]
    server.stop()
    return found


def control(server, flag):
    subprocess.run(["callgrind_control", flag, str(server.process.pid)], check=True, capture_output=True)


def system_calls(server, count, client):
    """System calls for each full connection, and the most frequent of them."""
    server.start().wait_ready(60)
    client(WARM_UP, "full")
    table = server.directory / "strace"
    with subprocess.Popen(["strace", "-c", "-f", "-o", table, "-p", str(server.process.pid)],
                          stderr=subprocess.PIPE, text=True) as strace:
        assert "attached" in strace.stderr.readline()
        client(count, "full")
        strace.terminate()
    server.stop()
    rows = [line.split() for line in table.read_text().splitlines()]
    calls = {row[-1]: int(row[3]) / count for row in rows if len(row) >= 5 and row[3].isdigit() and row[-1] != "total"}
    often = sorted((item for item in calls.items() if item[1] >= 0.5), key=lambda item: -item[1])
    return sum(calls.values()), " ".join(f"{name} {number:.1f}" for name, number in often)


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    kib = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    caches = ["--cache-sim=yes", "--I1=32768,8,64", "--D1=32768,8,64", f"--LL={kib * 1024},8,64"] if kib else []
    node.START_SECONDS_MAX = 120
    with tempfile.TemporaryDirectory() as directory:
        directory = Path(directory)
        certificate = write_certificate(directory)
        redis = RedisServer(directory / "redis").start()
        trust = certificate.trusting_context()
        flags = ("--shards", "1", "--log-level", "warn")
        try:
            for name in ("floor", "gateway"):
                def make(step):
                    if name == "floor":
                        return Floor(directory / (name + step), certificate)
                    return Gateway(directory / (name + step), redis.url, certificate, SECRET, *flags, limits=UNLIMITED)

                def client(number, mode):
                    port = server.port if name == "floor" else server.address()[1]
                    connections(number, mode, port, trust, "/sub/shop:1" if name == "floor" else "/ws")

                server = make("-callgrind")
                found = instructions(server, count, client, caches)
                server = make("-strace")
                total, often = system_calls(server, count, client)
                print(f"{name:8} full {found['full'][0]:9,}  resumed {found['resumed'][0]:9,} instructions  "
                      f"{total:.1f} system calls: {often}", flush=True)
                if kib:
                    code, *data = found["full"][-3:]
                    print(f"{name:8} lines from beyond {kib} KiB: {code:,} of code, {sum(data):,} of data", flush=True)
        finally:
            redis.stop()


if __name__ == "__main__":
    main()
