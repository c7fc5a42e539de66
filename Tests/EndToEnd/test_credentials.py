"""Who a request comes from is judged at its head, by one reader for every door."""

import json
import socket

import pytest
from websockets.exceptions import InvalidStatus

from Fixtures.clients import raw
from Fixtures.clients.tokens import sign
from Fixtures.processes.gateway import API_KEY, error_code
from Fixtures.waiting import eventually

MIB = 1_048_576
PUBLIC_KEY = "publishable-key-0123456789"


def post(path: str, length: int, *headers: str) -> bytes:
    lines = [f"POST {path} HTTP/1.1", "Host: x", f"Content-Length: {length}", *headers]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


# Credentials at the head (M4)


@pytest.mark.parametrize("path,headers,status", [
    ("/v1/broadcast", (), 401), ("/realtime/v1/api/broadcast", (), 401),
    ("/v1/broadcast", ("apikey: wrong-key-0123456789",), 401), ("/v1/commands/vote", (), 401),
    ("/v1/shops/s1/tracks/t1/vote", (), 401), ("/v1/broadcast", ("Authorization: Basic eA==",), 401),
    ("/v1/broadcast", ("apikey: a", "apikey: b"), 400)],
    ids=repr)
def test_what_needs_credentials_is_refused_before_its_body(gw, path, headers, status):
    """Bodies were read whole before anybody looked at credentials."""
    with raw.connect(gw) as connection:
        # Not a byte of the body is sent; the answer comes all the same, and the connection ends.
        connection.sendall(post(path, MIB, *headers))
        assert raw.response(raw.read_to_end(connection))[0] == status


def test_a_user_may_not_send_what_services_publish(gw, token):
    with raw.connect(gw) as connection:
        connection.sendall(post("/v1/broadcast", MIB, f"Authorization: Bearer {token('u1')}"))
        assert raw.response(raw.read_to_end(connection))[0] == 403


def test_no_continue_is_sent_to_who_is_refused(gw):
    with raw.connect(gw) as connection:
        connection.sendall(post("/v1/broadcast", MIB, "Expect: 100-continue"))
        received = raw.read_to_end(connection)
        assert received.startswith(b"HTTP/1.1 401 "), received[:100]


def test_anonymous_bodies_are_small(gw):
    """A caller without credentials may send 64 kB, announced or in chunks; what is refused is not read."""
    with raw.connect(gw) as connection:
        connection.sendall(post("/v1/commands/check_in", 65_537))
        assert raw.response(raw.read_to_end(connection))[0] in (401, 413)
    with raw.connect(gw) as connection:
        connection.sendall(post("/v1/nowhere", 65_537))
        assert raw.response(raw.read_to_end(connection))[0] == 413
    with raw.connect(gw) as connection:
        connection.sendall(b"POST /v1/nowhere HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
                           b"ffff\r\n" + b"x" * 65_535 + b"\r\n2\r\nxx")
        assert raw.response(raw.read_to_end(connection))[0] == 413
    with raw.connect(gw) as connection:
        connection.sendall(post("/v1/nowhere", 65_536, "Connection: close") + b"x" * 65_536)
        assert raw.response(raw.read_to_end(connection))[0] == 404


def test_a_hundred_anonymous_mebibytes_cost_nothing(gateway):
    """They took 108 MB of the process."""
    gw = gateway()
    before = gw.resident_bytes
    connections = [raw.connect(gw) for _ in range(100)]
    idle = gw.resident_bytes
    for connection in connections:
        connection.sendall(post("/v1/broadcast", MIB))
        try:
            connection.sendall(b" " * (MIB - 1))
        except OSError:
            pass
    grown = gw.resident_bytes - idle
    for connection in connections:
        connection.close()
    print(f"100 connections {idle - before} bytes, their bodies {grown} bytes")
    assert grown < 16 * MIB


def test_a_service_still_sends_a_mebibyte(gw, topic):
    body = json.dumps({"messages": [{"topic": topic, "event": "e", "data": {"x": "y" * 60_000}}] * 16})
    assert MIB > len(body) > 900_000
    with gw.http() as http:
        assert http.post("/v1/broadcast", content=body).status_code == 200


