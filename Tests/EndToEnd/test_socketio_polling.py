"""Socket.IO by polling: python-socketio without WebSockets, and the requests of Engine.IO one by one."""

import http.client
import json
import select
import socket
import struct

import httpx
import pytest

from Fixtures.clients import raw
from Fixtures.clients.socketio import SEPARATOR, TEXT, Phone, Session
from Fixtures.waiting import eventually, pass_time

POLLING = ("polling",)


@pytest.fixture
def session(gw):
    with Session(gw) as one:
        yield one


# The library


def test_the_library_needs_no_websocket(gw, token, topics):
    conversation = topics("conversation")
    mine = {"token": token("u1", topics=[conversation])}
    with Phone(gw, transports=POLLING, namespaces=["/queue", "/dj"], auth=mine) as phone, \
            gw.client(token=token("u2", topics=[conversation])) as native:
        assert phone.transport == "polling"
        joined = phone.call("subscribe", {"topic": conversation}, "/queue")
        native.subscribe(conversation)
        assert phone.call("publish", {"topic": conversation, "event": "said", "data": {"n": 1}}, "/dj") == {
            "epoch": joined["epoch"], "offset": 1}
        native.expect("said", data={"n": 1}, offset=1)
        assert phone.hears("said", "/queue") == {"n": 1}
        for number in range(100):
            gw.publish(conversation, "said", {"n": number})
        eventually(lambda: len(phone.heard) == 100, what="all events")
        assert [event[2]["n"] for event in phone.heard] == list(range(100))
        assert phone.call("ping", namespace="/dj") == {}


def test_both_transports_hear_one_topic_in_one_order(gateway, topic):
    """With several shards, polls come to others than their session's."""
    gw = gateway("--shards", "4")
    phones = [Phone(gw, transports=POLLING if number % 2 else ("websocket",)) for number in range(8)]
    try:
        for phone in phones:
            phone.call("subscribe", {"topic": topic})
        for number in range(50):
            gw.publish(topic, "queue:update", {"n": number})
        for phone in phones:
            eventually(lambda phone=phone: len(phone.heard) == 50, 10, "all events")
            assert [event[2]["n"] for event in phone.heard] == list(range(50))
        assert gw.metric("switchboard_polling_sessions") == 4
    finally:
        for phone in phones:
            phone.__exit__()


def test_the_library_leaves_at_once(gateway):
    """A held poll that is not released keeps it waiting. With several shards, it may also forget its last packets."""
    gw = gateway("--shards", "1")
    before = gw.metric("switchboard_polling_sessions")
    with Phone(gw, transports=POLLING):
        pass
    eventually(lambda: gw.metric("switchboard_polling_sessions") <= before, what="the end of the session")


def test_a_send_is_answered_before_the_poll_that_it_fills(gateway):
    """python-socketio forgets what it has yet to send, its last packets, while it waits for the answer to a send: it
    then waited for its held poll until a ping came."""
    gw = gateway("--shards", "1")
    poll, send = (http.client.HTTPSConnection(*gw.address(), timeout=10, context=gw.certificate.trusting_context())
                  for _ in range(2))

    def ask(connection, method, path, body=None):
        connection.request(method, path, body, TEXT)
        return connection.getresponse().read()

    for number in range(20):
        with Session(gw) as session:
            ask(poll, "GET", "/v1/openapi.json")
            poll.request("GET", session.query)
            # The one shard has read the poll when it answers what came later.
            ask(send, "GET", "/v1/openapi.json")
            send.request("POST", session.query, "40", TEXT)
            readable, _, _ = select.select([poll.sock, send.sock], [], [], 10)
            if poll.sock in readable:
                readable, _, _ = select.select([send.sock], [], [], 0)
            assert send.sock in readable, f"round {number}: the poll was answered first"
            assert send.getresponse().read() == b"ok"
            assert poll.getresponse().read().startswith(b'40{"sid":"')
    poll.close()
    send.close()


def test_a_state_larger_than_any_packet_of_a_client_is_fetched(gw, topic):
    with Phone(gw, transports=POLLING) as phone:
        phone.call("subscribe", {"topic": topic})
        gw.publish(topic, "large", {"text": "x" * 60_000})
        assert len(phone.hears("large")["text"]) == 60_000


# Engine.IO's requests


def test_the_open_packet_has_exactly_its_members(session):
    assert set(session.opening) == {"sid", "upgrades", "pingInterval", "pingTimeout", "maxPayload"}
    assert (session.opening["pingInterval"], session.opening["pingTimeout"]) == (25_000, 20_000)
    assert session.opening["maxPayload"] == 65_536


