"""Each limit: at the limit accepted, one over refused with the documented code."""

import json
import os

import pytest

from Fixtures.clients import raw
from Fixtures.clients.socketio import Wire
from Fixtures.clients.tokens import assemble, claims
from Fixtures.processes.gateway import API_KEY, error_code
from Fixtures.waiting import eventually


def ping_of(size: int) -> str:
    """A ping message of exactly `size` bytes."""
    text = '{"event":"ping","data":{"pad":""}}'
    return text.replace('""', '"' + "x" * (size - len(text)) + '"')


# Messages


def test_inbound_message_bytes(gateway):
    gw = gateway(limits={"inboundMessageBytesMax": 256})
    with gw.client() as client:
        client.send_raw(ping_of(256))
        client.expect("pong")
        client.send_raw(ping_of(257))
        client.expect_close(1009)


def test_announced_length_is_refused_before_its_bytes_come(gateway):
    gw = gateway(limits={"inboundMessageBytesMax": 256})
    connection, status, _ = raw.upgrade(gw)
    assert status == 101
    with connection:
        connection.sendall(bytes([0x81, 0x80 | 127]) + (2**40).to_bytes(8, "big") + os.urandom(4))
        assert raw.close_code(raw.read_to_end(connection)) == 1009


def test_fragments_together_count_as_one_message(gateway):
    gw = gateway(limits={"inboundMessageBytesMax": 256})
    connection, _, _ = raw.upgrade(gw)
    with connection:
        connection.sendall(raw.frame(raw.TEXT, b"x" * 200, final=False) + raw.frame(raw.CONTINUATION, b"x" * 57))
        assert raw.close_code(raw.read_to_end(connection)) == 1009


