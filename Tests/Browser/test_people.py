"""A newcomer's first look at `switchboard dev`: every tab lives, and the simulated people answer a visitor."""

import json
import re
import urllib.error
import urllib.request

import pytest
from playwright.sync_api import expect

from Fixtures.browser.looks import assert_can_be_read, assert_large_enough, assert_named
from Fixtures.browser.windows import Windows
from Fixtures.processes.dev import RunningGateway, trusting_anybody

START_MS = 60_000
#: How long an answer of the people may take, on a host that is busy with other tests.
ANSWER_MS = 30_000

# Every text of the line that says who types, since it is there for a moment only.
TYPING = """() => {
    window.typed = [];
    const line = document.getElementById('chat-typing');
    new MutationObserver(() => window.typed.push(line.textContent)).observe(line, { childList: true });
}"""


@pytest.fixture(scope="module")
def gateway(tmp_path_factory):
    with RunningGateway(tmp_path_factory.mktemp("people") / "node") as gateway:
        yield gateway


@pytest.fixture
def windows(browser, gateway):
    """Opens windows at a tab, each with a storage of its own. None may report a problem or ask another origin."""
    # A guest who is in no session yet is told so, and the browser itself reports it.
    windows = Windows(browser, "the server responded with a status of 404")
    asked = []

    def open_window(tab, width=1280, height=900, prepare=lambda window: None):
        window = windows.open(width, height)
        prepare(window)
        window.on("request", lambda request: asked.append(request.url))
        window.on("websocket", lambda socket: asked.append(socket.url))
        window.goto(f"{gateway.https}/#{tab}")
        expect(window.locator("#connection-text")).to_have_text("Live", timeout=START_MS)
        return window

    yield open_window
    windows.close()
    elsewhere = [url for url in asked if not url.startswith((gateway.https + "/", gateway.wss + "/"))]
    assert asked and not elsewhere, elsewhere


def shows_shop(window):
    expect(window.locator("#tracks li").nth(1)).to_be_visible()
    expect(window.locator("#playing-name")).not_to_have_text("Nothing plays")
    expect(window.locator("#leaderboard-list li").nth(4)).to_be_visible()
    expect(window.locator("#activity-list li").first).to_be_visible()
    expect(window.locator("#queue-present")).to_have_text(re.compile("^[0-9]+$"))


def shows_session(window):
    expect(window.get_by_role("heading", name=re.compile("^Session CUTCLUB"))).to_be_visible()
    expect(window.locator("#session-people")).to_have_text(re.compile("[0-9]+ people, hosted by Yuki"))
    expect(window.locator("#session-queue li").nth(1)).to_be_visible()
    expect(window.locator("#session-song")).not_to_have_text("Nothing plays")


def shows_chat(window):
    expect(window.locator("#chat-messages li.other").first).to_contain_text("Write something, and I will answer.")
    expect(window.locator("#chat-list li")).to_have_count(2)
    expect(window.locator("#chat-list .unread")).to_have_count(1)


def shows_orders(window):
    expect(window.locator("#order-status")).not_to_have_text("Waiting for an order")
    expect(window.locator("#order-events li").first).to_be_visible()


def shows_nearby(window):
    for name in ("Maya", "Omar", "Lena", "Kofi", "Yuki"):
        expect(window.locator("#nearby-list li", has_text=name)).to_contain_text(" by ")
    place = window.locator("#nearby-others").inner_html()
    expect(window.locator("#nearby-others")).not_to_have_js_property("innerHTML", place)


def shows_inspector(window):
    frame = window.frame_locator("iframe[title=Inspector]")
    expect(frame.get_by_role("heading", level=1, name="Fleet")).to_be_visible()
    expect(frame.get_by_role("row").filter(has_text="gateway")).to_have_count(1)


#: By tab, what a newcomer sees there.
SHOWS = {"shop": shows_shop, "session": shows_session, "chat": shows_chat, "orders": shows_orders,
         "nearby": shows_nearby, "inspector": shows_inspector}


@pytest.mark.parametrize("tab", SHOWS)
def test_a_tab_is_alive_at_the_first_look(windows, tab):
    # Every wait of these is the usual one, five seconds.
    window = windows(tab)
    SHOWS[tab](window)
    if tab != "session":
        assert window.problems == []


def test_a_session_that_opens_after_the_first_look_is_joined(windows):
    """A visitor of the first second met people without a session, and the page asked again after a minute only."""
    answers = []

    def early(route):
        response = route.fetch()
        answers.append(response.json())
        route.fulfill(response=response, json=answers[-1] | ({"session": ""} if len(answers) <= 2 else {}))

    window = windows("session", prepare=lambda window: window.route("**/demo/people?*", early))
    shows_session(window)
    assert len(answers) >= 3 and all(answer["people"] for answer in answers)


def test_a_message_is_read_and_answered_while_somebody_types(windows):
    window = windows("chat")
    shows_chat(window)
    before = window.locator("#chat-messages li.other").count()
    window.evaluate(TYPING)
    window.get_by_role("textbox", name="Message").fill("Is the shop open?")
    window.keyboard.press("Enter")
    expect(window.locator("#chat-messages li.own .about")).to_contain_text("Read", timeout=ANSWER_MS)
    expect(window.locator("#chat-messages li.other")).to_have_count(before + 1, timeout=ANSWER_MS)
    assert "maya is typing" in window.evaluate("window.typed")
    # Whoever comes back is not greeted again.
    window.reload()
    expect(window.locator("#chat-messages li.other")).to_have_count(before + 1)
    window.get_by_role("button", name=re.compile("^omar")).click()
    expect(window.locator("#chat-title")).to_have_text("omar")
    expect(window.locator("#chat-messages li.other")).to_have_count(1)


