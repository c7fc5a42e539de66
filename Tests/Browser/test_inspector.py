"""The operator's page in Chromium, on three gateways, two workers and a courier: every page, by keyboard as well."""

import re
import signal

import pytest
from playwright.sync_api import expect

from Fixtures.browser.inspector import go, row, sign_in
from Fixtures.browser.looks import assert_can_be_read_in_both_schemes, assert_named
from Fixtures.processes.inspected_fleet import OPERATOR, READER
from Fixtures.waiting import eventually

#: Every page of the navigation, and a heading or a figure that shows that its answer has come.
PAGES = {
    "Fleet": "Gateways", "Readiness": "every promise holds", "Last 15 minutes": "Connections",
    "Headroom": "descriptors",
    "Sessions": "match", "Slow": "No client is behind", "Talkers": "Redis's time",
    "Wire": "Choose a session", "Topics": "on all shards",
    "Event": "Offset", "Why not?": "Offset of the event", "Redis": "Would its data survive", "Outbox": "No lane has",
    "Workers": "Partitions", "Receivers": "kitchen", "Dead letters": "webhooks:kitchen", "Commands": "create_booking",
}


def test_the_key_is_kept_by_the_tab_alone_and_no_request_leaves_the_origin(window, fleet):
    window.goto(fleet.inspector)
    window.tolerated.append("401 (Unauthorized)")
    window.get_by_label("API key").fill("wrong-key-0123456789abcdef")
    window.keyboard.press("Enter")
    expect(window.get_by_role("alert")).to_have_text("The gateway does not know this key.")
    expect(window.get_by_label("API key")).to_be_focused()
    window.get_by_label("API key").fill(READER)
    window.keyboard.press("Enter")
    expect(row(window, "gateway")).to_have_count(3)
    expect(row(window, "worker")).to_have_count(2)
    expect(row(window, "courier")).to_have_count(1)
    for name in PAGES:
        go(window, name)
    origin = fleet.inspector.removesuffix("/inspector")
    assert len(window.requests) > 20
    for request in window.requests:
        assert request.url.startswith(origin + "/") and READER not in request.url, request.url
    kept = window.evaluate("[document.cookie, Object.keys(localStorage), Object.values(sessionStorage)]")
    assert kept == ["", [], [READER]] and READER not in window.url
    window.reload()
    expect(window.get_by_role("heading", level=1, name="Commands")).to_be_visible()
    window.get_by_role("button", name="Sign out").click()
    assert window.evaluate("sessionStorage.length") == 0
    window.reload()
    expect(window.get_by_label("API key")).to_be_visible()
    expect(window.get_by_role("navigation")).to_be_hidden()


def test_every_page_is_reached_and_read_by_keyboard_alone(window, fleet):
    window.goto(fleet.inspector)
    window.keyboard.press("Tab")
    expect(window.get_by_role("link", name="Skip to the page")).to_be_focused()
    for _ in range(10):
        if window.evaluate("document.activeElement.id") == "key":
            break
        window.keyboard.press("Tab")
    window.keyboard.type(OPERATOR)
    window.keyboard.press("Enter")
    expect(window.get_by_role("navigation", name="Pages")).to_be_visible()
    for name, sign in PAGES.items():
        link = window.get_by_role("navigation").get_by_role("link", name=name, exact=True)
        for _ in range(80):
            if link.evaluate("(link) => link === document.activeElement"):
                break
            window.keyboard.press("Shift+Tab" if name != "Fleet" else "Tab")
        expect(link).to_be_focused()
        window.keyboard.press("Enter")
        expect(window.get_by_role("heading", level=1, name=name)).to_be_focused()
        expect(window.get_by_role("main")).to_contain_text(sign)
        expect(window.locator("#pulse")).to_have_attribute("data-state", "live" if name not in (
            "Event", "Why not?", "Wire", "Last 15 minutes") else re.compile("."))
        expect(window.locator("#problem")).to_be_hidden()
        expect(window.locator("#unanswered")).to_be_hidden()
        # Everything that acts can be reached, and shows that it was.
        window.keyboard.press("Tab")
        assert window.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"


def test_a_question_keeps_the_focus_and_gives_it_back(window, fleet):
    sign_in(window, fleet, page="#/sessions?user=ann")
    button = window.get_by_role("button", name="Close session")
    button.focus()
    window.keyboard.press("Enter")
    dialog = window.get_by_role("dialog")
    expect(dialog).to_contain_text("It belongs to ann")
    for _ in range(8):
        window.keyboard.press("Tab")
        assert window.evaluate("document.activeElement === document.body || !!document.activeElement.closest('dialog')")
    window.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(button).to_be_focused()
    # A question belongs to its page.
    window.keyboard.press("Enter")
    expect(dialog).to_be_visible()
    window.goto(f"{fleet.inspector}#/slow")
    expect(dialog).to_have_count(0)
    window.goto(f"{fleet.inspector}#/sessions?user=ann")
    button.focus()
    # Rows are drawn anew every second: the focus stays.
    asked = len(window.requests)
    eventually(lambda: window.wait_for_timeout(200) or len(window.requests) > asked + 2, 20, "two more answers")
    expect(button).to_be_focused()


