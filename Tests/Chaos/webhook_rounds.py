"""Epochs end under load while a receiver of webhooks is slow; what was acknowledged is sent, or a gap covers its place.

Kinds of rounds: kill (SIGKILL of Redis, which comes back with its data), reset (`switchboard reset-epochs`), failover
(a Sentinel group loses its master while the replica lags, and with it what was acknowledged last), move (slots of
topics go to another master of a Redis Cluster).

usage: .venv/bin/python Tests/Chaos/webhook_rounds.py --rounds 20 [--kinds kill,move] [--seed N] [--hurry]

Each kind has an installation of its own. Before each fault every topic gets more events than the receiver takes
meanwhile, since it answers after 250 ms. A round begins when the receiver has everything. With --hurry it does not
wait: epochs end faster than the receiver follows, and one past log is too few. Prints a table: `covered` are events
that a gap stands for. Exits with 1 when an event is silently lost or out of order.
"""

import base64
import collections
import contextlib
import json
import random
import secrets
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import paths  # noqa: F401
import fleet
import fleet_rounds
import httpx
from cluster_fleet import Fleet, of_others
from cluster_rounds import ClusterRounds
from commanded import Commanded
from Fixtures.clients.certificates import write_certificate
from Fixtures.clients.tokens import SECRET
from Fixtures.outside.server import Answer, OutsideServer
from Fixtures.processes.courier import CourierProcess
from Fixtures.processes.epoch_reset import reset
from Fixtures.processes.gateway import API_KEY, Gateway
from Fixtures.redis.sentinels import SentinelGroup
from Fixtures.redis.server import RedisServer
from Fixtures.waiting import pass_time
from fleet_rounds import Rounds
from world import LIMITS, NAMESPACES, PERSISTENCE, World

KINDS = ("kill", "reset", "failover", "move")
ANSWER_SECONDS = 0.25
BURST_PER_TOPIC = 6
CALM_SECONDS_MAX = 20
LEFT_SECONDS_MAX = 120
TIMEOUTS_MAX = 4
COURIER_LIMITS = {"webhookSweepMs": 2_000, "webhookPauseMs": 1_000}


class Patient:
    """Waits for a gateway that a busy machine keeps from answering at all."""

    def green(self, began: float) -> float:
        """As `Rounds` has it."""
        for _ in range(TIMEOUTS_MAX):
            with contextlib.suppress(httpx.TimeoutException):
                return super().green(began)
        return super().green(began)


class Server(Patient, Rounds):
    """Rounds over one server."""

    def whole(self) -> None:
        pass

    def _kill(self) -> float:
        began = time.monotonic()
        self.fleet.kill()
        pass_time(self.rng.uniform(0, 1), "Redis is away")
        self.fleet.start()
        return self.green(began)

    def _reset(self) -> float:
        began = time.monotonic()
        reset(self.fleet, "--again")
        return self.green(began)


class Group(Patient, fleet.GroupRounds):
    """Rounds over a master and its replica."""

    def __init__(self, world, rng):
        super().__init__(world, rng, waits=False)

    def _failover(self) -> float:
        """The replica has none of what was acknowledged last."""
        master = self.group.master
        proxy = self.group.proxy_of(master)
        began = self.lose_lagged_master(self.rng.uniform(0.5, 1), of_others)
        proxy.heal()
        master.start()
        return self.green(began)


class Cluster(Patient, ClusterRounds):
    """Rounds over a cluster."""


class Receiver:
    """Takes everything, slowly, and keeps what came."""

    def __init__(self):
        self.taken = []

    def __call__(self, asked) -> Answer:
        self.taken.append(json.loads(asked.body))
        return Answer(204, after=ANSWER_SECONDS)


class Installation:
    """Redis, a gateway, a courier, the receiver and publishers; for `Rounds`, it has the names of a World."""

    every = staticmethod(World.every)

    def __init__(self, directory: Path, kind: str, topics: int, seed: int):
        self.directory, self.seed = directory, seed
        self.topics = [f"load:t{number}" for number in range(topics)]
        self.redis, self.play = {
            "failover": lambda: (SentinelGroup(directory / "group", proxied=True), Group),
            "move": lambda: (Fleet(directory / "cluster"), Cluster),
        }.get(kind, lambda: (RedisServer(directory / "redis", *PERSISTENCE["everysec"]), Server))()
        self.receiver = Receiver()
        self.stack = contextlib.ExitStack()

    def __enter__(self) -> "Installation":
        with contextlib.ExitStack() as stack:
            self._start(stack)
            self.stack = stack.pop_all()
        return self

    def _start(self, stack) -> None:
        certificate = write_certificate(self.directory)
        stack.callback(self.redis.stop)
        self.redis.start()
        server = stack.enter_context(OutsideServer(certificate, self.receiver))
        config = {"namespaces": NAMESPACES}
        gateway = Gateway(self.directory / "gateway", self.redis.url, certificate, SECRET, limits=LIMITS, config=config)
        stack.callback(gateway.stop)
        gateway.start().wait_ready(20)
        self.gateways = [gateway]
        secret = self.directory / "hook-secret"
        secret.write_bytes(b"whsec_" + base64.b64encode(secrets.token_bytes(32)) + b"\n")
        hook = {"url": server.url, "secret-file": str(secret), "topics": ["load:*"]}
        (self.directory / "courier").mkdir()
        self.courier = CourierProcess(self.directory / "courier", self.redis.url, certificate,
                                      {"webhooks": {"slow": hook}}, limits=COURIER_LIMITS)
        stack.callback(self.courier.stop)
        self.courier.start()
        self.publishers = Commanded(
            [sys.executable, Path(__file__).with_name("publishers.py"), "--target", "%s:%d" % gateway.address(),
             "--ca", certificate.cert, "--key", API_KEY, "--topics", f"load:t:{len(self.topics)}", "--log",
             self.directory / "publisher.jsonl", "--seed", self.seed, "--batch", "8", "--deadline", "60"],
            self.directory / "publishers.err")
        stack.callback(self.publishers.end)
        self.publishers.ask("once", 30)

    def __exit__(self, *_):
        self.stack.close()

    def acknowledged(self) -> list:
        """What was acknowledged: topic, epoch, offset."""
        self.publishers.ask("status")
        lines = (self.directory / "publisher.jsonl").read_text("ascii").splitlines()
        return [(entry["topic"], entry["epoch"], entry["offset"])
                for entry in map(json.loads, lines) if "ack" in entry]


