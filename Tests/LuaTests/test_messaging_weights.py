"""Messaging and people at their limits, judged by what does not depend on how busy the host is."""

import json
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parents[2] / "bench"))

import weight_cases_messaging  # noqa: E402, F401
from chats import MessagingCommands  # noqa: E402
from command_scripts import Header  # noqa: E402
from lua_scripts import LUA  # noqa: E402
from weight_cases import CASES, Site  # noqa: E402

FILES = {path.stem: path for pack in ("messaging", "people") for path in (LUA / pack).glob("*.lua")
         if not path.stem.startswith("part_")}
READS = [name for name, path in FILES.items()
         if {tag for tag, _ in Header.read(path).tags} & {"readonly", "subscribe"}]
WEIGHT_MAX = 2_000
ANSWER_BYTES_MAX = 65_536
VALUES_MAX = 10_000
CALLS_MAX = 120


def values(node):
    """How many values a JSON text has."""
    inside = node.values() if isinstance(node, dict) else node if isinstance(node, list) else []
    return 1 + sum(map(values, inside))


def test_every_script_has_a_case_and_a_weight():
    assert [name for name in FILES if name not in CASES] == []
    weights = {name: int(Header.read(path).tag("weight") or 1_000) for name, path in FILES.items()}
    assert [name for name, weight in weights.items() if weight > WEIGHT_MAX] == []


@pytest.mark.parametrize("name", sorted([*READS, "messages_walls"]))
def test_a_read_is_small_at_its_limits(db, scripts, name):
    """A page of 50 members and 100 long messages must not hold Redis for longer than others can wait."""
    call = CASES[name](Site(db, MessagingCommands(db), scripts))
    call(0)
    db.config_resetstat()
    answer = call(1)
    stats = db.info("commandstats")
    made = sum(entry["calls"] for command, entry in stats.items()
               if command not in ("cmdstat_evalsha", "cmdstat_config|resetstat", "cmdstat_info"))
    assert made <= CALLS_MAX, stats
    text = json.dumps(answer, separators=(",", ":")).encode()
    assert len(text) <= ANSWER_BYTES_MAX
    assert values(json.loads(text)) <= VALUES_MAX
