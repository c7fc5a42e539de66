"""QueueUp from outside: the app's calls in their order, every sentence it shows, and what a stranger gets."""

import pytest

from Fixtures.apps.listening import Picture
from Fixtures.apps.queueup import FLAGS, App, Shown, session_of, song_of, supabase_token, track
from Fixtures.clients.tokens import SECRET
from Fixtures.processes.gateway import Gateway
from Fixtures.processes.worker import Worker
from Fixtures.waiting import eventually


@pytest.fixture(scope="module")
def gateway(tmp_path_factory, shared_server, certificate):
    """A gateway and a worker that serve the pack of QueueUp alone; tests tap faster than people."""
    directory = tmp_path_factory.mktemp("queueup")
    node = Gateway(directory / "gateway", shared_server.url, certificate, SECRET, *FLAGS,
                   limits={"userActionsPerSecond": 1_000})
    worker = Worker(directory / "worker", shared_server.url, "--packs", "queueup").start()
    yield node.start().wait_ready()
    node.stop()
    worker.stop()


@pytest.fixture
def phone(gateway):
    """A maker of phones: `phone("Ann")`."""
    phones = []

    def make(name=None, **options):
        phones.append(App(gateway, name, **options))
        return phones[-1]

    yield make
    for app in phones:
        app.__exit__()


@pytest.fixture
def code(topics):
    """A join code that no other test uses."""
    return topics("x")[2:][:20]


def refused(call, *arguments, **options) -> tuple[int, str]:
    with pytest.raises(Shown) as shown:
        call(*arguments, **options)
    return shown.value.status, shown.value.sentence


def joined(socket, session):
    """The gateway's own first word; the app knows no such event and goes on."""
    told = socket.expect("subscribed")
    assert told["topic"] == f"session:{session}"
    return told


def hear(socket, *events):
    """The next frames are these events; their data."""
    heard = []
    for event in events:
        message = socket.expect(event)
        assert isinstance(message["event"], str) and message["data"]["session_id"]
        heard.append(message["data"])
    return heard


