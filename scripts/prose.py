#!/usr/bin/env python3
"""Counts what makes pages hard to read: clauses in place of nouns, long sentences, bullets without an end, size.

usage: scripts/prose.py [--list] [FILE ...]     without files, every page of the project
exit: 0 when every bound holds, 1 when one does not

--list prints each offence with its file and line. Code, tables' heads and headings are left out. The changelog, the
archive of decisions and the metrics' list may be long pages. Bullets of DocC that are the name of a symbol need no end.
"""

import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
CLAUSES_MAX = 10
WORDS_MAX = 32
LONG_SHARE_MAX = 0.02
PAGE_BYTES_MAX = 20_000
# History, and a page that the code writes.
MAY_BE_LONG = {"CHANGELOG.md", "docs/archive/decisions.md", "docs/metrics.md"}
# A clause that stands for a thing: "Who joins pays.", "What is kept is small."
CLAUSE = re.compile(r"(?:Who|What|Whoever|Whatever)\b(?!:)")
BULLET = re.compile(r"^\s*(?:[-*]|\d+\.) ")
ENDED = re.compile(r"[.:?!][*_)\"]*$")
# A full stop inside a word or an abbreviation ends nothing: `e.g.`, `1.5`, `settings.json`.
END = re.compile(r"(?<=[.?!])[*_)\"]*\s+(?=[*_(\"`\[]*[A-Z0-9`/-])")


class Part(NamedTuple):
    """A paragraph, a bullet or a cell: its first line, what it is, and its text without marks."""

    line: int
    kind: str
    text: str


def pages() -> list[Path]:
    """Every Markdown file that git knows or would add."""
    names = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"], cwd=ROOT,
                           capture_output=True, text=True, check=True).stdout.split("\n")
    return sorted(ROOT / name for name in set(names) if name and (ROOT / name).exists())


def plain(text: str) -> str:
    """The words that a reader sees; code is one word, so that a full stop in it ends nothing."""
    text = re.sub(r"<!--.*?-->|<[^>]+>", "", text)
    text = re.sub(r"(`+)(?:(?!\1).)+\1", "`x`", text)
    text = re.sub(r"!?\[([^]]*)\]\([^)]*\)", r"\1", text)
    return re.sub(r"\s+", " ", text).strip()


def parts(text: str) -> list[Part]:
    """The paragraphs, bullets and cells of a page, in order."""
    found, lines, fenced, row = [], [], False, 0

    def close():
        if lines:
            first, kind = lines[0][0], "bullet" if BULLET.match(lines[0][1]) else "paragraph"
            joined = BULLET.sub("", " ".join(line for _, line in lines))
            found.append(Part(first, kind, plain(joined)))
            lines.clear()

    for number, line in enumerate(text.splitlines(), 1):
        if re.match(r"\s*(```|~~~)", line):
            close()
            fenced = not fenced
        elif fenced:
            continue
        elif line.lstrip().startswith("|"):
            close()
            row += 1
            if row > 2:  # behind the head and its rule
                cells = re.split(r"(?<!\\)\|", line.strip().strip("|"))
                found += [Part(number, "cell", plain(cell)) for cell in cells if plain(cell)]
            continue
        elif not line.strip() or line.startswith("#") or line.lstrip().startswith("<"):
            close()
        else:
            if BULLET.match(line):
                close()
            lines.append((number, line))
        row = 0
    close()
    return found


def sentences(text: str) -> list[str]:
    """The sentences of a part."""
    return [one for one in END.split(text) if one]


class Counts(NamedTuple):
    """What was found, each with file and line."""

    clauses: list[str]
    long: list[str]
    unended: list[str]
    large: list[str]
    sentences: int


def count(files: list[Path]) -> Counts:
    """Looks at some pages."""
    counts = Counts([], [], [], [], 0)
    total = 0
    for file in files:
        name = str(file.relative_to(ROOT)) if file.is_relative_to(ROOT) else str(file)
        text = file.read_text()
        if len(text.encode()) > PAGE_BYTES_MAX and name not in MAY_BE_LONG:
            counts.large.append(f"{name}: {len(text.encode())} bytes")
        for part in parts(text):
            if part.kind == "bullet" and not ENDED.search(part.text) and ".docc" not in name:
                counts.unended.append(f"{name}:{part.line}: ...{part.text[-60:]}")
            for one in sentences(part.text):
                total += part.kind != "cell"
                if CLAUSE.match(one.lstrip("*_(\"")) and not one.rstrip("*_)\"").endswith("?"):
                    counts.clauses.append(f"{name}:{part.line}: {one[:100]}")
                if part.kind != "cell" and len(one.split()) > WORDS_MAX:
                    counts.long.append(f"{name}:{part.line}: {len(one.split())} words: {one[:100]}")
    return counts._replace(sentences=total)


def problems(counts: Counts) -> list[str]:
    """The bounds that do not hold."""
    found = []
    if len(counts.clauses) > CLAUSES_MAX:
        found.append(f"{len(counts.clauses)} clauses in place of a noun; at most {CLAUSES_MAX}")
    if len(counts.long) > LONG_SHARE_MAX * counts.sentences:
        found.append(f"{len(counts.long)} of {counts.sentences} sentences have more than {WORDS_MAX} words; "
                     f"at most {LONG_SHARE_MAX:.0%}")
    if counts.unended:
        found.append(f"{len(counts.unended)} bullets do not end with a full stop")
    if counts.large:
        found.append(f"{len(counts.large)} pages have more than {PAGE_BYTES_MAX} bytes")
    return found


def main() -> int:
    names = [argument for argument in sys.argv[1:] if argument != "--list"]
    counts = count([Path(name).resolve() for name in names] or pages())
    if "--list" in sys.argv:
        for title in ("clauses", "long", "unended", "large"):
            for one in getattr(counts, title):
                print(f"{title}: {one}")
    found = problems(counts)
    print("\n".join(found) if found else
          f"prose: {len(counts.clauses)} clauses in place of a noun, {len(counts.long)} long sentences "
          f"of {counts.sentences}, every bullet ended")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