def test_refused_requests_without_a_body_keep_the_connection(gw):
    with raw.connect(gw) as connection:
        for _ in range(3):
            connection.sendall(post("/v1/broadcast", 0))
            assert connection.recv(65_536).startswith(b"HTTP/1.1 401 ")


# API keys on WebSockets


def test_an_api_key_opens_a_service_socket(gw, topics, token):
    """The key was taken and then forgotten: its session was anonymous."""
    order = topics("order")
    with gw.client(headers=[("apikey", API_KEY)]) as service, gw.client(token=API_KEY) as bearer:
        service.subscribe(order)
        bearer.subscribe(order)
        service.send("publish", {"event": "e", "data": {"n": 1}}, topic=order, ref=1)
        assert {service.receive()["event"], service.receive()["event"]} == {"ack", "e"}
        bearer.expect("e", data={"n": 1})
        service.refused("authenticate", {"token": token("u1")}, "forbidden")


def test_a_wrong_api_key_opens_nothing(gw):
    with pytest.raises(InvalidStatus) as refused:
        gw.client(headers=[("apikey", "wrong-key-0123456789")])
    assert refused.value.response.status_code == 401


def test_a_publishable_key_is_anonymous(gateway, topics):
    gw = gateway()
    keys = gw.directory / "api-keys"
    keys.write_text(keys.read_text() + f"web:{PUBLIC_KEY}:public\n")
    gw.signal(1)
    with gw.http(key=PUBLIC_KEY) as http:
        eventually(lambda: http.get("/v1/topics/shop:1").status_code == 200, 5, "the reload")
        assert http.post("/v1/broadcast", json={}).status_code == 401
        assert http.get(f"/v1/topics/{topics('order')}").status_code == 401
    with gw.client(headers=[("apikey", PUBLIC_KEY)]) as page:
        page.subscribe(topics("shop"))
        page.refused("subscribe", {"topic": topics("order")}, "unauthorized")


def test_anonymous_false_closes_every_door(gateway, token):
    """Topics could still be read over HTTP without credentials."""
    gw = gateway("--anonymous=false")
    with gw.http(key=None) as http:
        assert http.get("/v1/topics/shop:1").status_code == 401
        assert http.get("/v1/topics/shop:1/events").status_code == 401
        assert http.get("/v1/shops/s1/queue").status_code == 401
        assert http.get("/v1/topics/shop:1", headers={"apikey": token("u1")}).status_code == 200


# Words


def test_http_callers_are_not_told_to_send_messages(gw, topics):
    """They read "send authenticate first", which only sockets can do."""
    with gw.http(key=None) as http:
        for response in (http.get(f"/v1/topics/{topics('order')}"), http.post("/v1/commands/vote", json={}),
                         http.post("/v1/shops/s1/tracks/t1/vote", json={})):
            assert response.status_code == 401
            assert "send authenticate" not in response.text


# Roles and secrets of other issuers


def test_supabase_roles(gateway, secret, topics):
    gw = gateway("--jwt-role", "authenticated=user", "--jwt-role", "service_role=service", "--jwt-role",
                 "anon=anonymous")
    with gw.client(token=sign(secret, "u1", role="authenticated")) as user:
        user.subscribe("user:u1")
        user.refused("subscribe", {"topic": "user:u2"}, "forbidden")
    anon = sign(secret, None, role="anon", iss="supabase")
    with gw.client(headers=[("apikey", anon)]) as page:
        page.subscribe(topics("shop"))
        page.refused("subscribe", {"topic": "user:u1"}, "unauthorized")
        page.send("authenticate", {"token": anon})
        page.expect_error("unauthorized")
        page.expect_close(4401)
    with gw.http(key=sign(secret, None, role="service_role")) as http:
        assert http.post("/v1/broadcast", json={"topic": topics("shop"), "event": "e", "data": {}}).status_code == 200
    with gw.http(key=sign(secret, "u1", role="supabase_admin")) as http:
        assert http.get("/v1/topics/shop:1").status_code == 401


