"""API keys that were narrowed to reading or to writing (`name:KEY:read`), at every place where it matters."""

import contextlib
import http.client
import json
import ssl
import subprocess

import pytest

from Fixtures.processes.gateway import API_KEY, error_code
from Fixtures.processes.node import BINARY, ENVIRONMENT
from Fixtures.samples import sample
from Fixtures.waiting import eventually

KEYS = {name: f"{name}-key-0123456789abcdef" for name in ("reader", "writer", "both", "tapper")}
EVENT = {"topic": "shop:1", "event": "e", "data": {}}
READS = [
    ("GET", "/v1/topics/shop:1", None), ("GET", "/v1/topics/shop:1/events", None),
    ("GET", "/v1/topics/phoenix:1/presence", None), ("GET", "/v1/topics/shop:1/audit", None),
    ("GET", "/v1/health", None),
    ("GET", "/v1/dead-letters?service=spotify", None), ("GET", "/v1/users/ann/data", None),
    ("POST", "/v1/commands/queue", {"shopId": "1"}), ("GET", "/v1/shops/1/queue", None)]
WRITES = [
    ("POST", "/v1/broadcast", EVENT), ("POST", "/realtime/v1/api/broadcast/shop:1/events/e", {}),
    ("PUT", "/v1/topics/conversation:1/members/ann", None), ("DELETE", "/v1/topics/conversation:1/members/ann", None),
    ("POST", "/v1/revocations", {"user": "nobody-1"}), ("DELETE", "/v1/users/ann/data", None),
    ("DELETE", "/v1/dead-letters?service=spotify", None), ("POST", "/v1/dead-letters/retry?service=spotify", None),
    ("POST", "/v1/commands/add_points", {"challengeId": "c", "userId": "ann", "points": 1}),
    ("PUT", "/v1/users/ann/follows/ben", {})]


@pytest.fixture
def narrowed(gateway):
    lines = [f"reader:{KEYS['reader']}:read", f"writer:{KEYS['writer']}:write", f"both:{KEYS['both']}:read,write",
             f"tapper:{KEYS['tapper']}:tap"]
    return gateway(keys=lines)


def statuses(gw, key, requests):
    with gw.http(key=key) as http:
        return {f"{method} {path}": http.request(method, path, json=body).status_code
                for method, path, body in requests}


def test_a_key_that_may_read_writes_nothing(narrowed):
    assert set(statuses(narrowed, KEYS["reader"], READS).values()) == {200}
    assert set(statuses(narrowed, KEYS["reader"], WRITES).values()) == {403}
    with narrowed.client(headers=[("apikey", KEYS["reader"])]) as client:
        client.subscribe("shop:1")
        client.refused("publish", EVENT, "forbidden")
        client.refused("add_points", {"challengeId": "c", "userId": "ann", "points": 1}, "forbidden")
        client.subscribe("phoenix:1")
        client.refused("track", {"topic": "phoenix:1", "meta": {}}, "forbidden")


def test_the_lines_of_the_page_make_a_key(gateway, tmp_path):
    """docs/keys.md promised to say how keys are made; the lines are run without the reload of a unit."""
    *lines, reload = sample("docs/keys.md#api-keys:text").splitlines()
    assert reload.startswith("systemctl reload ")
    file = tmp_path / "made"
    text = "\n".join(lines).replace("/etc/switchboard/api-keys", str(file))
    done = subprocess.run(["bash", "-euc", text], capture_output=True, text=True, check=True, timeout=30)
    key, [line] = done.stdout.strip(), file.read_text().splitlines()
    assert line.startswith("orders:sha256:") and key not in line
    made = gateway(keys=[line])
    assert set(statuses(made, key, READS).values()) == {200}
    assert set(statuses(made, key[:-1], READS).values()) == {401}


def test_a_key_that_may_write_reads_nothing(narrowed):
    assert set(statuses(narrowed, KEYS["writer"], READS).values()) == {403}
    assert set(statuses(narrowed, KEYS["writer"], WRITES).values()) <= {200, 202}
    with narrowed.client(headers=[("apikey", KEYS["writer"])]) as client:
        client.refused("subscribe", {"topic": "shop:1"}, "forbidden")
        assert client.request("publish", EVENT)["event"] == "ack"
        client.refused("queue", {"shopId": "1"}, "forbidden")


