"""The operator's page on the listener of operations: its files, the routes behind it, and who may use them."""

import json
import re

import httpx
import pytest

from Fixtures.clients.tokens import SECRET, sign
from Fixtures.processes.gateway import Gateway
from Fixtures.waiting import eventually

READER, WRITER, PAGE_KEY = "read-key-0123456789abcdef", "write-key-0123456789abcdef", "page-key-0123456789abcdef"
KEYS = [f"reader:{READER}:read", f"writer:{WRITER}:write", f"page:{PAGE_KEY}:public"]


@pytest.fixture(scope="module")
def node(tmp_path_factory, shared_server, certificate):
    """A gateway with keys of each kind."""
    gateway = Gateway(tmp_path_factory.mktemp("inspected"), shared_server.url, certificate, SECRET, keys=KEYS)
    yield gateway.start().wait_ready()
    gateway.stop()


@pytest.fixture
def ops(node):
    """Asks the listener of operations."""
    host, port = node.address("ops")
    with httpx.Client(base_url=f"http://{host}:{port}", trust_env=False, timeout=10) as client:
        yield client


def actions(node):
    """The actions of operators in the log."""
    lines = (json.loads(line) for line in node.log_text.splitlines() if line.startswith("{"))
    return [line for line in lines if line.get("message") == "an operator acted"]


