"""Socket.IO over two nodes: a session that polls lives on one, and its requests reach either."""

import json
import signal
import time
from types import SimpleNamespace

import pytest
from websockets.exceptions import InvalidStatus

from Fixtures.clients import raw
from Fixtures.clients.socketio import TEXT, Phone, Probe, Session
from Fixtures.clients.tokens import SECRET
from Fixtures.processes.fault_proxy import FaultProxy, named
from Fixtures.processes.gateway import Gateway
from Fixtures.processes.nginx import RunningNginx
from Fixtures.processes.polling_nodes import FAST, Wanderer, hops, knows_secret, polls
from Fixtures.waiting import eventually, pass_time


@pytest.fixture(scope="module")
def shared_nodes(tmp_path_factory, shared_server, certificate):
    nodes = [Gateway(tmp_path_factory.mktemp("node"), shared_server.url, certificate, SECRET, "--shards", "2",
                     limits=FAST) for _ in range(2)]
    for node in nodes:
        node.start().wait_ready()
    knows_secret(*nodes)
    yield nodes
    for node in nodes:
        node.stop()


@pytest.fixture
def nodes(shared_nodes):
    """Two nodes for tests that end none of them; sessions of other tests may still live there."""
    yield shared_nodes
    assert all(node.process.poll() is None for node in shared_nodes)


@pytest.fixture
def pair(gateway):
    """Two nodes of one Redis that find out quickly that one of them is gone."""
    nodes = gateway("--shards", "2", limits=FAST), gateway("--shards", "2", limits=FAST)
    knows_secret(*nodes)
    return nodes


# Served


def test_a_session_is_served_by_way_of_another_node(nodes, topic, held):
    home, way = nodes
    out, came = hops(way), hops(home, "in")
    with Wanderer(home, way) as session:
        assert session.joins(topic)["topic"] == topic
        poll = polls(held, session, way)
        way.publish(topic, "queue:update", {"n": 1})
        assert poll.result().text == '42["queue:update",{"n":1}]'
        assert hops(way) - out == hops(home, "in") - came == 5
        session.says("1")
        session.fault(session.get(), 1)
    eventually(lambda: way.metric("switchboard_hops_waiting") == 0)


def test_requests_in_turn_hear_everything_once_and_in_order(nodes, topic, held):
    home, way = nodes
    failed = sum(node.metric("switchboard_hops_failed_total") for node in nodes)
    with Wanderer(home, way, home) as session:
        session.joins(topic)

        def publish():
            for number in range(300):
                (home if number % 3 else way).publish(topic, "e", {"n": number})
        publishing = held(publish)
        heard = []
        while len(heard) < 300:
            heard += [json.loads(packet[2:])[1]["n"] for packet in session.hears() if packet.startswith("42")]
        publishing.result()
        assert heard == list(range(300))
    assert failed == sum(node.metric("switchboard_hops_failed_total") for node in nodes)


def test_a_megabyte_goes_by_way_of_another_node(gateway, topic):
    limits = {"inboundMessageBytesMax": 1_000_000, "publishBytesMax": 900_000}
    home, way = gateway("--shards", "1", limits=limits), gateway("--shards", "1", limits=limits)
    knows_secret(home, way)
    with Wanderer(home, way) as session:
        session.joins(topic)
        assert session.post('422["ping",{"text":"%s"}]' % ("x" * 900_000)).text == "ok"
        assert session.hears()[0].startswith("432[")
        for number in range(3):
            way.publish(topic, "large", {"text": str(number) * 800_000})
            assert session.hears() == ['42["large",{"text":"%s"}]' % (str(number) * 800_000)]


def test_the_library_goes_on_polling_when_its_websocket_reaches_another_node(nodes):
    home, way = nodes
    with Session(home) as session:
        with pytest.raises(InvalidStatus) as refused:
            Probe(way, session)
        assert refused.value.response.status_code == 400 and b"another node" in refused.value.response.body
        session.enters()


# What must not be lost


def test_packets_that_reach_no_node_end_their_session(pair, topic, held):
    """A node dies with the packets of a fetch: a client that went on polling would miss them in silence."""
    home, way = pair
    with Wanderer(home, way) as session:
        session.joins(topic)
        polls(held, session, way)
        way.kill()
        home.publish(topic, "queue:update", {"n": 1})
        eventually(lambda: home.metric("switchboard_polling_sessions") == 0, what="the end of the session")
        session.fault(home.http(key=None).get(session.query), 1)


def test_packets_that_nobody_confirms_end_their_session(gateway, topic, held):
    """Redis says that somebody heard the answer, and a node that hangs has handed nothing to its client."""
    # So long that no poll is given up before the node hangs, however busy the host is.
    home, way = (gateway("--shards", "2", limits=FAST | {"pollHopMs": 1_000}) for _ in range(2))
    knows_secret(home, way)
    with Wanderer(home, way) as session:
        session.joins(topic)
        poll = polls(held, session, way)
        handed = home.metric("switchboard_events_ended_total", fate="written")
        way.signal(signal.SIGSTOP)
        try:
            home.publish(topic, "queue:update", {"n": 1})
            # A publish is answered before it is heard, and a poll that comes first would be given the event.
            eventually(lambda: home.metric("switchboard_events_ended_total", fate="written") > handed)
            with home.http(key=None) as http:
                session.fault(http.get(session.query), 1)
        finally:
            way.signal(signal.SIGCONT)
        assert poll.result().status_code in (200, 400, 503)
    eventually(lambda: home.metric("switchboard_polling_sessions") == 0)


