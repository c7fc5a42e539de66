"""The access log: a line for each request and connection, without what stands in queries, moved away while in use."""

import json
import signal
import subprocess

from Fixtures.processes.gateway import API_KEY
from Fixtures.processes.node import BINARY, ENVIRONMENT
from Fixtures.waiting import eventually


def lines(path, event=None) -> list[dict]:
    whole = [json.loads(line) for line in path.read_text().splitlines(keepends=True) if line.endswith("\n")]
    return [line for line in whole if event in (None, line["event"])]


def test_requests_and_connections_are_written_down(gateway, tmp_path, token, topics):
    path = tmp_path / "access.log"
    gw = gateway("--shards", "2", "--access-log", str(path))
    topic = topics("order")
    with gw.http() as http:
        http.post("/v1/broadcast?apikey=a-secret-word", json={"topic": topic, "event": "e", "data": {}})
        http.get("/nowhere")
    with gw.client(path="/ws?token=another-secret", token=token("ann", topics=[topic])) as client:
        client.subscribe(topic)
    closed = eventually(lambda: len(lines(path, "close")) == 2 and lines(path, "close"), what="both ends")
    text = path.read_text()
    assert "secret" not in text and API_KEY not in text and "Bearer" not in text
    asked = [(one["method"], one["path"], one["status"]) for one in lines(path, "request")]
    assert asked == [("POST", "/v1/broadcast", "200"), ("GET", "/nowhere", "404"), ("GET", "/ws", "101")]
    first, _, upgrade = lines(path, "request")
    assert first["key"] == "backend" and upgrade["user"] == "ann" and upgrade["address"] == "127.0.0.1"
    assert {one["connection"] for one in lines(path, "open")} == {one["connection"] for one in closed}
    http_end, socket_end = sorted(closed, key=lambda one: one["transport"])
    assert (http_end["transport"], http_end["reason"]) == ("http", "peer_gone")
    assert (socket_end["transport"], socket_end["reason"], socket_end["user"]) == ("websocket", "normal", "ann")
    assert int(socket_end["bytesIn"]) > 100 and int(socket_end["bytesOut"]) > 100 and int(socket_end["ms"]) >= 0
    assert gw.metric("switchboard_access_log_lines_dropped_total") == 0


def test_a_reload_opens_the_file_anew(gateway, tmp_path):
    """As logrotate wants it: what was moved away is written on until then, and no line is lost between."""
    path, moved = tmp_path / "access.log", tmp_path / "access.log.1"
    gw = gateway("--shards", "1", "--access-log", str(path))
    with gw.http() as http:
        http.get("/before")
        eventually(lambda: lines(path, "request"), what="the first request")
        path.rename(moved)
        http.get("/between")
        eventually(lambda: len(lines(moved, "request")) == 2, what="the second request")
        gw.signal(signal.SIGHUP)
        eventually(path.exists, what="the new file")
        http.get("/after")
        eventually(lambda: [one["path"] for one in lines(path, "request")] == ["/after"], what="the third request")
    assert [one["path"] for one in lines(moved, "request")] == ["/before", "/between"]


def test_a_dash_is_standard_output(gateway):
    gw = gateway("--shards", "1", "--access-log", "-")
    with gw.http() as http:
        http.get("/seen")
    eventually(lambda: '"path":"/seen"' in gw.log_text, what="the request beside the log")


def test_a_file_that_cannot_be_written_is_told_at_the_start(tmp_path):
    path = str(tmp_path / "missing" / "access.log")
    result = subprocess.run([str(BINARY.absolute()), "gateway", "--listen-plain", "127.0.0.1:0", "--access-log", path],
                            capture_output=True, text=True, timeout=30, env=ENVIRONMENT)
    assert result.returncode != 0 and path in result.stderr
