"""The samples of the pages work when they are copied; only the address and the places of files are replaced.

The samples of pages in a browser are run by Tests/Browser/test_page_samples.py.
"""

import contextlib
import json
import re
import shutil
import socket
import subprocess
from pathlib import Path

import pytest

from Fixtures.clients.tokens import SECRET, sign
from Fixtures.outside.courier import Service
from Fixtures.processes.gateway import Gateway, command
from Fixtures.processes.node import BINARY, ENVIRONMENT
from Fixtures.processes.ports import free_port
from Fixtures.sample_place import Place
from Fixtures.samples import ROOT, sample
from Fixtures.waiting import eventually

PUBLISHERS = {"python": "from Python", "javascript": "from Node", "php": "from PHP", "sh": "from curl"}
HEADINGS = {"python": "python", "javascript": "node", "php": "php", "sh": "the-request"}


@pytest.fixture(scope="module")
def app(tmp_path_factory, shared_server, certificate):
    """The gateway of `Start`."""
    gateway = Gateway(tmp_path_factory.mktemp("app"), shared_server.url, certificate, SECRET,
                      config=json.loads(sample("docs/start.md#1-run-it:json")))
    gateway.start().wait_ready()
    yield gateway
    gateway.stop()


@pytest.fixture
def place(app, tmp_path, shared_server):
    return Place(tmp_path / "place", app, shared_server.socket_path)


@pytest.fixture
def room(app):
    """A client of `room:1`."""
    with app.client(token=sign(SECRET, "listener")) as client:
        client.subscribe("room:1")
        yield client


def members(app: Gateway, topic: str) -> int:
    """How many sessions are subscribed."""
    with app.http() as http:
        return http.get(f"/v1/topics/{topic}").json()["subscribers"]["sessions"]


# Start


def test_the_five_minutes(place, room, app, worker):
    """Receive, publish, come back, call: each line as it stands."""
    with place.running("sh", place.text("docs/start.md#2-receive:sh")) as tail:
        eventually(lambda: members(app, "room:1") == 2, 10, "the tail")
        answer = json.loads(place.run("sh", place.text("docs/start.md#3-publish:sh")))
        assert set(answer) == set(json.loads(sample("docs/start.md#3-publish:json")))
        line = json.loads(tail.stdout.readline())
        assert line["offset"] == answer["offset"] and line["data"] == {"text": "hello"}
    for _ in range(2):
        app.publish("room:1", "message", {"text": "missed"})
    position = f"{answer['epoch']}:{answer['offset']}"
    again = place.text("docs/start.md#4-lose-nothing:sh", **{"oHExsH3R-1:1": position})
    with place.running("sh", again) as tail:
        assert [json.loads(tail.stdout.readline())["offset"] - answer["offset"] for _ in range(2)] == [1, 2]
    worker()
    with app.client() as client:
        client.subscribe("challenge:demo")
        place.run("sh", place.text("docs/start.md#5-call-a-command:sh"))
        client.expect("leaderboard:moves")


# The README


def test_the_lines_of_the_readme(place, app, worker):
    """curl, redis-cli, a command, `tail` and Python, as they stand."""
    worker()
    with app.client() as client:
        client.subscribe("shop:demo")
        place.run("sh", place.text("README.md#see-it-work:text"))
        client.expect("hello", data={"from": "curl"})
        assert place.run("sh", sample("README.md#see-it-work:text:2")).strip() != "0"
        assert "offset" not in client.expect("hello", data={"from": "redis"})
        client.subscribe("challenge:demo")
        place.run("sh", place.text("README.md#see-it-work:text:3"))
        client.expect("leaderboard:moves")
    with place.running("sh", sample("README.md#see-it-work:text:4")) as tail, \
            place.running("python", place.text("README.md#see-it-work:python")) as program:
        assert '"subscribed"' in program.stdout.readline()
        eventually(lambda: members(app, "shop:demo") == 2, 10, "both")
        app.publish("shop:demo", "hello", {"n": 1})
        assert json.loads(tail.stdout.readline())["data"] == {"n": 1}
        assert json.loads(program.stdout.readline())["data"] == {"n": 1}


# Publishers


@pytest.mark.parametrize("language", PUBLISHERS)
def test_a_publisher(place, room, language):
    output = place.run(language, place.text(f"docs/publish.md#{HEADINGS[language]}:{language}"))
    assert "epoch" in output
    room.expect("message", data={"text": PUBLISHERS[language]})


