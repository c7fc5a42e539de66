"""What the rig of a Cluster sees of topics that a fault is not about, from logs that are made up."""

import json

import pytest
from elsewhere import Elsewhere
from fleet_rounds import Played

ROUND = Played("kill", 1.0, 1_000, 9_000, {"load:t0"})


def tried(at, identity, topic):
    return {"t": at, "try": identity, "topic": topic, "crc": "0"}


def acked(at, identity, topic):
    return {"t": at, "ack": identity, "topic": topic, "epoch": "e", "offset": 1}


def refused(at, identity):
    return {"t": at, "nack": identity, "status": 503, "code": "unavailable"}


PROMPT = [tried(2_000, "a", "load:t1"), acked(4_000, "a", "load:t1")]
CONCERNED = [tried(2_000, "b", "load:t0"), refused(3_000, "b"), tried(3_100, "b", "load:t0")]
BEFORE = [tried(900, "c", "load:t1"), refused(950, "c"), tried(960, "c", "load:t1"), acked(980, "c", "load:t1")]


@pytest.mark.parametrize("entries, problem", [
    (PROMPT + CONCERNED + BEFORE, None),
    (PROMPT + [tried(2_000, "d", "load:t2"), refused(2_500, "d")], "refused on topics of other slots: {'503 unava"),
    (PROMPT + [tried(2_000, "d", "load:t2")], "1 attempts on topics of other slots had no answer"),
    (PROMPT + [tried(2_000, "d", "load:t2"), tried(8_000, "d", "load:t2"), acked(8_500, "d", "load:t2")], "1 attempts"),
    (CONCERNED + BEFORE, "nothing was published elsewhere"),
], ids=["prompt", "refused", "unanswered", "answered the second time", "nothing elsewhere"])
def test_what_other_topics_suffered_in_a_round_is_told(tmp_path, entries, problem):
    (tmp_path / "publisher.jsonl").write_text("".join(json.dumps(entry) + "\n" for entry in entries))
    (tmp_path / "subscribers.log").write_text("5000 E 1 load:t1 1 e a 0\n")
    problems = Elsewhere(tmp_path).judge([ROUND])
    assert [problem in one for one in problems] == ([True] if problem else []), problems


def test_how_long_answers_and_events_took_is_told(tmp_path, capsys):
    (tmp_path / "publisher.jsonl").write_text("".join(json.dumps(entry) + "\n" for entry in PROMPT))
    (tmp_path / "subscribers.log").write_text("5000 E 1 load:t1 1 e a 0\n7000 E 2 load:t1 1 e a 0\n")
    Elsewhere(tmp_path).judge([ROUND])
    told = capsys.readouterr().out
    assert "1 publishes" in told and "p99 2.0 max 2 ms" in told and "event p99 5.0 ms" in told
