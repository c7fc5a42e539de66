"""What a newcomer sees: `switchboard dev`, a browser, a shop that lives; two windows that vote; a restart."""

import json
import re
import urllib.request

import pytest
from playwright.sync_api import expect

from Fixtures.browser.windows import Windows
from Fixtures.processes.dev import RunningGateway, trusting_anybody

START_MS = 60_000
#: How soon a window is back after a restart: the gateway's start, the page's longest early wait, a margin.
BACK_MS = 45_000


@pytest.fixture
def windows(browser):
    """Opens windows, each with a storage of its own, as those of two people are; none may report a problem."""
    # A socket that cannot be opened is reported by the browser itself, and a restart is about just that.
    windows = Windows(browser, "WebSocket connection to")

    def open_window(gateway, width=1100, height=900):
        window = windows.open(width, height)
        window.goto(gateway.https + "/")
        expect(window.locator("#connection-text")).to_have_text("Live", timeout=START_MS)
        expect(window.locator("#guest-name")).to_have_text(re.compile("^guest-[a-z2-9]{5}$"), timeout=START_MS)
        return window

    yield open_window
    windows.close()


def post(gateway, path, body=None):
    """A backend's request."""
    request = urllib.request.Request(
        gateway.https + path, data=json.dumps(body or {}).encode(), method="POST", headers={"apikey": gateway.api_key})
    with urllib.request.urlopen(request, context=trusting_anybody(), timeout=10) as response:
        return json.load(response)


def check_in(window):
    window.get_by_role("button", name="Check in").click()
    expect(window.locator("#presence-state")).to_have_text("You are at the shop")


def add_track(window, name):
    window.get_by_role("textbox", name="Track").fill(name)
    window.get_by_role("textbox", name="Artist").fill("A guest")
    window.keyboard.press("Enter")
    expect(window.locator("#tracks .name", has_text=name)).to_be_visible()


def picture(window):
    """What a window shows of the music: everything but whose votes they are."""
    rows = window.locator("#tracks li").all()
    return [(row.locator(".name").inner_text(), row.locator(".score").inner_text()) for row in rows]


def expect_picture(window, *rows):
    expect(window.locator("#tracks .name")).to_have_text([name for name, _ in rows])
    expect(window.locator("#tracks .score")).to_have_text([score for _, score in rows])


def test_two_guests_vote_and_both_see_the_swap(windows, tmp_path):
    with RunningGateway(tmp_path / "node", "--demo=false") as gateway:
        one, other = windows(gateway), windows(gateway, 360, 740)
        assert one.locator("#guest-name").inner_text() != other.locator("#guest-name").inner_text()
        post(gateway, "/v1/shops/demo/dj/start")
        check_in(one)
        check_in(other)
        for window in (one, other):
            expect(window.locator("#queue-present")).to_have_text("2")
        add_track(one, "First")
        add_track(other, "Second")
        for window in (one, other):
            expect_picture(window, ("First", "+1"), ("Second", "+1"))

        one.get_by_role("button", name="Vote up: Second").click()
        for window in (one, other):
            expect_picture(window, ("Second", "+2"), ("First", "+1"))
        expect(one.get_by_role("button", name="Vote up: Second")).to_have_attribute("aria-pressed", "true")

        # The other changes its vote by the keyboard alone: its up for its own track becomes a down.
        other.get_by_role("button", name="Check out").focus()
        for _ in range(40):
            other.keyboard.press("Tab")
            if other.evaluate("document.activeElement.getAttribute('aria-label')") == "Vote down: Second":
                break
        other.keyboard.press("Space")
        for window in (one, other):
            expect_picture(window, ("First", "+1"), ("Second", "0"))
        expect(other.get_by_role("button", name="Vote down: Second")).to_be_focused()
        one.screenshot(path=str(tmp_path / "one.png"), full_page=True)
        other.screenshot(path=str(tmp_path / "other.png"), full_page=True)
        overflow = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        assert other.evaluate(overflow) <= 0, "the page scrolls sideways"

        # Who follows a barber gets the posts, and nobody else.
        one.get_by_role("button", name="Follow Dario").click()
        expect(one.get_by_role("button", name="Follow Dario", pressed=True)).to_be_visible()
        post(gateway, "/v1/barbers/dario/posts", {"post": {"id": "p1", "text": "Fresh fades"}})
        expect(one.locator("#notices li", has_text="Fresh fades")).to_have_count(1)
        assert other.locator("#notices li", has_text="Fresh fades").count() == 0

        # Who reloads finds the own votes again; who has left may not vote.
        one.reload()
        expect(one.get_by_role("button", name="Vote up: Second", pressed=True)).to_be_visible(timeout=START_MS)
        expect(one.locator("#presence-state")).to_have_text("You are at the shop")
        other.get_by_role("button", name="Check out").click()
        expect(one.locator("#queue-present")).to_have_text("1")
        other.get_by_role("button", name="Vote up: First").click()
        row = other.locator("#tracks li", has_text="First")
        expect(row.get_by_role("alert")).to_have_text("Must be at shop to vote")
        expect_picture(other, ("First", "+1"), ("Second", "0"))


