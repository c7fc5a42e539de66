"""What the page does with a server that follows a script: resuming, gaps, duplicates, refusals, hostile data."""

import pytest
from playwright.sync_api import expect

from scripted_gateway import ScriptedGateway

DEMO_TOPICS = {"shop:demo", "dj:demo", "challenge:demo"}
STATUS = {"queueLength": 7, "avgWaitTime": 25, "currentlyServing": 3,
          "estimatedWaitTimes": {"standard": 25, "blackCard": 10}}


@pytest.fixture
def gateway():
    gateway = ScriptedGateway()
    yield gateway
    gateway.close()


@pytest.fixture
def live(page, gateway):
    """The page with its demo topics accepted, and the server's side of its connection."""
    page.goto(gateway.url)
    connection = gateway.connection()
    requests = connection.accept(len(DEMO_TOPICS))
    assert set(requests) == DEMO_TOPICS
    expect(page.locator("#connection-text")).to_have_text("Connected")
    return page, connection


def names(page):
    return page.locator("#events li .name").all_text_contents()


def test_events_are_shown_newest_first_with_their_data(live):
    page, connection = live
    connection.send("track:added", {"title": "Blue"}, topic="dj:demo", offset=1)
    connection.send("score:update", {"rank": 1}, topic="challenge:demo", offset=1)
    expect(page.locator("#events li")).to_have_count(2)
    assert names(page) == ["score:update", "track:added"]
    expect(page.locator("#events li").nth(1)).to_contain_text('"title": "Blue"')
    expect(page.locator("#events li").nth(1)).to_contain_text("#1")


def test_a_queue_update_fills_the_card_and_a_music_queue_does_not(live):
    page, connection = live
    connection.send("queue:update", STATUS, topic="shop:demo", offset=1)
    connection.send("queue:update", {"trackId": "t1", "score": 3}, topic="dj:demo", offset=1)
    expect(page.locator("#events li")).to_have_count(2)
    expect(page.locator("#queue-topic")).to_have_text("shop:demo")
    expect(page.locator("#queue-length")).to_have_text("7")
    expect(page.locator("#queue-average")).to_have_text("25 min")
    expect(page.locator("#queue-serving")).to_have_text("3")
    expect(page.locator("#queue-estimates")).to_contain_text("Black card wait")


def test_after_a_break_the_page_resumes_from_its_position(live, gateway):
    page, connection = live
    connection.send("one", topic="shop:demo", offset=1)
    connection.send("two", topic="shop:demo", offset=2)
    expect(page.locator("#events li")).to_have_count(2)
    connection.close()
    expect(page.locator("#connection-text")).to_contain_text("trying again in")

    connection = gateway.connection()
    sinces = {}
    for _ in DEMO_TOPICS:
        request = connection.receive()
        topic, since = request["data"]["topic"], request["data"]["since"]
        sinces[topic] = since
        data = {"topic": topic, "epoch": "e1", "offset": 3 if topic == "shop:demo" else 0, "recovered": True}
        connection.send("subscribed", data, topic=topic, ref=request["ref"])
    assert sinces["shop:demo"] == {"epoch": "e1", "offset": 2}
    assert sinces["dj:demo"] == {"epoch": "e1", "offset": 0}
    connection.send("three", topic="shop:demo", offset=3)
    expect(page.locator("#events li")).to_have_count(3)
    assert names(page) == ["three", "two", "one"]


def test_a_break_that_cannot_be_recovered_is_shown_as_a_gap(live, gateway):
    page, connection = live
    connection.send("one", topic="shop:demo", offset=1)
    expect(page.locator("#events li")).to_have_count(1)
    connection.close()
    connection = gateway.connection()
    connection.accept(len(DEMO_TOPICS), offset=9)
    gap = page.locator("#events li.gap", has_text="shop:demo")
    expect(gap).to_contain_text("8 events missed")
    connection.send("ten", topic="shop:demo", offset=10)
    expect(page.locator("#events li .name").first).to_have_text("ten")


def test_gaps_are_shown_and_duplicates_are_not(live):
    page, connection = live
    connection.send("one", topic="shop:demo", offset=1)
    connection.send("one", topic="shop:demo", offset=1)
    connection.send("gap", {"epoch": "e1", "offset": 5, "reason": "slow"}, topic="shop:demo")
    connection.send("six", topic="shop:demo", offset=6)
    connection.send("nine", topic="shop:demo", offset=9)
    connection.send("plain", topic="shop:demo")
    expect(page.locator("#events li .name").first).to_have_text("plain")
    assert names(page) == ["plain", "nine", "gap", "six", "gap", "one"]
    expect(page.locator("#events li.gap").last).to_contain_text("4 events missed: this client read too slowly")
    expect(page.locator("#events li.gap").first).to_contain_text("2 events missed")