def test_a_poll_whose_answer_redis_lost_is_answered_all_the_same(gateway, server, topic, held):
    """Both nodes lived on, so the one that had asked held the poll until its client lost patience."""
    limits = FAST | {"pollHopMs": 1_000, "redisCallMs": 500}
    with FaultProxy(server.socket_path) as proxy:
        home = gateway("--shards", "1", server=SimpleNamespace(url=proxy.redis_url), limits=limits)
        way = gateway("--shards", "1", server=server, limits=limits)
        knows_secret(home, way)
        with Wanderer(home, way) as session:
            session.joins(topic)
            poll = polls(held, session, way)
            pass_time(0.3, "the poll is known to be held")
            proxy.drop_to_server(named("-shard-0"))
            way.publish(topic, "queue:update", {"n": 1})
            eventually(lambda: home.metric("switchboard_polling_sessions") == 0, what="the end of the session")
            proxy.heal()
            session.fault(poll.result(), 1)
    eventually(lambda: way.metric("switchboard_hops_waiting") == 0)


def test_a_fetch_that_died_with_its_node_may_be_made_again(pair, topic, held):
    """A balancer repeats a GET elsewhere; the session took that for a second poll and ended."""
    home, way = pair
    with Wanderer(home, way) as session:
        session.joins(topic)
        polls(held, session, way)
        way.kill()
        with home.http(key=None) as http:
            poll = held(lambda: http.get(session.query))
            pass_time(0.1, "the second poll is held")
            home.publish(topic, "queue:update", {"n": 1})
            assert poll.result().text == '42["queue:update",{"n":1}]'


