"""Who is here on a topic: one truth in Redis, told to Supabase's, native and Socket.IO clients, and over HTTP."""

import asyncio

import pytest

from Fixtures.clients.phoenix import Frames, Supabase
from Fixtures.clients.present import (  # noqa: F401 fixtures among them
    CONFIG, GONE_SECONDS_MAX, LIMITS, answered, change, changes, joined, listed, names, pair, redis_here, topic,
    tracked, users)
from Fixtures.clients.socketio import Phone
from Fixtures.waiting import eventually


@pytest.fixture
def trusting(monkeypatch, certificate):
    """Supabase's client takes its trust from the environment."""
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate.cert))


# One truth in three views


def test_supabases_client_sees_who_comes_and_goes_on_two_gateways(pair, token, trusting):
    """Unmodified: `presence` of two with sync, join and leave, and the native and HTTP views agree."""
    name = f"presence-{next(names)}"

    async def run(native):
        async with Supabase(pair[0], token("ann")) as ann, Supabase(pair[1], token("bob")) as bob:
            told = asyncio.Queue()
            channels = []
            for who, supabase in (("ann", ann), ("bob", bob)):
                channel = supabase.client.channel(name, {"config": {
                    "presence": {"key": who, "enabled": True}, "broadcast": {}, "private": False}})
                channel.on_presence_sync(lambda who=who: told.put_nowait((who, "sync")))
                channel.on_presence_join(
                    lambda key, old, new, who=who: told.put_nowait((who, "join", key, [one["n"] for one in new])))
                channel.on_presence_leave(
                    lambda key, now, old, who=who: told.put_nowait((who, "leave", key, [one["n"] for one in old])))
                await asyncio.wait_for(channel.subscribe(), 5)
                assert await asyncio.wait_for(told.get(), 5) == (who, "sync"), "the state comes with the join"
                channels.append(channel)

            async def hear(*wanted):
                rest, heard = list(wanted), []
                while rest:
                    heard.append(await asyncio.wait_for(told.get(), 5))
                    if heard[-1] in rest:
                        rest.remove(heard[-1])
                    else:
                        assert heard[-1][1] == "sync", heard

            await channels[0].track({"n": 1})
            await hear(("ann", "join", "ann", [1]), ("bob", "join", "ann", [1]))
            await channels[1].track({"n": 2})
            await hear(("ann", "join", "bob", [2]), ("bob", "join", "bob", [2]))
            for channel in channels:
                state = channel.presence_state()
                assert {key: [(one["n"], one["phx_user"]) for one in metas] for key, metas in state.items()} == {
                    "ann": [(1, "ann")], "bob": [(2, "bob")]}
            members = await asyncio.to_thread(joined, native, f"phoenix:{name}")
            assert [(one["user"], one["key"], one["meta"]) for one in members] == sorted(
                [("ann", "ann", {"n": 1}), ("bob", "bob", {"n": 2})],
                key=lambda one: [each["user"] for each in members].index(one[0]))
            for gateway in pair:
                page = (await asyncio.to_thread(listed, gateway, f"phoenix:{name}", token("c"))).json()
                assert page == {"topic": f"phoenix:{name}", "total": 2, "members": members, "next": None}
            await channels[0].track({"n": 3})
            await hear(("ann", "join", "ann", [3]), ("ann", "leave", "ann", [1]),
                       ("bob", "join", "ann", [3]), ("bob", "leave", "ann", [1]))
            await channels[0].untrack()
            await hear(("ann", "leave", "ann", [3]), ("bob", "leave", "ann", [3]))
            await bob.client.close()
            await hear(("ann", "leave", "bob", [2]))

    with pair[1].client(token=token("native")) as native:
        asyncio.run(run(native))
        assert change(native, f"phoenix:{name}") == ([], ["ann"], [])
        changes(native, f"phoenix:{name}", leaves=["ann", "bob"])