def test_a_key_with_both_words_and_one_without_do_everything(narrowed):
    for key in (KEYS["both"], API_KEY):
        assert set(statuses(narrowed, key, READS + WRITES).values()) <= {200, 202}


def test_the_word_tap_grants_no_other_right_and_no_other_word_grants_it(narrowed):
    assert set(statuses(narrowed, KEYS["tapper"], READS + WRITES).values()) == {403}
    with narrowed.http(key=KEYS["tapper"]) as http:
        refused = http.get("/v1/health")
        assert (error_code(refused), refused.json()["error"]["message"]) == ("forbidden", "this API key may not read")
    # Nobody has such a session: who may not watch learns not even that.
    tap = [("POST", "/v1/sessions/nobody.0.1/tap", None)]
    for key, status in [(KEYS["tapper"], 404), (KEYS["reader"], 403), (KEYS["both"], 403), (API_KEY, 403)]:
        assert set(statuses(narrowed, key, tap).values()) == {status}, key


def test_a_reload_that_narrows_a_key_ends_its_sessions(narrowed):
    path = narrowed.directory / "api-keys"
    with narrowed.client(headers=[("apikey", API_KEY)]) as client:
        client.subscribe("shop:1")
        path.write_text(f"backend:{API_KEY}:read\n")
        narrowed.signal(1)
        client.expect_close(4401, after=("error",))
    assert set(statuses(narrowed, API_KEY, WRITES[:1]).values()) == {403}


def test_a_reload_judges_the_next_request_of_a_kept_alive_connection(narrowed):
    """The verdict on a head that a backend repeats was kept for its connection: it ends with the keys."""
    path, reloads = narrowed.directory / "api-keys", [0]

    def reload(text):
        path.write_text(text)
        reloads[0] += 1
        narrowed.signal(1)
        eventually(lambda: narrowed.metric("switchboard_reloads_total", result="ok") == reloads[0], 5, "the reload")

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    keys = {403: f"backend:{API_KEY}:read\n", 401: f"other:{KEYS['both']}\n"}
    for status, text in keys.items():
        reload(f"backend:{API_KEY}\n")
        connection = http.client.HTTPSConnection(*narrowed.address(), context=context, timeout=5)
        with contextlib.closing(connection):
            def publish():
                connection.request(
                    "POST", "/v1/broadcast", json.dumps(EVENT), {"Authorization": f"Bearer {API_KEY}"})
                answered = connection.sock
                with connection.getresponse() as answer:
                    answer.read()
                    return answer.status, answered

            first = publish()
            assert first[0] == 200 and [publish(), publish()] == [first] * 2
            reload(text)
            assert publish() == (status, first[1]), "on the connection that was admitted before"


def test_the_same_head_with_another_body_is_another_request(narrowed, topic):
    with narrowed.client() as client, narrowed.http() as http:
        client.subscribe(topic)
        for number in [1, 2, 10, 99, 100, 5]:
            assert http.post("/v1/broadcast", json={**EVENT, "topic": topic, "data": {"n": number}}).status_code == 200
            client.expect("e", data={"n": number})
        # The next head is the same but for one byte of the path.
        assert http.post("/v1/broadcasu", json=EVENT).status_code == 404


def test_an_unknown_word_is_an_error_that_says_which(tmp_path):
    (tmp_path / "keys").write_text(f"reader:{KEYS['reader']}:raed\n")
    checked = subprocess.run(
        [str(BINARY.absolute()), "check", "--api-keys", str(tmp_path / "keys"), "--redis", "redis://127.0.0.1:1",
         "--listen-plain", "127.0.0.1:0"], capture_output=True, text=True, env=ENVIRONMENT)
    text = checked.stdout + checked.stderr
    assert "'raed' is no right of a key" in text and "did you mean read?" in text and KEYS["reader"] not in text
