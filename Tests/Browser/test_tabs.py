"""The tabs: one app at a time, by mouse, keyboard and address; none speaks to the gateway before it is shown."""

import pytest
from playwright.sync_api import expect

from Fixtures.browser.shop_states import BOARD, MUSIC, STATUS

STATES = {"shop:demo": STATUS, "dj:demo": MUSIC, "challenge:demo": BOARD}


@pytest.fixture(autouse=True)
def http(page):
    """Apps that the keys pass ask by HTTP: each is answered that nothing is there yet."""
    for path in ("**/v1/**", "**/demo/order", "**/demo/inspector"):
        page.route(path, lambda route: route.fulfill(json={}))


def test_an_app_is_opened_by_its_tab_and_by_its_address(page, gateway):
    page.goto(gateway.url + "#orders")
    connection = gateway.connection()
    connection.authenticate()
    gateway.channel().accept()
    expect(page.get_by_role("heading", level=1)).to_have_text("Orders")
    expect(page).to_have_title("Orders, live: Switchboard")
    expect(page.get_by_role("tab", name="Orders", selected=True)).to_have_count(1)
    expect(page.get_by_role("tabpanel")).to_have_count(1)
    page.get_by_role("tab", name="Shop").click()
    # The shop begins only now, and its topics are asked for only now.
    connection.accept(4, states=STATES)
    expect(page.get_by_role("heading", level=1)).to_have_text("The Cut Club")
    expect(page.locator("#tracks .name")).to_have_count(3)
    expect(page.locator("#guest-name")).to_have_text("guest-a")
    page.go_back()
    expect(page.get_by_role("tabpanel", name="Orders")).to_be_visible()


def test_a_tab_that_is_not_shown_asks_for_nothing(page, gateway):
    page.goto(gateway.url)
    connection = gateway.connection()
    connection.authenticate()
    assert set(connection.accept(4, states=STATES)) == {"shop:demo", "dj:demo", "challenge:demo", "user:guest-a"}
    expect(page.locator("#tracks .name")).to_have_count(3)
    assert gateway.sockets_waiting() == 0


def test_arrows_go_from_tab_to_tab_and_the_skip_link_leads_into_the_app(page, gateway):
    page.goto(gateway.url)
    gateway.connection().authenticate()
    page.get_by_role("tab", selected=True).focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("tab").nth(1)).to_be_focused()
    expect(page.get_by_role("tab").nth(1)).to_have_attribute("aria-selected", "true")
    page.keyboard.press("End")
    expect(page.get_by_role("tab").last).to_be_focused()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("tab", name="Shop", selected=True)).to_be_focused()
    page.keyboard.press("Shift+Tab")
    expect(page.get_by_role("link", name="Skip to the shop")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#main")).to_be_focused()
    expect(page.get_by_role("tabpanel", name="Shop")).to_be_visible()
