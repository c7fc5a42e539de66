"""The courier asks Spotify: a stand-in over HTTP/2 that answers as Spotify's documentation says, and not always."""

import base64
import json
import subprocess
import time
import uuid

import pytest

from Fixtures.apps.queueup import FLAGS, App
from Fixtures.clients.tokens import SECRET
from Fixtures.outside.server import Answer, OutsideServer
from Fixtures.outside.spotify import Spotify, settings
from Fixtures.processes.courier import CourierProcess
from Fixtures.processes.gateway import Gateway, command
from Fixtures.processes.node import ENVIRONMENT
from Fixtures.waiting import eventually


@pytest.fixture(scope="module")
def spotify(certificate):
    with OutsideServer(certificate, Spotify()) as server:
        yield server


@pytest.fixture(scope="module")
def courier(tmp_path_factory, shared_server, certificate, spotify):
    directory = tmp_path_factory.mktemp("courier")
    one = CourierProcess(directory, shared_server.url, certificate, settings(directory, spotify.url)).start()
    yield one
    one.stop()
    # Other tests' tracks are described by nobody.
    with shared_server.client() as db:
        db.delete("#calls:spotify", "#courier:spotify")


@pytest.fixture(scope="module")
def app(tmp_path_factory, shared_server, certificate, courier):
    node = Gateway(tmp_path_factory.mktemp("search") / "gateway", shared_server.url, certificate, SECRET, *FLAGS)
    with App(node.start().wait_ready(), "Ann") as phone:
        yield phone
    node.stop()


@pytest.fixture
def asked(spotify):
    """What the stand-in is asked in this test."""
    before = len(spotify.asked)
    return lambda: [one for one in spotify.asked[before:] if one.path != "/api/token"]


@pytest.fixture
def words():
    return uuid.uuid4().hex[:8]


@pytest.fixture
def ask(db):
    """Asks as a gateway does, without its rates: the words of the answer, and what stands behind them."""
    channel = f"#node:{uuid.uuid4().hex}"
    with db.pubsub(ignore_subscribe_messages=True) as heard:
        heard.subscribe(channel)

        def send(request, seconds=5):
            db.rpush("#asks:spotify", json.dumps({
                "id": "q1", "to": channel, "service": "spotify", "command": "c", "request": request,
                "until": int(time.time() * 1_000) + seconds * 1_000}))
            message = eventually(lambda: heard.get_message(timeout=0.05), seconds + 1, "an answer")
            head, _, body = message["data"].decode().partition("\n")
            assert head.startswith("q1 ")
            return head[3:], json.loads(body) if body else None

        yield send


def search(ask, words, limit=10):
    word, answer = ask({"q": words, "limit": limit})
    assert word == "ok", word
    return answer["tracks"]


def test_a_search_is_answered_in_the_apps_form(app, asked, words):
    tracks = app.call("GET", f"/spotify/search?q={words.upper()}&limit=10")["tracks"]
    assert len(tracks) == 10 and tracks[3] == {
        "id": "track3", "isrc": "GB0000000003", "name": f"{words} 3", "artists": "Ann, Bob", "album": "An Album",
        "duration_ms": 3_000, "image_url": "https://i.example/300", "source": "spotify"}
    assert len(asked()) == 1 and asked()[0].version == 2


def test_pages_have_ten_tracks_and_are_kept(courier, ask, asked, words):
    """Spotify refuses larger pages to apps in development mode."""
    assert [one["id"] for one in search(ask, words, 50)] == [f"track{n}" for n in range(23)]
    assert len(asked()) == 3
    assert len(search(ask, words, 15)) == 15 and len(asked()) == 3


def test_a_token_is_fetched_once_and_again_when_it_is_refused(courier, ask, spotify, asked, words):
    grants = spotify.answer.grants
    search(ask, words + "a")
    assert spotify.answer.grants <= grants + 1
    grants = spotify.answer.grants
    spotify.answer.tokens.clear()
    assert len(search(ask, words + "b")) == 10
    assert spotify.answer.grants == grants + 1 and [one.path for one in asked()][-2:] == [asked()[-1].path] * 2


def test_a_service_that_asks_for_a_pause_gets_it(ask, courier, spotify, asked, words):
    spotify.answer.next = [Answer.of({}, 429, retry_after=1)]
    assert ask({"q": words}) == ("failed 1", None) and len(asked()) == 1
    assert ask({"q": words + "x"}) == ("failed 1", None)
    assert len(asked()) == 1, "nothing is asked meanwhile"
    eventually(lambda: courier.metric("switchboard_courier_service_open") == 0, 5, "the pause is over")
    assert len(search(ask, words)) == 10


@pytest.mark.parametrize("answer", [
    Answer(200, b"text"), Answer.of([]), Answer.of({"tracks": {"items": 5}}), Answer(200, b"{" * 100),
    Answer(500), Answer(302, b"", {"location": "https://elsewhere.example/"}), Answer(cut=True),
    Answer(200, b"x" * 1_100_000), Answer(200, b"{}", {"x-long": "y" * 20_000}),
], ids=["text", "list", "items", "deep", "500", "302", "cut", "large", "head"])
def test_whatever_it_answers_the_caller_is_told(ask, courier, spotify, asked, words, answer):
    spotify.answer.next = [answer]
    assert ask({"q": words}) == ("failed 1", None) and len(asked()) == 1
    # Only refusals in a row open the breaker.
    assert len(search(ask, words)) == 10


