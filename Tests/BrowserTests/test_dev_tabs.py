"""Each tab against the real `switchboard dev`: what one window does, another one shows."""

import json
import urllib.request

import pytest
from playwright.sync_api import expect

from support.running_gateway import RunningGateway, trusting_anybody

START_MS = 60_000


@pytest.fixture(scope="module")
def gateway(tmp_path_factory):
    with RunningGateway(tmp_path_factory.mktemp("dev") / "node", "--demo=false") as gateway:
        yield gateway


@pytest.fixture
def windows(browser, gateway):
    """Opens windows at an address of the page, each with a storage of its own; none may report a problem."""
    opened = []

    def open_window(address, width=1100, height=900):
        context = browser.new_context(ignore_https_errors=True, viewport={"width": width, "height": height})
        window = context.new_page()
        opened.append((context, window))
        window.problems = []
        window.on("pageerror", lambda error: window.problems.append(f"exception: {error}"))
        window.on("console", lambda line: window.problems.append(line.text) if line.type == "error" else None)
        window.goto(f"{gateway.https}/{address}")
        expect(window.locator("#connection-text")).to_have_text("Live", timeout=START_MS)
        return window

    yield open_window
    problems = [problem for _, window in opened for problem in window.problems]
    for context, _ in opened:
        context.close()
    # A refusal is reported by the browser itself, and some are part of what an app asks.
    assert [problem for problem in problems if "the server responded with a status of 4" not in problem] == []


def test_an_order_is_seen_in_both_windows_and_by_who_comes_later(windows, gateway, tmp_path):
    one, other = windows("#orders"), windows("#orders", 390, 844)
    for window in (one, other):
        expect(window.locator("#order-line-text")).to_have_text("Listening", timeout=START_MS)
    one.get_by_role("button", name="Process one that fails").click()
    expect(other.locator("#order-status")).to_have_text("Uploading 4 photos")
    other.get_by_role("button", name="Process an order").click()
    expect(other.locator("#order-problem")).to_have_text("The order is being processed; wait until it is done.")
    for window in (one, other):
        expect(window.locator("#order-status")).to_have_text("Failed: 1 of 4 photos could not be processed",
                                                             timeout=START_MS)
    # What had to wait may begin now.
    expect(other.locator("#order-problem")).to_be_hidden()
    one.get_by_role("button", name="Process an order").click()
    expect(other.locator("#order-status")).to_have_text("4 previews ready", timeout=START_MS)
    expect(other.get_by_role("img", name="Preview 4")).to_be_visible()
    other.screenshot(path=str(tmp_path / "orders.png"), full_page=True)

    # By curl, as the page says it; and a window that is opened later hears what was.
    event = {"topic": "order:demo", "event": "upload_started", "payload": {"order_id": "demo", "file_count": 3}}
    request = urllib.request.Request(
        gateway.https + "/realtime/v1/api/broadcast", data=json.dumps({"messages": [event]}).encode(),
        headers={"apikey": gateway.api_key, "Content-Type": "application/json"})
    with urllib.request.urlopen(request, context=trusting_anybody(), timeout=10) as answer:
        assert answer.status == 202
    late = windows("#orders")
    for window in (one, other, late):
        expect(window.locator("#order-status")).to_have_text("Uploading 3 photos", timeout=START_MS)
    assert late.locator("#order-events li").count() > 10
