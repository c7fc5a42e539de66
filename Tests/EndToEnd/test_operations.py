"""Start, health and metrics."""

import re
import subprocess

import pytest

from Fixtures.clients.crowd import Crowd
from Fixtures.processes.node import BINARY, ENVIRONMENT
from Fixtures.waiting import eventually


def run(*words: str) -> subprocess.CompletedProcess:
    """Runs the binary to its end."""
    return subprocess.run([str(BINARY), *words], capture_output=True, text=True, timeout=10, env=ENVIRONMENT)


def test_ready_file_names_the_listeners(gw):
    for kind in ("tls", "ops"):
        host, port = gw.address(kind)
        assert host == "127.0.0.1" and 0 < port < 65_536


def test_health_routes(gw):
    assert gw.ops("/livez").status_code == gw.ops("/readyz").status_code == gw.ops("/metrics").status_code == 200


def test_readiness_is_red_while_hardly_any_descriptor_is_left(gateway, topic):
    gw = gateway()
    with Crowd(gw, topic, 150):
        # Room for whoever asks: the operations listener is served down to the last four.
        subprocess.run(["prlimit", f"--nofile={gw.fd_count + 6}:", "--pid", str(gw.process.pid)], check=True)
        answer = eventually(
            lambda: (answer := gw.ops("/readyz")).status_code == 503 and answer.json(), 5, "readiness red")
        answer.pop("warnings", None)  # What other tests left in the same Redis for a worker.
        assert answer == {
            "status": "not ready", "reason": "descriptors", "reasons": ["descriptors"],
            "conditions": [{"part": "node", "reason": "descriptors"}]}
        assert gw.ops("/livez").status_code == 200
        subprocess.run(["prlimit", "--nofile=1024:", "--pid", str(gw.process.pid)], check=True)
        gw.wait_ready()
    assert gw.log_text.count("hardly any file descriptors left") == 1


def test_private_routes_are_not_public_when_ops_is_apart(gw):
    with gw.http(key=None) as http:
        for path in ("/metrics", "/readyz", "/livez", "/debug"):
            assert http.get(path).status_code == 404


def test_metrics_are_prometheus_text_without_topics_or_users(gw, topic, token):
    with gw.client(token=token("somebody-special")) as client:
        client.subscribe(topic)
        gw.publish(topic)
        text = gw.ops("/metrics").text
    line = re.compile(r'[a-z_]+(\{[a-z_]+="[^"\\]*"(,[a-z_]+="[^"\\]*")*\})? [-+0-9.eE]+(Inf|NaN)?')
    for row in text.splitlines():
        assert row.startswith("# ") or line.fullmatch(row), row
    assert topic not in text and "somebody-special" not in text, "labels are bounded"
    assert re.search(r"^switchboard_connections \d+$", text, re.M)


@pytest.mark.parametrize("flags", [
    ["--lisen", "127.0.0.1:0"], ["--listen", "nonsense"], ["--limit", "nothing=1"], ["--limit", "pingMs=0"],
    ["--limit", "pingMs=-5"], ["--listen", "127.0.0.1:0"], ["--log", "xml"],
    ["--tls-cert", "/nonexistent", "--tls-key", "/nonexistent", "--listen", "127.0.0.1:0"],
], ids=lambda flags: " ".join(flags))
def test_wrong_flags_are_explained(flags):
    result = run("gateway", *flags)
    assert result.returncode != 0
    assert flags[0].lstrip("-")[:4] in result.stderr or "/nonexistent" in flags and "/nonexistent" in result.stderr


def test_unknown_flag_names_the_nearest(gw):
    result = run("gateway", "--lisen", "x")
    assert "--listen" in result.stderr


def test_log_is_one_json_object_a_line(gw):
    import json
    for line in gw.log_text.splitlines():
        assert isinstance(json.loads(line), dict)
