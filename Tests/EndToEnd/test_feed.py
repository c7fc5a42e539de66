"""A post is published once and reaches every live follower on their own topic, at a cost that no follower adds to."""

import asyncio
import itertools
import json
from functools import partial

import pytest
from websockets.asyncio.client import connect

from Fixtures.processes.gateway import command
from Fixtures.waiting import eventually

FOLLOWERS, LIVE = 100_000, 200
LIMITS = {"userActionsPerSecond": 100_000, "connectsPerAddressPerSecond": 100_000,
          # Every command of Redis is counted here.
          "rightsPollMs": 86_400_000}


@pytest.fixture
def pair(gateway, server):
    return [gateway(server=server, limits=LIMITS) for _ in range(2)]


@pytest.fixture
def service(pair):
    with pair[0].http() as http:
        yield partial(command, http)


class Followers:
    """Live sessions, each on its user's own topic, spread over the gateways."""

    def __init__(self, gateways, users, token):
        self.gateways, self.users, self.token = gateways, users, token

    async def __aenter__(self):
        async def one(user, gateway):
            host, port = gateway.address()
            connection = await connect(
                f"wss://{host}:{port}/ws", ssl=gateway.certificate.trusting_context(), compression=None, proxy=None,
                additional_headers=[("Authorization", f"Bearer {self.token(user)}")], ping_interval=None,
                open_timeout=20, close_timeout=2)
            await connection.send(json.dumps({"event": "subscribe", "data": {"topic": f"user:{user}"}}))
            assert json.loads(await connection.recv())["event"] == "subscribed"
            return connection

        self.connections = await asyncio.gather(*map(one, self.users, itertools.cycle(self.gateways)))
        return self

    async def __aexit__(self, *_):
        await asyncio.gather(*(connection.close() for connection in self.connections))

    async def next(self, seconds_max=10):
        """The next message of each."""
        async with asyncio.timeout(seconds_max):
            return [json.loads(await connection.recv()) for connection in self.connections]

    async def expect_nothing(self):
        """Nothing waits before the answer to a ping."""
        for connection in self.connections:
            await connection.send('{"event":"ping","ref":"nothing"}')
        assert {message["event"] for message in await self.next()} == {"pong"}


def redis_work(db, act):
    """How often each Redis command ran meanwhile, the gateways' own probes left out."""
    db.config_resetstat()
    act()
    own = {"config|resetstat", "info", "ping", "client|setname", "hello"}
    return {name.removeprefix("cmdstat_"): figures["calls"]
            for name, figures in db.info("commandstats").items() if name.removeprefix("cmdstat_") not in own}


def test_one_publish_reaches_every_live_follower(pair, service, token, server):
    with server.client() as db:
        with db.pipeline(transaction=False) as many:
            for number in range(LIVE, FOLLOWERS):
                many.sadd(f"user:far-{number}#follows", "feed:star")
            many.execute()
        near = [f"near-{number}" for number in range(LIVE)]
        for user in near:
            service("follow", barberId="star", userId=user)
        for number in range(10):
            service("follow", barberId="novice", userId=f"far-{number}")

        async def play():
            async with Followers(pair, near, token) as followers:
                offset = int(db.hget("feed:star#meta", "offset") or 0)
                service("publish_post", barberId="star", post={"id": "p1", "text": "hello"})
                assert int(db.hget("feed:star#meta", "offset")) == offset + 2, "published once, with its update"
                updates = await followers.next()
                assert {message["event"] for message in updates} == {"feed_updates"}
                update = updates[0]["data"]
                assert update.pop("timestamp").endswith("Z")
                assert update == {"type": "new_post", "postId": "p1", "barberId": "star"}
                for user, message in zip(near, await followers.next()):
                    assert message == {"topic": f"user:{user}", "event": "feed:new_post",
                                       "data": {"id": "p1", "text": "hello", "barberId": "star"}}
                await followers.expect_nothing()

        asyncio.run(play())

        # Once more each, so that neither begins a log; then the third of each is compared.
        def publish(barber, id):
            return lambda: service("publish_post", barberId=barber, post={"id": id, "text": "hello"})

        work = {}
        for barber in ("star", "novice"):
            publish(barber, "p2")()
            # Probes of the gateways publish too: a publish more or less is theirs.
            samples = [redis_work(db, publish(barber, f"p{number}")) for number in range(3, 13)]
            least = {name: min(sample.get(name, 0) for sample in samples) for name in set().union(*samples)}
            # A command that only some samples have is somebody else's.
            work[barber] = {name: calls for name, calls in least.items() if calls > 0}
        print(f"Redis commands of a publish: {work['star']}")
        assert work["star"] == work["novice"]
        assert sum(work["star"].values()) < 18


def test_follow_and_unfollow_reach_the_live_session(pair, service, token):
    with pair[0].client(token=token("fan")) as client:
        client.subscribe("user:fan")
        client.send("follow", {"barberId": "b1"}, ref=1)
        # The answer and the event of the change come in any order.
        messages = [client.receive(), client.receive()]
        assert {message["event"] for message in messages} == {"ack", "follows:changed"}
        pair[1].publish("user:fan", "mark", {})
        client.expect("mark")

        def followed():
            with pair[0].http() as http:
                return http.get("/v1/topics/feed:b1").json()["subscribers"]["sessions"]

        eventually(lambda: followed() == 1)
        service("publish_post", barberId="b1", post={"id": "p1"})
        client.expect("feed_updates", topic="user:fan")
        client.expect("feed:new_post", topic="user:fan")
        service("unfollow", barberId="b1", userId="fan")
        client.expect("follows:changed")
        eventually(lambda: followed() == 0)
        service("publish_post", barberId="b1", post={"id": "p2"})
        client.expect_nothing()


def test_who_was_away_finds_the_posts(pair, service, token):
    service("follow", barberId="b2", userId="late")
    for number in range(3):
        service("publish_post", barberId="b2", post={"id": f"p{number}"})
    with pair[1].client(token=token("late")) as client:
        answer = client.request("feed", {})
        assert [post["id"] for post in answer["data"]["posts"]] == ["p2", "p1", "p0"]


def test_notifications_wait_and_are_read(pair, service, token):
    with pair[0].client(token=token("reader")) as live:
        live.subscribe("user:reader")
        sent = service("notify", userId="reader", type="hello", title="Hi", body="there", data={"n": 1})
        told = live.expect("notification", topic="user:reader")["data"]
        assert told["id"] == sent["id"] and told["type"] == "hello" and told["data"] == {"n": 1}
    with pair[1].client(token=token("reader")) as client:
        page = client.request("notifications", {})["data"]
        assert [item["id"] for item in page["notifications"]] == [sent["id"]] and page["unread"] == 1
        assert client.request("mark_read", {"ids": [sent["id"]]})["data"]["unread"] == 0
        assert client.request("notifications", {})["data"]["notifications"][0]["read"] is True


def test_posts_with_many_values_are_answered(pair, service, token):
    """Four posts of 3,000 values made every look into the feed a 500 for a week: answers had the bound of inputs."""
    service("follow", barberId="b3", userId="counter")
    for number in range(5):
        service("publish_post", barberId="b3", post={"id": f"p{number}", "values": [1] * 3_000})
    with pair[1].client(token=token("counter")) as client:
        answer = client.request("feed", {})
        # A page ends before it has more values than an answer may have.
        assert [post["id"] for post in answer["data"]["posts"]] == ["p4", "p3"] and answer["data"]["more"] is True

