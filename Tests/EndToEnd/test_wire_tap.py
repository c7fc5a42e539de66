"""An operator watches the messages of one session: through another gateway, for some seconds, without credentials."""

import itertools
import json

import pytest

from Fixtures.clients.phoenix import Frames
from Fixtures.clients.socketio import Phone
from Fixtures.clients.streams import stream
from Fixtures.clients.tokens import SECRET, sign
from Fixtures.processes.asked_fleet import LIMITS, READER, WRITER
from Fixtures.processes.gateway import API_KEY, Gateway, error_code
from Fixtures.redis.server import RedisServer
from Fixtures.waiting import eventually

TAPPER, OTHER = "tap-key-0123456789abcdef", "other-tap-key-0123456789abcdef"
KEYS = [f"reader:{READER}:read", f"writer:{WRITER}:write", f"watcher:{TAPPER}:tap", f"second:{OTHER}:read,write,tap"]
TOPICS = ["order:7", "order:8"]


@pytest.fixture(scope="module")
def gateways(tmp_path_factory, certificate):
    """Two gateways on one Redis."""
    directory = tmp_path_factory.mktemp("tapped")
    redis = RedisServer(directory / "redis").start()
    two = [Gateway(directory / f"gateway-{number}", redis.url, certificate, SECRET, "--shards", "2", limits=LIMITS,
                   keys=KEYS).start() for number in range(2)]
    try:
        for one in two:
            one.wait_ready()
        with two[0].http(key=READER) as http:
            eventually(lambda: len(http.get("/v1/nodes").json()["nodes"]) == 2, 20, "gateways that know each other")
        yield two
    finally:
        for one in [*two, redis]:
            one.stop()


