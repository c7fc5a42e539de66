"""A headless browser for the page's tests: Debian's Chromium, driven by Playwright."""

import contextlib
import os
import shutil
from pathlib import Path

import pytest
from playwright.sync_api import expect, sync_playwright

from Fixtures.browser.inspector import WAIT_MS
from Fixtures.browser.scripted_gateway import ScriptedGateway
from Fixtures.browser.windows import Windows
from Fixtures.clients.certificates import write_certificate
from Fixtures.processes.inspected_fleet import InspectedFleet

HERE = Path(__file__).resolve().parent


class OpenBrowser:
    """The browser, one for all tests that follow each other here."""

    def __init__(self):
        self._resources = contextlib.ExitStack()
        self._browser = None

    def get(self):
        """The browser, started when there is none."""
        if self._browser is None:
            # The shell without a desktop's parts is the same engine for half of the processor's time.
            path = (os.environ.get("SWITCHBOARD_CHROMIUM") or shutil.which("chromium-headless-shell")
                    or shutil.which("chromium"))
            if path is None:
                pytest.skip("no chromium on PATH (scripts/packages.sh test installs it)")
            playwright = self._resources.enter_context(sync_playwright())
            # The sandbox needs rights that containers and root do not have; only our own page is opened. One renderer
            # for all windows spares a fifth of the processor's time; each window keeps a storage of its own.
            self._browser = playwright.chromium.launch(
                executable_path=path, args=["--no-sandbox", "--disable-dev-shm-usage", "--renderer-process-limit=1",
                                            "--process-per-site"])
            self._resources.callback(self._browser.close)
        return self._browser

    def close(self):
        """Ends it, if there is one."""
        self._browser = None
        self._resources.close()


OPEN = OpenBrowser()


# Not for the whole session: Playwright keeps an event loop running in this thread, and other tests need their own.
@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(nextitem):
    """Closes the browser behind the last of the tests that follow each other here."""
    try:
        return (yield)
    finally:
        if nextitem is None or HERE not in nextitem.path.parents:
            OPEN.close()


@pytest.fixture
def browser():
    """The browser that the tests before left open."""
    return OPEN.get()


@pytest.fixture
def page(browser, request):
    """A fresh page that fails its test when anything was written to the console as an error."""
    # The gateway outlives its page, whose last requests would fail otherwise.
    if "gateway" in request.fixturenames:
        request.getfixturevalue("gateway")
    # A socket that cannot be opened is reported by the browser itself, and some tests are about just that.
    windows = Windows(browser, "WebSocket connection to")
    yield windows.open()
    windows.close()


@pytest.fixture
def gateway():
    """A gateway that the test itself plays, for one guest."""
    gateway = ScriptedGateway(["guest-a"])
    yield gateway
    gateway.close()


@pytest.fixture(scope="module")
def fleet(tmp_path_factory):
    certificate = write_certificate(tmp_path_factory.mktemp("tls"))
    with InspectedFleet(tmp_path_factory.mktemp("fleet"), certificate) as fleet:
        fleet.client(0, "ann", "order:7", "user:ann")
        fleet.client(1, "bob", "order:7")
        fleet.client(2, "cid", "order:8")
        fleet.gateways[0].publish("order:7", "order:paid", {"cents": 1250})
        yield fleet


@pytest.fixture
def window(browser, fleet):
    """A fresh page; what it asks is kept in `requests`. None may report a problem but refusals that a test causes."""
    windows = Windows(browser)
    window = windows.open(1280, 900)
    window.requests = []
    window.on("request", lambda request: window.requests.append(request))
    window.set_default_timeout(WAIT_MS)
    expect.set_options(timeout=WAIT_MS)
    yield window
    windows.close()
    expect.set_options(timeout=5_000)
