"""The plugin that fails a whole run while the type of an answer was seen by no test."""

from types import SimpleNamespace

import pytest

from Fixtures.scripts import answers_seen
from Fixtures.scripts.answers_whole import UNSEEN, Whole


def ended(monkeypatch, exitstatus, *, whole=True, shouldstop=False):
    """What the plugin says at the end of a run, and the run's exit status."""
    monkeypatch.setattr(answers_seen, "missing", lambda: ["vote"])
    option = SimpleNamespace(keyword="", collectonly=False)
    config = SimpleNamespace(option=option)
    plugin = Whole.__new__(Whole)
    plugin.config, plugin.is_whole, plugin.missing, plugin.is_helper = config, whole, [], False
    session = SimpleNamespace(config=config, exitstatus=exitstatus, shouldfail=False, shouldstop=shouldstop)
    plugin.pytest_sessionfinish(session, exitstatus)
    return plugin.missing, session.exitstatus


def test_a_type_that_no_test_saw_is_told_though_another_test_failed(monkeypatch):
    """The question was left out then, so that two faults took two runs to be seen."""
    assert ended(monkeypatch, pytest.ExitCode.OK) == (["vote"], UNSEEN)
    assert ended(monkeypatch, pytest.ExitCode.TESTS_FAILED) == (["vote"], UNSEEN)
    assert UNSEEN not in list(pytest.ExitCode), "scripts/test.sh would run failed tests again, and pass"


def test_a_run_that_was_cut_short_or_is_a_part_asks_nothing(monkeypatch):
    assert ended(monkeypatch, pytest.ExitCode.INTERRUPTED) == ([], pytest.ExitCode.INTERRUPTED)
    assert ended(monkeypatch, pytest.ExitCode.TESTS_FAILED, shouldstop="stop")[0] == []
    assert ended(monkeypatch, pytest.ExitCode.OK, whole=False)[0] == []