@pytest.mark.parametrize("language", ["python", "javascript", "php"])
def test_a_publisher_waits_for_redis(gateway, server, tmp_path, language):
    """While Redis is away the answer is 503; the sample repeats the publish under its id, and it is stored once."""
    app = gateway(server=server, config=json.loads(sample("docs/start.md#1-run-it:json")))
    place = Place(tmp_path / "place", app, Path(server.socket_path))
    server.stop()
    eventually(lambda: app.ops("/readyz").status_code == 503, 10, "the outage")
    with place.running(language, place.text(f"docs/publish.md#{HEADINGS[language]}:{language}")) as program:
        eventually(lambda: "a request failed" in app.log_text, 10, "a refusal")
        server.start()
        assert "epoch" in program.stdout.read() and program.wait() == 0
    with app.http() as http:
        assert len(http.get("/v1/topics/room:1/events?after=0").json()["events"]) == 1


@pytest.mark.parametrize("language", ["python", "javascript", "php"])
def test_a_publisher_repeats_what_a_proxy_lost(place, language):
    """A proxy answers 502 when its gateway dies under a request: the sample repeats it, under the same id."""
    text = sample(f"docs/publish.md#{HEADINGS[language]}:{language}")
    with Service(statuses=[502]) as proxy:
        place.run(language, text.replace("https://127.0.0.1:8443/", proxy.url))
    first, second = [body for _, body in proxy.asked]
    assert first == second and first["id"]


def test_a_publisher_in_php_says_why_nobody_answers(place):
    """It said `no answer` for a certificate that it does not trust, as for a port at which nobody listens."""
    text = place.text("docs/publish.md#php:php", **{"0.2, 1, 5, 10, null": "null"})
    text = text.replace('"cafile" => ".switchboard/cert.pem"', '"verify_peer" => true')
    done = subprocess.run(place.words("php", text), cwd=place.directory, capture_output=True,
                          text=True, timeout=30, env=ENVIRONMENT)
    assert done.returncode != 0 and "certificate verify failed" in done.stdout + done.stderr


def test_a_batch(place, room):
    """A message that is refused comes back with its error, and the others are stored."""
    text = place.text("docs/publish.md#python:python") + place.text("docs/publish.md#a-batch:python")
    assert place.run("python", text).splitlines()[-1] == "[]"
    for said in ("from Python", "first of two", "second of two"):
        room.expect("message", data={"text": said})
    second = '"topic": "room:1", "event": "message", "data": {"text": "second'
    assert second in text
    said = place.run("python", text.replace(second, second.replace("room", "nowhere"))).splitlines()[-1]
    assert "order-78-paid" in said and "'code': 'not_found'" in said and "order-78-placed" not in said


def test_a_program_publishes_past_the_gateway(place, room):
    assert place.run("sh", sample("docs/publish.md#straight-into-redis:sh")).strip() != "0"
    assert "offset" not in room.expect("message", data={"text": "from Redis"})


# Apps


@pytest.mark.parametrize("page, heading", [("web", "tokens"), ("from-pusher", "the-auth-endpoint")])
def test_a_token_of_a_backend(place, app, page, heading):
    made = place.run("python", place.text(f"docs/build/{page}.md#{heading}:python")).strip()
    with app.client(token=made) as client:
        client.subscribe("room:1")


def test_the_frames_of_the_kotlin_page(app):
    """Each frame of the table, the publish and the new token below it, played by a bare WebSocket."""
    text = (ROOT / "docs/build/kotlin.md").read_text()
    frames = [json.loads(frame) for frame in re.findall(r"`(\{\"event\".*?\}|\{\"topic\".*?\})`", text)]
    subscribe, subscribed, event, again, publish, ack, authenticate = frames
    with app.client(token=sign(SECRET, "kotlin")) as client:
        client.send_raw(json.dumps(subscribe))
        first = client.receive()
        assert set(first) == set(subscribed) and set(subscribed["data"]) <= set(first["data"])
        app.publish("room:1", "message", event["data"])
        heard = client.receive()
        assert set(heard) == set(event) and heard["data"] == event["data"]
        client.send_raw(json.dumps(publish))
        answers = [client.receive(), client.receive()]
        assert {"ack", "message"} == {answer["event"] for answer in answers}
        [done] = [answer for answer in answers if answer["event"] == "ack"]
        assert set(done) == set(ack) and set(done["data"]) == set(ack["data"])
        authenticate["data"]["token"] = sign(SECRET, "kotlin")
        client.send_raw(json.dumps(authenticate))
        assert client.receive()["event"] == "authenticated"
    again["data"]["since"] = {"epoch": first["data"]["epoch"], "offset": heard["offset"]}
    with app.client(token=sign(SECRET, "kotlin")) as client:
        client.send_raw(json.dumps(again))
        assert client.receive()["data"]["recovered"] is True
        assert client.receive()["offset"] == heard["offset"] + 1


