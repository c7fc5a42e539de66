"""The version stands in one place of the sources, and everything that names a version names that one."""

import json
import re
import subprocess
from pathlib import Path

import pytest

from Fixtures.processes.courier import CourierProcess
from Fixtures.processes.node import BINARY, ENVIRONMENT
from Fixtures.redis.server import RedisServer
from Fixtures.waiting import eventually

ROOT = Path(__file__).resolve().parents[2]
SOURCE = (ROOT / "Sources/Core/ProductVersion.swift").read_text()
[VERSION] = re.findall(r'static let text = "([^"]+)"', SOURCE)
[FORMAT] = re.findall(r"static let format = (\d+)", SOURCE)
# The grammar of semver.org, without leading zeros.
SEMANTIC = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?")


@pytest.mark.parametrize("program, word", [
    ("switchboard", "--version"), ("switchboard", "version"), ("switchboard-courier", "--version"),
    ("switchboard-courier", "version")])
def test_programs_print_it(program, word):
    done = subprocess.run(
        [BINARY.absolute().parent / program, word], capture_output=True, text=True, timeout=30, env=ENVIRONMENT)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"switchboard {VERSION}\n", "")


def test_log_metrics_nodes_and_redis_name_the_same(tmp_path, certificate, gateway, worker):
    """A Redis of its own, so that the nodes are these three."""
    redis = RedisServer(tmp_path / "own-redis").start()
    try:
        node, derives = gateway(server=redis), worker("--worker-ops", "127.0.0.1:0", server=redis)
        service = {"spotify": {"token-url": None}}
        calls = CourierProcess(tmp_path / "courier", redis.url, certificate, {"services": service})
        try:
            calls.start()
            judge([node, derives, calls], redis)
        finally:
            calls.stop()
            derives.stop()
            node.stop()
    finally:
        redis.stop()


def judge(processes, redis):
    """Where an operator looks: the log's first line, metrics, the list of nodes, health, the description, Redis."""
    gateway = processes[0]
    for process in processes:
        first = json.loads(process.log_text.splitlines()[0])
        assert (first["message"], first["role"]) == ("starting", process.kind), first
        assert (first["version"], first["format"]) == (VERSION, FORMAT), first
        assert int(first["pid"]) == process.process.pid
        own = {"version": VERSION, "format": FORMAT, "role": process.kind}
        eventually(lambda process=process: "switchboard_build_info" in process.metrics().text, 10, "build_info")
        assert process.metric("switchboard_build_info", **own) == 1, process.kind
    with gateway.http() as http:
        nodes = eventually(lambda: (found := http.get("/v1/nodes").json())["total"] == 3 and found, 20, "three nodes")
        assert {(row["role"], row["version"], row["format"]) for row in nodes["nodes"]} == {
            (process.kind, VERSION, int(FORMAT)) for process in processes}
        assert http.get("/v1/health").json()["version"] == VERSION
        assert http.get("/v1/openapi.json").json()["info"]["version"] == VERSION
    eventually(lambda: "switchboard_nodes" in gateway.metrics().text, 10, "the metric of nodes")
    for process in processes:
        assert gateway.metric("switchboard_nodes", kind=process.kind, version=VERSION, format=FORMAT) == 1
    with redis.client() as db:
        words = [value.decode().split(" ") for value in db.hgetall("#nodes").values()]
    assert {(kind, version, form) for _, kind, version, form, _ in words} == {
        (process.kind, VERSION, FORMAT) for process in processes}


def test_check_prints_it(gateway):
    """A check beside nodes of the same version has nothing to say of versions."""
    node = gateway()
    flags = [word for word in node.arguments[2:] if word not in ("--ready-file", str(node.ready_path))]
    done = subprocess.run([BINARY, "check", *flags], capture_output=True, text=True, timeout=60, env=ENVIRONMENT)
    assert "processes of version" not in done.stdout + done.stderr


def test_changelog_packages_and_pages_name_it():
    assert SEMANTIC.fullmatch(VERSION)
    numbered = re.findall(r"^## \[(\d[^]]*)\] - \d{4}-\d\d-\d\d$", (ROOT / "CHANGELOG.md").read_text(), re.M)
    assert numbered and numbered[0] == VERSION, "the changelog's newest version"
    assert json.loads((ROOT / "clients/js/package.json").read_text())["version"] == VERSION
    pages = [ROOT / "README.md", ROOT / "deploy/README.md", *(ROOT / "docs").glob("*.md")]
    named = {str(page.relative_to(ROOT)): set(re.findall(
        r'(?:"version":"|switchboard_)(\d+\.\d+\.\d+)["_]', page.read_text())) for page in pages}
    assert {name: found for name, found in named.items() if not found <= {VERSION}} == {}
    assert sum(map(bool, named.values())) >= 2
    # An app depends on the first version of this major one, which a tag has to name.
    wanted = set(re.findall(r'from: "([^"]+)"', (ROOT / "docs/clients.md").read_text()))
    assert wanted == {VERSION.split(".")[0] + ".0.0"}
    # Nowhere else in the sources is it written a second time.
    for path in (ROOT / "Sources").rglob("*.swift"):
        if path.name != "ProductVersion.swift":
            assert f'"{VERSION}"' not in path.read_text(), path


def test_no_field_of_an_answer_names_the_product(gateway):
    """Scanners look for versions in fields; the rows of nodes and of health need a key."""
    node = gateway()
    with node.http(key=None) as http:
        for path in ("/v1/nodes", "/v1/health"):
            assert http.get(path).status_code == 401
        for path in ("/", "/livez", "/v1/openapi.json", "/nowhere"):
            answer = http.get(path)
            assert not {"server", "x-powered-by", "via"} & set(answer.headers)
            assert VERSION not in str(answer.headers) and "witchboard" not in str(answer.headers)
