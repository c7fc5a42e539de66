"""What the page does with a server that follows a script: votes, resuming, gaps, duplicates, refusals, hostile data."""

import re

import pytest
from playwright.sync_api import expect

from Fixtures.browser.scripted_gateway import ScriptedGateway
from Fixtures.browser.shop_states import BOARD, MUSIC, STATUS, track

PUBLIC = {"shop:demo", "dj:demo", "challenge:demo"}
STATES = {"shop:demo": STATUS, "dj:demo": MUSIC, "challenge:demo": BOARD}


@pytest.fixture
def gateway():
    gateway = ScriptedGateway(["guest-a", "guest-b", "guest-c"])
    yield gateway
    gateway.close()


@pytest.fixture
def live(page, gateway):
    """The page of a guest who is at the shop, and the server's side of its connection."""
    return open_page(page, gateway)


def open_page(page, gateway):
    page.goto(gateway.url)
    connection = gateway.connection()
    greet(connection)
    expect(page.locator("#connection-text")).to_have_text("Live")
    expect(page.locator("#presence-state")).to_have_text("You are at the shop")
    return page, connection


def greet(connection, user="guest-a", present=True, votes=None):
    assert connection.authenticate() == f"token-of-{user}"
    requests = connection.accept(len(PUBLIC) + 1, states=STATES)
    assert set(requests) == PUBLIC | {f"user:{user}"}
    connection.answer("my_votes", {"votes": votes or {}})
    connection.answer("roster", {"count": 1} if present else ("forbidden", "Only who is at the shop may see"))
    connection.answer("rank", {"rank": -1, "score": None})


def names(page):
    return page.locator("#tracks .name").all_text_contents()


def scores(page):
    return page.locator("#tracks .score").all_text_contents()


def happenings(page):
    """What just happened, newest first; it is drawn with the next frame, so it is to be waited for."""
    return page.locator("#activity-list .what")


def vote_button(page, direction, name):
    return page.get_by_role("button", name=f"Vote {direction}: {name}")


# The queue and the leaderboard.

def test_the_state_fills_every_panel(live):
    page, _ = live
    expect(page.locator("#queue-wait")).to_have_text("26")
    expect(page.locator("#queue-range")).to_have_text("Likely 26 to 48 min")
    expect(page.locator("#queue-waiting")).to_have_text("4")
    expect(page.locator("#queue-barbers")).to_have_text("3")
    expect(page.locator("#queue-card")).to_have_text("10 min")
    expect(page.locator("#playing-name")).to_have_text("Opener")
    assert names(page) == ["One", "Two", "Three"]
    assert scores(page) == ["+3", "+2", "0"]
    assert page.locator("#leaderboard-list .name").all_text_contents() == ["Maya", "Omar"]


def test_updates_of_the_shop_are_shown(live):
    page, connection = live
    told = STATUS | {"queueLength": 7, "avgWaitTime": 61, "estimate": None}
    connection.send("queue:update", told, topic="shop:demo", offset=1)
    connection.send("presence:update", {"shopId": "demo", "count": 9}, topic="shop:demo", offset=2)
    connection.send("demo:clock", {"day": "Tuesday", "time": "14:35", "isOpen": True}, topic="shop:demo", offset=3)
    expect(page.locator("#clock")).to_have_text("Tuesday 14:35 · open")
    expect(page.locator("#queue-wait")).to_have_text("61")
    expect(page.locator("#queue-card")).to_have_text("14 min")
    expect(page.locator("#queue-range")).to_be_hidden()
    expect(page.locator("#queue-present")).to_have_text("9")
    expect(happenings(page)).to_have_text(["7 people waiting, 61 min"])


@pytest.mark.parametrize("p50, p90, wait, span", [
    (53, 66, "53", "Likely 53 to 66 min"), (52.6, 66.4, "53", "Likely 53 to 66 min"), (12, 12.2, "12", None),
    (9, 3, "40", None), (None, 3, "40", None)])
