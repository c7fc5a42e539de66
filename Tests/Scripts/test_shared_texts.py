"""The files in front of every script: functions that a script does not use are left out of it."""

import re

from Fixtures.scripts.command_scripts import Commands
from Fixtures.scripts.lua_scripts import LUA, script_path, script_text

SHARED = ("prelude", "writes", "checks", "values", "command", "run")
#: What run.lua calls, and a word of a sentence there.
ALWAYS = {"cut_log", "caller"}


def pieces() -> tuple[set, list]:
    """The names for which parts of the shared files are there, and the parts that are always there."""
    optional, always = set(), []
    for name in SHARED:
        for piece in re.split(r"(?=^-- @only )|(?<=^-- @end\n)", script_text(script_path(name)), flags=re.M):
            if piece.startswith("-- @only "):
                optional.update(piece.split("\n", 1)[0].split()[2:])
            else:
                always.append(piece)
    return optional, always


def test_no_shared_text_names_an_optional_function_by_chance():
    """A loop variable called `step` put four functions into every script: each call took 10,000 instructions more."""
    optional, always = pieces()
    code = "\n".join(line for text in always for line in text.split("\n") if not re.match(" *--", line))
    assert {"step", "later", "emit", "sha1"} <= optional
    assert optional & set(re.findall(r"\w+", code)) == ALWAYS


def test_a_script_that_calls_nothing_has_no_calls():
    text = Commands(None, LUA / "orders").text("order_pass").decode()
    assert not re.findall(r"^local function (step|later|emit|object_text|count_effects)\b", text, re.M)
