"""The samples of clients/js/README.md in a browser, at real gateways."""

import functools
import http.server
import json
import os
import threading

import pytest

from Fixtures.clients.certificates import write_certificate
from Fixtures.clients.js_client import CLIENT, DEBIAN_MODULES
from Fixtures.clients.js_samples import ADDRESS, Shop, compiled, sample
from Fixtures.clients.tokens import SECRET
from Fixtures.processes.gateway import Gateway
from Fixtures.processes.ports import free_port
from Fixtures.redis.server import RedisServer

MODULES = {
    "react": ("react", "export default React; export const { StrictMode, useEffect, useMemo, useSyncExternalStore } ="
                       " React;"),
    "react-dom/client": ("react-dom", "export const { createRoot } = ReactDOM;"),
}
PAGE = """<!doctype html>
<meta charset="utf-8">
<div id="root"></div>
<script src="react/umd/react.development.js"></script>
<script src="react-dom/umd/react-dom.development.js"></script>
<script type="importmap">%s</script>
<script type="module" src="main.js"></script>
"""


class Files(http.server.SimpleHTTPRequestHandler):
    """Files of a folder, and of Debian's modules."""

    def translate_path(self, path):
        place = super().translate_path(path)
        return place if os.path.exists(place) else str(DEBIAN_MODULES) + path

    def log_message(self, *_):
        """Says nothing."""


@pytest.fixture
def site(tmp_path):
    """A web server for pages, as an app has one: its address, and its folder."""
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "favicon.ico").touch()  # a browser's own wish
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Files, directory=folder))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", folder
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def start(tmp_path, site):
    """Starts a gateway that knows the site's pages, at the port of another if one is given; all have one Redis."""
    (tmp_path / "redis").mkdir()
    with RedisServer(tmp_path / "redis").running() as server:
        certificate, started = write_certificate(tmp_path), []

        def start(port=0):
            gateway = Gateway(tmp_path / f"gateway-{len(started)}", server.url, certificate, SECRET, "--allow-origin",
                              site[0], listen=f"127.0.0.1:{port}")
            started.append(gateway)
            return gateway.start().wait_ready()

        yield start
        for gateway in started:
            gateway.stop()


def lives_through(page, one, backend, start):
    """The queue is shown; a gateway is killed, the page says so, and then shows what it missed."""
    def shows(*numbers):
        page.wait_for_function(
            "wanted => [...document.querySelectorAll('li')].map((item) => item.textContent).join() === wanted",
            arg=",".join(f"Track {number}" for number in numbers))

    def says(condition):
        page.wait_for_function(f"document.querySelector('p').textContent {condition}")

    shows(1)
    says("=== ''")
    backend.add(2)
    shows(1, 2)
    port = one.address()[1]
    one.kill()
    says("!== ''")
    backend.add(3)
    start(port)
    shows(1, 2, 3)
    says("=== ''")


def test_the_sample_page(page, start, site):
    (address, folder), one, other = site, start(free_port()), start()
    backend = Shop(other, "js-samples-page")
    backend.add(1)
    text = sample("html").replace(ADDRESS, "wss://127.0.0.1:%d/ws" % one.address()[1])
    (folder / "index.html").write_text(text.replace("dj:demo", "dj:js-samples-page"))
    (folder / "switchboard.js").write_text((CLIENT / "switchboard.js").read_text())
    page.goto(address)
    lives_through(page, one, backend, start)


def test_the_sample_for_react(page, start, site):
    (address, folder), one, other = site, start(free_port()), start()
    backend = Shop(other, "js-samples-react")
    backend.add(1)
    imports = {"switchboard-client": "./switchboard.js", "switchboard-client/react": "./react.js"}
    for name in ("switchboard.js", "react.js"):
        (folder / name).write_text((CLIENT / name).read_text())
    for name, (place, text) in MODULES.items():
        imports[name] = f"./{place}-module.js"
        (folder / f"{place}-module.js").write_text(text)
    (folder / "index.html").write_text(PAGE % json.dumps({"imports": imports}))
    compiled(folder, one.address()[1], "js-samples-react")
    page.goto(address)
    lives_through(page, one, backend, start)