def test_the_wait_is_one_number_with_its_range(live, p50, p90, wait, span):
    """The page said "40 min wait" by the formula and, beside it, "Likely 53 to 66 min" by the estimate."""
    page, connection = live
    estimate = {"minutes": 60, "p50": p50, "p90": p90, "blackCard": {"p50": 4, "p90": 9}}
    told = STATUS | {"queueLength": 5, "avgWaitTime": 40, "estimate": estimate}
    connection.send("queue:update", told, topic="shop:demo", offset=1)
    expect(page.locator("#queue-wait")).to_have_text(wait)
    expect(page.locator("#queue-card")).to_have_text("4 min")
    if span is None:
        expect(page.locator("#queue-range")).to_be_hidden()
    else:
        expect(page.locator("#queue-range")).to_have_text(span)
    expect(happenings(page)).to_have_text([f"5 people waiting, {wait} min"])


def test_a_shop_without_barbers_says_so_instead_of_no_wait(live):
    page, connection = live
    connection.send("queue:update", STATUS | {"avgWaitTime": 0, "currentlyServing": 0}, topic="shop:demo", offset=1)
    expect(page.locator("#queue-unit")).to_have_text("Nobody is cutting now")
    expect(page.locator("#queue-wait")).to_be_hidden()
    expect(page.locator("#queue-range")).to_be_hidden()


def test_the_leaderboard_follows_moves_and_the_own_rank(live):
    page, connection = live
    moves = [{"userId": "omar", "rank": 1, "score": 90}, {"userId": "guest-a", "rank": 2, "score": 85},
             {"userId": "maya", "rank": 3, "score": 80}]
    connection.send("leaderboard:moves", {"moves": moves, "left": []}, topic="challenge:demo", offset=1)
    places = page.locator("#leaderboard-list .name")
    expect(places).to_have_text(["Omar", "You", "Maya"])
    expect(page.locator("#leaderboard-own")).to_have_text("You are number 2 with 85 points.")
    connection.send("leaderboard:moves", {"moves": [], "left": ["maya"]}, topic="challenge:demo", offset=2)
    expect(places).to_have_text(["Omar", "You"])
    own = {"challengeId": "demo", "rank": 12, "score": 85}
    connection.send("leaderboard:update", own, topic="user:guest-a", offset=1)
    expect(page.locator("#leaderboard-own")).to_have_text("You are number 12 with 85 points.")


def test_only_the_first_ten_are_shown(live):
    page, connection = live
    moves = [{"userId": f"u{rank}", "rank": rank, "score": 1000 - rank} for rank in range(1, 101)]
    connection.send("leaderboard:moves", {"moves": moves, "left": ["maya", "omar"]}, topic="challenge:demo", offset=1)
    expect(page.locator("#leaderboard-list li")).to_have_count(10)
    expect(page.locator("#leaderboard-list .name").last).to_have_text("u10")


# The music.

def test_a_vote_is_shown_at_once_and_corrected_by_the_update(live):
    page, connection = live
    vote_button(page, "up", "Two").click()
    expect(vote_button(page, "up", "Two")).to_have_attribute("aria-pressed", "true")
    assert scores(page) == ["+3", "+3", "0"]
    call = connection.receive("vote")
    assert call["data"] == {"shopId": "demo", "trackId": "t2", "vote": "up"}
    standing = {"trackId": "t2", "upvotes": 6, "downvotes": 0, "score": 6, "position": 1}
    connection.send("ack", standing, ref=call["ref"])
    connection.send("queue:update", standing, topic="dj:demo", offset=1)
    expect(page.locator("#tracks .name")).to_have_text(["Two", "One", "Three"])
    assert scores(page) == ["+6", "+3", "0"]
    expect(vote_button(page, "up", "Two")).to_have_attribute("aria-pressed", "true")


@pytest.mark.parametrize("order", ["ack first", "update first"])
def test_an_own_vote_is_counted_once_whatever_comes_first(live, order):
    page, connection = live
    vote_button(page, "up", "Three").click()
    call = connection.receive("vote")
    standing = {"trackId": "t3", "upvotes": 2, "downvotes": 1, "score": 1, "position": 3}
    if order == "ack first":
        connection.send("ack", standing, ref=call["ref"])
    connection.send("queue:update", standing, topic="dj:demo", offset=1)
    if order == "update first":
        connection.send("ack", standing, ref=call["ref"])
    connection.send("queue:update", {"trackId": "t1", "upvotes": 9, "downvotes": 0, "score": 9, "position": 1},
                    topic="dj:demo", offset=2)
    expect(page.locator("#tracks .score").first).to_have_text("+9")
    assert scores(page) == ["+9", "+2", "+1"]


