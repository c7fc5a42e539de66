"""What the checker says of clients whose protocol tells positions with events only."""

import json

import pytest
from checker import Checker

TOPIC = "load:t0"


def check(*lines, last=9, epoch="k"):
    """The invariants that are violated when a client writes this down and the topic ends at `last` of `epoch`."""
    one = Checker({"topics": {TOPIC: {"epoch": epoch, "offset": last, "log": []}}})
    entries = [{"t": 0, "try": f"m{offset}", "topic": TOPIC, "crc": "0"} for offset in range(1, 20)]
    one.read_publisher([json.dumps(entry) + "\n" for entry in entries], "publisher.jsonl")
    one.read_subscribers([f"{time} {line}\n" for time, line in enumerate(lines, 1)], "subscribers-other.log")
    report = one.finish()
    return {name: count for name, count in report.by_invariant.items() if name != "I2"}, report


def joined(since="- -"):
    return f"J c {TOPIC} {since}"


def events(*offsets, epoch="k"):
    return [f"P c {TOPIC} {epoch} {offset} e m{offset} 0" for offset in offsets]


GAP = f"G c {TOPIC} k 7 missed"


@pytest.mark.parametrize("lines", [
    pytest.param(["C c 0", joined(), *events(7, 8, 9)], id="joined in the middle"),
    pytest.param(["C c 0", joined(), *events(3), "D c 0", "C c 0", joined(), *events(8, 9)], id="missed while away"),
    pytest.param(["C c 0", joined(), *events(3), "D c 0", "C c 0", joined("k 3"), *events(4, 5, 6, 7, 8, 9)],
                 id="resumed"),
    pytest.param(["C c 0", joined(), *events(3), GAP, *events(8, 9)], id="a hole that was told"),
    pytest.param(["C c 0", joined(), *events(12, epoch="j"), "D c 0", joined(), *events(9)], id="a new epoch"),
])
def test_what_may_happen(lines):
    found, report = check(*lines)
    assert found == {}, report.summary()


@pytest.mark.parametrize("invariant, lines", [
    pytest.param("I3", [joined(), *events(7, 9)], id="a silent hole"),
    pytest.param("I3", [joined(), *events(8, 8, 9)], id="twice"),
    pytest.param("I3", [joined(), *events(7, 9, 8)], id="out of order"),
    pytest.param("I3", [joined(), *events(8, 9), "D c 0", joined(), *events(9)], id="twice, after it came back"),
    pytest.param("I3", [joined(), *events(3), "D c 0", joined("k 3"), *events(8, 9)], id="resumed with a hole"),
    pytest.param("I3", [joined(), *events(12, epoch="j"), *events(9)], id="a silent reset"),
    pytest.param("I3", [joined(), *events(9), "D c 0"], id="never back"),
    pytest.param("I3", [joined(), *events(8)], id="a lost tail"),
    pytest.param("I3", [joined()], id="nothing ever came"),
    pytest.param("I3", events(9), id="not joined"),
    pytest.param("rig", [joined(), *events(9), "D c 0", joined("k 8"), *events(9)], id="asked for another position"),
    pytest.param("I4", [joined(), f"P c {TOPIC} k 9 e nobody 0"], id="never published"),
])
def test_what_may_not(invariant, lines):
    found, report = check(*lines)
    assert invariant in found, report.summary()
