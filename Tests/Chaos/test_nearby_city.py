"""A small run of listeners who walk through a city, so that a change that breaks it is seen before it is merged."""

import argparse

import pytest

import nearby
from Fixtures.redis.server import RedisServer
from Fixtures.seeds import seeded


def test_everybody_is_told_what_the_model_says_and_no_exact_place_is_kept(tmp_path):
    options = argparse.Namespace(listeners=200, moves=120, crowd=60, apps=4, side=500)
    figures, problems = nearby.run(options, tmp_path, seeded("nearby city"), log=lambda line: None)
    assert not problems, problems[:5]
    # A run in which nothing happens would prove nothing.
    assert figures["told"] > 3_000 and figures["erased"] > 0 and figures["told to apps"] > 5, figures


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with RedisServer(tmp_path_factory.mktemp("redis")).running() as server:
        yield server


@pytest.mark.parametrize("wrong, right, problem", [
    ("rounded(args.latitude, args.longitude, rounding_of(settings))", "args.latitude, args.longitude", "an exact"),
    ("note_members(refused, quiet, slots)", "", "answered others"),
    ("> MOVE_METRES", "> 60", "not the same was told"),
    ("kept = 6,", "kept = 5,", "answered others"),
    ("lose(viewer, slot)\n      tell_gone(viewer, slot)", "lose(viewer, slot)", "not the same was told"),
    ("if #set > 0 then write", "if #set > 50 then write", "kept otherwise"),
], ids=["not rounded", "mutes forgotten", "moves untold", "one fewer", "leaves untold", "a list unwritten"])
def test_the_checker_sees_a_script_that_is_wrong(server, wrong, right, problem):
    """The proof that a run can fail."""
    with server.client() as db:
        db.flushall()
        walk = nearby.Walk(db, seeded("a wrong city"), 300, 60)
        text_of = walk.commands.text

        def text(name):
            text = text_of(name).decode()
            assert name != "set_location" or wrong in text
            return text.replace(wrong, right).encode()
        walk.commands.text = text
        for number in range(60):
            walk.come(walk.user(number), [(500, "everyone", 0), (500, "everyone", 1_000)])
        for number in range(0, 60, 5):
            walk.refuse(walk.user(number), "mute")
            walk.walk(walk.user(number), 40)
        walk.judge_kept()
        _, found = nearby.search(db, walk)
        walk.ears.close()
    assert any(problem in one for one in walk.problems + found), (walk.problems + found)[:3]
