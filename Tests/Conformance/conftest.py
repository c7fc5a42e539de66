"""Shared by the conformance tests."""

import pytest


@pytest.fixture
def show(request):
    """Attaches a text to the test; the run's output shows it even when the test passes."""
    return lambda text: request.node.add_report_section("call", "conformance", text)


def pytest_terminal_summary(terminalreporter):
    """Prints what passing tests attached; for failing ones pytest does so itself."""
    for report in terminalreporter.getreports("passed"):
        for title, text in report.sections:
            if title == "Captured conformance call":
                terminalreporter.section(report.nodeid)
                terminalreporter.write_line(text)
