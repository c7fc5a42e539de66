"""Shared by all Python tests: their order, when several processes run them."""

from pathlib import Path

import pytest

# Files whose tests share something costly: one process runs all of each.
TOGETHER = ("BrowserTests/",)
# The longest tests come first, so that none of them begins when everything else has ended. Each name stands for all
# tests that begin with it; the order here is theirs.
LONGEST = (
    "ConformanceTests/test_autobahn.py::test_deflated", "LuaTests/test_estimator.py",
    "EndToEndTests/test_openapi.py::test_generated", "EndToEndTests/test_queue.py",
    "EndToEndTests/test_votes.py::test_tallies", "ConformanceTests/test_autobahn.py::test_every_case",
    "BrowserTests/test_dev.py", "EndToEndTests/test_drain.py::test_rolling",
    "EndToEndTests/test_drain.py::test_clients",
    "LuaTests/test_leaderboards.py::test_a_million", "EndToEndTests/test_leaderboard.py::test_a_million",
    "LuaTests/test_queue_model.py", "EndToEndTests/test_allocations.py", "EndToEndTests/test_leaks.py",
    "EndToEndTests/test_bench.py::test_capacity", "EndToEndTests/test_overload.py", "ChaosTests/test_chaos.py",
    "BrowserTests/test_looks.py", "BrowserTests/test_page.py", "EndToEndTests/test_redis_outage.py",
)


def _place(identifier: str) -> int:
    """Where a test comes: by its entry in LONGEST, the others behind."""
    return next((place for place, name in enumerate(LONGEST) if identifier.startswith(name)), len(LONGEST))


def pytest_collection_modifyitems(items):
    """Puts the longest tests first and keeps together what belongs together."""
    for item in items:
        file = item.nodeid.split("::")[0]
        if file.startswith(TOGETHER):
            item.add_marker(pytest.mark.xdist_group(Path(file).stem))
    items.sort(key=lambda item: _place(item.nodeid))
