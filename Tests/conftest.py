"""Shared by all Python tests: their order, when several processes run them."""

import pytest

pytest_plugins = ["Fixtures.scripts.answers_whole"]

# Files whose tests share something costly: so many processes run them, each all tests of its files.
TOGETHER = {"Browser/": 3}
# Fixtures that are costly to have in each process: one process runs all tests of a file that use one.
SHARED = {"cluster", "played", "checked_floor"}
# The longest tests come first, so that none of them begins when everything else has ended. Each name stands for all
# tests that begin with it; the order here is theirs.
LONGEST = (
    "Conformance/test_autobahn.py", "Scripts/test_costs.py", "Scripts/test_estimator.py",
    "EndToEnd/test_openapi.py::test_generated", "EndToEnd/test_queue.py",
    "EndToEnd/test_votes.py::test_tallies", "EndToEnd/test_cluster.py", "EndToEnd/test_across_slots.py",
    "Browser/test_dev.py", "EndToEnd/test_drain.py::test_rolling",
    "EndToEnd/test_drain.py::test_clients",
    "Scripts/test_leaderboards.py::test_a_million", "EndToEnd/test_leaderboard.py::test_a_million",
    "Scripts/test_queue_model.py", "EndToEnd/test_instruction_budget.py", "EndToEnd/test_allocations.py",
    "EndToEnd/test_leaks.py",
    "EndToEnd/test_bench.py::test_capacity", "EndToEnd/test_overload.py", "Chaos/test_chaos.py",
    "Browser/test_looks.py", "Browser/test_page.py", "EndToEnd/test_redis_outage.py",
)

# The deadline of a `thorough` test; pytest.ini has that of all others.
THOROUGH_SECONDS = 7_200


def _place(identifier: str) -> int:
    """Where a test comes: by its entry in LONGEST, the others behind."""
    return next((place for place, name in enumerate(LONGEST) if identifier.startswith(name)), len(LONGEST))


# Before xdist, which reads the marks.
@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Puts the longest tests first and keeps together what belongs together."""
    for folder, processes in TOGETHER.items():
        files = sorted({item.path for item in items if item.nodeid.startswith(folder)})
        for item in items:
            if item.path in files:
                item.add_marker(pytest.mark.xdist_group(f"{folder}{files.index(item.path) % processes}"))
    for item in items:
        if SHARED & set(item.fixturenames):
            item.add_marker(pytest.mark.xdist_group(item.path.name))
        if item.get_closest_marker("thorough"):
            item.add_marker(pytest.mark.timeout(THOROUGH_SECONDS))
    items.sort(key=lambda item: _place(item.nodeid))


def pytest_collection_finish(session):
    """Ends the run when tests that belong together would not be together: nothing else would tell."""
    if session.config.getoption("loadgroup", False):
        apart = [item.nodeid for item in session.items if item.get_closest_marker("xdist_group")
                 and "@" not in item.nodeid]
        assert not apart, f"this pytest-xdist knows no groups of this pytest: {apart[:2]}"
