"""Routes whose answers come from outside: asked once, kept, refused clearly, and never forged or mixed up."""

import json
import uuid

import pytest

from Fixtures.apps.operator_scripts import example_pack, examples, script, write_scripts
from Fixtures.apps.queueup import FLAGS, App, Shown, track
from Fixtures.clients.tokens import SECRET
from Fixtures.outside.courier import Courier
from Fixtures.processes.gateway import Gateway
from Fixtures.waiting import eventually

ASK_MS = 1_500
LIMITS = {"askMs": ASK_MS, "askAnswerBytesMax": 2_000, "asksMax": 3, "userActionsPerSecond": 1_000}
OWN = {
    "my_songs": script(
        "my_songs", "return {who = caller.user, words = args.words}", allow="user", arg="words string 1..9", drop="key",
        topic=[], readonly="", rate="1000/1 s user", http="GET /v1/mine via catalogue cache 60", weight="50"),
    "hot_songs": script(
        "hot_songs", "return {words = args.words}", allow="user|anonymous", arg="words string 1..9", drop="key",
        topic=[], readonly="", rate=["1000/1 s user", "1000/1 s address"], http="GET /v1/hot via catalogue",
        weight="50"),
}


@pytest.fixture(scope="module")
def gateway(tmp_path_factory, shared_server, certificate):
    """A gateway of one shard with the guide's scripts and two of our own."""
    directory = tmp_path_factory.mktemp("via")
    scripts = write_scripts(directory / "scripts", pack=example_pack(), **examples(), **OWN)
    node = Gateway(directory / "gateway", shared_server.url, certificate, SECRET, "--scripts", scripts,
                   "--shards", "1", limits=LIMITS)
    yield node.start().wait_ready()
    node.stop()


@pytest.fixture
def courier(db):
    one = Courier(db, "catalogue")
    one.live(600)
    yield one
    one.die()
    db.delete("#asks:catalogue")


@pytest.fixture
def phone(gateway, token, topic):
    with gateway.http(key=None, headers={"authorization": "Bearer " + token("u-" + topic[5:])}) as http:
        yield http


@pytest.fixture
def words():
    """Words that no other test asks for."""
    return uuid.uuid4().hex[:8]


def metric(gateway, name, **labels):
    return gateway.metric(f"switchboard_asks_{name}", **labels)


def search(http, words, **more):
    return http.get("/api/v1/catalogue", params={"q": words} | more)


def test_equal_questions_are_asked_once_and_the_answer_is_kept(gateway, courier, phone, held, words, token):
    shared = metric(gateway, "shared_total")
    calls = [held(lambda: search(phone, words, limit=5)) for _ in range(2)]
    question = courier.take()
    assert question["request"] == {"words": words, "limit": 5} and question["command"] == "find_songs"
    assert question["service"] == "catalogue" and question["until"] > 1_700_000_000_000
    with gateway.client(token=token("u2")) as socket:
        socket.send("find_songs", {"q": words, "limit": 5}, ref=7)
        eventually(lambda: metric(gateway, "shared_total") == shared + 2, what="three callers, one question")
        assert courier.waiting() == 0
        assert courier.answer(question, {"songs": ["Blue"]}) == 1
        socket.expect("ack", ref=7, data={"songs": ["Blue"]})
        for call in calls:
            assert (call.result().status_code, call.result().json()) == (200, {"songs": ["Blue"]})
        courier.die()
        eventually(lambda: search(phone, words, limit=5).status_code == 200, what="it is kept")
        assert socket.request("find_songs", {"q": words, "limit": 5})["data"] == {"songs": ["Blue"]}
    other = search(phone, words, limit=6)
    assert other.status_code == 503 and other.json()["error"] == "The catalogue cannot be searched now."


def test_without_cache_each_question_is_asked(courier, phone, held, words):
    for _ in range(2):
        call = held(lambda: phone.get("/v1/hot", params={"words": words}))
        courier.answer(courier.take(), {"n": 1})
        assert call.result().json() == {"n": 1}


