"""The fields by which browsers and caches are kept safe, on each answer of each route, command, page and socket.

The routes are those of the gateway's own description, the pages the files of `web/`, the sockets those of the packs: a
new one is judged without being listed here.
"""

import http.client
import json
import re
import socket
from pathlib import Path

import pytest

from Fixtures.clients import raw
from Fixtures.clients.tokens import SECRET, sign
from Fixtures.processes.courier import CourierProcess
from Fixtures.processes.gateway import API_KEY, Gateway
from Fixtures.redis.server import RedisServer

ROOT = Path(__file__).resolve().parents[2]
MANY = dict.fromkeys(
    ["userActionsPerSecond", "messagesPerSecond", "refusalsMax", "requestsPerAddressPerSecond", "joinsPerSecond",
     "fleetQuestionsPerSecond", "connectionsPerAddressMax"], 100_000)
PAGE_TYPES = ("text/html", "text/javascript", "text/css", "image/svg+xml")
POLICY = {"default-src": "'none'", "script-src": "'self'", "style-src": "'self'", "base-uri": "'none'",
          "form-action": "'none'", "frame-ancestors": "'none'"}


@pytest.fixture(scope="module")
def node(tmp_path_factory, certificate):
    """A gateway with every pack and a Redis of its own, since every route is called."""
    redis = RedisServer(tmp_path_factory.mktemp("redis"))
    redis.start()
    gateway = Gateway(
        tmp_path_factory.mktemp("headers"), redis.url, certificate, SECRET, "--packs", "all", "--listen-plain",
        "127.0.0.1:0", limits=MANY)
    yield gateway.start().wait_ready()
    gateway.stop()
    redis.stop()


class Asker:
    """Asks over one connection that is not encrypted, and judges each answer."""

    def __init__(self, address):
        self.link = http.client.HTTPConnection(*address, timeout=20)
        self.asked = 0

    def ask(self, method: str, path: str, key=None, body=None, **fields) -> tuple[int, dict, bytes]:
        fields = {name.replace("_", "-"): value for name, value in fields.items()}
        if key is not None:
            fields["apikey"] = key
        self.link.request(method, path, None if body is None else json.dumps(body), fields)
        answer = self.link.getresponse()
        text = answer.read()
        self.asked += 1
        return answer.status, {name.lower(): value for name, value in answer.getheaders()}, text

    def judge(self, method: str, path: str, key=None, body=None, **fields) -> int:
        status, found, text = self.ask(method, path, key, body, **fields)
        where = f"{method} {path}: {status} {found}"
        assert not faults(found, text, method), f"{faults(found, text, method)} in {where}"
        return status


def faults(fields: dict, text: bytes, method: str = "GET") -> list[str]:
    """The fields that are missing, or say too little."""
    found = []
    kind = fields.get("content-type", "")
    if (text or kind) and fields.get("x-content-type-options") != "nosniff":
        found.append("x-content-type-options")
    if kind.startswith(PAGE_TYPES):
        policy = dict(part.strip().split(" ", 1) for part in fields.get("content-security-policy", "a b").split(";"))
        if {name: policy.get(name) for name in POLICY} != POLICY:
            found.append("content-security-policy")
        if fields.get("referrer-policy") != "no-referrer":
            found.append("referrer-policy")
    # A page is the same for everybody. Other answers are one caller's: no cache that others share may keep them.
    wanted = ("no-cache",) if kind.startswith(PAGE_TYPES) else ("no-store", "private, no-cache")
    if fields.get("cache-control") not in wanted:
        found.append("cache-control")
    # Credentials are tokens and keys in fields, so no answer sets a cookie but that of an event stream.
    if {"set-cookie", "server", "x-powered-by"} & set(fields):
        found.append("set-cookie")
    return found


def filled(path: str) -> str:
    """A path with a value for each of its arguments."""
    return re.sub(r"\{(\w+)\}", lambda name: "shop:1" if name[1] == "topic" else "x1", path)


@pytest.fixture
def asker(node):
    return Asker(node.address("plain"))


def test_every_route_and_command_has_them_whatever_it_answers(node, asker):
    described = json.loads(asker.ask("GET", "/v1/openapi.json", API_KEY)[2])["paths"]
    table = (ROOT / "Sources/Commands/Routes/GatewayRoutes.swift").read_text()
    own = re.findall(r'(?:\.(?:get|post|put|delete), |StaticString = )"(/[^"]+)"', table)
    # Those of the machine are described where they are served alone.
    private = {"/livez", "/readyz", "/metrics"}
    assert len(own) >= 25 and private < set(own)
    assert set(own) - private - {"/v1/commands/{name}"} <= set(described)
    described |= {path: {"get": {}} for path in own if path not in described}
    # The listener of operations serves the same routes.
    listeners = [asker, Asker(node.address("ops"))]
    statuses = set()
    for path, methods in described.items():
        for method in (*methods, "patch"):
            for one in listeners:
                for key in (None, sign(SECRET, "ann", exp=4_000_000_000), API_KEY, "a-wrong-key-0123456789abcdef"):
                    statuses.add(one.judge(method.upper(), filled(path), key, {} if method != "get" else None))
        statuses.add(asker.judge("OPTIONS", filled(path), Origin="https://app.example",
                                 Access_Control_Request_Method="POST"))
    assert {200, 400, 401, 403, 404, 405} <= statuses, statuses
    print(f"{sum(one.asked for one in listeners)} answers with the statuses {sorted(statuses)}")


