"""The rig of bench/peers.sh: what begins, what is repeated, and what does not count."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

import ratios
from Fixtures.processes.node import BINARY, ENVIRONMENT

ROOT = Path(__file__).resolve().parents[2]
BENCH = Path(os.environ.get("SWITCHBOARD_BENCH", ROOT / ".build" / "release" / "switchboard-bench"))
SECONDS_MAX = 120


def program(path, text):
    """A script that stands for another program."""
    path.write_text(text)
    path.chmod(0o755)
    return str(path)


def changed_gateway(tmp_path, pattern, word):
    """A gateway that is started with another word in place of each that fits the pattern."""
    return program(tmp_path / "gateway", f"""#!/usr/bin/env bash
words=()
for each in "$@"; do case $each in {pattern}) words+=({word}) ;; *) words+=("$each") ;; esac; done
exec "{BINARY.absolute()}" "${{words[@]}}"
""")


@pytest.fixture
def rig(tmp_path):
    """Runs the rig with one small step: its exit code, its report, and what it said."""
    def run(peers, *flags, step="fanout", **environment):
        words = [ROOT / "bench/peers.sh", "--peers", peers, "--steps", step, "--rates", "20", "--seconds", "1",
                 "--connections", "10", "--stolen-max", "100", "--out", tmp_path / "out", *flags]
        defaults = {"BENCH_TOOL": str(BENCH), "BENCH_GATEWAY": str(BINARY.absolute())}
        ended = subprocess.run(words, env=ENVIRONMENT | defaults | environment, capture_output=True, text=True,
                               timeout=SECONDS_MAX)
        path = tmp_path / "out/peers.json"
        print(ended.stdout, ended.stderr)
        return ended.returncode, json.loads(path.read_text())["runs"] if path.exists() else [], ended.stderr

    return run


# With the programs themselves


def test_floors_and_gateway_side_by_side(rig):
    code, runs, _ = rig("floor floor/redis switchboard")
    assert code == 0
    assert [ratios.name_of(run) for run in runs] == ["floor", "floor/redis", "switchboard"]
    for run in runs:
        assert run["passed"] and run["refused"] == run["refusedClients"] == run["lost"] == 0
        assert ("redisCores" in run) == (ratios.name_of(run) != "floor")


def test_a_gateway_that_refuses_clients_is_tried_again_and_does_not_count(rig, tmp_path):
    small = changed_gateway(tmp_path, "topicsPerAddressMax=*", "topicsPerAddressMax=4")
    code, runs, said = rig("switchboard", "--tries", "2", BENCH_GATEWAY=small)
    assert code == 1
    assert said.count("fanout --connections 10 --rate 20 of switchboard") == 2, "each try"
    assert said.count("6 clients and 0 publishes were refused: not kept") == 1
    [run] = runs
    assert run["passed"] is False and run["refusedClients"] == 6
    assert any("the figures do not count" in note for note in run["notes"])


# With programs that stand for them


GOOD = {"scenario": "fanout", "target": "floor", "targetVersion": "", "settings": {"target": "floor"}, "passed": True,
        "notes": [], "seconds": 1, "series": []}
# Ends as the lines of `ends` say, one after the other; keeps a result unless it ended so that none is kept.
TOOL = """#!/usr/bin/env bash
[ "$1" != report ] || exit 0
printf '%s\\n' "$*" >>@HERE@/calls
status=$(sed -n "$(wc -l <@HERE@/calls)p" @HERE@/ends)
case $status in 0 | 1 | 4) cp @HERE@/kept @OUT@ ;; esac
exit "$status"
"""


@pytest.fixture
def tool(tmp_path):
    """A tool that ends with these codes, one after the other; and the command lines it was called with."""
    def make(*ends):
        (tmp_path / "ends").write_text("".join(f"{end}\n" for end in ends))
        (tmp_path / "kept").write_text(json.dumps({"runs": [GOOD]}))
        (tmp_path / "calls").write_text("")
        text = TOOL.replace("@HERE@", str(tmp_path)).replace("@OUT@", str(tmp_path / "out/peers.json"))
        return program(tmp_path / "tool", text), lambda: (tmp_path / "calls").read_text().splitlines()

    return make


@pytest.mark.parametrize("ends, code, calls", [
    ((0,), 0, 1), ((1,), 0, 1), ((3, 0), 0, 2), ((2, 3, 0), 0, 3), ((3, 3, 4), 1, 3), ((124,), 1, 1),
])
def test_what_is_repeated(rig, tool, ends, code, calls):
    """A loss counts as it is; a refusal or stolen time is tried again; the last try is kept as a failed one."""
    path, called = tool(*ends)
    ended, _, said = rig("floor", BENCH_TOOL=path)
    # Without any result there is no report to add a failure to.
    assert (ended, len(called())) == (code, calls), said
    kept = ["keep" if number == 3 else "discard" for number in range(1, calls + 1)]
    assert [re.search(r"--refusals (\w+)", line)[1] for line in called()] == kept


# Listens, and is never ready.
UNREADY = """#!/usr/bin/env python3
import http.server, json, sys

