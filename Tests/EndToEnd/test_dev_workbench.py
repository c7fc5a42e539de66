"""`switchboard dev` as a workbench: it keeps its data, sends webhooks, and starts quietly."""

import base64
import hashlib
import hmac
import http.server
import json
import os
import re
import signal
import subprocess
import threading

import redis

from Fixtures.apps.operator_scripts import script, write_scripts
from Fixtures.processes.dev import RunningGateway, answer_of, asked
from Fixtures.processes.node import BINARY, ENVIRONMENT
from Fixtures.waiting import eventually

QUIET = "--demo=false"


# Data


def test_data_stay_between_two_runs_and_fresh_deletes_them(tmp_path):
    """Everything was lost at each start: events, positions, bookings."""
    event = {"topic": "shop:a", "event": "hello", "data": {"n": 1}}
    with RunningGateway(tmp_path / "dev", QUIET) as gateway:
        assert asked(gateway, "POST", "/v1/broadcast", event).status_code == 200
        assert answer_of(gateway, "add_points", challengeId="c", userId="ada", points=5) is not None
        before = asked(gateway, "GET", "/v1/topics/shop:a").json()
        assert before["offset"] == 1
    with RunningGateway(tmp_path / "dev", QUIET) as gateway:
        after = asked(gateway, "GET", "/v1/topics/shop:a").json()
        assert (after["epoch"], after["offset"]) == (before["epoch"], 1)
        assert asked(gateway, "POST", "/v1/broadcast", event).status_code == 200
        assert asked(gateway, "GET", "/v1/topics/shop:a").json()["offset"] == 2
        store = redis.Redis(unix_socket_path=str(tmp_path / "dev/.switchboard/redis.sock"))
        assert [name for name in store.keys("challenge:c*") if b"#done" not in name]
        store.close()
    with RunningGateway(tmp_path / "dev", QUIET, "--fresh") as gateway:
        store = redis.Redis(unix_socket_path=str(tmp_path / "dev/.switchboard/redis.sock"))
        assert not store.keys("challenge:*") and not store.keys("shop:a*")
        store.close()


def test_the_certificate_is_one_that_apples_systems_take(tmp_path):
    """They refuse a TLS server whose certificate does not say `serverAuth`, even when it is trusted."""
    with RunningGateway(tmp_path / "dev", QUIET):
        said = subprocess.run(["openssl", "x509", "-noout", "-ext", "extendedKeyUsage,basicConstraints", "-in",
                               tmp_path / "dev/.switchboard/cert.pem"], capture_output=True, text=True, check=True)
    assert "TLS Web Server Authentication" in said.stdout and "CA:TRUE" in said.stdout, said.stdout


def test_a_taken_port_is_told_with_the_flag_for_another(tmp_path):
    """"Take another port" named no flag, and dev's is not the gateway's."""
    with RunningGateway(tmp_path / "one", QUIET) as gateway:
        port = str(gateway.port)
        (tmp_path / "two").mkdir()
        second = subprocess.run([BINARY, "dev", "--port", port, QUIET], cwd=tmp_path / "two", capture_output=True,
                                text=True, timeout=30, env=ENVIRONMENT, check=False)
    assert second.returncode == 1
    assert f"cannot listen on 127.0.0.1:{port}" in second.stderr and "--port" in second.stderr, second.stderr


def test_data_that_redis_cannot_read_are_told(tmp_path):
    with RunningGateway(tmp_path / "dev", QUIET) as gateway:
        assert asked(gateway, "GET", "/v1/topics/shop:a").status_code == 200
    manifest = next((tmp_path / "dev/.switchboard/data").glob("**/*.manifest"))
    manifest.write_text("no manifest\n")
    answer = subprocess.run(
        [BINARY, "dev", "--port", "0", QUIET], cwd=tmp_path / "dev", capture_output=True, text=True, timeout=30,
        env=ENVIRONMENT, check=False)
    assert answer.returncode == 1
    assert "redis-server" in answer.stderr and "redis.log" in answer.stderr and "--fresh" in answer.stderr


def test_dev_ends_when_its_redis_has_ended(tmp_path):
    """It went on without data, and only its log told why."""
    with RunningGateway(tmp_path / "dev", QUIET) as gateway:
        store = redis.Redis(unix_socket_path=str(tmp_path / "dev/.switchboard/redis.sock"))
        os.kill(store.info()["process_id"], signal.SIGKILL)
        assert gateway.wait() == 1
        assert "Redis has ended." in gateway.terminal
        gateway.process = None


# Webhooks


