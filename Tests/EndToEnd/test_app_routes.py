"""Scripts that speak an app's own protocol: the pack of the guide, played as its clients would."""

import json

import pytest

from Fixtures.apps.operator_scripts import example_pack, examples, script, write_scripts
from Fixtures.waiting import eventually

SONG = {"id": "s1", "song_title": "Blue"}
PLACE = {"lat": 48.137, "lon": 11.575}


@pytest.fixture(scope="module")
def rooms(tmp_path_factory, shared_server, certificate):
    """A gateway with the guide's scripts and its pack.json, and some of our own."""
    from Fixtures.processes.gateway import Gateway
    from Fixtures.clients.tokens import SECRET
    more = {
        "slow_move": script(
            "slow_move", "write('SET', key.mark, args.roomId)\nreturn {room = args.roomId}", allow="user",
            arg="userId user", resolve="roomId = user:{userId}#room else not_in_room 404 -- You are in no room.",
            key="mark room:{roomId}#mark", topic="room:{roomId}"),
        "by_field": script(
            "by_field", "return {room = args.roomId}", allow="user", arg="userId user", readonly="",
            resolve="roomId = user:{userId}#place room else not_found -- Nowhere.", key="mark room:{roomId}#mark",
            drop="topic"),
        "leave_room": script(
            "leave_room", "write('DEL', key.room)\nreturn {ok = true}", allow="user", arg="userId user",
            key="room user:{userId}#room", drop="topic", http="DELETE /api/v1/room 202"),
        "rare": script("rare", allow="user", http="POST /api/v1/rare/{shopId}", rate="2/60 s user"),
    }
    directory = tmp_path_factory.mktemp("rooms")
    scripts = write_scripts(directory / "scripts", pack=example_pack(), **(examples() | more))
    gateway = Gateway(directory / "gateway", shared_server.url, certificate, SECRET, "--scripts", scripts,
                      "--log-level", "debug", limits={"userActionsPerSecond": 1_000})
    gateway.start().wait_ready()
    yield gateway
    gateway.stop()


@pytest.fixture
def room(topic):
    """The id of a room of this test's own, in capitals as Swift writes it."""
    return "R-" + topic.removeprefix("shop:").upper()


@pytest.fixture
def person(topic):
    return "u-" + topic.removeprefix("shop:")


@pytest.fixture
def phone(rooms, token, person):
    """The HTTP client of a user's phone."""
    with rooms.http(key=None, headers={"authorization": "Bearer " + token(person)}) as http:
        yield http


def enter(phone, room):
    answer = phone.post(f"/api/v1/rooms/{room}/enter", json=PLACE)
    assert answer.status_code == 200, answer.text
    return answer.json()


# Names on the wire


def test_the_guides_requests_are_answered_as_it_says(phone, rooms, room, token, db):
    with rooms.client(token=token("u1")) as watcher:
        watcher.subscribe(f"room:{room.lower()}")
        answer = phone.post(f"/api/v1/rooms/{room}/songs", json=SONG, headers={"idempotency-key": "op-1"})
        assert (answer.status_code, answer.json()) == (201, SONG)
        watcher.expect("song.put", data={"room_id": room.lower()} | SONG, offset=1)
        again = phone.post(f"/api/v1/rooms/{room}/songs", json=SONG, headers={"idempotency-key": '"op-1"'})
        assert (again.status_code, again.json()) == (201, SONG)
        answer = phone.put(f"/api/v1/rooms/{room.lower()}/songs/s1", json={"song_title": "Green"})
        assert (answer.status_code, answer.content) == (204, b"") and "content-length" not in answer.headers
        watcher.expect("song.put", data={"room_id": room.lower(), "id": "s1", "song_title": "Green"}, offset=2)
        watcher.expect_nothing()
    assert db.hgetall(f"room:{room.lower()}#songs") == {b"s1": b"Green"}


