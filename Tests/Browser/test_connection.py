"""How the page keeps its connection: back-off, recovery by position, gaps, requests that survive a break."""

import pytest
from playwright.sync_api import expect

from Fixtures.browser.shop_states import BOARD, MUSIC, STATUS

TOPICS = {"shop:demo", "dj:demo", "challenge:demo"}
STATES = {"shop:demo": STATUS, "dj:demo": MUSIC, "challenge:demo": BOARD}


@pytest.fixture
def live(page, gateway):
    # The client draws how long it waits, down to nothing; here each wait is long enough to be seen.
    page.add_init_script("Math.random = () => 0.99")
    page.goto(gateway.url)
    connection = gateway.connection()
    greet(connection)
    expect(page.locator("#tracks .name")).to_have_count(3)
    return page, connection


def greet(connection):
    connection.authenticate()
    connection.accept(len(TOPICS) + 1, states=STATES)


def added(name, position=4):
    return {"trackId": name, "trackName": name, "upvotes": 1, "downvotes": 0, "score": 1, "position": position}


def names(page):
    return page.locator("#tracks .name").all_text_contents()


def test_after_a_break_the_page_resumes_from_its_position(live, gateway):
    page, connection = live
    connection.send("track:added", added("a"), topic="dj:demo", offset=1)
    connection.send("track:added", added("b", 5), topic="dj:demo", offset=2)
    expect(page.locator("#tracks .name")).to_have_count(5)
    connection.close()
    expect(page.locator("#connection-text")).to_have_text("Reconnecting: the server restarts")
    expect(page.locator("#connection-count")).to_contain_text("in ")

    connection = gateway.connection()
    connection.authenticate()
    sinces = {}
    for _ in range(len(TOPICS) + 1):
        request = connection.receive("subscribe")
        topic = request["data"]["topic"]
        sinces[topic] = request["data"]["since"]
        # A state that comes with a recovery is newer than the events that follow, and must not be used.
        data = {"topic": topic, "epoch": "e1", "offset": 3 if topic == "dj:demo" else 0, "recovered": True,
                "state": STATES.get(topic)}
        connection.send("subscribed", data, topic=topic, ref=request["ref"])
    assert sinces["dj:demo"] == {"epoch": "e1", "offset": 2}
    assert sinces["shop:demo"] == {"epoch": "e1", "offset": 0}
    connection.send("track:added", added("c", 6), topic="dj:demo", offset=3)
    expect(page.locator("#tracks .name")).to_have_count(6)
    assert names(page) == ["One", "Two", "Three", "a", "b", "c"]
    assert page.locator("#activity-list .gap").count() == 0


def test_a_break_that_cannot_be_recovered_is_told_and_the_state_replaces_all(live, gateway):
    page, connection = live
    connection.send("track:added", added("a"), topic="dj:demo", offset=1)
    expect(page.locator("#tracks .name")).to_have_count(4)
    connection.close()
    connection = gateway.connection()
    connection.authenticate()
    connection.accept(len(TOPICS) + 1, states=STATES, offset=9)
    expect(page.locator("#activity-list .gap", has_text="the music")).to_contain_text("8 updates of the music missed")
    expect(page.locator("#tracks .name")).to_have_text(["One", "Two", "Three"])


@pytest.mark.parametrize("how", ["gap", "jump", "gap without a position"])
def test_what_was_missed_is_told_and_the_state_asked_for_anew(live, how):
    page, connection = live
    connection.send("track:added", added("a"), topic="dj:demo", offset=1)
    since, offset = {}, 5
    if how == "gap":
        connection.send("gap", {"epoch": "e1", "offset": 5, "reason": "slow"}, topic="dj:demo")
    elif how == "jump":
        # The log may still have what is missing, so the page asks for it before it says that anything is lost.
        connection.send("track:added", added("b"), topic="dj:demo", offset=6)
        since = {"since": {"epoch": "e1", "offset": 1}}
    else:
        connection.send("gap", {"reason": "missed"}, topic="dj:demo")
        offset = 1
    request = connection.receive("subscribe")
    assert request["data"] == {"topic": "dj:demo"} | since
    data = {"topic": "dj:demo", "epoch": "e1", "offset": offset, "recovered": False, "state": MUSIC}
    connection.send("subscribed", data, topic="dj:demo", ref=request["ref"])
    gap = page.locator("#activity-list .gap")
    expect(gap).to_contain_text("Some updates" if how == "gap without a position" else "4 updates")
    connection.send("track:added", added("c"), topic="dj:demo", offset=offset + 1)
    expect(page.locator("#tracks .name")).to_have_text(["One", "Two", "Three", "c"])
    assert gap.count() == 1


