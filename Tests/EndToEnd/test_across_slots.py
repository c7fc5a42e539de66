"""On a Redis Cluster: feeds, foreign topics, replicas, epochs and couriers, whose keys lie on several masters."""

import base64
import json
import secrets
import signal
import subprocess

import pytest
import redis
from redis.crc import key_slot

from EndToEnd.test_courier_services import Spotify, settings
from Fixtures.apps.operator_scripts import script, write_scripts
from Fixtures.clients.tokens import SECRET
from Fixtures.outside.server import Answer, OutsideServer
from Fixtures.processes.courier import CourierProcess
from Fixtures.processes.gateway import Gateway, command
from Fixtures.processes.node import BINARY, ENVIRONMENT
from Fixtures.processes.worker import Worker
from Fixtures.waiting import eventually

# Tells two users at once; both lie elsewhere than the shop.
TELL = script(
    "tell_users", "for _, user in ipairs(args.users) do tell_now('user:' .. user, 'told', {n = args.n}) end return {}",
    arg=["shopId id", "users ids 1..20", "n int 0..1000"], topic=["shop:{shopId}", "user:*"])


@pytest.fixture(scope="module")
def gw(tmp_path_factory, cluster, certificate):
    """A gateway that answers when a replica has it."""
    directory = tmp_path_factory.mktemp("across")
    node = Gateway(directory / "gateway", cluster.url, certificate, SECRET, "--shards", "1", "--redis-wait", "1",
                   "--scripts", write_scripts(directory / "scripts", tell_users=TELL),
                   limits={"redisWaitMs": 1_500, "userRedisUsPerSecond": 1_000_000})
    worker = Worker(directory / "worker", cluster.url, "--keyspace-events", "never", scripts=directory / "scripts")
    try:
        node.start().wait_ready(30)
        worker.start()
        yield node
    finally:
        worker.stop()
        node.stop()


@pytest.fixture
def every(cluster):
    """A client of the whole Cluster."""
    with redis.RedisCluster(host="127.0.0.1", port=cluster.nodes[0].port) as client:
        yield client


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


def posts_of(every, barbers):
    """All posts as their logs have them, in the order of a feed: newest first, at one time by topic."""
    posts = []
    for barber in barbers:
        for entry, fields in every.xrange(f"feed:{{{barber}}}#log"):
            if fields[b"e"] == b"feed:new_post":
                offset = int(entry.split(b"-")[0])
                posts.append((-int(fields[b"t"]), f"feed:{barber}", -offset, json.loads(fields[b"d"])))
    return [post for *_, post in sorted(posts, key=lambda post: post[:3])]


def test_a_feed_has_the_posts_of_barbers_on_every_master(cluster, gw, every, token):
    barbers = of_every_master(cluster, "b", 3)
    with gw.http() as http, gw.client(token=token("fan")) as client:
        for barber in barbers:
            command(http, "follow", barberId=barber, userId="fan")
        # Others may have written there what is no topic, and what is no time.
        every.sadd("user:{fan}#follows", "feed:never", "feed:a\nb", "shop:1", b"\xff\x00", "feed:" + "x" * 300)
        every.hset("feed:{never}#latest", "no", "time")
        assert client.request("feed", {})["data"] == {"posts": [], "updates": [], "more": False}
        for number in range(12):
            command(http, "publish_post", barberId=barbers[number % 9], post={"id": f"p{number}"})
        # One wrote so much that one look into its log is too little.
        for number in range(30):
            command(http, "publish_post", barberId=barbers[4], post={"id": f"q{number}", "text": "t" * 100})
        command(http, "publish_post", barberId=barbers[2], post={"id": "last"})
        wanted = posts_of(every, barbers)
        assert len(wanted) == 43
        for limit in (1, 7, 20):
            data = client.request("feed", {"limit": limit})["data"]
            assert data["posts"] == wanted[:limit] and data["more"] is True
            assert [update["postId"] for update in data["updates"]] == [post["id"] for post in wanted[:limit]]
        # In a page that one barber does not fill alone each log is read as deep as the page goes.
        for number in range(16):
            command(http, "publish_post", barberId=barbers[number % 2], post={"id": f"r{number}"})
        assert client.request("feed", {})["data"]["posts"] == posts_of(every, barbers)[:20]


