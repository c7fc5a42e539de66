"""What bench/weights.py measures by the clock, judged here by what does not depend on how busy the host is."""

import pytest

import weight_cases_blocks  # noqa: F401
import weight_cases_outside  # noqa: F401
import weight_cases_shops  # noqa: F401
from Fixtures.scripts.command_scripts import Header
from Fixtures.scripts.lua_scripts import script_names, script_path
from Fixtures.scripts.read_limits import check_read
from weight_cases import CASES, Site

UNMEASURED = {"prelude", "writes", "checks", "values", "command", "run", "outside", "elsewhere", "looked", "quick",
              "moved", "lease", "reset_epoch", "key_digest", "seal"}
NAMES = [name for name in script_names() if name not in UNMEASURED and not name.startswith("part_")]
READS = [name for name in NAMES if {tag for tag, _ in Header.read(script_path(name)).tags} & {"readonly", "state"}]


def test_every_script_has_a_case_at_its_limits():
    assert [name for name in NAMES if name not in CASES] == []


@pytest.mark.parametrize("name", sorted(case for case in CASES if case in READS or case.split("_")[0] in READS))
def test_a_read_is_small_at_its_limits(db, commands, scripts, name):
    """A leaderboard of 1,000, a queue of 500 tracks and a feed of large posts each held Redis for 18 to 68 ms."""
    check_read(db, CASES[name](Site(db, commands, scripts)))