def test_duplicates_are_not_shown_and_plain_events_are(live):
    page, connection = live
    for _ in range(2):
        connection.send("hello", topic="shop:demo", offset=1)
    connection.send("plain", topic="shop:demo")
    expect(page.locator("#activity-list .what")).to_have_text(["plain on shop:demo", "hello on shop:demo"])


def test_a_request_is_sent_again_under_its_id_after_a_break(live, gateway):
    page, connection = live
    page.get_by_role("button", name="Vote up: Two").click()
    call = connection.receive("vote")
    connection.close()
    connection = gateway.connection()
    greet(connection)
    again = connection.receive("vote")
    assert again == call
    assert isinstance(call["ref"], str)
    connection.send("ack", {"trackId": "t2", "upvotes": 2, "downvotes": 0, "score": 2, "position": 2}, ref=call["ref"])
    expect(page.get_by_role("button", name="Vote up: Two")).to_have_attribute("aria-pressed", "true")


def test_a_topic_that_is_unavailable_is_asked_for_again(page, gateway):
    page.goto(gateway.url)
    connection = gateway.connection()
    connection.authenticate()
    refused = connection.receive("subscribe")
    connection.send("error", {"code": "unavailable", "message": "Redis is away"}, topic=refused["data"]["topic"],
                    ref=refused["ref"])
    connection.accept(len(TOPICS), states=STATES)
    assert connection.receive("subscribe")["data"] == refused["data"]


def test_a_refused_topic_is_not_asked_for_again_and_says_why(page, gateway):
    page.goto(gateway.url)
    connection = gateway.connection()
    connection.authenticate()
    for _ in range(len(TOPICS) + 1):
        request = connection.receive("subscribe")
        if request["data"]["topic"] == "shop:demo":
            connection.send("error", {"code": "forbidden", "message": "not for you"}, topic="shop:demo",
                            ref=request["ref"])
    expect(page.locator("#queue-note")).to_have_text("not for you")


def test_a_drain_is_told_and_its_hint_followed(live, gateway):
    page, connection = live
    connection.send("draining", {"reconnectAfterMs": 1_000})
    expect(page.locator("#connection-text")).to_have_text("Live; the server is about to restart")
    connection.close()
    greet(gateway.connection())
    expect(page.locator("#connection-text")).to_have_text("Live")


def test_the_network_that_comes_back_ends_the_wait(live, gateway):
    # The server's hint makes the wait a minute; the browser's word ends it.
    page, connection = live
    connection.send("draining", {"reconnectAfterMs": 60_000})
    expect(page.locator("#connection-text")).to_have_text("Live; the server is about to restart")
    connection.close()
    expect(page.locator("#connection-text")).to_contain_text("Reconnecting")
    page.evaluate("dispatchEvent(new Event('online'))")
    greet(gateway.connection())
    expect(page.locator("#connection-text")).to_have_text("Live")


def test_markup_in_data_stays_text(live):
    page, connection = live
    markup = "<img src=x onerror=alert(1)>"
    connection.send("track:added", added("x") | {"trackName": markup}, topic="dj:demo", offset=1)
    connection.send("notification", {"title": markup, "body": markup}, topic="user:guest-a", offset=1)
    expect(page.locator("#tracks .name").last).to_have_text(markup)
    expect(page.locator("#notices li")).to_contain_text(markup)
    assert page.locator("main img").count() == 0


def test_nonsense_in_data_breaks_nothing(live):
    page, connection = live
    for offset, data in enumerate([{}, {"trackId": 5}, {"trackId": "t1", "score": "x"}, {"queue": 7}], start=1):
        connection.send("queue:update", data, topic="dj:demo", offset=2 * offset - 1)
        connection.send("track:added", data, topic="dj:demo", offset=2 * offset)
        connection.send("queue:update", data, topic="shop:demo", offset=offset)
        connection.send("leaderboard:moves", {"moves": [data], "left": 4}, topic="challenge:demo", offset=offset)
        connection.send("notification", data, topic="user:guest-a", offset=offset)
    connection.send("track:added", added("z"), topic="dj:demo", offset=9)
    expect(page.locator("#tracks .name").nth(3)).to_have_text("z")
    expect(page.locator("#queue-wait")).to_have_text("26")


def test_a_flood_keeps_the_list_bounded(live):
    page, connection = live
    for offset in range(1, 1001):
        connection.send(f"tick{offset}", topic="shop:demo", offset=offset)
    expect(page.locator("#activity-list li").first).to_contain_text("tick1000")
    assert page.locator("#activity-list li").count() == 30