def test_a_secret_is_rotated_without_a_moment_without(gateway, secret):
    """The recipe of docs/keys.md: with one secret only, replacing it refused every token at once (P9)."""
    gw = gateway()
    old_file, new_file = gw.directory / "secret", gw.directory / "secret-2"
    new_secret = b"the-second-secret-of-more-than-32-bytes!!"
    new_file.write_bytes(new_secret)
    gw.stop()
    gw.arguments += ["--jwt-secret-file", f"k2={new_file}"]
    gw.start().wait_ready()
    old, new = sign(secret, "u1"), sign(new_secret, "u1", headers={"kid": "k2"})
    for token in (old, new):
        with gw.client(token=token) as client:
            client.subscribe("user:u1")
    with gw.http(key=sign(new_secret, "u1")) as http:
        assert http.get("/v1/topics/shop:1").status_code == 401, "the new secret is found by its id alone"
    gw.stop()
    gw.arguments.remove("--jwt-secret-file")
    gw.arguments.remove(str(old_file))
    gw.start().wait_ready()
    with gw.client(token=new) as client:
        client.subscribe("user:u1")
    with pytest.raises(InvalidStatus):
        gw.client(token=old)


# Operations without a listener of their own (M7)


@pytest.mark.parametrize("path", ["/metrics", "/readyz"])
def test_operations_are_for_this_machine_only(gateway, path):
    """Load, topics' counts and Redis's state were public where --ops was not set."""
    gw = gateway("--trust-proxy", "127.0.0.1/32", has_ops=False)
    with gw.http(key=None) as http:
        assert http.get(path).status_code == 200
        assert http.get(path, headers={"x-forwarded-for": "127.0.0.1"}).status_code == 200
        for client in ("203.0.113.9", "203.0.113.9, 127.0.0.1", "::ffff:203.0.113.9"):
            response = http.get(path, headers={"x-forwarded-for": client})
            assert response.status_code == 403 and error_code(response) == "forbidden"
            assert http.get("/livez", headers={"x-forwarded-for": client}).status_code == 200


@pytest.mark.parametrize("field", ["x-forwarded-for", "forwarded", "x-real-ip", "via"])
def test_a_proxy_on_this_machine_that_is_not_known_is_not_this_machine(gateway, field):
    gw = gateway(has_ops=False)
    with gw.http(key=None) as http:
        assert http.get("/metrics", headers={field: "127.0.0.1"}).status_code == 403
        assert http.get("/metrics").status_code == 200


def test_the_log_is_written_to_standard_error(gateway):
    """It went to standard output, though the help says otherwise."""
    gw = gateway()
    gw.stop()
    gw.output = open(gw.directory / "stderr.log", "wb")
    before = len(gw.log_text)
    gw.start().wait_ready()
    gw.output.close()
    assert "listening" in (gw.directory / "stderr.log").read_text()
    assert len(gw.log_text) == before


def test_a_rebound_name_is_no_own_page(gw):
    """`Host` says what the page's name says: a page of a name that was made to lead here counted as our own."""
    _, port = gw.address()
    for name, status in (("evil.example", 403), ("localhost", 101)):
        connection, got = raw.connect(gw), None
        lines = ["GET /ws HTTP/1.1", f"Host: {name}:{port}", "Upgrade: websocket", "Connection: Upgrade",
                 "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==", "Sec-WebSocket-Version: 13",
                 f"Origin: https://{name}:{port}"]
        with connection:
            connection.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
            got = int(connection.recv(4_096).split(b" ")[1])
        assert got == status, name


# PROXY headers where none is expected (P6)


def test_a_stray_proxy_header_is_told_once_with_its_mend(gateway):
    """A pass-through proxy without --proxy-protocol failed every connection, and nobody said why."""
    gw = gateway("--listen-plain", "127.0.0.1:0", "--shards", "1")
    for kind, count in (("tls", 3), ("plain", 2)):
        for _ in range(count):
            with socket.create_connection(gw.address(kind), timeout=10) as connection:
                connection.sendall(b"PROXY TCP4 192.0.2.7 198.51.100.1 4128 443\r\n")
                raw.read_to_end(connection)
    eventually(lambda: "PROXY header" in gw.log_text, 5, "a line in the log")
    lines = [json.loads(line) for line in gw.log_text.splitlines() if "PROXY header" in line]
    assert len(lines) == 1 and lines[0]["listener"] == "--listen" and "--proxy-protocol tls" in lines[0]["mend"]
    assert 'reason="stray_proxy_header"} 4' in gw.ops("/metrics").text
