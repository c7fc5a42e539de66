"""The map's tab: the own place and its privacy, who comes and goes, the pointer and the keyboard."""

import json

import pytest
from playwright.sync_api import expect

from Fixtures.browser.scripted_gateway import answer_requests
from Fixtures.waiting import eventually

# A tab of the demo's page: it changes seldom, and a browser costs much.
pytestmark = pytest.mark.thorough

MIDDLE = (52.52, 13.405)


def listener(name, distance=120, latitude=MIDDLE[0], track=None, longitude=MIDDLE[1]):
    user = {"id": name, "displayName": name, "spotifyId": None, "currentTrack": track,
            "location": {"latitude": latitude, "longitude": longitude}, "lastUpdated": "2026-11-22T10:00:00.000Z"}
    return {"id": name, "user": user, "distance": distance}


def song(name="Blue", playing=True):
    return {"id": "t", "name": name, "artist": "Us", "duration": 180, "isPlaying": playing}


@pytest.fixture
def live(page, gateway):
    """The page off the map, the requests it makes, and its connection; `answers` may be changed."""
    answers = {"PUT /v1/privacy": (200, {"visible": "everyone", "rounding": 100}),
               "PUT /v1/location": (200, {"nearby": [listener("guest-b")]}),
               "GET /v1/nearby": (200, {"nearby": []}), "DELETE /v1/location": (200, {"deleted": True}),
               "PUT /v1/track": (200, song())}
    asked = answer_requests(page, "**/v1/*", lambda method, path, _: answers[f"{method} {path}"])
    page.goto(gateway.url + "#nearby")
    connection = gateway.connection()
    connection.authenticate()
    connection.accept(1)
    expect(page.locator("#nearby-rounding")).to_have_value("100")
    yield page, connection, asked, answers
    page.tolerated.append("status of 4")


def calls(asked, wanted):
    return [body for method, path, body, _ in asked if f"{method} {path}" == wanted]


def hear(connection, offset, event, data):
    connection.send(event, data, topic="user:guest-a", offset=offset)


def enter(page):
    page.get_by_role("button", name="Go on the map").click()
    expect(page.locator("#nearby-list li")).to_have_count(1)


def row(page):
    return page.locator("#nearby-list li")


def test_the_privacy_is_read_before_anything_is_told(live):
    page, _, asked, _ = live
    assert [(method, path, body) for method, path, body, _ in asked] == [("PUT", "/v1/privacy", {})]
    expect(page.locator("#nearby-own")).to_be_hidden()
    expect(page.locator("#nearby-visible")).to_have_value("everyone")
    expect(page.locator("#nearby-empty")).to_have_text("Go on the map to see who is near.")


def test_going_on_the_map_sends_a_place_and_shows_who_is_near(live):
    page, _, asked, _ = live
    enter(page)
    [place] = calls(asked, "PUT /v1/location")
    assert abs(place["latitude"] - MIDDLE[0]) < 0.01 and abs(place["longitude"] - MIDDLE[1]) < 0.01
    expect(row(page)).to_contain_text("guest-b")
    expect(row(page)).to_contain_text("120 m")
    expect(page.locator("#nearby-own")).to_be_visible()
    expect(page.locator("#nearby-others text")).to_have_text("guest-b")


def test_others_come_move_listen_and_go(live):
    page, connection, _, _ = live
    enter(page)
    hear(connection, 1, "nearby:enter", listener("guest-c", 90))
    expect(row(page).locator(".name")).to_have_text(["guest-c", "guest-b"])
    expect(page.locator("#nearby-news")).to_have_text("guest-c is near")
    hear(connection, 2, "nearby:move", listener("guest-c", 1234, latitude=52.53))
    expect(row(page).locator(".distance")).to_have_text(["120 m", "1.2 km"])
    hear(connection, 3, "nearby:track", {"id": "guest-c", "currentTrack": song()})
    expect(row(page).last).to_contain_text("Blue by Us")
    hear(connection, 4, "nearby:track", {"id": "guest-c", "currentTrack": song(playing=False)})
    expect(row(page).last).to_contain_text("Listens to nothing now")
    hear(connection, 5, "nearby:leave", {"id": "guest-c"})
    expect(row(page).locator(".name")).to_have_text(["guest-b"])
    expect(page.locator("#nearby-news")).to_have_text("guest-c is no longer near")
    expect(page.locator("#nearby-others g")).to_have_count(1)