def test_an_idempotency_key_names_the_operation_by_itself(phone, room):
    path, header = f"/api/v1/rooms/{room}/songs", {"idempotency-key": "op-2"}
    assert phone.post(path, json=SONG, headers=header).status_code == 201
    other = phone.post(path, json=SONG | {"song_title": "Red"}, headers=header)
    assert other.status_code == 409 and other.json()["status_code"] == 409
    for wrong in ("a b", "", "x" * 129):
        answer = phone.post(path, json=SONG, headers={"idempotency-key": wrong})
        assert answer.status_code == 422 and "Idempotency-Key" in answer.json()["detail"][0]["msg"]


def test_a_body_without_its_own_id_takes_the_header_too(gw, topic, db):
    """`Idempotency-Key` works on every command route, not only on those whose `id` means something else."""
    with gw.http() as http:
        def call():
            return http.post("/v1/commands/add_points", headers={"idempotency-key": f"op-{topic}"},
                             json={"challengeId": topic.split(":")[1], "userId": "u1", "points": 5}).json()
        assert call() == call()
    assert db.zscore("leaderboard:" + topic.split(":")[1], "u1") == 5


def test_a_socket_uses_the_wire_names(rooms, room, token):
    with rooms.client(token=token("u1")) as client:
        ack = client.request("put_song", {"room_id": room} | SONG)
        assert ack["data"] == SONG
        error = client.refused("put_song", {"roomId": room} | SONG, "bad_request")
        assert "'roomId' is no argument" in error["data"]["message"] and "room_id" in error["data"]["message"]
        error = client.refused("put_song", {"room_id": room, "id": "s1"}, "bad_request")
        assert "'song_title' is missing" in error["data"]["message"]
        client.send("put_song", {"room_id": room} | SONG, ref="same")
        client.expect("ack", ref="same")
        client.send("put_song", {"room_id": room} | SONG | {"song_title": "Red"}, ref="same")
        assert client.expect("error", ref="same")["data"]["code"] == "conflict"


def test_wire_names_are_described(rooms):
    with rooms.http() as http:
        paths = http.get("/v1/openapi.json").json()["paths"]
    post = paths["/api/v1/rooms/{room_id}/songs"]["post"]
    schema = post["requestBody"]["content"]["application/json"]["schema"]
    assert set(schema["properties"]) == {"id", "song_title"} and set(schema["required"]) == {"id", "song_title"}
    assert "201" in post["responses"] and "200" not in post["responses"]
    assert {each["name"] for each in post["parameters"]} == {"room_id", "Idempotency-Key"}
    refused = post["responses"]["422"]["content"]["application/json"]["schema"]["anyOf"]
    assert refused[0]["properties"]["status_code"] == {"type": "integer"}
    assert "content" not in paths["/api/v1/rooms/{room_id}/songs/{id}"]["put"]["responses"]["204"]
    assert set(paths["/api/v1/songs/{id}/like"]["post"]["responses"]) >= {"404", "422"}


# How refusals look


def test_every_refusal_below_the_prefix_has_the_packs_form(rooms, phone, room):
    songs = f"/api/v1/rooms/{room}/songs"
    header = {"x-request-id": "req-7"}
    with rooms.http(key=None) as stranger:
        answers = {
            404: phone.get("/api/v1/nowhere", headers=header),
            405: phone.get(songs, headers=header),
            401: stranger.post(songs, json=SONG, headers=header | {"authorization": "Bearer nonsense"}),
        }
    for status, answer in answers.items():
        body = answer.json()
        assert (answer.status_code, body["status_code"], body["request_id"]) == (status, status, "req-7"), body
        assert set(body) == {"error", "status_code", "request_id"} and isinstance(body["error"], str)
        assert answer.headers["x-request-id"] == "req-7"
    assert answers[405].headers["allow"] == "POST" and answers[401].headers["www-authenticate"] == "Bearer"
    for answer in (phone.post(songs, content=b"{"), phone.post(songs, json=SONG | {"songTitle": "x"}),
                   phone.post(songs, json=[1])):
        assert answer.status_code == 422 and list(answer.json()) == ["detail"], answer.text
    answer = phone.post("/api/v1/songs/s1/like")
    assert (answer.status_code, answer.json()["error"]) == (404, "You are in no room.")
    made_up = answer.json()["request_id"]
    assert made_up == answer.headers["x-request-id"] and len(made_up) == 16
    eventually(lambda: made_up in rooms.log_text, what="the name of the request in the log")
    # Elsewhere nothing has changed.
    answer = phone.post("/v1/commands/put_song", json={})
    assert answer.status_code == 400 and answer.json()["error"]["code"] == "bad_request"
    assert phone.get("/api/v1").json()["error"]["code"] == "not_found"