def test_a_gateway_for_the_phone(place, app):
    """The second gateway shares everything with the first."""
    port = str(free_port())
    text = place.text("docs/build/phone.md#a-gateway-that-the-phone-reaches:sh",
                      **{"192.168.1.20": "127.0.0.1", "9443": port})
    with place.running("sh", text):
        eventually(lambda: (place.directory / "phone-cert.pem").exists(), 10, "the certificate")
        tail = (f".build/release/switchboard token --user ann >ann.jwt; .build/release/switchboard tail room:1 "
                f"--url https://127.0.0.1:{port} --ca phone-cert.pem --token-file ann.jwt --count 1")

        def listens():
            with contextlib.suppress(OSError), contextlib.closing(socket.create_connection(("127.0.0.1", int(port)))):
                return True

        def heard():
            app.publish("room:1", "message", {"text": "to the phone"})
            return program.poll() == 0

        eventually(listens, 20, "the second gateway")
        with place.running("sh", tail) as program:
            eventually(heard, 30, "an event by way of the second gateway")
            assert json.loads(program.stdout.read())["data"] == {"text": "to the phone"}
    said = subprocess.run(["openssl", "x509", "-noout", "-ext", "extendedKeyUsage,basicConstraints", "-in",
                           place.directory / "phone-cert.pem"], capture_output=True, text=True, check=True).stdout
    assert "TLS Web Server Authentication" in said and "CA:TRUE" in said, "iOS refuses a certificate without them"


def test_a_publisher_of_supabase_moves(place, room):
    place.run("sh", place.text("docs/build/from-supabase.md#3-replace-postgres-changes:sh"))
    room.expect("message", data={"text": "hello"})


def test_a_member_of_a_pusher_channel(gateway, tmp_path, shared_server, token):
    app = gateway(config=json.loads(sample("docs/build/from-pusher.md#the-settings:json")))
    place = Place(tmp_path / "place", app, shared_server.socket_path)
    with app.client(token=token("ann")) as client:
        client.refused("subscribe", {"topic": "chat:1"}, "forbidden")
        answer = json.loads(place.run("sh", place.text("docs/build/from-pusher.md#the-auth-endpoint:sh")))
        assert answer["member"] is True
        client.subscribe("chat:1")


def test_a_revoked_token_of_a_pusher_channel(gateway, tmp_path, shared_server, token):
    """Taking the membership away leaves a user whose token names the topic; the page's second request does not."""
    app = gateway(config=json.loads(sample("docs/build/from-pusher.md#the-settings:json")))
    place = Place(tmp_path / "place", app, shared_server.socket_path)
    user = "revoked-ann"  # other tests have a token of `ann` in the same second
    with app.client(token=token(user, topics=["chat:1"])) as client, app.http() as http:
        client.subscribe("chat:1")
        assert http.delete(f"/v1/topics/chat:1/members/{user}").status_code == 200
        app.publish("chat:1", "message", {"text": "still here"})
        client.expect("message", data={"text": "still here"})
        place.run("sh", place.text("docs/build/from-pusher.md#the-auth-endpoint:sh:2", **{'"ann"': f'"{user}"'}))
        client.expect_close(4401, after=("error",))


def test_a_publisher_of_centrifugo_moves(gateway, tmp_path, shared_server, token):
    config = json.loads(sample("docs/build/from-centrifugo.md#the-settings:json"))
    assert config.pop("jwt-secret-file")
    app = gateway(config=config)
    place = Place(tmp_path / "place", app, shared_server.socket_path)
    with app.client(token=token("ann")) as client:
        client.subscribe("chat:1")
        place.run("sh", place.text("docs/build/from-centrifugo.md#publishing:sh"))
        client.expect("message", data={"text": "hello"})


# Frames


