"""The checker accepts every good run and catches every bug put into one."""

import json
import random
import time

import pytest

import checker
import mutations
from transcripts import transcript

GOOD_SEEDS = 200
BUG_SEEDS = 20
SEED = 20_260


def test_good_runs_are_accepted():
    totals = {}
    for seed in range(SEED, SEED + GOOD_SEEDS):
        report = transcript(seed).check()
        assert report.good, f"seed {seed}: {report.summary()}"
        for name in ("acked", "unacked", "delivered", "recovered", "resets", "signalled missing"):
            totals[name] = totals.get(name, 0) + report.counts[name]
    # A generator that makes none of these would prove nothing.
    assert all(totals.values()), totals


@pytest.mark.parametrize("bug", mutations.ALL, ids=lambda bug: bug.__name__)
def test_bugs_are_caught(bug):
    caught = 0
    for seed in range(SEED, SEED + 10 * BUG_SEEDS):
        run = transcript(seed)
        try:
            bug(run, random.Random(seed))
        except AssertionError:
            continue  # No place for this bug in this run.
        assert not run.check().good, f"seed {seed}: {bug.__doc__}"
        caught += 1
        if caught == BUG_SEEDS:
            return
    pytest.fail(f"only {caught} transcripts had a place for this bug")


def test_the_command_line_reads_files(tmp_path, capsys):
    run = transcript(SEED)
    (tmp_path / "publisher.jsonl").write_text("".join(json.dumps(entry) + "\n" for entry in run.publisher))
    lines = [" ".join(map(str, fields)) + "\n" for fields in run.subscribers]
    (tmp_path / "subscribers.log").write_text("".join(lines))
    (tmp_path / "facts.json").write_text(json.dumps(run.facts))
    assert checker.main([str(tmp_path)]) == 0
    assert json.loads(capsys.readouterr().out)["good"]

    # A writer that was killed leaves half a line: that is no violation, a missing one is.
    mutations.drop(run, random.Random(SEED))
    lines = [" ".join(map(str, fields)) + "\n" for fields in run.subscribers]
    (tmp_path / "subscribers.log").write_text("".join(lines) + "12345 E c0 loa")
    assert checker.main([str(tmp_path)]) == 1
    said = json.loads(capsys.readouterr().out)
    assert said["by_invariant"] == {"I3": 1} and "subscribers.log:" in said["first"][0]["where"]


def test_many_lines_take_little_time():
    """A run of an hour has millions of lines: a line costs microseconds."""
    names = [f"m{number}" for number in range(1_000)]
    one = checker.Checker({})
    one.read_publisher(
        (json.dumps({"t": 1, "try": name, "topic": "load:t0", "crc": "00000000"}) + "\n" for name in names), "p")
    lines = []
    for client in range(200):
        lines.append(f"2 S {client} load:t0 k 0 0 - -\n")
        lines += [f"3 E {client} load:t0 {offset} e {name} 00000000\n" for offset, name in enumerate(names, 1)]
    began = time.process_time()
    one.read_subscribers(lines, "s")
    seconds = time.process_time() - began
    report = one.finish()
    assert report.good and report.counts["delivered"] == 200_000
    assert seconds < 2, f"{seconds / 0.2:.1f} us a line"
