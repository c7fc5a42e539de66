"""Nights of an operator, played in the inspector: each begins with a complaint, and ends with the fault mended.

Each prints its steps and seconds (`pytest -s`). The steps are held: a night must not take more of them than it did.
"""

import json

import pytest
from playwright.sync_api import expect

from Fixtures.browser.inspector import Night, row, tab_to
from Fixtures.clients.tokens import SECRET, sign
from Fixtures.processes.fault_proxy import named
from Fixtures.processes.inspected_fleet import OPERATOR, WATCHER
from Fixtures.waiting import eventually


@pytest.fixture
def night(request, window, fleet, capsys, record_property):
    """A night, whose steps and seconds are printed at its end."""
    night = Night(window, fleet)
    yield night
    record_property("steps", night.steps)
    record_property("seconds", round(night.seconds, 1))
    with capsys.disabled():
        print(f"\nnight: {request.node.name}: {night.steps} steps, {night.seconds:.1f} s")


def acted(fleet, *words):
    """The lines of the first gateway's log about an operator's action with these words."""
    lines = [json.loads(line) for line in fleet.gateways[0].log_text.splitlines() if "an operator acted" in line]
    return [line for line in lines if all(word in json.dumps(line) for word in words)]


def test_a_slow_consumer_is_found_and_closed(night, window, fleet):
    """The memory of a gateway grows: who does not read?"""
    slow = fleet.slow_client(1, "slow-sam", "order:77")
    with fleet.gateways[2].http() as http:
        body = {"topic": "order:77", "event": "e", "data": {"pad": "x" * 30_000}}

        def behind():
            assert http.post("/v1/broadcast", json=body).status_code == 200
            return fleet.ask("slow")["sessions"]

        eventually(behind, 30, "bytes that wait")
    night.sign_in()
    night.go("Slow")
    sam = row(window, "slow-sam").first
    expect(sam).to_contain_text("kB")
    night.press(sam.get_by_role("button", name="Close"))
    night.choose(window.get_by_label("Reason"), "policy_violation")
    night.confirm("Close the session", "of slow-sam with policy_violation")
    night.go("Sessions")
    night.fill(window.get_by_role("textbox", name="User"), "slow-sam")
    expect(row(window, "slow-sam", "policy_violation")).to_have_count(1)
    slow.close()
    assert [line["key"] for line in acted(fleet, "/close")] == ["backend"]
    assert night.steps <= 8


def test_a_mute_link_is_seen_red_and_green_again(night, window, fleet):
    """A gateway was taken out of the balancer: which one, and is it back?"""
    night.sign_in()
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
    assert night.steps <= 2


def test_a_dead_letter_is_tried_again_and_another_dropped(night, window, fleet):
    """The kitchen did not get two orders."""
    first, second = fleet.letter("order:21"), fleet.letter("order:22")
    night.sign_in()
    night.go("Receivers")
    night.press(window.get_by_role("link", name="kitchen"))
    expect(row(window, first)).to_contain_text("status 410")
    night.press(row(window, first).get_by_role("button", name="Retry"))
    night.confirm("Retry", "1 letter of webhooks:kitchen will be tried again")
    expect(row(window, first)).to_have_count(0)
    night.press(row(window, second).get_by_role("button", name="Drop"))
    night.confirm("Drop the letter", "1 letter of webhooks:kitchen dropped")
    expect(window.get_by_role("main")).to_contain_text("No letter")
    assert acted(fleet, "/v1/dead-letters/retry", first) and acted(fleet, "DELETE", second)
    assert night.steps <= 8


def test_a_user_is_revoked(night, window, fleet):
    """A phone was stolen."""
    mallory = fleet.client(2, "mallory", "order:5")
    night.sign_in()
    night.go("Sessions")
    night.fill(window.get_by_role("textbox", name="User"), "mallory")
    night.press(row(window, "mallory", "Open").get_by_role("button", name="Revoke"))
    night.confirm("Revoke the user", "revoked mallory")
    expect(row(window, "mallory", "Ended")).to_have_count(1)
    mallory.expect_close(4401, after=("error",))
    assert [line["key"] for line in acted(fleet, "/v1/revocations", "mallory")] == ["backend"]
    assert night.steps <= 6


def test_an_event_is_followed_to_the_phone_that_lost_it(night, window, fleet):
    """Pia was connected, and was not told that her order is ready: she read too slowly and was closed."""
    pia = fleet.slow_client(1, "pia", "order:99")
    fleet.client(0, "ben", "order:99")
    with fleet.gateways[2].http() as http:
        def publish(event, data):
            sent = http.post("/v1/broadcast", json={"topic": "order:99", "event": event, "data": data})
            assert sent.status_code == 200, sent.text
            return sent.json()["offset"]

        def fills(question):
            publish("order:menu", {"pad": "x" * 60_000})
            return [one for one in fleet.ask(question)["sessions"] if one["user"] == "pia" and (
                question == "slow" and one["queuedBytes"] > 0 or one["why"] == "slow_consumer")]

        eventually(lambda: fills("slow"), 30, "bytes that wait")
        lost = publish("order:ready", {"table": 4})
        eventually(lambda: fills("sessions?user=pia"), 30, "the end of the session")
    night.sign_in()
    night.go("Topics")
    night.press(window.get_by_role("link", name="order:99", exact=True))
    tail = window.get_by_role("region", name="Live tail")
    ready = tail.get_by_role("row").filter(has_text="order:ready")
    expect(ready).to_have_count(1)
    night.press(ready.get_by_role("link"))
    expect(window.get_by_role("heading", level=1)).to_have_text(f"Event {lost} of order:99")
    expect(row(window, "ben", "Written to its connection")).to_have_count(1)
    unsent = row(window, "pia", "Not written before the session ended")
    expect(unsent).to_have_count(1)
    # Those that lost it stand first.
    expect(window.get_by_role("table", name="Sessions").get_by_role("row").nth(1)).to_contain_text("pia")
    night.press(unsent.get_by_role("link", name="pia", exact=True))
    expect(window.get_by_role("main")).to_contain_text("The client read too slowly and was closed")
    expect(window.get_by_role("list", name="Sentences")).to_contain_text("was closed with slow_consumer")
    expect(window.get_by_role("table", name="Evidence")).to_be_visible()
    night.press(window.get_by_role("link", name="Sessions of the user"))
    expect(row(window, "pia", "slow_consumer", "order:99")).to_have_count(1)
    pia.close()
    assert night.steps <= 7


