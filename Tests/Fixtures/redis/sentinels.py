"""A master, its replicas and the Sentinels that watch them, as real processes on ports of their own."""

import signal
import subprocess
from pathlib import Path

import redis

from Fixtures.processes.fault_proxy import FaultProxy
from Fixtures.processes.ports import free_port
from Fixtures.redis import tls
from Fixtures.redis.server import RedisServer, prefer
from Fixtures.redis.waiting import until

START_SECONDS_MAX = 20
# What Sentinels wait for before they call a master down, milliseconds.
DOWN_AFTER_MS = 1_000


class Sentinel:
    """One Sentinel; its configuration, which it rewrites, survives a restart."""

    def __init__(self, directory: Path, name: str, master_port: int, quorum: int, *lines: str, certificate=None):
        directory.mkdir(parents=True)
        self.directory = directory
        self.port = free_port()
        self.process = None
        self.tls = {} if certificate is None else {"ssl": True, "ssl_ca_certs": str(certificate.cert)}
        options = ["--port", str(self.port)] if certificate is None else tls.only(self.port, certificate)
        lines = [f"{key[2:]} {value}" for key, value in zip(options[::2], options[1::2])] + list(lines)
        (directory / "sentinel.conf").write_text(
            "\n".join(lines) + f"\nbind 127.0.0.1\ndir {directory}\n"
            f"sentinel monitor {name} 127.0.0.1 {master_port} {quorum}\n"
            f"sentinel down-after-milliseconds {name} {DOWN_AFTER_MS}\nsentinel failover-timeout {name} 3000\n")

    def start(self) -> None:
        with open(self.directory / "sentinel.log", "ab") as log:
            self.process = subprocess.Popen(
                ["redis-server", str(self.directory / "sentinel.conf"), "--sentinel"], stdout=log, stderr=log)
        prefer(self.process)

    @property
    def tilts(self) -> int:
        """How often it stood still for so long that it did not trust its own clock, and stopped watching."""
        return (self.directory / "sentinel.log").read_text(errors="replace").count("+tilt ")

    def client(self) -> redis.Redis:
        return redis.Redis(port=self.port, socket_timeout=2, **self.tls)

    def stop(self) -> None:
        if self.process is not None:
            self.process.send_signal(signal.SIGCONT)
            self.process.kill()
            self.process.wait()
            self.process = None


class SentinelGroup:
    """Servers of which one is the master, and three Sentinels with a quorum of two.

    `proxied` puts a proxy before each server, by which everybody else reaches it: replicas, Sentinels and gateways.
    `first` is a server that is there already, and becomes the first master. With a certificate all speak by TLS alone.
    `sentinel_lines` are added to the configuration of each Sentinel.
    """

    name = "group"
    # For those who take a group for one server: it has no process of its own.
    process = None

    def __init__(self, directory: Path, *options: str, replicas: int = 1, sentinels: int = 3, proxied: bool = False,
                 first: RedisServer | None = None, certificate=None, sentinel_lines: tuple = ()):
        directory = Path(directory)
        more = ("--repl-diskless-sync-delay", "0", "--repl-timeout", "5", *options)
        self.servers = [RedisServer(directory / f"server-{number}", *more, tcp=True) for number in range(replicas + 1)]
        if first:
            self.servers[0] = first
        for server in self.servers:
            server.is_preferred = True
            if certificate is not None:
                server.options += tls.only(server.port, certificate)
        self.proxies = {server: FaultProxy(("127.0.0.1", server.port)) for server in self.servers} if proxied else {}
        for server in self.proxies:
            server.options += ["--replica-announce-ip", "127.0.0.1", "--replica-announce-port",
                               str(self.port_of(server))]
        self.sentinels = [
            Sentinel(directory / f"sentinel-{number}", self.name, self.port_of(self.servers[0]), sentinels // 2 + 1,
                     *sentinel_lines, certificate=certificate)
            for number in range(sentinels)]

    def port_of(self, server: RedisServer) -> int:
        """Where others reach a server."""
        return self.proxies[server].port if self.proxies else server.port

    def proxy_of(self, server: RedisServer) -> FaultProxy:
        """What stands before a server."""
        return self.proxies[server]

    @property
    def url(self) -> str:
        """The address as `--redis` takes it."""
        hosts = ",".join(f"127.0.0.1:{sentinel.port}" for sentinel in self.sentinels)
        return f"redis+sentinel://{hosts}/{self.name}"

    def start(self) -> "SentinelGroup":
        for proxy in self.proxies.values():
            proxy.__enter__()
        first = self.servers[0]
        if first.process is None:
            first.start()
        for server in self.servers[1:]:
            server.start("--replicaof", "127.0.0.1", str(self.port_of(first)))
            with server.client() as client:
                until(lambda: client.info("replication").get("master_link_status") == "up", what="a replica in step")
        for sentinel in self.sentinels:
            sentinel.start()
        until(self.know_each_other)
        return self

    def know_each_other(self) -> bool:
        """Whether every Sentinel knows all the others, and all replicas as what they are."""
        for sentinel in self.sentinels:
            with sentinel.client() as client:
                told = client.sentinel_master(self.name)
                if told["num-other-sentinels"] != len(self.sentinels) - 1:
                    return False
                if told["num-slaves"] != len(self.servers) - 1:
                    return False
                # A Sentinel that has last heard of a master there would make it follow, also after a FAILOVER to it.
                if any(one["role-reported"] != "slave" or one["flags"] != "slave"
                       for one in client.sentinel_slaves(self.name)):
                    return False
        return True

    def named(self) -> int | None:
        """The port of the master that all Sentinels name; `None` while they differ."""
        ports = set()
        for sentinel in self.sentinels:
            if sentinel.process is None:
                continue
            with sentinel.client() as client:
                ports.add(client.sentinel_get_master_addr_by_name(self.name)[1])
        return ports.pop() if len(ports) == 1 else None

    @property
    def master(self) -> RedisServer:
        """The server that all Sentinels name."""
        port = until(self.named, what="one master")
        return next(server for server in self.servers if self.port_of(server) == port)

    def servers_master(self) -> RedisServer:
        """The server that says itself that it is the master, whatever the Sentinels say."""
        def found():
            for server in self.servers:
                with server.client(socket_timeout=2) as client:
                    if client.info("replication")["role"] == "master":
                        return server
            return None
        return until(found, what="a master")

    def others(self, server: RedisServer) -> list[RedisServer]:
        """All servers but one."""
        return [other for other in self.servers if other is not server]

    def client(self, **options) -> redis.Redis:
        """A client of the master of now."""
        return self.master.client(**options)

    def wait_master(self, not_the: RedisServer, seconds_max=START_SECONDS_MAX) -> RedisServer:
        """Waits until the Sentinels name another server than that one."""
        until(lambda: self.named() not in (None, self.port_of(not_the)), seconds_max, "another master")
        return self.master

    def stop(self) -> None:
        """Ends every process."""
        for sentinel in self.sentinels:
            sentinel.stop()
        for server in self.servers:
            if server.process is not None:
                server.signal(signal.SIGCONT)
                server.kill()
        for proxy in self.proxies.values():
            proxy.__exit__()
        self.proxies = {}

    # For those who take a group for one server.
    kill = stop
