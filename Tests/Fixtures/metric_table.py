"""The families of metrics, as docs/metrics.md lists them."""

import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
ROW = re.compile(r"^\| `([a-z_]+)(?:\{([a-z,]+)\})?` \| (counter|gauge|histogram) \| ([a-z0-9 ]+) \| (.+?) \|", re.M)
#: A name of one of our metrics in a text, and not a part of a longer one.
NAME = re.compile(r"\b(?:switchboard|process)_[a-z_]*[a-z]\b")


class Family(NamedTuple):
    kind: str
    labels: list[str]


def families() -> dict[str, Family]:
    """Each family by its name."""
    rows = ROW.findall((ROOT / "docs" / "metrics.md").read_text())
    return {name: Family(kind, labels.split(",") if labels else []) for name, labels, kind, _, _ in rows}


def family_of(name: str, known: dict[str, Family]) -> str:
    """The family of a sample: those of a histogram have a suffix."""
    base = re.sub(r"_(bucket|sum|count)$", "", name)
    return base if base in known and known[base].kind == "histogram" else name


def named(text: str, known: dict[str, Family]) -> set[str]:
    """The families that a text names."""
    return {family_of(name, known) for name in NAME.findall(text)}
