"""A private Redis Cluster for tests: three masters, each with a replica or without, on loopback ports of their own."""

import contextlib
import math
import re
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import redis
from redis.crc import key_slot

from Fixtures.redis.cluster_node import ClusterNode
from Fixtures.redis.waiting import until

SLOTS = 16_384
# Redis forgets a failover that an operator asked for after five seconds; one vote that came late costs eight.
FAILOVER_SECONDS, FAILOVERS_SECONDS_MAX = 6, 40


def tagged(name: str) -> str:
    """The name on a Cluster of a key that is `namespace:id#facet` on one server."""
    return re.sub(r"^([a-z0-9-]+):([^#]*)", r"\1:{\2}", name)


class PlainNames(redis.RedisCluster):
    """A client of all masters that takes the names of one server."""

    def execute_command(self, name, *words, **options):
        """Calls a command whose first word is its key."""
        return super().execute_command(name, *map(tagged, words[:1]), *words[1:], **options)


class RedisCluster:
    """Starts the nodes and makes a cluster of them, each slot with a master."""

    def __init__(self, directory: Path, *options: str, masters: int = 3, replicas: int = 1, timeout_ms: int = 2_000,
                 proxied: bool = False, certificate=None):
        self.directory, self.timeout_ms, self.options, self.proxied = Path(directory), timeout_ms, options, proxied
        self.certificate = certificate
        self.made = 0
        self.nodes = [self._node() for _ in range(masters * (1 + replicas))]
        self.count = masters

    def _node(self) -> ClusterNode:
        self.made += 1
        return ClusterNode(
            self.directory / f"node-{self.made - 1}", self.timeout_ms, *self.options, proxied=self.proxied,
            certificate=self.certificate)

    @property
    def url(self) -> str:
        """The address as `--redis` takes it: the first two nodes, which know the others."""
        return f"redis+cluster://{self.hosts}"

    @property
    def hosts(self) -> str:
        """The nodes that a URL names."""
        return ",".join(f"127.0.0.1:{node.public_port}" for node in self.nodes[:2])

    def client(self) -> PlainNames:
        """A client for tests that know one server; replies are bytes."""
        return PlainNames(host="127.0.0.1", port=self.nodes[0].port)

    def start(self) -> "RedisCluster":
        """Starts the nodes and waits until every slot is served and every replica follows."""
        for node in self.nodes:
            for door in node.doors:
                door.__enter__()
        with ThreadPoolExecutor() as pool:
            list(pool.map(lambda node: node.start(), self.nodes))
        first = self.nodes[0]
        for place, node in enumerate(self.nodes):
            with node.client() as client:
                node.id = client.execute_command("CLUSTER", "MYID").decode()
                if place < self.count:
                    begin, end = SLOTS * place // self.count, SLOTS * (place + 1) // self.count - 1
                    client.execute_command("CLUSTER", "ADDSLOTSRANGE", begin, end)
                    client.execute_command("CLUSTER", "SET-CONFIG-EPOCH", place + 1)
                if node is not first:
                    self._meet(client, first)
        until(lambda: all(len(self._known(node)) == len(self.nodes) for node in self.nodes))
        for place, node in enumerate(self.nodes[self.count:]):
            with node.client() as client:
                client.execute_command("CLUSTER", "REPLICATE", self.nodes[place % self.count].id)
        until(lambda: all(self.is_well(node) for node in self.nodes))
        return self

    @staticmethod
    def _meet(client, other: ClusterNode) -> None:
        client.execute_command("CLUSTER", "MEET", "127.0.0.1", other.public_port, other.bus_port)

    def stop(self) -> None:
        """Kills every node: nothing of them is needed any more."""
        for node in self.nodes:
            node.kill()
            self._close(node)

    @staticmethod
    def _close(node: ClusterNode) -> None:
        for door in node.doors:
            door.__exit__()
        node.door = node.bus_door = None

    @staticmethod
    def _known(node: ClusterNode) -> list:
        with node.client() as client:
            return client.execute_command("CLUSTER", "NODES").splitlines()

    @staticmethod
    def is_well(node: ClusterNode) -> bool:
        """Whether a node sees a whole cluster, and as a replica is in step."""
        with node.client() as client:
            state = client.execute_command("CLUSTER", "INFO")
            text = state if isinstance(state, dict) else dict(
                line.split(":", 1) for line in state.decode().split("\r\n") if ":" in line)
            replication = client.info("replication")
            return text["cluster_state"] == "ok" and text["cluster_slots_ok"] == str(SLOTS) and (
                replication["role"] == "master" or replication["master_link_status"] == "up")

    def owner(self, name: str) -> ClusterNode:
        """The master of the slot of a name, as a node that lives says."""
        return self.owner_of_slot(key_slot(name.encode()))

    def owner_of_slot(self, slot: int, without: ClusterNode = None) -> ClusterNode:
        """The master of a slot, as a node that lives says, which is not `without`."""
        owner = self.owners(without)[slot]
        assert owner is not None, f"nobody has slot {slot}"
        return owner

    def owners(self, without: ClusterNode = None) -> list:
        """The master of each slot, as a node that lives says, which is not `without`; `None` where nobody has it."""
        for node in self.nodes:
            if node is without or node.process is None or node.process.poll() is not None:
                continue
            found, by_id = [None] * SLOTS, {node.id: node for node in self.nodes}
            with node.client() as client:
                for begin, end, master, *_ in client.execute_command("CLUSTER", "SLOTS"):
                    count = int(end) - int(begin) + 1
                    found[int(begin):int(end) + 1] = [by_id.get(master[2].decode())] * count
            return found
        raise AssertionError("no node lives")

    def masters(self) -> list:
        """The masters that live."""
        found = []
        for node in self.nodes:
            if node.process is not None and node.process.poll() is None:
                with node.client() as client:
                    if client.info("replication")["role"] == "master":
                        found.append(node)
        return found

    def replica_of(self, master: ClusterNode) -> ClusterNode:
        """A replica of a master, once there is one: after a failover the old master is, some time later."""
        def found():
            for node in self.nodes:
                if node is not master and node.process is not None and node.process.poll() is None:
                    with node.client() as client:
                        facts = client.info("replication")
                        if facts["role"] == "slave" and facts["master_port"] == master.public_port:
                            return node
            return None
        return until(found, what="a replica of the master")

    def move(self, slot: int, target: ClusterNode, during=lambda: None) -> None:
        """Moves a slot as `redis-cli --cluster reshard` does; `during` runs while half of its keys have gone."""
        source = self.owner_of_slot(slot)
        with source.client() as old, target.client() as new:
            new.execute_command("CLUSTER", "SETSLOT", slot, "IMPORTING", source.id)
            old.execute_command("CLUSTER", "SETSLOT", slot, "MIGRATING", target.id)
            keys = old.execute_command("CLUSTER", "GETKEYSINSLOT", slot, 10_000)
            for half in (keys[: len(keys) // 2], keys[len(keys) // 2:]):
                if half:
                    old.execute_command("MIGRATE", "127.0.0.1", target.port, "", 0, 5_000, "KEYS", *half)
                during()
            # Keys that were made meanwhile.
            while rest := old.execute_command("CLUSTER", "GETKEYSINSLOT", slot, 10_000):
                old.execute_command("MIGRATE", "127.0.0.1", target.port, "", 0, 5_000, "KEYS", *rest)
            new.execute_command("CLUSTER", "SETSLOT", slot, "NODE", target.id)
            self._tell_source(old, slot, target)
        # The source may seem to be a master still.
        for node in self.masters():
            if node is not source:
                with node.client() as client:
                    client.execute_command("CLUSTER", "SETSLOT", slot, "NODE", target.id)
        until(self.agree, what="nodes that agree")

    def agree(self) -> bool:
        """Whether all nodes say the same of all masters, whose claims differ in age.

        Redis numbers a claim without asking others. Two masters that got slots within milliseconds may take the same
        number, and a slot may then be left to nobody: an operator's tool is slower.
        """
        told = set()
        for node in self.nodes:
            masters = []
            for line in self._known(node):
                fields = line.split()
                if b"master" in fields[2] and b"fail" not in fields[2]:
                    masters.append((fields[0], fields[6], *(field for field in fields[8:] if field[:1] != b"[")))
            told.add(tuple(sorted(masters)))
        epochs = [epoch for _, epoch, *slots in masters if slots]
        return len(told) == 1 and len(set(epochs)) == len(epochs)

    def hand_over(self, slots, source: ClusterNode, target: ClusterNode) -> None:
        """Moves slots from one master to another, one after the other, as `redis-cli --cluster rebalance` does."""
        with contextlib.ExitStack() as links:
            old, new, *others = [
                links.enter_context(node.client())
                for node in (source, target, *(one for one in self.masters() if one not in (source, target)))]
            for slot in slots:
                new.execute_command("CLUSTER", "SETSLOT", slot, "IMPORTING", source.id)
                old.execute_command("CLUSTER", "SETSLOT", slot, "MIGRATING", target.id)
                while keys := old.execute_command("CLUSTER", "GETKEYSINSLOT", slot, 100):
                    old.execute_command("MIGRATE", "127.0.0.1", target.port, "", 0, 5_000, "KEYS", *keys)
                new.execute_command("CLUSTER", "SETSLOT", slot, "NODE", target.id)
                self._tell_source(old, slot, target)
                for link in others:
                    link.execute_command("CLUSTER", "SETSLOT", slot, "NODE", target.id)
        until(self.agree, what="nodes that agree")

    @staticmethod
    def _tell_source(source, slot: int, target: ClusterNode) -> None:
        """Tells the master that a slot leaves who has it now, by a client of that master.

        The target has told it already, perhaps. If that was its last slot, it has become a replica then and refuses.
        """
        try:
            source.execute_command("CLUSTER", "SETSLOT", slot, "NODE", target.id)
        except redis.ResponseError as error:
            if "only with masters" not in str(error):
                raise

    def add_master(self) -> ClusterNode:
        """Starts another node and makes it a master without slots, which all others know."""
        node = self._node()
        for door in node.doors:
            door.__enter__()
        node.start()
        with node.client() as client:
            node.id = client.execute_command("CLUSTER", "MYID").decode()
            self._meet(client, self.nodes[0])
        self.nodes.append(node)
        until(lambda: all(self._knows(one, node) for one in self.nodes), what="a new master that everybody knows")
        # Until it has heard of all slots it takes no keys.
        until(lambda: self.is_well(node), what="a new master that serves")
        return node

    def _knows(self, one: ClusterNode, other: ClusterNode) -> bool:
        lines = [line for line in self._known(one) if line.startswith(other.id.encode())]
        return bool(lines) and b"handshake" not in lines[0]

    def remove(self, node: ClusterNode) -> None:
        """Takes a node without slots out, and ends it."""
        self.nodes.remove(node)
        for other in self.nodes:
            with other.client() as client:
                client.execute_command("CLUSTER", "FORGET", node.id)
        node.kill()
        self._close(node)

    def fail_over(self, master: ClusterNode) -> ClusterNode:
        """Hands a master's slots to its replica in good order; returns the new master.

        Redis gives a failover up after five seconds, when the replica is behind or a vote came late, and an operator
        asks again. What began with the one before then counts no more.
        """
        replica = self.replica_of(master)
        until(lambda: self.is_well(replica), what="a replica in step")
        until(lambda: self._all_know(replica, master), what="masters that know whom they vote for")
        asked = -math.inf

        def is_master() -> bool:
            nonlocal asked
            with replica.client() as client:
                if client.info("replication")["role"] == "master":
                    return True
                if time.monotonic() >= asked + FAILOVER_SECONDS:
                    client.execute_command("CLUSTER", "FAILOVER")
                    asked = time.monotonic()
            return False

        until(is_master, FAILOVERS_SECONDS_MAX, "a failover")
        return replica

    def _all_know(self, replica: ClusterNode, master: ClusterNode) -> bool:
        """Whether every node says the same of all masters, and that the replica is that master's."""
        for node in self.nodes:
            lines = [line.split() for line in self._known(node)]
            if [replica.id.encode(), master.id.encode()] not in [[fields[0], fields[3]] for fields in lines]:
                return False
        return self.agree()
