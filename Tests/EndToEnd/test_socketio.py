"""Socket.IO clients, unmodified, on the topics of native clients."""

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest
import socketio.exceptions
from websockets.exceptions import ConnectionClosed, InvalidStatus

from Fixtures.apps.operator_scripts import script, write_scripts
from Fixtures.clients.socketio import WEBSOCKET, Phone, Wire
from Fixtures.processes.gateway import API_KEY
from Fixtures.waiting import eventually, pass_time

ROOT = Path(__file__).resolve().parents[2]
APPS = ("/", "/queue", "/dj")


@pytest.fixture
def conversation(topics):
    return topics("conversation")


def native(gw, **options):
    return gw.client(**options)


# One topic, both kinds of clients


def test_both_kinds_hear_each_other_in_one_order(gw, token, conversation):
    mine = {"token": token("u1", topics=[conversation])}
    with Phone(gw, namespaces=["/queue"], auth=mine) as phone, \
            native(gw, token=token("u2", topics=[conversation])) as other:
        joined = phone.call("subscribe", {"topic": conversation}, "/queue")
        assert joined["topic"] == conversation and joined["offset"] == 0 and joined["recovered"] is False
        other.subscribe(conversation)
        sent = phone.call("publish", {"topic": conversation, "event": "said", "data": {"n": 1}}, "/queue")
        assert sent == {"epoch": joined["epoch"], "offset": 1}
        other.expect("said", topic=conversation, data={"n": 1}, offset=1)
        assert phone.hears("said", "/queue") == {"n": 1}
        other.send("publish", {"event": "said", "data": {"n": 2}}, topic=conversation)
        assert {other.receive()["event"] for _ in range(2)} == {"ack", "said"}
        assert phone.hears("said", "/queue") == {"n": 2}


def test_three_namespaces_share_one_connection(gw, topics):
    shop, dj = topics("shop"), topics("dj")
    with Phone(gw, namespaces=APPS) as phone:
        sids = {phone.sio.get_sid(namespace) for namespace in APPS}
        assert len(sids) == 3 and phone.sio.eio.sid not in sids
        phone.call("subscribe", {"topic": shop}, "/queue")
        phone.call("subscribe", {"topic": dj}, "/dj")
        phone.call("subscribe", {"topic": shop}, "/")
        gw.publish(shop, "queue:update", {"n": 1})
        gw.publish(dj, "track:added", {"n": 2})
        eventually(lambda: len(phone.heard) == 3, what="three events")
        assert sorted(phone.heard) == [
            ("/", "queue:update", {"n": 1}), ("/dj", "track:added", {"n": 2}), ("/queue", "queue:update", {"n": 1})]


def test_a_topic_joined_in_two_namespaces_comes_once_in_each(gw, topic):
    with Wire(gw) as wire:
        wire.enters()
        wire.enters("/queue,")
        wire.asks("", 0, "subscribe", {"topic": topic})
        wire.asks("/queue,", 0, "subscribe", {"topic": topic})
        gw.publish(topic, "queue:update", {"n": 1})
        assert {wire.packet(), wire.packet()} == {
            '42["queue:update",{"n":1}]', '42/queue,["queue:update",{"n":1}]'}
        wire.send_raw("41/queue,")
        gw.publish(topic, "queue:update", {"n": 2})
        assert wire.packet() == '42["queue:update",{"n":2}]'
        assert wire.asks("", 1, "ping") == {}


def test_a_client_that_asks_for_positions_gets_them_and_resumes(gw, topic):
    with Wire(gw) as wire:
        wire.enters("/queue,", {"positions": True})
        joined = wire.asks("/queue,", 1, "subscribe", {"topic": topic})
        gw.publish(topic, "queue:update", {"n": 1})
        data, place = wire.hears("/queue,", "queue:update")
        assert data == {"n": 1} and place == {"topic": topic, "epoch": joined["epoch"], "offset": 1}
    gw.publish(topic, "queue:update", {"n": 2})
    with Wire(gw) as wire:
        wire.enters("/queue,", {"positions": True})
        since = {"epoch": place["epoch"], "offset": place["offset"]}
        assert wire.asks("/queue,", 1, "subscribe", {"topic": topic, "since": since})["recovered"] is True
        assert wire.hears("/queue,", "queue:update") == [{"n": 2}, place | {"offset": 2}]


def test_several_topics_are_acknowledged_once(gw, token, topics):
    shop, secret, dj = topics("shop"), topics("order"), topics("dj")
    with Phone(gw, auth={"token": token("u1")}) as phone:
        answer = phone.call("subscribe", {"topics": [shop, secret, dj]})
        assert [one.get("topic") or one["error"]["topic"] for one in answer["topics"]] == [shop, secret, dj]
        assert answer["topics"][1]["error"]["code"] == "forbidden"
        eventually(lambda: phone.names() == ["subscribed", "subscribed"])
        left = phone.call("unsubscribe", {"topics": [shop, dj]})
        assert [one["topic"] for one in left["topics"]] == [shop, dj]


