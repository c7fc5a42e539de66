"""bench/commands.py, run small: every call is answered on both sides, and the same scripts run on both."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).resolve().parents[2] / "bench" / "commands.py"


# An unoptimised gateway asks Redis for single calls, and each of them costs more.
@pytest.mark.shipped
def test_both_sides_run_the_same_scripts(tmp_path):
    """Redis alone was once asked for the session alone, and seemed ten times as fast."""
    report = tmp_path / "report.json"
    words = [sys.executable, str(PROGRAM), "--seconds", "0.2", "--rounds", "1", "--cases", "vote_song", "--json",
             str(report)]
    result = subprocess.run(words, capture_output=True, text=True, timeout=60, env=os.environ)
    assert result.returncode == 0, result.stdout + result.stderr
    [round_] = json.loads(report.read_text())["vote_song"]
    through, alone = round_["gateway"], round_["redis"]
    assert through["answered"] >= 800 and alone["answered"] >= 800, "a window of every connection"
    assert through["gatewayUs"] > 1 and through["redisUs"] > 1 and "vote_song" in result.stdout
    # Processor time of one program on one machine; what a script takes is much the same, whoever calls it.
    assert 1 / 4 < alone["redisUs"] / through["redisUs"] < 4, round_
