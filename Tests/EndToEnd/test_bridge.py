"""`--bridge socketio`: what a backend emits by Socket.IO's redis-emitter reaches the clients of all gateways, once."""

import contextlib
import datetime
import json
import signal
import threading
from types import SimpleNamespace

import pytest

from Fixtures.clients.emitter import Date, Emitter, Undefined, encode
from Fixtures.clients.socketio import Phone
from Fixtures.processes.bridges import bridged, holder
from Fixtures.processes.node import NodeProcess
from Fixtures.redis.server import RedisServer
from Fixtures.waiting import eventually

BRIDGE = ("--bridge", "socketio")
EVERYWHERE = pytest.mark.parametrize("server", ["server", "group", "cluster"], indirect=True)


def test_messages_have_the_bytes_of_the_library():
    """Written down byte by byte, so that the publisher of these tests cannot drift with what it is read by."""
    channel, message = Emitter(None).of("/queue").to("shop:42").message("queue:update", {"length": 300, "open": True})
    assert channel == "socket.io#/queue#shop:42#"
    assert message == (
        b"\x93\xa7emitter"
        b"\x83\xa4type\x02\xa4data\x92\xacqueue:update\x82\xa6length\xcd\x01\x2c\xa4open\xc3\xa3nsp\xa6/queue"
        b"\x83\xa5rooms\x91\xa7shop:42\xa5flags\x80\xa6except\x90")
    assert Emitter(None).to("a:1", "b:2").message("e")[0] == "socket.io#/#"
    assert encode([-1, -33, 128, 65_536, 1 << 33, 1.5, b"\x00", Undefined()]) == (
        b"\x98\xff\xd0\xdf\xcc\x80\xce\x00\x01\x00\x00\xcf\x00\x00\x00\x02\x00\x00\x00\x00"
        b"\xcb\x3f\xf8\x00\x00\x00\x00\x00\x00\xc4\x01\x00\xd4\x00\x00")


@EVERYWHERE
def test_an_event_reaches_the_clients_of_all_gateways_once(gateway, server, topic):
    one, other = bridged(gateway, server, 2)
    with server.client() as db, one.client() as client, Phone(other, namespaces=("/queue",)) as phone:
        client.subscribe(topic)
        phone.call("subscribe", {"topic": topic}, namespace="/queue")
        emitter = Emitter(db).of("/queue").to(topic)
        for number in range(50):
            emitter.emit("queue:update", {"queueLength": number})
        for number in range(50):
            client.expect("queue:update", topic=topic, offset=number + 1, data={"queueLength": number})
        wanted = [("/queue", "queue:update", {"queueLength": number}) for number in range(50)]
        eventually(lambda: phone.names().count("queue:update") >= 50, 10, "all events")
        assert [event for event in phone.heard if event[1] == "queue:update"] == wanted
        client.expect_nothing()
    assert sum(node.metric("switchboard_bridge_events_total", fate="published") for node in (one, other)) == 50
    # A client that comes later reads them from the log, as any event.
    with one.http() as http:
        assert len(http.get(f"/v1/topics/{topic}/events?limit=100").json()["events"]) == 50


