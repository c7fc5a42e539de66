"""The samples of the pages that run in a browser, copied as they stand into a page of their own origin."""

import functools
import http.server
import json
import shutil
import threading
from pathlib import Path

import pytest

from Fixtures.clients.certificates import write_certificate
from Fixtures.clients.tokens import SECRET, sign
from Fixtures.processes.gateway import Gateway
from Fixtures.processes.ports import free_port
from Fixtures.redis.server import RedisServer
from Fixtures.samples import ROOT, sample
from Fixtures.waiting import eventually

# Debian's packages of React; a page has them by an import map, as a bundler would resolve them.
REACT = [Path("/usr/share/nodejs/react/umd/react.development.js"),
         Path("/usr/share/nodejs/react-dom/umd/react-dom.development.js")]


class Quiet(http.server.SimpleHTTPRequestHandler):
    """`python3 -m http.server`, without its log."""

    def log_message(self, *_):
        pass


class Site:
    """A directory that is served, and the gateway of `Start` that lets its pages in."""

    def __init__(self, directory: Path, redis_url: str):
        self.directory = directory / "page"
        self.directory.mkdir()
        shutil.copy(ROOT / "clients/js/switchboard.js", self.directory)
        handler = functools.partial(Quiet, directory=str(self.directory))
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.origin = f"http://localhost:{self.server.server_address[1]}"
        config = json.loads(sample("docs/start.md#1-run-it:json").replace("http://localhost:3000", self.origin))
        self.gateway = Gateway(directory / "gateway", redis_url, write_certificate(directory), SECRET, config=config,
                               listen=f"127.0.0.1:{free_port()}")
        self.gateway.start().wait_ready()

    def text(self, name: str) -> str:
        """A sample with the gateway's address."""
        return sample(name).replace("127.0.0.1:8443", "%s:%d" % self.gateway.address())

    def write(self, **files: str) -> None:
        for name, text in files.items():
            (self.directory / name.replace("_", ".")).write_text(text)

    def open(self, page, user: str, path: str = "/"):
        page.route("**/favicon.ico", lambda route: route.fulfill(status=204))  # a browser's own wish
        page.goto(f"{self.origin}{path}#{sign(SECRET, user)}")
        return page

    def close(self):
        self.gateway.stop()
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture(scope="module")
def redis(tmp_path_factory):
    with RedisServer(tmp_path_factory.mktemp("redis")).running() as server:
        yield server


@pytest.fixture
def site(tmp_path, redis):
    with redis.client() as client:
        client.flushall()
    site = Site(tmp_path, redis.url)
    yield site
    site.close()


def talks(page, site):
    """The page shows an event, sends what its reader types, and shows what it missed while the gateway was away."""
    page.get_by_text("connected", exact=True).wait_for()
    site.gateway.publish("room:1", "message", {"text": "from a backend"})
    page.get_by_text("from a backend").wait_for()
    page.get_by_label("Message").fill("from the page")
    page.get_by_role("button", name="Send").click()
    page.locator("li", has_text="from the page").wait_for()
    assert page.get_by_label("Message").input_value() == ""


def test_the_web_page(site, page):
    site.write(index_html=site.text("docs/build/web.md#the-page:html"))
    page.tolerated.append("ERR_CONNECTION_REFUSED")
    talks(site.open(page, "ann"), site)
    site.gateway.stop()
    page.get_by_text("connecting", exact=True).wait_for()
    site.gateway.start().wait_ready()
    site.gateway.publish("room:1", "message", {"text": "while it was away"})
    page.get_by_text("while it was away").wait_for()
    assert page.get_by_text("some messages are missing").count() == 0


