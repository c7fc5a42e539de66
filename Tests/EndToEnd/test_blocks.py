"""Blocks where users meet, by the routes of apps: the pack `people` beside others, a gateway and a worker."""

import itertools

import pytest

from EndToEnd.test_queueup_app import hear, joined
from Fixtures.apps.queueup import App
from Fixtures.clients.tokens import SECRET
from Fixtures.processes.gateway import Gateway
from Fixtures.processes.worker import Worker
from Fixtures.waiting import eventually

PACKS = ("--packs", "people,queueup,barbershop")
NOBODY = "00000000-0000-0000-0000-000000000000"
_numbers = itertools.count(1)


@pytest.fixture(scope="module")
def gateway(tmp_path_factory, shared_server, certificate):
    directory = tmp_path_factory.mktemp("blocks")
    node = Gateway(directory / "gateway", shared_server.url, certificate, SECRET, *PACKS, "--jwt-role",
                   "authenticated=user", limits={"userActionsPerSecond": 1_000})
    worker = Worker(directory / "worker", shared_server.url, *PACKS).start()
    yield node.start().wait_ready()
    node.stop()
    worker.stop()


@pytest.fixture
def people(gateway):
    """Three phones: who blocks, who is blocked, and somebody else."""
    apps = [App(gateway, name) for name in ("Ann", "Bob", "Cat")]
    yield apps
    for app in apps:
        app.__exit__()


def ask(app, method, path, body=None):
    """A request to a route of the gateway, beside those of QueueUp."""
    answer = app.http.request(method, path, json=body, headers={"Authorization": f"Bearer {app.token}"})
    assert answer.status_code < 300, answer.text
    return answer.json()


def block(one, other, method="PUT"):
    ask(one, method, f"/v1/users/{one.user}/blocks/{other.user}")


def test_a_session_shows_nothing_across_a_block(shared_server, people):
    ann, bob, cat = people
    code = f"blocks-{next(_numbers)}"
    id = cat.create(code)["session"]["id"]
    ann.join(code)
    bob.join(code)
    socket = cat.listen(id)
    joined(socket, id)
    bob.send("POST", "/sessions/chat", {"text": "before"})
    assert hear(socket, "chat.message")[0]["message"]["text"] == "before"
    block(ann, bob)

    def said_to(app):
        return [one["text"] for one in app.call("GET", "/sessions/chat")["messages"]]

    def is_noted():
        with shared_server.client() as db:
            return db.hexists(f"session:{id}#apart", f">{ann.user}")

    eventually(is_noted, 5, "the block reaches the session")
    bob.send("POST", "/sessions/chat", {"text": "after"})
    assert hear(socket, "chat.changed")[0] == {"session_id": id}
    bob.add("one")
    assert hear(socket, "now_playing.updated")[0]["current_song"]["added_by"] == {"id": NOBODY}
    assert ann.call("GET", "/sessions/current")["current_song"]["added_by"] == {"id": NOBODY}
    assert cat.call("GET", "/sessions/current")["current_song"]["added_by"]["id"] == bob.user
    assert said_to(ann) == [] and said_to(bob) == said_to(cat) == ["before", "after"]
    block(ann, bob, "DELETE")
    eventually(lambda: not is_noted(), 5, "and so does its end")
    assert said_to(ann) == ["before", "after"]


def test_a_roster_shows_nobody_across_a_block(gateway, people):
    ann, bob, cat = people
    shop = f"blocks-{next(_numbers)}"
    with gateway.http() as backend:
        for app in people:
            answer = backend.post(f"/v1/shops/{shop}/presence", json={"userId": app.user})
            assert answer.status_code == 200, answer.text

    def seen_by(app):
        return set(ask(app, "GET", f"/v1/shops/{shop}/presence/users")["users"])

    everybody = {app.user for app in people}
    assert seen_by(ann) == everybody
    block(bob, ann)
    eventually(lambda: seen_by(ann) == everybody - {bob.user}, 5, "who is blocked does not see who blocks")
    assert seen_by(bob) == everybody - {ann.user} and seen_by(cat) == everybody