def test_rooms_namespaces_and_values_mean_what_they_do_in_socket_io(gateway, server, token):
    [node] = bridged(gateway, server)
    with server.client() as db, node.client(token=token("ann")) as client, \
            Phone(node, namespaces=("/dj",)) as phone:
        for topic in ("shop:42", "dj:42", "user:ann"):
            client.subscribe(topic)
        phone.call("subscribe", {"shopId": "42"}, namespace="/dj")
        emitter = Emitter(db)
        # A room of `/dj` is a session of it, as for its clients; elsewhere it is the topic of its name.
        emitter.of("/dj").to("shop:42").emit("track:playing", {"id": "t1"})
        client.expect("track:playing", topic="dj:42", data={"id": "t1"})
        assert phone.hears("track:playing", "/dj") == {"id": "t1"}
        emitter.of("/bookings").to("user:ann").emit("booking:status_change", {"bookingId": "b1", "status": "confirmed"})
        client.expect("booking:status_change", topic="user:ann", data={"bookingId": "b1", "status": "confirmed"})
        # Several rooms are several topics; a room that is none is left out, and told.
        emitter.to("shop:42", "user:ann", "lobby", "shop:42").volatile.emit("hello")
        heard = [client.expect("hello", data={}) for _ in range(2)]
        assert sorted(event["topic"] for event in heard) == ["shop:42", "user:ann"]
        assert node.metric("switchboard_bridge_refused_total", reason="topic") == 1
        # Values as JSON.stringify writes them, and bytes as any publisher's.
        moment = datetime.datetime(2026, 11, 26, 10, 20, 5, 123_000, datetime.UTC)
        emitter.to("shop:42").emit("values", {
            "text": "gr\u00fc\u00df \"\u2028\"\n", "gone": Undefined(),
            "list": [1, -1, 1.5, 1e300, 1 << 53, None, True, Undefined()],
            "old": Date.fromtimestamp(moment.timestamp(), datetime.UTC), "new": moment,
            "second": moment.replace(microsecond=0), "bytes": b"\x00\xff", "": {}, "nan": float("nan")})
        client.expect("values", topic="shop:42", data={
            "text": "gr\u00fc\u00df \"\u2028\"\n", "list": [1, -1, 1.5, 1e300, 1 << 53, None, True, None],
            "old": "2026-11-26T10:20:05.123Z", "new": "2026-11-26T10:20:05.123Z", "second": "2026-11-26T10:20:05.000Z",
            "bytes": {"$bytes": "AP8="}, "": {}, "nan": None})
        client.expect_nothing()


REFUSED = {
    "except": lambda emitter: emitter.to("shop:42").leaving_out("user:ann").emit("e", {}),
    "everyone": lambda emitter: emitter.emit("e", {}),
    "arguments": lambda emitter: emitter.to("shop:42").emit("e", {}, {}),
    "topic": lambda emitter: emitter.to("nowhere:42").emit("e", {}),
    "invalid": lambda emitter: emitter.to("shop:42").emit("gap", {}),
    "too_large": lambda emitter: emitter.to("shop:42").emit("e", {"text": "x" * 70_000}),
}


def test_refusals_are_counted_and_told(gateway, server, rng):
    [node] = bridged(gateway, server)
    with server.client() as db, node.client() as client:
        client.subscribe("shop:42")
        emitter = Emitter(db)
        for reason, emit in REFUSED.items():
            emit(emitter)
            eventually(lambda reason=reason: node.metric("switchboard_bridge_refused_total", reason=reason) == 1, 5,
                       reason)
        for wrong in ("text", 7, None, []):
            emitter.to("shop:42").emit("e", wrong)
        eventually(lambda: node.metric("switchboard_bridge_refused_total", reason="invalid") == 5, 5, "no objects")
        # Whatever others write to these channels: half a message, one byte of it changed, and noise.
        channel, message = emitter.to("shop:42").message("e", {"list": [1, "two", {"three": 3.0}]})
        before = node.metric("switchboard_bridge_refused_total")
        for _ in range(300):
            spoiled = bytearray(message[:rng.randrange(len(message))])
            if spoiled:
                spoiled[rng.randrange(len(spoiled))] = rng.randrange(256)
            db.publish(channel, bytes(spoiled))
            db.publish(channel, rng.randbytes(rng.randrange(200)))
        eventually(lambda: node.metric("switchboard_bridge_refused_total") == before + 600, 10, "all refused")
        client.expect_nothing()
        emitter.to("shop:42").emit("e", {"n": 1})
        client.expect("e", data={"n": 1})
    lines = [json.loads(line) for line in node.log_text.splitlines() if "emitter was refused" in line]
    assert {line["reason"] for line in lines} == {*REFUSED, "malformed"}
    assert all(line["channel"].startswith("socket.io#/#") and line["mend"] for line in lines)
    assert len(lines) < 300, "a flood of one kind is sampled"


