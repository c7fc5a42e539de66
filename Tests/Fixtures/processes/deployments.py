"""The servers of data of every shipped deployment, as processes that a test ends and starts again."""

import json
import re
import signal
import subprocess

from redis import Redis

from Fixtures.processes import deploy_files
from Fixtures.processes.deploy_container import Container
from Fixtures.processes.gateway import Gateway, command
from Fixtures.processes.ports import free_pair
from Fixtures.redis.contents import contents
from Fixtures.redis.waiting import until

ORDER = "order:77"
ALONE = "172.28.5.20"
EVENTS = 6


class Deployment:
    """The servers of a compose file, by their own commands and by what secrets.sh makes."""

    def __init__(self, kind: str, directory):
        self.kind, self.secrets = kind, directory / "secrets"
        subprocess.run([deploy_files.DEPLOY / "secrets.sh", self.secrets, kind], check=True, capture_output=True)
        services = deploy_files.compose(kind)["services"]
        if kind == "one":
            # It has a name and no fixed address.
            services = {"redis": services["redis"] | {"networks": {"inside": {"ipv4_address": ALONE}}}}
        watching = [name for name in services if name.startswith("sentinel")]
        serving = [name for name in services if name.startswith("redis")]
        self.ports = {services[name]["networks"]["inside"]["ipv4_address"]: free_pair() for name in serving + watching}
        self.servers = [self._container(services, name, directory) for name in serving]
        self.watchers = [self._container(services, name, directory) for name in watching]
        self.maker = self._container(services, "cluster", directory) if "cluster" in services else None

    def _container(self, services: dict, name: str, directory) -> Container:
        return Container(services[name], self.secrets, directory / name, self.ports)

    @property
    def url(self) -> str:
        """What settings.json names, at the ports of here."""
        url = json.loads((self.secrets / "settings.json").read_text())["redis"].replace("@redis:", f"@{ALONE}:")
        for host, port in self.ports.items():
            url = re.sub(rf"(?<=[@,]){re.escape(host)}(:6379)?(?=[,/]|$)", f"127.0.0.1:{port}", url)
        return url

    def operator(self, server: Container) -> Redis:
        """The operator's own client."""
        return Redis(port=server.port, username="operator", password=(self.secrets / "operator-password").read_text())

    def start(self) -> "Deployment":
        """Starts what is not running; once, it makes the cluster."""
        for one in self.servers:
            if not one.is_running:
                one.start()
        for server in self.servers:
            until(lambda: self.asked(server, "ping"), what="an answer")
        for one in self.watchers:
            if not one.is_running:
                one.start()
        if self.maker:
            assert self.maker.start().process.wait(60) == 0, self.maker.log
            self.maker = None
        until(self.is_whole, 30, "a whole deployment")
        return self

    def asked(self, server: Container, name: str, *words):
        """One answer of a server to its operator."""
        with self.operator(server) as db:
            return getattr(db, name)(*words)

    def masters(self) -> list:
        """The servers that say that they are masters."""
        return [server for server in self.servers if self.asked(server, "info", "replication")["role"] == "master"]

    def is_whole(self) -> bool:
        """Whether every replica is in step with its master, and every node of a cluster sees all of it."""
        facts = [self.asked(server, "info", "replication") for server in self.servers]
        heads = {one["master_replid"]: one["master_repl_offset"] for one in facts if one["role"] == "master"}
        if any(one["role"] == "slave" and (one["master_link_status"] != "up" or heads.get(one["master_replid"]) !=
                                           one["slave_repl_offset"]) for one in facts):
            return False
        if self.kind != "cluster":
            return len(heads) == 1
        return len(heads) == 3 and all(
            b"cluster_state:ok" in self.asked(server, "execute_command", "CLUSTER", "INFO") for server in self.servers)

    def contents(self) -> dict:
        """What the masters hold."""
        found = {}
        for server in self.masters():
            with self.operator(server) as db:
                found |= contents(db)
        return found

    def end(self, number: int = signal.SIGKILL) -> None:
        """Ends all servers of data at once, and in the end whatever watches them."""
        for server in self.servers:
            server.process.send_signal(number)
        for server in self.servers:
            server.end(number)

    def stop(self) -> None:
        """Ends what still runs."""
        for one in [*self.servers, *self.watchers, *([self.maker] if self.maker else [])]:
            one.end()


def write(gateway: Gateway, shop: str) -> dict:
    """What apps write by scripts: events of an order, and a vote; the position of the last event."""
    positions = [gateway.publish(ORDER, "processing_started", {"n": number}, id=f"{shop}-{number}")
                 for number in range(EVENTS)]
    with gateway.http() as http:
        command(http, "start_session", shopId=shop)
        for user in ("dj", "ann", "bob"):
            command(http, "check_in", shopId=shop, userId=user)
        command(http, "add_track", shopId=shop, trackId="t1", trackName="Track", userId="dj")
        command(http, "vote", shopId=shop, trackId="t1", userId="ann", vote="up")
    return positions[-1]
