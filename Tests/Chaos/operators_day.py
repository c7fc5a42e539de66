"""An operator's day, with clients connected and publishes going on; nobody loses anything in silence.

The steps are those of deploy/README.md: from one server to Sentinel, from there to a Cluster, another master, and a
restart of every Redis and every gateway. They run the commands that are given there, one after the other in one
installation.

usage: .venv/bin/python Tests/Chaos/operators_day.py [--part sentinel]
"""

import subprocess
import sys
import time

import paths  # noqa: F401
import runs
from cluster_fleet import IDLE_SECONDS, Fleet
from Fixtures.processes.node import BINARY, ENVIRONMENT
from Fixtures.redis.sentinels import SentinelGroup
from Fixtures.redis.server import RedisServer
from Fixtures.redis.waiting import until
from Fixtures.waiting import pass_time
from fleet_rounds import Rounds
from world import World

CALM_SECONDS = 2
STEP_SECONDS_MAX = 300
# What survives that a server is restarted faster than anybody calls it dead.
KEPT = ("--appendonly", "yes", "--appendfsync", "everysec")


def run(*words) -> str:
    """Runs an operator's command, which must succeed; its output."""
    done = subprocess.run(
        [str(word) for word in words], capture_output=True, text=True, timeout=STEP_SECONDS_MAX, env=ENVIRONMENT)
    assert done.returncode == 0, f"{words}\n{done.stdout[-3000:]}{done.stderr[-2000:]}"
    return done.stdout


def cluster(path) -> Fleet:
    """Three masters, each with a replica, that keep what they have."""
    return Fleet(path / "cluster", *KEPT)