def test_without_the_setting_nobody_listens(gateway, server):
    node = gateway(server=server)
    with server.client() as db:
        assert db.pubsub_numpat() == 0 and db.pubsub_channels("*bridge") == []
    assert node.metric("switchboard_bridge_holder") == 0


class Stream(threading.Thread):
    """A backend that emits a number every few milliseconds until it is told to end."""

    def __init__(self, db, topic):
        super().__init__(daemon=True)
        self.emitter, self.count, self.over = Emitter(db).to(topic), 0, threading.Event()

    def run(self):
        while not self.over.wait(0.002):
            self.emitter.emit("number", {"n": self.count})
            self.count += 1

    def emits(self, more: int) -> None:
        wanted = self.count + more
        eventually(lambda: self.count >= wanted, 30, "further events")


@contextlib.contextmanager
def streaming(db, topic):
    stream = Stream(db, topic)
    stream.start()
    try:
        yield stream
    finally:
        stream.over.set()
        stream.join()


def all_heard(client, stream) -> None:
    stream.over.set()
    stream.join()
    numbers = [client.expect("number", offset=n + 1, timeout=15)["data"]["n"] for n in range(stream.count)]
    assert numbers == list(range(stream.count))
    client.expect_nothing()


@pytest.mark.parametrize("server", ["server", "cluster"], indirect=True)
@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM, signal.SIGSTOP])
def test_when_the_node_that_publishes_ends_another_one_goes_on(gateway, server, topic, end):
    """Nothing is lost and nothing comes twice, though the node had published what others had only received."""
    nodes = bridged(gateway, server, 3)
    first = holder(*nodes)
    others = [node for node in nodes if node is not first]
    with server.client() as db, others[0].client() as client:
        client.subscribe(topic)
        with streaming(db, topic) as stream:
            stream.emits(100)
            first.kill() if end == signal.SIGKILL else first.signal(end)
            eventually(lambda: holder(*others), 15, "an heir")
            stream.emits(100)
            if end == signal.SIGSTOP:
                # It finds its old messages in its socket, and the mark of its heir behind them.
                first.signal(signal.SIGCONT)
                eventually(lambda: first.metric("switchboard_bridge_holder") == 0, 15, "it learns of its heir")
                stream.emits(50)
            all_heard(client, stream)
    if end == signal.SIGTERM:
        assert first.wait() == 0
        assert sum(node.metric("switchboard_bridge_events_total", fate="lost") for node in others) == 0


def test_a_lost_link_is_told_and_made_again(gateway, server):
    [node] = bridged(gateway, server)
    with server.client() as db, node.client() as client:
        client.subscribe("shop:42")
        [link] = [one for one in db.client_list() if one["name"].endswith("-bridge")]
        db.client_kill_filter(_id=link["id"])
        eventually(lambda: "the bridge has lost its link" in node.log_text, 5, "a line of the log")
        eventually(lambda: node.log_text.count("the bridge receives the events") == 2, 10, "a new link")
        eventually(lambda: holder(node), 10, "the lease again")

        def arrives():
            Emitter(db).to("shop:42").emit("e", {})
            return node.metric("switchboard_bridge_events_total", fate="published") > 0

        eventually(arrives, 10, "an event after it")
        client.expect("e")


def test_lost_events_are_counted_and_told(gateway, server):
    """They were counted alone: neither the log nor an alert told of them."""
    [node] = bridged(gateway, server, limits={"idempotencySeconds": 2})
    with server.client() as db:
        # Redis refuses what grows, and the bridge tries for half as long as an id is known.
        db.config_set("maxmemory", "1")
        Emitter(db).to("shop:42").emit("e", {})
        eventually(lambda: node.metric("switchboard_bridge_events_total", fate="lost") == 1, 10, "a lost event")
        db.config_set("maxmemory", "0")
    [line] = [json.loads(line) for line in node.log_text.splitlines() if "events of emitters were lost" in line]
    assert line["count"] == "1" and line["reason"] == "late" and line["mend"]


