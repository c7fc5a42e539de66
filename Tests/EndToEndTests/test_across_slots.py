"""On a Redis Cluster: epochs and couriers, whose keys lie on several masters."""

import base64
import json
import secrets
import subprocess

import pytest
from redis.crc import key_slot

from courier_process import CourierProcess
from gateway_process import Gateway, command
from node_process import BINARY, ENVIRONMENT
from support.outside import Answer, OutsideServer
from support.redis_cluster import RedisCluster
from test_courier_services import Spotify, settings
from tokens import SECRET
from waiting import eventually
from worker_process import Worker


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    cluster = RedisCluster(tmp_path_factory.mktemp("cluster")).start()
    yield cluster
    cluster.stop()


@pytest.fixture(scope="module")
def gw(tmp_path_factory, cluster, certificate):
    """A gateway, and a worker that does not switch keyspace events on."""
    directory = tmp_path_factory.mktemp("across")
    node = Gateway(directory / "gateway", cluster.url, certificate, SECRET, "--shards", "1")
    worker = Worker(directory / "worker", cluster.url, "--keyspace-events", "never")
    try:
        node.start().wait_ready(30)
        worker.start()
        yield node
    finally:
        worker.stop()
        node.stop()


def of_every_master(cluster, head, count):
    """Ids of which each master has so many."""
    found = {}
    for number in range(1_000):
        ids = found.setdefault(cluster.owner_of_slot(key_slot(f"{head}{number}".encode())).port, [])
        if len(ids) < count:
            ids.append(f"{head}{number}")
        if len(found) == 3 and all(len(ids) == count for ids in found.values()):
            return [id for ids in zip(*found.values()) for id in ids]
    raise AssertionError("no ids for a master")


def reset(cluster, *more):
    done = subprocess.run([str(BINARY), "reset-epochs", "--redis", cluster.url, *more], capture_output=True, text=True,
                          timeout=60, env=ENVIRONMENT)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.strip()


def test_epochs_end_on_every_master(cluster, gw):
    topics = [f"shop:{id}" for id in of_every_master(cluster, "e", 2)]
    with gw.client() as client:
        epochs = {topic: client.subscribe(topic)["epoch"] for topic in topics}
        assert reset(cluster, "--dry-run", *topics) == "topics: 6 to reset, 0 reset before, 0 refused"
        client.expect_nothing()
        assert reset(cluster, *topics) == "topics: 6 reset, 0 reset before, 0 refused"
        gaps = [client.expect("gap") for _ in topics]
        assert {gap["topic"]: gap["data"]["reason"] for gap in gaps} == dict.fromkeys(topics, "reset")
        assert all(gap["data"]["epoch"] != epochs[gap["topic"]] for gap in gaps)
        assert reset(cluster, *topics) == "topics: 0 reset, 6 reset before, 0 refused"
        client.expect_nothing()


class Receiver:
    """Takes every webhook, and says what it was told, by topic."""

    def __init__(self):
        self.told = {}

    def __call__(self, asked) -> Answer:
        event = json.loads(asked.body)
        self.told.setdefault(event["topic"], []).append(event["offset"])
        return Answer(204)


@pytest.fixture(scope="module")
def courier(tmp_path_factory, cluster, certificate):
    """A courier that asks Spotify, and sends orders; it looks through all logs every five minutes alone."""
    directory = tmp_path_factory.mktemp("courier")
    receiver = Receiver()
    (directory / "secret").write_bytes(b"whsec_" + base64.b64encode(secrets.token_bytes(24)) + b"\n")
    with OutsideServer(certificate, Spotify()) as spotify, OutsideServer(certificate, receiver) as hooks:
        config = settings(directory, spotify.url) | {"webhooks": {"kitchen": {
            "url": hooks.url + "/hook", "secret-file": str(directory / "secret"), "topics": ["order:*"]}}}
        one = CourierProcess(directory, cluster.url, certificate, config).start()
        one.receiver = receiver
        yield one
        one.stop()


def test_webhooks_tell_events_of_every_master_in_order(cluster, gw, courier):
    """The worker here does not switch keyspace events on: the courier does what it needs."""
    orders = [f"order:{id}" for id in of_every_master(cluster, "o", 2)]
    for _ in range(5):
        for order in orders:
            gw.publish(order, "status")
    for order in orders:
        eventually(lambda order=order: courier.receiver.told.get(order) == [1, 2, 3, 4, 5], 10, f"all of {order}")
    source = cluster.owner_of_slot(key_slot(orders[0].removeprefix("order:").encode()))
    cluster.fail_over(source)
    with gw.http() as http:
        body = {"topic": orders[0], "event": "status", "data": {}, "id": "after"}
        eventually(lambda: http.post("/v1/broadcast", json=body).status_code == 200, 15, "the new master")
    eventually(lambda: len(courier.receiver.told[orders[0]]) > 5, 15, "the first event of the new master")


def test_a_script_has_spotify_asked(cluster, gw, courier):
    with gw.http() as http:
        for shop in of_every_master(cluster, "t", 1):
            command(http, "set_barber", shopId=shop, barberId="b1", active=True)
            command(http, "check_in", shopId=shop, userId="ann")
            command(http, "start_session", shopId=shop)
            command(http, "add_track", shopId=shop, userId="ann", trackId="track7")
            eventually(lambda shop=shop: "Blue" in json.dumps(command(http, "dj", shopId=shop)), 15, "its title")
