"""Guests of QueueUp: a link in a QR code, a token for one session, and what it never opens."""

import pytest

from EndToEnd.test_queueup_app import code, hear, joined, phone, refused  # noqa: F401
from Fixtures.apps.queueup import FLAGS, App, session_of, user_of
from Fixtures.clients.tokens import SECRET
from Fixtures.processes.gateway import API_KEY, Gateway
from Fixtures.processes.worker import Worker
from Fixtures.waiting import eventually


@pytest.fixture(scope="module")
def gateway(tmp_path_factory, shared_server, certificate):
    """A gateway that signs tokens, and a worker; tests tap faster than people."""
    directory = tmp_path_factory.mktemp("guests")
    secret = directory / "mint-secret"
    secret.write_bytes(b"a secret for tokens of the gateway's own\n")
    node = Gateway(directory / "gateway", shared_server.url, certificate, SECRET, *FLAGS, "--mint-secret-file",
                   str(secret), limits={"userActionsPerSecond": 1_000})
    worker = Worker(directory / "worker", shared_server.url, "--packs", "queueup").start()
    yield node.start().wait_ready()
    node.stop()
    worker.stop()


def link(host) -> tuple[str, str]:
    """What a QR code says: the session and a ticket."""
    told = host.call("POST", "/sessions/qr")
    return told["session_id"], told["ticket"]


def visit(gateway, session: str, ticket: str):
    """What the page behind the link does: a request without any token."""
    with gateway.http(key=None) as http:
        return http.post(f"/api/v1/sessions/{session}/visit", json={"ticket": ticket})


@pytest.fixture
def guest(gateway):
    """A maker of guests, by a host's fresh link."""
    apps = []

    def make(host, *shown):
        answer = visit(gateway, *(shown or link(host)))
        assert answer.status_code == 201, answer.text
        told = session_of(answer.json())
        apps.append(App(gateway, guest=True, user=user_of(told["user"])["id"], token=told["token"]))
        return apps[-1]

    yield make
    for app in apps:
        app.__exit__()


def test_a_guest_takes_part_by_a_link_alone(phone, guest, code):
    ann = phone("Ann")
    id = ann.create(code)["session"]["id"]
    first, second = (ann.add(name)["id"] for name in ("one", "two"))
    host = ann.listen(id)
    joined(host, id)
    app = guest(ann)
    assert hear(host, "session.updated")[0]["participant_count"] == 2
    told = app.current()
    assert told["session"]["id"] == id and [song["id"] for song in told["queue"]] == [second]
    socket = app.listen(id)
    joined(socket, id)
    assert app.vote(second, 1) == 1
    assert hear(socket, "votes.updated")[0]["total_votes"] == 1
    added = app.add("three")
    assert added["added_by"] == app.me == {"id": app.user, "is_anonymous": True}
    hear(socket, "queue.updated")
    assert app.send("POST", "/sessions/chat", {"text": "hello"}).status_code == 201
    assert app.request_skip()["skip_request_count"] == 1
    assert app.unvote(second) == 0
    assert app.call("GET", f"/sessions/{id}/history")["songs"] == []
    assert app.current()["participant_count"] == 2
    # Anonymous users of Supabase scan the same link and keep their own token.
    bob = phone("Bob", guest=True)
    assert bob.call("POST", f"/sessions/{id}/scan", {"ticket": link(ann)[1]})["participant_count"] == 3
    # Who leaves is out, and the token opens nothing any more.
    assert app.call("DELETE", f"/sessions/{id}/visit") == {"ok": True}

    def silenced():
        message = socket.receive()
        return message["event"] == "error" and message["data"]["code"] == "forbidden"

    eventually(silenced, 5, "the leaver is told")
    assert refused(app.current) == (404, "No active session")
    assert refused(app.vote, second, 1)[0] == 404
    again = app.listen(id)
    assert again.receive()["event"] == "error"
    assert ann.current()["participant_count"] == 2


