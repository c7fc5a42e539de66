"""A Redis Cluster of three masters and three replicas: delivery, commands and queue, and what a slot's move costs."""

import contextlib
import subprocess
import threading

import pytest
import redis
from redis.crc import key_slot

from Fixtures.clients.tokens import SECRET
from Fixtures.processes.gateway import Gateway, command
from Fixtures.processes.node import ENVIRONMENT
from Fixtures.processes.worker import Worker
from Fixtures.redis.cluster import SLOTS
from Fixtures.redis.waiting import until
from Fixtures.waiting import eventually
from placement import Placement

LIMITS = {"redisProbeMs": 500}


@pytest.fixture(scope="module")
def nodes(tmp_path_factory, cluster, certificate):
    """Two gateways: what one publishes, clients of the other hear. The second one needs no more than a part."""
    nodes = [Gateway(tmp_path_factory.mktemp("gateway"), cluster.url, certificate, SECRET, "--shards", "1", *more,
                     limits=LIMITS) for more in ([], ["--ready-partial"])]
    try:
        for node in nodes:
            node.start()
        for node in nodes:
            node.wait_ready()
        yield nodes
    finally:
        for node in nodes:
            node.stop()


@pytest.fixture
def gw(nodes):
    yield nodes[0]
    assert nodes[0].process.poll() is None, nodes[0].log_text[-4000:]


def ids_of_every_master(cluster, count=2, head="m"):
    """Ids whose topics lie on each of the masters, so many on each."""
    found = {}
    for number in range(1_000):
        node = cluster.owner_of_slot(key_slot(f"{head}{number}".encode()))
        found.setdefault(node.port, []).append(f"{head}{number}")
        if len(found) == 3 and all(len(ids) >= count for ids in found.values()):
            return [id for ids in found.values() for id in ids[:count]]
    raise AssertionError("no ids for a master")


def test_events_of_every_master_come_through_any_gateway_and_are_recovered(cluster, nodes):
    for id in ids_of_every_master(cluster):
        topic = f"shop:{id}"
        with nodes[0].client() as client:
            epoch = client.subscribe(topic)["epoch"]
            nodes[1].publish(topic, "e", {"n": 1}, id="one")
            client.expect("e", topic=topic, offset=1, data={"n": 1})
            again = nodes[0].publish(topic, "e", {"n": 1}, id="one")
            assert again["offset"] == 1 and again["duplicate"] is True
        nodes[1].publish(topic, "e", {"n": 2})
        with nodes[1].client() as client:
            assert client.subscribe(topic, {"epoch": epoch, "offset": 1})["recovered"] is True
            client.expect("e", topic=topic, offset=2, data={"n": 2})
            client.expect_nothing()


def test_masters_that_are_slow_to_say_who_they_are_are_used_all_the_same(tmp_path, cluster, certificate):
    """Once a master whose first answer came too late was left for good, and the gateway never became ready."""
    for node in cluster.masters():
        with node.client() as client:
            client.script_flush()
    gateway = Gateway(tmp_path, cluster.url, certificate, SECRET, "--shards", "1", limits=LIMITS | {"redisCallMs": 10})
    gateway.start()
    try:
        gateway.wait_ready(20)
    finally:
        gateway.stop()


def test_each_master_is_told_with_its_slots_and_its_load(cluster, gw):
    masters = {f"127.0.0.1:{node.port}" for node in cluster.masters()}
    page = gw.metrics()
    for name in ("", "_ready", "_slots"):
        assert page.label_values(f"switchboard_redis_master{name}", "address") == masters
    assert page.value("switchboard_redis_master_ready") == 3
    assert page.value("switchboard_redis_master_slots") == SLOTS
    for address in masters:
        assert page.value("switchboard_redis_master_slots", address=address) > 0
        assert page.value("switchboard_redis_master_commands_total", address=address) > 0
    assert page.value("switchboard_redis_commands_total") >= page.value("switchboard_redis_master_commands_total")