class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = b'{"ready":false,"reasons":["redis"]}'
        self.send_response(503)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
listener = [{"host": "127.0.0.1", "port": server.server_port}]
with open(sys.argv[sys.argv.index("--ready-file") + 1], "w") as file:
    json.dump({"tls": listener, "ops": listener}, file, separators=(",", ":"))
server.serve_forever()
"""


@pytest.mark.parametrize("why", ['{"ready":false,"reasons":["redis"]}', "it has no listener yet"])
def test_a_target_that_is_not_ready_is_told(rig, tmp_path, why):
    """A gateway whose operations listener says no is not measured, and the rig says why."""
    if why.startswith("{"):
        never = program(tmp_path / "never", UNREADY)
    else:
        # Nothing listens there.
        never = changed_gateway(tmp_path, "redis://*", "redis://127.0.0.1:1")
    code, runs, said = rig("switchboard", BENCH_GATEWAY=never, BENCH_READY_SECONDS="2")
    assert code == 1 and runs == []
    assert f"the gateway is not ready within 2 s: {why}" in said
    assert "switchboard: the target did not begin" in said


def sourced(tmp_path, command, **environment):
    """Runs a command of bench/peers/common.sh, in a directory of a target."""
    (tmp_path / "target").mkdir()
    script = program(tmp_path / "peer.sh", f'source "{ROOT}/bench/peers/common.sh"\n{command}\n')
    return subprocess.run(["bash", script, tmp_path / "target"], env=ENVIRONMENT | environment, capture_output=True,
                          text=True, timeout=SECONDS_MAX)


@pytest.mark.parametrize("ends, code, calls", [((0,), 0, 1), ((2, 1, 0), 0, 3), ((1,) * 100, 1, None)])
def test_a_peer_is_ready_when_a_publish_arrives(tmp_path, tool, ends, code, calls):
    path, called = tool(*ends)
    (tmp_path / "out").mkdir()
    ended = sourced(tmp_path, "until_delivered --target ws --url wss://127.0.0.1:1", BENCH_TOOL=path,
                    BENCH_READY_SECONDS="2")
    assert ended.returncode == code, ended.stderr
    assert calls is None or len(called()) == calls
    assert all(line.startswith("fanout --target ws --url wss://127.0.0.1:1 ") for line in called())
    assert (code == 0) or "not ready within 2 s, no publish is delivered" in ended.stderr


# Ratios


def run(target, cpu_us, **more):
    return {"scenario": "unicast", "target": target, "settings": {"rate": "100"}, "passed": True, "notes": [],
            "server": {"cpuUsPerDelivery": cpu_us}} | more


@pytest.fixture
def judged(tmp_path, capsys):
    """What bench/ratios.py says of such runs."""
    def judge(*runs, most="1.03"):
        path = tmp_path / "peers.json"
        path.write_text(json.dumps({"runs": runs}))
        return ratios.main([str(path), "1", "against", most]), capsys.readouterr().out

    return judge


def test_floors_are_not_judged(judged):
    code, said = judged(run("against", 2.0), run("floor", 9.0), run("floor/redis", 9.0), run("switchboard", 2.0))
    assert code == 0, said


@pytest.mark.parametrize("refused", [{"refused": 1}, {"refusedClients": 1}])
def test_a_run_with_refusals_is_in_no_median_and_no_ratio(judged, refused):
    """Its round has no ratio; the others do. It fails the whole."""
    rounds = [run("against", 2.0), run("switchboard", 2.2), run("against", 2.0), run("switchboard", 900.0, **refused),
              run("against", 1.0), run("switchboard", 1.1)]
    code, said = judged(*rounds, most="2")
    assert code == 1 and "1.100 (1.100 to 1.100)" in said, said
    assert "900" not in said and "unicast rate 100: switchboard: failed" in said
    assert judged(*rounds[:2], *rounds[4:], most="2")[0] == 0