def test_a_guests_token_is_for_one_session(gateway, shared_server, phone, guest, code):
    """The token of session A does nothing in B, makes no other token, and is no user's."""
    ann, eve = phone("Ann"), phone("Eve")
    a = ann.create(code)["session"]["id"]
    other = code[:15] + "-b"
    b = eve.create(other)["session"]["id"]
    ann.add("one")
    theirs = [eve.add(name)["id"] for name in ("one", "two")][1]
    app = guest(ann)
    ticket = link(eve)[1]
    outside = f"This token is for the commands of session:{a} only."
    for method, path, body in (
            ("POST", "/sessions/create", {"join_code": code[:15] + "-c"}),
            ("POST", "/sessions/join", {"join_code": other}),
            ("POST", "/sessions/join", {"join_code": code}),
            ("POST", f"/sessions/{b}/scan", {"ticket": ticket}),
            ("GET", f"/sessions/{b}/history", None),
            ("DELETE", f"/sessions/{b}/visit", None),
            ("POST", "/sessions/leave", None)):
        assert refused(app.call, method, path, body) == (403, outside), path
    for session in (a, b):
        status, _ = refused(app.call, "POST", f"/sessions/{session}/visit", {"ticket": ticket})
        assert status == 403, "a token makes no other token"
    assert refused(app.call, "POST", "/sessions/qr") == (403, "Guests cannot invite others")
    assert refused(app.control, is_locked=True) == (403, "You are not the host of this session")
    assert refused(app.vote, theirs, 1) == (404, "Song not found in your session")
    with gateway.client(token=app.token) as native:
        for topic in (f"session:{b}", f"user:{app.user}", f"user:{ann.user}"):
            native.refused("subscribe", {"topic": topic}, "forbidden")
        native.subscribe(f"session:{a}")
        native.refused("publish", {"event": "queue.updated", "data": {"queue": []}}, "forbidden",
                       topic=f"session:{a}")
        native.refused("current_listening", {"userId": ann.user}, "forbidden")
        native.refused("depart", {"sessionId": a, "userId": ann.user, "tag": "x", "code": code}, "not_found")
    told = app.listen(b).expect_error("forbidden")
    assert told["topic"] == f"session:{b}"
    for method in ("GET", "DELETE"):
        for user in (app.user, ann.user):
            headers = {"Authorization": f"Bearer {app.token}"}
            assert app.http.request(method, f"/v1/users/{user}/data", headers=headers).status_code == 403
    assert eve.current()["participant_count"] == 1 and eve.current()["queue"][0]["votes"] == 0
    # Where the guest's own key names another session, the token is still for its own.
    with shared_server.client() as db:
        db.hset(f"user:{app.user}#listening", "session", b)
        db.hset(f"session:{b}#people", app.user, "abc guest ")
    for call in ((app.current,), (app.vote, theirs, 1), (app.add, "three"), (app.request_skip,)):
        assert refused(*call) == (403, outside)


def test_a_link_is_worth_no_more_than_its_ticket(gateway, phone, guest, code):
    ann, eve = phone("Ann"), phone("Eve")
    ann.create(code)
    a, ticket = link(ann)
    eve.create(code[:15] + "-b")
    b = link(eve)[0]
    for session, forged in ((a, "0" * 32), (b, ticket), ("00000000-0000-4000-8000-000000000000", ticket)):
        answer = visit(gateway, session, forged)
        assert (answer.status_code, answer.json()["error"]) == (404, "This code is no longer valid")
    # One code on a wall is for everybody who sees it, and each visit is somebody else.
    users = {visit(gateway, a.upper(), ticket).json()["user"]["id"] for _ in range(2)}
    assert len(users) == 2 and ann.current()["participant_count"] == 3
    # A locked session takes no guests, by whatever ticket; who is in stays.
    app = guest(ann, a, ticket)
    ann.control(is_locked=True)
    for old in (ticket, link(ann)[1]):
        answer = visit(gateway, a, old)
        assert (answer.status_code, answer.json()["error"]) == (403, "This session is locked")
    assert app.current()["participant_count"] == 4


def test_one_phone_is_few_guests_and_its_votes_go_with_them(gateway, phone, guest, code):
    """By a real address: the gateway tells the script the caller's, and the worker ends the stay."""
    ann = phone("Ann")
    ann.create(code)
    session, ticket = link(ann)
    _, second = (ann.add(name)["id"] for name in ("one", "two"))
    apps = [guest(ann, session, ticket) for _ in range(3)]
    answer = visit(gateway, session, ticket)
    assert answer.status_code == 409
    assert answer.json()["error"] == "Enough guests have come by this code from your network"
    assert [app.vote(second, 1) for app in apps] == [1, 2, 3]
    apps[0].call("DELETE", f"/sessions/{session}/visit")
    eventually(lambda: ann.current()["queue"][0]["votes"] == 2, 5, "the vote goes with the guest")
    assert visit(gateway, session, ticket).status_code == 409, "whoever leaves makes no room"
    assert visit(gateway, *link(ann)).status_code == 201, "another code on the wall"
    ann.call("PATCH", "/sessions/control_session", {"guests_per_address": 4})
    assert visit(gateway, session, ticket).status_code == 201


def test_a_guests_connection_is_a_sign_of_the_guest(gateway, shared_server, phone, guest, code):
    """The heartbeat of a live connection says that a guest's votes go on counting."""
    ann = phone("Ann")
    id = ann.create(code)["session"]["id"]
    app = guest(ann)
    with shared_server.client() as db:
        key = f"session:{id}#guests"
        before = db.zscore(key, app.user)
        joined(app.listen(id), id)
        eventually(lambda: db.zscore(key, app.user) > before, 10, "the gateway beats for the guest")
        assert db.zscore(key, ann.user) is None


def test_a_host_has_a_guest_sent_away(gateway, phone, guest, code):
    """By a backend: the guest's tokens are revoked, and sockets that live by them end."""
    ann = phone("Ann")
    id = ann.create(code)["session"]["id"]
    app = guest(ann)
    socket = app.listen(id)
    joined(socket, id)
    with gateway.http(key=API_KEY) as backend:
        assert backend.post("/v1/revocations", json={"user": app.user}).status_code == 200
    socket.expect_close(4401, after=("error",))
    assert refused(app.current)[0] == 401