def test_dragging_sends_the_place_where_it_ends_and_not_more_than_the_rate(live):
    page, _, asked, _ = live
    page.clock.install()
    enter(page)
    box = page.locator("#nearby-map").bounding_box()
    middle = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(*middle)
    page.mouse.down()
    page.mouse.move(middle[0] + box["width"] / 4, middle[1], steps=10)
    page.mouse.up()
    assert len(calls(asked, "PUT /v1/location")) == 1
    page.clock.run_for(6_000)
    expect(page.locator("#nearby-sending")).to_have_text("")
    # The page's requests come in while it is asked something.
    eventually(lambda: page.evaluate("1") and len(calls(asked, "PUT /v1/location")) == 2, 10, "the second place")
    _, sent = calls(asked, "PUT /v1/location")
    # A quarter of the map is 750 m: to the east, since that is where it was dragged.
    assert sent["longitude"] == pytest.approx(MIDDLE[1] + 750 / 111_195 / 0.6086, abs=0.0005)
    assert sent["latitude"] == pytest.approx(MIDDLE[0], abs=0.0005)


def test_the_arrow_keys_move_the_guest(live):
    page, _, asked, _ = live
    page.locator("#nearby-map").focus()
    page.keyboard.press("Shift+ArrowUp")
    expect(row(page)).to_have_count(1)
    [place] = calls(asked, "PUT /v1/location")
    assert place["latitude"] == pytest.approx(MIDDLE[0] + 200 / 111_195, abs=1e-6)
    assert place["longitude"] == pytest.approx(MIDDLE[1], abs=1e-6)


def test_the_privacy_switch_says_what_the_server_took(live):
    page, _, asked, answers = live
    enter(page)
    answers["PUT /v1/privacy"] = (200, {"visible": "nobody", "rounding": 1000})
    page.get_by_label("Who may see you").select_option("nobody")
    expect(page.locator("#nearby-rounding")).to_have_value("1000")
    assert calls(asked, "PUT /v1/privacy")[-1] == {"visible": "nobody", "rounding": 100}
    expect(page.locator("#nearby-own .blur")).to_have_attribute("r", "1000")


def test_a_track_is_told_and_a_refusal_is_shown(live):
    page, _, asked, answers = live
    page.get_by_role("button", name="Play").click()
    expect(page.locator("#nearby-track-problem")).to_have_text("A song needs a name.")
    page.get_by_label("Song").last.fill("Blue")
    page.get_by_label("Artist").last.fill("Us")
    page.get_by_role("button", name="Play").click()
    expect(page.locator("#nearby-own-track")).to_have_text("You listen to Blue")
    assert {"name": "Blue", "artist": "Us", "isPlaying": True}.items() <= calls(asked, "PUT /v1/track")[0].items()
    answers["PUT /v1/track"] = (429, {"error": {"code": "rate_limited", "message": "Too many tracks"}})
    page.get_by_role("button", name="Stop").click()
    expect(page.locator("#nearby-track-problem")).to_have_text("Too many tracks")


def test_leaving_takes_the_place_away(live):
    page, connection, asked, _ = live
    enter(page)
    page.get_by_role("button", name="Leave the map").click()
    expect(page.locator("#nearby-own")).to_be_hidden()
    expect(row(page)).to_have_count(0)
    assert calls(asked, "DELETE /v1/location") == [None]
    assert page.evaluate("sessionStorage.getItem('switchboard.place')") is None


def test_after_a_gap_who_is_near_is_asked_for(live):
    page, connection, _, answers = live
    enter(page)
    answers["GET /v1/nearby"] = (200, {"nearby": [listener("guest-z", 5)]})
    connection.send("gap", {"reason": "missed", "epoch": "e1", "offset": 9}, topic="user:guest-a")
    expect(row(page).locator(".name")).to_have_text(["guest-z"])


def test_a_place_that_has_expired_is_sent_again(live, gateway):
    page, connection, asked, answers = live
    enter(page)
    gone = {"error": {"code": "no_place", "message": "Send a location first"}}
    answers["GET /v1/nearby"] = (404, gone)
    connection.send("gap", {"reason": "missed", "epoch": "e1", "offset": 9}, topic="user:guest-a")
    connection.receive("subscribe")
    expect(row(page)).to_have_count(1)
    page.wait_for_function("() => performance.getEntriesByType('resource').length > 0")
    with page.expect_request(lambda request: request.method == "PUT" and request.url.endswith("/v1/location")):
        connection.send("gap", {"reason": "missed", "epoch": "e1", "offset": 19}, topic="user:guest-a")
    assert len(calls(asked, "PUT /v1/location")) >= 2


def test_markup_and_nonsense_break_nothing(live):
    page, connection, _, _ = live
    enter(page)
    markup = "<img src=x onerror=alert(1)>"
    for event in ("nearby:enter", "nearby:move", "nearby:leave", "nearby:track", markup):
        for data in ({}, {"id": 5}, {"id": "x", "user": 5, "distance": "far"}, json.loads('{"id":"x","user":null}')):
            connection.send(event, data, topic="user:guest-a")
    connection.send("nearby:leave", {"id": "x"}, topic="user:guest-a")
    hear(connection, 1, "nearby:enter", listener(markup, 1))
    expect(row(page).locator(".name").first).to_have_text(markup)
    expect(page.locator("#nearby-others text").last).to_have_text(markup[:23] + "…")
    assert page.locator("#app-nearby img").count() == 0