def test_a_subscribe_without_acknowledgement_is_told_by_an_event(gw, topic):
    with Phone(gw, namespaces=["/queue"]) as phone:
        phone.emit("subscribe", {"shopId": topic.split(":")[1]}, "/queue")
        assert phone.hears("subscribed", "/queue")["topic"] == topic
        phone.emit("subscribe", {}, "/queue")
        assert phone.hears("error", "/queue")["code"] == "bad_request"


def test_commands_are_acknowledged_and_repeat_harmlessly(gw, token):
    with Phone(gw, auth={"token": token("u-socketio-1")}) as phone:
        assert phone.call("no_such_command")["error"]["code"] == "not_found"
        assert phone.call("notifications", {"limit": 1})["unread"] == 0
        assert "error" in phone.call("rank", {"challengeId": 7, "nonsense": 1})


# Who it is


def test_each_namespace_is_a_person_of_its_own(gw, token):
    with Wire(gw) as wire:
        for namespace, user in (("/queue,", "u1"), ("/dj,", "u2")):
            wire.enters(namespace, {"token": token(user)})
            assert wire.hears(namespace, "subscribed")[0]["userId"] == user
        assert "error" not in wire.asks("/queue,", 1, "subscribe", {"topic": "user:u1"})
        assert wire.asks("/dj,", 1, "subscribe", {"topic": "user:u1"})["error"]["code"] == "forbidden"
        wire.enters("")
        assert wire.asks("", 1, "subscribe", {"topic": "user:u1"})["error"]["code"] in ("forbidden", "unauthorized")


def test_a_bad_token_is_refused_in_its_namespace_alone(gw, token):
    with Wire(gw) as wire:
        wire.enters("", {"token": token("u1")})
        wire.send_raw('40/queue,{"token":"nonsense"}')
        refused = wire.packet()
        assert refused.startswith("44/queue,")
        refusal = json.loads(refused[len("44/queue,"):])
        assert refusal["data"]["code"] == "unauthorized" and refusal["message"]
        assert wire.asks("", 1, "ping") == {}
        wire.enters("/queue,", {"token": token("u1")})


def test_a_refused_namespace_is_what_the_library_reports(gw):
    phone = Phone(gw, namespaces=["/queue"], auth={"token": "x"}, connects=False)
    with phone:
        with pytest.raises(socketio.exceptions.ConnectionError, match="/queue"):
            phone.connect()
        assert phone.refused[0][1]["data"]["code"] == "unauthorized"


def test_credentials_of_the_upgrade_are_those_of_doors_without_a_token(gw, token):
    with Phone(gw, headers={"Authorization": f"Bearer {token('u9')}"}) as phone:
        assert "error" not in phone.call("subscribe", {"topic": "user:u9"})
    with Phone(gw, headers={"apikey": API_KEY}) as phone:
        assert "error" not in phone.call("subscribe", {"topic": "user:anybody"})


def test_a_node_for_known_clients_lets_them_show_a_token_in_the_namespace(gateway, token):
    """A page cannot set headers, so the upgrade itself must be open to it."""
    known = gateway("--anonymous=false")
    with Wire(known) as wire:
        wire.send_raw("40")
        assert json.loads(wire.packet()[2:])["data"]["code"] == "unauthorized"
        wire.enters("/queue,", {"token": token("u1")})


def test_a_token_that_was_revoked_opens_no_other_door(gateway, server, token):
    """The connection is older than the revocation, and had no session that it could end."""
    gw = gateway(server=server)
    with Wire(gw, headers=[("Authorization", f"Bearer {token('u1')}")]) as wire:
        with gw.http() as http:
            assert http.post("/v1/revocations", json={"user": "u1"}).status_code == 200

        def is_refused():
            with gw.http(key=None) as http:
                return http.get("/v1/topics/user:u1/events",
                                headers={"Authorization": f"Bearer {token('u1')}"}).status_code == 401
        eventually(is_refused)
        wire.send_raw("40")
        assert json.loads(wire.packet()[2:])["data"]["code"] == "unauthorized"


def test_a_newer_token_keeps_the_namespace_and_its_topics(gw, token):
    with Phone(gw, namespaces=["/queue"], auth={"token": token("u1", ttl=100)}) as phone:
        phone.call("subscribe", {"topic": "user:u1"}, "/queue")
        newer = phone.call("authenticate", token("u1", ttl=500), "/queue")
        assert newer["userId"] == "u1"
        gw.publish("user:u1", "hello", {"n": 1})
        assert phone.hears("hello", "/queue") == {"n": 1}
        assert phone.call("authenticate", {"token": token("u2")}, "/queue")["error"]["code"] == "forbidden"


