"""Masters of a Redis Cluster die, stand still and are moved, and so are slots, under load; nothing is lost in silence.

Kinds of rounds: kill (SIGKILL of a master; it comes back seconds later), stop (SIGSTOP of a master for ten seconds,
SIGCONT), failover (CLUSTER FAILOVER), move (slots of topics are moved one by one to another master).

usage: .venv/bin/python Tests/ChaosTests/cluster_rounds.py --rounds 5 [--kinds kill,move]
"""

import contextlib
import json
import random
import re
import signal
import sys
import time

import paths  # noqa: F401
import runs
from redis.crc import key_slot
from support.redis_cluster import RedisCluster
from support.redis_waiting import until
from waiting import pass_time
from world import World

KINDS = ("kill", "stop", "failover", "move")
CALM_SECONDS = 2
GREEN_SECONDS_MAX = 60
STOP_SECONDS = 10
MOVES = 10


def tagged(name: str) -> str:
    """The name on a cluster of a key that is `namespace:id#facet` on one server."""
    return re.sub(r"^([a-z0-9-]+):([^#]*)", r"\1:{\2}", name)


class Everywhere:
    """All masters as one server, as far as a World asks one; names are those of one server."""

    def __init__(self, fleet):
        self.fleet = fleet
        self.calls = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def pipeline(self, transaction):
        """Gathers calls for `execute`."""
        assert not transaction
        return Everywhere(self.fleet)

    def hgetall(self, name):
        """Notes a call."""
        self.calls.append(("hgetall", tagged(name)))

    def xrange(self, name):
        """Notes a call."""
        self.calls.append(("xrange", tagged(name)))

    def execute(self):
        """Makes the calls, each at the master of its slot."""
        owners = {}
        with contextlib.ExitStack() as stack:
            answers = []
            for call, name in self.calls:
                node = self.fleet.owner(name)
                if node.port not in owners:
                    owners[node.port] = stack.enter_context(node.client())
                answers.append(getattr(owners[node.port], call)(name))
            return answers

    def pubsub_channels(self):
        """The topics' channels that somebody hears at their masters."""
        found = set()
        for node in self.fleet.masters():
            with node.client() as client:
                found |= set(client.execute_command("PUBSUB", "SHARDCHANNELS"))
        return [name.replace(b"{", b"").replace(b"}", b"") for name in found]


class Fleet(RedisCluster):
    """A cluster in the place of a World's server."""

    process = None

    def kill(self):
        """Ends every node."""
        self.stop()

    def stop(self):
        for node in self.nodes:
            if node.process is not None and node.process.poll() is None:
                node.process.send_signal(signal.SIGCONT)
        super().stop()

    def client(self, **_):
        """All masters as one server."""
        return Everywhere(self)


class Rounds:
    """The rounds over one world whose Redis is a cluster."""

    def __init__(self, world, rng: random.Random):
        self.world, self.rng, self.fleet = world, rng, world.redis

    def acked(self) -> int:
        return json.loads(self.world.publishers.ask("status")).get("acked", 0)

    def green(self, began: float) -> float:
        """Seconds from `began` until every gateway is ready and a publish was acked after that."""
        def ready():
            return all(gateway.ops("/readyz").status_code == 200 for gateway in self.world.gateways)
        self.world.every(0.05, ready, GREEN_SECONDS_MAX, "every gateway is ready")
        before = self.acked()
        self.world.every(0.02, lambda: self.acked() > before, GREEN_SECONDS_MAX, "a publish is acked")
        return time.monotonic() - began

    def whole(self) -> None:
        """Waits until every node runs and every replica is in step."""
        for node in self.fleet.nodes:
            if node.process is None:
                node.start()
        until(lambda: all(self.fleet._is_well(node) for node in self.fleet.nodes), 60, "every node is well")

    def play(self, kind: str) -> float:
        """One round; seconds until everything was green again."""
        return getattr(self, f"_{kind}")()

    def master(self):
        return self.rng.choice(sorted(self.fleet.masters(), key=lambda node: node.port))

    def _replaced(self, node, slot: int) -> None:
        def is_gone():
            return self.fleet.owner_of_slot(slot, without=node) is not node
        until(is_gone, 30, "the master is replaced")

    def _slot(self, node) -> int:
        return next(slot for slot in (key_slot(f"t{n}".encode()) for n in range(1_000))
                    if self.fleet.owner_of_slot(slot) is node)

    def _kill(self) -> float:
        node = self.master()
        slot, began = self._slot(node), time.monotonic()
        node.kill()
        self._replaced(node, slot)
        seconds = self.green(began)
        pass_time(self.rng.uniform(0, 3), "the dead master stays away")
        node.start()
        return seconds

    def _stop(self) -> float:
        node = self.master()
        slot, began = self._slot(node), time.monotonic()
        node.process.send_signal(signal.SIGSTOP)
        self._replaced(node, slot)
        seconds = self.green(began)
        pass_time(max(0, STOP_SECONDS - seconds), "the old master stands still")
        node.process.send_signal(signal.SIGCONT)
        pass_time(2, "the old master goes on with what it had")
        return seconds

    def _failover(self) -> float:
        began = time.monotonic()
        self.fleet.fail_over(self.master())
        return self.green(began)

    def _move(self) -> float:
        began = time.monotonic()
        for topic in self.rng.sample(self.world.topics, min(MOVES, len(self.world.topics))):
            slot = key_slot(topic.split(":")[1].encode())
            source = self.fleet.owner_of_slot(slot)
            others = [node for node in self.fleet.masters() if node is not source]
            self.fleet.move(slot, self.rng.choice(sorted(others, key=lambda node: node.port)))
        return self.green(began)


def main() -> int:
    parser = runs.arguments(__doc__.split("\n", maxsplit=1)[0], clients=100, rate=100, topics=40)
    parser.add_argument("--kinds", default=",".join(KINDS), help="of " + ", ".join(KINDS))
    options = runs.parse(parser)
    kinds = options.kinds.split(",")
    assert set(kinds) <= set(KINDS), options.kinds
    times = {kind: [] for kind in kinds}
    with runs.directory(options) as outcome:
        report = run(options, outcome.path, kinds, times)
        for kind, seconds in times.items():
            told = " ".join(f"{one:.1f}" for one in seconds)
            print(f"{kind}: {len(seconds)} rounds, green after {told} s", flush=True)
        return runs.close(outcome, report)


def run(options, path, kinds, times):
    """All rounds of all kinds in a seeded order; the checker's report."""
    rng = random.Random(options.seed)
    world_options = runs.world_options(options)
    flags = world_options.pop("flags") + ("--shards", "2")
    with World(path, gateways=2, per_client=1, deadline=60, redis=Fleet(path / "cluster"), flags=flags,
               through_nginx=False, limits={"redisProbeMs": 500}, **world_options) as world:
        world.rate(options.rate)
        rounds = Rounds(world, rng)
        jobs = [kind for kind in kinds for _ in range(options.rounds)]
        rng.shuffle(jobs)
        for number, kind in enumerate(jobs, 1):
            rounds.whole()
            pass_time(CALM_SECONDS, "the load runs undisturbed")
            seconds = rounds.play(kind)
            world.wait_live()
            times[kind].append(seconds)
            print(f"round {number}: {kind}; green after {seconds:.2f} s", flush=True)
        rounds.whole()
        return world.finish()


if __name__ == "__main__":
    sys.exit(main())
