"""Listeners nearby as their app speaks: PUT its place and track, GET its neighbours, hear of them on its own topic."""

import itertools

import pytest

from Fixtures.clients.tokens import SECRET
from Fixtures.processes.gateway import Gateway, command, error_code
from Fixtures.processes.worker import Worker
from Fixtures.redis.server import RedisServer
from Fixtures.scripts.nearby_model import rounded
from Fixtures.scripts.nearby_scripts import degrees_in, metres, places_of, texts_of
from Fixtures.waiting import eventually

HERE = (52.5201357, 13.4051246)
TRACK = {"id": "4uLU6hMCjMI75M1A2tKUQC", "name": "Song", "artist": "Band", "albumName": "LP",
         "albumImageUrl": "https://i.scdn.co/image/1", "duration": 215, "isPlaying": True}
PACKS = ("--packs", "nearby")
_numbers = itertools.count(1)


@pytest.fixture(scope="module")
def place_server(tmp_path_factory):
    server = RedisServer(tmp_path_factory.mktemp("redis")).start()
    yield server
    server.stop()


@pytest.fixture(scope="module")
def nodes(tmp_path_factory, place_server, certificate):
    """A gateway and a worker with the pack; every test is somewhere else on the globe."""
    gateway = Gateway(tmp_path_factory.mktemp("gateway"), place_server.url, certificate, SECRET, *PACKS,
                      limits={"userActionsPerSecond": 1_000})
    worker = Worker(tmp_path_factory.mktemp("worker"), place_server.url, *PACKS)
    gateway.start().wait_ready()
    worker.start()
    yield gateway, worker
    for node in (gateway, worker):
        node.stop()


@pytest.fixture
def town():
    """A place far from those of other tests."""
    number = next(_numbers)
    return HERE[0] - number, HERE[1] + number


class App:
    """One installation: HTTP with a bearer token, and a WebSocket on the user's own topic."""

    def __init__(self, gateway, token, user):
        self.user = user
        self.http = gateway.http(key=None)
        self.http.headers["Authorization"] = f"Bearer {token(user)}"
        self.socket = gateway.client(token=token(user))
        self.socket.subscribe(f"user:{user}")

    def put(self, path, status=200, **body):
        response = self.http.put(path, json=body)
        assert response.status_code == status, response.text
        return response.json()

    def go(self, place, **more):
        return self.put("/v1/location", latitude=place[0], longitude=place[1], **more)

    def nearby(self, **parameters):
        response = self.http.get("/v1/nearby", params=parameters)
        assert response.status_code == 200, response.text
        return response.json()

    def hears(self, event, id):
        message = self.socket.expect(event, topic=f"user:{self.user}")
        assert message["data"]["id"] == id, message
        # What tells a place has no position: nobody finds it in a log.
        assert "offset" not in message
        return message["data"]

    def close(self):
        self.socket.close()
        self.http.close()


@pytest.fixture
def app(nodes, token):
    """A factory of apps of users whom no other test has."""
    apps = []

    def start(name, has_chosen=True):
        one = App(nodes[0], token, f"{name}-{next(_numbers)}")
        apps.append(one)
        if has_chosen:
            assert one.put("/v1/privacy", rounding=0) == {"visible": "everyone", "rounding": 0}
        return one

    yield start
    for one in apps:
        one.close()


def north(place, distance):
    return place[0] + distance / 111_226, place[1]


