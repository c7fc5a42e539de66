"""A plugin of pytest: a whole run of `Tests/Scripts` fails while the type of an answer or event was seen by no test."""

import pytest

from Fixtures.scripts import answers_seen

FOLDER = "Scripts"
#: The run's exit status then. It is none of pytest's own: where it was that of failed tests, scripts/test.sh ran those
#: again, and what no test had seen was forgotten.
UNSEEN = 70


class Whole:
    """The types that the processes of a run have seen; `is_whole` while each of them had every file of the folder."""

    def __init__(self, config):
        self.config, self.is_whole, self.missing = config, True, []
        self.is_helper = hasattr(config, "workerinput")
        self.files = {path.name for path in (config.rootpath / FOLDER).glob("test_*.py")}

    def pytest_collection_finish(self, session):
        collected = {item.path.name for item in session.items if item.path.parent.name == FOLDER}
        self.is_whole = collected == self.files and not self.config.option.keyword

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node):
        output = getattr(node, "workeroutput", None) or {}
        self.is_whole = self.is_whole and output.get("answers_whole", False)
        answers_seen.seen.update(tuple(one) if isinstance(one, list) else one for one in output.get("answers_seen", []))

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session, exitstatus):
        if self.is_helper:
            self.config.workeroutput["answers_whole"] = self.is_whole
            self.config.workeroutput["answers_seen"] = [
                list(one) if isinstance(one, tuple) else one for one in answers_seen.seen]
        # A test that failed hides nothing here; a run that was cut short has not seen everything.
        elif exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED) and self.is_whole \
                and not (session.config.option.collectonly or session.shouldfail or session.shouldstop):
            self.missing = answers_seen.missing()
            if self.missing:
                session.exitstatus = UNSEEN

    def pytest_terminal_summary(self, terminalreporter):
        if self.missing:
            terminalreporter.write_line(
                "no test has seen what these answer or emit, so nothing shows that their headers are true: "
                + ", ".join(self.missing), red=True)


def pytest_configure(config):
    config.pluginmanager.register(Whole(config), "answers-whole")