def test_no_key_channel_or_call_of_a_slot_is_on_another_master(cluster, nodes):
    """A master refuses what is of another's slot before MONITOR shows it, so what they refuse is counted, too."""
    # A topic that another test has had may be subscribed to still, and no link would say so.
    topics = [f"shop:{id}" for id in ids_of_every_master(cluster, head="placed")]
    placement = Placement(cluster)
    with nodes[0].client() as client, placement.watch():
        for topic in topics:
            client.subscribe(topic)
            nodes[1].publish(topic, "e", {"n": 1}, id="x")
            client.expect("e", topic=topic)
        placement.scan()
    assert placement.found.wrong() == []
    assert placement.found.keys > len(topics) <= placement.found.channels and placement.found.links >= 9
    with placement.watch(), cluster.masters()[0].client() as client:
        for topic in topics:
            with contextlib.suppress(redis.ResponseError):
                client.get(f"{topic.replace(':', ':{')}}}#meta")
    assert placement.found.wrong() == ["4 calls were redirected"]


def test_votes_and_the_queue_go_on_with_a_worker(tmp_path, cluster, gw):
    worker = Worker(tmp_path / "worker", cluster.url).start()
    try:
        with gw.client() as client, gw.http() as http:
            for id in ids_of_every_master(cluster, 1):
                client.subscribe(f"shop:{id}")
                command(http, "create_booking", shopId=id, bookingId="b1", userId="u1", tier="standard")
                command(http, "move_booking", shopId=id, bookingId="b1", status="confirmed")
                lengths = []
                while 1 not in lengths:
                    message = client.receive()
                    if message["event"] == "queue:update":
                        lengths.append(message["data"]["queueLength"])
            client.subscribe("challenge:c")
            command(http, "add_points", challengeId="c", userId="ada", points=5)
            assert command(http, "rank", challengeId="c", userId="ada")["rank"] == 1
    finally:
        worker.stop()


class Publisher(threading.Thread):
    """Publishes numbers with ids on one topic, each again until it is answered."""

    def __init__(self, gateway, topic):
        super().__init__(daemon=True)
        self.gateway, self.topic = gateway, topic
        self.ending = threading.Event()
        self.answered = []
        self.failure = None

    def run(self):
        try:
            with self.gateway.http() as http:
                while not self.ending.wait(0.005):
                    number = len(self.answered)
                    body = {"topic": self.topic, "event": "n", "data": {"n": number}, "id": f"id-{number}"}
                    response = http.post("/v1/broadcast", json=body)
                    if response.status_code == 200:
                        answer = response.json()
                        self.answered.append((answer["epoch"], answer["offset"]))
                    else:
                        assert response.status_code == 503, response.text
        except BaseException as failure:
            self.failure = failure

    def finish(self):
        self.ending.set()
        self.join(30)
        assert self.failure is None and not self.is_alive(), self.failure


def heard(client, epoch, until):
    """Epochs, offsets and numbers that the client was told, up to the position; a reset begins another epoch."""
    events = []
    while True:
        message = client.receive(10)
        if message["event"] == "gap":
            epoch = message["data"]["epoch"]
            continue
        events.append((epoch, message["offset"], message["data"]["n"]))
        if (epoch, message["offset"]) == until:
            return events


def masters_judged(gateway):
    """How many masters followed another with all epochs, and without."""
    return tuple(gateway.metric("switchboard_redis_master_changes_total", epochs=epochs)
                 for epochs in ("kept", "reset"))


def move(cluster, nodes, slot, source):
    cluster.move(slot, next(node for node in cluster.masters() if node is not source))


def fail_over(cluster, nodes, slot, source):
    cluster.fail_over(source)