def test_the_app_meets_listeners_nearby(app, town, nodes):
    """The calls of the app in their order: place, track every 30 s, place after 100 m, a page, privacy, and off."""
    ann, bea = app("ann"), app("bea")
    assert ann.go(town, city="Berlin") == {"nearby": []}
    assert bea.put("/v1/track", **TRACK) == TRACK
    (found,) = bea.go(north(town, 150), city="Berlin")["nearby"]
    assert (found["id"], found["user"]["id"], found["distance"]) == (ann.user, ann.user, pytest.approx(150, abs=1))
    seen = ann.hears("nearby:enter", bea.user)
    assert seen["user"]["currentTrack"] == TRACK and seen["user"]["displayName"]
    assert seen["user"]["location"] == {
        "latitude": pytest.approx(north(town, 150)[0], abs=1e-6), "longitude": pytest.approx(town[1], abs=1e-6),
        "city": "Berlin"}
    assert seen["user"]["lastUpdated"].endswith("Z")

    bea.go(north(town, 160))
    bea.go(north(town, 250))
    assert ann.hears("nearby:move", bea.user)["distance"] == pytest.approx(250, abs=1)
    bea.put("/v1/track", **TRACK | {"name": "Next"})
    assert ann.hears("nearby:track", bea.user)["currentTrack"]["name"] == "Next"

    (found,) = ann.nearby(radius=300, limit=10)["nearby"]
    assert found["user"]["currentTrack"]["name"] == "Next"
    assert ann.nearby(radius=200) == {"nearby": []}

    assert bea.put("/v1/privacy", visible="everyone", rounding=1000) == {"visible": "everyone", "rounding": 1000}
    there = rounded(north(town, 250), 1_000)
    told = ann.hears("nearby:move", bea.user)["user"]["location"]
    assert (told["latitude"], told["longitude"]) == pytest.approx(there, abs=1e-6)
    bea.put("/v1/privacy", visible="nobody", rounding=0)
    ann.hears("nearby:leave", bea.user)
    assert ann.nearby() == {"nearby": []} and len(bea.nearby()["nearby"]) == 1

    bea.put("/v1/privacy", visible="followers", rounding=0)
    bea.go(north(town, 100))
    ann.socket.expect_nothing()
    assert bea.put(f"/v1/followers/{ann.user}")["allowed"]
    ann.hears("nearby:enter", bea.user)
    assert ann.http.delete("/v1/location").json() == {"deleted": True}
    bea.hears("nearby:leave", ann.user)
    assert error_code(ann.http.get("/v1/nearby")) == "no_place"


def test_a_newcomer_is_shown_within_100_metres_until_it_chooses(app, town):
    """The app's first call is a place. It was told to everybody around as exactly as the phone knew it."""
    ann, new = app("ann"), app("new", has_chosen=False)
    ann.go(town)
    place = north(town, 207.3)
    new.go(place)
    square = rounded(place, 100)
    seen = ann.hears("nearby:enter", new.user)
    there = seen["user"]["location"]
    assert (there["latitude"], there["longitude"]) == pytest.approx(square, abs=1e-6)
    assert seen["distance"] == pytest.approx(metres(town, square), abs=1)
    assert new.put("/v1/privacy", visible="everyone") == {"visible": "everyone", "rounding": 100}
    assert new.put("/v1/privacy", rounding=0) == {"visible": "everyone", "rounding": 0}
    new.go(place)
    (found,) = ann.nearby()["nearby"]
    assert found["user"]["location"]["latitude"] == pytest.approx(place[0], abs=1e-6)


@pytest.fixture
def neighbours(app, town, place_server):
    """Two who see each other, and what makes the first refuse the second as the pack `people` would."""
    ann, bea = app("ann"), app("bea")
    ann.go(town)
    bea.go(north(town, 50))
    ann.hears("nearby:enter", bea.user)

    def refuse(own, others):
        with place_server.client() as db:
            db.sadd(f"user:{bea.user}#{others}", ann.user)
            db.sadd(f"user:{ann.user}#{own}", bea.user)
    return ann, bea, refuse


def test_a_block_parts_two_listeners_at_once(neighbours, town):
    ann, bea, refuse = neighbours
    refuse("blocks", "blockers")
    bea.hears("nearby:leave", ann.user)
    assert bea.go(north(town, 40)) == {"nearby": []}
    assert bea.nearby() == {"nearby": []}


def test_who_mutes_a_listener_is_not_shown_it(neighbours, town):
    ann, bea, refuse = neighbours
    refuse("mutes", "muters")
    ann.hears("nearby:leave", bea.user)
    assert [one["id"] for one in bea.go(north(town, 150))["nearby"]] == [ann.user]
    assert ann.nearby() == {"nearby": []}
    ann.socket.expect_nothing()


def test_places_of_a_train_and_six_tracks_a_minute(app, town):
    """An app sends a place each 100 m: at 400 km/h that are 67 in a minute."""
    ann = app("ann")
    for _ in range(90):
        ann.go(town)
    # Some come back while a busy machine sends: at least 90 are taken, and soon one is refused.
    later = (ann.http.put("/v1/location", json={"latitude": 1, "longitude": 1}) for _ in range(300))
    assert error_code(next(answer for answer in later if answer.status_code != 200)) == "rate_limited"
    for _ in range(6):
        ann.put("/v1/track", **TRACK)
    assert error_code(ann.http.put("/v1/track", json=TRACK)) == "rate_limited"


@pytest.mark.parametrize("body", [
    {"latitude": 91, "longitude": 0}, {"latitude": "x", "longitude": 0}, {"longitude": 0}, {"latitude": 0},
    {"latitude": 0, "longitude": 181}, {"latitude": 0, "longitude": 0, "userId": "somebody-else"}])