def test_every_page_has_a_policy_and_may_be_framed_by_nobody(node, tmp_path):
    """The inspector on a gateway; `switchboard dev` serves the other pages of the same list."""
    ops = Asker(node.address("ops"))
    files = [path for path in (ROOT / "web/inspector").rglob("*") if path.is_file()]
    paths = ["/inspector"] + [f"/inspector/{path.relative_to(ROOT / 'web/inspector')}" for path in files
                              if path.name != "index.html"]
    assert len(paths) > 15
    for path in paths:
        assert ops.judge("GET", path) == 200, path
        assert ops.judge("HEAD", path) == 200 and ops.judge("POST", path, body={}) == 405, path


def test_sockets_without_an_upgrade_and_broken_requests_have_them(node, asker):
    packs = [json.loads(path.read_text()) for path in (ROOT / "lua").glob("*/pack.json")]
    sockets = {path for pack in packs for path in pack.get("sockets", {})}
    assert "/ws" in sockets and len(sockets) >= 6
    for path in sorted(sockets | {"/socket.io/", "/realtime/v1/websocket", "/nowhere"}):
        for method in ("GET", "POST"):
            assert asker.judge(method, path, body={} if method == "POST" else None) >= 400, path
    for request in (b"GET / HTTP/1.1\r\n\r\n", b"nonsense\r\n\r\n", b"GET /" + b"a" * 70_000 + b" HTTP/1.1\r\n\r\n",
                    b"POST /v1/broadcast HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n"):
        with socket.create_connection(node.address("plain"), timeout=10) as link:
            link.sendall(request)
            head, _, text = raw.read_to_end(link).partition(b"\r\n\r\n")
        fields = dict(line.lower().split(": ", 1) for line in head.decode().split("\r\n")[1:])
        assert head.startswith(b"HTTP/1.1 4") and not faults(fields, text), head


def test_an_event_stream_is_kept_by_nobody(node):
    token = sign(SECRET, "ann", exp=4_000_000_000)
    host, port = node.address("plain")
    link = http.client.HTTPConnection(host, port, timeout=20)
    link.request("GET", "/v1/stream?topic=shop:1", headers={
        "Accept": "text/event-stream", "Authorization": f"Bearer {token}"})
    answer = link.getresponse()
    assert answer.status == 200, answer.read()
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert {"no-store", "no-transform"} <= set(answer.headers["Cache-Control"].split(", "))
    link.close()


def test_workers_and_couriers_have_them_too(worker, tmp_path, shared_server, certificate):
    calls = CourierProcess(tmp_path / "courier", shared_server.url, certificate,
                           {"services": {"spotify": {"token-url": None}}})
    try:
        calls.start()
        for process in (worker("--worker-ops", "127.0.0.1:0"), calls):
            for path, method in (("/livez", "GET"), ("/readyz", "GET"), ("/metrics", "GET"), ("/nowhere", "GET"),
                                 ("/metrics", "POST")):
                # Each connection serves one request.
                Asker(process.address("ops")).judge(method, path)
    finally:
        calls.stop()


def test_a_missing_field_is_found():
    """The judge of the tests above."""
    page = {"content-type": "text/html", "x-content-type-options": "nosniff", "cache-control": "no-cache",
            "referrer-policy": "no-referrer",
            "content-security-policy": "; ".join(" ".join(part) for part in POLICY.items())}
    json_answer = {"content-type": "application/json", "x-content-type-options": "nosniff", "cache-control": "no-store"}
    assert not faults(page, b"x") and not faults(json_answer, b"{}")
    for fields in (page, json_answer):
        for name in fields:
            if name != "content-type":
                assert faults({one: value for one, value in fields.items() if one != name}, b"x") == [name]
    open_to_frames = page["content-security-policy"].replace("frame-ancestors 'none'", "frame-ancestors *")
    assert faults(page | {"content-security-policy": open_to_frames}, b"x") == ["content-security-policy"]
    assert faults(json_answer | {"cache-control": "public"}, b"{}") == ["cache-control"]


def test_the_threat_model_names_tests_that_exist():
    """Each defence in SECURITY.md has a file of tests, a folder of them, or a command."""
    text = (ROOT / "SECURITY.md").read_text()
    rows = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")]
    defences = [row for row in rows if len(row) == 3 and re.search(r"`(Tests|test_|make )", row[2])]
    assert len(defences) >= 25
    for _, _, tests in defences:
        for name in re.findall(r"`([^`]+)`", tests):
            if not name.startswith("make "):
                path = ROOT / (name if "/" in name else f"Tests/EndToEnd/{name}")
                assert path.exists(), name
