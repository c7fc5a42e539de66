"""Masters die, stand still, are cut off and moved under load, while Sentinels watch; nothing is lost in silence.

Kinds of rounds: kill (SIGKILL of the master; it comes back seconds later), stop (SIGSTOP for ten seconds, SIGCONT),
alone (all Sentinels but one are gone for a while, and links break), brain (the master is cut off from its replica and
the Sentinels, and not from the gateways), cut (the gateways' links to the master are mute), planned (FAILOVER TO;
epochs are kept), host (the master dies together with a slow link to its replica; what was acknowledged and is not on
the replica is counted, and with --redis-wait there is none).

usage: .venv/bin/python Tests/Chaos/fleet.py --rounds 5 [--kinds kill,stop]
       .venv/bin/python Tests/Chaos/fleet.py --rounds 5 --kinds host,cut,alone --redis-wait 1
"""

import json
import signal
import sys
import time

import paths  # noqa: F401
import fleet_rounds
import runs
from Fixtures.processes.fault_proxy import named
from Fixtures.redis.sentinels import SentinelGroup
from Fixtures.redis.waiting import until
from Fixtures.waiting import pass_time
from fleet_rounds import STOP_SECONDS, Rounds
from world import World

KINDS = ("kill", "stop", "alone", "brain", "cut", "planned", "host")
LEFT_SECONDS_MAX = 5
# At 40 publishes a second a dozen are acknowledged meanwhile.
LAG_MS = 300
OURS = named("-subscriber", "-shard-0", "-shard-1", "-wait")


def others(first: bytes) -> bool:
    """Chooses the connections of replicas and Sentinels, and whatever else is no link of a gateway."""
    return not OURS(first)


