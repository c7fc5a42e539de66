"""What an operator does in the inspector: signs in, goes to a page, finds a row, confirms an action."""

from playwright.sync_api import expect

from Fixtures.processes.inspected_fleet import OPERATOR

WAIT_MS = 20_000


def sign_in(window, fleet, key=OPERATOR, page=""):
    window.goto(fleet.inspector + page)
    window.get_by_label("API key").fill(key)
    window.keyboard.press("Enter")
    expect(window.get_by_role("navigation", name="Pages")).to_be_visible()


def go(window, name):
    """A page by its link."""
    window.get_by_role("navigation").get_by_role("link", name=name, exact=True).click()
    expect(window.get_by_role("heading", level=1, name=name)).to_be_visible()


def row(window, *words):
    """The row of a table that has all of these words."""
    found = window.get_by_role("row")
    for word in words:
        found = found.filter(has_text=word)
    return found


def confirm(window, button, done):
    """Says yes to the question, and waits for what was done."""
    window.get_by_role("dialog").get_by_role("button", name=button, exact=True).click()
    expect(window.locator("#done")).to_contain_text(done)
