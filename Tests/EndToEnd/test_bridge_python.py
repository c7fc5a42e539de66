"""`--bridge python-socketio`: what a backend emits by python-socketio's RedisManager reaches all clients, once."""

import asyncio
import json
import pickle
import subprocess
import sys
from types import SimpleNamespace

import socketio

from Fixtures.clients.emitter import Emitter
from Fixtures.clients.socketio import Phone
from Fixtures.processes.bridges import bridged, holder
from Fixtures.redis.server import RedisServer
from Fixtures.samples import sample
from Fixtures.waiting import eventually

KIND = "python-socketio"


def backend(server) -> socketio.RedisManager:
    """The library as a program that only emits has it."""
    return socketio.RedisManager(server.url, write_only=True)


def test_an_event_reaches_the_clients_of_all_gateways_once(gateway, server, topic):
    one, other = bridged(gateway, server, 2, KIND)
    manager = backend(server)
    with one.client() as client, Phone(other, namespaces=("/queue",)) as phone:
        client.subscribe(topic)
        phone.call("subscribe", {"topic": topic}, namespace="/queue")
        for number in range(50):
            manager.emit("queue:update", {"queueLength": number}, namespace="/queue", room=topic)
        for number in range(50):
            client.expect("queue:update", topic=topic, offset=number + 1, data={"queueLength": number})
        eventually(lambda: phone.names().count("queue:update") >= 50, 10, "all events")
        client.expect_nothing()
        assert phone.names().count("queue:update") == 50
    assert sum(node.metric("switchboard_bridge_events_total", fate="published") for node in (one, other)) == 50


def test_values_rooms_and_namespaces_mean_what_they_do_in_python(gateway, server, token):
    [node] = bridged(gateway, server, kind=KIND)
    manager = backend(server)
    with node.client(token=token("ann")) as client:
        for topic in ("shop:42", "dj:42", "user:ann"):
            client.subscribe(topic)
        # A room of `/dj` is a session of it, as for its clients.
        manager.emit("track:playing", {"id": "t1"}, namespace="/dj", room="shop:42")
        client.expect("track:playing", topic="dj:42", data={"id": "t1"})
        # Several rooms are several topics; one that is none is left out, and told.
        manager.emit("hello", to=["shop:42", "user:ann", "lobby", "shop:42"], data=None)
        heard = [client.expect("hello", data={}) for _ in range(2)]
        assert sorted(event["topic"] for event in heard) == ["shop:42", "user:ann"]
        eventually(lambda: node.metric("switchboard_bridge_refused_total", reason="topic") == 1, 5, "the room")
        values = {"text": "grüß \"\u2028\"\n", "list": [1, -1, 1.5, None, True], "": {}}
        manager.emit("values", values, room="shop:42")
        client.expect("values", data=values)
        # Bytes are attachments for clients of Socket.IO, and an object for all others.
        manager.emit("picture", {"small": b"\x00\xff", "large": [b"", b"abc"]}, room="shop:42")
        client.expect("picture", data={"small": {"$bytes": "AP8="}, "large": [{"$bytes": ""}, {"$bytes": "YWJj"}]})
        # The manager of asyncio writes the same.
        asyncio.run(socketio.AsyncRedisManager(server.url, write_only=True).emit("later", {"n": 1}, room="shop:42"))
        client.expect("later", topic="shop:42", data={"n": 1})
        client.expect_nothing()


def test_the_sample_of_the_page_reaches_the_topic(gateway, server):
    [node] = bridged(gateway, server, kind=KIND)
    text = sample("docs/emitters.md#backends-in-python:python")
    assert "redis://127.0.0.1:6379" in text
    with node.client() as client:
        client.subscribe("shop:42")
        program = text.replace("redis://127.0.0.1:6379", server.url)
        subprocess.run([sys.executable, "-c", program], check=True, timeout=30)
        client.expect("queue:update", data={"shopId": "42", "queueLength": 3})


def test_what_a_server_of_python_emits_reaches_the_topic(gateway, server):
    """A server with such a manager goes on beside the gateway."""
    [node] = bridged(gateway, server, kind=KIND)

    async def emits():
        program = socketio.AsyncServer(client_manager=socketio.AsyncRedisManager(server.url))
        await program.emit("e", {"n": 1}, room="shop:42")

    with node.client() as client:
        client.subscribe("shop:42")
        asyncio.run(emits())
        client.expect("e", topic="shop:42", data={"n": 1})