def test_a_gap_without_a_position_is_told_once(live):
    page, connection = live
    connection.send("one", topic="shop:demo", offset=1)
    connection.send("gap", {"reason": "missed"}, topic="shop:demo")
    connection.send("nine", topic="shop:demo", offset=9)
    connection.send("ten", topic="shop:demo", offset=10)
    expect(page.locator("#events li .name").first).to_have_text("ten")
    assert names(page) == ["ten", "nine", "gap", "one"]


def test_another_topic_is_subscribed_and_removed(live):
    page, connection = live
    page.get_by_label("Subscribe to another topic").fill("shop:42")
    page.keyboard.press("Enter")
    assert set(connection.accept(1)) == {"shop:42"}
    row = page.locator("#topics li", has_text="shop:42")
    expect(row).to_contain_text("live from e1:0")
    page.get_by_role("button", name="Unsubscribe from shop:42").click()
    assert connection.receive()["event"] == "unsubscribe"
    expect(row).to_have_count(0)


def test_a_malformed_topic_never_reaches_the_server(live):
    page, connection = live
    page.get_by_label("Subscribe to another topic").fill("Shop 42")
    page.keyboard.press("Enter")
    expect(page.locator("#topic-error")).to_contain_text("lower-case namespace")
    page.get_by_label("Subscribe to another topic").fill("shop:43")
    page.keyboard.press("Enter")
    assert set(connection.accept(1)) == {"shop:43"}
    expect(page.locator("#topic-error")).to_be_empty()


def test_a_refused_topic_is_named_with_the_reason(live):
    page, connection = live
    page.get_by_label("Subscribe to another topic").fill("order:1")
    page.keyboard.press("Enter")
    request = connection.receive()
    connection.send("error", {"code": "forbidden", "message": "order:1 needs a grant"}, ref=request["ref"])
    expect(page.locator("#topic-error")).to_contain_text("order:1 needs a grant (forbidden)")
    expect(page.locator("#topics li")).to_have_count(len(DEMO_TOPICS))


def test_markup_in_data_stays_text(live):
    page, connection = live
    connection.send("x", {"html": "<img src=x onerror=alert(1)>"}, topic="shop:demo", offset=1)
    expect(page.locator("#events pre")).to_contain_text("<img src=x onerror=alert(1)>")
    assert page.locator("#events img").count() == 0


def test_a_flood_keeps_the_list_bounded(live):
    page, connection = live
    for offset in range(1, 1001):
        connection.send("tick", {"n": offset}, topic="shop:demo", offset=offset)
    expect(page.locator("#event-count")).to_have_text("1000")
    expect(page.locator("#events li").first).to_contain_text('"n": 1000')
    assert page.locator("#events li").count() == 200


def test_a_paused_list_stands_still_and_catches_up(live):
    page, connection = live
    page.get_by_role("button", name="Pause").click()
    connection.send("one", topic="shop:demo", offset=1)
    expect(page.locator("#paused")).to_have_text("Paused; 1 new since.")
    assert page.locator("#events li").count() == 0
    page.get_by_role("button", name="Pause").click()
    expect(page.locator("#events li")).to_have_count(1)


def test_the_back_off_is_jittered_between_one_and_thirty_seconds(live):
    page, _ = live
    bounds = page.evaluate("""async () => {
        const { backOffMs } = await import('/client.js');
        return Array.from({ length: 20 }, (_, attempt) => [backOffMs(attempt, () => 0), backOffMs(attempt, () => 1)]);
    }""")
    assert all(low == 1000 for low, _ in bounds)
    assert [high for _, high in bounds[:5]] == [2000, 4000, 8000, 16000, 30000]
    assert max(high for _, high in bounds) == 30000


@pytest.mark.parametrize("width", [320, 390, 1100])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_fits_its_screen(live, width, scheme, tmp_path):
    page, connection = live
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 844})
    connection.send("queue:update", STATUS, topic="shop:demo", offset=1)
    connection.send("long", {"text": "word" * 400, "list": list(range(30))}, topic="dj:demo", offset=1)
    connection.send("gap", {"epoch": "e1", "offset": 5, "reason": "slow"}, topic="shop:demo")
    expect(page.locator("#events li")).to_have_count(3)
    overflow = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert overflow <= 0, "the page scrolls sideways"
    page.screenshot(path=str(tmp_path / f"page-{scheme}-{width}.png"), full_page=True)
