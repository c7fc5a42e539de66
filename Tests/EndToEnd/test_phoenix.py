"""Supabase's Realtime clients: Python's own, unmodified, and the frames of all of them byte for byte."""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus

from Fixtures.clients.phoenix import Frames, Supabase
from Fixtures.processes.gateway import API_KEY
from Fixtures.processes.ports import free_port

ROOT = Path(__file__).resolve().parents[2]
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
            '[{"event":"*","schema":"public","table":"orders","id":1}]}}]')
        assert client.pull()[3:] == ["system", {
            "extension": "postgres_changes", "status": "error", "channel": "room1",
            "message": "Database changes are not told here; listen to broadcasts."}]
        client.expect_raw('["6",null,"realtime:room1","presence_state",{}]')
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
        for number in range(5):
            if number == 4:
                # Two connections have no order between them: this one speaks when the other has been heard.
                other.push("1", "6", channel, "broadcast", {"event": "e", "payload": {"n": 4}})
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


# Over HTTP


REST = "/realtime/v1/api/broadcast"


def test_python_publishes_over_http(gw, order, token, trusting):
    """`http_send` of Supabase's client, which takes nothing but 202 for success."""
    async def run():
        # Never connected: a service's key stands in no URL.
        channel = Supabase(gw, API_KEY).channel(order)
        await channel.http_send("greet", {"n": 1})

    with gw.client(token=token("u1", topics=[order])) as native:
        native.subscribe(order)
        asyncio.run(run())
        native.expect("greet", data={"n": 1}, offset=1)


def test_a_user_publishes_over_http_what_its_topics_allow(gw, db, topics, token):
    """JavaScript's `channel.send()` does so while it is not joined. The namespace's rule holds for every message."""
    talk, other, room = topics("conversation"), topics("conversation"), topics("phoenix").removeprefix("phoenix:")
    with gw.http() as http:
        http.put(f"/v1/topics/{talk}/members/u1")
    message = {"event": "e", "payload": {"n": 1}}
    with gw.http(key=token("u1")) as http:
        url = REST + "?apikey=x&vsn=2.0.0"
        both = [message | {"topic": name, "private": True} for name in (talk, room)]
        answer = http.post(url, json={"messages": both})
        assert (answer.status_code, answer.content) == (202, b"")
        answer = http.post(url, json={"messages": [message | {"topic": name} for name in (talk, other)]})
        assert answer.status_code == 403 and "members" in answer.json()["message"]
        answer = http.post(REST + f"/{other}/events/e".replace(":", "%3A"), json={})
        assert answer.status_code == 403 and isinstance(answer.json()["message"], str)
    assert (db.xlen(talk + "#log"), db.xlen(other + "#log"), db.xlen(f"phoenix:{room}#log")) == (1, 0, 1)


def test_one_event_over_http(gw, db, topics):
    topic = topics("phoenix")
    path = f"{REST}/{topic.removeprefix('phoenix:')}/events/a%3Ab"
    with gw.http() as http:
        for options in ({"json": {"n": 1}}, {"content": b"{}"},
                        {"content": b"\x00\xff", "headers": {"content-type": "application/octet-stream"}},
                        {"content": b"", "headers": {"content-type": "application/octet-stream"}}):
            answer = http.post(path + "?private=true", **options)
            assert (answer.status_code, answer.content) == (202, b"")
        for content in (b"", b"[]", b"{", b"7"):
            answer = http.post(path, content=content, headers={"content-type": "application/json; charset=utf-8"})
            assert answer.status_code == 422 and list(answer.json()["errors"]["messages"][0]) == ["payload"]
        answer = http.post(path, content=b"{}", headers={"content-type": "text/plain"})
        text = "Unsupported Media Type. Use application/json or application/octet-stream"
        assert (answer.status_code, answer.json()) == (415, {"error": text})
        answer = http.post(f"{REST}/no:1/events/e", json={})
        assert (answer.status_code, answer.json()) == (403, {"message": "No such namespace."})
        assert http.post(f"{REST}/order:1/events/gap", json={}).status_code == 422
    logged = [(fields[b"e"], fields[b"d"]) for _, fields in db.xrange(topic + "#log")]
    assert logged == [(b"a:b", b'{"n":1}'), (b"a:b", b"{}"), (b"a:b", b'{"$bytes":"AP8="}'), (b"a:b", b'{"$bytes":""}')]