def test_a_rate_is_refused_in_the_packs_form(phone):
    assert [phone.post("/api/v1/rare/x", json={}).status_code for _ in range(2)] == [200, 200]
    limited = phone.post("/api/v1/rare/x", json={})
    assert limited.status_code == 429 and limited.json()["retry_after"] == int(limited.headers["retry-after"])


def test_a_names_own_word_cannot_be_forged_by_a_caller(phone, room):
    """A sentence that holds a word of the form, or quotes, stays what it is."""
    answer = phone.post(f"/api/v1/rooms/{room}/songs", json=SONG | {'$status","x': "1"})
    assert answer.status_code == 422 and list(answer.json()) == ["detail"]
    answer = phone.post(f"/api/v1/rooms/{room}/songs", json=SONG, headers={"x-request-id": 'a"b'})
    assert answer.status_code == 201
    answer = phone.get("/api/v1/nowhere", headers={"x-request-id": 'a","error":"b'})
    assert answer.json()["error"] == "there is no such path" and len(answer.json()["request_id"]) == 16


# Resolved values


def test_what_a_key_names_is_found(phone, rooms, room, person, token, db):
    answer = phone.post("/api/v1/songs/s1/like")
    assert (answer.status_code, answer.json()["error"]) == (404, "You are in no room.")
    enter(phone, room)
    phone.post(f"/api/v1/rooms/{room}/songs", json=SONG)
    answer = phone.post("/api/v1/songs/s1/like")
    assert (answer.status_code, answer.json()) == (200, {"ok": True, "likes": 1})
    assert phone.post("/api/v1/songs/s9/like").json()["error"] == "This song is not in your room"
    with rooms.client(token=token(person)) as client:
        assert client.request("like_song", {"id": "s1"})["data"] == {"ok": True, "likes": 1}
        for forged in ("roomId", "room_id"):
            client.refused("like_song", {"id": "s1", forged: "other"}, "bad_request")
    db.hset(f"user:{person}#place", "room", "r9")
    assert phone.post("/v1/commands/by_field", json={}).json() == {"room": "r9"}


def test_nobody_acts_in_another_users_room(phone, rooms, room, person, token):
    enter(phone, room)
    phone.post(f"/api/v1/rooms/{room}/songs", json=SONG)
    with rooms.http(key=None, headers={"authorization": "Bearer " + token(person + "x")}) as other:
        answer = other.post("/api/v1/songs/s1/like")
        assert (answer.status_code, answer.json()["error"]) == (404, "You are in no room.")
        answer = other.post("/api/v1/songs/s1/like", json={"userId": person})
        assert answer.status_code == 403


def test_a_key_that_holds_no_id_is_a_fault_and_reaches_nothing(phone, person, db):
    """Whoever can write the key could otherwise choose a key's name: `x#log`, or one of another namespace."""
    for value in ("a#log", "", "a b", "x" * 201):
        db.set(f"user:{person}#room", value)
        answer = phone.post("/v1/commands/slow_move", json={})
        assert (answer.status_code, answer.json()["error"]["code"]) == (500, "internal"), value
    db.delete(f"user:{person}#room")
    db.hset(f"user:{person}#room", "a", "b")
    assert phone.post("/v1/commands/slow_move", json={}).status_code == 500


