"""A master of a Cluster with 100,000 topics dies: its topics are live again soon after another took its place.

Publishes go on all the while. None may be lost in silence, and none may come later than LIVE_SECONDS_MAX after the
replica was promoted, or a second after its answer if that is later. Afterwards gateway and masters need no more memory
than before.

usage: .venv/bin/python Tests/Chaos/cluster_storm.py --topics 100000
"""

import sys

import paths  # noqa: F401
import runs
from cluster_fleet import IDLE_SECONDS, Fleet
from Fixtures.processes.figures import cpu_seconds, private_bytes
from Fixtures.redis.waiting import until
from Fixtures.waiting import pass_time
from gauges import now_us
from storm import LIMITS, PATIENCE_SECONDS, PER_CLIENT, Arrivals, first_subscription_seconds
from world import World

CALM_SECONDS = 2
LIVE_SECONDS_MAX = 5
PUBLISHERS = 32
MEMORY_FACTOR_MAX = 1.1
MEMORY_SLACK = 16 << 20
CLIENTS_SLACK = 4 << 20


class Storm:
    """One round over a world whose Redis is a cluster; `problems` is what was not as it must be."""

    def __init__(self, options, world):
        self.options, self.world = options, world
        self.gateway, self.fleet = world.gateways[0], world.redis
        self.problems = []

    def channels(self) -> int:
        """Topics that somebody listens to at their masters."""
        count = 0
        for node in self.fleet.masters():
            with node.client() as client:
                count += client.info("stats")["pubsubshard_channels"]
        return count

    def client_bytes(self) -> int:
        """What the masters hold for their clients."""
        count = 0
        for node in self.fleet.masters():
            with node.client() as client:
                count += client.info("memory")["mem_clients_normal"]
        return count

    def memory(self) -> tuple:
        """Bytes of the gateway, and of the masters for clients."""
        return private_bytes(self.gateway.process.pid), self.client_bytes()

    def cpu_seconds(self, node) -> tuple:
        """Processor time that the gateway and a node have used since their start."""
        return cpu_seconds(self.gateway.process.pid), node.cpu_seconds()

    def play(self, number: int) -> tuple:
        """Kills a master; returns the moments that the logs are read by: killed, promoted, ended."""
        world = self.world
        world.rate(self.options.rate)
        pass_time(CALM_SECONDS, "the load runs undisturbed")
        before, channels = self.memory(), self.channels()
        node = max(self.fleet.masters(), key=lambda node: len(self.fleet.topics_of(node, world.topics)))
        topics, replica = len(self.fleet.topics_of(node, world.topics)), self.fleet.replica_of(node)
        node.kill()
        killed = now_us()
        until(lambda: replica in self.fleet.masters(), 30, "the replica is promoted")
        promoted, used = now_us(), self.cpu_seconds(replica)
        world.every(0.02, lambda: self.channels() >= channels, PATIENCE_SECONDS, "every channel")
        subscribed = now_us()
        world.every(0.02, lambda: self.gateway.metric("switchboard_reads_waiting") == 0, PATIENCE_SECONDS, "every read")
        live, used = now_us(), [after - before for before, after in zip(used, self.cpu_seconds(replica), strict=True)]
        self.gateway.wait_ready(PATIENCE_SECONDS)
        ready = now_us()
        peak = self.memory()
        pass_time(1, "publishes after the storm")
        world.publishers.ask("stop", PATIENCE_SECONDS)
        ended = now_us()
        node.start()
        until(lambda: all(self.fleet.is_well(one) for one in self.fleet.nodes), 60, "every node is well")
        after = self._settled(before)
        gateway, clients = ([figures[place] for figures in (before, peak, after)] for place in (0, 1))
        since = [f"{(moment - promoted) / 1e6:.2f}" for moment in (subscribed, live, ready)]
        print(f"round {number}: a master of {topics} of {channels} topics died; promoted after "
              f"{(promoted - killed) / 1e6:.2f} s; every channel {since[0]} s, every topic live {since[1]} s and ready "
              f"{since[2]} s later; for it the gateway used {used[0]:.2f} s of processor, the master {used[1]:.2f} s; "
              f"memory before, then and after: gateway {', '.join(str(one >> 20) for one in gateway)} MiB, masters for "
              f"their clients {', '.join(str(one >> 10) for one in clients)} KiB", flush=True)
        if (live - promoted) / 1e6 > LIVE_SECONDS_MAX:
            self.problems.append(f"round {number}: every topic was live after {(live - promoted) / 1e6:.1f} s only")
        if not self._is_back(before, after):
            self.problems.append(f"round {number}: memory did not come back: {before} before, {after} after")
        return killed, promoted, ended

    @staticmethod
    def _is_back(before: tuple, after: tuple) -> bool:
        return after[0] <= before[0] * MEMORY_FACTOR_MAX + MEMORY_SLACK and after[1] <= before[1] + CLIENTS_SLACK

    def _settled(self, before: tuple) -> tuple:
        """Memory once it is back, or after a while."""
        seen = [self.memory()]

        def is_back():
            seen[0] = self.memory()
            return self._is_back(before, seen[0])
        try:
            self.world.every(0.2, is_back, 20, "memory")
        except AssertionError:  # It is judged by who asked.
            pass
        return seen[0]

    def judge(self, directory, number: int, killed: int, promoted: int, ended: int) -> None:
        """Looks into the logs how late events came."""
        arrivals = Arrivals(directory, killed, ended)
        late = arrivals.late(promoted + int(LIVE_SECONDS_MAX * 1e6))
        print(f"round {number}: {len(arrivals.tried)} published meanwhile on {arrivals.topics} topics, "
              f"{len(arrivals.acked)} acked, {len(arrivals.came)} came; late {len(late)}", flush=True)
        if not arrivals.came:
            self.problems.append(f"round {number}: nothing came, so nothing is proven")
        if late:
            self.problems.append(f"round {number}: {len(late)} events came up to {late[-1] / 1e6:.2f} s too late")


def main() -> int:
    options = runs.parse(runs.arguments(__doc__.split("\n")[0], clients=0, rate=500, topics=100_000, rounds=1))
    options.clients = options.clients or max(1, options.topics // PER_CLIENT)
    with runs.directory(options) as outcome:
        fleet = Fleet(outcome.path / "cluster")
        with World(outcome.path, gateways=1, per_client=min(PER_CLIENT, options.topics), through_nginx=False,
                   redis=fleet, limits=LIMITS, publishers=PUBLISHERS, batch=1, deadline=60,
                   patience=PATIENCE_SECONDS, settle_seconds=IDLE_SECONDS + 15, **runs.world_options(options)) as world:
            world.status()
            print(f"{options.topics} topics of {options.clients} clients: subscribed within "
                  f"{first_subscription_seconds(outcome.path):.2f} s", flush=True)
            storm = Storm(options, world)
            moments = [storm.play(number) for number in range(1, options.rounds + 1)]
            report = world.finish()
        for number, moment in enumerate(moments, 1):
            storm.judge(outcome.path, number, *moment)
        return runs.close(outcome, report, storm.problems)


if __name__ == "__main__":
    sys.exit(main())
