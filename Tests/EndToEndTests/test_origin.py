"""Which pages may connect (cross-site WebSocket hijacking): an exact list, and the gateway's own pages."""

import pytest

import raw
from gateway_process import Gateway
from tokens import SECRET

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


def test_two_origins(strict):
    assert status(strict, f"Origin: {ALLOWED[0]}", f"Origin: {ALLOWED[0]}") in (400, 403)
    assert status(strict, f"Origin: {ALLOWED[0]}", "Origin: https://evil.example") in (400, 403)


def test_without_a_list_only_own_pages(gw):
    host, port = gw.address()
    assert status(gw, f"Origin: https://{host}:{port}") == 101
    assert status(gw, "Origin: https://app.example") == 403
    assert status(gw) == 101
