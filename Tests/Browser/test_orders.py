"""The orders' tab: it listens as the app does, and shows what a backend tells."""

import pytest
from playwright.sync_api import expect

from Fixtures.browser.scripted_gateway import answer_requests

TOPIC = "order:demo"
AT = "2026-11-22T10:00:00.000Z"


@pytest.fixture
def live(page, gateway):
    page.goto(gateway.url + "#orders")
    gateway.connection().authenticate()
    channel = gateway.channel()
    channel.join = channel.accept()
    expect(page.locator("#order-line-text")).to_have_text("Listening")
    return page, channel


def tell(channel, offset, event, **members):
    channel.broadcast(TOPIC, event, {"order_id": "demo", "timestamp": AT, **members}, offset)


def processed(channel, offset, image, error=False, more=True):
    tell(channel, offset, "webhook_image_processed", image_id=image, error=error, order_is_processing=more)


def status(page):
    return page.locator("#order-status")


def test_the_page_joins_as_the_app_does(live):
    _, channel = live
    join_ref, ref, topic, event, payload = channel.join
    assert (topic, event) == ("realtime:order:demo", "phx_join")
    assert join_ref == ref
    assert channel.query == {"apikey": ["token-of-guest-a"], "vsn": ["2.0.0"]}
    assert payload["access_token"] == "token-of-guest-a"
    assert payload["config"]["broadcast"]["replay"]["limit"] == 25


def test_an_order_goes_its_way(live):
    page, channel = live
    expect(status(page)).to_have_text("Waiting for an order")
    tell(channel, 1, "upload_started", status="uploading", file_count=2)
    expect(status(page)).to_have_text("Uploading 2 photos")
    expect(page.locator("#order-images li")).to_have_count(2)
    tell(channel, 2, "upload_completed", status="uploaded", file_count=2)
    expect(status(page)).to_have_text("2 photos uploaded")
    expect(page.locator("#order-progress")).to_have_js_property("value", 0.25)
    tell(channel, 3, "processing_started", status="processing")
    expect(page.locator("#order-steps [aria-current]")).to_have_text("Processing")
    processed(channel, 4, "photo-1")
    expect(status(page)).to_have_text("Processing: 1 photo done")
    processed(channel, 5, "photo-2", more=False)
    # A webhook that comes twice counts once.
    processed(channel, 6, "photo-2", more=False)
    expect(status(page)).to_have_text("Processing: 2 photos done")
    urls = ["/preview.svg?photo=1", "https://storage.example/2.jpg"]
    tell(channel, 7, "download_ready", status="previews_ready", storage_urls=urls)
    expect(status(page)).to_have_text("2 previews ready")
    expect(page.locator("#order-progress")).to_have_js_property("value", 1)
    expect(page.get_by_role("img", name="Preview 1")).to_be_visible()
    expect(page.locator("#order-images li").last).to_have_text("Preview 2: https://storage.example/2.jpg")
    expect(page.locator("#order-events li").first).to_contain_text("download_ready")


def test_a_failed_order_says_why(live):
    page, channel = live
    tell(channel, 1, "upload_started", status="uploading", file_count=2)
    tell(channel, 2, "processing_started", status="processing")
    processed(channel, 3, "photo-1", error=True)
    tell(channel, 4, "processing_failed", status="failed", error="1 of 2 photos could not be processed")
    expect(status(page)).to_have_text("Failed: 1 of 2 photos could not be processed")
    expect(page.locator("#order-images li.failed")).to_contain_text("photo-1")
    tell(channel, 5, "upload_started", status="uploading", file_count=3)
    expect(status(page)).to_have_text("Uploading 3 photos")
    expect(page.locator("#order-images li.failed")).to_have_count(0)


def test_after_a_break_the_page_goes_on_from_its_position(live, gateway):
    page, channel = live
    tell(channel, 1, "upload_started", status="uploading", file_count=2)
    expect(status(page)).to_have_text("Uploading 2 photos")
    channel.close(reason="the server restarts")
    expect(page.locator("#order-line-text")).to_have_text("Reconnecting: the server restarts")
    channel = gateway.channel()
    join = channel.accept()
    assert join[4]["config"]["broadcast"]["since"] == {"epoch": "e1", "offset": 1}
    tell(channel, 1, "upload_started", status="uploading", file_count=9)
    tell(channel, 2, "upload_completed", status="uploaded", file_count=2)
    expect(status(page)).to_have_text("2 photos uploaded")
    assert page.locator("#order-events li").count() == 2


def test_a_refused_channel_says_the_servers_sentence(page, gateway):
    page.goto(gateway.url + "#orders")
    gateway.connection().authenticate()
    gateway.channel().accept(refusal="Unauthorized: Only services may do this.")
    expect(page.locator("#order-line-text")).to_have_text("Unauthorized: Only services may do this.")
    gateway.channel().accept()
    expect(page.locator("#order-line-text")).to_have_text("Listening")


def test_the_buttons_ask_the_backend_and_show_what_it_refuses(live):
    page, _ = live
    answers = [(202, {"order_id": "demo"}), (409, {"error": {"code": "conflict", "message": "The order is busy."}})]
    asked = answer_requests(page, "**/demo/order", lambda *_: answers.pop(0))
    page.get_by_role("button", name="Process an order").click()
    page.get_by_role("button", name="Process one that fails").click()
    expect(page.locator("#order-problem")).to_have_text("The order is busy.")
    assert [(method, path, body) for method, path, body, _ in asked] == [
        ("POST", "/demo/order", {"outcome": "ready"}), ("POST", "/demo/order", {"outcome": "failed"})]
    # The browser itself reports that a request was refused.
    page.tolerated.append("409")


def test_hostile_events_break_nothing(live):
    page, channel = live
    markup = "<img src=x onerror=alert(1)>"
    for offset, payload in enumerate([{}, {"file_count": "x"}, {"storage_urls": 5}, {"image_id": markup}], start=1):
        for event in ("upload_started", "webhook_image_processed", "download_ready", "processing_failed", markup):
            channel.broadcast(TOPIC, event, payload)
        channel.system(TOPIC, "ok", markup)
    tell(channel, 99, "upload_started", status="uploading", file_count=1)
    expect(status(page)).to_have_text("Uploading 1 photo")
    assert page.locator("#app-orders img").count() == 0
    assert page.locator("#order-events li").count() <= 30
