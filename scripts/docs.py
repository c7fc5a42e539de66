#!/usr/bin/env python3
"""Makes one static page of all pages: with search, light and dark, without any network.

usage: .venv/bin/python scripts/docs.py [FILE]      FILE is .build/docs/index.html unless given

The pages of docs/README.md come first, in its order and under its headings. Its links lead inside the page; a link to a
file that is no page leads into the clone, in which FILE lies. Pictures are put inside.
"""

import base64
import html
import mimetypes
import os
import re
import subprocess
import sys
from pathlib import Path

from markdown_it import MarkdownIt

ROOT = Path(__file__).resolve().parents[1]
PARTS = Path(__file__).resolve().parent / "docs"
INDEX = ROOT / "docs/README.md"
REST = "More"
# Pages of other tools' making or for other tools.
LEFT_OUT = re.compile(r"\.docc/")


def pages() -> list[str]:
    """Every page that git knows or would add, by its path in the clone."""
    names = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"], cwd=ROOT,
                           capture_output=True, text=True, check=True).stdout.split("\n")
    return sorted(name for name in set(names) if name and (ROOT / name).exists() and not LEFT_OUT.search(name))


def slug(heading: str) -> str:
    """The anchor that GitHub gives a heading."""
    text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").lower()
    return re.sub(r"[^\w\- ]", "", text).strip().replace(" ", "-")


def resolved(page: str, target: str) -> str:
    """The path in the clone that a link of a page names."""
    return os.path.normpath(os.path.join(os.path.dirname(page), target)) if target else page


def groups(known: list[str]) -> list[tuple[str, list[str]]]:
    """The pages by the headings of the index, each once, and then the others."""
    found, taken, heading = [("", ["docs/README.md"])], {"docs/README.md"}, ""
    for line in INDEX.read_text().splitlines():
        if line.startswith("## "):
            heading = line[3:]
            found.append((heading, []))
        for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", line):
            name = resolved("docs/README.md", target)
            if name in known and name not in taken:
                taken.add(name)
                found[-1][1].append(name)
    found.append((REST, [name for name in known if name not in taken]))
    return [(heading, names) for heading, names in found if names]


def title(page: str) -> str:
    """The heading of a page."""
    return re.search(r"^# (.+)$", (ROOT / page).read_text(), re.M)[1]


class Renderer:
    """Turns the pages into HTML, each heading with an anchor that is its own in the whole."""

    def __init__(self, known: list[str], output: Path):
        self.known, self.output, self.page = set(known), output, ""
        self.markdown = MarkdownIt("commonmark", {"html": True}).enable("table")
        rules = self.markdown.renderer.rules
        rules["heading_open"] = self.heading
        rules["link_open"] = self.link
        rules["image"] = self.image
        rules["table_open"] = lambda *_: '<div class="wide" tabindex="0" role="group" aria-label="Table"><table>\n'
        rules["table_close"] = lambda *_: "</table></div>\n"

    def heading(self, tokens, index, options, env) -> str:
        token = tokens[index]
        anchor = slug(tokens[index + 1].content)
        place = self.page if token.tag == "h1" else f"{self.page}~{anchor}"
        return f'<{token.tag} id="{html.escape(place)}" tabindex="-1">'

    def link(self, tokens, index, options, env) -> str:
        token = tokens[index]
        token.attrSet("href", self.place(token.attrGet("href")))
        return self.markdown.renderer.renderToken(tokens, index, options, env)

    def place(self, href: str) -> str:
        """Where a link leads from the one page."""
        if re.match(r"[a-z]+:", href):
            return href
        target, _, anchor = href.partition("#")
        name = resolved(self.page, target)
        if name in self.known:
            return f"#{name}~{anchor}" if anchor and anchor != slug(title(name)) else f"#{name}"
        return os.path.relpath(ROOT / name, self.output.parent)

    def inside(self, source: str) -> str:
        """A picture as a part of the page."""
        path = ROOT / resolved(self.page, source)
        kind = mimetypes.guess_type(path.name)[0]
        return f"data:{kind};base64,{base64.b64encode(path.read_bytes()).decode()}"

    def image(self, tokens, index, options, env) -> str:
        token = tokens[index]
        token.attrSet("src", self.inside(token.attrGet("src")))
        token.attrSet("alt", token.content)
        return self.markdown.renderer.renderToken(tokens, index, options, env)

    def article(self, page: str) -> str:
        """A page, in an element of its own."""
        self.page = page
        text = self.markdown.render((ROOT / page).read_text())
        # Pictures and their light and dark sources are written in HTML.
        text = re.sub(r'\b(src|srcset)="(?!data:)([^"]+)"', lambda found: f'{found[1]}="{self.inside(found[2])}"', text)
        text = re.sub(r'<a id="([\w-]+)">', lambda found: f'<a id="{page}~{found[1]}">', text)
        return f'<article data-page="{html.escape(page)}">\n{text}</article>\n'


def navigation(found: list[tuple[str, list[str]]]) -> str:
    """The list of pages, by task."""
    lines = []
    for heading, names in found:
        lines.append(f"<h2>{html.escape(heading)}</h2>" if heading else "")
        lines.append("<ul>")
        lines += [f'<li><a href="#{name}">{html.escape(title(name).replace("`", ""))}</a></li>' for name in names]
        lines.append("</ul>")
    return "\n".join(lines)


def made(output: Path) -> str:
    """The whole page."""
    known = pages()
    found = groups(known)
    renderer = Renderer(known, output)
    parts = {
        "STYLE": (PARTS / "page.css").read_text(), "SCRIPT": (PARTS / "page.js").read_text(),
        "NAVIGATION": navigation(found),
        "ARTICLES": "".join(renderer.article(name) for _, names in found for name in names)}
    return re.sub(r"@([A-Z]+)@", lambda word: parts[word[1]], (PARTS / "page.html").read_text())


def main() -> int:
    output = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / ".build/docs/index.html").absolute()
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(made(output))
    print(f"{output}: {output.stat().st_size // 1000} kB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