@pytest.mark.parametrize("body, problems", [
    ("{}", ["can't be blank"]), ("[]", ["can't be blank"]), ("", ["can't be blank"]), ("{", ["can't be blank"]),
    ('{"messages":[]}', ["can't be blank"]), ('{"messages":{}}', ["can't be blank"]),
    ('{"messages":[{"topic":"shop:1","event":"e"},{"topic":"shop:1","event":"e","payload":{}}]}',
     [{"payload": ["'payload' is missing."]}, {}]),
    ('{"messages":[{"event":"e","payload":{}},7]}', None)])
def test_a_batch_that_is_wrong_is_refused_whole(gw, watch, body, problems):
    with gw.http() as http, watch() as seen:
        answer = http.post(REST, content=body, headers={"content-type": "application/json"})
    assert answer.status_code == 422
    told = answer.json()["errors"]["messages"]
    assert told == problems if problems is not None else [list(one) for one in told] == [["topic"], ["topic"]]
    assert seen.on_behalf_of_clients() == []


def test_nobody_publishes_over_http_without_a_name(gateway, token):
    gw = gateway("--shards", "1", limits={"userActionsPerSecond": 1})
    body = {"messages": [{"topic": "room", "event": "e", "payload": {}}]}
    for path in (REST, REST + "/room/events/e"):
        with gw.http(key=None) as http:
            answer = http.post(path, json=body)
        assert (answer.status_code, answer.json()) == (401, {"message": "Unauthorized"})
        with gw.http(key=token("u1", ttl=-60)) as http:
            answer = http.post(path, json=body)
        assert answer.status_code == 401 and "expired" in answer.json()["message"]
    with gw.http(key=token("u1")) as http:
        answers = [http.post(REST, json=body) for _ in range(4)]
    assert [answer.status_code for answer in answers] == [202, 202, 429, 429]
    assert answers[-1].json() == {"message": "Too many requests"} and answers[-1].headers["retry-after"] == "1"


# Rights, rejoining, attacks


def test_a_member_taken_out_leaves_the_channel(gw, topics, token):
    """A right that is withdrawn ends the channel within two seconds, with its reason, and nothing more is heard."""
    talk = topics("conversation")
    with gw.http() as http, Frames(gw, token("u1")) as client:
        http.put(f"/v1/topics/{talk}/members/u1")
        client.join(f"realtime:{talk}", token=token("u1", nonce=1))
        http.delete(f"/v1/topics/{talk}/members/u1")
        text = f"You no longer have permission to read from this Channel topic: {talk}"
        assert client.pull() == ["1", None, f"realtime:{talk}", "system", {
            "extension": "system", "status": "error", "message": text, "channel": talk}]
        assert client.pull() == ["1", "1", f"realtime:{talk}", "phx_close", {}]
        gw.publish(talk, "e")
        client.quiet()
        assert client.join(f"realtime:{talk}", ref="2", status="error")["reason"] == (
            f"Unauthorized: You do not have permissions to read from this Channel topic: {talk}")


def test_a_refused_token_ends_its_channel_only(gw, token, topics):
    """Another user's token, a forged one and an expired one give nothing and take the channel that showed them."""
    one, two = topics("order"), topics("order")
    with Frames(gw, token("u1", topics=[one, two])) as client:
        client.join(f"realtime:{two}", ref="2")
        for bad in (token("u2", topics=[one, two]), token("u1")[:-4] + "AAAA", token("u1", ttl=-60)):
            client.join(f"realtime:{one}", ref="1")
            client.push("1", "3", f"realtime:{one}", "access_token", {"access_token": bad})
            assert client.pull()[3:][1]["status"] == "error"
            assert client.pull() == ["1", "1", f"realtime:{one}", "phx_close", {}]
            assert client.join(f"realtime:{one}", ref="4", status="error", token=bad)["reason"].startswith(
                "InvalidJWTToken: ")
        gw.publish(two, "e", {"n": 1})
        assert client.pull()[4]["payload"] == {"n": 1}
        gw.publish(one, "e")
        client.quiet()


