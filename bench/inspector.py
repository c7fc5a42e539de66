#!/usr/bin/env python3
"""The inspector's pages in Chromium beside many sessions and topics, and deliveries while a page is open.

usage: .venv/bin/python bench/inspector.py [--connections 20000] [--topics 10000] [--seconds 10] [--rounds 5]
                                           [--shards 2]

One gateway holds the connections, each subscribed to one of the topics. The page is that of another, without clients.
Each page is opened anew and left open for some seconds. The table shows the milliseconds until it shows its first
figures, and the longest time for which the page did not answer a press meanwhile. Then the load tool publishes to 200
members in rounds, while the page of 500 sessions is open, which asks for the most rows, and while no page is, in turn.
The p99 of deliveries is that of each round, and the ratio is the median of those within a round.

20,000 connections need `ulimit -n 50000`. Figures count only from a machine with nothing else to do; the last line
says which share of the processors' time a hypervisor has kept.
"""

import argparse
import resource
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path

from fleet import Rig, eventually
from Fixtures.processes.gateway import API_KEY
from playwright.sync_api import sync_playwright

FIGURE = ".figures dd:not(:text-is('–'))"
#: For pages that have no rows here: the first answer of the gateway.
ANSWERED = "/v1/"
#: Addresses of pages, each with what shows that its figures have come.
PAGES = {
    "fleet": "tbody tr", "health": "#content .notice", "headroom": "tbody tr", "sessions": "tbody tr",
    "sessions?limit=500": "tbody tr", "slow": ANSWERED, "talkers?by=address": "tbody tr",
    "topics": "tbody tr", "topics?limit=500": "tbody tr", "topic?topic=shop:bench-1": FIGURE, "redis": "tbody tr",
    "outbox": FIGURE, "workers": ANSWERED, "receivers": ANSWERED, "commands": "tbody tr",
}
HEAVIEST = "sessions?limit=500"
SHOWN_SECONDS_MAX = 30
#: Keeps the longest time for which the page was busy.
WATCH = """() => {
    window.busyMs = 0;
    new PerformanceObserver((list) => {
        for (const task of list.getEntries()) window.busyMs = Math.max(window.busyMs, task.duration);
    }).observe({ type: 'longtask' });
}"""


class Page:
    """The inspector in a browser, signed in."""

    def __init__(self, browser, address: str):
        self.context = browser.new_context(viewport={"width": 1440, "height": 900})
        self.window, self.address = self.context.new_page(), address
        self.window.goto(address)
        self.window.get_by_label("API key").fill(API_KEY)
        self.window.keyboard.press("Enter")
        self.window.get_by_role("navigation").wait_for()
        self.window.evaluate(WATCH)

    def open(self, page: str) -> float:
        """Goes to a page; the milliseconds until it shows figures."""
        self.window.evaluate("window.busyMs = 0")
        began = time.monotonic()
        go = ("(page) => { location.hash = page; }", f"#/{page}")
        if PAGES[page] == ANSWERED:
            with self.window.expect_response(lambda answer: ANSWERED in answer.url):
                self.window.evaluate(*go)
        else:
            self.window.evaluate(*go)
            self.window.locator(PAGES[page]).first.wait_for(timeout=SHOWN_SECONDS_MAX * 1_000)
        return (time.monotonic() - began) * 1_000

    def wait(self, seconds: float) -> None:
        """Lets the page ask for new figures."""
        self.window.wait_for_timeout(seconds * 1_000)

    @property
    def busy_ms(self) -> float:
        return self.window.evaluate("window.busyMs")

    def problem(self) -> str:
        """What the page says that it could not find out."""
        told = (self.window.locator(f"#{name}") for name in ("problem", "unanswered"))
        return " ".join(one.text_content() for one in told if one.is_visible())

    def close(self) -> None:
        self.context.close()


class Beside:
    """Asks nothing itself: the page of a browser does, while the load tool runs."""

    def __init__(self, rig: Rig, browser, address: str):
        self.rig, self.browser, self.address = rig, browser, address

    def p99(self, is_open: bool) -> float:
        page = Page(self.browser, self.address) if is_open else None
        try:
            if page is not None:
                page.open(HEAVIEST)
            return self.rig.p99(False)
        finally:
            if page is not None:
                problem = page.problem()
                page.close()
                if problem:
                    raise RuntimeError(problem)


def stolen() -> tuple[int, int]:
    """Ticks that a hypervisor kept, and all ticks."""
    ticks = [int(word) for word in Path("/proc/stat").read_text().splitlines()[0].split()[1:9]]
    return ticks[7], sum(ticks)


def measure(rig: Rig, browser, options) -> None:
    address = "http://%s:%d/inspector" % rig.asked.address("ops")
    page = Page(browser, address)
    print(f"{'page':>28} {'shows ms':>8} {'busy ms':>8}")
    for name in PAGES:
        shown = page.open(name)
        page.wait(options.seconds)
        print(f"{name:>28} {shown:>8.0f} {page.busy_ms:>8.0f}  {page.problem()}", flush=True)
    page.close()
    beside = Beside(rig, browser, address)
    print(f"{'round':>28} {'p99 without':>11} {'p99 with':>8} {'ratio':>6}")
    ratios = []
    for number in range(options.rounds):
        found = {is_open: beside.p99(is_open) for is_open in ((False, True) if number % 2 == 0 else (True, False))}
        ratios.append(found[True] / found[False])
        print(f"{number + 1:>28} {found[False]:>11.2f} {found[True]:>8.2f} {ratios[-1]:>6.2f}", flush=True)
    if ratios:
        print(f"{'median':>28} {'':>11} {'':>8} {statistics.median(ratios):>6.2f}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--connections", type=int, default=20_000)
    parser.add_argument("--topics", type=int, default=10_000)
    parser.add_argument("--seconds", type=int, default=10, help="for which a page is left open, and of each round")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--shards", type=int, default=2)
    options = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_NOFILE, [resource.getrlimit(resource.RLIMIT_NOFILE)[1]] * 2)
    path = shutil.which("chromium-headless-shell") or shutil.which("chromium")
    if path is None:
        sys.exit("no chromium on PATH (scripts/packages.sh test installs it)")
    before = stolen()
    with tempfile.TemporaryDirectory(prefix="switchboard-inspector-") as name, sync_playwright() as playwright:
        rig = Rig(Path(name), options)
        try:
            rig.hold()
            with rig.asked.http() as http:
                eventually(lambda: sum(one["role"] == "gateway" for one in http.get("/v1/nodes").json()["nodes"]) == 2,
                           30, "a gateway that knows the other")
            browser = playwright.chromium.launch(
                executable_path=path, args=["--no-sandbox", "--disable-dev-shm-usage"])
            try:
                measure(rig, browser, options)
            finally:
                browser.close()
        finally:
            rig.stop()
    kept, ticks = (now - then for now, then in zip(stolen(), before, strict=True))
    print(f"steal: {100 * kept / ticks:.1f} %")
    return 0


if __name__ == "__main__":
    sys.exit(main())
