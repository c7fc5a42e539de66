"""A process whose wall clock is not the machine's (libfaketime)."""

import glob

import pytest

FAKETIME = glob.glob("/usr/lib/*/faketime/libfaketimeMT.so.1")

needs_faketime = pytest.mark.skipif(
    not FAKETIME, reason="libfaketime is missing (scripts/packages.sh test installs it)")


def faked(offset: str) -> dict:
    """The environment of a process whose clock is off by `offset`, such as "-1h"; its monotonic clock is right."""
    return {"LD_PRELOAD": FAKETIME[0], "FAKETIME": offset, "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            "DONT_FAKE_MONOTONIC": "1"}


def restart(process, offset: str):
    """Starts a process anew with such a clock."""
    process.stop()
    process.environment = faked(offset) if offset else {}
    return process.start()


class FakedClock:
    """A gateway's wall clock, moved by a file that libfaketime reads before each look at the clock."""

    def __init__(self, gw, path):
        self.gw, self.path = gw, path
        gw.stop()
        self.jump("+0")
        gw.environment = {
            "LD_PRELOAD": FAKETIME[0], "FAKETIME_TIMESTAMP_FILE": str(path), "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1", "DONT_FAKE_MONOTONIC": "1"}
        gw.start().wait_ready()

    def jump(self, offset: str) -> None:
        replacement = self.path.with_suffix(".new")
        replacement.write_text(offset + "\n")
        replacement.rename(self.path)