def test_native_and_socket_io_clients_are_listed_together(pair, token):
    name = topic()
    with pair[0].client(token=token("u1")) as one, pair[1].client(token=token("u2")) as two, \
            Phone(pair[1], auth={"token": token("u3")}) as phone:
        assert joined(one, name) == []
        id = tracked(one, name, name="Ann")
        assert change(one, name) == (["u1"], [], []), "who is listed hears of itself"
        (member,) = joined(two, name)
        assert member == {"id": id, "user": "u1", "key": "u1", "meta": {"name": "Ann"}}
        assert phone.call("subscribe", {"topic": name, "presence": True})["topic"] == name
        eventually(lambda: "presence" in phone.names())
        (told,) = [data for _, event, data in phone.heard if event == "presence"]
        assert told["members"] == [member] and told["topic"] == name
        assert phone.call("track", {"topic": name, "meta": {"n": 3}}).keys() == {"id"}
        assert change(one, name) == change(two, name) == (["u3"], [], [])
        eventually(lambda: phone.names().count("presence") == 2)
        assert [one["user"] for one in phone.heard[-1][2]["joins"]] == ["u3"]
        assert tracked(one, name, name="Ann", typing=True) == id
        update = ([], ["u1"], [])
        assert change(one, name) == change(two, name) == update, "what is said anew is an update, no leave and join"
        assert users(pair[0], name, token()) == users(pair[1], name, token()) == ["u1", "u3"]
        one.request("unsubscribe", {"topic": name})
        assert change(two, name) == ([], [], ["u1"])
        with pair[0].client(token=token("u4")) as third:
            third.subscribe(name)
            tracked(third, name)
            assert change(two, name) == (["u4"], [], [])
            third.send("untrack", {"topic": name}, ref="away")
            answered(third, "away")
            assert change(two, name) == ([], [], ["u4"])


def test_a_phoenix_channel_without_presence_is_told_nothing(pair, token):
    """Diffs went to clients that have no use for them; who tracks is told from then on."""
    name = f"presence-{next(names)}"
    with Frames(pair[0], token("u1")) as client, Frames(pair[1], token("u2")) as other:
        client.join(f"realtime:{name}")
        other.join(f"realtime:{name}", presence={"enabled": True, "key": "k"})
        assert other.pull()[3:] == ["presence_state", {}]
        other.push("1", "2", f"realtime:{name}", "presence", {"event": "track", "payload": {"n": 1}})
        diff, reply = sorted((other.pull(), other.pull()), key=lambda frame: frame[3] == "phx_reply")
        assert reply == ["1", "2", f"realtime:{name}", "phx_reply", {"status": "ok", "response": {}}]
        assert diff[:4] == [None, None, f"realtime:{name}", "presence_diff"]
        (meta,) = diff[4]["joins"]["k"]["metas"]
        assert meta.pop("phx_ref") and meta == {"n": 1, "phx_user": "u2"} and diff[4]["leaves"] == {}
        client.quiet()
        client.push("1", "3", f"realtime:{name}", "presence", {"event": "TRACK", "payload": {}})
        frames = [client.pull(), client.pull(), client.pull()]
        assert [frame[3] for frame in frames if frame[3] != "phx_reply"] == ["presence_state", "presence_diff"]
        (state,) = [frame[4] for frame in frames if frame[3] == "presence_state"]
        assert state["k"]["metas"][0]["n"] == 1


# Gateways that die


def test_a_killed_gateway_takes_its_people_only(gateway, server, token):
    """Who was there through a gateway that crashed stayed for good; nobody else may flicker."""
    one, other = (gateway(server=server, limits=LIMITS, config=CONFIG) for _ in range(2))
    name = topic()
    with other.client(token=token("watcher")) as watcher, other.client(token=token("stays")) as stays:
        joined(watcher, name)
        joined(stays, name)
        tracked(stays, name)
        lost = [one.client(token=token(f"lost-{number}")) for number in range(3)]
        for client in lost:
            joined(client, name)
            tracked(client, name)
        changes(watcher, name, joins=["stays", "lost-0", "lost-1", "lost-2"])
        one.kill()
        changes(watcher, name, leaves=["lost-0", "lost-1", "lost-2"])
        assert users(other, name, token()) == ["stays"]
        with server.client() as db:
            eventually(lambda: len([id for id in db.hkeys(f"{name}#here") if id != b"#"]) == 1)
        again = gateway(server=server, limits=LIMITS, config=CONFIG)
        with again.client(token=token("lost-0")) as client:
            assert [member["user"] for member in joined(client, name)] == ["stays"]
            tracked(client, name)
            assert change(watcher, name) == (["lost-0"], [], [])
            watcher.expect_nothing()


def test_a_gateway_that_ends_says_who_leaves(gateway, server, token):
    """People of a gateway that was stopped stayed until it was taken for dead: its last words were put off too long."""
    limits = LIMITS | {"presenceNodeMs": 30_000, "presenceDiffMs": 5_000}
    one, other = (gateway(server=server, limits=limits, config=CONFIG) for _ in range(2))
    name = topic()
    with other.client(token=token("watcher")) as watcher:
        joined(watcher, name)
        clients = [one.client(token=token(f"u{number}")) for number in range(3)]
        for client in clients:
            client.subscribe(name)
            client.send("track", {"topic": name}, ref=1)
        eventually(lambda: len(users(other, name, token())) == 3, 15)
        one.stop()
        assert users(other, name, token()) == []