def test_a_key_that_may_read_cannot_write(window, fleet):
    window.tolerated.append("403 (Forbidden)")
    sign_in(window, fleet, READER, "#/sessions?user=ann")
    window.get_by_role("button", name="Close session").click()
    window.get_by_role("dialog").get_by_role("button", name="Close the session").click()
    expect(window.get_by_role("dialog").get_by_role("alert")).to_contain_text("this API key may not write")
    window.keyboard.press("Escape")
    assert fleet.ask("sessions?user=ann")["sessions"][0]["closed"] is None


def test_the_gateway_that_does_not_answer_is_named(window, fleet):
    sign_in(window, fleet)
    third = fleet.gateways[2]
    with third.http() as http:
        node = http.get("/v1/health").json()["node"]
    third.signal(signal.SIGSTOP)
    try:
        expect(window.locator("#unanswered")).to_contain_text(node)
    finally:
        third.signal(signal.SIGCONT)
    expect(window.locator("#unanswered")).to_be_hidden()


def test_a_large_fleet_is_shown_in_part_and_can_be_searched(window, fleet):
    """The gateways send at most 500 rows, whatever there is; all of them change every second."""
    asked = []

    def answer(route):
        asked.append(route.request.url)
        rows = [{"id": f"node.0.{number}", "user": f"user-{number}", "key": None, "node": "node",
                 "address": "192.0.2.7", "dialect": "native", "since": "2026-11-26T09:12:44.120Z", "topicCount": 40,
                 "topics": [f"shop:{number}-{topic}" for topic in range(32)], "closed": None, "why": None,
                 "queuedBytes": 10 * number + len(asked), "waitingMs": 12} for number in range(500, 0, -1)]
        route.fulfill(json={"sessions": rows, "total": 20_000, "truncated": True,
                            "unanswered": ["gone"],
                            "reasons": [{"node": "gone", "reason": "no_answer"}]})

    window.route("**/v1/sessions?*", answer)
    sign_in(window, fleet, page="#/sessions?limit=500")
    expect(window.get_by_role("main")).to_contain_text("20,000 sessions match; shown are 500 open")
    expect(window.locator("#unanswered")).to_contain_text("gone: no answer")
    expect(window.locator("#unanswered")).to_contain_text("those of a gateway did not fit into a message")
    button = window.get_by_role("button", name="Close session node.0.7", exact=True)
    button.focus()
    count = len(asked)
    eventually(lambda: window.wait_for_timeout(200) or len(asked) > count + 1, 20, "new figures")
    expect(button).to_be_focused()
    window.keyboard.press("Enter")
    expect(window.get_by_role("dialog")).to_contain_text("It belongs to user-7")
    window.keyboard.press("Escape")
    window.get_by_role("textbox", name="User").fill("user-9")
    window.keyboard.press("Enter")
    eventually(lambda: window.wait_for_timeout(50) or "user=user-9" in asked[-1], 10, "the search")


def test_a_command_is_called_by_its_form(window, fleet):
    sign_in(window, fleet)
    go(window, "Commands")
    window.get_by_label("Find").fill("queue")
    window.keyboard.press("Enter")
    window.get_by_role("link", name="queue", exact=True).click()
    window.get_by_label("shopId", exact=True).fill("42")
    window.get_by_role("button", name="Call queue").click()
    expect(window.get_by_label("Answer")).to_contain_text('"queueLength": 0')

# Looks

SIZES = [(360, 740), (900, 1100), (1440, 900)]


def test_the_navigation_of_a_phone_is_scrolled_to_the_page_that_is_open(window, fleet):
    window.set_viewport_size({"width": 360, "height": 740})
    sign_in(window, fleet, page="#/commands")
    links = window.get_by_role("navigation").get_by_role("link")
    expect(links.last).to_have_text("Commands")
    expect(links.last).to_be_in_viewport(ratio=1)
    expect(links.first).not_to_be_in_viewport()
    go(window, "Dead letters")
    window.goto(f"{fleet.inspector}#/fleet")
    expect(links.first).to_be_in_viewport(ratio=1)


@pytest.mark.thorough
def test_every_page_can_be_read_in_three_sizes_and_two_schemes(window, fleet, tmp_path):
    window.emulate_media(reduced_motion="reduce")
    sign_in(window, fleet)
    pages = ["fleet", "health", "charts", "headroom", "sessions", "slow", "talkers?by=key", "wire",
             "topics", "topic?topic=order:7", "trace?topic=order:7&offset=1", "why?user=ann&topic=order:7&offset=1",
             "redis",
             "outbox", "workers", "receivers", "dead?service=webhooks:kitchen", "commands",
             "commands?name=create_booking"]
    for page in pages:
        window.goto(f"{fleet.inspector}#/{page}")
        expect(window.locator("#content :is(.table, .card, form):visible").first).to_be_visible()
        assert_named(window)
        for width, height in SIZES:
            window.set_viewport_size({"width": width, "height": height})
            assert_can_be_read_in_both_schemes(window, tmp_path / f"{page.split('?')[0]}-{width}")