@pytest.mark.parametrize("method, query, code", [
    ("GET", "", 0), ("GET", "EIO=4", 0), ("GET", "EIO=4&transport=abc", 0), ("GET", "EIO=4&transport=websocket", 3),
    ("GET", "transport=polling", 5), ("GET", "EIO=abc&transport=polling", 5), ("GET", "EIO=3&transport=polling", 5),
    ("POST", "EIO=4&transport=polling", 2), ("PUT", "EIO=4&transport=polling", 2),
    ("GET", "EIO=4&transport=polling&sid=unknown", 1), ("POST", "EIO=4&transport=polling&sid=unknown", 1),
    ("GET", "EIO=4&transport=polling&sid=a.0.b", 1), ("PUT", "EIO=4&transport=polling&sid=a", 3),
    ("GET", "EIO=4&transport=polling&sid=a&sid=b", 1),
])
def test_a_request_that_is_none_has_its_code(gw, method, query, code):
    with gw.http(key=None) as http:
        for path in ("/socket.io/", "/socket.io"):
            answer = http.request(method, f"{path}?{query}")
            assert answer.status_code == 400 and answer.json()["code"] == code, answer.text


def test_a_held_poll_is_answered_when_something_is_said(gw, session, topic, held):
    session.enters()
    poll = held(session.get)
    session.says('421["subscribe",{"topic":"%s"}]' % topic)
    assert poll.result().text.startswith("431[{")
    poll = held(session.get)
    gw.publish(topic, "queue:update", {"n": 1})
    assert poll.result().text == '42["queue:update",{"n":1}]'


def test_what_waits_comes_in_answers_of_at_most_sixteen_packets(gw, session, topic):
    session.enters()
    session.says(*[f'42{number}["ping"]' for number in range(40)])
    sizes, heard = [], []
    while len(heard) < 40:
        packets = session.hears()
        sizes.append(len(packets))
        heard += packets
    assert sizes == [16, 16, 8] and heard == [f"43{number}[{{}}]" for number in range(40)]


def test_attachments_come_as_base64(session):
    session.enters()
    session.says('451-7["vote",{"_placeholder":true,"num":0}]', "bAQIDBA==")
    [answer] = session.hears()
    # The packet was read whole, bytes and all: nobody may vote.
    assert json.loads(answer[3:])[0]["error"]["code"] == "unauthorized"


@pytest.mark.parametrize("body", ["abc", "", "4abc", "4\x1e\x1e4", "bAQ", "2", '42["e"]', b"4\xff", b"\xff",
                                  SEPARATOR.join(["3"] * 129)])
def test_a_bad_payload_ends_the_session(session, body):
    answer = session.post(body)
    session.fault(answer, 3)
    assert session.get().text == "1"
    session.fault(session.get(), 1)


def test_bytes_that_are_no_payload_are_refused(session):
    answer = session.post(b"\x01", **{"Content-Type": "application/octet-stream"})
    session.fault(answer, 3)
    session.enters()


def test_a_packet_beyond_the_bound_ends_the_session_and_a_body_beyond_is_not_read(gateway):
    gw = gateway(limits={"inboundMessageBytesMax": 2_000})
    with Session(gw) as session:
        assert session.opening["maxPayload"] == 2_000
        session.enters()
        assert session.post('42["ping",{"a":"%s"}]' % ("x" * 3_000)).status_code == 413
        assert session.get().text == "1"
    with Session(gw) as session:
        assert session.post("4" * 70_000).status_code == 413


def test_a_second_poll_ends_the_session(session, held):
    first = held(session.get)
    pass_time(0.2, "the first poll arrives first")
    session.fault(session.get(), 3)
    assert first.result().text == "1"
    session.fault(session.get(), 1)


@pytest.mark.parametrize("how", ["closed", "reset"])
def test_a_poll_that_is_given_up_ends_its_session(gateway, topic, how):
    """Its answer was written to nobody, and a client that went on polling missed it in silence."""
    gw = gateway("--shards", "2")
    sessions = [Session(gw) for _ in range(6)]
    for session in sessions:
        session.enters()
        session.says('421["subscribe",{"topic":"%s"}]' % topic)
        session.hears()
    eventually(lambda: gw.metric("switchboard_polling_sessions") == 6)
    given_up = []
    for session in sessions[:5]:
        connection = raw.connect(gw)
        connection.sendall(f"GET /socket.io/?EIO=4&transport=polling&sid={session.opening['sid']} HTTP/1.1\r\n"
                           "Host: x\r\n\r\n".encode())
        given_up.append(connection)
    pass_time(0.3, "the polls are held")
    for connection in given_up:
        if how == "reset":
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.close()
    eventually(lambda: gw.metric("switchboard_polling_sessions") == 1)
    gw.publish(topic, "queue:update", {"n": 1})
    for session in sessions[:5]:
        session.fault(session.get(), 1)
    assert sessions[5].hears() == ['42["queue:update",{"n":1}]']


