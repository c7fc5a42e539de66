"""Each tab against the real `switchboard dev`: what one window does, another one shows."""

import json
import time
import urllib.error
import urllib.request

import pytest
import redis
from playwright.sync_api import expect

from Fixtures.browser.windows import Windows
from Fixtures.processes.dev import RunningGateway, trusting_anybody
from Fixtures.waiting import eventually

# A tab of the demo's page: it changes seldom, and a browser costs much.
pytestmark = pytest.mark.thorough

START_MS = 60_000


@pytest.fixture(scope="module")
def gateway(tmp_path_factory):
    with RunningGateway(tmp_path_factory.mktemp("dev") / "node", "--demo=false") as gateway:
        yield gateway


@pytest.fixture
def windows(browser, gateway):
    """Opens windows at an address of the page, each with a storage of its own; none may report a problem."""
    # A refusal is reported by the browser itself, and some are part of what an app asks.
    windows = Windows(browser, "the server responded with a status of 4")

    def open_window(address, width=1100, height=900):
        window = windows.open(width, height)
        window.goto(f"{gateway.https}/{address}")
        expect(window.locator("#connection-text")).to_have_text("Live", timeout=START_MS)
        return window

    yield open_window
    windows.close()


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


def test_two_guests_share_a_session_and_skip_its_song(windows, tmp_path):
    host = windows("#session")
    host.get_by_role("textbox", name="Join code").fill("PARTY")
    host.get_by_role("button", name="Create").click()
    expect(host.get_by_role("heading", name="Session PARTY")).to_be_visible()
    for name in ("Opener", "First", "Second"):
        host.get_by_role("textbox", name="Song").fill(name)
        host.keyboard.press("Enter")
        expect(host.locator("#session-song, #session-queue .name").filter(has_text=name)).to_be_visible()

    # The other one comes by the link that the host's window shows.
    guest = windows(host.locator("#session-invite").get_attribute("href").removeprefix("/"), 390, 844)
    for window in (host, guest):
        expect(window.locator("#session-people")).to_contain_text("2 people")
        expect(window.locator("#session-song")).to_have_text("Opener")
        expect(window.locator("#session-queue .name")).to_have_text(["First", "Second"])
    guest.get_by_role("button", name="Vote up: Second").click()
    for window in (host, guest):
        expect(window.locator("#session-queue .name")).to_have_text(["Second", "First"])
        expect(window.locator("#session-queue .score")).to_have_text(["+1", "0"])
    expect(guest.get_by_role("button", name="Next song")).to_be_hidden()

    # One of two is not more than half; two are.
    guest.get_by_role("button", name="Ask to skip").click()
    for window in (host, guest):
        expect(window.locator("#session-skip-text")).to_have_text("1 of 2 asks to skip; it takes 2")
    host.get_by_role("button", name="Ask to skip").click()
    for window in (host, guest):
        expect(window.locator("#session-song")).to_have_text("Second")
        expect(window.locator("#session-last")).to_contain_text("more than half")
        expect(window.locator("#session-skip-text")).to_have_text("0 of 2 ask to skip; it takes 2")
    host.get_by_role("button", name="Next song").click()
    for window in (host, guest):
        expect(window.locator("#session-song")).to_have_text("First")
    # A courier asks the stand-in for Spotify: a song that it knows by its name comes with its artists.
    host.get_by_role("textbox", name="Song").fill("hot towel")
    host.keyboard.press("Enter")
    expect(guest.locator("#session-queue")).to_contain_text("Aunt Velvet")
    host.screenshot(path=str(tmp_path / "session.png"), full_page=True)

    # Who reloads is where it was; a locked session takes nobody; who leaves is seen to go.
    guest.reload()
    expect(guest.locator("#session-song")).to_have_text("First", timeout=START_MS)
    host.get_by_role("button", name="Lock").click()
    expect(guest.locator("#session-people")).to_contain_text("locked")
    late = windows("#session/PARTY")
    expect(late.locator("#session-problem")).to_contain_text("locked")
    guest.get_by_role("button", name="Leave").click()
    expect(guest.get_by_role("button", name="Join")).to_be_visible()
    expect(host.locator("#session-people")).to_contain_text("Only you")