@pytest.fixture
def guarded(tmp_path):
    """A Redis whose user `app` may not subscribe by pattern."""
    with RedisServer(tmp_path / "guarded", tcp=True).running() as server:
        with server.client() as db:
            db.execute_command("ACL", "SETUSER", "app", "on", ">ours", "~*", "&*", "+@all", "-psubscribe")
        yield server


def test_a_user_of_redis_without_the_right_is_told_in_readiness(gateway, guarded):
    node = gateway(*BRIDGE, server=SimpleNamespace(url=f"redis://app:ours@127.0.0.1:{guarded.port}"))
    with guarded.client() as db:
        warned = eventually(lambda: [one for one in node.ops("/readyz").json().get("warnings", ())
                                     if one["name"] == "bridge"], 10, "a warning")
        assert "PSUBSCRIBE" in warned[0]["mend"]
        assert node.metric("switchboard_ready", row="bridge") == 0
        assert "events of emitters do not arrive" in node.log_text
        db.execute_command("ACL", "SETUSER", "app", "+psubscribe")
        eventually(lambda: node.metric("switchboard_ready", row="bridge") == 1, 15, "the right")
        assert "events of emitters arrive again" in node.log_text


def warning_of(node: NodeProcess) -> dict | None:
    """The entry of the bridge among the warnings of readiness."""
    found = [one for one in node.ops("/readyz").json().get("warnings", ()) if one["name"] == "bridge"]
    return found[0] if found else None


def test_a_lease_of_nobody_is_told_in_readiness(gateway, server):
    """Link and lease were whole, so the row was fine while no gateway published anything."""
    with server.client() as db:
        db.set("#bridge", "ghost")
        node = gateway(*BRIDGE, server=server)
        warned = eventually(lambda: warning_of(node), 10, "a warning")
        assert "#bridge names" in warned["mend"]
        eventually(lambda: '"reason":"silent"' in node.log_text, 5, "a line of the log")
        Emitter(db).to("shop:42").emit("e", {})
        db.delete("#bridge")
        eventually(lambda: holder(node) and not warning_of(node), 10, "the lease")
        # What was emitted meanwhile came to nobody, and is counted.
        assert node.metric("switchboard_bridge_events_total", fate="lost") == 1


def test_a_shard_without_its_link_is_no_reason_to_delete_the_lease(gateway, tmp_path):
    """The bridge's own link was whole, so readiness named the key, though nobody could ask for the lease."""
    with RedisServer(tmp_path / "closing", tcp=True).running() as server, server.client() as db:
        db.execute_command("ACL", "SETUSER", "app", "on", ">ours", "~*", "&*", "+@all")
        address = f"redis://app:ours@127.0.0.1:{server.port}"
        [node] = bridged(gateway, SimpleNamespace(url=address))
        # Links that are made stay, and no other can be made.
        db.execute_command("ACL", "SETUSER", "app", "off")
        for one in db.client_list():
            if one["user"] == "app" and not one["name"].endswith("-bridge"):
                db.client_kill_filter(_id=one["id"])
        warned = eventually(lambda: warning_of(node), 10, "a warning")
        assert "delete the key" not in warned["mend"], warned
        db.execute_command("ACL", "SETUSER", "app", "on")
        eventually(lambda: holder(node) and not warning_of(node), 15, "the lease again")


def test_what_waits_when_the_only_gateway_ends_is_told(gateway, server):
    [node] = bridged(gateway, server)
    with server.client() as db:
        db.config_set("min-replicas-to-write", 1)
        try:
            Emitter(db).to("shop:42").emit("e", {})
            eventually(lambda: node.metric("switchboard_bridge_waiting") == 1, 5, "an event that waits")
            node.signal(signal.SIGTERM)
            node.wait()
        finally:
            db.config_set("min-replicas-to-write", 0)
    assert '"events of emitters were not published before the end"' in node.log_text
