"""What bench/masters.py judges: the verdicts, and what it takes for misplaced. Nothing is started here."""

from pathlib import Path
from types import SimpleNamespace

import pytest
from redis.crc import key_slot

import masters
from arrangement import Spent, net
from Fixtures.redis.slot_watch import names_of
from placement import Found, Placement

ROOT = Path(__file__).resolve().parents[2]
WELL = Found(keys=9, channels=3, lines=20, links=3)


@pytest.mark.parametrize("words, names", [
    (["EVALSHA", "abc", "2", "shop:{1}#log", "shop:{1}#meta", "7"], ["shop:{1}#log", "shop:{1}#meta"]),
    (["EVAL", "return redis.call('GET', 'a')", "0", "b"], []), (["PING", "2"], []), (["ROLE"], []),
    (["ssubscribe", "shop:{1}", "shop:{2}"], ["shop:{1}", "shop:{2}"]), (["DEL", "a", "b"], ["a", "b"]),
    (["SPUBLISH", "shop:{1}", "text"], ["shop:{1}"]), (["PUBLISH", "shop:{1}", "text"], []),
    (["SET", "a", "b", "NX"], ["a"]), (["XINFO", "STREAM", "a"], ["a"]),
])
def test_names_of_a_command(words, names):
    assert names_of(words) == names


def test_a_name_is_misplaced_when_another_master_has_its_slot():
    one, two = SimpleNamespace(port=1), SimpleNamespace(port=2)
    owners = [one] * 16_384
    owners[key_slot(b"7")] = two
    placement = Placement(SimpleNamespace(owners=lambda: owners, masters=lambda: [one, two]))
    assert placement.misplaced(one, {"shop:{7}#log", "shop:{8}#log"}) == [("shop:{7}#log", 1)]
    assert placement.misplaced(two, {"shop:{7}#log", "shop:{8}#log"}) == [("shop:{8}#log", 2)]


@pytest.mark.parametrize("found, words", [
    (Found(keys=9, channels=3, lines=20, links=3, misplaced=[("a", 1)]), "1 names on another master"),
    (Found(keys=9, channels=3, lines=20, links=3, spanning=[["a", "b"]]), "1 scripts touched two slots"),
    (Found(keys=9, channels=3, lines=20, links=3, redirected=2), "2 calls were redirected"),
    (Found(channels=3, lines=20, links=3), "no keys"), (Found(keys=9, lines=20, links=3), "no channels"),
    (Found(keys=9, channels=3), "no lines"),
])
def test_what_is_misplaced_or_was_not_looked_at_fails(found, words):
    assert any(words in line for line in found.wrong())
    assert WELL.wrong() == []


def test_what_masters_do_for_idle_gateways_is_taken_off():
    busy, bare = Spent(10, 100, 0, 0, (5_000, 300), (60, 40)), Spent(2, 0, 0, 0, (200, 100), (1, 0))
    assert net(busy, bare) == (4_000, 0)


def rounds(redis_us=30.0, calls=(1 / 3, 1 / 3, 1 / 3), cpu=(1 / 3, 1 / 3, 1 / 3), refused=0):
    """Three rounds; the last one is as it should not be, and no median."""
    def case(us, call_shares=(1.0,), cpu_shares=(1.0,)):
        return masters.Figures(1_000, us, 50.0, cpu_shares, call_shares, refused)
    usual = {masters.ONE: case(90.0), masters.APART: case(30.0), masters.CLUSTER: case(redis_us, calls, cpu)}
    return [usual, usual, usual | {masters.CLUSTER: case(99.0, calls, cpu)}]


@pytest.mark.parametrize("given, words", [
    ({}, None), ({"redis_us": 32.9}, None), ({"redis_us": 33.1}, "1.103 of what it takes of three"),
    ({"calls": (0.36, 0.33, 0.31)}, None),
    ({"calls": (0.37, 0.33, 0.30)}, "master 1 has 37.0% of the calls"),
    ({"cpu": (0.35, 0.36, 0.29)}, "master 3 has 29.0% of the processor time"),
    ({"refused": 1}, "9 publishes were refused"),
])
def test_the_verdict(given, words):
    lines = masters.wrong(rounds(**given), WELL)
    assert (not lines) if words is None else any(words in line for line in lines), lines
