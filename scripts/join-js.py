#!/usr/bin/env python3
"""Joins clients/js/src into the one module that is shipped: the same code without its comments, blanks and imports.

usage: scripts/join-js.py [--check]
  --check  writes nothing; fails when the module is not what the sources make
"""

import re
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1] / "clients/js"
PARTS = ("parts", "reasons", "calls", "topics", "given", "keeper", "tokens", "machine", "values", "client")
EXPORTS = ("Optimistic", "SwitchboardClient", "SwitchboardError", "backOffMs", "operationId", "webStorage")
HEAD = "// Made of src/ by scripts/join-js.py.\n"


def code(text):
    """The statements of a source, as they are."""
    text = re.sub(r"^ */\*\*.*?\*/\n", "", text, flags=re.DOTALL | re.MULTILINE)
    lines = [re.sub(r"  // .*$", "", line) for line in text.splitlines() if not re.match(r"\s*(//|import )", line)]
    return "\n".join(re.sub(r"^ *(export )?", "", line) for line in lines if line.strip()) + "\n"


# Texts, templates and expressions stay as they are; words may need a blank between them, and so do equal signs.
TOKEN = re.compile(r"'(?:[^'\\\n]|\\.)*'|`[^`]*`|/(?:[^/\\\n ]|\\.)+/(?=[.,;)])|[\w$#]+|[ ]+|.|\n")


def narrow(text):
    """Code without the blanks that only readers need."""
    tokens = TOKEN.findall(text)
    assert "".join(tokens) == text
    kept = []
    for before, token, after in zip([""] + tokens, tokens, tokens[1:] + [""]):
        pair = before[-1:] + after[:1]
        if not token.isspace() or token == "\n" or re.fullmatch(r"[\w$#]{2}|\+\+|--", pair):
            kept.append(token)
    return "".join(kept)


def module():
    """The whole module."""
    bodies = "".join(narrow(code((FOLDER / f"src/{part}.js").read_text())) for part in PARTS)
    return HEAD + bodies + f"export {{ {', '.join(EXPORTS)} }};\n"


if __name__ == "__main__":
    target = FOLDER / "switchboard.js"
    if "--check" not in sys.argv:
        target.write_text(module())
    elif target.read_text() != module():
        sys.exit("clients/js/switchboard.js is not what its sources make: run scripts/join-js.py")
