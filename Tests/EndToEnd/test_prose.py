"""scripts/prose.py: the pages are as plain as it says, and it sees what is not."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def ask(*words):
    command = [sys.executable, ROOT / "scripts/prose.py", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


def test_the_pages_are_plain():
    """`scripts/prose.py --list` names each place."""
    done = ask()
    assert done.returncode == 0, done.stdout


LONG = "A reader who meets this sentence has to keep very many things in mind at once" + ", and one more" * 7
WRONG = {
    "clauses in place of a noun": "Who joins pays for the read. Nothing else does.\n\n" * 11,
    "sentences have more than 32 words": f"{LONG}.\n\nA short one.\n",
    "bullets do not end with a full stop": "- One ends.\n- Another does not\n",
    "pages have more than 20000 bytes": "One sentence.\n\n" * 1_500,
}
RIGHT = [
    "What is a topic? It is `NAMESPACE:ID`.\n" * 11,                                      # a question
    "# Who is here\n\n| who | what |\n|---|---|\n| a client | a name |\n" * 11,     # headings, and heads
    ("```\nWho joins pays. " + "word " * 40 + "\n- no end\n```\n") * 11,                  # code
    "- Each of 1.5 s, `a.b: c` and [a page](x.md) ends here.\n- \"A quoted one.\"\n- **Bold.**\n",
    "The rest of a bullet\nis one sentence with `full.stops` in\n" + "words. Ten more words " * 9 + "end it.\n",
]


@pytest.mark.parametrize("name", WRONG)
def test_each_offence_is_seen(name, tmp_path):
    page = tmp_path / "page.md"
    page.write_text(WRONG[name])
    done = ask(str(page), "--list")
    assert done.returncode == 1 and name in done.stdout and f"{page}" in done.stdout
    assert sum(" at most " in line or name in line for line in done.stdout.splitlines()) == 1, "and no other"


@pytest.mark.parametrize("number", range(len(RIGHT)))
def test_what_is_none_is_not(number, tmp_path):
    page = tmp_path / "page.md"
    page.write_text(RIGHT[number])
    done = ask(str(page), "--list")
    assert done.returncode == 0 and "clauses: " not in done.stdout, done.stdout