class Day(Rounds):
    """The steps over one world, which begins with one server; each is told with the seconds until all was green."""

    def step(self, what: str, do) -> None:
        """Takes a step while the load runs, and waits until all is green and every client has its topics."""
        pass_time(CALM_SECONDS, "the load runs undisturbed")
        began = time.monotonic()
        do()
        seconds = self.green(began)
        self.world.wait_live()
        state = self.world.status()
        print(f"{what}: {seconds:.1f} s; {state['reconnects']} reconnects so far", flush=True)

    def lead_to(self, url: str) -> None:
        """Restarts the worker, then the gateways one by one, with another address of Redis."""
        for process in (self.world.worker, *self.world.gateways):
            place = process.arguments.index("--redis") + 1
            process.arguments[place] = url
        self.roll()

    def roll(self) -> None:
        """Restarts the worker, then each gateway when the one before it is ready."""
        self.world.worker.stop()
        self.world.worker.start()
        for gateway in self.world.gateways:
            gateway.stop()
            gateway.start()
            gateway.wait_ready(60)
            # Links to Sentinels and masters belong to what it may have at the end; some clients are back by now.
            gateway.baseline = gateway.usage()
            self.world.wait_live()

    def check(self, url: str, *flags) -> None:
        """Asks `switchboard check` with a gateway's own flags."""
        words = list(self.world.gateways[0].arguments)
        place = words.index("--ready-file")
        del words[place:place + 2]
        words[1], words[words.index("--redis") + 1] = "check", url
        # It would find its own port in use.
        words[words.index("--listen") + 1] = "127.0.0.1:0"
        run(*words, *flags)

    # From one server to Sentinel

    def watch(self, group) -> None:
        """Replicas, then Sentinels, then everybody asks the Sentinels."""
        group.start()
        for sentinel in group.sentinels:
            with sentinel.client() as client:
                told = until(lambda: client.execute_command("SENTINEL", "CKQUORUM", group.name))
                assert told.startswith(b"OK"), told
        self.check(group.url)
        self.lead_to(group.url)
        self.world.redis = self.fleet = group

    def roll_group(self) -> None:
        """Restarts the replica, moves the master there, and restarts the old one."""
        group = self.fleet
        master = group.master
        [replica] = group.others(master)
        self._restart(replica, "--replicaof", "127.0.0.1", str(master.port))
        until(lambda: self._serves(master), 60, "the replica is in step")
        until(group.know_each_other, 60, "the Sentinels know everything")
        self.green(time.monotonic())
        run("redis-cli", "-p", master.port, "FAILOVER", "TO", "127.0.0.1", replica.port, "TIMEOUT", 10_000)
        until(lambda: self._follows(master), 60, "the old master follows")
        self.green(time.monotonic())
        group.wait_master(master, 90)
        until(lambda: self._follows(master), 60, "the old master follows")
        self._restart(master, "--replicaof", "127.0.0.1", str(replica.port))
        until(lambda: self._serves(replica), 60, "the old master is in step")

    @staticmethod
    def _restart(server, *options) -> None:
        server.stop()
        server.start(*options)

    @staticmethod
    def _serves(server) -> bool:
        """Whether it is a master whose replica is in step."""
        with server.client(socket_timeout=2) as client:
            told = client.info("replication")
            return told["role"] == "master" and told.get("slave0", {}).get("state") == "online"

    @staticmethod
    def _follows(server) -> bool:
        with server.client(socket_timeout=2) as client:
            told = client.info("replication")
            return told["role"] == "slave" and told["master_link_status"] == "up"

    # From Sentinel to a Cluster

    def to_cluster(self, fleet) -> None:
        """Everything stops, the data are copied under their new names, and everything starts with the new address."""
        group, world = self.fleet, self.world
        for process in (*world.gateways, world.worker):
            process.stop()
        moved = run(BINARY, "move-data", "--from", group.master.url, "--to", fleet.url, "--redis-layout", "tagged")
        print(moved.strip(), flush=True)
        self.check(fleet.url)
        for process in (world.worker, *world.gateways):
            process.arguments[process.arguments.index("--redis") + 1] = fleet.url
            process.start()
        world.redis = self.fleet = fleet
        group.stop()

    # The Cluster

    def add_master(self) -> None:
        """A fourth master with a replica, which takes its share of the slots."""
        fleet = self.fleet
        first = f"127.0.0.1:{fleet.nodes[0].port}"
        new, replica = fleet._node(), fleet._node()
        for node in (new, replica):
            node.start()
            with node.client() as client:
                node.id = client.execute_command("CLUSTER", "MYID").decode()
        run("redis-cli", "--cluster", "add-node", f"127.0.0.1:{new.port}", first)
        fleet.nodes.append(new)
        until(lambda: all(fleet._knows(node, new) for node in fleet.nodes), what="a new master that everybody knows")
        until(lambda: fleet.is_well(new), what="a new master that serves")
        run("redis-cli", "--cluster", "add-node", f"127.0.0.1:{replica.port}", first, "--cluster-slave",
            "--cluster-master-id", new.id)
        fleet.nodes.append(replica)
        until(lambda: self._follows(replica), 60, "the new master's replica is in step")
        run("redis-cli", "--cluster", "rebalance", first, "--cluster-use-empty-masters")
        count = fleet.owners().count(new)
        assert count == 4_096, f"the new master has {count} slots"

    def roll_cluster(self) -> None:
        """Each replica, then each master, whose replica takes its place before."""
        fleet = self.fleet
        masters = fleet.masters()
        for node in fleet.nodes:
            if node not in masters:
                self._restart(node)
                until(lambda node=node: fleet.is_well(node), 60, "the replica is in step")
        for master in masters:
            fleet.fail_over(master)
            until(lambda master=master: self._follows(master), 60, "the old master follows")
            self._restart(master)
            until(lambda master=master: fleet.is_well(master), 60, "the old master is in step")
            self.green(time.monotonic())

    def play(self, part: str) -> None:
        """The whole day, or a part of it."""
        if part != "cluster":
            self.sentinel()
        if part == "day":
            # Its slots and replicas are made before anything stops.
            fleet = cluster(self.world.directory)
            self.world.stack.callback(fleet.stop)
            fleet.start()
            self.step("Sentinel to a Cluster", lambda: self.to_cluster(fleet))
        if part != "sentinel":
            self.cluster()

    def sentinel(self) -> None:
        """From one server to a group, whose servers and gateways are restarted."""
        group = SentinelGroup(self.world.directory / "group", *KEPT, first=self.fleet)
        self.world.stack.callback(group.stop)
        self.step("one server to Sentinel", lambda: self.watch(group))
        self.step("every Redis restarted", self.roll_group)
        self.step("every gateway restarted", self.roll)

    def cluster(self) -> None:
        """A Cluster grows, and its nodes and gateways are restarted."""
        self.step("a master added", self.add_master)
        self.step("every Redis restarted", self.roll_cluster)
        self.step("every gateway restarted", self.roll)


def main() -> int:
    parser = runs.arguments(__doc__.split("\n")[0], clients=40, rate=40, topics=40)
    parser.add_argument("--part", default="day", choices=("day", "sentinel", "cluster"))
    options = runs.parse(parser)
    world_options = runs.world_options(options)
    with runs.directory(options) as outcome:
        redis = cluster(outcome.path) if options.part == "cluster" else RedisServer(
            outcome.path / "redis", *KEPT, tcp=True)
        with World(outcome.path, gateways=2, per_client=1, deadline=120, worker=True, through_nginx=False,
                   redis=redis, limits={"redisProbeMs": 500},
                   settle_seconds=IDLE_SECONDS + 15,
                   **world_options) as world:
            world.rate(options.rate)
            Day(world, world.rng).play(options.part)
            report = world.finish()
        # Each gateway was restarted three times, and the data went to other servers twice.
        problems = [] if report.counts["resets"] and report.counts["recovered"] else ["nobody came back to anything"]
        return runs.close(outcome, report, problems)


if __name__ == "__main__":
    sys.exit(main())
