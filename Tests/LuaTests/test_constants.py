"""Constants that several scripts share have one value."""

import re
from collections import defaultdict

import pytest

from lua_scripts import script_names, script_path

# Each script's own: how much it tells at once, or how long what it writes is kept.
OWN = {"PAGE_MAX", "PAGE_BYTES_MAX", "CHUNK", "CLOSED_TTL_S", "STATE_BYTES_MAX", "TTL_S", "TOLD_TTL_S"}


def constants():
    """The numbers of `local NAME = 123` at the start of a line: {name: {file: number}}."""
    found = defaultdict(dict)
    for path in map(script_path, script_names()):
        for name, number in re.findall(r"^local ([A-Z][A-Z0-9_]+) = ([0-9.]+)\b", path.read_text(), re.M):
            found[name][path.stem] = float(number)
    return found


SHARED = sorted(name for name, values in constants().items() if len(values) > 1 and name not in OWN)


@pytest.mark.parametrize("name", SHARED)
def test_a_constant_of_one_name_has_one_value(name):
    """A script has the bounds of the one whose keys it reads: changed in one only, it would leave out what is there."""
    values = constants()[name]
    assert len(set(values.values())) == 1, values


@pytest.mark.parametrize("name, file, other", [
    (name, path.stem, other)
    for path in map(script_path, script_names())
    for name, other in re.findall(r"^local ([A-Z0-9_]+) = .* -- as in (\w+)\.lua", path.read_text(), re.M)])
def test_what_is_said_to_be_as_in_another_is(name, file, other):
    values = constants()[name]
    assert values[file] == values[other]