class Watcher:
    """An operator with a key, who asks the first gateway."""

    def __init__(self, gateway, key=TAPPER):
        self.http = gateway.http(key=key)
        with gateway.http(key=READER) as http:
            self.find = lambda user: eventually(
                lambda: [one for one in self.sessions(gateway, user) if one["closed"] is None], 10, "the session")[0]
        self.read, self.frames = 0, []

    @staticmethod
    def sessions(gateway, user):
        with gateway.http(key=READER) as http:
            return http.get(f"/v1/sessions?user={user}").json()["sessions"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.http.close()

    def begin(self, session, seconds=60):
        response = self.http.post(f"/v1/sessions/{session}/tap?seconds={seconds}")
        assert response.status_code == 200, response.text
        self.read, self.frames = 0, []
        return response.json()

    def ask(self, session):
        """Reads what is new; returns the state of the tap."""
        response = self.http.get(f"/v1/sessions/{session}/tap?after={self.read}")
        assert response.status_code == 200, response.text
        answer = response.json()
        for frame in answer["frames"]:
            assert frame["number"] == self.read + 1, "each message once, and in order"
            self.read = frame["number"]
            self.frames.append(frame)
        return answer["tap"]

    def sees(self, session, direction, *words, after=0):
        """Waits for a message behind a number with these words; returns it."""
        def seen():
            self.ask(session)
            found = [frame for frame in self.frames if frame["direction"] == direction and frame["number"] > after
                     and all(word in (frame["text"] or "") for word in words)]
            return found[0] if found else None

        return eventually(seen, 10, f"a message {direction} with {words}")


@pytest.fixture
def watcher(gateways):
    with Watcher(gateways[0]) as one:
        yield one


def lines(gateway, session):
    """What a gateway's log says about a tap of the session."""
    told = (json.loads(line) for line in gateway.log_text.splitlines() if line.startswith("{"))
    return [line for line in told if line.get("session") == session and "tap" in line["message"]]


def test_messages_of_both_ways_are_read_through_another_gateway(gateways, watcher):
    token = sign(SECRET, "ann", topics=TOPICS)
    with gateways[1].client(token=token) as ann:
        ann.subscribe("order:7")
        session = watcher.find("ann")
        begun = watcher.begin(session["id"])
        assert (begun["tap"]["id"], begun["tap"]["user"], begun["tap"]["dialect"]) == (session["id"], "ann", "native")
        assert 50_000 < begun["tap"]["leftMs"] <= 60_000 and begun["tap"]["ended"] is None and begun["frames"] == []
        ann.send("ping", {}, ref=77)
        assert ann.expect("pong")
        for number in range(3):
            gateways[0].publish("order:7", "order:ready", {"table": number})
        asked = watcher.sees(session["id"], "in", '"ping"', "77")
        assert asked["kind"] == "text" and asked["bytes"] == len(asked["text"]) and asked["cut"] is False
        assert watcher.sees(session["id"], "out", '"pong"', "77")["number"] > asked["number"]
        last = watcher.sees(session["id"], "out", "order:ready", '"table":2')
        assert [json.loads(frame["text"])["data"] for frame in watcher.frames if "order:ready" in frame["text"]] == [
            {"table": number} for number in range(3)]
        heard = [ann.expect("order:ready") for _ in range(3)]
        assert json.loads(last["text"])["offset"] == heard[-1]["offset"], "what is shown is what was sent"
        ended = watcher.http.request("DELETE", f"/v1/sessions/{session['id']}/tap")
        assert ended.status_code == 200 and ended.json()["tap"]["ended"] == "asked"
        # The fast way again: what comes now is not recorded, and the client gets it as before.
        gateways[0].publish("order:7", "order:paid", {"n": 9})
        ann.expect("order:paid", data={"n": 9})
        assert watcher.ask(session["id"])["ended"] == "asked"
        assert not [frame for frame in watcher.frames if "order:paid" in frame["text"]]
    told = eventually(lambda: found if len(found := lines(gateways[1], session["id"])) == 2 else None, 5, "both lines")
    assert [line["message"] for line in told] == ["an operator taps a session", "an operator's tap of a session ended"]
    for line in told:
        assert (line["key"], line["user"], line["address"]) == ("watcher", "ann", "127.0.0.1")
    assert told[0]["seconds"] == "60" and told[1]["why"] == "asked" and int(told[1]["messages"]) >= 5
    asked = [line for line in gateways[0].log_text.splitlines()
             if "an operator acted" in line and session["id"] in line]
    assert ['"POST"' in line or '"DELETE"' in line for line in asked] == [True, True], "and the gateway that was asked"
    for gateway in gateways:
        assert TAPPER not in gateway.log_text and token not in gateway.log_text


# Credentials


def credentials(number):
    """A user and two tokens of it."""
    user, token = f"user-{number}", sign(SECRET, f"user-{number}", topics=TOPICS)
    return user, token, sign(SECRET, user, topics=TOPICS, jti=f"second-{number}")


def native(gateway, token, second):
    with gateway.client(token=token) as client:
        client.subscribe("order:7")
        yield
        client.send("authenticate", {"token": second}, ref=1)
        yield '"authenticate"'
        client.send_raw(json.dumps({"event": "authenticate", "data": "an-opaque-secret", "ref": 2}))
        yield '"ref": 2'


def phoenix(gateway, token, second):
    with Frames(gateway, token) as client:
        client.join("realtime:order:7", "1")
        yield
        client.push("1", "5", "realtime:order:7", "access_token", {"access_token": second})
        yield '"access_token"'
        client.push("6", "6", "realtime:order:8", "phx_join", {"config": {}, "user_token": second})
        yield "phx_join"


def socketio(transports):
    def play(gateway, token, second):
        with Phone(gateway, namespaces=["/queue"], auth={"token": token}, transports=transports) as phone:
            phone.call("subscribe", {"topic": "order:7"}, "/queue")
            yield
            phone.emit("authenticate", {"token": second}, "/queue")
            yield '"authenticate"'
            phone.emit("authenticate", second, "/queue")
            yield '"authenticate"'

    return play


WAYS = {"native": native, "phoenix": phoenix, "socketio": socketio(("websocket",)), "polling": socketio(("polling",))}
NUMBERS = itertools.count()


@pytest.mark.parametrize("way", WAYS)
def test_no_credential_is_shown_whatever_the_dialect(gateways, watcher, way):
    user, token, second = credentials(next(NUMBERS))
    play = WAYS[way](gateways[1], token, second)
    try:
        next(play)
        session = watcher.find(user)["id"]
        watcher.begin(session)
        gateways[0].publish("order:7", "order:note", {"text": f"try {second}"})
        assert "try ***" in watcher.sees(session, "out", "order:note")["text"]
        number = 0
        for words in play:
            seen = watcher.sees(session, "in", words, after=number)
            assert "***" in seen["text"], seen
            number = seen["number"]
    finally:
        play.close()
    shown = json.dumps(watcher.frames)
    for secret in (token, second, "an-opaque-secret", second.split(".")[2], second.split(".")[1]):
        assert secret not in shown


def test_members_with_the_names_of_credentials_are_hidden(gateways, watcher):
    """An answer may have a token for somebody else, and packets of Socket.IO bear ids that open a session."""
    user, token, _ = credentials(next(NUMBERS))
    with gateways[1].client(token=token) as client:
        client.subscribe("order:7")
        session = watcher.find(user)["id"]
        watcher.begin(session)
        gateways[0].publish("order:7", "order:note", {"sid": "a-private-id", "refreshToken": "r1", "n": 1})
        text = watcher.sees(session, "out", "order:note")["text"]
        assert '"n":1' in text and "a-private-id" not in text and "r1" not in text


def test_an_event_stream_is_watched_too(gateways, watcher):
    user = f"user-{next(NUMBERS)}"
    with stream(gateways[1], "order:7", key=sign(SECRET, user, topics=TOPICS)) as records:
        records.expect("subscribed")
        session = watcher.find(user)["id"]
        watcher.begin(session)
        gateways[0].publish("order:7", "order:note", {"n": 5})
        assert watcher.sees(session, "out", "order:note", '"n":5')["kind"] == "text"


# Rights


@pytest.mark.parametrize("key, status", [(None, 401), (READER, 403), (WRITER, 403), (API_KEY, 403), ("token", 403)])
def test_only_a_key_with_the_right_tap_may_watch(gateways, key, status):
    key = sign(SECRET, "backend", role="service") if key == "token" else key
    with gateways[0].client(token=sign(SECRET, "tess")) as client, gateways[0].http(key=key) as http:
        client.request("ping")
        session = Watcher.sessions(gateways[0], "tess")[0]["id"]
        for method in ("POST", "GET", "DELETE"):
            refused = http.request(method, f"/v1/sessions/{session}/tap")
            assert refused.status_code == status, (method, refused.text)
        assert not lines(gateways[0], session)


def test_a_tap_is_read_and_ended_by_the_key_that_began_it_alone(gateways, watcher):
    with gateways[1].client(token=sign(SECRET, "una", topics=TOPICS)) as client, \
            Watcher(gateways[0], OTHER) as second:
        client.subscribe("order:8")
        session = watcher.find("una")["id"]
        watcher.begin(session)
        for method in ("GET", "DELETE"):
            refused = second.http.request(method, f"/v1/sessions/{session}/tap")
            assert (refused.status_code, error_code(refused)) == (404, "not_found")
        # Another operator takes it over, and the first one is told.
        second.begin(session)
        assert watcher.ask(session)["ended"] == "replaced"
        gateways[0].publish("order:8", "order:note", {"n": 1})
        assert second.sees(session, "out", "order:note")
        told = lines(gateways[1], session)
        assert [(line["key"], line.get("why")) for line in told] == [
            ("watcher", None), ("watcher", "replaced"), ("second", None)]


def test_what_cannot_be_watched_is_refused_with_its_cause(gateways, watcher):
    for path, status in [("nobody.0.1/tap", 404), ("nonsense/tap", 400)]:
        assert watcher.http.post(f"/v1/sessions/{path}").status_code == status
    with gateways[1].client(token=sign(SECRET, "vic")) as client:
        client.request("ping")
        session = watcher.find("vic")["id"]
        for query in ("seconds=0", "seconds=61", "seconds=x", "seconds=5&seconds=6", "after=1"):
            assert watcher.http.post(f"/v1/sessions/{session}/tap?{query}").status_code == 400, query
        unknown = watcher.http.get(f"/v1/sessions/{session}/tap")
        assert unknown.status_code == 404 and "begin one by POST" in unknown.text


# Ends and bounds


def test_it_ends_by_itself_and_is_told_so(gateways, watcher):
    with gateways[1].client(token=sign(SECRET, "wim")) as client:
        client.request("ping")
        session = watcher.find("wim")["id"]
        watcher.begin(session, seconds=1)
        eventually(lambda: watcher.ask(session)["ended"] == "time", 10, "its end")
        client.request("ping")
        assert watcher.ask(session)["messages"] == len(watcher.frames)
    assert [line.get("why") for line in lines(gateways[1], session)] == [None, "time"]


def test_the_end_of_the_connection_is_the_last_thing_that_is_seen(gateways, watcher):
    with gateways[1].client(token=sign(SECRET, "xan")) as client:
        client.request("ping")
        session = watcher.find("xan")["id"]
        watcher.begin(session)
        with gateways[0].http(key=WRITER) as http:
            assert http.post(f"/v1/sessions/{session}/close?reason=policy_violation").status_code == 200
        client.expect_close(1008)
        eventually(lambda: watcher.ask(session)["ended"] == "policy_violation", 10, "its end")
    assert [(frame["kind"], frame["text"]) for frame in watcher.frames[-1:]] == [("close", "policy_violation")]
    assert lines(gateways[1], session)[-1]["why"] == "policy_violation"


def test_a_long_message_is_cut_and_what_comes_too_fast_is_counted(gateways, watcher):
    with gateways[1].client(token=sign(SECRET, "yul", topics=TOPICS)) as client:
        client.subscribe("order:8")
        session = watcher.find("yul")["id"]
        watcher.begin(session)
        gateways[0].publish("order:8", "order:long", {"pad": "x" * 9_000})
        client.expect("order:long")
        long = watcher.sees(session, "out", "order:long")
        assert long["cut"] is True and len(long["text"]) == 2_048 and long["bytes"] > 9_000
        pad = {"pad": "y" * 2_100}
        for _ in range(200):
            gateways[0].publish("order:8", "order:many", pad)
        for _ in range(200):
            client.expect("order:many")
        state, read = watcher.ask(session), None
        while read != watcher.read:
            read = watcher.read
            state = watcher.ask(session)
        assert 0 < state["leftOut"] < 200 and state["messages"] == watcher.read + state["leftOut"]


def test_erasing_a_user_ends_the_taps_of_its_sessions(gateways, watcher):
    with gateways[1].client(token=sign(SECRET, "zac", topics=TOPICS)) as client:
        client.subscribe("order:8")
        session = watcher.find("zac")["id"]
        watcher.begin(session)
        gateways[0].publish("order:8", "order:note", {"n": 1})
        client.expect("order:note")
        with gateways[0].http(key=WRITER) as http:
            assert http.delete("/v1/users/zac/data").status_code in (200, 202)
        state = eventually(lambda: state if (state := watcher.ask(session))["ended"] else None, 10, "its end")
        assert state["ended"] == "erased"
        assert [line.get("why") for line in lines(gateways[1], session)] == [None, "erased"]
