"""Scripts as an operator would write them, for `--scripts DIR`."""

import re
from pathlib import Path

LUA = Path(__file__).resolve().parents[3] / "lua"
# The pages that teach how to write scripts.
GUIDE = [LUA.parent / "docs" / "scripts" / f"{name}.md" for name in ("tutorial", "header", "body", "packs")]
EXAMPLE = "lend_umbrella"


def guide() -> str:
    """The text of these pages."""
    return "\n".join(page.read_text() for page in GUIDE)


def examples() -> dict[str, str]:
    """The guide's complete scripts, by the names of their commands."""
    blocks = re.findall(r"^```lua\n(.*?)^```$", guide(), re.M | re.S)
    return {name: block for block in blocks for name in re.findall(r"^-- @command +(\w+)$", block, re.M)}


def example() -> str:
    """The guide's first script."""
    return examples()[EXAMPLE]


def example_pack() -> str:
    """The `pack.json` of the guide."""
    return re.search(r"^```json\n(\{\n  \"summary\".*?)^```$", guide(), re.M | re.S)[1]


def write_scripts(directory: Path, pack: str = "", **texts: str) -> str:
    """Writes scripts by name, and the text of a `pack.json`; returns the directory as `--scripts` takes it."""
    directory.mkdir(parents=True, exist_ok=True)
    if pack:
        (directory / "pack.json").write_text(pack)
    for name, text in texts.items():
        (directory / f"{name}.lua").write_text(text)
    return str(directory)


def script(name: str, body: str = "return {}", *, drop: str = "", **tags) -> str:
    """A command with a header that is right, but for what is said: `tags` replaces or adds a tag by its name.

    A list gives a repeatable tag several times; `drop` names a tag to leave out.
    """
    values = {
        "command": name, "summary": "For tests.", "allow": "anonymous|user|service|worker", "arg": "shopId id",
        "key": "box shop:{shopId}#box", "topic": "shop:{shopId}", "returns": "{}", "cost": "O(1)"} | tags
    lines = []
    for tag, value in values.items():
        if tag != drop:
            lines += [f"-- @{tag} {text}".rstrip() for text in (value if isinstance(value, list) else [value])]
    return "\n".join(lines) + "\n\n" + body + "\n"