def test_no_place_of_another_and_none_off_the_globe(app, body):
    response = app("ann").http.put("/v1/location", json=body)
    assert error_code(response) == ("forbidden" if "userId" in body else "bad_request")


def test_an_exact_place_is_neither_in_redis_nor_in_a_log(app, nodes, place_server, town):
    """All keys, values and members of Redis and all lines of the logs are searched for it."""
    ann = app("ann")
    for settings in ({"visible": "everyone", "rounding": 100}, {"visible": "followers", "rounding": 1000},
                     {"visible": "nobody", "rounding": 0}):
        hidden = app("hidden")
        ann.go(town)
        hidden.put("/v1/privacy", **settings)
        place = north(town, 123.4567)
        hidden.go(place)
        response = hidden.http.put(
            "/v1/location", json={"latitude": place[0], "longitude": place[1]}, headers={"Idempotency-Key": "once"})
        assert response.status_code == 200
        with place_server.client() as db:
            everything = texts_of(db) + "".join(node.log_text for node in nodes)
            assert not [degree for degree in degrees_in(everything) if abs(degree - place[0]) < 1e-6]
            assert not [key for key, member, *there in places_of(db)
                        if member == hidden.user and metres(there, place) < 1]


def test_an_exact_place_is_not_in_the_slow_log(app, place_server, town):
    """Redis keeps the first 31 words of a slow call. A place is sent behind them, whatever became of it."""
    hidden, place = app("hidden"), north(town, 123.4567)
    hidden.put("/v1/privacy", visible="everyone", rounding=1000)
    with place_server.client() as db:
        db.config_set("slowlog-max-len", 100_000)
        db.config_set("slowlog-log-slower-than", 0)
        hidden.go(place)
        kept = [entry["command"].decode() for entry in db.slowlog_get(100_000)]
        # What would be found, were it there.
        db.echo(str(place[0]))
        found = [entry["command"].decode() for entry in db.slowlog_get(100_000)]
        db.config_set("slowlog-log-slower-than", 10_000)
    assert any(text.startswith("EVALSHA") and f"user:{hidden.user}#place" in text for text in kept)
    assert not tells(kept, place) and tells(found, place)


def tells(texts, place):
    """Whether some of the texts hold a place to seven digits."""
    return any(abs(degree - exact) < 1e-6 for degree in degrees_in("\n".join(texts)) for exact in place)


def test_a_deleted_place_is_gone_within_a_second_everywhere(app, nodes, place_server):
    """Also from the cells that a place near a border is copied to, and after a track that follows."""
    border = (45.1, 12.65625)
    ann, gone = app("ann"), app("gone")
    ann.go((border[0], border[1] - 0.0001))
    with place_server.client() as db:
        gone.go((border[0], border[1] + 0.0001), city="Nowhere")
        ann.hears("nearby:enter", gone.user)
        assert gone.http.delete("/v1/location").status_code == 200
        ann.hears("nearby:leave", gone.user)
        eventually(lambda: is_gone(db, gone.user, border), 1, "erasure")
        gone.put("/v1/track", **TRACK)
        assert is_gone(db, gone.user, border)
    assert ann.nearby() == {"nearby": []}
    assert not any("Nowhere" in node.log_text for node in nodes)


def is_gone(db, user, place):
    """No key of a cell names the user, and no text anywhere tells the city or the place."""
    everything = texts_of(db)
    told = [degree for degree in degrees_in(everything) if abs(degree - place[1] - 0.0001) < 1e-6]
    return not told and "Nowhere" not in everything and not [
        name for name in db.scan_iter("cell:*#slots") if db.hexists(name, user)]


def test_all_of_a_listener_is_erased_and_exported(app, nodes, place_server, town):
    ann, gone = app("ann"), app("gone")
    ann.go(town)
    gone.put("/v1/listener", displayName="Gone With")
    gone.go(north(town, 20))
    ann.hears("nearby:enter", gone.user)
    exported = gone.http.get(f"/v1/users/{gone.user}/data").json()["nearby"]
    assert exported["displayName"] == "Gone With" and exported["location"]["latitude"]
    assert gone.http.delete(f"/v1/users/{gone.user}/data").status_code == 202
    ann.hears("nearby:leave", gone.user)
    with place_server.client() as db:
        eventually(lambda: "Gone With" not in texts_of(db), 5, "erasure")
