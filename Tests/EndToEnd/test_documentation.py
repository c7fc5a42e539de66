"""The documentation is true where a machine can tell: codes, labels, links, files, targets, flags, metrics."""

import re
import subprocess
from pathlib import Path

import pytest

from Fixtures.apps.operator_scripts import example_pack, examples, write_scripts
from Fixtures.metric_table import families, family_of, named
from Fixtures.outside.apns import Apns
from Fixtures.processes.courier import CourierProcess
from Fixtures.processes.node import BINARY
from Fixtures.waiting import eventually

ROOT = Path(__file__).resolve().parents[2]
PROTOCOL = (ROOT / "docs" / "protocol.md").read_text()
SOURCE = (ROOT / "Sources" / "Core" / "CloseReason.swift").read_text()

PAGES = sorted(path for path in ROOT.glob("**/*.md") if not set(path.relative_to(ROOT).parts) & {
    ".build", ".venv", ".pytest_cache", "node_modules"})
COMMANDS = ("dev", "gateway", "worker", "courier", "token", "check", "publish", "tail", "reset-epochs",
            "move-data", "types", "test", "top")
# Flags of other programs that our pages name in single words.
FOREIGN = {"--appendonly", "--deliveries", "--file", "--help", "--stolen-max", "--wait"}
# Files that our pages name and a program makes.
MADE = {"bench/results/peers.json", "deploy/secrets/redis.acl", "deploy/secrets/tls.crt"}
# Words that begin like a metric: the cookie of event streams.
NO_METRICS = {"switchboard_token"}
# Families that need more than one server of Redis, or more time, before they have a figure.
SHOWN_LATER = {"switchboard_couriers_live", "switchboard_workers_live", "switchboard_outbox_entries",
               "switchboard_outbox_oldest_seconds", "switchboard_redis_probe_age_seconds"}



def test_close_codes_are_those_of_the_table():
    codes = dict(re.findall(r"case ((?:\.\w+(?:, )?)+): (\d{4})", SOURCE))
    assert len(codes) >= 15
    documented = dict(re.findall(r"^\| (\d{4}) \| (`[a-z_`, ]+`) \|", PROTOCOL, re.M))
    assert set(codes.values()) == set(documented)


def test_labels_are_those_of_the_metric(gw):
    labels = gw.metrics().label_values("switchboard_connections_closed_total", "reason")
    rows = "\n".join(re.findall(r"^\| \d{4} \|.*$", PROTOCOL, re.M))
    named = set(re.findall(r"`(\w+)`", rows)) - {"draining", "reconnectAfterMs"}
    assert named <= labels, named - labels


def test_processes_show_the_metrics_of_the_table(gw, worker, tmp_path, shared_server, certificate):
    """Each process's page has families of the table with their labels. The guide's scripts have a service outside."""
    scripts = write_scripts(tmp_path / "scripts", pack=example_pack(), **examples())
    one = worker("--worker-ops", "127.0.0.1:0", scripts=scripts)
    for name in ("calls_dead_entries", "outbox_dead_entries", "outbox_entries", "worker_scan_seconds"):
        eventually(lambda name=name: f"switchboard_{name}" in one.metrics().text, 10, name)
    (tmp_path / "secret").write_text("whsec_" + "A" * 32)
    courier = CourierProcess(tmp_path / "courier", shared_server.url, certificate, {
        "services": {"spotify": {"token-url": None}},
        "webhooks": {"none": {"url": "https://127.0.0.1:1", "secret-file": str(tmp_path / "secret"),
                              "topics": ["order:no-such"]}}},
        "--jwks-url", "https://127.0.0.1:1/keys", "--jwks-file", str(tmp_path / "jwks"),
        *Apns(tmp_path).flags("https://127.0.0.1:1"))
    try:
        courier.start()
        eventually(lambda: "switchboard_build_info" in courier.metrics().text, 10, "the nodes")
        pages = {"gateway": gw.metrics().text, "worker": one.metrics().text, "courier": courier.metrics().text}
    finally:
        courier.stop()
    known = families()
    for role, page in pages.items():
        assert f'role="{role}"' in page
        samples = re.findall(r"^([a-z_]+)(?:\{(.*)\})? \S+$", page, re.M)
        assert len(samples) > 30
        for name, text in samples:
            labels = [label for label in re.findall(r'(\w+)="', text) if label != "le"]
            family = known[family_of(name, known)]
            assert not labels or labels == family.labels, f"{name}{{{text}}}"
    shown = {name for page in pages.values() for name in re.findall(r"^# TYPE (\S+)", page, re.M)}
    assert set(known) - shown <= SHOWN_LATER


