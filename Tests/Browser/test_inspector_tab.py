"""The inspector as a tab of the demo's page: in a frame that no foreign page may have, signed in from memory."""

import json
import urllib.request

import pytest
from playwright.sync_api import expect

from Fixtures.browser.windows import Windows
from Fixtures.processes.dev import RunningGateway, trusting_anybody

START_MS = 60_000


@pytest.fixture(scope="module")
def gateway(tmp_path_factory):
    with RunningGateway(tmp_path_factory.mktemp("inspected") / "node", "--demo=false") as gateway:
        yield gateway


@pytest.fixture
def windows(browser):
    """Opens windows, each with a storage of its own; none may report a problem."""
    windows = Windows(browser)
    yield windows
    windows.close()


def opened(windows, gateway):
    """A window that shows the inspector, and its frame."""
    window = windows.open(1280, 900)
    window.goto(gateway.https + "/#shop")
    window.get_by_role("tab", name="Inspector").click()
    frame = window.frame_locator("iframe[title=Inspector]")
    expect(frame.get_by_role("heading", level=1, name="Fleet")).to_be_visible(timeout=START_MS)
    return window, frame


def test_the_inspector_opens_signed_in(windows, gateway):
    window, frame = opened(windows, gateway)
    expect(frame.get_by_role("row").filter(has_text="gateway")).to_have_count(1)
    expect(frame.get_by_role("row").filter(has_text="worker")).to_have_count(1)
    frame.get_by_role("link", name="Redis", exact=True).click()
    expect(frame.get_by_role("main")).to_contain_text("Would its data survive a restart?")
    expect(frame.locator("#problem")).to_be_hidden()
    # The other tabs are as they were, and the way back to the inspector leads to the same page.
    window.get_by_role("tab", name="Shop").click()
    expect(window.locator("#connection-text")).to_have_text("Live")
    window.get_by_role("tab", name="Inspector").click()
    expect(frame.get_by_role("heading", level=1, name="Redis")).to_be_visible()


def test_the_address_that_dev_prints_opens_the_inspector_signed_in(windows, gateway):
    window = windows.open(1100, 900)
    window.goto(f"{gateway.https}/#inspector")
    frame = window.frame_locator("iframe[title=Inspector]")
    expect(frame.get_by_role("heading", level=1, name="Fleet")).to_be_visible(timeout=START_MS)
    expect(frame.get_by_role("row").filter(has_text="gateway")).to_have_count(1)


def test_the_key_is_in_no_address_cookie_or_storage(windows, gateway):
    window, frame = opened(windows, gateway)
    kept = [window.evaluate("[{ ...sessionStorage }, { ...localStorage }, document.cookie, history.state]"),
            [part.url for part in window.frames], window.context.cookies(), window.context.storage_state()]
    assert "switchboard.guest" in json.dumps(kept) and gateway.api_key not in json.dumps(kept)
    # Who signs out is asked for a key; who reloads is signed in again.
    frame.get_by_role("button", name="Sign out").click()
    expect(frame.get_by_label("API key")).to_be_focused()
    window.reload()
    expect(frame.get_by_role("heading", level=1, name="Fleet")).to_be_visible()


def test_a_page_that_is_not_around_the_inspector_gives_it_no_key(windows, gateway):
    window = windows.open()
    window.goto(gateway.https + "/inspector")
    expect(window.get_by_label("API key")).to_be_visible()
    window.evaluate("key => postMessage({ inspectorKey: key }, location.origin)", gateway.api_key)
    window.evaluate("() => new Promise((done) => setTimeout(done))")
    expect(window.get_by_label("API key")).to_be_visible()


def test_no_foreign_page_may_frame_the_pages(gateway):
    for path, frames in (("/", {"frame-src": "'self'", "frame-ancestors": "'none'"}),
                         ("/inspector", {"frame-ancestors": "'self'"})):
        request = urllib.request.Request(gateway.https + path)
        with urllib.request.urlopen(request, context=trusting_anybody(), timeout=10) as answer:
            parts = answer.headers["content-security-policy"].split(";")
        policy = dict(part.strip().split(" ", 1) for part in parts)
        assert {name: value for name, value in policy.items() if name.startswith("frame")} == frames
        assert policy["default-src"] == "'none'"
