"""permessage-deflate (RFC 7692): what is agreed on, who gets what, and clients that mean harm."""

import json
import zlib

import pytest

from Fixtures.clients import raw
from Fixtures.clients.native import Client
from Fixtures.clients.tokens import SECRET
from Fixtures.processes.gateway import Gateway
from Fixtures.waiting import eventually

MIB = 1 << 20
BINARY = 0x2
FORGETTING = "permessage-deflate; server_no_context_takeover; client_no_context_takeover"


@pytest.fixture(scope="module")
def node(tmp_path_factory, shared_server, certificate):
    """A gateway of one shard that deflates, so that its figures are those of one thread."""
    gateway = Gateway(tmp_path_factory.mktemp("deflate"), shared_server.url, certificate, SECRET, "--deflate",
                      "--deflate-min-bytes", "256", "--shards", "1")
    gateway.start().wait_ready()
    yield gateway
    assert gateway.process.poll() is None, gateway.log_text[-4000:]
    gateway.stop()


def deflate(payload: bytes, level: int = 9) -> bytes:
    """A message as a client deflates it, without the empty block at its end."""
    stream = zlib.compressobj(level, zlib.DEFLATED, -15)
    made = stream.compress(payload) + stream.flush(zlib.Z_SYNC_FLUSH)
    return made.removesuffix(b"\x00\x00\xff\xff")


def inflate(payload: bytes, window: int = 15) -> bytes:
    return zlib.decompressobj(-window).decompress(payload + b"\x00\x00\xff\xff")