def test_a_feed_costs_its_caller_every_run_of_the_script(tmp_path, cluster, gw, certificate, every, token):
    """On one server the weight is one run's; here the script is run again for what it wants to read."""
    with gw.http() as http:
        for barber in of_every_master(cluster, "c", 2):
            command(http, "follow", barberId=barber, userId="poor")
            command(http, "publish_post", barberId=barber, post={"id": "p"})
    node = Gateway(tmp_path / "poor", cluster.url, certificate, SECRET, "--shards", "1",
                   limits={"userRedisUsPerSecond": 420})
    try:
        node.start().wait_ready()
        with node.client(token=token("poor")) as client:
            # Ten seconds' worth are two runs of the script.
            assert len(client.request("feed", {})["data"]["posts"]) == 6
            answer = client.request("feed", {})
            assert answer["event"] == "error" and answer["data"]["code"] == "rate_limited", answer
    finally:
        node.stop()


def test_users_elsewhere_are_told_at_once_in_their_order(cluster, gw, token):
    """SPUBLISH to another slot failed inside the script, and nobody was told."""
    users = of_every_master(cluster, "u", 2)
    clients = {user: gw.client(token=token(user)) for user in users}
    try:
        for user, client in clients.items():
            client.subscribe(f"user:{user}")
        with gw.http() as http:
            for number in range(20):
                command(http, "tell_users", shopId="teller", users=users, n=number)
        for user, client in clients.items():
            assert [client.expect("told", topic=f"user:{user}")["data"]["n"] for _ in range(20)] == list(range(20))
            client.expect_nothing()
    finally:
        for client in clients.values():
            client.close()


def test_what_is_acknowledged_is_on_a_replica_of_its_own_master(cluster, gw):
    """Another master's replica that stands still holds up nobody."""
    one, other = of_every_master(cluster, "w", 1)[:2]
    master = cluster.owner_of_slot(key_slot(one.encode()))
    replica = cluster.replica_of(master)
    with gw.http() as http, replica.client() as there:
        there.execute_command("READONLY")

        def publish(id, name):
            return http.post("/v1/broadcast", json={"topic": f"shop:{id}", "event": "e", "data": {}, "id": name})

        for number in range(1, 10):
            assert publish(one, f"op-{number}").status_code == 200
            # At this moment, with no time to catch up.
            assert there.hget(f"shop:{{{one}}}#meta", "offset") == str(number).encode()
        replica.signal(signal.SIGSTOP)
        try:
            refused = publish(one, "late")
            assert refused.status_code == 503 and "no replica is known to have it" in refused.text
            assert publish(other, "early").status_code == 200
        finally:
            replica.signal(signal.SIGCONT)
        again = eventually(lambda: (got := publish(one, "late")).status_code == 200 and got.json(), 15, "the replica")
        assert again["offset"] == 10 and again["duplicate"] is True


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


def carries(directory, spotify_url, hook_url) -> dict:
    """What is settled of a courier that asks Spotify, and sends orders."""
    (directory / "secret").write_bytes(b"whsec_" + base64.b64encode(secrets.token_bytes(24)) + b"\n")
    return settings(directory, spotify_url) | {"webhooks": {"kitchen": {
        "url": hook_url + "/hook", "secret-file": str(directory / "secret"), "topics": ["order:*"]}}}


def test_a_courier_that_only_checks_leaves_every_master_as_it_is(tmp_path, cluster, certificate):
    """A courier that sends webhooks switches keyspace events on, and writes down that it is there."""
    config = carries(tmp_path, "https://127.0.0.1:1", "https://127.0.0.1:1")
    one = CourierProcess(tmp_path / "check", cluster.url, certificate, config, "--only-check",
                         "--redis-prefix", "checked:")

    def events():
        told = []
        for node in cluster.masters():
            with node.client() as db:
                told.append(db.config_get("notify-keyspace-events"))
                assert list(db.scan_iter("*checked:*")) == []
        return told

    before = events()
    done = subprocess.run(one.arguments, capture_output=True, text=True, timeout=30, env=ENVIRONMENT)
    assert done.returncode == 0 and "ok: files, secrets and Redis" in done.stdout, done.stdout + done.stderr
    assert events() == before == [{"notify-keyspace-events": ""}] * 3


@pytest.fixture(scope="module")
def courier(tmp_path_factory, cluster, certificate):
    """A courier at work; it looks through all logs every five minutes alone."""
    directory = tmp_path_factory.mktemp("courier")
    receiver = Receiver()
    with OutsideServer(certificate, Spotify()) as spotify, OutsideServer(certificate, receiver) as hooks:
        config = carries(directory, spotify.url, hooks.url)
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
