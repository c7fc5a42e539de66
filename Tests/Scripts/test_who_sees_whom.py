"""Every event and read by which one user sees another has a row that says whether a block hides it."""

import re
from pathlib import Path

import pytest

from Fixtures.scripts.answer_types import members_of, named, read
from Fixtures.scripts.command_scripts import Header
from Fixtures.scripts.lua_scripts import built_in, pack_of
from Fixtures.scripts.who_sees_whom import ROWS, SHOWS, SHOWS_NOBODY

TESTS = Path(__file__).parent
DOCS = TESTS.parents[1] / "docs" / "blocks.md"


def told_by(path):
    """What the users of a script are told: (event or command or state, members)."""
    header, types, known = Header.read(path), read(path), named(path)
    found = [(event, members_of(kind, known)) for event, kind in types.emits]
    allowed = set((header.tag("allow") or "").split("|"))
    if allowed & {"user", "anonymous"} or header.tag("state") or header.tag("subscribe"):
        found.append((path.stem, members_of(types.returns, known) if types.returns else set()))
    return found


def catalogue():
    """All that users are told by the packs: {(pack, name): members}."""
    told = {}
    for path in built_in():
        for name, found in told_by(path):
            told.setdefault((pack_of(path), name), set()).update(found)
    return told


TOLD = catalogue()


def test_every_member_that_is_told_is_known_to_show_a_user_or_nobody():
    unknown = {name: (pack, what) for (pack, what), found in TOLD.items() for name in found - SHOWS - SHOWS_NOBODY}
    assert unknown == {}, "say in who_sees_whom.py whether it shows a user"
    assert not SHOWS & SHOWS_NOBODY
    assert (SHOWS | SHOWS_NOBODY) - set().union(*TOLD.values()) == set(), "nothing tells it any more"


def test_whatever_shows_a_user_has_one_row():
    rows = [(row.pack, name) for row in ROWS for name in row.names]
    assert len(rows) == len(set(rows))
    must = {what for what, found in TOLD.items() if found & SHOWS}
    # An event of ids alone has none of the members; its row is there all the same.
    assert must - set(rows) == set(), "say in who_sees_whom.py whether a block hides it"
    assert set(rows) - set(TOLD) == set(), "nothing tells it any more"


@pytest.mark.parametrize("row", [row for row in ROWS if row.is_hidden], ids=lambda row: row.names[0])
def test_a_row_that_hides_names_the_test_that_shows_it(row):
    name, function = row.test.split("::")
    assert f"\ndef {function}(" in (TESTS / name).read_text()


def test_the_documentation_has_the_rows():
    lines = []
    for row in ROWS:
        names = ", ".join(f"`{name}`" for name in row.names)
        lines.append(f"| {row.pack} | {names} | {'yes' if row.is_hidden else 'no'}: {row.how} |")
    assert [line for line in DOCS.read_text().splitlines() if re.search(r"\| (yes|no): ", line)] == lines
