"""The five apps' flows on a Redis Cluster and on a Sentinel group, while slots move and servers fail over.

Two gateways, two workers and all packs; each app's clients speak as the app does (five_apps.py). Kinds of rounds on a
Cluster: move (slots of what the apps use go to other masters), failover (CLUSTER FAILOVER), kill (SIGKILL of a master),
replica (SIGKILL of a replica). On a group: planned (FAILOVER TO), kill, replica. What was answered must be true at the
end, no event may be missing without a `gap`, and no change of several ids may be half made. A process that is killed
has handed to its replica what it answered in each former turn of its loop, and the system delivers that. So nothing
that was answered is lost here but in the turn of the kill, and its events are told as a gap.

usage: .venv/bin/python Tests/Chaos/apps_rounds.py --on cluster --rounds 5 [--kinds move,failover]
       .venv/bin/python Tests/Chaos/apps_rounds.py --on group --rounds 5
"""

import argparse
import contextlib
import random
import sys
import time

import paths  # noqa: F401
import runs
from cluster_fleet import Fleet
from cluster_rounds import ClusterRounds
from Fixtures.clients.certificates import write_certificate
from Fixtures.clients.tokens import SECRET
from Fixtures.processes.gateway import Gateway
from Fixtures.processes.worker import Worker
from Fixtures.redis.cluster import RedisCluster
from Fixtures.redis.sentinels import SentinelGroup
from Fixtures.waiting import eventually, pass_time
from five_apps import PLAYERS
from fleet import GroupRounds
from fleet_rounds import CALM_SECONDS
from world import LIMITS, World

PACKS = ("--packs", "barbershop,queueup,messaging,people,nearby,orders")
KINDS = {"cluster": ("move", "failover", "kill", "replica"), "group": ("planned", "kill", "replica")}
GATEWAYS = 2
RATES = {"userActionsPerSecond": 100_000, "requestsPerAddressPerSecond": 100_000, "redisProbeMs": 500,
         "messagesPerSecond": 100_000, "joinsPerSecond": 10_000}


class AppsWorld:
    """Redis in one of its forms, the gateways, the workers and the players; a context manager."""

    every = staticmethod(World.every)

    def __init__(self, directory, redis, seed: int):
        certificate = write_certificate(directory)
        self.directory, self.redis, self.gaps = directory, redis, []
        self.gateways = [
            Gateway(directory / f"gateway-{number}", redis.url, certificate, SECRET, *PACKS, "--shards", "2",
                    "--jwt-role", "authenticated=user", "--listen-plain", "127.0.0.1:0", limits=LIMITS | RATES)
            for number in range(GATEWAYS)]
        self.workers = [Worker(directory / f"worker-{number}", redis.url, *PACKS) for number in range(2)]
        self.players = [player(self, seed) for player in PLAYERS]
        self.topics, self.begun = [], []

    def __enter__(self):
        try:
            return self._enter()
        except BaseException:
            self.__exit__()
            raise

    def _enter(self):
        self.redis.start()
        for gateway in self.gateways:
            gateway.start().wait_ready(30)
        for worker in self.workers:
            worker.start()
        for player in self.players:
            self.begun.append(player)
            player.begin()
        self.topics = sorted({topic for player in self.players for ear in player.ears
                              for topic in getattr(ear, "positions", {})}
                             | {f"{kind}:{id}" for kind, id in self._ids()})
        for player in self.players:
            player.start()
        return self

    def _ids(self):
        """What the apps' steps lead to: users, sessions, places."""
        shop, queueup, _, _, nearby = self.players
        yield from (("user", user) for user in [*shop.users, *nearby.users, "ann", "bob"])
        yield from (("user", user.id) for user in queueup.crowd)
        yield from (("session", session) for session in queueup.minutes)

    def __exit__(self, *_):
        with contextlib.ExitStack() as stack:
            stack.callback(self.redis.stop)
            for node in (*self.gateways, *self.workers):
                stack.callback(node.stop)
            for player in self.begun:
                stack.callback(player.close)

    def redis_client(self):
        """A client that takes the names of one server."""
        return RedisCluster.client(self.redis) if isinstance(self.redis, RedisCluster) else self.redis.client()

    def calls(self) -> int:
        """Calls that were answered so far."""
        for player in self.players:
            if player.failure is not None:
                raise player.failure
        return sum(player.calls for player in self.players if player.name != "queueup")

    def finish(self) -> list:
        """Ends the flows, lets the workers pass on what waits, and judges."""
        for player in self.players:
            player.end()

        eventually(lambda: not self._outbox(), 90, "the workers have passed everything on")
        faults = [f"{node.directory.name}: a script failed" for node in (*self.gateways, *self.workers)
                  if "a script failed" in node.log_text]
        faults += [f"given up: {name}" for name in self._outbox("dead")]
        return [problem for player in self.players for problem in player.problems()] + faults

    def _outbox(self, kind: str = "") -> list:
        """The streams of the outbox that have entries, or those of what was given up."""
        names = []
        for node in self.redis.masters() if isinstance(self.redis, RedisCluster) else [self.redis.master]:
            with node.client() as db:
                names += [name for name in db.scan_iter("*#outbox*", count=1_000, _type="stream")
                          if (b"dead" in name) == bool(kind) and db.xlen(name)]
        return names


