"""Masters of a Redis Cluster die, stand still, are cut off and moved, and so are slots, under load.

Nothing is lost in silence, and topics of other slots are never interrupted. Kinds of rounds: kill (SIGKILL of a
master; it comes back seconds later), stop (SIGSTOP of a master for ten seconds, SIGCONT), failover (CLUSTER FAILOVER,
in which no epoch may end), move (slots of topics are moved one by one to another master), cut (one gateway and one
master do not reach each other), brain (a master is cut off from all other nodes, and not from the gateways), add (a
master is added, takes a quarter of the slots, gives them back and leaves).

usage: .venv/bin/python Tests/Chaos/cluster_rounds.py --rounds 5 [--kinds kill,move]
"""

import signal
import sys
import time

import paths  # noqa: F401
import fleet_rounds
import runs
from cluster_fleet import IDLE_SECONDS, Fleet, slot_of
from elsewhere import Elsewhere
from Fixtures.redis.waiting import until
from Fixtures.waiting import pass_time
from fleet_rounds import STOP_SECONDS, Rounds
from world import World

KINDS = ("kill", "stop", "failover", "move", "cut", "brain", "add")
# Those that need proxies before the nodes; the others are played without.
BY_PROXY = {"cut", "brain"}
MOVES = 10
LEFT_SECONDS_MAX = 5
# Each message is published by itself, and those that wait for a master that is away do not hold up the others.
PUBLISHERS = 64
# Gateways, and the shards of each.
GATEWAYS, SHARDS = 2, 2
LINKS = GATEWAYS * SHARDS


class ClusterRounds(Rounds):
    """The rounds over one world whose Redis is a cluster."""

    def whole(self) -> None:
        """Waits until every node runs and every replica is in step."""
        for node in self.fleet.nodes:
            if node.process is None:
                node.start()
        until(lambda: all(self.fleet.is_well(node) for node in self.fleet.nodes), 60, "every node is well")

    def mend(self) -> None:
        self.fleet.go_on()
        self.fleet.heal()

    def master(self):
        """One of the masters; this round is about its topics."""
        node = self.rng.choice(sorted(self.fleet.masters(), key=lambda node: node.port))
        self.concerned = self.fleet.topics_of(node, self.world.topics)
        return node

    def _replaced(self, node, slot: int) -> None:
        def is_gone():
            return self.fleet.owners(without=node)[slot] not in (node, None)
        until(is_gone, 30, "the master is replaced")

    def _slot(self, node) -> int:
        return self.fleet.owners().index(node)

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
        node, began = self.master(), time.monotonic()
        kept, reset = self.changes("kept"), self.changes("reset")
        self.fleet.fail_over(node)
        seconds = self.green(began)
        # On a Cluster each shard of a gateway judges for itself.
        self.judged(kept + reset + LINKS)
        assert self.changes("reset") == reset, "an epoch ended without need"
        return seconds

    def _move(self) -> float:
        began = time.monotonic()
        self.concerned = set(self.rng.sample(self.world.topics, min(MOVES, len(self.world.topics))))
        for topic in sorted(self.concerned):
            slot = slot_of(topic)
            source = self.fleet.owner_of_slot(slot)
            others = [node for node in self.fleet.masters() if node is not source]
            self.fleet.move(slot, self.rng.choice(sorted(others, key=lambda node: node.port)))
        return self.green(began)

    def _cut(self) -> float:
        """The other gateway stays ready; seconds count from the moment when the network is whole again."""
        node, gateway = self.master(), self.rng.choice(self.world.gateways)
        theirs = f"switchboard-{self._name(gateway)}-".encode()
        node.door.drop_to_client(lambda first: theirs in first)
        node.door.drop_to_server(lambda first: theirs in first)
        self.world.every(0.05, lambda: gateway.ops("/readyz").status_code == 503, 10, "the gateway misses the master")
        pass_time(self.rng.uniform(1, 4), "one gateway is cut off from one master")
        assert all(other.ops("/readyz").status_code == 200 for other in self.world.gateways if other is not gateway)
        node.door.heal()
        return self.green(time.monotonic())

    @staticmethod
    def _name(gateway) -> str:
        """What the gateway calls itself."""
        with gateway.http() as http:
            return http.get("/v1/topics/load:t0/audit").json()["node"]

    def _brain(self) -> float:
        """The old master keeps the gateways and loses everybody else."""
        node = self.master()
        slot, began = self._slot(node), time.monotonic()
        self.fleet.isolate(node)
        self._replaced(node, slot)

        def left():
            with node.client() as client:
                return not [one for one in client.client_list()
                            if one["name"].startswith("switchboard-") and one["ssub"] != "0"]
        self.world.every(0.02, left, LEFT_SECONDS_MAX, "nobody listens to the old master")
        seconds = self.green(began)
        self.fleet.heal()
        return seconds

    def _add(self) -> float:
        new, owners = self.fleet.add_master(), self.fleet.owners()
        shares = {}
        for donor in self.fleet.masters():
            slots = [slot for slot, owner in enumerate(owners) if owner is donor]
            # What is left is a quarter less than a third of the slots.
            if slots:
                shares[donor] = slots[-len(slots) // 4:]
        given = {slot for slots in shares.values() for slot in slots}
        self.concerned = {topic for topic in self.world.topics if slot_of(topic) in given}
        began = time.monotonic()
        for donor, slots in shares.items():
            self.fleet.hand_over(slots, donor, new)
        seconds = self.green(began)
        for donor, slots in shares.items():
            self.fleet.hand_over(slots, new, donor)
        self.green(began)
        self.fleet.remove(new)
        return seconds


def make_world(options, path) -> World:
    """Two gateways over a cluster of three masters and three replicas."""
    fleet = Fleet(path / "cluster", proxied=bool(BY_PROXY & set(options.kinds)))
    return World(path, gateways=GATEWAYS, per_client=1, deadline=60, redis=fleet, flags=("--shards", str(SHARDS)),
                 through_nginx=False, publishers=PUBLISHERS, batch=1, limits={"redisProbeMs": 500},
                 settle_seconds=IDLE_SECONDS + 15, **runs.world_options(options))


def judge(path, played, _) -> list:
    """What topics of other slots suffered."""
    return Elsewhere(path).judge(played)


def main() -> int:
    options = fleet_rounds.parse(fleet_rounds.arguments(__doc__.split("\n")[0], KINDS, topics=40), KINDS)
    return fleet_rounds.run(options, make_world, ClusterRounds, judge)


if __name__ == "__main__":
    sys.exit(main())