# What is refused


@pytest.mark.parametrize("query, status", [
    ("", 400), ("EIO=4", 400), ("EIO=4&transport=abc", 400), ("transport=websocket", 400),
    ("EIO=3&transport=websocket", 400), ("EIO=abc&transport=websocket", 400),
    ("EIO=4&transport=websocket&sid=unknown", 400), ("EIO=4&transport=websocket&EIO=4", 400),
])
def test_a_handshake_of_another_protocol_is_refused(gw, query, status):
    with pytest.raises(InvalidStatus) as refused:
        gw.client(path=f"/socket.io/?{query}")
    assert refused.value.response.status_code == status


def test_pages_of_other_origins_are_refused(gw):
    with pytest.raises(InvalidStatus) as refused:
        gw.client(path=WEBSOCKET, headers=[("Origin", "https://elsewhere.example")])
    assert refused.value.response.status_code == 403


@pytest.mark.parametrize("packet", ["abc", "2", "4abc", "42{}", "42[]", '42abc["e"]', '42["e"]', "41", '42["connect"]',
                                    '42/queue,["e"]', "40", b"\x01", '451-["e"]', "40[]", '42["e"'])
def test_what_is_malformed_ends_the_connection_with_its_code(gw, packet):
    with Wire(gw) as wire:
        if packet not in ('42["e"]', "41"):
            wire.enters()
        wire.send_raw(packet)
        if packet == '451-["e"]':
            wire.send_raw('42["ping"]')
        assert wire.ends(4400) == []


@pytest.mark.parametrize("transport", ["websocket", "polling"])
def test_bytes_go_both_ways(gw, token, conversation, transport):
    """Attachments on the wire of these clients, and one form in the log and for clients of other protocols."""
    mine = {"token": token("u1", topics=[conversation])}
    with Phone(gw, transports=(transport,), namespaces=["/queue"], auth=mine) as phone, \
            native(gw, token=token("u2", topics=[conversation])) as other:
        phone.call("subscribe", {"topic": conversation}, "/queue")
        other.subscribe(conversation)
        data = {"photo": b"\x00\xff\x1e", "more": [b"", {"deep": b"x" * 3_000}], "n": 1}
        sent = phone.call("publish", {"topic": conversation, "event": "said", "data": data}, "/queue")
        assert sent["offset"] == 1
        assert phone.hears("said", "/queue") == data
        assert other.expect("said", topic=conversation)["data"]["photo"] == {"$bytes": "AP8e"}
        gw.publish(conversation, "said", {"$bytes": "AQID"})
        assert phone.hears("said", "/queue") == b"\x01\x02\x03"
        # A publisher's own placeholders are no attachments, with or without bytes beside them.
        for hostile in ({"_placeholder": True, "num": 3}, [{"$bytes": "AQID"}, {"_placeholder": True, "num": 3}]):
            gw.publish(conversation, "said", {"a": hostile})
            assert phone.hears("said", "/queue") == {"a": hostile}
        many = [bytes([number]) for number in range(10)]
        for _ in range(4):
            phone.call("publish", {"topic": conversation, "event": "said", "data": {"many": many}}, "/queue")
        for _ in range(4):
            assert phone.hears("said", "/queue") == {"many": many}
        answer = phone.call("vote", {"blob": b"\x01\x02"}, "/queue")
        assert answer["error"]["code"] == "bad_request"


def test_an_answer_has_bytes_too(gateway, tmp_path, token):
    body = "return { jpeg = { ['$bytes'] = '/9g=' } }"
    gw = gateway("--scripts", write_scripts(tmp_path / "scripts", photo=script("photo", body)))
    with Phone(gw, auth={"token": token("u1")}) as phone:
        assert phone.call("photo", {"shopId": "1"}) == {"jpeg": b"\xff\xd8"}


def test_a_closed_namespace_and_a_closed_connection(gw):
    with Wire(gw) as wire:
        wire.enters()
        wire.send_raw("1")
        assert wire.ends(1000) == []


# Time


def test_the_open_packet_tells_what_the_node_was_told(gateway):
    gw = gateway(limits={"socketIOPingMs": 2_000, "socketIOPongMs": 1_000, "inboundMessageBytesMax": 5_000})
    with Wire(gw) as wire:
        assert wire.opening == {
            "sid": wire.opening["sid"], "upgrades": [], "pingInterval": 2_000, "pingTimeout": 1_000,
            "maxPayload": 5_000}
        assert len(wire.opening["sid"]) == 20
        wire.enters()
        assert wire.packet() == "2"
        wire.send_raw("3")
        assert wire.packet() == "2"
        assert wire.ends(4408) == []


def test_a_client_that_enters_no_namespace_is_closed(gateway):
    gw = gateway(limits={"authenticateMs": 300})
    with Wire(gw) as wire:
        assert wire.ends(4408) == []


