"""What a newcomer sees: `switchboard dev`, a browser, live events."""

import re

from playwright.sync_api import expect

from support.running_gateway import RunningGateway


def test_the_page_of_dev_shows_live_events(page, tmp_path):
    with RunningGateway(tmp_path / "node") as gateway:
        page.goto(gateway.https + "/")
        expect(page.locator("#connection-text")).to_have_text("Connected", timeout=20_000)
        for topic in ("shop:demo", "dj:demo", "challenge:demo"):
            expect(page.locator("#topics li", has_text=topic)).to_contain_text("live", timeout=20_000)
        # Events come by themselves: the demo publishes. One could be left over; three in a row are alive.
        expect(page.locator("#events li.event").nth(2)).to_be_visible(timeout=30_000)
        expect(page.locator("#queue-length")).to_have_text(re.compile("^[0-9]+$"), timeout=30_000)
        page.screenshot(path=str(tmp_path / "dev.png"), full_page=True)
        assert page.locator("#events li.gap").count() == 0
