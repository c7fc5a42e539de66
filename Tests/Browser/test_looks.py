"""Whether everybody can use the page: any screen, any colours, a keyboard, a screen reader, no motion."""

import pytest
from playwright.sync_api import expect

from Fixtures.browser.looks import assert_can_be_read, assert_large_enough, assert_named, assert_nothing_cut, pictured
from Fixtures.browser.shop_states import BOARD, MUSIC, STATUS, track

# A tab of the demo's page: it changes seldom, and a browser costs much.
pytestmark = pytest.mark.thorough

LONG = track("t9", "A title that goes on and on " * 4, 1, 4, artistName="Unbreakable" * 12, addedBy="guest-abcdefghij")
STATES = {"shop:demo": STATUS, "dj:demo": MUSIC | {"queue": [*MUSIC["queue"], LONG]}, "challenge:demo": BOARD}

def show(page, gateway):
    """The page with something in every place."""
    page.goto(gateway.url)
    connection = gateway.connection()
    connection.authenticate()
    connection.accept(4, states=STATES)
    connection.answer("my_votes", {"votes": {"t1": "up", "t2": "down"}})
    connection.answer("roster", {"count": 2})
    connection.answer("rank", {"rank": 2, "score": 75})
    connection.send("demo:clock", {"day": "Wednesday", "time": "14:35", "isOpen": True}, topic="shop:demo", offset=1)
    connection.send("gap", {"reason": "missed"}, topic="challenge:demo")
    connection.send("booking:status_change", {"bookingId": "b", "status": "confirmed"}, topic="user:guest-a", offset=1)
    connection.send("notification", {"title": "Title", "body": "body " * 40}, topic="user:guest-a", offset=2)
    page.get_by_role("button", name="Vote up: Three").click()
    connection.answer("vote", ("not_present", "Must be at shop to vote"))
    expect(page.locator("#tracks .error", has_text="Must be")).to_be_visible()
    expect(page.locator("#notices li")).to_have_count(1)
    return connection


def test_the_page_fits_its_screen_and_can_be_read(page, gateway, tmp_path):
    # Without motion no colour is on its way to another when it is measured.
    page.emulate_media(reduced_motion="reduce")
    show(page, gateway)
    for width, height in [(320, 640), (360, 740), (390, 844), (820, 1100), (1280, 900)]:
        page.set_viewport_size({"width": width, "height": height})
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
            with pictured(page, tmp_path / f"page-{scheme}-{width}.png"):
                assert_can_be_read(page)


def test_what_is_pressed_is_large_enough(page, gateway):
    page.set_viewport_size({"width": 320, "height": 640})
    show(page, gateway)
    assert_large_enough(page)
    assert_nothing_cut(page)


def test_every_control_has_a_name_and_every_region_a_heading(page, gateway):
    show(page, gateway)
    assert_named(page)
    for name in ("You", "Queue", "Your chair", "Music", "Leaderboard", "Just now"):
        region = page.get_by_role("region", name=name, exact=True)
        expect(region).to_have_count(1)
        expect(region.get_by_role("heading", level=2)).to_have_count(1)
    expect(page.get_by_role("heading", level=1)).to_have_count(1)
    for landmark in ("banner", "main", "contentinfo"):
        expect(page.get_by_role(landmark)).to_have_count(1)
    pressed = page.get_by_role("button", name="Vote up: One", pressed=True)
    expect(pressed).to_have_count(1)


def test_the_keyboard_reaches_everything_in_the_order_of_the_page(page, gateway):
    show(page, gateway)
    # A click says where the keyboard goes on from: behind the skip link.
    page.get_by_role("heading", level=1).click()
    page.keyboard.press("Shift+Tab")
    expect(page.get_by_role("link", name="Skip to the shop")).to_be_focused()
    page.keyboard.press("Enter")
    seen = []
    for _ in range(40):
        page.keyboard.press("Tab")
        seen.append(page.evaluate("document.activeElement.getAttribute('aria-label') || document.activeElement.id"))
        if seen[-1] == "activity-list":
            break
    votes = [f"Vote {way}: {name}" for name in ("One", "Two", "Three", LONG["trackName"]) for way in ("up", "down")]
    assert seen == ["presence", "book", "follow", *votes, "track-name", "track-artist", "track-submit", "activity-list"]


def test_focus_is_visible(page, gateway):
    show(page, gateway)
    page.get_by_role("button", name="Vote up: One").focus()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Tab")
    style = page.evaluate("(({ outlineStyle, outlineWidth }) => [outlineStyle, outlineWidth])"
                          "(getComputedStyle(document.activeElement))")
    assert style == ["solid", "3px"]


@pytest.mark.parametrize("motion", ["reduce", "no-preference"])
def test_rows_glide_only_where_motion_is_welcome(page, gateway, motion):
    page.emulate_media(reduced_motion=motion)
    connection = show(page, gateway)
    page.evaluate("""() => {
        window.glides = 0;
        const animate = Element.prototype.animate;
        Element.prototype.animate = function (...rest) { window.glides += 1; return animate.apply(this, rest); };
    }""")
    standing = {"trackId": "t2", "upvotes": 9, "downvotes": 0, "score": 9, "position": 1}
    connection.send("queue:update", standing, topic="dj:demo", offset=1)
    expect(page.locator("#tracks .name").first).to_have_text("Two")
    assert page.evaluate("window.glides") == (0 if motion == "reduce" else 2)


def test_what_changes_is_announced_without_a_flood(page, gateway):
    connection = show(page, gateway)
    expect(page.locator("#announcement")).not_to_be_empty()
    page.evaluate("""() => {
        window.announcements = 0;
        new MutationObserver(() => { window.announcements += 1; })
            .observe(document.getElementById('announcement'), { childList: true });
    }""")
    for offset in range(2, 52):
        connection.send(f"tick{offset}", topic="shop:demo", offset=offset)
    expect(page.locator("#activity-list li").first).to_contain_text("tick51")
    assert page.evaluate("window.announcements") <= 1