def test_named_metrics_are_metrics():
    """Pages name metrics of the table, and the table has what the code writes and nothing else."""
    known = families()
    for page in PAGES:
        if page.name != "CHANGELOG.md":
            names = {name for name in named(page.read_text(), known) if name.startswith("switchboard_")}
            assert names - NO_METRICS <= set(known), f"{page.name}: {names - NO_METRICS - set(known)}"
    sources = "\n".join(path.read_text() for path in (ROOT / "Sources").rglob("*.swift")
                        if not path.name.startswith("MetricGroup+"))
    written = set(re.findall(r'"((?:switchboard|process)_[a-z_]+)"', sources)) - NO_METRICS
    assert written == set(known)


def slug(heading: str) -> str:
    """What GitHub makes of a heading."""
    text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").lower()
    return re.sub(r"[^\w\- ]", "", text).strip().replace(" ", "-")


def anchors(path: Path) -> set[str]:
    text = re.sub(r"^```.*?^```", "", path.read_text(), flags=re.M | re.S)
    headings = {slug(heading) for heading in re.findall(r"^#+ (.+)$", text, re.M)}
    return headings | set(re.findall(r'<a id="(\w+)">', text))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.M | re.S)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        path = (page.parent / name).resolve() if name else page
        assert path.exists(), f"{target}: there is no such file"
        assert not anchor or anchor in anchors(path), f"{target}: there is no such heading"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_named_files_and_make_targets_exist(page):
    text = page.read_text()
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.M))
    named = set(re.findall(r"(?:^|`)make ([a-z-]+)", text, re.M))
    assert named <= targets, named - targets
    if page.name == "CHANGELOG.md":
        return
    for name in re.findall(r"`((?:Sources|Tests|lua|bench|deploy|docs|scripts|web)/[\w./+-]+\.\w+)`", text):
        assert name in MADE or "NAME" in name or (ROOT / name).exists(), f"{name}: there is no such file"


@pytest.fixture(scope="module")
def flags():
    """Every flag of the binary."""
    texts = [subprocess.run([BINARY, "help", command], capture_output=True, text=True, check=True).stdout
             for command in COMMANDS]
    return set(re.findall(r"^  (--[a-z-]+)", "\n".join(texts), re.M))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_named_flags_are_flags(page, flags):
    """A flag in a `switchboard ...` line of a code block, or alone between backticks."""
    text = page.read_text()
    if page.parent.name in ("bench", "benchmarks") or page.name in ("CHANGELOG.md", "benchmarks.md"):
        return
    lines = re.sub(r"\\\n", " ", text).splitlines()
    named = {flag for line in lines if re.match(r"(\.build/release/)?switchboard ", line)
             for flag in re.findall(r"(?<!\S)(--[a-z-]+)", line)}
    named |= set(re.findall(r"`(--[a-z-]+)(?:[ =][^`]*)?`", text))
    assert named - FOREIGN <= flags, named - FOREIGN - flags


def test_pictures_are_there_in_light_and_dark_and_small():
    """Each picture of a page has both schemes and a description; no file is without a page, and all are 600 kB."""
    shown = set()
    for page in PAGES:
        for picture in re.findall(r"<picture>.*?</picture>", page.read_text(), re.S):
            [dark] = re.findall(r'<source media="\(prefers-color-scheme: dark\)" srcset="([^"]+)">', picture)
            [(light, description)] = re.findall(r'<img src="([^"]+)" alt="([^"]+)">', picture)
            assert dark == light.replace("-light.", "-dark.") != light and len(description) > 20
            shown |= {(page.parent / dark).resolve(), (page.parent / light).resolve()}
    assert shown == set((ROOT / "docs/pictures").iterdir())
    assert sum(path.stat().st_size for path in shown) < 600_000


def test_the_index_leads_to_every_page():
    """docs/README.md has a link to each page below docs/."""
    index = ROOT / "docs/README.md"
    linked = {(index.parent / name).resolve() for name in re.findall(r"\]\(([^)#\s]+)", index.read_text())}
    pages = {path for path in PAGES if ROOT / "docs" in path.parents and path != index}
    assert pages <= linked, pages - linked