def crowd(size: int) -> dict:
    """The data of an event of about so many bytes, such as a queue's."""
    return {"entries": [{"userId": f"user-{n * 7919 % 10_007}", "place": n, "etaSeconds": n * 600}
                        for n in range(size // 55)]}


def deflating(gateway, **options) -> Client:
    """Python's `websockets`, which offers to deflate both ways."""
    client = gateway.client(compression="deflate", **options)
    assert client.connection.response.headers["Sec-WebSocket-Extensions"].startswith(FORGETTING)
    return client


def open_raw(gateway, offer="permessage-deflate"):
    """A connection that agreed on deflating, and what it has read so far."""
    connection, status, rest = raw.upgrade(gateway, f"Sec-WebSocket-Extensions: {offer}")
    assert status == 101
    return connection, rest


def figures(gateway):
    names = ("encodings", "deflated", "inflated", 'deflate_bytes/before', 'deflate_bytes/after')
    found = {}
    for name in names:
        metric, _, when = name.partition("/")
        found[name] = gateway.metric(f"switchboard_{metric}_total", **({"when": when} if when else {}))
    return found


def risen(gateway, before):
    return {name: value - before[name] for name, value in figures(gateway).items()}


def agreed(gateway, *offers) -> str | None:
    """What the gateway answers to these lines of offers."""
    connection = raw.connect(gateway)
    host, port = gateway.address()
    lines = ["GET /ws HTTP/1.1", f"Host: {host}:{port}", "Upgrade: websocket", "Connection: Upgrade",
             "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==", "Sec-WebSocket-Version: 13",
             *(f"Sec-WebSocket-Extensions: {offer}" for offer in offers)]
    with connection:
        connection.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
        head = b""
        while b"\r\n\r\n" not in head:
            head += connection.recv(4_096)
    assert head.startswith(b"HTTP/1.1 101 "), head
    found = [line for line in head.decode().split("\r\n") if line.startswith("Sec-WebSocket-Extensions: ")]
    assert len(found) <= 1
    return found[0].partition(": ")[2] if found else None


@pytest.mark.parametrize("offers, answer", [
    ((), None),
    (("permessage-deflate",), FORGETTING),
    (("permessage-deflate; client_max_window_bits",), FORGETTING),
    (("permessage-deflate; server_max_window_bits=10",), FORGETTING + "; server_max_window_bits=9"),
    (("permessage-deflate; server_max_window_bits=8",), None),
    (("permessage-deflate; mode=fast", "permessage-deflate"), FORGETTING),
    (("x-webkit-deflate-frame",), None),
])
def test_agreements(node, offers, answer):
    assert agreed(node, *offers) == answer


def test_starscream_is_declined(node):
    """It would deflate its pongs, which ends the connection."""
    assert agreed(node, "permessage-deflate; client_max_window_bits; server_max_window_bits=15") is None


def test_nothing_is_agreed_on_unless_it_is_configured(gateway):
    node = gateway("--deflate=false")
    assert agreed(node, "permessage-deflate") is None
    connection, rest = open_raw(node)
    with connection:
        connection.sendall(raw.frame(raw.TEXT, deflate(b'{"event":"ping"}'), reserved=4))
        assert raw.close_code(rest + raw.read_to_end(connection)) == 1002


def test_an_event_is_deflated_once_for_all_who_want_it(node, topic):
    data = crowd(2_000)
    with deflating(node) as one, deflating(node) as two, node.client() as plain:
        for client in (one, two, plain):
            client.subscribe(topic)
        before = figures(node)
        for _ in range(10):
            node.publish(topic, data=data)
        messages = [[client.expect("queue:update") for _ in range(10)] for client in (one, two, plain)]
        rise = risen(node, before)
    assert messages[0] == messages[1] == messages[2]
    assert [message["offset"] for message in messages[0]] == list(range(1, 11))
    assert messages[0][0]["data"] == data
    assert (rise["encodings"], rise["deflated"]) == (20, 10)
    assert rise["deflate_bytes/after"] < rise["deflate_bytes/before"] / 3


def test_what_is_small_is_sent_as_it_is(node, topic):
    with deflating(node) as client, node.client() as plain:
        client.subscribe(topic)
        plain.subscribe(topic)
        before = figures(node)
        node.publish(topic, data={"small": "a" * 100})
        client.expect("queue:update", data={"small": "a" * 100})
        assert (risen(node, before)["encodings"], risen(node, before)["deflated"]) == (1, 0), "both have the same bytes"


def test_both_windows_say_the_same(node, topic):
    data = crowd(4_000)
    wide, _ = open_raw(node, "permessage-deflate; server_max_window_bits=15")
    narrow, _ = open_raw(node, "permessage-deflate; server_max_window_bits=9")
    texts = []
    with wide, narrow:
        for connection in (wide, narrow):
            connection.sendall(raw.frame(raw.TEXT, json.dumps(
                {"event": "subscribe", "ref": 1, "data": {"topic": topic}}).encode()))
            received = b""
            while not raw.frames(received):
                received += connection.recv(65_536)
        node.publish(topic, data=data)
        for connection, window in ((wide, 15), (narrow, 9)):
            received = b""
            while not raw.frames(received):
                received += connection.recv(65_536)
            assert received[0] == 0xC1, "a final text frame that is deflated"
            texts.append(inflate(raw.frames(received)[0][1], window))
    assert texts[0] == texts[1] and json.loads(texts[0])["data"] == data


def test_clients_deflate_what_they_say(node, topics, token):
    topic, text = topics("conversation"), "a word said twice, a word said twice " * 20
    before = figures(node)
    one, two = (token(user, topics=[topic]) for user in ("u1", "u2"))
    with deflating(node, token=one) as client, node.client(token=two) as hearer:
        hearer.subscribe(topic)
        answer = client.request("publish", {"event": "said", "data": {"text": text}}, topic=topic)
        assert answer["event"] == "ack", answer
        assert hearer.expect("said")["data"] == {"text": text}
    assert risen(node, before)["inflated"] == 1


def test_a_deflated_message_in_fragments_between_pings(node):
    message = deflate(json.dumps({"event": "ping", "ref": "r" * 60}).encode())
    connection, rest = open_raw(node)
    with connection:
        pieces = [message[index:index + 7] for index in range(0, len(message), 7)]
        for index, piece in enumerate(pieces):
            connection.sendall(
                raw.frame(raw.TEXT if index == 0 else raw.CONTINUATION, piece, final=index == len(pieces) - 1,
                          reserved=4 if index == 0 else 0) + raw.frame(raw.PING, b"p%d" % index))
        while b'"pong"' not in rest:
            rest += connection.recv(65_536)
    assert [payload for opcode, payload in raw.frames(rest) if opcode == raw.TEXT][0].count(b"r" * 60) == 1


@pytest.mark.parametrize("frames, code", [
    (lambda: raw.frame(raw.PING, deflate(b"a" * 50), reserved=4), 1002),
    (lambda: raw.frame(raw.CLOSE, b"\x03\xe8", reserved=4), 1002),
    (lambda: raw.frame(raw.TEXT, deflate(b"{}"), final=False, reserved=4)
        + raw.frame(raw.CONTINUATION, b"", reserved=4), 1002),
    (lambda: raw.frame(raw.TEXT, deflate(b"{}"), reserved=2), 1002),
    (lambda: raw.frame(raw.TEXT, b"\x07\x00\x00", reserved=4), 1002),
    (lambda: raw.frame(raw.TEXT, deflate(b"a" * 300)[:5], reserved=4), 1002),
    (lambda: raw.frame(raw.TEXT, deflate(b"a" * 300 + b"\xff"), reserved=4), 1007),
    (lambda: raw.frame(raw.TEXT, deflate(b" " * 65_537), reserved=4), 1009),
], ids=["ping", "close", "continuation", "rsv2", "corrupt", "cut", "text", "size"])
def test_what_breaks_the_rules_is_closed_with_its_code(node, frames, code):
    connection, rest = open_raw(node)
    with connection:
        connection.sendall(frames())
        assert raw.close_code(rest + raw.read_to_end(connection)) == code


def test_a_bomb_is_refused_at_its_limit_and_costs_no_memory(node):
    """64 KB that say 64 MB, from forty clients, whole and in fragments."""
    bomb = deflate(b" " * (64 * MIB))
    assert 60_000 < len(bomb) < 70_000
    nested = deflate(bomb * 100)
    connection, rest = open_raw(node)
    with connection:
        connection.sendall(raw.frame(raw.TEXT, deflate(b'{"event":"ping"}'), reserved=4))
        while not raw.frames(rest):
            rest += connection.recv(65_536)
    before = node.resident_bytes
    for number in range(40):
        connection, rest = open_raw(node)
        with connection:
            # Half of the whole ones are deflated twice.
            if number % 2:
                parts = [bomb[at:at + 1_000] for at in range(0, len(bomb), 1_000)]
                connection.sendall(b"".join(
                    raw.frame(raw.TEXT if at == 0 else raw.CONTINUATION, part, final=at == len(parts) - 1,
                              reserved=4 if at == 0 else 0) for at, part in enumerate(parts)))
            else:
                connection.sendall(raw.frame(BINARY, nested if number % 4 else bomb, reserved=4))
            assert raw.close_code(rest + raw.read_to_end(connection)) == 1009
    assert node.resident_bytes - before < 4 * MIB
    with deflating(node) as client:
        assert client.request("ping")["event"] == "pong"


def test_a_client_that_comes_back_is_sent_what_it_missed_as_it_is(node, topic):
    """A crowd that comes back would have each of its recoveries deflated for it alone."""
    position = node.publish(topic, data=crowd(1_000))
    for _ in range(5):
        node.publish(topic, data=crowd(1_000))
    before = figures(node)
    with deflating(node) as client:
        since = {"epoch": position["epoch"], "offset": position["offset"]}
        assert client.subscribe(topic, since)["recovered"] is True
        assert [client.expect("queue:update")["offset"] for _ in range(5)] == [2, 3, 4, 5, 6]
    eventually(lambda: figures(node)["encodings"] - before["encodings"] >= 5, 5, "recovered events counted")
    assert risen(node, before)["deflated"] <= 1, "the answer to the subscribe may be, and no event"