def test_a_client_that_goes_away_elsewhere_ends_its_session(nodes, topic):
    home, way = nodes
    with Wanderer(home, way) as session:
        session.joins(topic)
        connection = raw.connect(way)
        connection.sendall(f"GET {session.query} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        eventually(lambda: way.metric("switchboard_hops_waiting") == 1)
        connection.close()
        eventually(lambda: session.post("3").status_code == 400, what="the end of the session")


# Nodes that go


def test_sessions_of_a_node_that_died_are_unknown_at_once(pair, topic, held):
    home, way = pair
    with Wanderer(home, way) as session, Wanderer(home, way) as other:
        session.joins(topic)
        other.joins(topic)
        poll = polls(held, session, way)
        pass_time(0.3, "the poll is known to be held")
        began = time.monotonic()
        home.kill()
        session.fault(poll.result(), 1)
        assert time.monotonic() - began < 3
        session.fault(other.get(), 1)
        session.fault(other.post("3"), 1)
    eventually(lambda: way.metric("switchboard_hops_waiting") == 0)


def test_a_session_whose_node_hangs_is_given_up(pair, topic, held):
    home, way = pair
    with Wanderer(home, way) as session:
        session.joins(topic)
        poll = polls(held, session, way)
        pass_time(0.3, "the poll is known to be held")
        home.signal(signal.SIGSTOP)
        try:
            answer = session.post("3")
            assert answer.status_code == 503 and answer.headers["retry-after"]
            session.fault(poll.result(), 1)
        finally:
            home.signal(signal.SIGCONT)


def test_a_node_that_drains_gives_back_the_polls_of_others(pair, topic, held):
    home, way = pair
    with Wanderer(home, way) as session:
        session.joins(topic)
        poll = polls(held, session, way)
        way.process.terminate()
        assert poll.result().text == "6"
        assert way.process.wait(10) == 0
        with home.http(key=None) as http:
            home.publish(topic, "queue:update", {"n": 1})
            assert http.get(session.query).text == '42["queue:update",{"n":1}]'


def test_without_redis_a_poll_is_refused_at_once(gateway, server, topic):
    home, way = (gateway("--shards", "1", server=server, limits=FAST) for _ in range(2))
    knows_secret(home, way)
    with Wanderer(home, way) as session:
        session.joins(topic)
        server.stop()
        began = time.monotonic()
        answer = session.post("3")
        assert answer.status_code == 503 and time.monotonic() - began < 2, answer.text
        server.start()
        way.wait_ready()
        home.wait_ready()
        # Redis lost the secret, and had it again from the nodes.
        with Session(home) as fresh:
            eventually(lambda: way.http(key=None).post(fresh.query, content="40", headers=TEXT).text == "ok")


# Attacks


def test_a_secret_that_cannot_be_had_is_asked_for_rarely(gateway, server):
    """A gateway asked four times a second for a key that it could not use, for as long as it lived."""
    with server.client() as db:
        db.set("#node-secret", "too short")
        gateway(server=server)

        def asked():
            return db.info("commandstats").get("cmdstat_get", {"calls": 0})["calls"]
        eventually(asked, what="the first question")
        before = asked()
        pass_time(1.5, "it would ask again")
        assert asked() - before <= 1


def other(text, index):
    """The same with another character at that place."""
    end = index % len(text)
    return text[:end] + ("A" if text[end] != "A" else "B") + text[end + 1:]


def test_ids_that_no_node_made_cost_redis_nothing(nodes):
    home, way = nodes
    before = hops(way)
    with Session(home) as session, way.http(key=None) as http:
        node, shard, secret = session.opening["sid"].split(".")
        for forged in (
                f"{node}.{shard}.{other(secret, -1)}", f"{node}.{1 - int(shard)}.{secret}",
                f"{other(node, -1)}.{shard}.{secret}", f"{node}.{shard}.{other(secret, 0)}",
                f"{node}.{shard}.{secret}A", f"{node}.{shard}.", f"probe.0.{secret}", f"{node}.7.{secret}"):
            query = f"/socket.io/?EIO=4&transport=polling&sid={forged}"
            session.fault(http.get(query), 1)
            session.fault(http.post(query, content="40", headers=TEXT), 1)
        assert hops(way) == before
        session.enters()


def test_nobody_with_the_right_to_publish_speaks_for_a_node(nodes, shared_server, token):
    """What nodes say to each other is sealed and counted: it can be neither read, nor changed, nor said again."""
    home, way = nodes
    with shared_server.client() as redis, Wanderer(home, way) as session:
        channel = f"#node:{session.opening['sid'].split('.')[0]}"
        heard = redis.pubsub()
        heard.subscribe(channel)
        secret = token("u1")
        session.says(f'40/queue,{{"token":"{secret}"}}')
        session.hears()
        session.says('42/queue,1["publish",{"topic":"conversation:x","event":"e","data":{}}]')
        messages = []
        eventually(lambda: (message := heard.get_message(True)) is None and len(messages) > 3
                   or (message is not None and messages.append(message["data"]) is not None), 5)
        assert not any(secret.encode() in message or b"queue" in message for message in messages)
        refused = home.metric("switchboard_hops_refused_total")
        taken = home.metric("switchboard_hops_total", way="in")
        forged = messages + [message[:-1] + bytes([message[-1] ^ 1]) for message in messages] + [
            b"", b"x", b"a 0 0 1\nQ", b"a 0 99 1\nQ", b"\n" * 200, b"a 0 0 1\n" + b"x" * 1_000_000]
        for message in forged:
            redis.publish(channel, message)
        eventually(lambda: home.metric("switchboard_hops_refused_total") == refused + len(forged))
        assert home.metric("switchboard_hops_total", way="in") == taken
        session.says('42/queue,2["ping"]')


def test_polls_that_wait_for_other_nodes_are_bounded(gateway, topic, held):
    limits = FAST | {"pollHopsMax": 1, "pollHopBytesMax": 128}
    home, way = gateway("--shards", "1"), gateway("--shards", "1", limits=limits)
    knows_secret(home, way)
    with Wanderer(home, way) as one, Wanderer(home, way) as two:
        one.joins(topic)
        assert two.post("40", *["3"] * 70).status_code == 503
        poll = held(one.get)
        eventually(lambda: way.metric("switchboard_hops_waiting") == 1)
        assert two.get().status_code == 503 and two.post("3").status_code == 503
        home.publish(topic, "e", {})
        assert poll.result().status_code == 200


# The library


@pytest.mark.parametrize("transports", [("polling",), ("polling", "websocket")])
def test_the_library_reaches_two_nodes_in_turn(gateway, tmp_path, certificate, topic, transports):
    """Behind a balancer that keeps no client at its node; a WebSocket that reaches the wrong one leaves it polling."""
    flags = ["--listen-plain", "127.0.0.1:0", "--trust-proxy", "127.0.0.1/32"]
    nodes = gateway(*flags), gateway(*flags)
    knows_secret(*nodes)
    before = sum(map(hops, nodes))
    tls, plain = (tuple("%s:%d" % node.address(kind) for node in nodes) for kind in ("tls", "plain"))
    with RunningNginx(tmp_path / "nginx", tls, plain, certificate.cert, certificate.key,
                      more={"least_conn;": ""}) as nginx:
        front = SimpleNamespace(origin=f"https://{nginx.http}", certificate=certificate)
        phones = [Phone(front, transports=transports, namespaces=["/queue", "/dj"]) for _ in range(6)]
        try:
            for phone in phones:
                assert phone.call("subscribe", {"topic": topic}, "/queue")["topic"] == topic
            for number in range(100):
                nodes[number % 2].publish(topic, "queue:update", {"n": number})
            for phone in phones:
                eventually(lambda phone=phone: len(phone.heard) == 100, 10, "all events")
                assert [event[2]["n"] for event in phone.heard] == list(range(100))
                assert phone.call("ping", namespace="/dj") == {}
        finally:
            for phone in phones:
                phone.__exit__()
    assert sum(map(hops, nodes)) > before
    assert sum(node.metric("switchboard_hops_failed_total") for node in nodes) == 0
