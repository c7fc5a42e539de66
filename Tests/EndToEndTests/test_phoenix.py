"""Supabase's Realtime clients: Python's own, unmodified, and the frames of all of them byte for byte."""

import asyncio
import json

import pytest
from websockets.exceptions import InvalidStatus

from gateway_process import API_KEY
from phoenix import Frames, Supabase

ROOM = "realtime:room1"


@pytest.fixture
def order(topics):
    return topics("order")


@pytest.fixture
def trusting(monkeypatch, certificate):
    """Supabase's client takes its trust from the environment."""
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate.cert))


# Opening


@pytest.mark.parametrize("vsn, path", [
    ("1.0.0", "/realtime/v1/websocket"), ("2.0.0", "/realtime/v1/websocket"), (None, "/realtime/v1/websocket"),
    ("2.0.0", "/socket/websocket"), ("1.0.0", "/realtime/v1/websocket/")])
def test_the_key_of_the_query_opens_a_socket(gw, token, vsn, path):
    with Frames(gw, token(), vsn, path) as client:
        client.send_raw('[null,"1","phoenix","heartbeat",{}]' if vsn == "2.0.0" else
                        '{"topic":"phoenix","event":"heartbeat","payload":{},"ref":"1"}')
        answer = json.loads(client.receive_raw())
        payload = {"status": "ok", "response": {}}
        assert answer == ([None, "1", "phoenix", "phx_reply", payload] if vsn == "2.0.0" else
                          {"topic": "phoenix", "event": "phx_reply", "payload": payload, "ref": "1"})


def test_a_header_names_the_key_too(gw, token):
    """`x-api-key` wins over the query; without both, what other requests show counts."""
    for key, headers in [("wrong", [("x-api-key", token())]), (None, [("apikey", API_KEY)]),
                         (None, [("Authorization", f"Bearer {token()}")])]:
        with Frames(gw, key, headers=headers) as client:
            client.quiet()


@pytest.mark.parametrize("key, vsn, status, text", [
    (None, "2.0.0", 401, "API key is missing"), ("", "2.0.0", 401, "API key is missing"),
    ("anything", "2.0.0", 401, "the API key is not known"), ("a.b.c", "1.0.0", 401, "token"),
    ("a.b.c", "3.0.0", 403, "vsn"), ("a.b.c", "", 403, "vsn")])
def test_an_opening_is_refused_in_the_clients_shape(gw, key, vsn, status, text):
    with pytest.raises(InvalidStatus) as refused:
        Frames(gw, key, vsn)
    response = refused.value.response
    assert response.status_code == status
    assert text in json.loads(response.body)["error"]


def test_keys_and_tokens_are_in_no_log(gateway, token):
    """The clients put their key into the query, where logs of requests would show it."""
    secret, gw = token("u-secret"), gateway()
    with Frames(gw, secret) as client:
        client.join(ROOM, token=token("u-secret", nonce=1))
    with pytest.raises(InvalidStatus):
        Frames(gw, secret + "x")
    gw.stop()
    assert secret[:40] not in gw.log_text and secret[-20:] not in gw.log_text


# The frames of realtime-js, as they were captured


def test_the_captured_frames_of_javascript(gw, token):
    """What realtime-js sends over one connection, and every byte of what it hears."""
    with Frames(gw, token("u1")) as client:
        client.send_raw(
            '["6","6","realtime:room1","phx_join",{"config":{"broadcast":{"self":true,"ack":true},"presence":'
            '{"key":"u1","enabled":true},"postgres_changes":[{"event":"*","schema":"public","table":"orders"}],'
            f'"private":false}},"access_token":"{token("u1", nonce=1)}"}}]')
        client.expect_raw(
            '["6","6","realtime:room1","phx_reply",{"status":"ok","response":{"postgres_changes":'
            '[{"event":"*","schema":"public","table":"orders","id":1}]}}]',
            '["6",null,"realtime:room1","presence_state",{}]')
        assert client.pull()[3:] == ["system", {
            "extension": "postgres_changes", "status": "error", "channel": "room1",
            "message": "Database changes are not told here; listen to broadcasts."}]
        client.send_raw(bytes.fromhex("0301010e04000136377265616c74696d653a726f6f6d3163686174") + b'{"n":1}')
        heard = [client.pull(), client.pull()]
        assert ["6", "7", ROOM, "phx_reply", {"status": "ok", "response": {}}] in heard
        (broadcast,) = [frame for frame in heard if frame[3] == "broadcast"]
        assert broadcast[:3] == [None, None, ROOM]
        meta = broadcast[4].pop("meta")
        assert meta.keys() == {"epoch", "offset"}
        assert broadcast[4] == {"type": "broadcast", "event": "chat", "payload": {"n": 1}}
        client.send_raw(bytes.fromhex("0301010e03000036387265616c74696d653a726f6f6d3162696e010203"))
        frames = [client.receive_raw(), client.receive_raw()]
        assert '["6","8","realtime:room1","phx_reply",{"status":"ok","response":{}}]' in frames
        (raw,) = [frame for frame in frames if isinstance(frame, bytes)]
        assert raw[:3] == bytes([4, 14, 3]) and raw[4] == 0 and raw.endswith(b"\x01\x02\x03")
        assert raw[5:22] == b"realtime:room1bin"
        client.send_raw(f'["6","10","realtime:room1","access_token",{{"access_token":"{token("u1", nonce=2)}"}}]')
        client.send_raw('[null,"11","phoenix","heartbeat",{}]')
        client.expect_raw('[null,"11","phoenix","phx_reply",{"status":"ok","response":{}}]')
        client.send_raw('["6","13","realtime:room1","phx_leave",{}]')
        client.expect_raw('["6","13","realtime:room1","phx_reply",{"status":"ok","response":{}}]',
                          '["6","6","realtime:room1","phx_close",{}]')