def test_the_app_from_welcome_to_leaving(phone, code):
    """Create, join, sockets, add, vote, skip, finish, lock, leave, in the order of the app's screens."""
    ann, bob, eve = phone("Ann"), phone("Bob"), phone()
    assert refused(ann.current) == (404, "No active session")
    assert refused(ann.add) == (400, "User has no active session")
    answer = ann.create(code)
    id = answer["session"]["id"]
    assert answer["session"]["host"] == ann.me and answer["session"]["join_code"] == code
    assert (answer["participant_count"], answer["queue"], "current_song" in answer) == (1, [], False)
    anns = ann.listen(id)
    joined(anns, id)
    assert refused(bob.join, code + "x"[:20 - len(code)] or "nope") == (404, "Session not found")
    assert bob.join(code)["participant_count"] == 2
    assert hear(anns, "session.updated")[0]["participant_count"] == 2
    bobs = bob.listen(id)
    joined(bobs, id)

    first = ann.add()
    assert first["status"] == "playing" and first["added_by"] == ann.me
    assert first["song"] == track("Never Gonna Give You Up")
    for socket in (anns, bobs):
        playing, queue = hear(socket, "now_playing.updated", "queue.updated")
        assert playing == {"session_id": id, "current_song": first} and queue == {"session_id": id, "queue": []}
    second, third = bob.add("Second"), bob.add("Third", artists=["A", "B"], image_url=None, isrc=None)
    assert (second["status"], third["song"]["artists"], third["song"]["image_url"]) == ("queued", ["A", "B"], None)
    for socket in (anns, bobs):
        assert [len(told["queue"]) for told in hear(socket, "queue.updated", "queue.updated")] == [1, 2]

    assert [bob.vote(third["id"], 1), ann.vote(third["id"], 1), ann.vote(third["id"], -1)] == [1, 2, 0]
    assert [ann.vote(third["id"], 1), bob.vote(second["id"], -1), ann.vote(first["id"], 1)] == [2, -1, 1]
    assert ann.unvote(first["id"]) == 0
    assert hear(anns, *["votes.updated"] * 7)[-2:] == [
        {"session_id": id, "queued_song_id": first["id"], "total_votes": total} for total in (1, 0)]
    answer = bob.current()
    assert [song["id"] for song in answer["queue"]] == [third["id"], second["id"]]
    assert answer["my_votes"] == {third["id"]: 1, second["id"]: -1}
    assert answer["current_song"] == first

    assert bob.request_skip() == {"ok": True, "skip_request_count": 1, "participant_count": 2, "skipped": False}
    assert bob.current()["user_requested_skip"] is True
    assert ann.request_skip() == {"ok": True, "skip_request_count": 0, "participant_count": 2, "skipped": True}
    told = hear(anns, "session.updated", "now_playing.updated", "queue.updated", "session.updated")
    assert told[1]["current_song"]["id"] == third["id"] and told[1]["current_song"]["status"] == "playing"
    assert told[3]["last_skip_was_crowdsourced"] is True and ann.current()["last_skip_was_crowdsourced"] is True

    assert refused(bob.song_finished) == (403, "You are not the host of this session")
    assert refused(bob.control, is_locked=True) == (403, "You are not the host of this session")
    ann.song_finished()
    assert ann.current()["current_song"]["id"] == second["id"]
    ann.control(is_locked=True)
    assert refused(eve.join, code) == (403, "This session is locked")
    ann.control(is_locked=False, pause_playback=True)
    ann.control(skip_current_track=True)
    answer = ann.current()
    assert "current_song" not in answer and answer["last_skip_was_crowdsourced"] is False
    history = ann.call("GET", f"/sessions/{id.upper()}/history")
    assert [(song_of(song)["id"], song["status"]) for song in history["songs"]] == [
        (second["id"], "skipped"), (third["id"], "played"), (first["id"], "skipped")]

    ann.leave()
    ann.leave()
    assert refused(ann.current) == (404, "No active session")
    eventually(lambda: bob.current()["participant_count"] == 1, what="the worker passes the leaving on")
    assert bob.current()["session"]["host"] == ann.me, "the host leaving ends nothing"


def test_every_error_is_a_sentence(gateway, phone, code):
    """Shapes and sentences of the table; a 401 is for bad tokens only, since it signs the user out."""
    ann, guest = phone("Ann"), phone(guest=True)
    ann.create(code)
    assert refused(phone().create, code) == (409, "This join code is already in use. Please choose another.")
    assert refused(guest.create, "guests-code")[0] == 403
    for body in ({}, {"join_code": 7.5}, {"join_code": "abc"}, {"join_code": "x" * 21}, {"join_code": None},
                 {"join_code": "with space"}, {"code": "abcd"}):
        response = phone().send("POST", "/sessions/create", body)
        assert response.status_code == 422, response.text
        assert [list(one) for one in response.json()["detail"]] == [["msg"]], response.text
    for more in ({"duration_ms": -1}, {"name": ""}, {"artists": 7}, {"source": "tidal"}, {"id": None}):
        response = phone("x").send("POST", "/songs/add", track("x") | more)
        assert response.status_code in (400, 422), response.text
    song = ann.add()["id"]
    assert refused(ann.vote, song, 2)[0] == 422 and refused(ann.vote, song, 0)[0] == 422
    assert refused(ann.vote, "00000000-0000-4000-8000-000000000000", 1) == (404, "Song not found in your session")
    assert refused(phone().vote, song, 1) == (404, "Song not found in your session")
    assert refused(phone().unvote, song) == (404, "Song not found in your session")
    for bad in ("x.y.z", supabase_token("u1", exp=1)):
        status, sentence = refused(phone(token=bad).current)
        assert status == 401 and sentence
    status, sentence = refused(phone().call, "GET", "/spotify/search?q=rick&limit=10")
    assert status == 503 and "spotify" in sentence.lower()
    assert refused(ann.call, "GET", "/spotify/search?q=rick&limit=51")[0] in (422, 503)
    assert refused(ann.call, "GET", "/nothing")[0] == 404
    assert refused(ann.call, "DELETE", "/sessions/current")[0] == 405