def test_a_vote_is_changed_and_withdrawn(live):
    page, connection = live
    for button, vote, score in [("up", "up", 3), ("down", "down", 1), ("down", "none", 2)]:
        vote_button(page, button, "Two").click()
        call = connection.receive("vote")
        assert call["data"]["vote"] == vote
        expect(page.locator("#tracks li", has_text="Two").locator(".score")).to_have_text(f"+{score}")
        # One vote waits for the answer to the other, so none overtakes another on its way.
        standing = {"trackId": "t2", "upvotes": score, "downvotes": 0, "score": score, "position": 2}
        connection.send("ack", standing, ref=call["ref"])


def test_a_refused_vote_is_taken_back_and_says_why_in_its_row(live):
    page, connection = live
    vote_button(page, "up", "Two").click()
    connection.answer("vote", ("not_present", "Must be at shop to vote"))
    row = page.locator("#tracks li", has_text="Two")
    expect(row.get_by_role("alert")).to_have_text("Must be at shop to vote")
    expect(vote_button(page, "up", "Two")).to_have_attribute("aria-pressed", "false")
    assert scores(page) == ["+3", "+2", "0"]


def test_focus_stays_on_the_pressed_button_when_its_row_moves(live):
    page, connection = live
    button = vote_button(page, "up", "Three")
    button.focus()
    lost = "document.addEventListener('focusout', () => { window.lostFocus = true; })"
    page.evaluate(lost)
    page.keyboard.press("Space")
    connection.receive("vote")
    standing = {"trackId": "t3", "upvotes": 9, "downvotes": 1, "score": 8, "position": 1}
    connection.send("queue:update", standing, topic="dj:demo", offset=1)
    expect(page.locator("#tracks .name")).to_have_text(["Three", "One", "Two"])
    expect(button).to_be_focused()
    assert page.evaluate("window.lostFocus") is None, "the button was moved, not the rows around it"


def test_tracks_come_play_and_go(live):
    page, connection = live
    connection.send("track:added", track("t4", "Four", 1, position=3, addedBy="guest-a"), topic="dj:demo", offset=1)
    expect(page.locator("#tracks .name")).to_have_text(["One", "Two", "Four", "Three"])
    expect(vote_button(page, "up", "Four")).to_have_attribute("aria-pressed", "true")
    connection.send("track:playing", track("t1", "One", 3), topic="dj:demo", offset=2)
    connection.send("track:removed", {"trackId": "t3"}, topic="dj:demo", offset=3)
    expect(page.locator("#tracks .name")).to_have_text(["Two", "Four"])
    expect(page.locator("#playing-name")).to_have_text("One")
    connection.send("queue:empty", {"shopId": "demo"}, topic="dj:demo", offset=4)
    expect(page.locator("#playing-name")).to_have_text("Nothing plays")
    stopped = {"shopId": "demo", "isActive": False, "currentTrack": None, "queue": [], "startedAt": None}
    connection.send("session:stopped", stopped, topic="dj:demo", offset=5)
    expect(page.locator("#tracks-empty")).to_have_text("No session runs now.")


def test_a_track_is_added_by_its_form(live):
    page, connection = live
    page.get_by_role("button", name="Add", exact=True).click()
    expect(page.locator("#track-problem")).to_have_text("A track needs a name.")
    expect(page.get_by_role("textbox", name="Track")).to_be_focused()
    page.keyboard.type("Blue")
    page.get_by_role("textbox", name="Artist").fill("Us")
    page.keyboard.press("Enter")
    call = connection.answer("add_track", {})
    assert {"shopId": "demo", "trackName": "Blue", "artistName": "Us"}.items() <= call["data"].items()
    assert re.fullmatch(r"t-[0-9a-f]{32}", call["data"]["trackId"])
    expect(page.get_by_role("textbox", name="Track")).to_have_value("")


# The guest.

