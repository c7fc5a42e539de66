"""What every built-in script costs Redis at its limits, held to what its caller pays: docs/costs.md."""

import dataclasses

import pytest

import costs
import weights
from Fixtures.scripts.lua_scripts import built_in

ROWS = costs.rows(costs.TABLE.read_text())
SCRIPTS = {path.stem for path in built_in()
           if path.stem not in weights.UNMEASURED and not path.stem.startswith("part_")}


def test_every_script_has_a_row_and_every_row_a_script():
    assert sorted(SCRIPTS - set(ROWS)) == [], "scripts without a row"
    assert sorted(set(ROWS) - SCRIPTS) == [], "rows without a script"


def test_every_script_is_measured():
    measured = set()
    for pack in costs.packs():
        names = [name for name in weights.script_names(*weights.packs_of(pack)) if name in SCRIPTS]
        measured |= {max((one for one in names if f"{case}_".startswith(f"{one}_")), key=len)
                     for case in costs.cases(pack)}
    assert measured == SCRIPTS


@pytest.mark.alone
@pytest.mark.parametrize("pack", costs.packs(), ids=str)
def test_no_script_of_a_pack_costs_more_than_its_caller_pays(db, pack):
    """Bytes, and what refreshes and calls do, were paid by nobody, and nothing showed which command did so."""
    found = costs.judged(db, pack)
    assert [problem for cost in found for problem in costs.problems(cost, ROWS.get(cost.script))] == []


COST = costs.Cost("vote", "barbershop", "user, service", 450, price=1, paid_bytes=250, commands=15, bytes=552,
                  life_s=600, events=1, us=[400], reference_us=[costs.REFERENCE_US])
ROW = [cell.strip() for cell in COST.row().strip("|").split("|")]


@pytest.mark.parametrize(("changes", "word"), [
    ({}, None),
    ({"us": [1_200]}, "took"),
    ({"us": [1_200], "reference_us": [2 * costs.REFERENCE_US]}, None),
    ({"us": [1_200], "callers": "worker"}, "row"),
    ({"bytes": 6_000}, "left"),
    ({"entries": 1}, "row"),
    ({"events": 2}, "row"),
    ({"commands": 30}, "row"),
    ({"weight": 900}, "row"),
    ({"callers": "user"}, "row"),
])
def test_a_cost_that_is_not_paid_is_found(changes, word):
    problems = costs.problems(dataclasses.replace(COST, **changes), ROW)
    assert bool(problems) == (word is not None) and all(word in problem for problem in problems[:1]), problems
    assert costs.problems(COST, None) == ["vote has no row in docs/costs.md"]


@pytest.mark.parametrize(("members", "life_s"), [(lambda place: f"m{place}", 0), (lambda place: f"n{place}", -1)])
def test_members_that_only_move_leave_nothing_for_good(db, members, life_s):
    """A sorted set's nodes have heights by chance: moving twenty could add 128 bytes, which then seemed to stay."""
    db.zadd("ranks", {f"m{place}": place for place in range(499)})
    meter = costs.Meter(db)
    for attempt in range(1_000):
        meter.cost = costs.Cost("move", None, "worker", 1)

        def move(attempt=attempt):
            db.zadd("ranks", {members(place): attempt * 1000 + place for place in range(20)})
        meter.measured(move, ("another",), ["ranks"], [])
        if meter.grown[-1] >= costs.BYTES_SHOWN // 4:
            break
    assert meter.grown[-1] >= costs.BYTES_SHOWN // 4, "no growth by chance: the test would show nothing"
    assert meter.cost.life_s == life_s


def test_a_longer_member_in_the_place_of_another_stays(db):
    db.zadd("ranks", {"short": 1})
    meter = costs.Meter(db)
    meter.cost = costs.Cost("replace", None, "worker", 1)

    def replace():
        db.zrem("ranks", "short")
        db.zadd("ranks", {"l" * 200: 1})
    meter.measured(replace, ("another",), ["ranks"], [])
    assert meter.cost.life_s == -1
