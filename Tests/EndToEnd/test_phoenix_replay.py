"""What Supabase's clients are told of the past, and in another shape where the namespace says so."""

import asyncio
import json

import pytest

from Fixtures.clients.phoenix import Frames, Supabase


@pytest.fixture
def trusting(monkeypatch, certificate):
    """Supabase's client takes its trust from the environment."""
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate.cert))


def test_python_hears_what_was_broadcast_before_it_came(gw, topics, token, trusting):
    """`config.broadcast.replay` was refused; the clients ask so for what was broadcast while they were away."""
    talk = topics("conversation")
    with gw.http() as http:
        for number in range(3):
            http.post("/v1/broadcast", json={"topic": talk, "event": "e", "data": {"n": number}, "id": f"op-{number}"})
        http.put(f"/v1/topics/{talk}/members/u1")

    async def run():
        async with Supabase(gw, token("u1")) as supabase:
            channel = supabase.channel(talk, private=True, replay={"since": 0, "limit": 2})
            await asyncio.wait_for(channel.subscribe(lambda state, _: supabase.states.put_nowait(state)), 5)
            gw.publish(talk, "e", {"n": 3})
            heard = [await supabase.next() for _ in range(3)]
            assert [one["payload"]["n"] for one in heard] == [1, 2, 3]
            assert [one["meta"]["id"] for one in heard[:2]] == ["op-1", "op-2"]
            assert [one["meta"].get("replayed") for one in heard] == [True, True, None]

    asyncio.run(run())


def test_a_replay_is_what_the_log_has_since_then_and_nobody_elses(gw, db, topics, token):
    """A replay opens no log that a join does not, begins at its time, and is followed by what comes live, once each."""
    talk, room = topics("conversation"), topics("phoenix").removeprefix("phoenix:")
    gw.publish(talk, "secret")
    with Frames(gw, token("u1")) as client:
        refused = client.join(f"realtime:{talk}", status="error", private=True, broadcast={"replay": {"since": 0}})
        assert refused["reason"] == f"Unauthorized: You do not have permissions to read from this Channel topic: {talk}"
        channel = f"realtime:{room}"
        # Nothing was ever published: nothing is created for a replay, and the join goes on.
        client.join(channel, broadcast={"replay": {"since": 0, "limit": 25}, "self": True})
        for number in range(30):
            gw.publish(f"phoenix:{room}", "e", {"n": number})
            assert client.pull()[4]["payload"] == {"n": number}
        client.join(channel, ref="2", broadcast={"replay": {"since": 0, "limit": 99}})
        assert client.pull() == ["1", "1", channel, "phx_close", {}]
        frames = [client.pull() for _ in range(25)]
        assert [frame[4]["payload"]["n"] for frame in frames] == list(range(5, 30))
        epoch = db.hget(f"phoenix:{room}#meta", "epoch").decode()
        assert frames[0][:4] == ["2", None, channel, "broadcast"] and frames[0][4]["meta"] == {
            "replayed": True, "id": f"{epoch}:6", "epoch": epoch, "offset": 6}
        gw.publish(f"phoenix:{room}", "e", {"n": 30})
        assert client.pull()[4]["meta"] == {"epoch": epoch, "offset": 31}
        # By the times that the log has.
        times = [int(fields[b"t"]) for _, fields in db.xrange(f"phoenix:{room}#log")]
        client.join(channel, ref="3", broadcast={"replay": {"since": times[-1] + 1}})
        assert client.pull()[3] == "phx_close"
        client.quiet()
        assert client.join(channel, ref="4", status="error", broadcast={"replay": {"since": "0"}})["reason"] == (
            "UnableToReplayMessages: Replay params are not valid")


def test_replays_are_paid_for(gateway, token, topics):
    """Each replay is a read of a log: a user who does nothing else is refused before Redis is asked too often."""
    gw = gateway("--shards", "1", limits={"userRedisUsPerSecond": 1_000, "joinsPerSecond": 1_000})
    room = topics("phoenix").removeprefix("phoenix:")
    with Frames(gw, token("u1")) as client:
        statuses = []
        for number in range(60):
            client.push(f"{number}", f"{number}", f"realtime:{room}", "phx_join",
                        {"config": {"broadcast": {"replay": {"since": number}}}})
            while (frame := client.pull())[3] != "phx_reply":
                pass
            statuses.append(frame[4]["status"])
        assert statuses[0] == "ok" and "error" in statuses


def test_the_order_apps_handlers_find_their_members(gateway, topics, token):
    """The order app reads `order_id` of the whole payload, where its server has it within `payload`."""
    order = topics("order")
    gw = gateway(config={"namespaces": {"order": {"flatten": True}}})
    with Frames(gw, token("u1", topics=[order])) as client, \
            Frames(gw, token("u1", topics=[order]), vsn="1.0.0") as older:
        client.join(f"realtime:{order}")
        older.send_raw(json.dumps({"topic": f"realtime:{order}", "event": "phx_join", "payload": {}, "ref": "1"}))
        json.loads(older.receive_raw())
        # In such a namespace each join is followed by the word that the channel is ready.
        assert client.pull()[3] == json.loads(older.receive_raw())["event"] == "system"
        data = {"order_id": "7", "file_count": 3, "type": "forged", "event": "forged", "meta": {"replayed": True}}
        gw.publish(order, "upload_completed", data)
        for payload in (client.pull()[4], json.loads(older.receive_raw())["payload"]):
            assert payload.pop("meta").keys() == {"epoch", "offset"}
            assert payload == {"type": "broadcast", "event": "upload_completed", "payload": data, "order_id": "7",
                               "file_count": 3}
