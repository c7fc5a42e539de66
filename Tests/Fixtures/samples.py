"""The samples of the pages: every fenced block, by its page, its heading and its language."""

import re
import subprocess
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]


class Sample(NamedTuple):
    """A fenced block. `name` is `PAGE#HEADING:LANGUAGE`, with a number behind the first of one heading and language."""

    name: str
    language: str
    text: str


def slug(heading: str) -> str:
    """The anchor that GitHub gives a heading."""
    text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").lower()
    return re.sub(r"[^\w\- ]", "", text).strip().replace(" ", "-")


def pages() -> list[Path]:
    """Every page that git knows or would add."""
    names = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"], cwd=ROOT,
                           capture_output=True, text=True, check=True).stdout.split("\n")
    return sorted(ROOT / name for name in set(names) if name and (ROOT / name).exists())


def samples(page: Path) -> list[Sample]:
    """The blocks of a page, in order; a block in a list is indented and loses its indent."""
    found, heading, block, counts = [], "", None, {}
    for line in page.read_text().splitlines():
        fence = re.match(r"(\s*)```(\w*)", line)
        if block is not None and fence:
            name = f"{page.relative_to(ROOT)}#{heading}:{block[1] or 'text'}"
            counts[name] = counts.get(name, 0) + 1
            name += f":{counts[name]}" if counts[name] > 1 else ""
            found.append(Sample(name, block[1], "".join(text[len(block[0]):] + "\n" for text in block[2])))
            block = None
        elif fence:
            block = (fence[1], fence[2], [])
        elif block is not None:
            block[2].append(line)
        elif line.startswith("#"):
            heading = slug(line.lstrip("# "))
    return found


def sample(name: str) -> str:
    """The text of the sample of this name."""
    [found] = [one for one in samples(ROOT / name.partition("#")[0]) if one.name == name]
    return found.text
