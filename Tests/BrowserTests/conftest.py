"""A headless browser for the page's tests: Debian's Chromium, driven by Playwright."""

import os
import shutil
import sys
from pathlib import Path

import pytest
from playwright.sync_api import sync_playwright

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from scripted_gateway import ScriptedGateway  # noqa: E402
from windows import Windows  # noqa: E402


# Not for the whole session: Playwright keeps an event loop running in this thread, and other tests need their own.
@pytest.fixture(scope="module")
def browser():
    """The browser, one for all tests of a file."""
    # The shell without a desktop's parts is the same engine for half of the processor's time.
    path = (os.environ.get("SWITCHBOARD_CHROMIUM") or shutil.which("chromium-headless-shell")
            or shutil.which("chromium"))
    if path is None:
        pytest.skip("no chromium on PATH (scripts/packages.sh test installs it)")
    with sync_playwright() as playwright:
        # The sandbox needs rights that containers and root do not have; only our own page is opened.
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-dev-shm-usage"])
        yield browser
        browser.close()


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