def test_a_client_that_leaves_has_its_poll_released(session, held):
    poll = held(session.get)
    pass_time(0.2, "the poll is held")
    session.says("1")
    assert poll.result().text == "6"
    session.fault(session.get(), 1)


def test_signs_of_life(gateway):
    gw = gateway(limits={"socketIOPingMs": 1_000, "socketIOPongMs": 1_000, "shardSweepMs": 20})
    with Session(gw) as session:
        session.enters()
        for _ in range(2):
            assert session.hears() == ["2"]
            session.says("3")
        pass_time(2.5, "a client says nothing")
        session.fault(session.get(), 1)


# Attacks


def test_a_session_belongs_to_whoever_knows_its_id(gw, session):
    """The ids of two sessions share the node's name and nothing else."""
    with Session(gw) as other:
        mine, theirs = session.opening["sid"], other.opening["sid"]
        assert mine.split(".")[0] == theirs.split(".")[0] and mine.split(".")[2] != theirs.split(".")[2]
        assert len(mine.split(".")[2]) == 40
    node, shard, random = session.opening["sid"].split(".")
    for forged in (f"{node}.{shard}.{random[:-1]}A" if random[-1] != "A" else f"{node}.{shard}.{random[:-1]}B",
                   f"{node}.{1 - int(shard)}.{random}", f"{node}.99.{random}", f"{node}.-1.{random}",
                   f"{node}.{shard}.", f"other.{shard}.{random}", f"{node}.{shard}.{random}.x"):
        answer = session.http.get(f"/socket.io/?EIO=4&transport=polling&sid={forged}")
        session.fault(answer, 1)
    session.enters()


def open_session(http):
    """The answer's status. A slow host opens another connection, which such an address does not get either."""
    try:
        return http.get("/socket.io/?EIO=4&transport=polling").status_code
    except httpx.ConnectError:
        return "no connection"


def test_an_address_holds_so_many_sessions(gateway):
    """A session outlives its request, and would otherwise be free."""
    gw = gateway(limits={"unauthenticatedPerAddressMax": 20, "authenticateMs": 1_000, "shardSweepMs": 20})
    with gw.http(key=None) as http:
        answers = [open_session(http) for _ in range(40)]
    assert answers.count(200) <= 20 and set(answers) - {"no connection"} == {200, 429}
    eventually(lambda: gw.metric("switchboard_polling_sessions") == 0, what="the end of unused sessions")
    # The address gets its places back a moment after the sessions have left the count.
    with gw.http(key=None) as http:
        eventually(lambda: open_session(http) == 200, what="another session of the address")
    with Session(gw) as session:
        session.enters()


def test_a_client_that_does_not_fetch_is_closed_and_forgotten(gateway, topic):
    gw = gateway("--shards", "1", limits={"outboundBytesMax": 20_000, "shardSweepMs": 20})
    with Session(gw) as session:
        session.enters()
        session.says('421["subscribe",{"topic":"%s"}]' % topic)
        assert session.hears()[0].startswith("431[")
        for _ in range(40):
            gw.publish(topic, "large", {"text": "x" * 1_000})
        eventually(lambda: gw.metric("switchboard_queued_bytes") == 0, what="nothing waits any more")
        session.fault(session.get(), 1)
        eventually(lambda: gw.metric("switchboard_polling_sessions") == 0, what="the end of the session")


def test_a_client_that_sends_too_fast_is_answered_late(session):
    session.enters()
    for _ in range(3):
        session.says(*[f'42{number}["ping"]' for number in range(60)])
        while "4359[" not in SEPARATOR.join(session.hears()):
            pass


def test_packets_that_nobody_pays_for_are_bounded(session):
    for _ in range(3):
        answer = session.post(*["6"] * 100)
        if answer.status_code == 400:
            return
    pytest.fail("three hundred packets cost nothing")


# Pages


