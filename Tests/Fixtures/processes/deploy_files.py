"""Reads what deploy/ says about containers: the stages of the container file, the services of compose.yaml."""

import re
import shlex
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[3]
DEPLOY = ROOT / "deploy"


class Stage:
    """One stage of the container file, in the words of its instructions."""

    def __init__(self, name: str, base: str):
        self.name, self.base = name, base
        self.runs, self.copies = [], []
        self.user = self.stop_signal = None
        self.entry = []

    @property
    def packages(self) -> list:
        """What apt-get installs."""
        text = " ".join(self.runs)
        return [word for part in re.findall(r"apt-get install ([^&]*)", text)
                for word in shlex.split(part) if not word.startswith("-")]


def stages() -> dict:
    """The stages of deploy/Containerfile by name, in order; an instruction that is not known here is an error."""
    text = re.sub(r"\\\n", " ", re.sub(r"^#.*\n", "", (DEPLOY / "Containerfile").read_text(), flags=re.M))
    found, stage = {}, None
    for line in filter(None, map(str.strip, text.splitlines())):
        word, _, rest = line.partition(" ")
        if word == "FROM":
            base, _, name = rest.partition(" AS ")
            stage = found[name] = Stage(name, base)
        elif word == "RUN":
            stage.runs.append(rest)
        elif word == "COPY":
            flags = [one for one in rest.split() if one.startswith("--")]
            *sources, target = [one for one in rest.split() if not one.startswith("--")]
            stage.copies.append((flags, sources, target))
        elif word == "USER":
            stage.user = rest
        elif word == "STOPSIGNAL":
            stage.stop_signal = rest
        elif word == "ENTRYPOINT":
            stage.entry = yaml.safe_load(rest)
        else:
            assert word in ("WORKDIR", "EXPOSE", "CMD"), f"unknown instruction: {line}"
    return found


def compose(kind: str = "one") -> dict:
    """compose.yaml with its anchors resolved, or what `sentinel` or `cluster` has in the place of its one Redis."""
    name = "compose.yaml" if kind == "one" else f"compose-{kind}.yaml"
    return yaml.safe_load((DEPLOY / name).read_text())


def gateways(file: dict) -> dict:
    """The gateways' services by name."""
    return {name: service for name, service in file["services"].items() if service.get("command", [""])[0] == "gateway"}


def flag(service: dict, name: str) -> str:
    """The value of a flag in a service's command."""
    [value] = [word.partition("=")[2] for word in service["command"] if word.startswith(f"--{name}=")]
    return value


def is_in_context(path: str) -> bool:
    """Whether .dockerignore lets a file in: the last pattern that matches it, or a directory above, decides."""
    inside = True
    for line in (ROOT / ".dockerignore").read_text().splitlines():
        if not line or line.startswith("#"):
            continue
        pattern, lets_in = line.lstrip("!"), line.startswith("!")
        parts = path.split("/")
        above = ["/".join(parts[:count]) for count in range(1, len(parts) + 1)]
        if any(_matches(one, pattern) for one in above):
            inside = lets_in
    return inside


def _matches(path: str, pattern: str) -> bool:
    # `*` stays within a directory, `**` does not.
    expression = re.escape(pattern).replace(r"\*\*/", "(.*/)?").replace(r"\*", "[^/]*")
    return re.fullmatch(expression, path) is not None


def nginx_directives(name: str) -> list:
    """The directives of an nginx file of deploy/, without comments and with single blanks."""
    text = re.sub(r"#.*", "", (DEPLOY / name).read_text())
    return [" ".join(one.split()) for one in re.split(r"[;{}]", text) if one.strip()]