def test_the_frames_of_the_protocol(gateway, token, topics):
    """Each frame that a client may send gets the answer that stands beside it, member by member."""
    page = (ROOT / "docs/protocol.md").read_text()
    rows = re.findall(r"^\| `(\{\"event\".*?\})`[^|]*\| `(\{\"event\".*?\})`", page, re.M)
    assert len(rows) == 8
    shop, talk = topics("shop").partition(":")[2], topics("conversation")
    app = gateway(config={"namespaces": {"conversation": {"presence": True}}})
    own = token("u1", topics=[talk])
    with app.http() as http, app.client(token=own) as client:
        command(http, "check_in", shopId=shop, userId="u1")
        command(http, "start_session", shopId=shop)
        command(http, "add_track", shopId=shop, userId="u1", trackId="t1", trackName="Blue", artistName="A")
        client.subscribe(talk)
        for sent, answered in rows:
            sent = sent.replace("<jwt>", own).replace("shop:42", f"shop:{shop}").replace("conversation:7", talk)
            # An answer is shortened by dots: they stand for members that are not compared.
            answer = json.loads(re.sub(r"\{\.\.\.\}", "{}", re.sub(r",\.\.\.", "", answered)))
            client.send_raw(sent.replace('"42"', f'"{shop}"').replace("{...}", '{"text":"hi"}'))
            got = client.receive()
            while "ref" not in got:  # an event that the frame caused
                got = client.receive()
            assert got["event"] == answer["event"] and got["ref"] == answer["ref"], (sent, got)
            assert set(answer.get("data", {})) - {"state"} <= set(got.get("data", {})), (sent, got)


# Servers


def test_the_files_of_a_group_are_for_machines(tmp_path):
    """The lines that make them leave no place of a container in them, and `check` reads the settings."""
    shutil.copytree(ROOT / "deploy", tmp_path / "deploy")
    subprocess.run(["sh", "-euc", sample("docs/run/sentinel.md#setting-it-up:sh")], cwd=tmp_path, check=True,
                   capture_output=True, timeout=30)
    made = {path.name: path.read_text() for path in (tmp_path / "secrets").iterdir()}
    for name in ("redis.conf", "sentinel.conf", "settings.json", "redis.acl"):
        assert not re.search(r"172\.28|/run/secrets|/data\b", made[name]), name
    assert re.search(r"^dir /var/lib/redis$", made["redis.conf"], re.M)
    assert re.search(r"^aclfile /etc/redis/redis.acl$", made["redis.conf"], re.M)
    assert "sentinel monitor switchboard 10.0.0.21 6379 2\n" in made["sentinel.conf"]
    form = json.loads(sample("docs/run/sentinel.md#setting-it-up:json"))["redis"]
    pattern = re.escape(form).replace("PASSWORD", "[0-9a-f]+").replace("SECRET", "[0-9a-f]+")
    assert re.fullmatch(pattern, json.loads(made["settings.json"])["redis"])


# Settings


@pytest.mark.parametrize("name", [
    "deploy/README.md#install-the-package:json", "docs/build/from-supabase.md#1-keys-and-tokens:json",
    "docs/clients.md#supabase:json",
    "docs/build/from-centrifugo.md#the-settings:json", "docs/limits.md#limits:json",
    "docs/namespaces.md#namespaces-and-sockets:json", "docs/namespaces.md#sockets-by-path:json",
    "docs/run/cluster.md#starting-on-a-cluster:json",
    "docs/run/sentinel.md#setting-it-up:json", "docs/settings.md#the-config-file:json"])
def test_settings_of_a_page_are_settings(name, tmp_path, shared_server):
    """`check` reads the file; what it says about this machine and its Redis does not count."""
    text = re.sub(r"10\.0\.0\.\d+", "127.0.0.1", sample(name))
    flags = [] if '"listen"' in text else ["--listen-plain", "127.0.0.1:0"]
    flags += [] if '"redis"' in text else ["--redis", shared_server.url]

    def check(text):
        (tmp_path / "app.json").write_text(text)
        return subprocess.run([BINARY, "check", "--config", tmp_path / "app.json", *flags], capture_output=True,
                              text=True, timeout=60, env=ENVIRONMENT)

    done = check(text)
    assert done.returncode in (0, 1) and done.stdout.startswith("listen "), done.stderr
    wrong = check(re.sub(r"\{", '{"no-such-setting": 1, ', text, count=1))
    assert wrong.returncode == 64 and "no-such-setting: unknown key" in wrong.stderr, "it would say so"
