"""One Redis or a Cluster of several masters, with gateways before it and publishes by HTTP: what a round of it cost.

Gateways have one CPU, Redis and the load the other. Processor time is the kernel's, of every thread of a process.
"""

import asyncio
import json
import os
import re
import subprocess
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from websockets.asyncio.client import connect

import paths
from Fixtures.clients.tokens import SECRET
from Fixtures.processes.gateway import API_KEY, Gateway
from Fixtures.redis.cluster import RedisCluster
from Fixtures.redis.server import RedisServer
from measure import LIMITS, LOAD_CPU, SERVER_CPU, cpu_us

# As an operator leaves it: masters that share a CPU answer each other late.
NODE_TIMEOUT_MS = 15_000
# A node's limit for one connection is 256.
HEARD_MAX = 250
BYTES = 200


@dataclass(frozen=True)
class Spent:
    """What some seconds cost: publishes answered, and for each master its processor time in us and its calls."""

    seconds: float
    published: int
    refused: int
    gateways_us: float
    masters_us: tuple
    calls: tuple

    @property
    def redis_us(self) -> float:
        """Of all masters."""
        return sum(self.masters_us)


def net(spent: Spent, bare: Spent) -> tuple:
    """Each master's processor time without what it takes for gateways that have nothing to do."""
    return tuple(max(busy - idle * spent.seconds / bare.seconds, 0.0)
                 for busy, idle in zip(spent.masters_us, bare.masters_us, strict=True))


def pin(pid: int, cpu: int) -> None:
    """Every thread that is there, and whatever they start; on one CPU nothing is pinned."""
    if (os.cpu_count() or 1) > 1:
        for task in Path(f"/proc/{pid}/task").iterdir():
            os.sched_setaffinity(int(task.name), {cpu})


