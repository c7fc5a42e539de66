"""The Debian packages that scripts/packages.sh names."""

import re
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[3] / "scripts/packages.sh"


def named_packages(kind: str) -> set[str]:
    """The packages of one of its lists: `build`, `test`, `bench`, `release`."""
    words = re.search(rf"^readonly {kind}_packages=\((.*?)\)$", SCRIPT.read_text(), re.S | re.M)[1]
    return set(re.sub(r"#.*", "", words).split())
