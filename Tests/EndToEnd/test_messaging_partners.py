"""The messaging app shows its partner, writes ids in either order, renames and deletes conversations."""

import time

import pytest

from Fixtures.apps.messaging import App
from Fixtures.apps.messaging_users import pair, people  # noqa: F401
from Fixtures.clients.tokens import SECRET
from Fixtures.processes.gateway import Gateway
from Fixtures.processes.worker import Worker
from Fixtures.redis.server import RedisServer
from Fixtures.waiting import eventually

PACKS = ("--packs", "messaging")
@pytest.fixture(scope="module")
def node(tmp_path_factory, certificate):
    """A gateway with several shards and a worker with the pack; users are each test's own."""
    server = RedisServer(tmp_path_factory.mktemp("redis")).start()
    gateway = Gateway(tmp_path_factory.mktemp("gateway"), server.url, certificate, SECRET, *PACKS, "--shards", "2",
                      limits={"userActionsPerSecond": 1_000})
    worker = Worker(tmp_path_factory.mktemp("worker"), server.url, *PACKS)
    gateway.start().wait_ready()
    worker.start()
    yield gateway
    worker.stop()
    gateway.stop()
    server.stop()


def test_a_partner_is_shown_and_gone_within_ten_seconds(pair):
    """`recipientOnline`: bob has only read, and closes the app on both of his devices."""
    ann, bob, place = pair
    topic = f"conversation:{place}"
    phone = ann.device(topic)
    ann.send(place, "m1")
    devices = [bob.device(topic), bob.device(topic)]
    bob.ask("POST", f"/v1/conversations/{place}/read", upTo="m1")

    def online():
        return {one["userId"]: one["online"] for one in ann.device(topic).states[topic]["members"]}[bob.user]

    eventually(online, 10, "bob online")
    devices[0].close()
    assert online(), "another device is there"
    closed = time.monotonic()
    devices[1].close()
    eventually(lambda: not online(), 10, "bob gone")
    assert time.monotonic() - closed < 10


def test_either_order_of_ids_is_one_conversation(pair):
    ann, bob, place = pair
    other = "_".join(reversed(place.split("_")))
    sent = ann.send(other, "m1", "hi")
    assert sent["conversationId"] == place
    assert bob.page(other)["messages"] == bob.page(place)["messages"]
    assert bob.ask("POST", f"/v1/conversations/{other}/read", upTo="m1")["conversationId"] == place
    ann.ask("PATCH", f"/v1/conversations/{other}/messages/m1", text="ho")
    assert [message["text"] for message in bob.page(other)["messages"]] == ["ho"]


def test_a_group_is_renamed_and_deleted(people):
    ann, bob = people("ann", "bob")
    group = ann.ask("POST", "/v1/conversations", 201, members=[bob.user], title="Trip")["id"]
    topic = f"conversation:{group}"
    phone, other = bob.device(topic), bob.device(f"user:{bob.user}")
    assert bob.ask("PATCH", f"/v1/conversations/{group}", title="Rome")["title"] == "Rome"
    assert phone.expect("conversation:renamed")["data"] == {"conversationId": group, "title": "Rome"}
    while other.expect("conversation:updated")["data"]["title"] != "Rome":
        pass
    bob.ask("DELETE", f"/v1/conversations/{group}", 403)
    assert ann.ask("DELETE", f"/v1/conversations/{group}") == {"conversationId": group, "deleted": True}
    assert phone.expect("conversation:deleted")["data"] == {"conversationId": group}
    assert other.expect("conversation:removed")["data"] == {"id": group}
    bob.send(group, "m1", status=403)


def test_a_direct_conversation_is_deleted_for_oneself(pair):
    ann, bob, place = pair
    list_of_bob = bob.device(f"user:{bob.user}")
    ann.send(place, "m1")
    list_of_bob.expect("conversation:updated")
    bob.ask("DELETE", f"/v1/conversations/{place}")
    assert list_of_bob.expect("conversation:removed")["data"] == {"id": place}
    assert bob.counts() == [] and bob.page(place)["messages"] == []
    assert [message["id"] for message in ann.page(place)["messages"]] == ["m1"]
    ann.send(place, "m2")
    assert list_of_bob.expect("conversation:updated")["data"]["unread"] == 1
    assert [message["id"] for message in bob.page(place)["messages"]] == ["m2"]


def test_the_operator_bounds_the_texts(tmp_path, certificate, token):
    server = RedisServer(tmp_path / "redis").start()
    gateway = Gateway(tmp_path / "gateway", server.url, certificate, SECRET, *PACKS, "--pack-number",
                      "messaging.TEXT_MAX=5000").start().wait_ready()
    app = App(gateway, token, "ann")
    try:
        app.send("ann_bob", "m1", "x" * 5_000)
        app.send("ann_bob", "m2", "x" * 5_001, status=400)
    finally:
        app.close()
        gateway.stop()
        server.stop()