def test_the_page_is_public_and_takes_nothing_from_elsewhere(ops):
    page = ops.get("/inspector")
    assert page.status_code == 200 and page.headers["content-type"] == "text/html; charset=utf-8"
    policy = dict(part.strip().split(" ", 1) for part in page.headers["content-security-policy"].split(";"))
    assert policy["default-src"] == policy["frame-ancestors"] == policy["form-action"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'"
    assert page.headers["x-content-type-options"] == "nosniff" and page.headers["referrer-policy"] == "no-referrer"
    assert "set-cookie" not in page.headers
    files = re.findall(r'(?:src|href)="(/[^"]+)"', page.text)
    assert {"/inspector/app.js", "/inspector/style.css", "/inspector/icon.svg"} <= set(files)
    # Every module is found by the names in the others.
    seen, wanted = set(), [file for file in files if file.endswith(".js")]
    while wanted:
        file = wanted.pop()
        if file in seen:
            continue
        seen.add(file)
        answer = ops.get(file)
        assert answer.status_code == 200, file
        assert answer.headers["content-type"].startswith("text/javascript")
        wanted += re.findall(r"from '([^']+)'", answer.text)
    assert len(seen) > 10 and all(file.startswith("/inspector/") for file in seen)
    assert ops.get("/inspector/nothing.js").status_code == ops.get("/style.css").status_code == 404
    assert ops.post("/inspector").status_code == 405


def test_the_page_is_not_on_the_listener_of_clients(node):
    with node.http() as http:
        assert http.get("/inspector").status_code == 404


@pytest.mark.parametrize("has_ops", [False, True])
def test_the_page_is_on_the_listeners_of_clients_where_the_operator_wants_it(
        tmp_path, shared_server, certificate, has_ops):
    gateway = Gateway(
        tmp_path, shared_server.url, certificate, SECRET, "--inspector", "--listen-plain", "127.0.0.1:0",
        "--trust-proxy", "127.0.0.1", keys=KEYS, has_ops=has_ops)
    gateway.start().wait_ready()
    host, port = gateway.address("plain")
    elsewhere = {"X-Forwarded-For": "192.0.2.7"}
    try:
        with gateway.http(key=None) as http:
            page = http.get("/inspector")
            assert page.status_code == http.get("/inspector/app.js").status_code == 200
            assert "connect-src 'self'" in page.headers["content-security-policy"]
            assert http.get("/v1/nodes").status_code == 401
        with httpx.Client(base_url=f"http://{host}:{port}", trust_env=False, timeout=10) as http:
            assert http.get("/inspector", headers=elsewhere).status_code == 200
            for headers in ({"Host": "evil.example"}, {"Origin": "https://evil.example"}, {"Origin": "null"}):
                for path in ("/inspector", "/inspector/app.js", "/metrics"):
                    foreign = http.get(path, headers=headers | elsewhere | {"apikey": READER})
                    assert foreign.status_code == 403, (path, headers)
            # Metrics are for this machine, and for a page that shows a key which may read.
            wrong, refused = "wrong-key-0123456789abcdef", 404 if has_ops else 403
            for key, status in [(None, refused), (PAGE_KEY, refused), (WRITER, refused), (wrong, 401), (READER, 200)]:
                shown = elsewhere | ({"apikey": key} if key else {})
                assert http.get("/metrics", headers=shown).status_code == status, key
            assert http.get("/metrics").status_code == (404 if has_ops else 200)
            assert http.get("/metrics", headers={"apikey": READER}).status_code == 200
            assert http.get("/readyz", headers=elsewhere | {"apikey": READER}).status_code == refused
    finally:
        gateway.stop()


def test_only_services_use_the_routes_behind_the_page(node, ops):
    user = {"Authorization": f"Bearer {sign(SECRET, 'ann')}"}
    for route in ("/v1/nodes", "/v1/openapi.json", "/v1/topics/shop:42", "/v1/health"):
        assert ops.get(route).status_code == 401
        assert ops.get(route, headers=user).status_code in (401, 403)
        assert ops.get(route, headers={"apikey": PAGE_KEY}).status_code in (401, 403)
        assert ops.get(route, headers={"apikey": READER}).status_code == 200, route
    # Anybody may call this command on the other listeners.
    assert ops.post("/v1/commands/queue", json={"shopId": "42"}).status_code == 401
    assert ops.get("/v1/nodes", params={"apikey": READER}).status_code == 401, "a key in a URL is not one"
    # Balancers and Prometheus need no key, as before.
    assert ops.get("/readyz").status_code == ops.get("/metrics").status_code == 200


def test_a_key_that_may_read_cannot_write(ops):
    body = {"topic": "shop:42", "event": "hello", "data": {}}
    assert ops.post("/v1/broadcast", json=body, headers={"apikey": READER}).status_code == 403
    assert ops.post("/v1/revocations", json={"user": "ann"}, headers={"apikey": READER}).status_code == 403
    assert ops.request("DELETE", "/v1/dead-letters?service=spotify", headers={"apikey": READER}).status_code == 403
    assert ops.get("/v1/nodes", headers={"apikey": WRITER}).status_code == 403
    assert ops.post("/v1/broadcast", json=body, headers={"apikey": WRITER}).status_code == 200


@pytest.mark.parametrize("headers", [
    {"Host": "evil.example"}, {"Host": "evil.example", "Origin": "http://evil.example"},
    {"Origin": "https://evil.example"}, {"Origin": "null"},
])
def test_foreign_pages_reach_nothing(ops, headers):
    for route in ("/inspector", "/inspector/app.js", "/v1/nodes"):
        assert ops.get(route, headers=headers | {"apikey": READER}).status_code == 403
    asked = headers | {"Access-Control-Request-Method": "GET", "Access-Control-Request-Headers": "apikey"}
    answer = ops.options("/v1/nodes", headers=asked)
    assert answer.status_code >= 400 and "access-control-allow-origin" not in answer.headers


def test_the_pages_own_origin_is_taken(node, ops):
    host, port = node.address("ops")
    headers = {"Origin": f"http://{host}:{port}", "apikey": READER}
    assert ops.get("/v1/nodes", headers=headers).status_code == 200


def test_each_action_is_logged_with_key_action_and_subject(node, ops):
    writer = {"apikey": WRITER}
    assert ops.post("/v1/revocations", json={"user": "mallory"}, headers=writer).status_code == 200
    assert ops.post("/v1/broadcast", json={"topic": "shop:7", "event": "hello", "data": {}},
                    headers=writer).status_code == 200
    ops.request("DELETE", "/v1/dead-letters", params={"service": "spotify"}, headers=writer)
    with node.http(key=WRITER) as http:
        assert http.post("/v1/revocations", json={"user": "trudy"}).status_code == 200
        assert http.post("/v1/broadcast", json={"topic": "shop:8", "event": "x", "data": {}}).status_code == 200

    def told(**fields):
        return [line for line in actions(node) if line.items() >= fields.items()]

    revoked = eventually(lambda: told(user="mallory"), 5, "the line of a revocation")[0]
    assert revoked.items() >= {"key": "writer", "path": "/v1/revocations", "method": "POST", "address": "127.0.0.1",
                               "status": "200"}.items()
    assert eventually(lambda: told(topic="shop:7", event="hello", key="writer"), 5, "the line of a publish")
    assert eventually(lambda: told(service="spotify", method="DELETE"), 5, "the line of a drop")
    assert eventually(lambda: told(user="trudy"), 5, "a revocation by the listener of clients")
    assert not told(topic="shop:8"), "a backend's publishes are no actions of operators"
    assert WRITER not in node.log_text and READER not in node.log_text