def test_people_vote_for_a_visitors_song_and_join_a_wish_to_skip(windows):
    window = windows("session")
    shows_session(window)
    window.get_by_role("textbox", name="Song").fill("Visitor's Choice")
    window.get_by_role("textbox", name="Artists").fill("A Guest")
    window.keyboard.press("Enter")
    row = window.locator("#session-queue li", has_text="Visitor's Choice")
    # People vote on all songs: how many like this one at a moment is chance.
    expect(row.locator(".score")).to_have_text(re.compile(r"^\+[1-9]"), timeout=ANSWER_MS)
    window.get_by_role("button", name="Vote up: Visitor's Choice").click()
    expect(window.get_by_role("button", name="Vote up: Visitor's Choice", pressed=True)).to_be_visible()
    window.get_by_role("button", name="Ask to skip").click()
    expect(window.locator("#session-last")).to_contain_text("was skipped", timeout=ANSWER_MS)


@pytest.mark.thorough
def test_an_order_of_the_people_yields_to_a_visitors(windows):
    window = windows("orders")
    expect(window.locator("#order-status")).to_contain_text(re.compile("Uploading|uploaded|Processing"))
    window.get_by_role("button", name="Process one that fails").click()
    expect(window.locator("#order-status")).to_have_text("Failed: 1 of 4 photos could not be processed",
                                                         timeout=START_MS)
    expect(window.locator("#order-problem")).to_be_hidden()


@pytest.mark.thorough
def test_whoever_leaves_is_left_alone(windows):
    window = windows("session")
    shows_session(window)
    window.get_by_role("button", name="Leave").click()
    expect(window.get_by_role("textbox", name="Join code")).to_have_value(re.compile("^CUTCLUB"))
    window.get_by_role("tab", name="Nearby").click()
    shows_nearby(window)
    window.get_by_role("button", name="Leave the map").click()
    expect(window.locator("#nearby-news")).to_have_text("You are off the map")
    window.reload()
    expect(window.locator("#connection-text")).to_have_text("Live", timeout=START_MS)
    expect(window.locator("#nearby-visible")).to_have_value("everyone")
    expect(window.get_by_role("button", name="Go on the map")).to_be_visible()
    expect(window.locator("#nearby-list li")).to_have_count(0)
    window.get_by_role("tab", name="Session").click()
    expect(window.get_by_role("button", name="Join", exact=True)).to_be_visible()
    window.get_by_role("button", name="Join", exact=True).click()
    shows_session(window)


def test_a_newcomer_sees_all_of_it_by_the_keyboard_alone(windows, gateway):
    window = windows("shop")
    window.get_by_role("tab", name="Shop").focus()
    for tab, shows in list(SHOWS.items())[1:]:
        window.keyboard.press("ArrowRight")
        expect(window.get_by_role("tab", selected=True)).to_be_focused()
        assert window.evaluate("document.body.dataset.app") == tab
        shows(window)
        # The way back to the list of tabs is free: nothing has taken the focus.
        expect(window.get_by_role("tab", selected=True)).to_be_focused()
    # From the tab into the frame, to its first link.
    window.keyboard.press("Tab")
    frame = window.frame_locator("iframe[title=Inspector]")
    expect(frame.get_by_role("link", name="Skip to the page")).to_be_focused()


def ask(gateway, path, headers=None):
    request = urllib.request.Request(gateway.https + path, headers=headers or {})
    return urllib.request.urlopen(request, context=trusting_anybody(), timeout=10)


def test_only_guests_on_the_gateways_own_pages_reach_the_people(gateway):
    for headers, status in (({}, 401), ({"Authorization": "Bearer nothing"}, 401), ({"Host": "evil.example"}, 403),
                            ({"Origin": "https://evil.example"}, 403)):
        with pytest.raises(urllib.error.HTTPError) as refused:
            ask(gateway, "/demo/people?tab=chat", headers)
        assert refused.value.code == status


@pytest.mark.thorough
def test_dev_without_people_has_quiet_tabs(browser, tmp_path):
    with RunningGateway(tmp_path / "node", "--people=false") as gateway:
        with ask(gateway, "/demo/people?tab=chat") as answer:
            assert json.load(answer) == {"people": [], "session": ""}
        windows = Windows(browser, "the server responded with a status of 404")
        window = windows.open()
        window.goto(gateway.https + "/#session")
        expect(window.get_by_role("button", name="Create")).to_be_visible(timeout=START_MS)
        window.get_by_role("tab", name="Nearby").click()
        expect(window.get_by_role("button", name="Go on the map")).to_be_visible()
        window.get_by_role("tab", name="Chat").click()
        expect(window.locator("#chat-list-empty")).to_be_visible()
        expect(window.locator("#chat-none")).to_be_visible()
        windows.close()


@pytest.mark.thorough
@pytest.mark.parametrize("tab", SHOWS)
def test_a_living_tab_fits_every_screen_and_can_be_read(windows, tab, tmp_path):
    window = windows(tab)
    window.emulate_media(reduced_motion="reduce")
    SHOWS[tab](window)
    if tab != "inspector":
        window.locator(f"#frames-{tab}-toggle").click()
    for width, height in [(360, 740), (800, 1000), (1280, 900)]:
        window.set_viewport_size({"width": width, "height": height})
        for scheme in ("light", "dark"):
            window.emulate_media(color_scheme=scheme, reduced_motion="reduce")
            window.screenshot(path=str(tmp_path / f"{tab}-{scheme}-{width}.png"), full_page=True)
            assert_can_be_read(window)
        assert_large_enough(window)
    assert_named(window)
