"""Several crowds are asked as one."""

import json

from commanded import Crowds


class Member:
    def __init__(self, **figures):
        self.figures = figures

    def ask(self, command, seconds_max):
        assert command == "status"
        return json.dumps(self.figures)


def asked(*members):
    return json.loads(Crowds(list(members)).ask("status"))


def test_figures_are_added_and_of_times_the_largest_counts():
    one = Member(live=10, events=100, p99Ms=5.5, connectMs=3.0, backMs=700)
    two = Member(live=7, events=50, p99Ms=2.0, connectMs=9.0, backMs=300)
    assert asked(one, two) == {"live": 17, "events": 150, "p99Ms": 5.5, "connectMs": 9.0, "backMs": 700}


def test_all_are_back_when_every_crowd_is():
    away = Member(live=3, p99Ms=None, backMs=None)
    assert asked(Member(live=4, p99Ms=1.0, backMs=20), away) == {"live": 7, "p99Ms": 1.0, "backMs": None}