def test_one_namespace_that_is_used_keeps_the_others(gateway, topic):
    """Each had its own deadline for the first subscribe, and the first to pass ended all of them."""
    gw = gateway(limits={"authenticateMs": 500})
    with Wire(gw) as wire:
        wire.enters()
        wire.enters("/queue,")
        wire.asks("", 1, "subscribe", {"topic": topic})
        pass_time(1, "twice the time that an unused connection has")
        wire.enters("/dj,")
        assert wire.asks("/queue,", 1, "ping") == {}
        pass_time(1, "twice the time that an unused connection has")
        assert wire.asks("/dj,", 1, "ping") == {}


# Attacks


def test_doors_are_not_opened_faster_than_tokens_are_checked(gw):
    """Leaving and entering a namespace gave each time fresh rates, and each token cost a signature."""
    with Wire(gw) as wire:
        answers = []
        for _ in range(15):
            wire.send_raw("40")
            answers.append(wire.packet())
            if answers[-1].startswith("40"):
                wire.send_raw("41")
        codes = [json.loads(answer[2:]).get("data", {}).get("code") for answer in answers]
        assert codes.count(None) <= 11 and "rate_limited" in codes, codes
    with Wire(gw) as wire:
        codes = []
        for _ in range(15):
            wire.send_raw('40{"token":"a.b.c"}')
            codes.append(json.loads(wire.packet()[2:])["data"]["code"])
        assert set(codes[:10]) == {"unauthorized"} and "rate_limited" in codes


def test_packets_that_nobody_pays_for_are_bounded(gw):
    with Wire(gw) as wire:
        with pytest.raises(ConnectionClosed) as closed:
            for _ in range(10_000):
                wire.send_raw("6")
        assert closed.value.rcvd.code == 1008


def test_messages_of_a_namespace_have_the_rate_of_a_connection(gw):
    with Wire(gw) as wire:
        wire.enters()
        began = time.monotonic()
        for number in range(160):
            wire.send_raw(f'42{number}["ping"]')
        answers = [wire.packet() for _ in range(160)]
        assert any(answer.startswith("42[\"warning\"") or "rate_limited" in answer for answer in answers)
        assert time.monotonic() - began > 0.3


# What the documentation says


def test_the_lines_of_the_documentation_work_when_copied(gw, topic):
    page = (ROOT / "docs/clients.md").read_text()
    lines = page.split("```python\n# Socket.IO")[1].split("```")[0]
    lines = lines.replace("https://127.0.0.1:8443", gw.origin).replace("shop:demo", topic)
    with subprocess.Popen([sys.executable, "-u", "-c", lines], stdout=subprocess.PIPE, text=True) as program:
        try:
            assert json.loads(program.stdout.readline().replace("'", '"').replace("False", "false"))["topic"] == topic
            gw.publish(topic, "queue:update", {"n": 1})
            assert program.stdout.readline() == "{'n': 1}\n"
        finally:
            program.kill()


# Drain and return


def test_a_drain_is_told_in_each_namespace_and_the_client_comes_back(gateway, topic):
    one, two = gateway(limits={"drainMs": 2_000}), gateway()
    with Phone(one, namespaces=["/queue", "/dj"], reconnection=True) as phone:
        phone.call("subscribe", {"topic": topic}, "/queue")
        one.process.terminate()
        assert phone.hears("draining", "/queue")["reconnectAfterMs"] >= 0
        assert phone.hears("draining", "/dj")["reconnectAfterMs"] >= 0
        phone.sio.connection_url = two.origin
        eventually(lambda: phone.sio.connected and phone.sio.get_sid("/dj"), 10, "the return")
        assert phone.call("subscribe", {"topic": topic}, "/queue")["topic"] == topic
        two.publish(topic, "queue:update", {"n": 1})
        assert phone.hears("queue:update", "/queue") == {"n": 1}


def test_paths_and_namespaces_are_the_operators(gateway):
    gw = gateway("--socketio-path", "/live", "--socketio-namespace", "/staff")
    with Phone(gw, namespaces=["/staff"], path="live") as phone:
        assert phone.call("ping", namespace="/staff") == {}
    with pytest.raises(InvalidStatus):
        gw.client(path=WEBSOCKET)


def test_sockets_of_packs_and_of_the_config_file_are_namespaces(gateway):
    """`socketio` of a socket opens a namespace of its name, and the namespaces of a pack go with the pack."""
    gw = gateway("--packs", "none", config={"sockets": {"/hall": {"socketio": True}}})
    with Phone(gw, namespaces=["/hall"]) as phone:
        assert phone.call("ping", namespace="/hall") == {}
    with pytest.raises(socketio.exceptions.ConnectionError), Phone(gw, namespaces=["/dj"]):
        pass