def test_checking_in_uses_the_code_of_the_shop(page, gateway):
    page.goto(gateway.url)
    connection = gateway.connection()
    greet(connection, present=False)
    page.get_by_role("button", name="Check in").click()
    assert connection.answer("check_in", {"present": True})["data"] == {"shopId": "demo", "code": "c0de"}
    page.get_by_role("button", name="Check out").click()
    connection.answer("check_out", {"present": False})
    page.get_by_role("button", name="Check in").click()
    connection.answer("check_in", ("bad_code", "The code is not the one shown at the shop"))
    expect(page.locator("#presence-problem")).to_have_text("The code is not the one shown at the shop")
    connection.send("presence:here", {"topic": "shop:demo", "here": True}, topic="user:guest-a", offset=1)
    expect(page.get_by_role("button", name="Check out")).to_be_visible()


def test_a_booking_shows_its_way(live):
    page, connection = live
    page.get_by_role("button", name="Book a chair").click()
    booking = "u-0123"
    call = connection.answer("create_booking", {"bookingId": booking, "status": "pending"})
    assert call["data"] == {"shopId": "demo"}
    status = page.locator("#booking-status")
    expect(status).to_have_text("Your booking is asked for")
    for offset, (name, shown) in enumerate([("confirmed", "in the queue"), ("in-progress", "have a seat"),
                                            ("completed", "thank you")], start=1):
        data = {"bookingId": booking, "status": name}
        connection.send("booking:status_change", data, topic="user:guest-a", offset=offset)
        expect(status).to_contain_text(shown)
    expect(page.get_by_role("button", name="Book a chair")).not_to_have_attribute("aria-disabled", "true")


def test_a_barber_is_followed_and_no_more(live):
    page, connection = live
    button = page.get_by_role("button", name="Follow Dario")
    connection.answer("following", {"barbers": []})
    expect(button).to_have_attribute("aria-pressed", "false")
    button.click()
    assert connection.answer("follow", {"barberId": "dario", "following": True})["data"] == {"barberId": "dario"}
    expect(button).to_have_attribute("aria-pressed", "true")
    changed = {"topic": "feed:dario", "following": False}
    connection.send("follows:changed", changed, topic="user:guest-a", offset=1)
    expect(button).to_have_attribute("aria-pressed", "false")


def test_how_many_are_present_is_asked_for(live):
    page, connection = live
    assert connection.answer("presence_count", {"shopId": "demo", "count": 6})["data"] == {"shopId": "demo"}
    expect(page.locator("#queue-present")).to_have_text("6")


def test_notices_are_kept_and_bounded(live):
    page, connection = live
    for offset in range(1, 21):
        data = {"id": str(offset), "title": f"Title {offset}", "body": "Body", "data": {}}
        connection.send("notification", data, topic="user:guest-a", offset=offset)
    post = {"id": "p", "barberId": "dario", "text": "Fresh fades"}
    connection.send("feed:new_post", post, topic="user:guest-a", offset=21)
    expect(page.locator("#notices li").first).to_contain_text("Fresh fades")
    assert page.locator("#notices li").count() == 6


def test_each_window_is_a_guest_of_its_own_and_stays_it(page, gateway):
    open_page(page, gateway)
    page.reload()
    greet(gateway.connection(), "guest-a")
    expect(page.locator("#guest-name")).to_have_text("guest-a")
    other = page.context.new_page()
    other.goto(gateway.url)
    greet(gateway.connection(), "guest-b")
    expect(other.locator("#guest-name")).to_have_text("guest-b")


def test_a_token_that_is_refused_is_replaced(page, gateway):
    page.goto(gateway.url)
    connection = gateway.connection()
    request = connection.receive("authenticate")
    connection.send("error", {"code": "unauthorized", "message": "expired"}, ref=request["ref"])
    greet(gateway.connection(), "guest-b")
    expect(page.locator("#guest-name")).to_have_text("guest-b")


def test_without_a_demo_the_page_can_be_read(page):
    gateway = ScriptedGateway()
    page.goto(gateway.url)
    connection = gateway.connection()
    assert set(connection.accept(len(PUBLIC), states=STATES)) == PUBLIC
    expect(page.locator("#tracks .name")).to_have_count(3)
    expect(page.locator("#anonymous")).to_be_visible()
    for hidden in ("#guest", "#you", "#add-track"):
        expect(page.locator(hidden)).to_be_hidden()
    # Nothing can be done here but to look, at the frames as well.
    assert page.get_by_role("button").all_inner_texts() == ["Show the frames"]
    page.tolerated.append("404")
    gateway.close()
