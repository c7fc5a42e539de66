"""A number that several scripts share stands in constants.lua alone."""

import re
from collections import Counter

import pytest

from Fixtures.scripts.lua_scripts import CONSTANTS, LUA, built_in, constants, pack_of, script_path, script_text

PACKS = sorted(path.parent.name for path in LUA.glob(f"*/{CONSTANTS}.lua"))
FILES = built_in()
# Each script's own: how much it reads, sends or writes at once, or how long it keeps what it writes.
OWN = {"BATCH_MAX", "CHUNK", "LOOKED_MAX", "PAGE_BYTES_MAX", "PAGE_MAX", "STATE_BYTES_MAX", "TOLD_MAX", "TTL_S"}


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{pack_of(path)}/{path.stem}")
def test_no_script_declares_a_shared_name(path):
    declared = re.findall(r"^ *local ([A-Z][A-Z0-9_]+) =", path.read_text(), re.M)
    assert not set(declared) & set(constants(pack_of(path)))


@pytest.mark.parametrize("pack", PACKS)
def test_no_two_scripts_of_a_pack_declare_one_number(pack):
    """A bound that one script reads and another writes was changed in one of them only."""
    declared = Counter(name for path in FILES if pack_of(path) == pack
                       for name in re.findall(r"^local ([A-Z][A-Z0-9_]+) = *[0-9]", path.read_text(), re.M))
    assert [name for name, count in declared.items() if count > 1 and name not in OWN] == []


@pytest.mark.parametrize("pack", PACKS)
def test_every_constant_is_used_by_several_scripts(pack):
    own = set(constants(pack)) - (set() if pack == "core" else set(constants("core")))
    texts = [path.read_text() for path in FILES if pack in ("core", pack_of(path))]
    assert [name for name in own if sum(bool(re.search(rf"\b{name}\b", text)) for text in texts) < 2] == []


def test_what_is_read_of_blocks_and_mutes_has_one_bound():
    """export_people.lua and part_rights.lua take the bound of blocks for mutes."""
    assert constants("core")["BLOCKS_MAX"] == constants("core")["MUTES_MAX"]


def test_numbers_stand_in_place_of_names(tmp_path):
    queue = script_path("queue")
    assert "DAY_MS" in queue.read_text()
    assert not re.search(r"^[^-\n]*\bDAY_MS\b", script_text(queue), re.M)
    own = tmp_path / "own.lua"
    own.write_text("local DAY_MS = 1\n")
    assert script_text(own) == "local DAY_MS = 1\n"