def kill(cluster, nodes, slot, source):
    """While it is dead the gateways are not ready, but for the one that is told that a part is enough."""
    source.kill()
    address = f"127.0.0.1:{source.port}"
    whole, partial = nodes
    eventually(lambda: whole.ops("/readyz").status_code == 503, 10, "the dead master")
    eventually(lambda: partial.ops("/readyz").json()["status"] == "partly ready", 10, "the other masters")
    told = partial.ops("/readyz")
    assert told.status_code == 200
    assert {one["part"].rsplit("@")[1] for one in told.json()["conditions"] if "@" in one["part"]} == {address}
    assert partial.metric("switchboard_redis_master_ready", address=address) == 0
    assert partial.metric("switchboard_redis_master_ready") == 2 and partial.metric("switchboard_ready") == 1
    until(lambda: cluster.owner_of_slot(slot, without=source) is not source, 30, "the dead master is replaced")


@pytest.mark.parametrize("changes, keeps", [([move], False), ([fail_over, fail_over], True), ([kill], False)],
                         ids=["move", "failover_and_back", "crash"])
def test_a_slot_goes_to_another_master_under_load_and_nothing_is_lost_in_silence(cluster, nodes, changes, keeps):
    """A CLUSTER FAILOVER is proven to lose nothing, by the old master itself; and the way back is, too."""
    change = changes[0].__name__
    topic, slot = f"shop:{change}", key_slot(change.encode())
    with nodes[0].client() as client:
        first = client.subscribe(topic)["epoch"]
        publisher = Publisher(nodes[1], topic)
        publisher.start()
        try:
            eventually(lambda: len(publisher.answered) > 20, 10, "publishes before")
            for number, make_change in enumerate(changes, 1):
                source = cluster.owner_of_slot(slot)
                make_change(cluster, nodes, slot, source)
                after = len(publisher.answered)
                eventually(lambda: len(publisher.answered) > after + 20, 15, "publishes after")
                assert cluster.owner_of_slot(slot, without=source) is not source
                if keeps:
                    eventually(lambda: [masters_judged(node) for node in nodes] == [(number, 0)] * 2, 10,
                               "each gateway has the proof")
        finally:
            publisher.finish()
        events = heard(client, first, publisher.answered[-1])
    assert ({epoch for epoch, _ in publisher.answered} == {first}) is keeps
    positions = [(epoch, offset) for epoch, offset, _ in events]
    assert len(set(positions)) == len(positions), "an event came twice"
    assert all(later == (epoch, offset + 1) or later[0] != epoch
               for (epoch, offset), later in zip(positions, positions[1:])), "a hole within an epoch"
    numbers = {n for _, _, n in events}
    # What the end of an epoch took from the client was told by the reset.
    last = events[-1][0]
    assert {n for n, (epoch, _) in enumerate(publisher.answered) if epoch == last} <= numbers
    for node in cluster.nodes:
        if node.process is None:
            node.start()
    until(lambda: all(cluster.is_well(node) for node in cluster.nodes), 30, "every node is well")
    for node in nodes:
        node.wait_ready(15)


def test_calls_wait_while_every_master_is_asked_again(cluster, gw):
    """A map in which all masters had other epochs left none that counted as usable: publishes were refused at once."""
    moved, *others = ids_of_every_master(cluster, head="w")
    stops, statuses = threading.Event(), []

    def publish():
        with gw.http() as http:
            while not stops.is_set():
                for id in others:
                    answer = http.post("/v1/broadcast", json={"topic": f"shop:{id}", "event": "e", "data": {}})
                    statuses.append(answer.status_code)

    threads = [threading.Thread(target=publish) for _ in range(4)]
    with gw.client() as client:
        client.subscribe(f"shop:{moved}")
        for thread in threads:
            thread.start()
        try:
            for _ in range(8):
                for node in cluster.masters():
                    with node.client() as redis_client:
                        redis_client.execute_command("CLUSTER", "BUMPEPOCH")
                until(cluster.agree, 10, "nodes that agree")
                slot = key_slot(moved.encode())
                move(cluster, [gw], slot, cluster.owner_of_slot(slot))
        finally:
            stops.set()
            for thread in threads:
                thread.join(30)
    assert len(statuses) > 200 and set(statuses) == {200}, {each: statuses.count(each) for each in set(statuses)}


