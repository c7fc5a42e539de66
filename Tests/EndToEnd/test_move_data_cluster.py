"""`switchboard move-data` to the masters of a Redis Cluster and back, killed at any moment; what clients find."""

import subprocess

import pytest
import redis
from redis.crc import key_slot

from EndToEnd.test_move_data import FOREIGN, ends, fill, move, tagged, values, words
from Fixtures.clients.tokens import SECRET
from Fixtures.processes.gateway import Gateway, command
from Fixtures.processes.node import ENVIRONMENT
from Fixtures.redis import outbox
from Fixtures.redis.cluster import RedisCluster
from Fixtures.waiting import eventually


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    cluster = RedisCluster(tmp_path_factory.mktemp("cluster"), masters=3, replicas=0).start()
    yield cluster
    cluster.stop()


@pytest.fixture
def copy(cluster):
    """A client of the whole Cluster, which is empty at the end."""
    with redis.RedisCluster(host="127.0.0.1", port=cluster.nodes[0].port) as every:
        yield every
        for node in cluster.nodes:
            with node.client() as client:
                client.flushall()


def calls(cluster):
    """Commands that all masters have run."""
    counts = []
    for node in cluster.nodes:
        with node.client() as client:
            counts.append(client.info("stats")["total_commands_processed"])
    return sum(counts)


def begun(source, cluster, count):
    """A move that has made so many calls of the Cluster; `None` when it had ended by then."""
    before = calls(cluster)
    process = subprocess.Popen(words(source, cluster, "tagged"), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               text=True, env=ENVIRONMENT)
    while calls(cluster) - before < count:
        if process.poll() is not None:
            process.communicate()
            return None
    return process


def test_keys_go_to_their_masters_and_back_however_often_it_is_killed(server, cluster, copy, rng):
    with server.client() as db:
        names = fill(db, rng, 1_000)
        before, lives = values(db, names), ends(db, names)
        for _ in range(4):
            if process := begun(server, cluster, rng.randrange(50, 3_000)):
                process.kill()
                process.communicate()
        if copy.get("#layout") != b"tagged":
            # Plain or not: names are tagged on a Cluster.
            said = move(server, cluster, "plain")[0]
            assert said.endswith(f", {len(names)} verified, {len(FOREIGN)} left that are not Switchboard's"), said
        assert values(copy, map(tagged, names)) == {tagged(name): held for name, held in before.items()}
        assert all((one < 0) == (two < 0) and abs(one - two) <= 30
                   for one, two in zip([copy.expiretime(tagged(name)) for name in names], lives))
        assert copy.get("#layout") == b"tagged" and values(db, names) == before
        sizes = []
        for node in cluster.nodes:
            with node.client() as client:
                sizes.append(client.dbsize())
        assert sum(sizes) == len(names) + 1 and min(sizes) > 200, sizes
        assert "has data of Switchboard already" in move(server, cluster, "tagged", code=1)[1]
        assert "are servers of one cluster" in move(cluster, cluster, "tagged", code=1)[1]
        db.flushall()
        move(cluster, server, "plain")
        assert values(db, names) == before and db.get("#layout") == b"plain"
        assert db.dbsize() == len(names) + 1


def test_a_master_that_dies_meanwhile_ends_the_move_and_what_it_lost_is_copied_again(server, cluster, copy, rng):
    with server.client() as db:
        names = fill(db, rng, 2_000)
        before = values(db, names)
        process = begun(server, cluster, 1_500)
        assert process, "it ended too early to be disturbed"
        # Its data are gone with it: it writes none to its disk. The mark lies elsewhere.
        dead = next(node for node in cluster.nodes if node is not cluster.owner("#layout"))
        dead.kill()
        told = process.communicate(timeout=60)[1]
        assert process.returncode == 1 and "run it again to go on" in told, told
        assert copy.get("#layout") == b"moving:tagged"
        dead.start()
        eventually(lambda: all(cluster.is_well(node) for node in cluster.nodes), 20, "the Cluster")
        move(server, cluster, "tagged")
        assert values(copy, map(tagged, names)) == {tagged(name): held for name, held in before.items()}


def test_clients_find_their_shops_on_the_cluster(server, tmp_path, certificate, cluster, copy, gateway, worker):
    """Queue, votes and tallies are there, and a position of the old server goes on."""
    shops = [f"s{number}" for number in range(6)]
    assert len({cluster.owner_of_slot(key_slot(shop.encode())).port for shop in shops}) == 3
    node, one = gateway(server=server), worker(server=server)
    before = {}
    with node.http() as http:
        for shop in shops:
            command(http, "set_barber", shopId=shop, barberId="b1", active=True)
            command(http, "check_in", shopId=shop, userId="ann")
            epoch = node.publish(f"shop:{shop}", "mark")["epoch"]
            before[shop] = epoch, http.get(f"/v1/shops/{shop}/queue").json()
        with server.client() as db:
            eventually(lambda: not outbox.waiting(db), 10, "the outbox")
    node.stop()
    one.stop()
    move(server, cluster, "tagged")
    node = Gateway(tmp_path / "there", cluster.url, certificate, SECRET, "--shards", "1")
    try:
        node.start().wait_ready(30)
        worker(url=cluster.url)
        with node.http() as http:
            for shop, (epoch, queue) in before.items():
                there = http.get(f"/v1/shops/{shop}/queue").json()
                assert there["currentlyServing"] == queue["currentlyServing"] == 1, there
                with node.client() as client:
                    answer = client.subscribe(f"shop:{shop}", {"epoch": epoch, "offset": 1})
                assert answer["recovered"] is True and answer["epoch"] == epoch
        # One master alone may know of the gateway: all are asked.
        with server.client() as db:
            db.flushall()
            assert "stop every gateway" in move(cluster, server, "tagged", code=1)[1]
            assert not db.dbsize()
    finally:
        node.stop()
