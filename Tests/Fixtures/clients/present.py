"""Topics with presence: two gateways that share them, and what their clients say and hear."""

import itertools
import weakref

import pytest

from Fixtures.clients.tokens import SECRET
from Fixtures.processes.gateway import Gateway
from Fixtures.redis.server import RedisServer

# A gateway that dies is noticed after presenceNodeMs, and told at its next beat.
LIMITS = {"presenceBeatMs": 200, "presenceNodeMs": 1_500, "presenceDiffMs": 100, "presenceMembersMax": 40,
          "presenceMetaBytesMax": 100, "presenceTopicsMax": 3, "presencePerUserMax": 4}
GONE_SECONDS_MAX = 8
CONFIG = {"namespaces": {
    "room": {"subscribe": "user", "publish": "user", "presence": True},
    "lobby": {"subscribe": "anyone", "publish": "anyone", "presence": True},
    "board": {"subscribe": "anyone", "publish": "user", "presence": True},
    "conversation": {"presence": True}}}

names = itertools.count(1)
kept = weakref.WeakKeyDictionary()


@pytest.fixture(scope="module")
def redis_here(tmp_path_factory):
    server = RedisServer(tmp_path_factory.mktemp("redis")).start()
    yield server
    server.stop()


@pytest.fixture(scope="module")
def pair(tmp_path_factory, redis_here, certificate):
    """Two gateways that share topics with presence."""
    nodes = []
    for number in (1, 2):
        gateway = Gateway(tmp_path_factory.mktemp(f"gateway-{number}"), redis_here.url, certificate, SECRET,
                          limits=LIMITS, config=CONFIG)
        nodes.append(gateway.start())
    yield [gateway.wait_ready() for gateway in nodes]
    for gateway in nodes:
        gateway.stop()


def topic(namespace="room"):
    return f"{namespace}:presence-{next(names)}"


def joined(client, name):
    """Subscribes and returns the members told."""
    message = client.request("subscribe", {"topic": name, "presence": True})
    assert message["event"] == "subscribed", message
    told = client.expect("presence", topic=name)
    return told["data"]["members"]


def tracked(client, name, /, **meta):
    """Is listed; returns the id."""
    ref = f"track-{next(names)}"
    client.send("track", {"topic": name, "meta": meta}, ref=ref)
    return answered(client, ref)["data"]["id"]


def not_tracked(client, name, code, /, **meta):
    """Is refused; returns what the refusal says."""
    ref = f"track-{next(names)}"
    client.send("track", {"topic": name, "meta": meta}, ref=ref)
    refused = answered(client, ref, "error")["data"]
    assert refused["code"] == code, refused
    return refused["message"]


def answered(client, ref, event="ack"):
    """The answer to that request. Changes that are told before it are kept for `change`."""
    while (message := client.receive()).get("ref") != ref:
        assert message["event"] == "presence", message
        if "joins" in message["data"]:
            kept.setdefault(client, []).append(message)
    assert message["event"] == event, message
    return message


def change(client, name):
    """The topic's next change: joins, updates and leaves, each by user or key. Topics come in any order."""
    early = kept.setdefault(client, [])
    while (message := next((one for one in early if one["topic"] == name), None)) is None:
        early.append(client.expect("presence", timeout=10))
    early.remove(message)
    data = message["data"]
    return tuple(sorted(one["user"] or one["key"] for one in data[part]) for part in ("joins", "updates", "leaves"))


def changes(client, name, joins=(), leaves=()):
    """Takes changes until these have come, and nothing else."""
    wanted, came = (set(joins), set(leaves)), (set(), set())
    while came != wanted:
        new, updates, gone = change(client, name)
        assert not updates and not came[0] & set(new) and not came[1] & set(gone), "each is told once"
        came = (came[0] | set(new), came[1] | set(gone))
        assert came[0] <= wanted[0] and came[1] <= wanted[1], came


def listed(gateway, name, token=None, **query):
    with gateway.http(token) as http:
        return http.get(f"/v1/topics/{name}/presence", params=query)


def users(gateway, name, token):
    page = listed(gateway, name, token).json()
    assert page["total"] == len(page["members"])
    return sorted(one["user"] for one in page["members"])
