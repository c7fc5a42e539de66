"""What messages and blocks make others do, and what bounds it."""

import time

from Fixtures.waiting import eventually

PACKS = ("--packs", "messaging")


class App:
    """A user's requests."""

    def __init__(self, gateway, token):
        self.http = gateway.http(key=None, headers={"Authorization": f"Bearer {token}"})

    def ask(self, method, path, status=200, **body):
        answer = self.http.request(method, path, json=body or None)
        assert answer.status_code == status, answer.text
        return answer.json()

    def send(self, conversation, id):
        return self.ask("POST", f"/v1/conversations/{conversation}/messages", 201, id=id, text="hello")


def test_a_user_begins_a_bounded_number_of_conversations_a_day(gateway, server, token):
    """Messages to invented users each left a conversation for a year, as many as a user could send."""
    gw = gateway("--shards", "1", *PACKS, server=server, limits={"userActionsPerSecond": 1_000})
    app = App(gw, token("ann"))
    for number in range(100):
        app.send(f"ann_new{number:03}", f"m{number}")
    answer = app.http.post("/v1/conversations/ann_new100/messages", json={"id": "m100", "text": "hello"})
    assert answer.status_code == 429 and "new users" in answer.json()["error"]["message"], answer.text
    assert int(answer.headers["retry-after"]) > 60
    with server.client() as redis:
        assert not redis.keys("conversation:ann_new100*")
    # Conversations that there are go on, and so do others' first messages.
    app.send("ann_new007", "again")
    App(gw, token("bob")).send("ann_bob", "first")


def test_blocks_and_unblocks_in_turn_are_carried_once_a_second(gateway, worker, server, token):
    """Each change ran the refresh that tells the user's groups, ten times a second."""
    gw = gateway("--shards", "1", *PACKS, server=server, limits={"userActionsPerSecond": 1_000})
    one = worker(*PACKS, "--worker-ops", "127.0.0.1:0", server=server)
    app = App(gw, token("ann"))
    app.ask("PUT", "/v1/users/ann/blocks/eve")
    with server.client() as redis:
        eventually(lambda: redis.smembers("user:ann#walled") == {b"eve"}, 20, "the first block")
        before, began = one.metric("switchboard_worker_refreshes_total"), time.monotonic()
        for _ in range(25):
            app.ask("DELETE", "/v1/users/ann/blocks/eve")
            app.ask("PUT", "/v1/users/ann/blocks/eve")
        app.ask("DELETE", "/v1/users/ann/blocks/eve")
        eventually(lambda: not redis.smembers("user:ann#walled"), 20, "the last change")
        runs, seconds = one.metric("switchboard_worker_refreshes_total") - before, time.monotonic() - began
    # Other refreshes of the user run now and then; with one for each change there were ten times as many.
    assert 1 <= runs <= 2 * seconds + 4, f"{runs} in {seconds} s"