def test_arguments_rights_and_rates_are_the_gateways(gateway, courier, phone, words):
    assert search(phone, "").status_code == 422 and search(phone, words, limit=51).status_code == 422
    with gateway.http(key=None) as nobody:
        assert search(nobody, words).status_code == 401
    assert courier.waiting() == 0


def test_a_courier_that_is_too_slow_is_not_waited_for(gateway, courier, phone, held, words):
    slow = metric(gateway, "failed_total", reason="slow")
    refused = search(phone, words)
    assert refused.status_code == 503 and "takes too long" in refused.json()["error"]
    assert refused.headers["retry-after"] == "1" and metric(gateway, "failed_total", reason="slow") == slow + 1
    stray = metric(gateway, "stray_total")
    courier.answer(courier.take(), {"songs": ["late"]})
    eventually(lambda: metric(gateway, "stray_total") == stray + 1, what="the late answer is dropped")
    call = held(lambda: search(phone, words))
    courier.answer(courier.take(), {"songs": ["in time"]})
    assert call.result().json() == {"songs": ["in time"]}


@pytest.mark.parametrize("word, seconds", [
    ("failed", "1"), ("failed 30", "30"), ("failed 99999", "3600"), ("huh", "1")])
def test_a_courier_may_fail(courier, phone, held, words, word, seconds):
    call = held(lambda: search(phone, words))
    courier.answer(courier.take(), b"", word)
    refused = call.result()
    assert refused.status_code == 503 and "could not be asked" in refused.json()["error"]
    assert refused.headers["retry-after"] == seconds


@pytest.mark.parametrize("body", [
    b"", b"text", b"[1]", b'{"a":1', b'{"a":NaN}', b'{"a":1}{}', b'{"a":"\xff"}', b'{"a":' * 40 + b"1" + b"}" * 40,
    b'{"a":"' + b"x" * 1_993 + b'"}', b'{"a":"' + b"x" * 3_000_000 + b'"}',
], ids=range(10))
def test_an_answer_that_cannot_be_read_is_told_and_not_kept(courier, phone, held, words, body):
    for _ in range(2):
        call = held(lambda: search(phone, words))
        courier.answer(courier.take(), body)
        refused = call.result()
        assert refused.status_code == 503 and "could not be read" in refused.json()["error"], refused.text


def test_the_largest_answer_is_taken(courier, phone, held, words):
    call = held(lambda: search(phone, words))
    courier.answer(courier.take(), b'{"a":"' + b"x" * 1_992 + b'"}')
    assert len(call.result().content) == 2_000


def test_answers_are_for_their_question_alone(gateway, courier, phone, held, words, token, db):
    """Nobody who has a token can name the channel; who can publish in Redis still has to know the id."""
    call = held(lambda: search(phone, words))
    question = courier.take()
    forged, stray = {"songs": ["forged"]}, metric(gateway, "stray_total")
    numbers = [question["id"][:3] + "A" * 24, question["id"][:-1], question["id"] + "x", "!0.", "!", "!99.x", "!-1.x"]
    for number in numbers:
        courier.answer(question | {"id": number}, forged)
    db.publish(question["to"], "!0." + " " * 100)
    db.publish(question["to"], b"!0.\xff\x00 ok\n{}")
    with gateway.client(token=token("u9")) as socket, gateway.http() as backend:
        for name in (question["to"], "#asks:catalogue", "#answers:catalogue"):
            assert socket.request("subscribe", {"topic": name})["event"] == "error"
            refused = backend.post("/v1/broadcast", json={"topic": name, "event": "e", "data": forged})
            assert refused.status_code == 400
    courier.answer(question, {"songs": ["true"]})
    courier.answer(question, forged)
    assert call.result().json() == {"songs": ["true"]} == search(phone, words).json()
    eventually(lambda: metric(gateway, "stray_total") >= stray + 4, what="the others were dropped")


