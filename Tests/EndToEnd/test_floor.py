"""The floor of the benchmark (bench/floor): it has to be honest work, or what is compared with it means nothing."""

import ssl
from pathlib import Path

import pytest

from Fixtures.clients import raw
from Fixtures.processes.floor import Floor
from Fixtures.waiting import eventually

RECORD_OVERHEAD = 5 + 1 + 16  # RFC 8446, section 5.2: header, type, tag


@pytest.fixture(scope="module")
def floor(certificate):
    floor = Floor(certificate)
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


def test_members_of_a_topic_get_its_messages_in_order(floor):
    with Subscriber(floor, "a:1") as one, Subscriber(floor, "a:1") as two, Subscriber(floor, "a:2") as other, \
            raw.connect(floor) as publisher:
        bodies = [b"%d" % number + b"x" * (number * 37) for number in range(40)]  # all lengths of a frame's head
        for body in bodies:
            publish(publisher, "a:1", body)
        publish(publisher, "a:2", b"for the other")
        publish(publisher, "a:3", b"for nobody")
        assert one.texts(40) == bodies
        assert two.texts(40) == bodies
        assert other.texts(1) == [b"for the other"]
        assert len(one.received) == len(two.received) == sum(2 + 2 * (len(body) > 125) + len(body) for body in bodies)


def test_a_burst_is_one_record_for_each_member(floor):
    """What one turn of the loop read leaves by one SSL_write."""
    bodies = [b"%03d" % number + b"x" * 97 for number in range(50)]
    with CipherText(floor) as member, raw.connect(floor) as publisher:
        member.exchange(b"GET /sub/burst HTTP/1.1\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n", b"\r\n\r\n")
        assert b"s3pPLMBiTxaQ9kYGzzhZRbK+xOo=" in member.plain, "the answer of RFC 6455, section 1.3"
        member.plain, member.encrypted_bytes = b"", 0
        publish(publisher, "burst", *bodies)
        member.exchange(b"", bodies[-1])
        assert [payload for _, payload in raw.frames(member.plain)] == bodies
        assert member.encrypted_bytes - len(member.plain) <= 2 * RECORD_OVERHEAD


class CipherText:
    """A TLS client that counts what comes over the wire."""

    def __init__(self, floor):
        self.connection = raw.socket.create_connection(floor.address(), 10)
        self.incoming, self.outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.tls = floor.certificate.trusting_context().wrap_bio(
            self.incoming, self.outgoing, server_hostname="127.0.0.1")
        self.plain, self.encrypted_bytes = b"", 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.connection.close()

    def exchange(self, sent, end):
        """Sends, and reads until `end` has come."""
        self.finish(lambda: self.tls.write(sent) if sent else 0)
        while not self.plain.endswith(end):
            self.plain += self.finish(lambda: self.tls.read(65_536))

    def finish(self, step):
        while True:
            try:
                result = step()
                self.connection.sendall(self.outgoing.read())
                return result
            except ssl.SSLWantReadError:
                self.connection.sendall(self.outgoing.read())
                piece = self.connection.recv(65_536)
                assert piece, "the floor ended the connection"
                self.encrypted_bytes += len(piece)
                self.incoming.write(piece)


def test_a_reader_that_pauses_loses_nothing(floor):
    """Far more than the sockets hold, partly taken writes included, and a ping among it."""
    bodies = [b"%04d" % number + b"x" * 15_000 for number in range(600)]
    with Subscriber(floor, "slow", receive_buffer=65_536) as slow, Subscriber(floor, "slow") as healthy, \
            raw.connect(floor) as publisher:
        for number, body in enumerate(bodies):
            publish(publisher, "slow", body)
            assert healthy.texts(1) == [body], "nobody waits for the slow one"
            healthy.received = b""
            if number == 200:
                slow.connection.sendall(raw.frame(raw.PING, b"there?"))
            if number >= 400 and number % 20 == 0:
                slow.read(400_000)  # in between, so that what waits is moved
        slow.read(len(bodies) * (4 + 15_004) + 2 + len(b"there?") - len(slow.received))
        frames = raw.frames(slow.received)
        assert [payload for opcode, payload in frames if opcode == raw.TEXT] == bodies
        assert [payload for opcode, payload in frames if opcode == raw.PONG] == [b"there?"]


def test_ping_and_close_are_answered(floor):
    with Subscriber(floor, "p") as member, raw.connect(floor) as publisher:
        cut = raw.frame(raw.TEXT, b"ignored" * 100) + raw.frame(raw.PING, b"hello")
        for at in range(0, len(cut), 100):
            member.connection.sendall(cut[at:at + 100])
        assert member.frames(1) == [(raw.PONG, b"hello")]
        member.connection.sendall(raw.frame(raw.CLOSE, b"\x03\xe8"))
        rest = raw.read_to_end(member.connection)
        assert raw.frames(member.received + rest)[1:] == [(raw.CLOSE, b"\x03\xe8")]
        publish(publisher, "p", b"to nobody")


@pytest.mark.parametrize("bytes_sent, answer", [
    (b"GET / HTTP/1.1\r\n\r\n", b"HTTP/1.1 404 "),
    (b"POST /pub/ HTTP/1.1\r\nContent-Length: 1\r\n\r\nx", b"HTTP/1.1 404 "),
    (b"GET /sub/t HTTP/1.1\r\n\r\n", b""),
    (b"POST /pub/t HTTP/1.1\r\n\r\n", b""),
    (b"POST /pub/t HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n", b""),
    # A name, since that of a test is in the environment of what it starts.
    pytest.param(b"\x00" * 70_000, b"", id="noughts"),
])
def test_what_it_does_not_know_ends_the_connection(floor, bytes_sent, answer):
    with raw.connect(floor) as connection:
        try:
            connection.sendall(bytes_sent)
        except OSError:
            assert len(bytes_sent) > 65_536, "it may be closed while still sending"
        received = raw.read_to_end(connection)
        assert received.startswith(answer) and bool(received) == bool(answer), received[:100]


def test_members_that_vanish_leave_the_others_served(floor):
    members = [Subscriber(floor, "vanish") for _ in range(20)]
    try:
        with raw.connect(floor) as publisher:
            for member in members[::2]:
                member.connection.shutdown(raw.socket.SHUT_RDWR)
            publish(publisher, "vanish", *[b"%d" % number for number in range(10)])
            for member in members[1::2]:
                assert member.texts(10) == [b"%d" % number for number in range(10)]
    finally:
        for member in members:
            member.connection.close()
    eventually(lambda: descriptors(floor) <= 10, 5, "the floor has closed what ended")


def descriptors(floor):
    return len(list(Path(f"/proc/{floor.process.pid}/fd").iterdir()))