def test_people_of_a_gateway_that_died_alone_are_not_shown_over_http(gateway, server, token):
    """Nobody watched the topic when it died, so nobody has cleared it."""
    one, other = (gateway(server=server, limits=LIMITS, config=CONFIG) for _ in range(2))
    name = topic()
    client = one.client(token=token("u1"))
    joined(client, name)
    tracked(client, name)
    assert users(other, name, token()) == ["u1"]
    one.kill()
    eventually(lambda: users(other, name, token()) == [], GONE_SECONDS_MAX)


def test_a_restart_of_redis_loses_nobody(gateway, server, token):
    """Redis came back empty: whoever is still connected is listed again, and nobody is told to have left."""
    one, other = (gateway(server=server, limits=LIMITS, config=CONFIG) for _ in range(2))
    name = topic()
    with one.client(token=token("u1")) as client, other.client(token=token("u2")) as watcher:
        for each in (client, watcher):
            joined(each, name)
        id = tracked(client, name)
        changes(watcher, name, joins=["u1"])
        server.stop()
        server.start()
        for each in (one, other):
            each.wait_ready()
        eventually(lambda: users(other, name, token()) == ["u1"], 10)
        with one.client(token=token("u3")) as third:
            third.subscribe(name)
            tracked(third, name)
            seen, deadline = {id: "u1"}, 20
            while "u3" not in seen.values():
                data = watcher.receive(10)
                if data["event"] == "presence":
                    for gone in data["data"]["leaves"]:
                        del seen[gone["id"]]
                    seen |= {new["id"]: new["user"] for new in data["data"]["joins"]}
                deadline -= 1
                assert deadline
            assert sorted(seen.values()) == ["u1", "u3"]


def test_a_reconnect_flickers_at_most_once(pair, token):
    """The old connection leaves and the new one comes: one change or two, and nothing else."""
    name = topic()
    with pair[1].client(token=token("watcher")) as watcher:
        joined(watcher, name)
        client = pair[0].client(token=token("u1"))
        joined(client, name)
        tracked(client, name)
        changes(watcher, name, joins=["u1"])
        client.close()
        with pair[1].client(token=token("u1")) as client:
            joined(client, name)
            tracked(client, name)
            changes(watcher, name, joins=["u1"], leaves=["u1"])
            watcher.expect_nothing()


# Crowds


def test_a_crowd_costs_redis_and_its_members_little(pair, redis_here, token):
    """Each who came was told to everybody by a message of its own: a thousand would have been a million messages."""
    name, count = topic(), 40
    before = [gateway.metrics() for gateway in pair]
    clients = [pair[number % 2].client(token=token(f"u{number}")) for number in range(count)]
    try:
        joined(clients[0], name)
        for client in clients[1:]:
            client.send("subscribe", {"topic": name})
        for client in clients[1:]:
            client.expect("subscribed")
        for client in clients:
            client.send("track", {"topic": name}, ref="t")
        told = set()
        messages = 0
        while len(told) < count:
            message = clients[0].receive()
            if message["event"] == "presence":
                messages += 1
                told |= {one["user"] for one in message["data"]["joins"]}
        assert messages <= count // 2, messages
        assert listed(pair[0], name, token()).json()["total"] == count
        writes = sum(gateway.metric("switchboard_presence_writes_total") for gateway in pair)
        assert writes - sum(one.value("switchboard_presence_writes_total") for one in before) <= count // 2
        first = listed(pair[1], name, token(), limit=30).json()
        rest = listed(pair[1], name, token(), limit=30, after=first["next"]).json()
        assert (len(first["members"]), len(rest["members"]), rest["next"]) == (30, 10, None)
        ids = [one["id"] for one in first["members"] + rest["members"]]
        assert ids == sorted(ids) and len(set(ids)) == count
        with pair[0].client(token=token("one-more")) as client:
            client.subscribe(name)
            client.send("track", {"topic": name}, ref=1)
            while (message := client.receive()).get("ref") != 1:
                pass
            assert message["data"]["code"] == "too_large"
            client.send("untrack", {"topic": name}, ref=2)
            assert client.receive()["event"] == "ack"
    finally:
        for client in clients:
            client.close()
    eventually(lambda: listed(pair[0], name, token()).json()["total"] == 0)
