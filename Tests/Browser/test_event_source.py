"""A browser's own `EventSource`: it hears, it comes back by itself, and nothing is missed."""

import json

import pytest

from Fixtures.clients.certificates import write_certificate
from Fixtures.clients.tokens import SECRET
from Fixtures.processes.gateway import Gateway
from Fixtures.processes.ports import free_port
from Fixtures.redis.server import RedisServer
from Fixtures.waiting import eventually

LISTEN = """
url => {
    window.heard = [];
    window.source = new EventSource(url);
    for (const name of ["subscribed", "tick", "gap", "refused", "closed", "draining"]) {
        window.source.addEventListener(name, record => window.heard.push([name, record.data, record.lastEventId]));
    }
}
"""


@pytest.fixture
def start(tmp_path):
    """Starts a gateway, at the port of another if one is given; all of them have one Redis."""
    server = RedisServer(tmp_path / "redis").start()
    certificate, started = write_certificate(tmp_path), []

    def start(port=0):
        gateway = Gateway(tmp_path / f"gateway-{len(started)}", server.url, certificate, SECRET,
                          listen=f"127.0.0.1:{port}")
        started.append(gateway)
        return gateway.start().wait_ready()

    yield start
    for gateway in started:
        gateway.stop()
    server.stop()


def heard(page, name):
    """The messages of that name so far."""
    return [json.loads(data) for event, data, _ in page.evaluate("window.heard") if event == name]


def numbers(page, topic):
    return [message["data"]["n"] for message in heard(page, "tick") if message["topic"] == topic]


def test_a_browser_hears_two_topics_and_comes_back_without_a_hole(page, start):
    port = free_port()
    gateway = start(port)
    page.goto(f"https://127.0.0.1:{port}/v1/openapi.json")
    one, other = "shop:event-source-1", "shop:event-source-2"
    page.evaluate(LISTEN, f"/v1/stream?topic={one}&topic={other}")
    eventually(lambda: len(heard(page, "subscribed")) == 2, 10)
    for number in (1, 2):
        gateway.publish(one, "tick", {"n": number})
        gateway.publish(other, "tick", {"n": number})
    eventually(lambda: numbers(page, one) == numbers(page, other) == [1, 2], 10)
    # The gateway dies and another takes its place; what was published meanwhile reaches the browser.
    gateway.kill()
    gateway = start(port)
    for number in (3, 4):
        gateway.publish(one, "tick", {"n": number})
    gateway.publish(other, "tick", {"n": 3})
    eventually(lambda: (numbers(page, one), numbers(page, other)) == ([1, 2, 3, 4], [1, 2, 3]), 20)
    assert all(message["data"]["recovered"] for message in heard(page, "subscribed")[2:])
    assert heard(page, "gap") == []
    page.evaluate("window.source.close()")
    # The browser itself reports that it lost the gateway for a while.
    page.tolerated.append("Failed to load resource")
