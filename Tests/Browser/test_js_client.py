"""clients/js in a browser, at real gateways."""

import pytest

from Fixtures.clients.certificates import write_certificate
from Fixtures.clients.js_client import InPage, lives_through, renews_its_token
from Fixtures.clients.tokens import SECRET, sign
from Fixtures.processes.gateway import Gateway
from Fixtures.processes.ports import free_port
from Fixtures.redis.server import RedisServer
from Fixtures.waiting import eventually


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with RedisServer(tmp_path_factory.mktemp("redis")).running() as server:
        yield server


@pytest.fixture
def start(tmp_path, server):
    """Starts a gateway, at the port of another if one is given; all of them have one Redis."""
    certificate, started = write_certificate(tmp_path), []

    def start(port=0, limits=None):
        gateway = Gateway(tmp_path / f"gateway-{len(started)}", server.url, certificate, SECRET,
                          listen=f"127.0.0.1:{port}", limits=limits)
        started.append(gateway)
        return gateway.start().wait_ready()

    yield start
    for gateway in started:
        gateway.stop()


@pytest.fixture
def open_at(page):
    """Opens a page of a gateway's origin, with the client in it."""
    def open_at(gateway, page=page):
        page.route("**/favicon.ico", lambda route: route.fulfill(status=204))  # a browser's own wish
        page.goto("https://127.0.0.1:%d/v1/openapi.json" % gateway.address()[1])
        return InPage(page)

    return open_at


def token(user, **claims):
    return sign(SECRET, user, **claims)


def test_in_a_page_nothing_is_missed_or_done_twice(start, open_at):
    lives_through(open_at, start, token, "js-page")


def test_in_a_page_a_token_is_renewed(start, open_at):
    renews_its_token(open_at, start, token)


def test_two_tabs_with_one_storage_do_a_call_once(start, open_at, page):
    """Both find the call that one of them kept, and both are back when the gateway is."""
    topic, port = "conversation:tabs", free_port()
    gateway, other = start(port), start()
    one, two = open_at(gateway), open_at(gateway, page.context.new_page())
    rights = token("u1", topics=[topic])
    one.order("open", url=f"wss://127.0.0.1:{port}/ws", token=rights, isKept=True)
    one.order("join", topic=topic)
    one.next(topic=topic, type="live")
    gateway.kill()
    one.next(phase="waiting")
    for number in (1, 2):
        kept = {"id": f"n-{number}", "keepMs": 60_000}
        one.order("call", topic=topic, event="tick", data={"n": number}, options=kept)
    two.order("open", url=f"wss://127.0.0.1:{port}/ws", token=rights, isKept=True)
    two.next(phase="waiting")
    start(port)
    for number in (1, 2):
        assert one.next(call=f"n-{number}").get("error") in (None, "uncertain")
    other.publish(topic, "tick", {"n": 3})
    eventually(lambda: 3 in one.numbers(topic), 10, "the last event")
    assert one.numbers(topic) == [1, 2, 3]
    eventually(lambda: page.evaluate("localStorage.length") == 0, 10, "an empty storage")


def test_a_page_that_loses_its_network_finds_out_and_is_back(start, open_at, page):
    """The socket of a page without network stays open and silent; the page asks for a sign of life instead."""
    gateway, topic = start(), "shop:js-network"
    driven = open_at(gateway)
    driven.order("open", url="wss://127.0.0.1:%d/ws" % gateway.address()[1])
    driven.order("join", topic=topic)
    driven.next(topic=topic, type="live")
    page.context.set_offline(True)
    gateway.publish(topic, "tick", {"n": 1})
    driven.next(phase="waiting")
    page.context.set_offline(False)
    driven.next(phase="open")
    gateway.publish(topic, "tick", {"n": 2})
    eventually(lambda: len(driven.numbers(topic)) == 2, 10, "both events")
    assert driven.numbers(topic) == [1, 2] and not driven.of_type("gap")