class Ears:
    """Connections to each gateway that hear topics, read by a thread of their own; a context manager."""

    def __init__(self, gateways, topics):
        parts = [topics[first:first + HEARD_MAX] for first in range(0, len(topics), HEARD_MAX)]
        self._due = [(gateway, part) for gateway in gateways for part in parts]
        # Events that came, of all connections.
        self.heard = 0
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    def __enter__(self) -> "Ears":
        self._thread.start()
        self._links = [self._run(self._open(gateway)) for gateway, _ in self._due]
        return self

    def join(self) -> "Ears":
        """Joins the topics, each connection one after the other, and reads from then on."""
        self._run(self._join_all())
        for link in self._links:
            asyncio.run_coroutine_threadsafe(self._read(link), self._loop)
        return self

    def __exit__(self, *_):
        for link in self._links:
            self._run(link.close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    def _run(self, coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(120)

    @staticmethod
    async def _open(gateway):
        return await connect("wss://%s:%d/ws" % gateway.address(), ssl=gateway.certificate.trusting_context(),
                             compression=None, proxy=None, max_queue=None, ping_interval=None)

    async def _join_all(self):
        await asyncio.gather(*(self._join(link, topics) for link, (_, topics) in zip(self._links, self._due)))

    @staticmethod
    async def _join(link, topics):
        for topic in topics:
            await link.send(json.dumps({"event": "subscribe", "data": {"topic": topic}}))
            answer = json.loads(await link.recv())
            if answer["event"] != "subscribed":
                raise RuntimeError(f"not subscribed: {answer}")

    async def _read(self, link):
        async for _ in link:
            self.heard += 1


class Arrangement:
    """So many masters and gateways, started and stopped together; a context manager."""

    def __init__(self, directory: Path, certificate, masters: int, replicas: int = 0, gateways: int = 1):
        directory.mkdir(parents=True, exist_ok=True)
        self.name = f"{masters} master{'s' * (masters > 1)}"
        self.cluster = self.server = None
        if masters > 1:
            self.cluster = RedisCluster(directory / "cluster", masters=masters, replicas=replicas,
                                        timeout_ms=NODE_TIMEOUT_MS)
            self.masters, self.servers = self.cluster.nodes[:masters], self.cluster.nodes
        else:
            # By TCP, as the nodes of a Cluster are.
            self.server = RedisServer(directory / "redis", tcp=True)
            self.masters = self.servers = [self.server]
        self._directory, self._certificate = directory, certificate
        self.gateways = [self._gateway(number, 1) for number in range(gateways)]

    def _gateway(self, number: int, shards: int) -> Gateway:
        url = (self.cluster or self.server).url
        return Gateway(self._directory / f"gateway-{number}", url, self._certificate, SECRET, "--shards", str(shards),
                       "--log-level", "warn", limits=LIMITS)

    def add_gateway(self, shards: int) -> Gateway:
        """One more, which is ready."""
        self.gateways.append(self._gateway(len(self.gateways), shards))
        self.gateways[-1].start().wait_ready(30)
        pin(self.gateways[-1].process.pid, SERVER_CPU)
        return self.gateways[-1]

    def __enter__(self) -> "Arrangement":
        try:
            (self.cluster or self.server).start()
            for gateway in self.gateways:
                gateway.start()
            for gateway in self.gateways:
                gateway.wait_ready(30)
                pin(gateway.process.pid, SERVER_CPU)
            for server in self.servers:
                pin(server.process.pid, LOAD_CPU)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for gateway in self.gateways:
            gateway.stop()
        (self.cluster or self.server).stop()

    def publish(self, seconds: int, topics: int, connections: int, pause_ms: int = 0) -> Spent:
        """Single publishes to the topics in turn, through all gateways; each connection rests `pause_ms` on average."""
        return self.spent(lambda: self._load(seconds, topics, connections, pause_ms))

    def rest(self, seconds: float) -> Spent:
        """The same without a publish: probes, and what masters tell each other."""
        return self.spent(lambda: time.sleep(seconds) or (0, 0))

    def spent(self, run) -> Spent:
        """What something costs, which returns how many publishes were answered and refused."""
        before, began = self._counts(), time.monotonic()
        published, refused = run()
        seconds, after = time.monotonic() - began, self._counts()
        gateways, masters, calls = (
            [late - early for late, early in zip(now, then, strict=True)] for now, then in zip(after, before))
        return Spent(seconds, published, refused, sum(gateways), tuple(masters), tuple(calls))

    def _counts(self) -> tuple:
        """Processor time of gateways and of masters, and how many scripts each master ran."""
        return ([cpu_us([gateway.process.pid]) for gateway in self.gateways],
                [cpu_us([master.process.pid]) for master in self.masters], [self._calls(one) for one in self.masters])

    @staticmethod
    def _calls(master) -> int:
        with master.client() as db:
            return db.info("commandstats").get("cmdstat_evalsha", {"calls": 0})["calls"]

    def _load(self, seconds: int, topics: int, connections: int, pause_ms: int) -> tuple:
        """What wrk says: requests answered, and those that were not answered well."""
        environment = os.environ | {"KEY": API_KEY, "EVENTS": "1", "TOPICS": str(topics), "BYTES": str(BYTES),
                                    "PAUSE_MS": str(pause_ms)}
        share = max(1, connections // len(self.gateways))
        # Its threads run where it was started.
        started = [subprocess.Popen(
            ["taskset", "--cpu-list", str(LOAD_CPU if (os.cpu_count() or 1) > 1 else 0), "wrk", "-t1", f"-c{share}",
             f"-d{seconds}s", "-s", str(paths.ROOT / "bench/publish.lua"), f"{gateway.origin}/v1/broadcast"],
            env=environment, stdout=subprocess.PIPE, text=True) for gateway in self.gateways]
        published = refused = 0
        for process in started:
            text = process.communicate()[0]
            found = re.search(r"^RESULT (\d+) \d+ \d+ \d+ (\d+)$", text, re.MULTILINE)
            if not found:
                raise RuntimeError("wrk said:\n" + text)
            published, refused = published + int(found[1]), refused + int(found[2])
        return published, refused