def test_rates_are_told_as_429(phone, code):
    app = phone()
    found = [app.send("POST", "/sessions/create", {"join_code": f"{code[:15]}{n}"}).status_code for n in range(5)]
    assert found.count(429) >= 1 and set(found) <= {200, 429}, found
    response = app.send("POST", "/sessions/create", {"join_code": "one-more"})
    assert response.status_code == 429 and response.json()["status_code"] == 429
    assert isinstance(response.json()["error"], str) and int(response.headers["retry-after"]) >= 1


def test_sentences_are_for_people(phone, code):
    """What the app shows in `error` and `detail`: no argument's name, no type, no unit."""
    ann = phone("Ann")
    assert refused(ann.create, "with space") == (
        422, "A join code has 4 to 20 letters and digits, without spaces.")
    assert refused(ann.create, "abc") == (422, "A join code has 4 to 20 characters")
    ann.create(code)
    song = ann.add()["id"]
    assert refused(ann.vote, song, 2) == (422, "A vote is up or down.")
    assert refused(ann.vote, song, 0) == (422, "A vote is up or down")
    assert refused(ann.call, "POST", "/songs/add", track("x") | {"duration_ms": -1}) == (
        422, "Something in this request is missing or not right.")
    told = []
    for _ in range(20):
        if told:
            break
        response = ann.send("POST", "/sessions/create", {"join_code": "one-more"})
        if response.status_code == 429:
            told.append(response.json()["error"])
    assert told == ["You are doing this too often. Please wait a moment and try again."]


def test_a_song_may_have_everything_that_a_music_service_says(phone, code):
    ann = phone("Ann")
    ann.create(code)
    song = ann.call("POST", "/songs/add", track("Blue") | {"popularity": 71, "explicit": False, "href": None})
    assert song["song"] == track("Blue")


def test_what_has_not_changed_is_not_sent_again(phone, code):
    """The app asks at each event: nine times a second, and mostly nothing has changed."""
    ann = phone("Ann")
    ann.create(code)
    first = ann.send("GET", "/sessions/current")
    tag = first.headers["etag"]
    assert first.headers["cache-control"] == "private, no-cache"
    headers = {"Authorization": f"Bearer {ann.token}", "If-None-Match": tag}
    answers = [ann.http.get("/api/v1/sessions/current", headers=headers) for _ in range(9)]
    assert {(answer.status_code, answer.content, answer.headers["etag"]) for answer in answers} <= {(304, b"", tag)}, (
        [answer.status_code for answer in answers])
    ann.add()
    changed = ann.http.get("/api/v1/sessions/current", headers=headers)
    assert changed.status_code == 200 and changed.headers["etag"] != tag


def test_the_session_is_passed_on(phone, code):
    ann, bob = phone("Ann"), phone("Bob")
    id = ann.create(code)["session"]["id"]
    bob.join(code)
    socket = bob.listen(id)
    joined(socket, id)
    ann.control(host_id=bob.user.upper())
    assert hear(socket, "session.updated")[0]["host"] == bob.me
    bob.control(is_locked=True)
    assert refused(ann.control, is_locked=False) == (403, "You are not the host of this session")
    assert [one["join_code"] for one in ann.call("GET", "/sessions/history")["sessions"]] == [code]


def test_chat_reactions_and_tickets(phone, code):
    ann, bob = phone("Ann"), phone("Bob")
    id = ann.create(code)["session"]["id"]
    socket = ann.listen(id)
    joined(socket, id)
    response = ann.send("POST", "/sessions/chat", {"text": "what a song"})
    assert response.status_code == 201 and response.json()["user"] == ann.me
    ann.call("POST", "/sessions/reactions", {"reaction": "🔥"})
    chat, reaction = hear(socket, "chat.message", "reaction.added")
    assert chat["message"] == response.json() and (reaction["reaction"], reaction["user"]) == ("🔥", ann.me)
    assert ann.call("GET", "/sessions/chat")["messages"] == [response.json()]
    ann.control(is_locked=True)
    ticket = ann.send("POST", "/sessions/qr")
    assert ticket.status_code == 201 and ticket.json()["join_code"] == code
    body = {"ticket": ticket.json()["ticket"]}
    assert session_of(bob.call("POST", f"/sessions/{id.upper()}/scan", body))["participant_count"] == 2
    assert refused(phone().call, "POST", f"/sessions/{id}/scan", {"ticket": "0" * 32}) == (
        404, "This code is no longer valid")


