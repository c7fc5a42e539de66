"""Whether everybody can use each tab: any screen, any colours, names for every control."""

import pytest
from playwright.sync_api import expect

import Browser.test_chat as chat
import Browser.test_nearby_map as nearby
import Browser.test_orders as orders
import Browser.test_sessions as sessions
from Fixtures.browser.looks import (
    assert_can_be_read_in_both_schemes,
    assert_large_enough,
    assert_named,
    assert_nothing_cut,
    pictured,
)
from Fixtures.browser.scripted_gateway import answer_requests

# A tab of the demo's page: it changes seldom, and a browser costs much.
pytestmark = pytest.mark.thorough

LONG = "Unbreakable" * 12
SIZES = [(320, 640), (390, 844), (820, 1100), (1280, 900)]


def show_order(page, gateway):
    """An order on its way, with a refusal."""
    busy = {"error": {"code": "conflict", "message": "The order is being processed; wait until it is done."}}
    answer_requests(page, "**/demo/order", lambda *_: (409, busy))
    page.goto(gateway.url + "#orders")
    gateway.connection().authenticate()
    channel = gateway.channel()
    channel.accept()
    orders.tell(channel, 1, "upload_started", status="uploading", file_count=4)
    orders.tell(channel, 2, "processing_started", status="processing")
    orders.processed(channel, 3, "photo-1")
    orders.processed(channel, 4, LONG, error=True)
    page.get_by_role("button", name="Process an order").click()
    expect(page.locator("#order-problem")).to_contain_text("wait until")
    expect(page.locator("#order-images li.failed")).to_have_count(1)


def show_failed_order(page, gateway):
    """An order that has ended badly."""
    page.goto(gateway.url + "#orders")
    gateway.connection().authenticate()
    channel = gateway.channel()
    channel.accept()
    orders.tell(channel, 1, "upload_started", status="uploading", file_count=1)
    orders.tell(channel, 2, "processing_started", status="processing")
    orders.tell(channel, 3, "processing_failed", status="failed", error="The photo is too dark " + LONG)
    expect(page.locator("#order-status")).to_contain_text("too dark")
    # It said that a photo was still waited for.
    expect(page.locator("#order-images .state")).to_have_text("not done")


def show_session_door(page, gateway):
    """Somebody who has tried a wrong code."""
    unknown = {"error": "Session not found", "status_code": 404, "request_id": "r"}
    answer_requests(page, "**/api/v1/**", lambda *_: (404, unknown))
    page.goto(gateway.url + "#session")
    gateway.connection().authenticate()
    page.get_by_role("textbox", name="Join code").fill("NOPE")
    page.keyboard.press("Enter")
    expect(page.locator("#session-problem")).to_have_text("Session not found")


def show_session(page, gateway):
    """A host's session, with long names and a song that cannot be added."""
    whole = sessions.whole()
    whole["session"]["host"] = {"id": "guest-a"}
    whole["queue"].append(sessions.song(LONG, -3, 3))
    answers = {"GET": (200, whole), "POST": (409, {"error": "The queue is full: it takes 100 songs"})}
    answer_requests(page, "**/api/v1/**", lambda method, *_: answers[method])
    page.goto(gateway.url + "#session")
    gateway.connection().authenticate()
    expect(page.get_by_role("button", name="Next song")).to_be_visible()
    _, socket = gateway.socket()
    sessions.joined(socket)
    page.get_by_role("textbox", name="Song").fill("Blue")
    page.keyboard.press("Enter")
    expect(page.locator("#song-problem")).to_contain_text("full")