def test_a_page_that_shows_a_message_at_once(site, page):
    """While the gateway is away the message stands there as unsent, then once as sent."""
    elements = site.text("docs/build/web.md#the-page:html").partition("<script")[0]
    site.write(index_html=elements + site.text("docs/build/web.md#show-a-message-at-once:html"))
    page.tolerated.append("ERR_CONNECTION_REFUSED")
    page = site.open(page, "ann")
    talks(page, site)
    site.gateway.stop()
    page.get_by_text("connecting", exact=True).wait_for()
    page.get_by_label("Message").fill("while it was away")
    page.get_by_role("button", name="Send").click()
    page.get_by_text("while it was away (sending)").wait_for()
    site.gateway.start().wait_ready()
    page.get_by_text("while it was away", exact=True).wait_for()
    assert page.locator("li").all_inner_texts() == ["from a backend", "from the page", "while it was away"]


def write_react(site, change=("", "")) -> None:
    """The three files of the page with an import map; `change` is made in the component."""
    for path in REACT:
        assert path.exists(), f"{path} is missing (scripts/packages.sh test installs it)"
        shutil.copy(path, site.directory)
    (site.directory / "useTopic.js").write_text(site.text("docs/build/react.md#the-hook:javascript"))
    component = site.text("docs/build/react.md#a-component:javascript")
    assert change[0] in component
    (site.directory / "Room.js").write_text(component.replace(*change))
    (site.directory / "main.js").write_text(site.text("docs/build/react.md#one-client-for-the-page:javascript"))
    (site.directory / "react.js").write_text(
        "export const { createElement, useEffect, useReducer, useState } = React;")
    (site.directory / "react-dom.js").write_text("export const { createRoot } = ReactDOM;")
    site.write(index_html="""<!doctype html><meta charset="utf-8"><title>Room</title><div id="root"></div>
        <script src="react.development.js"></script><script src="react-dom.development.js"></script>
        <script type="importmap">{"imports": {"react": "./react.js", "react-dom/client": "./react-dom.js",
            "switchboard-client": "./switchboard.js"}}</script>
        <script type="module" src="main.js"></script>""")


def test_the_react_page(site, page):
    write_react(site)
    talks(site.open(page, "ann"), site)


def console(page):
    """What the page says."""
    page.evaluate("""() => { window.said = [];
        console.log = (...words) => window.said.push(words.map((word) => JSON.stringify(word)).join(" ")); }""")

    def says(text):
        page.wait_for_function("(text) => window.said.some((line) => line.includes(text))", arg=text)
    return says


@pytest.mark.parametrize("name", [
    "docs/build/web.md#only-listening:javascript", "docs/clients.md#event-streams:javascript",
    "docs/protocol/event-streams.md#event-streams:js"])
def test_an_event_source(site, page, name):
    site.open(page, "ann", "/switchboard.js")
    if name.endswith(":js"):
        page.goto(f"{site.gateway.origin}/v1/openapi.json")  # this one is for pages of the gateway itself
    says = console(page)
    text = site.text(name)
    page.evaluate("(text) => { window.source = (0, eval)(`(() => { ${text}; return source; })()`); }", text)
    page.wait_for_function("() => window.source.readyState === 1")
    if "console" not in text:
        page.evaluate("() => window.source.addEventListener('queue:update', (record) => console.log(record.data))")
    topic = "shop:42" if "shop:42" in text else "shop:demo"
    site.gateway.publish(topic, "queue:update", {"n": 4321})
    says("4321")


def in_module(page, site, text: str, **names) -> None:
    """Runs a part of a program in a page that has a started client, and the given names."""
    values = {"url": "wss://%s:%d/ws" % site.gateway.address(), "token": sign(SECRET, "ann")} | names
    page.evaluate("""([text, values]) => { (async () => {
        const { SwitchboardClient } = await import("./switchboard.js");
        const { url, token } = values;
        const client = window.client = new SwitchboardClient(url, { token });
        client.start();
        const show = (line) => console.log("shown", line);
        await new (Object.getPrototypeOf(async function () {}).constructor)("client", "token", "show", text)(
            client, token, show);
    })(); }""", [text, values])