class Receiver:
    """A developer's receiver of webhooks on this machine; a context manager."""

    def __enter__(self):
        self.got = []
        got = self.got

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["content-length"]))
                got.append((self.path, dict(self.headers), body))
                self.send_response(204)
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.thread = threading.Thread(target=self.server.serve_forever)
        self.thread.start()
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


def is_signed(headers, body, secret):
    text = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    key = base64.b64decode(secret.strip().removeprefix("whsec_"))
    mark = "v1," + base64.b64encode(hmac.new(key, text, hashlib.sha256).digest()).decode()
    return mark in headers["webhook-signature"].split()


def sent_until_received(gateway, receiver, topic):
    """Publishes until the receiver has an event: those before the courier first saw its name are not sent."""
    def has():
        event = {"topic": topic, "event": "order.ready", "data": {"table": 4}}
        assert asked(gateway, "POST", "/v1/broadcast", event).status_code == 200
        return receiver.got

    return eventually(has, 20, "a webhook")[0]


def test_a_receiver_named_by_a_flag_gets_signed_events(tmp_path):
    with Receiver() as receiver:
        with RunningGateway(tmp_path / "dev", QUIET, "--webhook", receiver.url + "/hook") as gateway:
            path, headers, body = sent_until_received(gateway, receiver, "order:7")
            secret = (gateway.directory / ".switchboard/webhook-secret").read_text()
            assert path == "/hook" and is_signed({k.lower(): v for k, v in headers.items()}, body, secret)
            event = json.loads(body)
            assert (event["type"], event["topic"], event["data"]) == ("order.ready", "order:7", {"table": 4})
            assert f"{receiver.url}/hook" in gateway.terminal and "webhook-secret" in gateway.terminal


def test_receivers_of_the_config_file_are_not_ignored(tmp_path):
    (tmp_path / "secret").write_text("whsec_" + base64.b64encode(b"x" * 32).decode() + "\n")
    with Receiver() as receiver:
        hooks = {"kitchen": {"url": receiver.url, "secret-file": str(tmp_path / "secret"), "topics": ["order:*"]}}
        (tmp_path / "dev.json").write_text(json.dumps({"webhooks": hooks}))
        with RunningGateway(tmp_path / "dev", QUIET, "--config", tmp_path / "dev.json") as gateway:
            _, headers, body = sent_until_received(gateway, receiver, "order:7")
            secret = (tmp_path / "secret").read_text()
            assert is_signed({k.lower(): v for k, v in headers.items()}, body, secret)


def test_an_address_that_is_not_this_machines_needs_tls():
    answer = subprocess.run(
        [BINARY, "dev", "--webhook", "http://example.org/x"], capture_output=True, text=True, timeout=30,
        env=ENVIRONMENT, check=False)
    assert answer.returncode == 64 and "--webhook" in answer.stderr and "https://" in answer.stderr


# The start


def test_the_start_is_quiet_and_names_everything(tmp_path):
    """The first lines were warnings, and the address stood between them."""
    scripts = tmp_path / "scripts"
    write_scripts(scripts, one=script("one"))
    with RunningGateway(tmp_path / "dev", "--scripts", scripts) as gateway:
        eventually(lambda: ".switchboard/dev.log" in gateway.terminal, 10, "the lines of the start")
        lines = gateway.terminal.splitlines()
        words = [line.split()[0] for line in lines[1:]]
        assert lines[0] == "Switchboard is running; Ctrl-C stops it."
        assert words == ["page", "inspector", "redis", "scripts", "log"], gateway.terminal
        assert gateway.https + "/ " in lines[1] and gateway.https + "/#inspector " in lines[2]
        url = lines[3].split()[1].removeprefix("unix://")
        assert redis.Redis(unix_socket_path=url).ping()
        assert "(1 script; read again when a file changes)" in lines[4]
        assert lines[5].split()[1] == ".switchboard/dev.log"
        assert "connected to redis" in gateway.log()
        assert len(gateway.terminal.splitlines()) == 6, gateway.terminal


def test_the_help_tells_the_defaults_of_dev():
    answer = subprocess.run(
        [BINARY, "help", "dev"], capture_output=True, text=True, timeout=30, env=ENVIRONMENT, check=True)
    text = re.sub(r"\s+", " ", answer.stdout)
    for flag, standard in (("--packs", "all"), ("--drain-seconds", "0.5"), ("--fresh", "false"), ("--port", "8443")):
        sentence = text.split(flag)[1].split(" --")[0]
        assert f"Default: {standard}." in sentence, sentence
    assert "--webhook URL" in text and '"webhooks"' in text