def show_chat(page, gateway):
    """A conversation with long words, a mark, a refusal, and somebody who types."""
    page.goto(gateway.url + "#chat/guest-b")
    connection = gateway.connection()
    connection.authenticate()
    told = [chat.message(3), chat.message(2, text=LONG), chat.message(1, "guest-a", status="read", modifiedAt="x")]
    connection.accept(2, states={chat.TOPIC: chat.state(*told, online=True, following=5)})
    listed = [chat.listed(), chat.listed(id="g", title="Friends " + LONG, lastMessage=LONG, unread=120)]
    connection.answer("conversations", {"conversations": listed, "next": None})
    connection.answer("blocks", {"blocks": []})
    connection.answer("push_settings", chat.RULES)
    connection.answer("register_device", ("conflict", "The key of devices holds too many"))
    expect(page.locator("#phone-problem")).to_contain_text("too many")
    connection.send("typing", {"userId": "guest-b", "typing": True}, topic=chat.TOPIC)
    chat.write(page, "Hello")
    connection.answer("send_message", ("forbidden", "Too many messages"))
    expect(page.locator("#chat-problem")).to_have_text("Too many messages")


def show_phone(page, gateway):
    """A locked phone with long words and a push that came silently."""
    shown = [{"id": "c:guest-a_guest-b", "title": "", "body": LONG, "senderId": "guest-b", "timestampMs": 1,
              "silent": False},
             {"id": "n:1-0", "title": "Ready " + LONG, "body": "Come in", "senderId": "", "timestampMs": 2,
              "silent": True}]
    answer_requests(page, "**/demo/phone/*", lambda *_: (200, {"badge": 120, "notifications": shown}))
    page.goto(gateway.url + "phone.html")
    expect(page.locator("#phone-shown li")).to_have_count(2)
    expect(page.locator("#phone-badge-count")).to_have_text("120")


def show_nearby(page, gateway):
    """The map with four listeners, one of them with a long name, one far beyond a corner."""
    near = [nearby.listener("guest-b"), nearby.listener("guest-c", 700, 52.526, nearby.song()),
            nearby.listener(LONG, 1900, 52.5, nearby.song(LONG)),
            nearby.listener("guest-of-the-north-east", 2800, 52.56, longitude=13.5)]
    answers = {"/v1/privacy": (200, {"visible": "everyone", "rounding": 100}), "/v1/location": (200, {"nearby": near}),
               "/v1/track": (429, {"error": {"code": "rate_limited", "message": "Too many tracks"}})}
    answer_requests(page, "**/v1/*", lambda _, path, __: answers[path])
    page.goto(gateway.url + "#nearby")
    connection = gateway.connection()
    connection.authenticate()
    connection.accept(1)
    page.locator("#nearby-map").focus()
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#nearby-list li")).to_have_count(4)
    page.get_by_role("region", name="You").get_by_label("Song").fill("Blue")
    page.keyboard.press("Enter")
    expect(page.locator("#nearby-track-problem")).to_have_text("Too many tracks")


#: By name, how a tab is brought to show something in every place.
SHOWS = {"orders": show_order, "orders-failed": show_failed_order, "session-door": show_session_door,
         "session": show_session, "chat": show_chat, "nearby": show_nearby, "phone": show_phone}
#: The regions of each tab.
REGIONS = {"orders": ["Order demo", "What the app heard", "By curl"], "session": ["Session PARTY"],
           "chat": ["Conversations", "Conversation", "Your phone"], "phone": ["Notifications"],
           "nearby": ["Map", "You", "Nearby"]}


@pytest.fixture(autouse=True)
def refusals(page):
    """The browser itself reports each refused request, and some are refused on purpose."""
    yield
    page.tolerated.append("status of 4")


@pytest.mark.parametrize("tab", SHOWS)
def test_each_tab_fits_its_screen_and_can_be_read_and_pressed(page, gateway, tab, tmp_path):
    # Without motion no colour is on its way to another when it is measured.
    page.emulate_media(reduced_motion="reduce")
    SHOWS[tab](page, gateway)
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        assert_can_be_read_in_both_schemes(page, tmp_path / f"{tab}-{width}")
        with pictured(page, tmp_path / f"{tab}-{width}.png"):
            assert_large_enough(page)
            assert_nothing_cut(page)
    assert_named(page)
    expect(page.get_by_role("heading", level=1)).to_have_count(1)
    for name in REGIONS.get(tab, []):
        region = page.get_by_role("region", name=name, exact=True)
        expect(region).to_have_count(1)
        expect(region.get_by_role("heading", level=2)).to_have_count(1)