def test_the_demo_shop_lives_and_serves_its_guest(windows, tmp_path):
    with RunningGateway(tmp_path / "node") as gateway:
        window = windows(gateway)
        check_in(window)
        window.get_by_role("button", name="Book a chair").click()
        status = window.locator("#booking-status")
        expect(status).to_have_text("Your booking is asked for", timeout=START_MS)
        before = window.locator("#clock-time").inner_text()
        expect(window.locator("#clock-time")).not_to_have_text(before, timeout=START_MS)
        expect(window.locator("#playing-name")).not_to_have_text("Nothing plays", timeout=START_MS)
        expect(window.locator("#tracks li").nth(2)).to_be_visible(timeout=START_MS)
        expect(window.locator("#leaderboard-list li").nth(7)).to_be_visible(timeout=START_MS)
        expect(window.locator("#queue-wait")).to_have_text(re.compile("^[0-9]+$"), timeout=60_000)
        expect(window.locator("#queue-range")).to_contain_text("Likely", timeout=60_000)
        expect(status).to_contain_text("have a seat", timeout=90_000)
        expect(status).to_contain_text("thank you", timeout=90_000)
        expect(window.locator("#leaderboard-own")).to_contain_text("You are number", timeout=START_MS)
        expect(window.locator("#notices li").first).to_be_visible()
        window.screenshot(path=str(tmp_path / "dev.png"), full_page=True)
        assert window.locator("#activity-list .gap").count() == 0


def test_a_page_without_its_gateway_asks_nobody(windows, tmp_path):
    # As when the window is looked at again; the request begins in the same step.
    look = """() => {
        document.dispatchEvent(new Event("visibilitychange"));
        return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    }"""
    with RunningGateway(tmp_path / "node", "--demo=false") as gateway:
        window = windows(gateway)
        with window.expect_request("**/demo/people?*"):
            window.evaluate(look)
    expect(window.locator("#connection-text")).to_contain_text("Reconnecting")
    asked = []
    window.on("request", lambda request: asked.append(request.url))
    window.evaluate(look)
    assert [url for url in asked if "/demo/people" in url] == []


def test_windows_come_back_by_themselves_when_the_gateway_restarts(windows, tmp_path):
    with RunningGateway(tmp_path / "node", "--demo=false") as gateway:
        port = gateway.port
        one, other = windows(gateway), windows(gateway)
        # The page asks by HTTP who is there, while it does not know yet that the gateway has gone.
        for window in (one, other):
            window.tolerated.append("ERR_CONNECTION_REFUSED")
        guest = one.locator("#guest-name").inner_text()
        post(gateway, "/v1/shops/demo/dj/start")
        check_in(one)
        add_track(one, "Before")
        expect_picture(other, ("Before", "+1"))
    for window in (one, other):
        expect(window.locator("#connection-text")).to_contain_text("Reconnecting")
    with RunningGateway(tmp_path / "node", "--demo=false", port=port) as gateway:
        for window in (one, other):
            expect(window.locator("#connection-text")).to_have_text("Live", timeout=BACK_MS)
            expect_picture(window, ("Before", "+1"))
        expect(one.locator("#presence-state")).to_have_text("You are at the shop")
    for window in (one, other):
        expect(window.locator("#connection-text")).to_contain_text("Reconnecting")
    with RunningGateway(tmp_path / "node", "--demo=false", "--fresh", port=port) as gateway:
        for window in (one, other):
            expect(window.locator("#connection-text")).to_have_text("Live", timeout=BACK_MS)
            # The private Redis of dev begins anew, and the page does not go on showing what is no more.
            expect(window.locator("#tracks-empty")).to_have_text("No session runs now.")
            expect(window.locator("#presence-state")).to_have_text("You are not at the shop")
        expect(one.locator("#guest-name")).to_have_text(guest)
        post(gateway, "/v1/shops/demo/dj/start")
        check_in(one)
        check_in(other)
        add_track(one, "After")
        add_track(other, "Later")
        other.get_by_role("button", name="Vote up: After").click()
        third = windows(gateway)
        for window in (one, other, third):
            expect_picture(window, ("After", "+2"), ("Later", "+1"))
        assert picture(one) == picture(other) == picture(third)