class OnApps:
    """Rounds whose load is the apps' calls."""

    def acked(self):
        return self.world.calls()


class AppsOnCluster(OnApps, ClusterRounds):
    """The rounds over a Cluster."""

    def _replica(self) -> float:
        began, replica = time.monotonic(), self.fleet.replica_of(self.master())
        replica.kill()
        pass_time(self.rng.uniform(0.5, 2), "a replica is away")
        replica.start()
        return self.green(began)


class AppsOnGroup(OnApps, GroupRounds):
    """The rounds over a group."""

    def __init__(self, world, rng):
        super().__init__(world, rng, False)

    def _replica(self) -> float:
        began = time.monotonic()
        replica = self.group.others(self.group.master)[0]
        replica.kill()
        pass_time(self.rng.uniform(0.5, 2), "the replica is away")
        replica.start()
        return self.green(began)


def make(options, path) -> tuple:
    """The world and the class of its rounds."""
    if options.on == "cluster":
        return AppsWorld(path, Fleet(path / "cluster"), options.seed), AppsOnCluster
    return AppsWorld(path, SentinelGroup(path / "group", proxied=True), options.seed), AppsOnGroup


def play(options, path, log=lambda text: print(text, flush=True)) -> tuple[dict, list]:
    """All rounds; figures and problems."""
    world, rounds_of = make(options, path)
    with world:
        rounds = rounds_of(world, random.Random(options.seed))
        jobs = [kind for kind in options.kinds for _ in range(options.rounds)]
        rounds.rng.shuffle(jobs)
        played = {kind: [] for kind in options.kinds}
        while jobs:
            kind = jobs.pop(0)
            rounds.whole()
            pass_time(options.calm, "the apps run undisturbed")
            one = rounds.attempt(kind)
            if one is None:
                log(f"{kind}: a process stood still by itself; this round does not count")
                jobs.append(kind)
                continue
            played[kind].append(round(one.seconds, 2))
            log(f"{kind}: green after {one.seconds:.2f} s, {world.calls()} calls")
        rounds.whole()
        problems = world.finish()
        figures = {"seed": options.seed, "on": options.on, "rounds": played, "gaps told": world.gaps} | {
            player.name: {"calls": player.calls, "repeated": player.repeated} for player in world.players}
    return figures, problems


def main() -> int:
    parser = runs.arguments(__doc__.split("\n")[0], rounds=5)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--on", choices=KINDS, default="cluster")
    parser.add_argument("--kinds", default="")
    parser.add_argument("--calm", type=float, default=CALM_SECONDS)
    options = runs.parse(parser)
    options.kinds = options.kinds.split(",") if options.kinds else KINDS[options.on]
    with runs.directory(options) as outcome:
        figures, problems = play(options, outcome.path)
        outcome.good = not problems
    print(figures)
    for problem in problems[:20]:
        print("PROBLEM", problem)
    print("PASS" if not problems else f"FAIL: {len(problems)} problems", flush=True)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