def test_a_stranger_neither_reads_nor_forges(gateway, phone, code):
    """What a valid token of one's own opens in the session of others: nothing."""
    ann, eve = phone("Ann"), phone("Eve")
    id = ann.create(code)["session"]["id"]
    eve.create(code[:15] + "-mine")
    song = ann.add()["id"]
    anns, eves = ann.listen(id), eve.listen(id)
    joined(anns, id)
    told = eves.expect_error("forbidden")
    assert told["topic"] == f"session:{id}"
    with gateway.client(token=eve.token) as native:
        native.refused("subscribe", {"topic": f"session:{id}"}, "forbidden")
    for path in (f"/v1/topics/session:{id}", f"/v1/topics/session:{id}/events", f"/v1/stream?topic=session:{id}"):
        response = gateway.http(key=None).get(path, headers={"Authorization": f"Bearer {eve.token}"})
        assert response.status_code == 403 or "refused" in response.text, response.text
    assert refused(eve.vote, song, 1)[0] == 404
    assert refused(eve.call, "GET", f"/sessions/{id}/history") == (404, "Session not found")
    # Nor by the commands' own names, nor in the name of another.
    for name, body in (("vote_song", {"queued_song_id": song, "vote_value": 1, "userId": ann.user}),
                       ("leave_listening", {"userId": ann.user}),
                       ("depart", {"sessionId": id, "userId": ann.user, "tag": "x", "code": code}),
                       ("forget_listener", {"sessionId": id, "userId": ann.user}),
                       ("erase_listener", {"userId": ann.user})):
        response = eve.http.post(f"/v1/commands/{name}", json=body, headers={"Authorization": f"Bearer {eve.token}"})
        assert response.status_code in (403, 404, 422), (name, response.text)
    # Who takes part may not tell what only scripts tell.
    with gateway.client(token=ann.token) as native:
        native.subscribe(f"session:{id}")
        native.refused("publish", {"event": "queue.updated", "data": {"queue": []}}, "forbidden",
                       topic=f"session:{id}")
    assert ann.current()["participant_count"] == 1


def test_who_leaves_hears_no_more(phone, code):
    """The topic of a session is for those who take part: a leaver's socket falls silent within two seconds."""
    ann, bob = phone("Ann"), phone("Bob")
    id = ann.create(code)["session"]["id"]
    bob.join(code)
    socket = bob.listen(id)
    joined(socket, id)
    bob.leave()

    def silenced():
        message = socket.receive()
        return message["event"] == "error" and message["data"]["code"] == "forbidden"

    eventually(silenced, 5, "the leaver is told")
    ann.add()
    socket.expect_nothing()


def test_a_socket_shows_what_current_answers(phone, code):
    """The picture that a socket's events make is that of `sessions/current`, also when calls are repeated."""
    ann, bob = phone("Ann"), phone("Bob")
    id = ann.create(code)["session"]["id"]
    socket = ann.listen(id)
    joined(socket, id)
    picture = Picture(ann.current())
    bob.join(code)
    songs = [app.add(f"{n}")["id"] for n, app in enumerate((ann, bob, ann, bob))]
    for app, song, value in ((ann, 2, 1), (bob, 2, 1), (bob, 1, -1), (ann, 0, 1)):
        app.vote(songs[song], value)
    ann.request_skip()
    bob.request_skip()
    ann.control(skip_current_track=True)
    bob.leave()
    eventually(lambda: ann.current()["participant_count"] == 1, what="the worker passes the leaving on")
    socket.send("ping", ref="end")
    while (message := socket.receive())["event"] != "pong":
        picture.take(message["event"], message["data"])
    assert picture.differs_from(ann.current()) == {}