# Python's client


def test_python_and_native_clients_share_a_topic(gw, order, token, trusting):
    """One topic, one history: each hears the other, with the offsets of one log."""
    key = token("u1", topics=[order])

    async def run(native):
        async with Supabase(gw, key) as supabase:
            await supabase.join(order)
            for number in range(3):
                gw.publish(order, "upload_started", {"order_id": number}, id=f"op-{number}")
                heard = await supabase.next()
                assert heard["event"] == "upload_started" and heard["payload"] == {"order_id": number}
                assert heard["meta"] == {"id": f"op-{number}"}
                native.expect("upload_started", data={"order_id": number}, offset=number + 1)

    with gw.client(token=key) as native:
        native.subscribe(order)
        asyncio.run(run(native))


def test_python_publishes_and_is_acknowledged(gw, token, trusting):
    """A broadcast of Supabase's client reaches native members of `phoenix:NAME`, and comes back where it wants that."""
    async def run(native):
        async with Supabase(gw, token("u1")) as supabase:
            channel = await supabase.join("lobby", ack=True, own=True)
            await channel.send_broadcast("chat", {"n": 1})
            assert (await supabase.next())["payload"] == {"n": 1}
            native.expect("chat", topic="phoenix:lobby", data={"n": 1})
            await channel.unsubscribe()

    with gw.client(token=token("u2")) as native:
        native.subscribe("phoenix:lobby")
        asyncio.run(run(native))


def test_a_broadcast_comes_back_only_to_who_wants_it(gw, token, topics):
    """With `self: false` everybody hears a broadcast but the channel that sent it, on text and binary frames alike."""
    name = topics("phoenix").removeprefix("phoenix:")
    channel = f"realtime:{name}"
    with Frames(gw, token("u1")) as sender, Frames(gw, token("u1")) as other, gw.client(token=token("u1")) as native:
        sender.join(channel)
        other.join(channel, broadcast={"self": True})
        native.subscribe(f"phoenix:{name}")
        for number in range(3):
            sender.push("1", "5", channel, "broadcast", {"event": "e", "payload": {"n": number}})
        binary = bytes([3, 1, 1, len(channel), 1, 0, 1]) + b"15" + channel.encode() + b"e" + b'{"n":3}'
        sender.send_raw(binary)
        other.push("1", "6", channel, "broadcast", {"event": "e", "payload": {"n": 4}})
        for number in range(5):
            native.expect("e", data={"n": number}, offset=number + 1)
            assert other.pull()[4]["payload"] == {"n": number}
        assert sender.pull()[4]["payload"] == {"n": 4}
        sender.quiet()
    with gw.http() as http:
        audit = http.get(f"/v1/topics/phoenix:{name}/audit").json()
    assert audit["balanced"], audit


def test_a_channel_that_may_not_be_joined_is_refused(gw, order, token, trusting):
    async def run():
        async with Supabase(gw, token("u1")) as supabase:
            channel = supabase.channel(order)
            errors = []
            await asyncio.wait_for(channel.subscribe(lambda state, error: errors.append((state, str(error)))), 5)
            assert errors[0][0].value == "CHANNEL_ERROR"
            assert f"permissions to read from this Channel topic: {order}" in errors[0][1]

    asyncio.run(run())
