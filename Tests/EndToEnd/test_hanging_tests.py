"""A test that waits for ever fails by itself, and those behind it run (Tests/pytest.ini)."""

import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
HANGS = """
import os


def test_that_hangs():
    reader, _ = os.pipe()
    os.read(reader, 1)


def test_behind_it():
    pass
"""


def test_one_that_hangs_fails_with_its_stack_and_the_next_one_runs(tmp_path):
    """A program that printed nothing held up the whole gate, up to its end, and no line named it."""
    (tmp_path / "test_it.py").write_text(HANGS)
    words = [sys.executable, "-m", "pytest", "-c", TESTS / "pytest.ini", "--rootdir", TESTS, "-p", "no:cacheprovider",
             "--override-ini", "timeout=1", tmp_path / "test_it.py"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "1 failed, 1 passed" in done.stdout
    assert "os.read(reader, 1)" in done.stdout and "Timeout" in done.stdout