def test_pages_of_allowed_origins_may_poll(gateway):
    page = "https://shop.example"
    gw = gateway("--allow-origin", page)
    with Session(gw, Origin=page) as session:
        for answer in (session.http.get("/socket.io/?EIO=4&transport=polling"),
                       session.http.get("/socket.io/?EIO=3&transport=polling"), session.post("40")):
            assert answer.headers["access-control-allow-origin"] == page and "Origin" in answer.headers["vary"]
        preflight = session.http.options(
            session.query, headers={"Access-Control-Request-Method": "POST",
                                    "Access-Control-Request-Headers": "content-type,x-one"})
        assert preflight.status_code == 204
        assert preflight.headers["access-control-allow-headers"] == "content-type, x-one"
        refused = session.http.get("/socket.io/?EIO=4&transport=polling", headers={"Origin": "https://other.example"})
        session.fault(refused, 4, 403)
        assert "access-control-allow-origin" not in refused.headers


# Drain


def test_a_drain_ends_polling_clients_too(gateway, topic):
    gw = gateway("--shards", "3", limits={"drainMs": 1_500})
    phones = [Phone(gw, transports=POLLING) for _ in range(6)]
    try:
        for phone in phones:
            phone.call("subscribe", {"topic": topic})
        gw.process.terminate()
        for phone in phones:
            assert phone.hears("draining")["reconnectAfterMs"] >= 0
        gw.process.wait(10)
        for phone in phones:
            eventually(lambda phone=phone: not phone.sio.connected, 5, "the end")
    finally:
        for phone in phones:
            phone.__exit__()


def test_a_polling_client_comes_back_after_a_drain(gateway, topic):
    """Its poll was answered with the packet `1`, after which python-socketio stays away for good."""
    one, two = gateway(limits={"drainMs": 500}), gateway()
    with Phone(one, transports=POLLING, reconnection=True) as phone:
        phone.call("subscribe", {"topic": topic})
        phone.sio.connection_url = two.origin
        one.process.terminate()
        assert phone.hears("draining")["reconnectAfterMs"] >= 0
        assert one.process.wait(10) == 0
        eventually(lambda: two.metric("switchboard_polling_sessions") == 1 and phone.sio.connected, 10, "the return")
        assert phone.call("subscribe", {"topic": topic})["topic"] == topic


def test_a_client_that_fetches_what_it_missed_is_not_slow(gateway, topic):
    """A thousand events come sixteen at a time; their age was once taken for slowness."""
    gw = gateway("--shards", "1", limits={"outboundAgeMs": 600, "shardSweepMs": 20, "outboundBytesMax": 2_000},
                 config={"namespaces": {"shop": {"log": {"events": 1_000}}}})
    with gw.http() as http:
        for first in range(0, 600, 200):
            messages = [{"topic": topic, "event": "e", "data": {"n": first + n}} for n in range(200)]
            assert http.post("/v1/broadcast", json={"messages": messages}).status_code == 200
        epoch = http.get(f"/v1/topics/{topic}").json()["epoch"]
    with Session(gw) as session:
        session.enters()
        session.says('421["subscribe",{"topic":"%s","since":{"epoch":"%s","offset":0}}]' % (topic, epoch))
        heard = []
        while len(heard) < 601:
            heard += session.hears()
            pass_time(0.05, "the way to a phone and back")
        assert [json.loads(packet[2:])[1]["n"] for packet in heard[1:]] == list(range(600))


def test_a_client_that_resumes_behind_much_hears_live_events(gateway, topic):
    """What it had asked for by its position filled its bound, and the next live event ended it."""
    gw = gateway("--shards", "1", limits={"shardSweepMs": 20, "outboundBytesMax": 2_000},
                 config={"namespaces": {"shop": {"log": {"events": 1_000}}}})
    with gw.http() as http:
        messages = [{"topic": topic, "event": "e", "data": {"n": n}} for n in range(200)]
        assert http.post("/v1/broadcast", json={"messages": messages}).status_code == 200
        epoch = http.get(f"/v1/topics/{topic}").json()["epoch"]
        with Session(gw) as session:
            session.enters()
            session.says('421["subscribe",{"topic":"%s","since":{"epoch":"%s","offset":0}}]' % (topic, epoch))
            heard = session.hears()
            for n in range(200, 203):
                gw.publish(topic, "e", {"n": n})
            while len(heard) < 204:
                heard += session.hears()
            assert [json.loads(packet[2:])[1]["n"] for packet in heard[1:]] == list(range(203))