def test_words_that_spotify_refuses_leave_it_open_to_others(ask, courier, spotify, asked, words):
    """Five requests in a row that one user got refused kept everybody from searching."""
    spotify.answer.next = [Answer.of({}, 414) for _ in range(6)]
    for n in range(6):
        assert ask({"q": f"{words} {n}"}) == ("failed 1", None) and len(asked()) == n + 1
    assert len(search(ask, words)) == 10


def test_a_track_of_a_call_is_described(courier, db, asked):
    db.delete("#calls-dead:spotify")
    entries = [db.xadd("#calls:spotify", {"i": "1" * 32, "c": "no_such_command", "r": json.dumps({"track": name}),
                                          "a": json.dumps({"shopId": "7", "outcome": "forged", "answer": 1})})
               for name in ("track5", "nobody", "../../x")]
    eventually(lambda: db.xlen("#calls:spotify") == 0, 10, "the calls are done")
    told = [json.loads(fields[b"a"]) for key in ("#outbox:next", "#outbox-dead") for _, fields in db.xrange(key)
            if fields.get(b"c") == b"no_such_command"]
    assert {"shopId": "7", "outcome": "ok", "answer": {
        "id": "track5", "name": "Blue", "artists": [{"name": "Ann"}, {"name": "Bob"}], "duration_ms": 5_000,
        "album": {"name": "An Album", "images": [{"url": "https://i.example/300"}]}}} in told
    assert told.count({"shopId": "7", "outcome": "failed"}) == 2
    dead = {fields[b"id"]: fields[b"reason"] for _, fields in db.xrange("#calls-dead:spotify")}
    assert dead == {entries[1]: b"spotify answers 404", entries[2]: b"no track has such an id"}
    db.delete("#outbox:next", "#outbox-dead", "#calls-dead:spotify")


def test_a_track_that_is_added_by_its_id_is_described(courier, gw, worker, topic, token):
    worker()
    shop = topic.split(":")[1]
    with gw.http() as http, gw.client(token=token("bob")) as phone:
        command(http, "start_session", shopId=shop)
        command(http, "check_in", shopId=shop, userId="ann")
        phone.subscribe(f"dj:{shop}")
        added = command(http, "add_track", shopId=shop, trackId="track7", userId="ann")
        assert (added["trackId"], added["trackName"]) == ("track7", "")
        told = phone.expect("track:added")["data"]
        assert (told["trackName"], told["artistName"], told["duration_ms"]) == ("Blue", "Ann", 7_000)
        assert (told["addedBy"], told["score"], told["position"]) == ("ann", 1, 1)
        state = phone.subscribe(f"dj:{shop}")["state"]["queue"][0]
        assert (state["trackName"], state["albumArt"]) == ("Blue", "https://i.example/300")


def run(arguments):
    return subprocess.run(arguments, capture_output=True, text=True, timeout=30, env=ENVIRONMENT)


def test_mistakes_in_the_settings_are_told(tmp_path, shared_server, certificate):
    wrong = {"services": {"spotfy": {}, "spotify": {"url": "http://api.example", "market": "de", "clientid": "x"}},
             "webhooks": {"A": {}, "a": {"url": "ftp://x", "topics": ["order"], "events": [], "give-up-seconds": 1}}}
    told = run(CourierProcess(tmp_path / "wrong", shared_server.url, certificate, wrong).arguments)
    assert told.returncode == 64
    for line in (
            "services.spotfy: a courier knows no such service; did you mean spotify?",
            "services.spotify.url: expected https://", "services.spotify.market: expected a country",
            "services.spotify.clientid: unknown key; did you mean client-id?", 'services.spotify: needs "client-id"',
            "webhooks.A: expected a name", 'webhooks.a: needs "secret-file"', "webhooks.a.url: expected",
            "webhooks.a.topics: expected", "webhooks.a.events: expected", "webhooks.a.give-up-seconds: expected"):
        assert line in told.stderr, told.stderr
    nothing = run(CourierProcess(tmp_path / "none", shared_server.url, certificate, {}).arguments)
    assert nothing.returncode == 1 and "nothing to do" in nothing.stderr


def test_it_checks_itself_and_touches_nothing(tmp_path, shared_server, certificate, db):
    """It was a courier as long as it looked: calls were made, and receivers told of."""
    prefix = uuid.uuid4().hex[:8] + ":"
    good = CourierProcess(tmp_path / "good", shared_server.url, certificate, {}, "--only-check",
                          "--redis-prefix", prefix)
    (tmp_path / "hook-secret").write_text("whsec_" + base64.b64encode(b"s" * 24).decode())
    hook = {"url": "https://127.0.0.1:1", "secret-file": str(tmp_path / "hook-secret"), "topics": ["order:*"]}
    (tmp_path / "good" / "config.json").write_text(json.dumps(
        settings(tmp_path, "https://127.0.0.1:1") | {"webhooks": {"kitchen": hook}}))
    told = run(good.arguments)
    assert told.returncode == 0 and "ok: files, secrets and Redis" in told.stdout, told.stderr
    assert list(db.scan_iter(prefix + "*")) == []
    (tmp_path / "client-secret").unlink()
    told = run(good.arguments)
    assert told.returncode == 1 and "client-secret" in told.stderr
