"""The floor with Redis in the path (bench/floor/redis.c): messages go by way of Redis, and no reply does harm."""

import signal
import socket
import subprocess

import pytest

from Fixtures.clients import raw
from Fixtures.processes.floor import ROOT, Floor, Subscriber, build, descriptors, kept, publish, request
from Fixtures.redis.server import RedisServer
from Fixtures.waiting import eventually


@pytest.fixture(scope="module")
def redis_server(tmp_path_factory):
    with RedisServer(tmp_path_factory.mktemp("floor-redis"), tcp=True).running() as server:
        yield server


@pytest.fixture(scope="module")
def floor(certificate, redis_server):
    build()
    yield from kept(Floor(certificate, redis_server.port))


def is_quiet(connection):
    """Whether nothing comes soon; tickets of TLS may."""
    connection.settimeout(0.2)
    try:
        connection.recv(65_536)
        return False
    except TimeoutError:
        return True
    finally:
        connection.settimeout(10)


def test_messages_go_by_way_of_redis(floor, redis_server):
    with redis_server.client() as db, db.pubsub() as ears, Subscriber(floor, "way") as member, \
            raw.connect(floor) as publisher:
        ears.subscribe("way")
        assert ears.get_message(timeout=5)["type"] == "subscribe"
        publish(publisher, "way", b"one")
        assert ears.get_message(timeout=5)["data"] == b"one"
        assert member.texts(1) == [b"one"]
        db.publish("way", "\u00e9" * 30_000)
        assert member.texts(2)[1].decode() == "\u00e9" * 30_000


def test_a_topic_is_subscribed_to_while_it_has_members(floor, redis_server):
    with redis_server.client() as db:
        def subscribers():
            return dict(db.pubsub_numsub("kept"))[b"kept"]

        for _ in range(3):
            with Subscriber(floor, "kept"):
                assert subscribers() == 1, "before the upgrade is answered"
                with Subscriber(floor, "kept"):
                    assert subscribers() == 1
                assert subscribers() == 1
            eventually(lambda: subscribers() == 0, 5, "the end of the subscription")


def test_a_publish_and_an_upgrade_are_answered_after_redis_has_answered(floor, redis_server):
    with raw.connect(floor) as publisher, raw.connect(floor) as member:
        redis_server.signal(signal.SIGSTOP)
        try:
            publisher.sendall(request("later", b"1"))
            member.sendall(b"GET /sub/later HTTP/1.1\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")
            assert is_quiet(publisher) and is_quiet(member)
        finally:
            redis_server.signal(signal.SIGCONT)
        assert publisher.recv(4_096).startswith(b"HTTP/1.1 200 OK\r\n")
        assert member.recv(4_096).startswith(b"HTTP/1.1 101 ")


def test_publishers_that_leave_before_their_answer_leave_the_others_theirs(floor, redis_server):
    with raw.connect(floor) as stays:
        redis_server.signal(signal.SIGSTOP)
        try:
            for _ in range(3):
                with raw.connect(floor) as leaves:
                    leaves.sendall(request("left", b"x") * 2)
            stays.sendall(request("left", b"y"))
            eventually(lambda: descriptors(floor) <= 8, 5, "the floor has closed what ended")
        finally:
            redis_server.signal(signal.SIGCONT)
        assert stays.recv(4_096) == b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
        publish(stays, "left", b"z")