class Verdict(NamedTuple):
    """What became of all events of an installation."""

    acknowledged: int
    sent: int
    repeated: int
    gaps: int
    covered: int
    silent: list
    disordered: list


def judge(acknowledged: list, taken: list) -> Verdict:
    """Compares what was acknowledged with what came."""
    epochs, told = collections.defaultdict(list), collections.defaultdict(list)
    for topic, epoch, _ in acknowledged:
        if epoch not in epochs[topic]:
            epochs[topic].append(epoch)
    for one in taken:
        told[one["topic"]].append(one)
    wanted, sent, silent, disordered, covered = set(acknowledged), set(), [], [], 0
    for topic in epochs:
        events = list(dict.fromkeys((one["epoch"], one["offset"]) for one in told[topic] if one["type"] != "gap"))
        gaps = [one for one in told[topic] if one["type"] == "gap"]
        sent |= {(topic, *place) for place in events}
        order = {epoch: number for number, epoch in enumerate(epochs[topic])}
        known = [(order[epoch], offset) for epoch, offset in events if epoch in order]
        disordered += [(topic, *one) for one, after in zip(known, known[1:]) if one > after]
        for epoch, offset in {place[1:] for place in wanted if place[0] == topic} - set(events):
            if any(is_covered(order, epoch, offset, gap) for gap in gaps):
                covered += 1
            else:
                silent.append((topic, epoch, offset))
    count = sum(one["type"] != "gap" for one in taken)
    return Verdict(len(wanted), len(wanted & sent), count - len(sent), len(taken) - count, covered, sorted(silent),
                   disordered)


def is_covered(order: dict, epoch: str, offset: int, gap: dict) -> bool:
    """Whether a gap stands for an event, as docs/courier.md says; `order` is that of the topic's epochs."""
    after, place = gap["after"], order[epoch]
    if gap["data"]["missed"] is not None:
        return gap["epoch"] == epoch and after["offset"] < offset < gap["offset"]
    if after["epoch"] == epoch:
        return offset > after["offset"]
    if gap["epoch"] == epoch:
        return offset < gap["offset"]
    # An epoch in which nothing was acknowledged has no place.
    return order.get(after["epoch"], -1) < place < order.get(gap["epoch"], len(order))


def catch_up(one: Installation, seconds_max: float) -> list:
    """Waits until everything that was acknowledged so far has come, or until the time is over; what it was."""
    acknowledged = one.acknowledged()
    with contextlib.suppress(AssertionError):  # The verdict says what is missing.
        one.every(0.2, lambda: not judge(acknowledged, one.receiver.taken).silent, seconds_max, "all came")
    return acknowledged


def play(kinds: list, topics: int, rate: float, seed: int, directory: Path, hurries: bool = False) -> Verdict:
    """Rounds of these kinds, all of one installation; waits until everything that was acknowledged has come."""
    with Installation(directory, kinds[0], topics, seed) as one:
        rng = random.Random(seed)
        faults = one.play(one, rng)
        one.publishers.ask(f"rate {rate}")
        for kind in kinds:
            faults.whole()
            if not hurries:
                catch_up(one, CALM_SECONDS_MAX)
            one.publishers.ask(f"burst {BURST_PER_TOPIC * topics} 100")
            pass_time(rng.uniform(0.1, 1.5), "the receiver is behind")
            faults.play(kind)
            pass_time(rng.uniform(0.5, 1.5), "the load runs undisturbed")
        faults.whole()
        one.publishers.ask("stop", 90)
        one.every(0.2, lambda: int(one.publishers.ask("once", 60)) == topics, 60, "a last event on each topic")
        return judge(catch_up(one, LEFT_SECONDS_MAX), one.receiver.taken)


def main() -> int:
    parser = fleet_rounds.arguments(__doc__.split("\n")[0], KINDS, topics=10)
    parser.add_argument("--hurry", action="store_true", help="do not wait for the receiver between rounds")
    options = fleet_rounds.parse(parser, KINDS)
    rate = min(options.rate, 1.5 * options.topics)  # Beside the bursts; the receiver takes four a second of each topic.
    failed = False
    print("kind      rounds  acknowledged  sent   repeated  gaps  covered  silent  disordered", flush=True)
    for kind in options.kinds:
        directory = Path(tempfile.mkdtemp(prefix=f"switchboard-hooks-{kind}-"))
        found = play([kind] * options.rounds, options.topics, rate, options.seed, directory, options.hurry)
        print(f"{kind:8}  {options.rounds:6}  {found.acknowledged:12}  {found.sent:5}  {found.repeated:8}  "
              f"{found.gaps:4}  {found.covered:7}  {len(found.silent):6}  {len(found.disordered):10}", flush=True)
        if found.silent or found.disordered:
            failed = True
            print(f"  logs: {directory}; lost {found.silent[:5]}, disordered {found.disordered[:5]}", flush=True)
        else:
            shutil.rmtree(directory, ignore_errors=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