def test_a_published_event_is_followed_to_those_who_got_it_and_to_one_without_rights(night, window, fleet):
    """Ann got an order, Zoe did not: Zoe has no right to it."""
    night.sign_in()
    night.go("Topics")
    night.press(window.get_by_role("link", name="order:7", exact=True))
    expect(window.get_by_role("heading", level=1, name="Topic order:7")).to_be_visible()
    tail = window.get_by_role("region", name="Live tail")
    expect(tail).to_contain_text("order:paid")
    window.get_by_label("Event", exact=True).fill("order:ready")
    window.get_by_label("Data").fill("{\"table\": 4")
    night.press(window.get_by_role("button", name="Publish"))
    expect(window.get_by_role("form", name="Publish")).to_contain_text("The data are not JSON")
    window.get_by_label("Data").fill("{\"table\": 4}")
    night.press(window.get_by_role("button", name="Publish"))
    expect(tail).to_contain_text("order:ready")
    night.press(window.get_by_role("link", name="What became of it?"))
    expect(row(window, "ann", "Written to its connection")).to_have_count(1)
    expect(row(window, "bob", "Written to its connection")).to_have_count(1)
    night.press(window.get_by_role("link", name="ann", exact=True))
    expect(window.get_by_role("main")).to_contain_text("It was delivered")
    night.fill(window.get_by_role("textbox", name="User"), "zoe")
    expect(window.get_by_role("main")).to_contain_text("The user has no right to the topic")
    expect(window.get_by_role("table", name="Evidence")).to_be_visible()


def test_a_user_is_revoked_by_keyboard_alone(window, fleet):
    trudy = fleet.client(1, "trudy", "order:6")
    window.goto(fleet.inspector)
    tab_to(window, window.get_by_label("API key"))
    window.keyboard.type(OPERATOR)
    window.keyboard.press("Enter")
    expect(window.get_by_role("navigation", name="Pages")).to_be_visible()
    tab_to(window, window.get_by_role("navigation").get_by_role("link", name="Sessions", exact=True))
    window.keyboard.press("Enter")
    expect(window.get_by_role("heading", level=1, name="Sessions")).to_be_focused()
    tab_to(window, window.get_by_role("textbox", name="User"))
    window.keyboard.type("trudy")
    window.keyboard.press("Enter")
    revoke = row(window, "trudy", "Open").get_by_role("button", name="Revoke")
    expect(revoke).to_have_count(1)
    tab_to(window, revoke)
    window.keyboard.press("Enter")
    yes = window.get_by_role("dialog").get_by_role("button", name="Revoke the user")
    expect(yes).to_be_visible()
    tab_to(window, yes)
    window.keyboard.press("Enter")
    expect(window.locator("#done")).to_contain_text("revoked trudy")
    trudy.expect_close(4401, after=("error",))


def test_the_wire_of_a_client_is_watched(night, window, fleet):
    """Dora's app shows nothing: what does it send, and what does it get?"""
    dora = fleet.client(2, "dora", "order:44")
    night.sign_in(WATCHER, "#/sessions?user=dora")
    night.press(row(window, "dora", "Open").get_by_role("rowheader").get_by_role("link"))
    expect(window.get_by_role("heading", level=1)).to_contain_text("Wire of ")
    night.press(window.get_by_role("button", name="Record…"))
    night.answer("Record")
    recording = window.get_by_role("region", name="Recording")
    expect(recording).to_contain_text("Recording. The newest message stands first.")
    newer = sign(SECRET, "dora", topics=["order:44"], jti="newer")
    dora.send("authenticate", {"token": newer}, ref=5)
    fleet.gateways[0].publish("order:44", "order:ready", {"table": 4})
    messages = window.get_by_role("table", name="Messages")
    expect(messages.get_by_role("row").filter(has_text="order:ready")).to_contain_text("to the client")
    shown = messages.get_by_role("row").filter(has_text='"authenticate"')
    expect(shown).to_contain_text("from the client")
    expect(shown).to_contain_text('"token": "***"')
    assert newer not in messages.text_content()
    night.press(window.get_by_role("button", name="Stop"))
    expect(recording).to_contain_text("You have ended it.")
    expect(window.get_by_role("button", name="Record…")).to_be_focused()
    lines = [json.loads(line) for line in fleet.gateways[2].log_text.splitlines() if "tap" in line and "dora" in line]
    assert [(line["key"], line["user"]) for line in lines] == [("watcher", "dora")] * 2
    assert night.steps <= 6


def test_a_key_without_the_right_tap_records_nothing(window, fleet):
    session = fleet.ask("sessions?user=ann")["sessions"][0]["id"]
    window.tolerated.append("403 (Forbidden)")
    night = Night(window, fleet)
    night.sign_in(page=f"#/wire?session={session}")
    night.press(window.get_by_role("button", name="Record…"))
    window.get_by_role("dialog").get_by_role("button", name="Record", exact=True).click()
    expect(window.get_by_role("dialog").get_by_role("alert")).to_contain_text("this API key may not tap")