def test_what_depends_on_the_caller_is_kept_for_the_caller(gateway, courier, held, words, token):
    with gateway.http(key=None, headers={"authorization": "Bearer " + token("ann")}) as ann, gateway.http(
            key=None, headers={"authorization": "Bearer " + token("bob")}) as bob:
        for http, name in ((ann, "ann"), (bob, "bob")):
            call = held(lambda http=http: http.get("/v1/mine", params={"words": words}))
            question = courier.take()
            assert question["request"] == {"who": name, "words": words}
            courier.answer(question, {"for": name})
            assert call.result().json() == {"for": name}
        assert [http.get("/v1/mine", params={"words": words}).json()["for"] for http in (ann, bob)] == ["ann", "bob"]
        # Another command's answers are its own, though it asked the same.
        call = held(lambda: ann.get("/v1/hot", params={"words": words}))
        assert courier.take()["command"] == "hot_songs"
        assert call.result().status_code == 503


def test_questions_in_flight_are_bounded(gateway, courier, phone, held, words):
    calls = [held(lambda n=n: search(phone, words, limit=n + 1)) for n in range(3)]
    eventually(lambda: courier.waiting() == 3, what="three questions")
    refused = search(phone, words, limit=9)
    assert refused.status_code == 503 and "too many questions" in refused.json()["error"]
    assert refused.headers["retry-after"] == "1"
    for _ in range(3):
        courier.answer(courier.take(), {"songs": []})
    assert [call.result().status_code for call in calls] == [200] * 3 and metric(gateway, "waiting") == 0


def test_a_gateway_that_is_restarted_asks_again(gateway, courier, held, words, token, certificate, tmp_path, db,
                                                shared_server):
    scripts = write_scripts(tmp_path / "scripts", pack=example_pack(), **examples())

    first = Gateway(tmp_path / "first", shared_server.url, certificate, SECRET, "--scripts", scripts,
                    limits={"askMs": 60_000}).start().wait_ready()
    with first.http() as http:
        call = held(lambda: search(http, words))
        lost = courier.take()
        first.kill()
        assert call.exception() is not None
    eventually(lambda: courier.answer(lost, {"songs": ["lost"]}) == 0, what="nobody hears it")
    with gateway.http() as http:
        call = held(lambda: search(http, words))
        courier.answer(courier.take(), {"songs": ["again"]})
        assert call.result().json() == {"songs": ["again"]}


def test_it_is_described(gateway):
    with gateway.http() as http:
        paths = http.get("/v1/openapi.json").json()["paths"]
    for operation in (paths["/api/v1/catalogue"]["get"], paths["/v1/commands/find_songs"]["post"]):
        assert "kept for 60 s" in operation["description"]
        assert "Codes: unavailable." in operation["responses"]["503"]["description"]


# QueueUp's search


@pytest.fixture(scope="module")
def app(tmp_path_factory, shared_server, certificate):
    directory = tmp_path_factory.mktemp("search")
    node = Gateway(directory / "gateway", shared_server.url, certificate, SECRET, *FLAGS)
    with App(node.start().wait_ready(), "Ann") as phone:
        yield phone
    node.stop()


def test_queueup_searches_by_its_courier(app, held, words, db):
    path = f"/spotify/search?q=+rick%20{words}%20&limit=10"
    with pytest.raises(Shown) as shown:
        app.call("GET", path)
    assert (shown.value.status, shown.value.sentence) == (503, "Searching Spotify is not configured on this server")
    courier = Courier(db, "spotify")
    courier.live(60)
    try:
        call = held(lambda: app.call("GET", path))
        question = courier.take()
        assert question["request"] == {"q": f"rick {words}", "limit": 10}
        tracks = {"tracks": [track("Never Gonna Give You Up")]}
        courier.answer(question, tracks)
        assert call.result() == tracks == app.call("GET", path)
        for query, status in (("q=x&limit=0", 422), ("q=x&limit=51", 422), ("limit=1", 422), ("q=%20", 422)):
            with pytest.raises(Shown) as shown:
                app.call("GET", "/spotify/search?" + query)
            assert shown.value.status == status, json.dumps(query)
    finally:
        courier.die()
