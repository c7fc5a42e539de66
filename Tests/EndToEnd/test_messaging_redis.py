"""Messaging on one Redis and on a group: counts after blocks, withdrawn texts, and an erasure, by HTTP and a worker."""

import pytest

from Fixtures.apps.messaging import App
from Fixtures.waiting import eventually

PACKS = ("--packs", "messaging")
ANN, BOB, CAT = "ann", "bob", "cat"
PAIR = "ann_bob"


@pytest.fixture
def apps(gateway, worker, server, token):
    node = gateway(*PACKS, server=server, limits={"userActionsPerSecond": 1_000})
    worker(*PACKS, server=server)
    apps = [App(node, token, user) for user in (ANN, BOB, CAT)]
    yield apps
    for app in apps:
        app.close()


def texts(app, topic):
    return [event["data"].get("text") or event["data"].get("lastMessage") for event in app.logged(topic)]


@pytest.mark.parametrize("server", ["server", "group"], indirect=True)
def test_blocks_removals_and_an_erasure_are_counted_and_cut(apps):
    ann, bob, cat = apps
    group = bob.ask("POST", "/v1/conversations", 201, members=[ANN, CAT], title="Trip")["id"]
    for place in (PAIR, group):
        for number in range(3):
            bob.send(place, f"m{number}", f"secret {number}")
    ann.send(PAIR, "own", "mine")

    def counts():
        return sorted((item["id"], item["unread"], item["lastMessage"]) for item in ann.ask(
            "GET", f"/v1/users/{ANN}/conversations")["conversations"])
    eventually(lambda: counts() == sorted([(PAIR, 3, "mine"), (group, 3, "secret 2")]), 5, "both lists")
    ann.ask("PUT", f"/v1/users/{ANN}/blocks/{BOB}")
    eventually(lambda: counts() == sorted([(PAIR, 0, "mine"), (group, 0, None)]), 5, "the lists after the block")
    ann.ask("DELETE", f"/v1/users/{ANN}/blocks/{BOB}")
    eventually(lambda: counts() == sorted([(PAIR, 3, "mine"), (group, 3, "secret 2")]), 5, "the lists after its end")

    bob.ask("DELETE", f"/v1/conversations/{group}/messages/m2")
    bob.ask("PATCH", f"/v1/conversations/{group}/messages/m1", text="open")
    eventually(lambda: counts() == sorted([(PAIR, 3, "mine"), (group, 2, "open")]), 5, "the lists after the removal")
    eventually(lambda: "secret 1" not in texts(cat, f"conversation:{group}")
               and "secret 2" not in texts(cat, f"conversation:{group}"), 5, "the log without withdrawn texts")

    answer = bob.ask("DELETE", f"/v1/users/{BOB}/data", 202)
    assert any("user:*#blocks" in row["keys"] for row in answer["keeps"])
    eventually(lambda: counts() == sorted([(PAIR, 0, "mine"), (group, 0, None)]), 5, "the lists after the erasure")
    for app, topic in ((ann, f"user:{ANN}"), (cat, f"user:{CAT}"), (cat, f"conversation:{group}")):
        eventually(lambda app=app, topic=topic: not [text for text in texts(app, topic) if text and "secret" in text],
                   5, f"the log of {topic} without the erased user's texts")
