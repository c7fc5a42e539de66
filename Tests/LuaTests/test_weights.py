"""What bench/weights.py measures by the clock, judged here by what does not depend on how busy the host is."""

import json
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parents[2] / "bench"))

import weight_cases_shops  # noqa: E402, F401
from command_scripts import Header  # noqa: E402
from lua_scripts import script_names, script_path  # noqa: E402
from weight_cases import CASES, Site  # noqa: E402

UNMEASURED = {"prelude", "writes", "values", "command", "lease", "reset_epoch"}
NAMES = [name for name in script_names() if name not in UNMEASURED and not name.startswith("part_")]
READS = [name for name in NAMES if {tag for tag, _ in Header.read(script_path(name)).tags} & {"readonly", "state"}]
ANSWER_BYTES_MAX = 65_536
VALUES_MAX = 10_000
CALLS_MAX = 120


def values(node):
    """How many values a JSON text has."""
    inside = node.values() if isinstance(node, dict) else node if isinstance(node, list) else []
    return 1 + sum(map(values, inside))


def test_every_script_has_a_case_at_its_limits():
    assert [name for name in NAMES if name not in CASES] == []


@pytest.mark.parametrize("name", sorted(case for case in CASES if case in READS or case.split("_")[0] in READS))
def test_a_read_is_small_at_its_limits(db, commands, scripts, name):
    """A leaderboard of 1,000, a queue of 500 tracks and a feed of large posts each held Redis for 18 to 68 ms."""
    call = CASES[name](Site(db, commands, scripts))
    call(0)
    db.config_resetstat()
    answer = call(1)
    stats = db.info("commandstats")
    made = sum(entry["calls"] for command, entry in stats.items()
               if command not in ("cmdstat_evalsha", "cmdstat_config|resetstat", "cmdstat_info"))
    assert made <= CALLS_MAX, stats
    text = answer if isinstance(answer, bytes) else json.dumps(answer, separators=(",", ":")).encode()
    assert len(text) <= ANSWER_BYTES_MAX
    assert values(json.loads(text)) <= VALUES_MAX
