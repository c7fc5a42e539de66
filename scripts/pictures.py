#!/usr/bin/env python3
"""Takes the README's pictures anew: the page, the inspector and a report of the load tool, in light and dark.

usage: .venv/bin/python scripts/pictures.py [DIR]     DIR is docs/pictures unless given

It needs the release build, the load tool too. It starts a `switchboard dev` of its own, lets the demo live for a
moment, and makes a small run for the report.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "Tests"))

from Fixtures.processes.dev import RunningGateway  # noqa: E402
from Fixtures.processes.node import BINARY, ENVIRONMENT  # noqa: E402

CHROMIUM = "/usr/bin/chromium-headless-shell"
SIZE = {"width": 1100, "height": 660}
RATES = (50, 100, 200)


def report(dev: RunningGateway, place: Path) -> Path:
    """The page of three short runs of one topic with 200 clients."""
    bench, files = BINARY.with_name("switchboard-bench"), []
    for rate in RATES:
        files.append(place / f"{rate}.json")
        subprocess.run([bench, "fanout", "--url", dev.wss, "--connections", "200", "--rate", str(rate),
                        "--seconds", "6", "--api-key", dev.api_key.strip(),
                        "--pid", str(dev.process.pid), "--json", files[-1]],
                       check=True, capture_output=True, env=ENVIRONMENT)
    subprocess.run([bench, "report", *files, "--html", place / "report.html"], check=True, capture_output=True)
    return place / "report.html"


def take(browser, dev: RunningGateway, written: Path, scheme: str, out: Path) -> None:
    """The pictures of one scheme."""
    context = browser.new_context(viewport=SIZE, color_scheme=scheme, ignore_https_errors=True, device_scale_factor=1.2)
    page = context.new_page()
    page.goto(dev.https)
    page.get_by_role("button", name="Check in").click()
    page.locator("#tracks li").first.wait_for()
    page.wait_for_function("() => Number(document.getElementById('queue-waiting').textContent) > 0", timeout=120_000)
    page.screenshot(path=out / f"page-{scheme}.png")
    guest = context.new_page()  # so that the inspector has a session to show
    guest.goto(dev.https)
    guest.locator("#tracks li").first.wait_for()
    page.add_init_script(f"sessionStorage.setItem('inspector-key', {json.dumps(dev.api_key.strip())})")
    page.goto(f"{dev.https}/inspector")
    page.locator("main table tr").nth(1).wait_for()
    page.screenshot(path=out / f"inspector-{scheme}.png")
    page.goto(written.as_uri())
    page.locator("svg:visible").first.wait_for()
    page.screenshot(path=out / f"report-{scheme}.png")
    context.close()


def main() -> int:
    out = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "docs/pictures")
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place, RunningGateway(
            place, "--limit", "connectionsMax=10000") as dev, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        written = report(dev, Path(place))
        for scheme in ("light", "dark"):
            take(browser, dev, written, scheme, out)
        browser.close()
    total = sum(path.stat().st_size for path in out.glob("*.png"))
    print(f"{out}: {total // 1000} kB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
