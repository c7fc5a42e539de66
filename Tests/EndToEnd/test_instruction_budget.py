"""What a message takes of the shard, counted by callgrind, is within its budget (bench/instructions.py)."""

import platform

import pytest

import callgrind
import instructions
from Fixtures.processes.node import BINARY

# A thread's part of a dump: a name is written out once, and later lines may be relative to the one before.
PROFILE = """# callgrind format
version: 1
creator: callgrind-3.19.0
part: 2
thread: 2

positions: line
events: Ir
summary: 1000

ob=(1) /bin/a
fl=(1) ???
fn=(1) outer
0 10
cob=(2) /lib/c
cfi=(1)
cfn=(2) __libc_malloc
calls=3 0
0 60
+5 7
cfn=(1)
calls=1 0
* 500

fn=(2)
0 40

totals: 57
"""


def test_a_profile_is_read(tmp_path):
    path = tmp_path / "profile.1-02"
    path.write_text(PROFILE)
    thread, profile = callgrind.read_profile(path)
    assert thread == 2 and profile.instructions == 57
    assert profile.calls == {"malloc": 3, "outer": 1}
    assert profile.own == {"outer": 17, "malloc": 40}
    assert profile.inclusive == {"outer": 77, "malloc": 40}
    twice = profile.combined(profile, 1)
    assert twice.instructions == 114 and twice.calls["malloc"] == 6
    assert twice.combined(profile, -1).scaled(1 / 3).calls["malloc"] == 1


def test_a_figure_over_its_budget_is_named():
    budgets = {"unicast": {"instructions": 100, "malloc": 2}}
    found = {"unicast": {"instructions": 100, "malloc": 2}}
    assert instructions.over_budget(found, budgets) == []
    [line] = instructions.over_budget({"unicast": {"instructions": 100, "malloc": 2.5}}, budgets)
    assert line == "unicast: 2.5 malloc on the shard, more than 2"


def test_every_case_has_a_budget():
    assert set(instructions.BUDGETS) == {"connection", "delivery", "unicast", "read"}
    assert all(set(budget) == {"instructions", "malloc"} for budget in instructions.BUDGETS.values())


# Without the optimiser, everything counts more.
@pytest.mark.shipped
@pytest.mark.alone
@pytest.mark.skipif(platform.machine() != "x86_64", reason="the budgets are in instructions of x86-64")
def test_messages_are_within_their_budgets():
    found = {case: instructions.figures(threads)
             for case, threads in instructions.measure(BINARY, messages=200, members=50).items()}
    print("\n" + instructions.table(found))
    # The counter counts: TLS alone takes so much of each.
    assert all(entry["instructions"] > 2_000 for entry in found.values())
    assert found["connection"]["malloc"] > 100 and found["unicast"]["retain"] > 0
    assert instructions.over_budget(found) == []