def fragmented(count: int) -> bytes:
    text = ping_of(200).encode()
    size = -(-len(text) // count)
    pieces = [text[index * size:(index + 1) * size] for index in range(count)]
    return b"".join(
        raw.frame(raw.TEXT if index == 0 else raw.CONTINUATION, piece, final=index == count - 1)
        for index, piece in enumerate(pieces))


@pytest.mark.parametrize("count,accepted", [(4, True), (5, False)])
def test_fragments(gateway, count, accepted):
    gw = gateway(limits={"fragmentsMax": 4})
    connection, _, _ = raw.upgrade(gw)
    with connection:
        connection.sendall(fragmented(count))
        if accepted:
            connection.sendall(raw.frame(raw.CLOSE, (1000).to_bytes(2, "big")))
        received = raw.read_to_end(connection)
        assert raw.close_code(received) == (1000 if accepted else 1008)
        assert any(b'"pong"' in payload for _, payload in raw.frames(received)) is accepted


def test_control_frames(gateway):
    gw = gateway(limits={"controlFramesPerSecond": 5})
    connection, _, _ = raw.upgrade(gw)
    with connection:
        connection.sendall(raw.frame(raw.PING) * 5)
        received = b""
        while len(raw.frames(received)) < 5:
            received += connection.recv(4_096)
        assert [opcode for opcode, _ in raw.frames(received)] == [raw.PONG] * 5
        connection.sendall(raw.frame(raw.PING) * 100)
        assert raw.close_code(raw.read_to_end(connection)) == 1008


def nested(depth: int) -> str:
    """A ping whose text nests `depth` levels: the message, `data`, and objects in it."""
    return '{"event":"ping","data":' + '{"a":' * (depth - 2) + "{}" + "}" * (depth - 2) + "}"


def test_json_depth(gateway):
    gw = gateway(limits={"jsonDepthMax": 6})
    with gw.client() as client:
        client.send_raw(nested(6))
        client.expect("pong")
        client.send_raw(nested(7))
        client.expect_error("too_large")
        client.expect_nothing()


def test_json_elements(gateway):
    gw = gateway(limits={"jsonElementsMax": 50})
    with gw.client() as client:
        client.send_raw('{"event":"ping","data":{"a":[' + ",".join("1" * 30) + "]}}")
        client.expect("pong")
        client.send_raw('{"event":"ping","data":{"a":[' + ",".join("1" * 50) + "]}}")
        client.expect_error("too_large")


# Sessions


def test_topics_of_a_connection(gateway, topics):
    gw = gateway(limits={"topicsPerConnectionMax": 3})
    with gw.client() as client:
        names = [topics() for _ in range(4)]
        for name in names[:3]:
            client.subscribe(name)
        client.refused("subscribe", {"topic": names[3]}, "too_large")
        client.request("unsubscribe", {"topic": names[0]})
        client.subscribe(names[3])


def test_topics_of_a_batch(gateway, topics):
    gw = gateway(limits={"subscribeBatchMax": 3})
    with gw.client() as client:
        client.send("subscribe", {"topics": [topics() for _ in range(3)]})
        for _ in range(3):
            client.expect("subscribed")
        client.refused("subscribe", {"topics": [topics() for _ in range(4)]}, "too_large")


def test_refusals_in_a_row(gateway):
    gw = gateway(limits={"refusalsMax": 5})
    with gw.client() as client:
        for _ in range(5):
            client.refused("nothing", {}, "not_found")
        client.send("nothing", {})
        client.expect_close(4429, after=("error",))


@pytest.mark.parametrize("over", [0, 1])
def test_token_bytes(gateway, secret, over):
    """A token of exactly the limit is read; one byte more is not."""
    size = 600

    def padded(count):
        return assemble({"alg": "HS256", "typ": "JWT"}, claims(pad="x" * count), secret)

    token = next(text for count in range(1, 600) if len(text := padded(count)) >= size)
    gw = gateway(limits={"tokenBytesMax": len(token) - over})
    with gw.client() as client:
        assert client.request("authenticate", {"token": token})["event"] == ("error" if over else "authenticated")


# HTTP


def test_body_bytes(gateway, topic):
    gw = gateway(limits={"bodyBytesMax": 1_024})
    body = json.dumps({"topic": topic, "event": "e", "data": {"pad": ""}})

    def sized(size):
        return body.replace('""', '"' + "x" * (size - len(body)) + '"')

    with gw.http() as http:
        assert http.post("/v1/broadcast", content=sized(1_024)).status_code == 200
        response = http.post("/v1/broadcast", content=sized(1_025))
        assert response.status_code == 413 and error_code(response) == "too_large"


def test_announced_body_is_refused_before_it_comes(gateway):
    gw = gateway(limits={"bodyBytesMax": 1_024})
    status, body = raw.exchange(gw, (
        f"POST /v1/broadcast HTTP/1.1\r\nHost: x\r\napikey: {API_KEY}\r\nContent-Length: 1025\r\n\r\n").encode())
    assert status == 413 and body["error"]["code"] == "too_large"


def test_chunks_count_together(gateway):
    gw = gateway(limits={"bodyBytesMax": 1_024})
    chunk = b"200\r\n" + b" " * 512 + b"\r\n"
    status, _ = raw.exchange(gw, (
        f"POST /v1/broadcast HTTP/1.1\r\nHost: x\r\napikey: {API_KEY}\r\nTransfer-Encoding: chunked\r\n\r\n"
    ).encode() + chunk * 3)
    assert status == 413


@pytest.mark.parametrize("count,status", [(3, 200), (4, 400)])
def test_batch(gateway, topic, count, status):
    gw = gateway(limits={"batchMax": 3})
    with gw.http() as http:
        messages = [{"topic": topic, "event": "e", "data": {}}] * count
        assert http.post("/v1/broadcast", json={"messages": messages}).status_code == status


def test_published_bytes(gateway, topic, token):
    gw = gateway(limits={"publishBytesMax": 256})
    conversation = "conversation:limits"
    at, over = ({"p": "x" * (size - len('{"p":""}'))} for size in (256, 257))
    with gw.http() as http:
        # Compact JSON, so that the data on the wire has exactly the size meant.
        def post(*items):
            body = {"messages": [{"topic": topic, "event": "e", "data": item} for item in items]}
            return http.post("/v1/broadcast", content=json.dumps(body, separators=(",", ":")))

        results = post(at, over, at).json()["results"]
        assert [result.get("offset") for result in results] == [1, None, 2]
        assert results[1]["error"]["code"] == "too_large"
        single = http.post("/v1/broadcast", content=json.dumps(
            {"topic": topic, "event": "e", "data": over}, separators=(",", ":")))
        assert single.status_code == 413 and error_code(single) == "too_large"
    with gw.client(token=token("u1", topics=[conversation])) as client:
        for data, event in ((at, "ack"), (over, "error")):
            client.send_raw(json.dumps(
                {"event": "publish", "topic": conversation, "data": {"event": "e", "data": data}},
                separators=(",", ":")))
            client.expect(event)


def get(target: str = "/v1/topics/shop:1", *headers: str) -> bytes:
    return "\r\n".join([f"GET {target} HTTP/1.1", "Host: x", "Connection: close", *headers, "", ""]).encode()


@pytest.mark.parametrize("over", [0, 1])
def test_request_line_bytes(gateway, over):
    gw = gateway(limits={"requestLineBytesMax": 256})
    target = "/" + "x" * (256 - len("GET / HTTP/1.1") + over)
    assert raw.exchange(gw, get(target))[0] == (414 if over else 404)


@pytest.mark.parametrize("count,status", [(20, 200), (21, 431)])
def test_headers(gateway, count, status):
    gw = gateway(limits={"headersMax": 20})
    more = [f"X-{number}: 1" for number in range(count - 2)]
    assert raw.exchange(gw, get("/v1/topics/shop:1", *more))[0] == status


def test_head_bytes(gateway):
    gw = gateway(limits={"headBytesMax": 1_024})
    assert raw.exchange(gw, get("/v1/topics/shop:1", "X: " + "x" * 800))[0] == 200
    assert raw.exchange(gw, get("/v1/topics/shop:1", "X: " + "x" * 1_100))[0] == 431


def test_endless_head_is_cut_off(gateway):
    gw = gateway(limits={"headBytesMax": 1_024})
    with raw.connect(gw) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nX: ")
        try:
            for _ in range(200):
                connection.sendall(b"x" * 4_096)
        except OSError:
            pass
        received = raw.read_to_end(connection)
        assert not received or raw.response(received)[0] == 431


def test_history_page(gateway, topic):
    gw = gateway(limits={"historyPageMax": 3})
    for _ in range(5):
        gw.publish(topic)
    with gw.http() as http:
        assert len(http.get(f"/v1/topics/{topic}/events?limit=3").json()["events"]) == 3
        assert http.get(f"/v1/topics/{topic}/events?limit=4").status_code == 400


# Connections


@pytest.mark.parametrize("limit", [
    "connectionsMax", "connectionsPerAddressMax", "unauthenticatedMax", "unauthenticatedPerAddressMax"])
def test_connections(gateway, limit):
    """Three may be open; the fourth is not served; when one leaves, the next is."""
    gw = gateway(limits={limit: 3})
    eventually(lambda: gw.metric("switchboard_connections") == 0, 5, "no connection left")
    clients = [gw.client() for _ in range(3)]
    try:
        with pytest.raises(Exception):
            gw.client()
        for client in clients:
            client.request("ping")
        clients.pop().close()

        def try_again():
            try:
                return gw.client()
            except Exception:
                return None

        clients.append(eventually(try_again, 5, "a free place"))
        clients[-1].request("ping")
    finally:
        for client in clients:
            client.close()


def test_established_clients_do_not_count_as_unauthenticated(gateway, topic):
    gw = gateway(limits={"unauthenticatedMax": 2})
    clients = []
    try:
        for _ in range(8):
            clients.append(gw.client())
            clients[-1].subscribe(topic)
    finally:
        for client in clients:
            client.close()


def test_new_connections_of_an_address_per_second(gateway):
    gw = gateway(limits={"connectsPerAddressPerSecond": 5})
    opened, refused = [], 0
    try:
        for _ in range(60):
            try:
                opened.append(gw.client())
            except Exception:
                refused += 1
        assert len(opened) >= 20 and refused > 0
    finally:
        for client in opened:
            client.close()


def test_topics_are_counted_over_all_namespaces_of_a_connection(gateway, topics):
    """One Socket.IO connection held as many topics in each of its six namespaces as a connection may hold."""
    gw = gateway(limits={"topicsPerConnectionMax": 3})
    with Wire(gw) as wire:
        for namespace in ("", "/queue,", "/dj,"):
            wire.enters(namespace)
        names = [topics() for _ in range(4)]
        for number, (namespace, name) in enumerate(zip(("", "/queue,", "/queue,"), names[:3], strict=True)):
            assert "code" not in wire.asks(namespace, number, "subscribe", {"topic": name}), name
        for number, namespace in enumerate(("", "/queue,", "/dj,"), 10):
            refused = wire.asks(namespace, number, "subscribe", {"topic": names[3]})
            assert refused["error"]["code"] == "too_large", refused
        wire.asks("/queue,", 20, "unsubscribe", {"topic": names[1]})
        assert "error" not in wire.asks("/dj,", 21, "subscribe", {"topic": names[3]})


def test_topics_of_an_address(gateway, server, token, topics):
    """An address that stayed connected made positions in Redis without end: each new name lives on with its member."""
    gw = gateway(server=server, limits={"topicsPerAddressMax": 10, "joinsPerSecond": 1_000})
    with gw.client() as member, server.client() as redis:
        for _ in range(4):
            member.subscribe(topics())
        with gw.client() as client:
            for _ in range(6):
                client.subscribe(topics())
            client.refused("subscribe", {"topic": topics()}, "too_large")
            member.refused("subscribe", {"topic": topics()}, "too_large")
            assert len(redis.keys("*#meta")) == 10
            # Users with a token are known by it, and leave the room that they took.
            client.authenticate(token("u1"))
            client.subscribe(topics())
            for _ in range(6):
                member.subscribe(topics())
            member.refused("subscribe", {"topic": topics()}, "too_large")
        with gw.client(token=token("u2")) as user:
            user.subscribe(topics())
    with gw.client() as late:
        eventually(lambda: late.request("subscribe", {"topic": topics()})["event"] == "subscribed", 5, "room")
