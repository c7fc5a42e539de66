"""A running floor of the benchmark (bench/floor), and its clients."""

import os
import subprocess
from pathlib import Path

from Fixtures.clients import raw

ROOT = Path(__file__).resolve().parents[3]


def build() -> None:
    subprocess.run([ROOT / "bench/floor/build.sh"], check=True)


class Floor:
    """A running floor, with what `raw` asks of a gateway; its messages go by way of a Redis at `redis_port`."""

    def __init__(self, certificate, redis_port=None, binary=ROOT / ".build/floor", environment=None):
        self.certificate = certificate
        words = [binary, "0", certificate.cert, certificate.key, *([str(redis_port)] if redis_port else [])]
        # What is only known to epoll is no leak.
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        env=os.environ | {"ASAN_OPTIONS": "detect_leaks=0"} | (environment or {}))
        self.port = int(self.process.stdout.readline())

    def address(self):
        return "127.0.0.1", self.port

    def stop(self):
        self.process.terminate()
        self.process.wait(10)
        self.process.stdout.close()
        self.process.stderr.close()


def kept(floor):
    """Yields a floor, and ends it; it must not have ended by itself."""
    yield floor
    died = floor.process.poll()
    floor.stop()
    assert died is None, f"the floor ended with {died}"


class Subscriber:
    def __init__(self, floor, topic, receive_buffer=None):
        self.connection, status, self.received = raw.upgrade(
            floor, path=f"/sub/{topic}", receive_buffer=receive_buffer)
        assert status == 101

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.connection.close()

    def texts(self, count):
        """The first `count` messages."""
        return [payload for opcode, payload in self.frames(count) if opcode == raw.TEXT]

    def frames(self, count):
        while len(found := raw.frames(self.received)) < count:
            piece = self.connection.recv(65_536)
            assert piece, f"ended after {len(found)} frames"
            self.received += piece
        return found

    def read(self, count):
        """At least `count` bytes more."""
        pieces = []
        while count > 0:
            pieces.append(self.connection.recv(65_536))
            assert pieces[-1], "ended"
            count -= len(pieces[-1])
        self.received += b"".join(pieces)


def request(topic, body):
    return b"POST /pub/%s HTTP/1.1\r\nHost: f\r\nContent-Length: %d\r\n\r\n%s" % (topic.encode(), len(body), body)


def publish(connection, topic, *bodies):
    """Publishes in one write, and reads all the answers."""
    connection.sendall(b"".join(request(topic, body) for body in bodies))
    answers = b""
    while answers.count(b"\r\n\r\n") < len(bodies):
        piece = connection.recv(65_536)
        assert piece, answers
        answers += piece
    assert answers.count(b"HTTP/1.1 200 OK\r\n") == len(bodies)


def descriptors(floor):
    return len(list(Path(f"/proc/{floor.process.pid}/fd").iterdir()))