def test_two_guests_write_to_each_other_on_three_devices(windows, tmp_path):
    one = windows("#chat")
    expect(one.locator("#chat-own")).to_contain_text("guest-", timeout=START_MS)
    # The other one comes by the link that the first window shows.
    other = windows(one.locator("#chat-invite").get_attribute("href").removeprefix("/"), 390, 844)
    write(other, "Hello from the phone")
    expect(other.locator("#chat-messages li")).to_contain_text("Sent")
    expect(one.locator("#chat-list button")).to_contain_text("Hello from the phone")
    expect(one.locator("#chat-list .unread")).to_have_text("1 unread")
    one.locator("#chat-list button").click()
    expect(other.locator("#chat-messages li")).to_contain_text("Read")
    expect(one.locator("#chat-list .unread")).to_have_count(0)

    # A second device of the first guest: the link hands its storage on.
    with one.expect_popup() as opened:
        one.get_by_role("link", name="Open your second device").click()
    device = opened.value
    expect(device.locator("#chat-own")).to_have_text(one.locator("#chat-own").inner_text(), timeout=START_MS)
    device.locator("#chat-list button").click()
    for number in range(1, 6):
        write(device, f"Device {number}")
        write(other, f"Phone {number}")
    for window in (one, device, other):
        expect(window.locator("#chat-messages li")).to_have_count(11)
    told = [window.locator("#chat-messages .words").all_text_contents() for window in (one, device, other)]
    assert told[0] == told[1] == told[2]
    other.get_by_role("textbox", name="Message").press_sequentially("abc")
    expect(one.locator("#chat-typing")).to_contain_text("is typing")
    one.screenshot(path=str(tmp_path / "chat.png"), full_page=True)

    # Who reloads finds it again, and who is blocked is told so.
    other.reload()
    expect(other.locator("#chat-messages li")).to_have_count(11, timeout=START_MS)
    one.get_by_role("button", name="Block").click()
    expect(one.get_by_role("button", name="Unblock")).to_be_visible()
    write(other, "Not heard")
    expect(other.locator("#chat-problem")).not_to_be_empty()
    expect(one.locator("#chat-messages li")).to_have_count(11)


def test_pushes_are_seen_on_the_phone_of_who_has_closed_the_app(windows, gateway, tmp_path):
    one = windows("#chat")
    expect(one.locator("#chat-own")).to_contain_text("guest-", timeout=START_MS)
    other = windows(one.locator("#chat-invite").get_attribute("href").removeprefix("/"), 390, 844)
    expect(other.locator("#phone-state")).to_contain_text("Registered", timeout=START_MS)
    user = other.locator("#chat-own").inner_text()
    write(other, "Hello")
    one.locator("#chat-list button").click()
    expect(one.locator("#chat-messages li")).to_have_count(1)

    with_phone(other)
    expect(other.locator("#phone-empty")).to_be_visible()
    with redis.Redis(unix_socket_path=str(gateway.directory / ".switchboard/redis.sock")) as db:
        as_after_a_minute(db, user)
        for number in range(1, 4):
            write(one, f"Words {number}")
        expect(one.locator("#chat-messages li").last).to_contain_text("Sent")

        def shows_three():
            as_after_a_minute(db, user)
            return other.locator("#phone-badge-count").inner_text() == "3"

        eventually(shows_three, START_MS / 1_000, "a badge of three")
    shown = other.locator("#phone-shown li")
    expect(shown).to_have_count(1)
    expect(shown.locator(".words")).to_have_text("Words 3")
    other.screenshot(path=str(tmp_path / "phone.png"), full_page=True)

    # Who presses the push is in the conversation; what is read there has left the phone.
    shown.get_by_role("link").click()
    expect(other.locator("#chat-messages li")).to_have_count(4, timeout=START_MS)
    expect(one.locator("#chat-messages li").last).to_contain_text("Read")
    expect(other.locator("#phone-state")).to_contain_text("Registered", timeout=START_MS)
    expect(other.locator("#chat-list button")).to_have_count(1)
    expect(other.locator("#chat-list .unread")).to_have_count(0)
    with_phone(other)
    expect(other.locator("#phone-empty")).to_be_visible()
    expect(other.locator("#phone-badge")).to_be_hidden()


