"""Nights of an operator, played in the inspector: each begins with what was told, and ends with the fault mended."""

from playwright.sync_api import expect

from Fixtures.browser.inspector import confirm, go, row, sign_in
from Fixtures.processes.fault_proxy import named
from Fixtures.waiting import eventually


def test_a_slow_consumer_is_found_and_closed(window, fleet):
    slow = fleet.slow_client(1, "slow-sam", "order:77")
    with fleet.gateways[2].http() as http:
        body = {"topic": "order:77", "event": "e", "data": {"pad": "x" * 30_000}}

        def behind():
            assert http.post("/v1/broadcast", json=body).status_code == 200
            return fleet.ask("slow")["sessions"]

        eventually(behind, 30, "bytes that wait")
    sign_in(window, fleet)
    go(window, "Slow")
    sam = row(window, "slow-sam").first
    expect(sam).to_contain_text("kB")
    sam.get_by_role("button", name="Close").click()
    window.get_by_label("Reason").select_option("policy_violation")
    confirm(window, "Close the session", "of slow-sam with policy_violation")
    go(window, "Sessions")
    window.get_by_role("textbox", name="User").fill("slow-sam")
    window.keyboard.press("Enter")
    expect(row(window, "slow-sam", "policy_violation")).to_have_count(1)
    slow.close()
    lines = [line for line in fleet.gateways[0].log_text.splitlines() if "an operator acted" in line]
    assert any('"key":"backend"' in line and "/close" in line for line in lines)


def test_a_mute_link_is_seen_red_and_green_again(window, fleet):
    sign_in(window, fleet)
    ready = window.get_by_role("row").filter(has=window.get_by_text("Ready", exact=True))
    expect(ready).to_have_count(3)
    fleet.proxy.drop_to_client(named("-shard-1-subscriber"))
    try:
        expect(row(window, "gateway", "Not ready: redis")).to_have_count(1)
        # What is wrong stands first.
        expect(window.get_by_role("row").nth(1)).to_contain_text("Not ready: redis")
    finally:
        fleet.proxy.heal()
    expect(ready).to_have_count(3)


def test_a_dead_letter_is_tried_again_and_another_dropped(window, fleet):
    first, second = fleet.letter("order:21"), fleet.letter("order:22")
    sign_in(window, fleet)
    go(window, "Receivers")
    window.get_by_role("link", name="kitchen").click()
    expect(row(window, first)).to_contain_text("status 410")
    row(window, first).get_by_role("button", name="Retry").click()
    confirm(window, "Retry", "1 letter of webhooks:kitchen will be tried again")
    expect(row(window, first)).to_have_count(0)
    row(window, second).get_by_role("button", name="Drop").click()
    confirm(window, "Drop the letter", "1 letter of webhooks:kitchen dropped")
    expect(window.get_by_role("main")).to_contain_text("No letter")


def test_a_user_is_revoked(window, fleet):
    mallory = fleet.client(2, "mallory", "order:5")
    sign_in(window, fleet, page="#/sessions?user=mallory")
    row(window, "mallory", "Open").get_by_role("button", name="Revoke").click()
    confirm(window, "Revoke the user", "revoked mallory")
    expect(row(window, "mallory", "Ended")).to_have_count(1)
    mallory.expect_close(4401, after=("error",))


def test_an_event_is_published_and_followed_to_the_phone_that_did_not_get_it(window, fleet):
    sign_in(window, fleet)
    go(window, "Topics")
    window.get_by_role("link", name="order:7", exact=True).click()
    expect(window.get_by_role("heading", level=1, name="Topic order:7")).to_be_visible()
    tail = window.get_by_role("region", name="Live tail")
    expect(tail).to_contain_text("order:paid")
    window.get_by_label("Event", exact=True).fill("order:ready")
    window.get_by_label("Data").fill("{\"table\": 4")
    window.get_by_role("button", name="Publish").click()
    expect(window.get_by_role("form", name="Publish")).to_contain_text("The data are not JSON")
    window.get_by_label("Data").fill("{\"table\": 4}")
    window.get_by_role("button", name="Publish").click()
    expect(tail).to_contain_text("order:ready")
    window.get_by_role("link", name="What became of it?").click()
    expect(row(window, "ann", "Written to its connection")).to_have_count(1)
    expect(row(window, "bob", "Written to its connection")).to_have_count(1)
    window.get_by_role("link", name="ann", exact=True).click()
    expect(window.get_by_role("main")).to_contain_text("It was delivered")
    window.get_by_role("textbox", name="User").fill("zoe")
    window.get_by_role("button", name="Ask").click()
    expect(window.get_by_role("main")).to_contain_text("The user has no right to the topic")
    expect(window.get_by_role("table", name="Evidence")).to_be_visible()
