"""A private Redis Cluster for tests: three masters, each with a replica or without, on loopback ports of their own."""

import socket
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import redis
from redis.crc import key_slot

from support.redis_server import RedisServer
from support.redis_waiting import until

SLOTS = 16_384
# The cluster's own port is the port and 10000, and must be a port, too.
BUS_OFFSET = 10_000


def _free_pair() -> int:
    """A port that is free, and so is the one that the bus of a node with it uses."""
    while True:
        with socket.socket() as probe, socket.socket() as bus:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
            if port + BUS_OFFSET > 65_535:
                port -= BUS_OFFSET
            try:
                if port != probe.getsockname()[1]:
                    probe.close()
                    with socket.socket() as other:
                        other.bind(("127.0.0.1", port))
                bus.bind(("127.0.0.1", port + BUS_OFFSET))
            except OSError:
                continue
            return port


class ClusterNode(RedisServer):
    """A node: a server with a port, which keeps its id, address and slots over a restart."""

    def __init__(self, directory: Path, timeout_ms: int, *options: str):
        super().__init__(
            directory, "--cluster-enabled", "yes", "--cluster-config-file", "nodes.conf", "--cluster-node-timeout",
            str(timeout_ms), "--repl-diskless-sync-delay", "0", "--cluster-require-full-coverage", "no", *options)
        self.port = _free_pair()
        self.id = ""

    def link(self) -> redis.Redis:
        """A client by the port; replies are bytes."""
        return redis.Redis(port=self.port)


class RedisCluster:
    """Starts the nodes and makes a cluster of them, each slot with a master."""

    def __init__(self, directory: Path, masters: int = 3, replicas: int = 1, timeout_ms: int = 2_000, *options: str):
        self.nodes = [
            ClusterNode(Path(directory) / f"node-{n}", timeout_ms, *options) for n in range(masters * (1 + replicas))]
        self.count = masters

    @property
    def url(self) -> str:
        """The address as `--redis` takes it: the first two nodes, which know the others."""
        return "redis+cluster://" + ",".join(f"127.0.0.1:{node.port}" for node in self.nodes[:2])

    def start(self) -> "RedisCluster":
        """Starts the nodes and waits until every slot is served and every replica follows."""
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
                    client.execute_command("CLUSTER", "MEET", "127.0.0.1", first.port)
        until(lambda: all(len(self._known(node)) == len(self.nodes) for node in self.nodes))
        for place, node in enumerate(self.nodes[self.count:]):
            with node.client() as client:
                client.execute_command("CLUSTER", "REPLICATE", self.nodes[place % self.count].id)
        until(lambda: all(self._is_well(node) for node in self.nodes))
        return self

    def stop(self) -> None:
        """Kills every node: nothing of them is needed any more."""
        for node in self.nodes:
            node.kill()

    @staticmethod
    def _known(node: ClusterNode) -> list:
        with node.client() as client:
            lines = client.execute_command("CLUSTER", "NODES")
            # redis-py reads the text for us, where it can.
            return list(lines) if isinstance(lines, dict) else lines.splitlines()

    @staticmethod
    def _is_well(node: ClusterNode) -> bool:
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
        for node in self.nodes:
            if node is without or node.process is None or node.process.poll() is not None:
                continue
            with node.client() as client:
                for entry in client.execute_command("CLUSTER", "SLOTS"):
                    begin, end, master = entry[0], entry[1], entry[2]
                    if int(begin) <= slot <= int(end):
                        return next(n for n in self.nodes if n.id == master[2].decode())
        raise AssertionError(f"nobody has slot {slot}")

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
        """A replica of a master."""
        for node in self.nodes:
            if node is not master and node.process is not None and node.process.poll() is None:
                with node.client() as client:
                    facts = client.info("replication")
                    if facts["role"] == "slave" and facts["master_port"] == master.port:
                        return node
        raise AssertionError("the master has no replica")

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
            old.execute_command("CLUSTER", "SETSLOT", slot, "NODE", target.id)
        for node in self.masters():
            with node.client() as client:
                client.execute_command("CLUSTER", "SETSLOT", slot, "NODE", target.id)

    def fail_over(self, master: ClusterNode) -> ClusterNode:
        """Hands a master's slots to its replica in good order; returns the new master."""
        replica = self.replica_of(master)
        with replica.client() as client:
            client.execute_command("CLUSTER", "FAILOVER")

        def is_master() -> bool:
            with replica.client() as client:
                return client.info("replication")["role"] == "master"

        until(is_master)
        return replica