def test_what_was_said_before(site, page):
    """A page that opens late shows what the log has, then each new event, and none twice."""
    for number in range(3):
        site.gateway.publish("room:1", "message", {"text": f"before {number}"})
    page = site.open(page, "ann", "/switchboard.js")
    says = console(page)
    in_module(page, site, site.text("docs/build/web.md#what-was-said-before:javascript"))
    says("before 2")
    site.gateway.publish("room:1", "message", {"text": "after"})
    says("after")
    shown = page.evaluate("() => window.said.filter((line) => line.startsWith('\"shown\"'))")
    assert [line.split('"')[3] for line in shown] == ["before 0", "before 1", "before 2", "after"]


def test_what_was_said_before_in_a_new_topic(site, page):
    """A topic without an event has no epoch yet; the page begins with the first event."""
    page = site.open(page, "ann", "/switchboard.js")
    says = console(page)
    in_module(page, site, site.text("docs/build/web.md#what-was-said-before:javascript"))
    eventually(lambda: site.gateway.metric("switchboard_sessions") == 1, 10, "the page")
    page.wait_for_function("() => window.client?.status.isReady")
    site.gateway.publish("room:1", "message", {"text": "first"})
    says("first")


@pytest.mark.parametrize("kind", ["web", "react"])
def test_a_refused_message_goes_back_to_its_reader(site, page, kind):
    """The page says why, and the text is still there."""
    if kind == "react":
        write_react(site, change=('topic, "message", ', 'topic, "no name", '))
    else:
        text = site.text("docs/build/web.md#the-page:html")
        assert text.count('"message", { text }') == 1
        site.write(index_html=text.replace('"message", { text }', '"no name", { text }'))
    page = site.open(page, "ann")
    page.get_by_text("connected", exact=True).wait_for()
    page.get_by_label("Message").fill("not lost")
    page.get_by_role("button", name="Send").click()
    page.get_by_text("not sent: ").wait_for()
    assert page.get_by_label("Message").input_value() == "not lost"


def test_a_page_of_another_origin_sees_no_more_than_unreachable(site, page):
    """A browser keeps the 403 from the page, so docs/build/web.md sends its reader to the gateway's log."""
    page.tolerated.append("403")
    page.goto(site.origin.replace("localhost", "127.0.0.1") + "/switchboard.js")
    in_module(page, site, "")
    page.wait_for_function("() => window.client?.status.reason")
    assert page.evaluate("() => window.client.status.reason.code") == "unreachable"
    assert "an origin was refused" in site.gateway.log_text


def test_presence(site, page):
    page = site.open(page, "ann", "/switchboard.js")
    says = console(page)
    in_module(page, site, site.text("docs/build/web.md#who-is-here:javascript"))
    says('"user":"ann"')
    says('"typing":false')


@pytest.mark.parametrize("name", ["docs/clients.md#javascript:javascript",
                                  "docs/clients.md#plain-json-over-a-websocket:javascript",
                                  "clients/js/README.md#the-javascript-client:javascript"])
def test_the_first_lines_of_a_client(site, page, name):
    page = site.open(page, "ann", "/switchboard.js")
    says = console(page)
    (site.directory / "sample.js").write_text(site.text(name))
    page.evaluate('() => { import("./sample.js"); }')
    site.gateway.publish("shop:demo", "queue:update", {"n": 1})
    page.wait_for_function("() => window.said.length > 0")
    site.gateway.publish("shop:demo", "queue:update", {"n": 4321})
    says("4321")


def test_presence_by_bare_frames(site, page):
    """The second lines of the plain client: they need a token, as the page says, and wait until the topic is joined."""
    page = site.open(page, "ann", "/switchboard.js")
    says = console(page)
    subscribe, track = site.text("docs/clients.md#plain-json-over-a-websocket:javascript:2").strip().splitlines()
    page.evaluate("""([subscribe, track, url, token]) => {
        const socket = new WebSocket(url, ["switchboard.v1", "bearer." + token]);
        socket.onopen = () => eval(subscribe);
        socket.onmessage = ({ data }) => {
            console.log(JSON.parse(data));
            if (JSON.parse(data).event === "subscribed") eval(track);
        };
    }""", [subscribe, track, "wss://%s:%d/ws" % site.gateway.address(), sign(SECRET, "ann")])
    says('"members":[]')
    says('"meta":{"typing":true}')