def with_phone(window):
    """Closes the app of a window; its phone is seen instead."""
    window.get_by_role("link", name="Close the app").click()
    expect(window.get_by_role("heading", name="Locked phone")).to_be_attached()


def as_after_a_minute(db, user):
    """Makes a user's last heartbeat old; what waits for it to grow old is looked at again."""
    if int(db.get(f"user:{user}#awake") or 0) > time.time() * 1_000 - 60_000:
        db.set(f"user:{user}#awake", int(time.time() * 1_000) - 120_000, ex=86_400)
        db.delete(f"user:{user}#online")
        for name in db.zrange(f"user:{user}#pushes", 0, -1):
            db.zincrby(f"user:{user}#pushes", -1, name)


def write(window, text):
    window.get_by_role("textbox", name="Message").fill(text)
    window.keyboard.press("Enter")


def test_two_listeners_see_each_other_on_the_map(windows, tmp_path):
    one, other = windows("#nearby"), windows("#nearby", 390, 844)
    for window in (one, other):
        expect(window.locator("#nearby-visible")).to_have_value("everyone", timeout=START_MS)
        window.get_by_role("button", name="Go on the map").click()
    for window in (one, other):
        expect(window.locator("#nearby-list li")).to_have_count(1)
        expect(window.locator("#nearby-others g")).to_have_count(1)
    other.get_by_role("textbox", name="Song").fill("Blue")
    other.get_by_role("textbox", name="Artist").fill("Us")
    other.keyboard.press("Enter")
    expect(one.locator("#nearby-list li")).to_contain_text("Blue by Us")

    # One is dragged to the north-east: the other sees it go there.
    before = other.locator("#nearby-list .distance").inner_text()
    box = one.locator("#nearby-map").bounding_box()
    one.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    one.mouse.down()
    # Not far: the place of who hides is rounded to a kilometre, and both are to stay within the two that are live.
    one.mouse.move(box["x"] + box["width"] * 0.6, box["y"] + box["height"] * 0.4, steps=5)
    one.mouse.up()
    expect(other.locator("#nearby-list .distance")).not_to_have_text(before, timeout=START_MS)
    other.screenshot(path=str(tmp_path / "nearby.png"), full_page=True)

    # Who may be seen by nobody is gone at once, and so is who leaves.
    one.get_by_label("Who may see you").select_option("nobody")
    expect(other.locator("#nearby-list li")).to_have_count(0)
    expect(one.locator("#nearby-list li")).to_have_count(1)
    one.get_by_label("Who may see you").select_option("everyone")
    expect(other.locator("#nearby-list li")).to_have_count(1)
    one.get_by_role("button", name="Leave the map").click()
    expect(other.locator("#nearby-list li")).to_have_count(0)


def test_only_the_pages_of_this_gateway_get_the_key(gateway):
    def ask(headers):
        request = urllib.request.Request(gateway.https + "/demo/inspector", method="POST", headers=headers)
        return urllib.request.urlopen(request, context=trusting_anybody(), timeout=10)

    with ask({}) as answer:
        assert answer.headers["cache-control"] == "no-store"
    # A tunnel from elsewhere says for whom it asks.
    for headers in ({"Host": "evil.example"}, {"Origin": "https://evil.example"}, {"X-Forwarded-For": "192.0.2.1"}):
        with pytest.raises(urllib.error.HTTPError) as refused:
            ask(headers)
        assert refused.value.code == 403