REFUSED = {
    "except": lambda manager: manager.emit("e", {}, room="shop:42", skip_sid="sid"),
    "everyone": lambda manager: manager.emit("e", {}),
    "arguments": lambda manager: manager.emit("e", (None, {}), room="shop:42"),
    "topic": lambda manager: manager.emit("e", {}, room="nowhere:42"),
    "invalid": lambda manager: manager.emit("gap", {}, room="shop:42"),
    "too_large": lambda manager: manager.emit("e", {"text": "x" * 70_000}, room="shop:42"),
    "order": lambda manager: manager.enter_room("sid", "/", "shop:42"),
}


def test_refusals_are_counted_and_told(gateway, server, rng):
    [node] = bridged(gateway, server, kind=KIND)
    manager = backend(server)
    with server.client() as db, node.client() as client:
        client.subscribe("shop:42")
        for reason, emit in REFUSED.items():
            emit(manager)
            eventually(lambda reason=reason: node.metric("switchboard_bridge_refused_total", reason=reason) == 1, 5,
                       reason)
        message = {"method": "emit", "event": "e", "data": [{}], "binary": False, "namespace": "/", "room": "shop:42",
                   "skip_sid": None, "callback": ["shop:42", "/", 1], "host_id": "a1"}
        # Only a server may ask its clients for answers.
        db.publish("socketio", json.dumps(message))
        eventually(lambda: node.metric("switchboard_bridge_refused_total", reason="callback") == 1, 5, "an answer")
        # What versions before 5.14 wrote, half a message, one byte of it changed, and noise.
        message["callback"] = None
        text, before = json.dumps(message).encode(), node.metric("switchboard_bridge_refused_total")
        db.publish("socketio", pickle.dumps(message))
        for _ in range(200):
            db.publish("socketio", text[:rng.randrange(len(text))])
            db.publish("socketio", rng.randbytes(rng.randrange(200)))
        eventually(lambda: node.metric("switchboard_bridge_refused_total") == before + 401, 10, "all refused")
        client.expect_nothing()
        manager.emit("e", {"n": 1}, room="shop:42")
        client.expect("e", data={"n": 1})
    lines = [json.loads(line) for line in node.log_text.splitlines() if "emitter was refused" in line]
    assert {line["reason"] for line in lines} == {*REFUSED, "callback", "malformed"}
    assert all(line["channel"] == "socketio" and line["mend"] for line in lines)


def test_when_the_node_that_publishes_ends_another_one_goes_on(gateway, server, topic):
    nodes = bridged(gateway, server, 2, KIND)
    first = holder(*nodes)
    [other] = [node for node in nodes if node is not first]
    manager = backend(server)
    with other.client() as client:
        client.subscribe(topic)
        for number in range(100):
            manager.emit("number", {"n": number}, room=topic)
        first.kill()
        for number in range(100, 200):
            manager.emit("number", {"n": number}, room=topic)
        for number in range(200):
            client.expect("number", offset=number + 1, data={"n": number}, timeout=15)
        client.expect_nothing()


def test_each_kind_of_backend_has_a_bridge_of_its_own(gateway, server, topic):
    """One lease for both kinds would let a gateway settle what it does not read."""
    [python] = bridged(gateway, server, kind=KIND)
    [node] = bridged(gateway, server)
    assert holder(python) is python
    manager = backend(server)
    with server.client() as db, node.client() as client:
        client.subscribe(topic)
        for number in range(10):
            manager.emit("python", {"n": number}, room=topic)
            Emitter(db).to(topic).emit("node", {"n": number})
        heard = [client.receive() for _ in range(20)]
        for name in ("python", "node"):
            assert [event["data"]["n"] for event in heard if event["event"] == name] == list(range(10))
        client.expect_nothing()
    assert all(one.metric("switchboard_bridge_refused_total") == 0 for one in (python, node))


def test_a_user_of_redis_without_the_channel_is_told_in_readiness(gateway, tmp_path):
    with RedisServer(tmp_path / "guarded", tcp=True).running() as server, server.client() as db:
        own = ("resetchannels", "&[#0-9a-z]*:*", "&#*")
        db.execute_command("ACL", "SETUSER", "app", "on", ">ours", "~*", "+@all", *own)
        node = gateway("--bridge", KIND, server=SimpleNamespace(url=f"redis://app:ours@127.0.0.1:{server.port}"))
        eventually(lambda: node.metric("switchboard_ready", row="bridge") == 0, 10, "the row")
        [warned] = [one for one in node.ops("/readyz").json()["warnings"] if one["name"] == "bridge"]
        assert "SUBSCRIBE on socketio" in warned["mend"]
        db.execute_command("ACL", "SETUSER", "app", "&socketio")
        eventually(lambda: node.metric("switchboard_ready", row="bridge") == 1, 15, "the right")