class GroupRounds(Rounds):
    """The rounds over one world whose Redis is a group."""

    def __init__(self, world, rng, waits: bool):
        super().__init__(world, rng)
        self.group, self.waits = world.redis, waits
        # What was acknowledged and is gone, over all rounds; and how far the publishers' log was looked at.
        self.lost, self.read = 0, 0

    def disturbances(self) -> int:
        """A Sentinel that has stood still for two seconds watches nothing for thirty."""
        return sum(sentinel.tilts for sentinel in self.group.sentinels)

    def mend(self) -> None:
        for server in self.group.servers:
            if server.process is not None:
                server.signal(signal.SIGCONT)
            self.group.proxy_of(server).heal()
        for sentinel in self.group.sentinels:
            if sentinel.process is None:
                sentinel.start()

    def whole(self) -> None:
        """Waits until the group is as it was at the start: all run, one is the master, the others are in step."""
        for server in self.group.servers:
            if server.process is None:
                server.start()
        def in_place():
            # Sentinels that saw a server come back may choose once more.
            master = self.group.master
            for server in self.group.others(master):
                with server.client(socket_timeout=2) as client:
                    told = client.info("replication")
                if told["role"] != "slave" or told["master_link_status"] != "up":
                    return False
            with master.client(socket_timeout=2) as client:
                return client.info("replication")["connected_slaves"] == len(self.group.servers) - 1
        until(in_place, 60, "the group is whole")
        until(self.group.know_each_other, 60, "the Sentinels know everything")

    def _kill(self) -> float:
        master, began = self.group.master, time.monotonic()
        master.kill()
        seconds = self.green(began)
        self.group.wait_master(master)
        pass_time(self.rng.uniform(0, 3), "the dead master stays away")
        master.start()
        return seconds

    def _stop(self) -> float:
        master, began = self.group.master, time.monotonic()
        master.signal(signal.SIGSTOP)
        self.group.wait_master(master)
        seconds = self.green(began)
        pass_time(max(0, STOP_SECONDS - seconds), "the old master stands still")
        master.signal(signal.SIGCONT)
        pass_time(2, "the old master goes on with what it had")
        return seconds

    def _alone(self) -> float:
        for sentinel in self.group.sentinels[1:]:
            sentinel.stop()
        pass_time(1, "one Sentinel is left")
        self.publishes(20, "links that work are kept")
        with self.group.servers_master().client() as client:
            client.client_kill_filter(_type="normal", skipme=True)
        pass_time(self.rng.uniform(1, 3), "no link can be made")
        began = time.monotonic()
        for sentinel in self.group.sentinels[1:]:
            sentinel.start()
        return self.green(began)

    def _brain(self) -> float:
        """The old master keeps the gateways and loses everybody else."""
        master, began = self.group.master, time.monotonic()
        proxy = self.group.proxy_of(master)
        proxy.refuse(others)
        proxy.reset_all(others)
        port = self.group.port_of(self.group.wait_master(master))
        self.world.every(0.02, lambda: all(
            gateway.metric("switchboard_redis_master", address=f"127.0.0.1:{port}") == 1
            for gateway in self.world.gateways), LEFT_SECONDS_MAX, "every gateway follows the Sentinels")

        def left():
            with master.client() as client:
                return not [one for one in client.client_list()
                            if one["name"].endswith(("-subscriber", "-shard-0", "-shard-1"))]
        self.world.every(0.02, left, 2, "no link leads to the old master")
        seconds = self.green(began)
        proxy.heal()
        return seconds

    def _cut(self) -> float:
        proxy, began = self.group.proxy_of(self.group.master), time.monotonic()
        proxy.drop_to_client(OURS)
        pass_time(self.rng.uniform(1, 4), "the links are mute")
        proxy.heal()
        return self.green(began)

    def lose_lagged_master(self, lag_seconds: float, links) -> float:
        """Delays the chosen links, then cuts them and kills the master; returns the time of the kill.

        The replica lacks the last writes when it takes over. The proxy keeps refusing until the caller heals it.
        """
        master = self.group.master
        proxy = self.group.proxy_of(master)
        proxy.delay(LAG_MS, links)
        pass_time(lag_seconds, "the replica lags")
        began = time.monotonic()
        proxy.refuse(links)
        proxy.reset_all(links)
        master.kill()
        self.group.wait_master(master)
        return began

    def _host(self) -> float:
        """A kernel delivers what a dead process wrote; a dead host does not."""
        master = self.group.master
        proxy = self.group.proxy_of(master)
        self._acknowledged()
        began = self.lose_lagged_master(self.rng.uniform(1, 2), others)
        with self.group.client() as client:
            stored = {key.rsplit(b"#", 1)[1].decode() for key in client.scan_iter("*#seen#*", count=1_000)}
        lost = self._acknowledged() - stored
        self.lost += len(lost)
        print(f"acknowledged and lost: {len(lost)}", flush=True)
        assert not (self.waits and lost), f"lost although the replica had to have it: {sorted(lost)[:5]}"
        assert self.waits or lost, "nothing was lost without --redis-wait either: so nothing is proven"
        proxy.heal()
        # With --redis-wait nothing is acknowledged before the new master has a replica.
        master.start()
        return self.green(began)

    def _acknowledged(self) -> set:
        """The ids that were acknowledged since the last look."""
        # The log is written out when the publishers are asked something.
        self.acked()
        found = set()
        with open(self.world.directory / "publisher.jsonl", encoding="utf-8") as log:
            log.seek(self.read)
            for line in log:
                if line[-1:] != "\n":
                    break
                self.read += len(line.encode())
                if "ack" in (entry := json.loads(line)):
                    found.add(entry["ack"])
        return found

    def _planned(self) -> float:
        master, kept, reset = self.group.master, self.changes("kept"), self.changes("reset")
        other = self.group.others(master)[0]
        began = time.monotonic()
        with master.client() as client:
            # A replica is taken once the master counts it as online.
            until(lambda: client.execute_command("FAILOVER", "TO", "127.0.0.1", self.group.port_of(other)))
        # Redis answers before it begins, and until the replica is in step the old master is still the master.
        self.judged(kept + reset + len(self.world.gateways))
        seconds = self.green(began)
        assert self.changes("reset") == reset, "an epoch ended without need"
        # The Sentinels see a master that says it is a replica, and fail over by themselves.
        self.group.wait_master(master, 90)
        return seconds


def make_world(options, path) -> World:
    """Two gateways over a master, its replica and three Sentinels."""
    more = ("--redis-wait", str(options.redis_wait)) if options.redis_wait else ()
    return World(path, gateways=2, per_client=1, deadline=60, redis=SentinelGroup(path / "group", proxied=True),
                 flags=(*more, "--shards", "2"), through_nginx=False, **runs.world_options(options))


def judge(_, played, report) -> list:
    """Whether clients were told, where they had to be."""
    missed = {"kill", "stop", "brain"} & {one.kind for one in played} and not report.counts["resets"]
    return ["nobody was told anything: was there a failover at all?"] if missed else []


def main() -> int:
    parser = fleet_rounds.arguments(__doc__.split("\n")[0], KINDS, topics=20)
    parser.add_argument("--redis-wait", type=int, default=0)
    options = fleet_rounds.parse(parser, KINDS)
    # While one of two servers is away, nothing has a replica.
    lonely = {"kill", "stop", "brain"} & set(options.kinds)
    assert not options.redis_wait or not lonely, "not with --redis-wait"
    return fleet_rounds.run(
        options, make_world, lambda world, rng: GroupRounds(world, rng, bool(options.redis_wait)), judge)


if __name__ == "__main__":
    sys.exit(main())
