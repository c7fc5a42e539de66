"""The frames of each tab's own connections: shown on request, newest first, bounded, without secrets."""

import json

import pytest
from playwright.sync_api import expect

from Browser.test_orders import tell
from Fixtures.browser.looks import assert_can_be_read_in_both_schemes, assert_large_enough, assert_named
from Fixtures.browser.scripted_gateway import answer_requests
from Fixtures.browser.windows import Windows

#: A signed token as issuers make them; its parts say nothing.
SIGNED = "eyJhbGciOiJub25lIn0.eyJzdWIiOiJndWVzdC1hIn0.c2lnbmF0dXJl"
DEVICE = "0123456789abcdef" * 4


@pytest.fixture
def shop(page, gateway):
    """The shop's tab with its connection live."""
    page.goto(gateway.url)
    connection = gateway.connection()
    connection.authenticate()
    connection.accept(4)
    return page, connection


def frames(page, tab="shop"):
    return page.locator(f"#frames-{tab}-list > li")


def show(page, tab="shop"):
    page.locator(f"#frames-{tab}-toggle").click()
    expect(page.locator(f"#frames-{tab}-list")).to_be_visible()


def test_the_frames_are_hidden_until_they_are_asked_for(shop):
    page, connection = shop
    expect(page.get_by_role("button", name="Show the frames")).to_have_attribute("aria-expanded", "false")
    expect(page.get_by_role("button", name="Copy the frames")).to_be_hidden()
    show(page)
    expect(page.locator("#frames-shop-line")).to_contain_text("Switchboard's own dialect")
    expect(page.locator("#frames-shop-line")).to_contain_text("at /ws. Topics: ")
    for topic in ("shop:demo", "dj:demo", "challenge:demo", "user:guest-a"):
        expect(page.locator("#frames-shop-line")).to_contain_text(topic)
    # What passed before is there as well, in both ways; the newest stands first.
    expect(frames(page).last).to_contain_text("Connecting")
    expect(frames(page).filter(has_text="In: subscribed").first).to_be_visible()
    expect(frames(page).filter(has_text="Out: subscribe").first).to_be_visible()
    connection.send("demo:clock", {"time": "14:35"}, topic="shop:demo", offset=1)
    expect(frames(page).first).to_contain_text("demo:clock")
    expect(frames(page).first.locator("pre")).to_have_text(
        json.dumps({"event": "demo:clock", "data": {"time": "14:35"}, "offset": 1, "topic": "shop:demo"}, indent=2))
    page.get_by_role("button", name="Hide the frames").click()
    expect(page.locator("#frames-shop-list")).to_be_hidden()


def test_secrets_are_hidden_wherever_they_stand(shop):
    page, connection = shop
    show(page)
    expect(frames(page).filter(has_text="authenticate").last).to_contain_text('"token": "***"')
    told = {"text": f"Look: {SIGNED} and {DEVICE}", "deep": [{"apikey": "k-1", "device_token": "d-1",
                                                              "ticket": {"id": "t-1"}}], "tokens": 3}
    connection.send("secretive", told, topic="shop:demo", offset=1)
    expect(frames(page).first.locator("pre")).to_contain_text('"text": "Look: *** and ***"')
    shown = page.locator("#frames-shop-list").inner_text()
    for secret in ("token-of-guest-a", SIGNED, DEVICE, "k-1", "d-1", "t-1"):
        assert secret not in shown
    assert '"tokens": 3' in shown
    # A frame that is no JSON is shown as it came, without its secrets.
    connection._socket.send(f"not JSON {SIGNED}")
    expect(frames(page).first.locator("pre")).to_have_text("not JSON ***")


def test_no_more_frames_are_kept_than_200_and_long_ones_are_cut(shop):
    page, connection = shop
    show(page)
    for offset in range(1, 261):
        connection.send("tick", {"number": offset}, topic="shop:demo", offset=offset)
    expect(frames(page).first).to_contain_text('"number": 260')
    expect(frames(page)).to_have_count(200)
    expect(frames(page).last).not_to_contain_text("Connecting")
    # The list scrolls by itself, and the page ends below it.
    end = page.locator("footer").bounding_box()
    assert page.evaluate("document.documentElement.scrollHeight") - end["y"] - end["height"] < 100
    connection.send("long", {"text": "a" * 40_000}, topic="shop:demo", offset=261)
    expect(frames(page).first).to_contain_text("characters more")
    assert len(frames(page).first.inner_text()) < 17_000


def test_a_tab_shows_the_frames_of_its_own_topics(page, gateway):
    page.goto(gateway.url + "#chat/guest-b")
    connection = gateway.connection()
    connection.authenticate()
    connection.accept(2)
    show(page, "chat")
    connection.send("typing", {"userId": "guest-b", "typing": True}, topic="conversation:guest-a_guest-b")
    expect(frames(page, "chat").first).to_contain_text("typing")
    page.get_by_role("tab", name="Shop").click()
    connection.accept(3)
    connection.send("demo:clock", {"time": "14:35"}, topic="shop:demo", offset=1)
    show(page, "shop")
    expect(frames(page, "shop").first).to_contain_text("demo:clock")
    expect(frames(page, "shop").filter(has_text="conversation:")).to_have_count(0)
    page.get_by_role("tab", name="Chat").click()
    # What was shown stays shown, for this tab alone.
    expect(page.locator("#frames-chat-list")).to_be_visible()
    expect(frames(page, "chat").filter(has_text="demo:clock")).to_have_count(0)
    expect(frames(page, "chat").filter(has_text="shop:demo")).to_have_count(0)