def test_nobody_reads_or_writes_beyond_its_rights(gw, order, token):
    """What a user's own token opens is what it opens everywhere; `private: false` and odd spellings open no more."""
    with Frames(gw, token("u1")) as client:
        for channel in (order, order.upper(), "user:u2", "nowhere:1", f"phoenix:{order}", "user:u1 ", "order:*"):
            client.join(f"realtime:{channel}", status="error", private=False)
        client.join("realtime:user:u1")
        client.push("1", "2", "realtime:user:u1", "broadcast", {"event": "e", "payload": {}})
        notice = client.pull()
        assert notice[3] == "system" and notice[4]["status"] == "ok" and "permissions to write" in notice[4]["message"]
        client.push("1", "2", f"realtime:{order}", "broadcast", {"event": "e", "payload": {}})
        assert client.reply("error") == {"reason": "unmatched topic"}


def test_python_joins_again_when_the_gateway_was_killed(gateway, order, token, trusting, server):
    """After a crash the client is back by itself, and hears what is published from then on."""
    key, listen = token("u1", topics=[order]), f"127.0.0.1:{free_port()}"
    first = gateway(server=server, listen=listen)

    async def run():
        async with Supabase(first, key, initial_backoff=0.1, max_retries=50) as supabase:
            await supabase.join(order)
            first.kill()
            assert (await supabase.state()).value == "CHANNEL_ERROR"
            second = await asyncio.to_thread(gateway, server=server, listen=listen)
            assert (await supabase.state(20)).value == "SUBSCRIBED"
            second.publish(order, "back", {"n": 1})
            assert (await supabase.next())["payload"] == {"n": 1}

    asyncio.run(run())


def test_a_position_resumes_across_gateways(gateway, order, token, server):
    """`config.broadcast.since`, which the clients pass on: nothing that the log has is missed."""
    one, two = gateway(server=server), gateway(server=server)
    key = token("u1", topics=[order])
    with Frames(one, key) as client:
        client.join(f"realtime:{order}")
        one.publish(order, "e", {"n": 1})
        meta = client.pull()[4]["meta"]
    for number in (2, 3):
        one.publish(order, "e", {"n": number})
    with Frames(two, key) as client:
        client.join(f"realtime:{order}", broadcast={"since": meta})
        assert [client.pull()[4]["payload"]["n"] for _ in range(2)] == [2, 3]
        client.join(f"realtime:{order}", ref="2", broadcast={"since": meta | {"epoch": "other"}})
        assert client.pull()[3] == "phx_close"
        gap = client.pull()
        assert gap[3] == "system" and gap[4]["extension"] == "gap" and gap[4]["reason"] == "reset"


def test_floods_are_slowed_down_and_ended(gw, token):
    """Frames that are none, unknown events and repeated tokens cost what messages cost: nobody sends them for free."""
    for frame in ("x", '["1","1","realtime:a","broadcast",{}]'):
        with Frames(gw, token("u-flood")) as client:
            with pytest.raises(ConnectionClosed) as ended:
                for _ in range(400):
                    client.send_raw(frame)
                while True:
                    client.receive_raw(10)
            assert (ended.value.rcvd.code, ended.value.rcvd.reason) == (1013, "rate_limited")
    with Frames(gw, token("u-flood2")) as client:
        client.join("realtime:flood")
        for _ in range(120):
            client.push("1", "3", "realtime:flood", "access_token", {"access_token": None})
        client.quiet()


# Documentation


def test_the_lines_of_the_documentation_work_when_copied(gw, token, certificate):
    page = (ROOT / "docs/clients.md").read_text()
    lines = page.split("```python\n# Supabase")[1].split("```")[0]
    lines = lines.replace("https://127.0.0.1:8443", gw.origin).replace("<jwt>", token("u1"))
    environment = os.environ | {"SSL_CERT_FILE": str(certificate.cert)}
    with subprocess.Popen(
            [sys.executable, "-u", "-c", lines], stdout=subprocess.PIPE, text=True, env=environment) as program:
        try:
            assert "'payload': {'hello': 'world'}" in program.stdout.readline()
        finally:
            program.kill()
