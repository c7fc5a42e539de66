"""One node of a private Redis Cluster for tests."""

from pathlib import Path

import redis

from Fixtures.processes.fault_proxy import FaultProxy
from Fixtures.processes.ports import BUS_OFFSET, free_pair
from Fixtures.redis import tls
from Fixtures.redis.server import RedisServer

# Where a packet of the bus names its sender.
SENDER_BYTES = slice(40, 80)


class ClusterNode(RedisServer):
    """A node: a server with a port, which keeps its id, address and slots over a restart.

    `proxied` puts a proxy before its port, and one before its port of the cluster's bus; the node announces these two,
    so that replicas, other nodes and gateways reach it by them. With a certificate it speaks TLS alone.
    """

    def __init__(self, directory: Path, timeout_ms: int, *options: str, proxied: bool = False, certificate=None):
        super().__init__(
            directory, "--cluster-enabled", "yes", "--cluster-config-file", "nodes.conf", "--cluster-node-timeout",
            str(timeout_ms), "--repl-diskless-sync-delay", "0", "--cluster-require-full-coverage", "no", *options)
        self.port = free_pair()
        if certificate is not None:
            self.options += tls.only(self.port, certificate) + ["--tls-cluster", "yes"]
        self.id = ""
        self.is_preferred = True
        self.door = self.bus_door = None
        if proxied:
            self.door = FaultProxy(("127.0.0.1", self.port))
            self.bus_door = FaultProxy(("127.0.0.1", self.port + BUS_OFFSET))
            self.options += ["--cluster-announce-ip", "127.0.0.1", "--cluster-announce-port", str(self.door.port),
                             "--cluster-announce-bus-port", str(self.bus_door.port)]

    @property
    def doors(self) -> list:
        """The proxies before it."""
        return [door for door in (self.door, self.bus_door) if door]

    @property
    def public_port(self) -> int:
        """Where others reach it."""
        return self.door.port if self.door else self.port

    @property
    def bus_port(self) -> int:
        """Where other nodes reach it."""
        return self.bus_door.port if self.bus_door else self.port + BUS_OFFSET

    def link(self) -> redis.Redis:
        """A client by the port; replies are bytes."""
        return redis.Redis(port=self.port)

    def says(self, first: bytes) -> bool:
        """Whether the first bytes of a connection of the bus are this node's: a packet's header names its sender."""
        return first[SENDER_BYTES] == self.id.encode()