def test_the_choice_is_kept_by_the_window_alone(shop, gateway, browser):
    page, _ = shop
    show(page)
    page.reload()
    expect(page.locator("#frames-shop-list")).to_be_visible()
    assert page.evaluate("localStorage.length") == 0
    page.get_by_role("tab", name="Orders").click()
    expect(page.locator("#frames-orders-list")).to_be_hidden()
    windows = Windows(browser)
    other = windows.open()
    other.goto(gateway.url)
    expect(other.get_by_role("button", name="Show the frames")).to_be_visible()
    windows.close()


def test_the_order_shows_the_frames_of_phoenix(page, gateway):
    page.goto(gateway.url + "#orders")
    gateway.connection().authenticate()
    channel = gateway.channel()
    channel.accept()
    show(page, "orders")
    expect(page.locator("#frames-orders-line")).to_have_text(
        "Phoenix channels, as Supabase's clients speak them, at /realtime/v1/websocket. Topics: realtime:order:demo.")
    tell(channel, 1, "upload_started", status="uploading", file_count=4)
    expect(frames(page, "orders").first).to_contain_text("broadcast")
    expect(frames(page, "orders").filter(has_text="phx_join").last).to_contain_text('"access_token": "***"')
    expect(frames(page, "orders").filter(has_text="phx_reply of phx_join")).to_have_count(1)
    assert "token-of-guest-a" not in page.locator("#frames-orders-list").inner_text()


def test_requests_of_http_and_their_answers_are_frames_too(page, gateway):
    refusal = {"error": "No active session", "status_code": 404}
    answer_requests(page, "**/api/v1/**", lambda *_: (404, refusal))
    page.goto(gateway.url + "#session")
    gateway.connection().authenticate()
    show(page, "session")
    expect(frames(page, "session").first).to_contain_text("404 of GET /api/v1/sessions/current")
    expect(frames(page, "session").last).to_contain_text("Out: GET /api/v1/sessions/current")
    page.tolerated.append("status of 404")


def test_the_frames_are_used_by_the_keyboard_and_can_be_copied(shop):
    page, connection = shop
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    connection.send("demo:clock", {"time": "14:35"}, topic="shop:demo", offset=1)
    page.get_by_role("button", name="Show the frames").focus()
    page.keyboard.press("Enter")
    expect(frames(page).first).to_contain_text("demo:clock")
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Copy the frames")).to_be_focused()
    page.keyboard.press("Space")
    expect(page.locator("#frames-shop-copied")).to_have_text("Copied.")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith("Switchboard's own dialect") and '"time": "14:35"' in copied
    assert "token-of-guest-a" not in copied and '"token": "***"' in copied
    page.keyboard.press("Tab")
    expect(page.get_by_role("list", name="Frames, newest first")).to_be_focused()


# The boxes of the shown tab that lie upon each other.
OVERLAPS = """() => {
    const cards = [...document.querySelectorAll('.card')].filter((card) => card.checkVisibility());
    const lie = (one, other) => one.left < other.right - 1 && other.left < one.right - 1
        && one.top < other.bottom - 1 && other.top < one.bottom - 1;
    return cards.flatMap((card, index) => cards.slice(index + 1)
        .filter((other) => lie(card.getBoundingClientRect(), other.getBoundingClientRect()))
        .map((other) => `${card.getAttribute('aria-labelledby')} ${other.getAttribute('aria-labelledby')}`));
}"""


@pytest.mark.parametrize("tab", ["shop", "session", "chat", "orders", "nearby"])
def test_the_frames_lie_below_everything_else_of_their_tab(page, gateway, tab):
    answer_requests(page, "**/v1/**", lambda *_: (404, {}))
    page.goto(f"{gateway.url}#{tab}")
    gateway.connection().authenticate()
    for width in (360, 800, 1280):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.locator(f"#frames-{tab}-toggle").is_visible()
        assert page.evaluate(OVERLAPS) == []
    page.tolerated.append("status of 404")


@pytest.mark.thorough
def test_the_frames_fit_every_screen_and_can_be_read(shop, tmp_path):
    page, connection = shop
    show(page)
    connection.send("wide", {"word": "Unbreakable" * 30}, topic="shop:demo", offset=1)
    expect(frames(page).first).to_contain_text("Unbreakable")
    for width, height in [(320, 640), (360, 740), (800, 1000), (1280, 900)]:
        page.set_viewport_size({"width": width, "height": height})
        assert_can_be_read_in_both_schemes(page, tmp_path / f"frames-{width}")
        assert_large_enough(page)
    assert_named(page)
