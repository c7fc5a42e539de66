"""Which pages may connect (cross-site WebSocket hijacking): an exact list, and the gateway's own pages."""

import httpx
import pytest

from Fixtures.clients import raw
from Fixtures.clients.tokens import SECRET
from Fixtures.processes.dev import RunningGateway
from Fixtures.processes.gateway import Gateway

ALLOWED = ["https://app.example", "https://app.example:8443", "http://localhost:3000"]
REFUSED = [
    "null", "", "https://app.example.evil.com", "https://evilapp.example", "https://app.example@evil.com",
    "https://user@app.example", "http://app.example", "https://app.example:8444", "https://app.example.",
    "https://APP.example", "HTTPS://app.example", "https://app.example/", "https://app.example/path",
    "https://app.example:", "https://app.example:0443", "https://sub.app.example",
    "https://xn--app-example", "https://\u00e4pp.example", "wss://app.example", "app.example", "//app.example",
    "file://", "*", "https://*", "https://app.example, https://app.example", "https://app.example\thttps://x",
    "http://localhost:3001", "http://127.0.0.1:3000", "javascript:alert(1)", "https://app.example\x00",
]


@pytest.fixture(scope="module")
def strict(tmp_path_factory, shared_server, certificate):
    flags = [word for origin in ALLOWED for word in ("--allow-origin", origin)]
    gateway = Gateway(tmp_path_factory.mktemp("origin"), shared_server.url, certificate, SECRET, *flags)
    gateway.start().wait_ready()
    yield gateway
    gateway.stop()


def status(gateway, *headers):
    connection, status, _ = raw.upgrade(gateway, *headers)
    connection.close()
    return status


@pytest.mark.parametrize("origin", ALLOWED)
def test_listed(strict, origin):
    assert status(strict, f"Origin: {origin}") == 101


def test_default_port_is_the_same_origin(strict):
    assert status(strict, "Origin: https://app.example:443") in (101, 403)


@pytest.mark.parametrize("origin", REFUSED, ids=repr)
def test_not_listed(strict, origin):
    # What is no header value at all fails as a request, before anybody asks for its origin.
    malformed = not origin or "\x00" in origin or not origin.isascii()
    assert status(strict, f"Origin: {origin}") in ((400, 403) if malformed else (403,))


def test_native_clients_send_none(strict):
    assert status(strict) == 101


def test_own_pages(strict):
    host, port = strict.address()
    assert status(strict, f"Origin: https://{host}:{port}") == 101
    assert status(strict, f"Origin: http://{host}:{port}") == 403, "a page fetched in clear is another origin"
    assert status(strict, f"Origin: https://{host}:{port + 1}") == 403


def test_any_page_connects_where_the_operator_says_so(gateway):
    gw = gateway("--allow-origin", "*")
    assert {status(gw, f"Origin: {origin}") for origin in ("https://app.example", "http://localhost:3000")} == {101}
    assert status(gw, "Origin: null") == 403, "a page without an origin is nobody's"


def test_two_origins(strict):
    assert status(strict, f"Origin: {ALLOWED[0]}", f"Origin: {ALLOWED[0]}") in (400, 403)
    assert status(strict, f"Origin: {ALLOWED[0]}", "Origin: https://evil.example") in (400, 403)


def test_without_a_list_only_own_pages(gw):
    host, port = gw.address()
    assert status(gw, f"Origin: https://{host}:{port}") == 101
    assert status(gw, "Origin: https://app.example") == 403
    assert status(gw) == 101


@pytest.mark.parametrize("path", ["/metrics", "/readyz"])
def test_a_rebound_name_reads_nothing_that_is_for_this_machine(gateway, path):
    """A page of a name that was made to lead here reads its own origin's answers, and shows no `Origin`."""
    gw = gateway("--listen-plain", "127.0.0.1:0", has_ops=False)
    host, port = gw.address("plain")
    for name, status in (("evil.example", 403), (f"evil.example:{port}", 403), (f"localhost:{port}", 200),
                         (f"{host}:{port}", 200), (f"[::1]:{port}", 200)):
        got = httpx.get(f"http://{host}:{port}{path}", headers={"host": name}, trust_env=False)
        assert got.status_code == status, name
    foreign = httpx.get(f"http://{host}:{port}{path}", headers={"origin": "http://evil.example"}, trust_env=False)
    assert foreign.status_code == 403 and gw.metric("switchboard_origins_refused_total") == 3


def test_the_demo_asks_where_its_callers_come_from(tmp_path):
    """`switchboard dev` made a guest with a token for any name, and took orders from foreign pages."""
    with RunningGateway(tmp_path / "node", "--demo=false", "--listen-plain", "127.0.0.1:0") as dev:
        url = "http://%s:%d" % dev.address("plain")
        with httpx.Client(base_url=url, trust_env=False, timeout=10) as http:
            assert http.get("/demo/guest", headers={"host": "evil.example"}).status_code == 403
            assert "token" in http.get("/demo/guest").json()
            order = {"outcome": "ready"}
            assert http.post("/demo/order", json=order, headers={"origin": "http://evil.example"}).status_code == 403
            assert http.post("/demo/order", json=order, headers={"origin": url}).status_code == 202


def test_answers_are_kept_by_nobody_and_tls_is_to_be_kept(gateway):
    gw = gateway("--listen-plain", "127.0.0.1:0", limits={"hstsSeconds": 600})
    with gw.http() as http:
        answer = http.get("/v1/topics/shop:1")
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["strict-transport-security"] == "max-age=600"
        assert http.get("/nowhere").headers["cache-control"] == "no-store"
    plain = httpx.get("http://%s:%d/nowhere" % gw.address("plain"), trust_env=False)
    assert "strict-transport-security" not in plain.headers