def test_a_pipelined_command_sees_what_the_one_before_it_did(rooms, room, person, token):
    """The key was read before the first command had written it."""
    with rooms.client(token=token(person)) as client:
        for turn in range(20):
            client.send("enter_room", {"room_id": f"{room}-{turn}"} | PLACE, ref=f"enter-{turn}")
            client.send("slow_move", {}, ref=f"move-{turn}")
            client.send("leave_room", {}, ref=f"leave-{turn}")
        for turn in range(20):
            client.expect("ack", ref=f"enter-{turn}")
            assert client.expect("ack", ref=f"move-{turn}")["data"]["room"] == f"{room}-{turn}".lower()
            client.expect("ack", ref=f"leave-{turn}")


def test_a_value_that_changes_meanwhile_is_never_acted_on(rooms, room, person, token, db):
    """Others move the user while its commands run: each acts in the room that the user was in at that moment."""
    rooms_of_user = [f"{room.lower()}-{number}" for number in range(2)]
    db.set(f"user:{person}#room", rooms_of_user[0])
    with rooms.client(token=token(person)) as client:
        for turn in range(60):
            client.send("slow_move", {}, ref=f"op-{turn}")
            db.set(f"user:{person}#room", rooms_of_user[turn % 2])
        codes = []
        for turn in range(60):
            answer = client.receive()
            assert answer["ref"] == f"op-{turn}", "in their order"
            codes.append(answer["data"].get("code", "ok"))
    assert set(codes) <= {"ok", "conflict"} and "ok" in codes


# Derived values and several homes


def test_a_cell_is_found_by_its_place(phone, rooms, room):
    entered = enter(phone, room)
    assert entered == {"room_id": room.lower(), "people": 1}
    with rooms.http(key=None) as http:
        near = http.get("/api/v1/rooms/near", params={"lat": 48.14, "lon": 11.58}).json()
        assert near["cell"] == "u281z" and room.lower() in near["rooms"]
        assert http.get("/api/v1/rooms/near", params={"lat": 0, "lon": 0}).json() == {"cell": "s0000", "rooms": []}
        for wrong in ({"lat": 91, "lon": 0}, {"lat": 0}, {"lat": "nan", "lon": 0}, {"lat": 0, "lon": 0, "cell": "x"}):
            assert http.get("/api/v1/rooms/near", params=wrong).status_code == 422, wrong


def test_a_change_of_two_homes_is_told_on_both(phone, rooms, room, person, token, db):
    with rooms.client(token=token(person)) as watcher:
        watcher.subscribe(f"room:{room.lower()}")
        watcher.subscribe(f"user:{person}")
        enter(phone, room)
        for topic in (f"room:{room.lower()}", f"user:{person}"):
            watcher.expect("room.entered", topic=topic, offset=1)
    assert db.get(f"user:{person}#room") == room.lower().encode()
    assert db.smembers(f"room:{room.lower()}#people") == {person.encode()}


def test_the_packs_socket_joins_its_room(phone, rooms, room, person, token):
    with rooms.client(f"/api/v1/rooms/{room}/live", token=token(person)) as client:
        client.expect("subscribed", topic=f"room:{room.lower()}")
        phone.post(f"/api/v1/rooms/{room}/songs", json=SONG)
        client.expect("song.put", topic=f"room:{room.lower()}")


def test_a_prefix_of_the_gateways_own_paths_is_refused(gateway, tmp_path, shared_server):
    from EndToEnd.test_operator_scripts import check
    pack = {"errors": [{"routes": routes, "body": {"error": "$mesage"}} for routes in ("/v1/", "/a/")]}
    directory = write_scripts(tmp_path / "scripts", pack=json.dumps(pack))
    result = check(shared_server.url, directory, tmp_path)
    assert result.returncode == 1 and "the gateway's own /v1/" in result.stdout, result.stdout
    assert "$mesage stands for nothing" in result.stdout and "did you mean $message?" in result.stdout
