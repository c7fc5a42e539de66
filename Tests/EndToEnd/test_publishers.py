"""The three ways in that the README shows: curl, any Redis client, and the command line; and `tail` as the way out."""

import json
import os
import subprocess

import pytest

from Fixtures.processes.gateway import API_KEY
from Fixtures.processes.node import BINARY, ENVIRONMENT


def run(*words, **options):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SWITCHBOARD_")}
    return subprocess.run(
        [str(word) for word in words], capture_output=True, text=True, timeout=20, env=environment, **options)


@pytest.fixture
def key_file(tmp_path):
    path = tmp_path / "api-key"
    path.write_text(API_KEY + "\n")
    return path


def test_one_event_from_each_publisher(gw, topic, shared_server, certificate, key_file):
    with gw.client() as client:
        client.subscribe(topic)

        body = json.dumps({"topic": topic, "event": "hello", "data": {"from": "curl"}})
        result = run("curl", "--silent", "--show-error", "--fail", "--cacert", certificate.cert,
                     f"{gw.origin}/v1/broadcast", "-H", f"apikey: {API_KEY}", "-d", body)
        assert result.returncode == 0, result.stderr
        position = json.loads(result.stdout)
        client.expect("hello", topic=topic, data={"from": "curl"}, offset=position["offset"])

        message = json.dumps({"event": "hello", "data": {"from": "redis-cli"}})
        result = run("redis-cli", "-s", shared_server.socket_path, "PUBLISH", topic, message)
        assert result.returncode == 0 and result.stdout.strip() == "1", result
        plain = client.expect("hello", topic=topic, data={"from": "redis-cli"})
        assert "offset" not in plain, "a plain publish has no position"

        result = run(BINARY, "publish", topic, "hello", '{"from":"switchboard"}', "--url", gw.origin,
                     "--ca", certificate.cert, "--api-key-file", key_file)
        assert result.returncode == 0, result.stderr
        client.expect("hello", data={"from": "switchboard"}, offset=json.loads(result.stdout)["offset"])


def test_publish_says_what_is_wrong(gw, topic, certificate, key_file, tmp_path):
    base = [BINARY, "publish", topic, "hello", "{}", "--api-key-file", key_file]
    wrong = run(*base, "--url", gw.origin)
    assert wrong.returncode == 1 and "certificate" in wrong.stderr, "an unknown authority is not believed"
    key_file.write_text("not-the-key-not-the-key\n")
    wrong = run(*base, "--url", gw.origin, "--ca", certificate.cert)
    assert wrong.returncode == 1 and "unauthorized" in wrong.stderr
    wrong = run(*base, "--url", "https://127.0.0.1:1", "--ca", certificate.cert)
    assert wrong.returncode == 1 and "127.0.0.1:1" in wrong.stderr


def test_tail_prints_events_and_resumes(gw, topic, certificate, key_file):
    first = gw.publish(topic, "e", {"n": 1})
    for number in (2, 3):
        gw.publish(topic, "e", {"n": number})
    result = run(BINARY, "tail", topic, "--url", gw.origin, "--ca", certificate.cert, "--count", "2",
                 "--since", f"{first['epoch']}:{first['offset']}")
    assert result.returncode == 0, result.stderr
    events = [json.loads(line) for line in result.stdout.splitlines()]
    assert [event["data"]["n"] for event in events] == [2, 3]


def test_tail_says_that_the_connection_broke(gateway, topics, certificate):
    """It ended with 0 and without a word when its gateway was killed."""
    topic, app = topics("shop"), gateway()
    with subprocess.Popen([BINARY, "tail", topic, "--url", app.origin, "--ca", certificate.cert], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENVIRONMENT) as tail:
        assert '"subscribed"' in tail.stderr.readline()
        last = app.publish(topic, "e", {"n": 1})
        assert json.loads(tail.stdout.readline())["offset"] == last["offset"]
        app.kill()
        assert f"broke; to go on behind the last event: --since {last['epoch']}:{last['offset']}" in tail.stderr.read()
        assert tail.wait(10) == 1


def test_tail_says_why_it_may_not(gw, certificate, topics):
    result = run(BINARY, "tail", topics("order"), "--url", gw.origin, "--ca", certificate.cert, "--count", "1")
    assert result.returncode == 1 and "forbidden" in result.stderr or "unauthorized" in result.stderr


def test_token_opens_what_it_names(gw, topics, certificate, tmp_path, secret):
    topic = topics("order")
    path = tmp_path / "secret"
    path.write_bytes(secret)
    result = run(BINARY, "token", "--user", "u1", "--ttl", "1h", "--topics", topic, "--jwt-secret-file", path)
    assert result.returncode == 0, result.stderr
    with gw.client(token=result.stdout.strip()) as client:
        client.subscribe(topic)
        client.refused("subscribe", {"topic": topics("order")}, "forbidden")


def test_check_tells_good_from_bad(shared_server, certificate, tmp_path, secret):
    path = tmp_path / "secret"
    path.write_bytes(secret)
    base = [BINARY, "check", "--listen", "127.0.0.1:0", "--tls-cert", certificate.cert, "--jwt-secret-file", path]
    good = run(*base, "--tls-key", certificate.key, "--redis", shared_server.url)
    assert good.returncode == 0 and "Redis 7" in good.stdout, good.stdout + good.stderr
    assert secret.decode(errors="replace") not in good.stdout, "secrets are not shown"
    gone = run(*base, "--tls-key", certificate.key, "--redis", "redis://127.0.0.1:1")
    assert gone.returncode == 1 and "127.0.0.1:1" in gone.stdout
    path.write_bytes(b"short")
    short = run(*base, "--tls-key", certificate.key, "--redis", shared_server.url)
    assert short.returncode == 1 and "secret" in short.stdout
