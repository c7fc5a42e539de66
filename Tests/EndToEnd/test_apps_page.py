"""docs/apps.md names a test for each point that works, and each test is there."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
WORKS = (ROOT / "docs/apps.md").read_text().split("## Works now")[1].split("## Stays")[0]
ROWS = [line.split(" | ") for line in WORKS.splitlines() if re.match(r"\| (?!app )", line)]


def test_every_point_that_works_names_a_test_that_exists():
    tests = {name for folder in ("EndToEnd", "Scripts") for path in (ROOT / "Tests" / folder).glob("test_*.py")
             for name in re.findall(r"^def (test_\w+)", path.read_text(), re.M)}
    assert len(ROWS) >= 25
    for row in ROWS:
        named = re.findall(r"`(test_\w+)`", row[-1])
        assert named and set(named) <= tests, row