class FalseRedis:
    """A server that says what a test wants: the floor's first link publishes, the second one subscribes."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.listener.settimeout(10)
        self.port = self.listener.getsockname()[1]

    def accept(self):
        self.publishing, self.subscribing = self.listener.accept()[0], self.listener.accept()[0]
        for link in (self.publishing, self.subscribing):
            link.settimeout(10)
            link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def close(self):
        for link in (self.listener, self.publishing, self.subscribing):
            link.close()


@pytest.fixture(scope="module")
def checked_floor(tmp_path_factory):
    """A floor that ends at any access outside its memory."""
    binary = tmp_path_factory.mktemp("checked") / "floor"
    sources = sorted((ROOT / "bench/floor").glob("*.c"))
    subprocess.run(["cc", "-std=gnu11", "-D_GNU_SOURCE", "-O1", "-g", "-fsanitize=address,undefined",
                    "-fno-sanitize-recover=all", "-o", binary, *sources, "-lssl", "-lcrypto"], check=True)
    return binary


@pytest.fixture
def false_redis(checked_floor, certificate):
    server = FalseRedis()
    floor = Floor(certificate, server.port, checked_floor)
    server.accept()
    yield server, floor
    floor.stop()
    server.close()


SUBSCRIBED = b"*3\r\n$9\r\nsubscribe\r\n$1\r\nt\r\n:1\r\n"


def member_of(server, floor):
    """A member of the topic t, whose subscription is confirmed in two pieces."""
    member = raw.connect(floor)
    member.sendall(b"GET /sub/t HTTP/1.1\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")
    assert server.subscribing.recv(4_096) == b"*2\r\n$9\r\nSUBSCRIBE\r\n$1\r\nt\r\n"
    server.subscribing.sendall(SUBSCRIBED)
    assert member.recv(4_096).startswith(b"HTTP/1.1 101 ")
    return member


def message(data, topic=b"t"):
    return b"*3\r\n$7\r\nmessage\r\n$%d\r\n%s\r\n$%d\r\n%s\r\n" % (len(topic), topic, len(data), data)


def test_replies_may_come_in_any_pieces(false_redis, rng):
    server, floor = false_redis
    with member_of(server, floor) as member, raw.connect(floor) as publisher:
        bodies = [b"x" * length for length in (0, 1, 125, 126, 65_535)] + [b"\r\n$5\r\n*3\r\n"]
        stream, received = b"".join(map(message, bodies)), b""
        cuts = sorted({*range(1, 300), *(rng.randrange(len(stream)) for _ in range(20))})
        for start, end in zip([0, *cuts], [*cuts, len(stream)]):
            server.subscribing.sendall(stream[start:end])
        while len(found := raw.frames(received)) < len(bodies):
            received += member.recv(65_536)
        assert [payload for _, payload in found] == bodies
        publisher.sendall(request("t", b"1") * 3)
        called = b""
        while called.count(b"PUBLISH") < 3:
            called += server.publishing.recv(4_096)
        assert called == b"*3\r\n$7\r\nPUBLISH\r\n$1\r\nt\r\n$1\r\n1\r\n" * 3
        for byte in b":1\r\n-OOM too much\r\n:0\r\n":
            server.publishing.sendall(bytes([byte]))
        answers = b""
        while answers.count(b"\r\n\r\n") < 3:
            answers += publisher.recv(4_096)
        assert [line[9:12] for line in answers.split(b"\r\n") if line.startswith(b"HTTP")] == [b"200", b"503", b"200"]
        assert floor.process.poll() is None


@pytest.mark.parametrize("link, reply", [
    ("publishing", b":1\r\n"), ("publishing", b"+OK\r\n"), ("publishing", b"-" + b"x" * 10_000),
    ("subscribing", b"+OK\r\n"), ("subscribing", b"*2\r\n"), ("subscribing", b"*3\r\n:1\r\n"),
    ("subscribing", b"*3\r\n$-1\r\n"), ("subscribing", b"*3\r\n$99999999999999999999\r\n"),
    ("subscribing", b"*3\r\n$" + b"0" * 100), ("subscribing", b"*03\r\n$4\r\npong\r\n$1\r\nt\r\n:1\r\n"),
    ("subscribing", b"*3\r\n$17\r\n"), ("subscribing", b"*3\r\n$7\r\nmessage\r\n$251\r\n"),
    ("subscribing", b"*3\r\n$7\r\nmessage\r\n$1\r\nt\r\n$65536\r\n"),
    ("subscribing", b"*3\r\n$7\r\nmessage\r\n$1\r\nt\r\n$1\r\nxyz"), ("subscribing", message(b"x", b"other")),
    ("subscribing", SUBSCRIBED), ("subscribing", b"*3\r\r\n"), ("subscribing", b"*\r\n"), ("subscribing", b""),
], ids=lambda value: value if isinstance(value, str) else repr(value[:50]))
def test_a_reply_that_is_none_ends_the_floor(false_redis, link, reply):
    """With its word, and without touching what is not its own."""
    server, floor = false_redis
    with member_of(server, floor):
        sending = getattr(server, link)
        sending.sendall(reply)
        if not reply:
            sending.shutdown(socket.SHUT_WR)
        assert floor.process.wait(10) == 1
        said = floor.process.stderr.read().decode()
        assert ("a link to Redis ended" if not reply else "something else than a reply") in said, said