def id_of_slot(slot):
    """An id whose topics lie in a slot."""
    return next(f"s{number}" for number in range(SLOTS * 100) if key_slot(f"s{number}".encode()) == slot)


def test_a_first_slot_that_goes_to_a_new_master_and_back_leaves_every_master_proven(cluster, nodes):
    """Masters are proven by their first slots. The old one gave up the channel that the new one had by then."""
    old, new = max(cluster.masters(), key=lambda node: node.id), cluster.add_master()
    # They are looked at in the order of their ids.
    while new.id > old.id:
        cluster.remove(new)
        new = cluster.add_master()
    first, second = [slot for slot, owner in enumerate(cluster.owners()) if owner is old][:2]
    topics = [f"shop:{id}" for id in (id_of_slot(first), id_of_slot(second), *ids_of_every_master(cluster, 1))]
    before = [masters_judged(node) for node in nodes]

    def proven(count):
        pages = [node.metrics() for node in nodes]
        return all(page.value("switchboard_redis_master_ready") == count for page in pages) and all(
            node.ops("/readyz").json()["status"] == "ready" for node in nodes)

    with nodes[0].client() as client:
        epochs = {topic: client.subscribe(topic)["epoch"] for topic in topics}
        for target, count in ((new, 4), (old, 3)):
            cluster.move(first, target)
            # The slot that moves begins new epochs, and no other one.
            gap = client.expect("gap", topic=topics[0], timeout=10)["data"]
            assert gap["reason"] == "reset" and gap["epoch"] != epochs[topics[0]]
            epochs[topics[0]] = gap["epoch"]
            eventually(lambda count=count: proven(count), 15, "every master is proven")
            for topic in topics:
                position = nodes[1].publish(topic, "e", {})
                assert position["epoch"] == epochs[topic]
                client.expect("e", topic=topic, offset=position["offset"])
        client.expect_nothing()
    cluster.remove(new)
    assert [masters_judged(node) for node in nodes] == before


def test_the_check_knows_the_masters_and_what_is_wrong_with_a_plain_address(cluster, gw):
    def check(url):
        flags = [flag for flag in gw.arguments if flag != str(gw.ready_path.absolute())]
        flags = [url if flag == cluster.url else "check" if flag == "gateway" else flag
                 for flag in flags if flag != "--ready-file"]
        return subprocess.run(flags, capture_output=True, text=True, timeout=30, env=ENVIRONMENT).stdout

    told = check(cluster.url)
    assert "Redis Cluster of 3 masters" in told and told.count(", a master of ") == 3, told
    # Each node loads its own file by its own users, replicas too.
    poor = [cluster.masters()[1], cluster.replica_of(cluster.masters()[0])]
    for node in poor:
        with node.client() as db:
            db.config_set("appendonly", "yes")
            db.execute_command("ACL", "SETUSER", "default", "-xgroup")
    told = check(cluster.url)
    for node in cluster.nodes:
        assert (f"127.0.0.1:{node.port}: a restart of Redis would lose" in told) is (node in poor), told
    for node in poor:
        with node.client() as db:
            db.execute_command("ACL", "SETUSER", "default", "+@all")
            db.config_set("appendonly", "no")
    # Where the mark of the layout lies, the first complaint is that these names are not those of a lone server.
    with cluster.masters()[0].client() as db:
        marked = cluster.owner_of_slot(db.execute_command("CLUSTER", "KEYSLOT", "#layout"))
    told = {node is marked: check(f"redis://127.0.0.1:{node.port}") for node in cluster.masters()}
    assert "redis+cluster://" in told[False] and "--redis-layout" in told[True]
