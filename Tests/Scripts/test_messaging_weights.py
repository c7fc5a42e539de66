"""Messaging and people at their limits, judged by what does not depend on how busy the host is."""

import pytest

import weight_cases_messaging  # noqa: F401
from Fixtures.scripts.chats import MessagingCommands
from Fixtures.scripts.command_scripts import Header
from Fixtures.scripts.lua_scripts import built_in
from Fixtures.scripts.read_limits import check_read
from weight_cases import CASES, Site

FILES = {path.stem: path for path in built_in("messaging", "people")
         if not path.stem.startswith("part_")}
READS = [name for name, path in FILES.items()
         if {tag for tag, _ in Header.read(path).tags} & {"readonly", "subscribe"}]
WEIGHT_MAX = 2_000


def test_every_script_has_a_case_and_a_weight():
    assert [name for name in FILES if name not in CASES] == []
    weights = {name: int(Header.read(path).tag("weight") or 1_000) for name, path in FILES.items()}
    assert [name for name, weight in weights.items() if weight > WEIGHT_MAX] == []


@pytest.mark.parametrize("name", sorted([*READS, "messages_walls"]))
def test_a_read_is_small_at_its_limits(db, scripts, name):
    """A page of 50 members and 100 long messages must not hold Redis for longer than others can wait."""
    check_read(db, CASES[name](Site(db, MessagingCommands(db), scripts)))
