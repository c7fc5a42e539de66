"""The load tool's HTML report in a browser without a network: plots are drawn, and text of files stays text."""

import json
import os
import subprocess
from pathlib import Path

import pytest
from playwright.sync_api import expect

ROOT = Path(__file__).resolve().parents[2]
BENCH = Path(os.environ.get("SWITCHBOARD_BENCH", ROOT / ".build/release/switchboard-bench"))

HOSTILE = "</script><img src=x onerror=\"window.harmed = 1\"><b>ws</b>"


def latency(factor):
    """A histogram as the tool writes it."""
    buckets = [[1000 * factor, 900], [2000 * factor, 90], [9000 * factor, 9], [40000 * factor, 1]]
    p50, p90, p99, p999 = (bucket[0] for bucket in buckets)
    return {"count": 1000, "p50Us": p50, "p90Us": p90, "p99Us": p99, "p999Us": p999, "maxUs": p999,
            "buckets": buckets}


def fanout(target, rate, factor, **more):
    """A run of 10 s to 100 connections."""
    seconds = [{"second": n, "published": rate, "delivered": rate * 100, "p50Us": 1000 * factor,
                "p99Us": 9000 * factor, "serverCores": 0.1 * factor, "toolCores": 0.2} for n in range(1, 11)]
    run = {"scenario": "fanout", "target": target, "targetVersion": "1", "passed": True, "notes": [], "seconds": 10,
           "settings": {"connections": "100", "rate": str(rate), "target": target}, "connections": 100,
           "expected": rate * 1000, "delivered": rate * 1000, "lost": 0, "deliveriesPerSecond": rate * 100.0,
           "latency": latency(factor), "toolCores": 0.2, "series": seconds,
           "server": {"processes": 1, "cores": 0.1 * factor, "cpuUsPerDelivery": 2.0 * factor}}
    return run | more


def idle(target, kilobytes):
    """A run without deliveries, and with nothing that need not be there."""
    return {"scenario": "idle", "target": target, "targetVersion": "", "settings": {"connections": "1000"},
            "passed": True, "notes": [], "seconds": 5, "connections": 1000, "series": [],
            "server": {"processes": 1, "cores": 0.0, "privateBytesPerConnection": kilobytes * 1000}}


RUNS = [
    fanout("floor", 20, 1), fanout("switchboard", 20, 2), fanout("floor", 100, 1), fanout("switchboard", 100, 2),
    fanout("ws", 100, 4, lost=12, delivered=99988, passed=False, notes=[HOSTILE],
           settings={"connections": "100", "rate": "100", "label": HOSTILE}),
    fanout("nchan", 100, 3, refused=5, refusedClients=1, passed=False),
    idle("floor", 11), idle("switchboard", 17),
    {"scenario": HOSTILE, "target": "x", "targetVersion": HOSTILE, "settings": {HOSTILE: HOSTILE}, "passed": False,
     "notes": [], "seconds": 0, "series": []},
]


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """The page that the tool makes of the runs."""
    directory = tmp_path_factory.mktemp("report")
    machine = {"processor": HOSTILE, "cores": 2, "memoryBytes": 8 << 30, "kernel": "6", "system": "s", "openssl": "o"}
    content = {"format": "switchboard-bench/1", "machine": machine, "commit": "abc1234+",
               "startedAt": "2026-01-02T03:04:05Z", "runs": RUNS}
    (directory / "runs.json").write_text(json.dumps(content))
    made = subprocess.run([BENCH, "report", directory / "runs.json", "--html", directory / "report.html"],
                          capture_output=True, text=True, timeout=30)
    assert made.returncode == 0, made.stderr
    assert "LOST 12 of 100,000" in made.stdout
    return directory / "report.html"


def show(page, report):
    """The page from its file; whatever it would fetch fails the test."""
    page.context.set_offline(True)
    page.on("request", lambda request: page.problems.append(request.url) if request.url != report.as_uri() else None)
    page.goto(report.as_uri())
    expect(page.locator("section").last).to_be_visible()


def test_targets_are_plotted_side_by_side(page, report):
    show(page, report)
    expect(page.locator("h1")).to_have_text("Switchboard 2.00 × the floor at 20/s")
    panel = page.locator(".panel:visible").first
    expect(panel.locator("tbody tr")).to_have_count(2)
    for title in ["Latency", "Deliveries over time", "p99 over time", "Server CPU over time", "Tool CPU over time"]:
        lines = panel.locator("figure", has=page.get_by_role("heading", name=title, exact=True)).locator("path.line")
        expect(lines).to_have_count(2)
        assert all("NaN" not in path.get_attribute("d") for path in lines.all())
    memory = page.locator("figure", has_text="Memory per connection")
    expect(memory.locator("svg")).to_contain_text("1.55 ×")
    page.get_by_role("tab", name="100/s").click()
    expect(page.locator(".panel:visible").first.locator("tbody tr")).to_have_count(4)


def test_losses_are_words(page, report):
    show(page, report)
    expect(page.locator(".wrong")).to_contain_text("12 of 100,000 deliveries")
    expect(page.get_by_role("tab", name="100/s · losses")).to_be_visible()


def test_a_run_with_refusals_has_no_figures(page, report):
    show(page, report)
    expect(page.locator(".wrong")).to_contain_text("1 clients and 5 publishes were refused: not counted")
    page.get_by_role("tab", name="100/s").click()
    row = page.locator(".panel:visible").first.locator("tbody tr", has_text="nchan")
    expect(row).to_contain_text("failed")
    # 3 × 2 µs by its figures.
    expect(row).not_to_contain_text("6.00")
    expect(page.locator(".panel:visible tbody tr", has_text="Switchboard").first).to_contain_text("4.00")


def test_values_are_read_by_keyboard(page, report):
    show(page, report)
    page.get_by_role("img", name="Deliveries over time").first.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("status")).to_contain_text("2.00 s")
    expect(page.get_by_role("status")).to_contain_text("2,000/s")
    page.keyboard.press("Escape")
    expect(page.get_by_role("status")).to_be_hidden()


def test_text_of_files_is_inert(page, report):
    show(page, report)
    expect(page.locator("body")).to_contain_text(HOSTILE)
    expect(page.locator("img, main b:text-is('ws')")).to_have_count(0)
    assert page.evaluate("window.harmed") is None


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits(page, report, width, scheme):
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme=scheme)
    show(page, report)
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_all_panels_are_printed(page, report):
    show(page, report)
    expect(page.locator(".panel").nth(1)).to_be_hidden()
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    expect(page.locator(".panel").nth(1).locator("path.line").first).to_be_visible()
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    expect(page.locator(".panel").nth(1)).to_be_hidden()
