"""What an operator does in the inspector: signs in, goes to a page, finds a row, confirms an action."""

import time

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


def tab_to(window, locator, presses=120):
    """Moves the focus to an element with the Tab key alone."""
    for _ in range(presses):
        if locator.evaluate("(node) => node === document.activeElement"):
            break
        window.keyboard.press("Tab")
    expect(locator).to_be_focused()


class Night:
    """Counts the steps of an operator, and the seconds from the first look until the fault is mended.

    A step is a press or a text. Waiting for an answer takes seconds, and is no step.
    """

    def __init__(self, window, fleet):
        self.window, self.fleet = window, fleet
        self.steps, self.begun = 0, time.monotonic()

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.begun

    def press(self, locator):
        """Presses a link or a button."""
        locator.click()
        self.steps += 1

    def fill(self, locator, text):
        """Writes a text, and sends it with Enter."""
        locator.fill(text)
        self.window.keyboard.press("Enter")
        self.steps += 1

    def choose(self, locator, value):
        """Chooses an entry of a list."""
        locator.select_option(value)
        self.steps += 1

    def sign_in(self, key=OPERATOR, page=""):
        """Opens the page and shows the key."""
        self.begun = time.monotonic()
        sign_in(self.window, self.fleet, key, page)
        self.steps += 2

    def go(self, name):
        """Goes to a page by the navigation."""
        go(self.window, name)
        self.steps += 1

    def confirm(self, button, done):
        """Says yes to a question, and waits for what was done."""
        confirm(self.window, button, done)
        self.steps += 1

    def answer(self, button):
        """Says yes to a question whose page shows the rest."""
        self.press(self.window.get_by_role("dialog").get_by_role("button", name=button, exact=True))
