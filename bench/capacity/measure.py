"""Measures the figures of the model with switchboard-bench, one gateway, one Redis and nginx on this machine."""

import contextlib
import json
import os
import re
import subprocess
import tempfile
import time
from pathlib import Path

import paths
from Fixtures.clients.certificates import write_certificate
from Fixtures.clients.tokens import SECRET
from Fixtures.processes.figures import private_bytes
from Fixtures.processes.gateway import API_KEY, Gateway
from Fixtures.processes.nginx import RunningNginx
from Fixtures.redis.server import RedisServer
from Fixtures.waiting import eventually
from model import RATES

BENCH = Path(os.environ.get("SWITCHBOARD_BENCH", paths.ROOT / ".build/release/switchboard-bench"))
SERVER_CPU, LOAD_CPU = 0, 1
# One address opens everything here, and far faster than any client would; users vote far faster, too.
LIMITS = {name: 1_000_000 for name in (
    "connectionsPerAddressMax", "topicsPerAddressMax", "connectsPerAddressPerSecond", "unauthenticatedPerAddressMax",
    "unauthenticatedMax",
    "messagesPerSecond", "userActionsPerSecond", "joinsPerSecond")} | {name: 100_000_000 for name in (
    "addressRedisUsPerSecond", "anonymousRedisUsPerSecond", "userRedisUsPerSecond")}
DATA = json.dumps({"m": "x" * 190})
COPIES = 8
TOPICS, EVENTS = 200, 100
OPEN_SECONDS_MAX = 300
LOOK_SECONDS, SETTLE_SECONDS = 0.2, 2


def cpu_us(pids) -> float:
    """CPU that all threads of some processes have used, from the scheduler's own clock (proc(5), schedstat)."""
    return sum(int(path.read_text().split()[0]) / 1_000 for pid in pids for path in
               Path(f"/proc/{pid}/task").glob("*/schedstat"))


def kernel_bytes() -> int:
    """Slab and TCP buffers of the whole machine."""
    slab = re.search(r"^Slab: +(\d+) kB", Path("/proc/meminfo").read_text(), re.M)
    pages = re.search(r"^TCP:.* mem (\d+)", Path("/proc/net/sockstat").read_text(), re.M)
    return int(slab[1]) * 1_024 + int(pages[1]) * os.sysconf("SC_PAGE_SIZE")


def loopback_bytes() -> int:
    """Bytes received on lo."""
    return int(re.search(r"lo: *(\d+)", Path("/proc/net/dev").read_text())[1])


class Measuring:
    """One gateway with one shard on one CPU, its Redis and the load on another; a context manager."""

    def __init__(self, quick: bool):
        # A quick look is for trying the program; its figures are not for the document.
        self.quick = quick
        self.connections = 1_000 if quick else 10_000
        self.seconds = 3 if quick else 10
        self.unicast_rate = 1_000 if quick else 5_000
        self.publishes = 20_000 if quick else 200_000
        self._directory = tempfile.TemporaryDirectory(prefix="switchboard-capacity-")
        self.found = {}

    def __enter__(self) -> "Measuring":
        self.directory = Path(self._directory.name)
        self.certificate = write_certificate(self.directory)
        self.affinity = os.sched_getaffinity(0)
        return self

    def __exit__(self, *_):
        os.sched_setaffinity(0, self.affinity)
        self._directory.cleanup()

    # One step is one fresh installation.

    def step(self, name: str) -> None:
        """Measures the figures of one step."""
        if name == "masters":
            self.masters()
            return
        proxied = ("--trust-proxy", "127.0.0.1/32", "--proxy-protocol", "tls") if name == "nginx" else ()
        place = self.directory / name
        self.server = RedisServer(place / "redis")
        self.gateway = Gateway(place / "gateway", self.server.url, self.certificate, SECRET, "--shards", "1", *proxied,
                               limits=LIMITS)
        try:
            self._pin(LOAD_CPU)
            self.server.start()
            self._pin(SERVER_CPU)
            self.gateway.start().wait_ready()
            self.url = "wss://%s:%d" % self.gateway.address()
            self.pids = [self.gateway.process.pid]
            getattr(self, name)()
        finally:
            self._pin(*self.affinity)
            self.gateway.stop()
            self.server.stop()

    @staticmethod
    def _pin(*cpus) -> None:
        """Processes started from now on run there."""
        os.sched_setaffinity(0, {cpu for cpu in cpus if cpu < os.cpu_count()})

    def _start(self, scenario: str, **flags):
        self._pin(LOAD_CPU)
        self.output = self.directory / "run.json"
        self.output.unlink(missing_ok=True)
        words = [BENCH, scenario, "--url", self.url, "--api-key", API_KEY, "--secret-file",
                 self.gateway.directory / "secret", "--pid", ",".join(map(str, self.pids)), "--redis-pid",
                 self.server.process.pid, "--redis", self.server.url, "--json", self.output]
        words += [word for name, value in flags.items() for word in (f"--{name.replace('_', '-')}", value)]
        self.errors = open(self.directory / "run.log", "ab")
        return subprocess.Popen([str(word) for word in words], stdout=self.errors, stderr=self.errors)

    def _end(self, process) -> dict:
        code = process.wait(OPEN_SECONDS_MAX)
        self.errors.close()
        if code != 0:
            raise RuntimeError((self.directory / "run.log").read_text()[-3_000:])
        return json.loads(self.output.read_text())["runs"][-1] if self.output.exists() else {}

    def tool(self, scenario: str, **flags) -> dict:
        """One run of the load tool; the result it wrote."""
        return self._end(self._start(scenario, **flags))

    def opened(self, take, scenario: str, **flags):
        """The tool's result, and what grew in a measurement between before its connections and when all were open."""
        before, descriptors = take(), self.gateway.fd_count
        process = self._start(scenario, connections=self.connections, **flags)
        # By descriptors: asking the gateway would be a part of what it is measured by.
        self._wait(lambda: process.poll() is not None or self.gateway.fd_count - descriptors >= self.connections,
                   "every connection")
        # Handshakes and subscriptions that are still under way take memory of their own.
        time.sleep(SETTLE_SECONDS)
        grown = [now - then for now, then in zip(take(), before)]
        if process.poll() is not None:
            self._end(process)
            raise RuntimeError("the tool ended before its connections were measured; were others still closing?")
        return self._end(process), grown

    @staticmethod
    def _wait(condition, what: str) -> None:
        """Waits for a condition, looking so seldom that it does not show."""
        over = time.monotonic() + OPEN_SECONDS_MAX
        while not condition():
            if time.monotonic() > over:
                raise TimeoutError(f"not within {OPEN_SECONDS_MAX} s: {what}")
            time.sleep(LOOK_SECONDS)

    # The steps

    def idle(self) -> None:
        """Set-up, memory, and what silence costs."""
        self.found["base_bytes"] = private_bytes(self.pids[0])
        result, [kernel] = self.opened(lambda: [kernel_bytes()], "idle", seconds=self.seconds)
        server = result["server"]
        # Both ends of each connection are on this machine.
        self.found["kernel_bytes"] = kernel / self.connections / 2
        self.found["setup_us"] = server["cpuUsPerConnection"]
        self.found["connection_bytes"] = server["privateBytesPerConnection"]
        self.found["idle_us"] = server["cores"] * 1e6 / self.connections

    def fanout(self) -> None:
        """Deliveries to 1,000 connections at rising rates."""
        for rate in RATES:
            before = loopback_bytes()
            result = self.tool("fanout", connections=1_000, rate=rate, seconds=self.seconds)
            self.found[f"delivery_us_{rate}"] = result["server"]["cpuUsPerDelivery"]
            if rate == RATES[0]:
                # What is delivered while it warms up is on the wire, too.
                share = result["seconds"] / (result["seconds"] + 2)
                self.found["wire_bytes"] = (loopback_bytes() - before) * share / result["delivered"]

    def unicast(self) -> None:
        """Publishes that go to one connection each, then nearly all to nobody."""
        flags = {"topics": 1_000, "rate": self.unicast_rate, "seconds": self.seconds}
        with self.server.client() as db:
            db.config_resetstat()
            told = self.tool("unicast", connections=1_000, **flags)
            # Answers and copies, of the warm-up as well.
            calls = db.info("commandstats")["cmdstat_evalsha"]["calls"]
            self.found["redis_message_bytes"] = db.info("stats")["total_net_output_bytes"] / calls
        self.found["redis_publish_us"] = told["redisCores"] * 1e6 / (told["published"] / told["seconds"])
        alone = self.tool("unicast", connections=1, **flags)["server"]["cpuUsPerPublish"]
        self.found["http_publish_us"] = alone
        # A connection gets few events here, so a delivery costs as much as any does; what is left is the way to it.
        one = self.tool("fanout", connections=1_000, rate=RATES[0], seconds=self.seconds)["server"]["cpuUsPerDelivery"]
        self.found["receive_us"] = max(told["server"]["cpuUsPerPublish"] - alone - one, 0)
        memory = []
        for topics in (1, self.connections):
            self._fresh_gateway()
            _, [grown] = self.opened(lambda: [private_bytes(self.pids[0])], "unicast", topics=topics, rate=1, seconds=2)
            memory.append(grown)
        self.found["topic_bytes"] = max(memory[1] - memory[0], 0) / self.connections

    def _fresh_gateway(self) -> None:
        """Another process: memory kept for reuse, or connections still closing, would hide what is needed."""
        self.gateway.stop()
        self._pin(SERVER_CPU)
        self.gateway.start().wait_ready()
        self.url, self.pids = "wss://%s:%d" % self.gateway.address(), [self.gateway.process.pid]

    def redis(self) -> None:
        """A copy for one gateway more, and what logs take."""
        with self.server.client() as db:
            spent = []
            for readers in (1, 1 + COPIES):
                with self._readers(readers):
                    before = cpu_us([self.server.process.pid])
                    self._pin(LOAD_CPU)
                    subprocess.run(["redis-benchmark", "-s", self.server.socket_path, "-n", str(self.publishes), "-q",
                                    "PUBLISH", "copies", DATA], check=True, capture_output=True)
                    spent.append((cpu_us([self.server.process.pid]) - before) / self.publishes)
            self.found["redis_copy_us"] = (spent[1] - spent[0]) / COPIES
            sizes = [db.info("memory")["used_memory"]]
            # One event on each topic, then the logs grow.
            for events in (1, EVENTS):
                for topic in range(TOPICS):
                    self._publish(f"shop:capacity{topic}", events)
                sizes.append(db.info("memory")["used_memory"])
        self.found["redis_topic_bytes"] = (sizes[1] - sizes[0]) / TOPICS
        self.found["redis_event_bytes"] = (sizes[2] - sizes[1]) / TOPICS / EVENTS

    def _publish(self, topic: str, events: int) -> None:
        # Without ids: a key that is remembered for 300 s is not part of a log.
        messages = [{"topic": topic, "event": "e", "data": {"m": "x" * 190}} for _ in range(events)]
        with self.gateway.http() as http:
            http.post("/v1/broadcast", json={"messages": messages}).raise_for_status()

    @contextlib.contextmanager
    def _readers(self, count: int):
        """Subscribers that read and drop what comes."""
        self._pin(LOAD_CPU)
        processes = [subprocess.Popen(["redis-cli", "-s", self.server.socket_path, "SUBSCRIBE", "copies"],
                                      stdout=subprocess.DEVNULL) for _ in range(count)]
        try:
            with self.server.client() as db:
                eventually(lambda: db.pubsub_numsub("copies")[0][1] == count, 10, "subscribers")
            yield
        finally:
            for process in processes:
                process.terminate()
                process.wait()

    def vote(self) -> None:
        """Commands of clients, as fast as they are answered."""
        with self.gateway.http() as http, self.server.client() as db:
            http.post("/v1/commands/start_session", json={"shopId": "bench"}).raise_for_status()
            day = int(time.time() * 1_000) + 86_400_000
            users = {f"u{number:012d}": day for number in range(1_000)} | {"u000000999999": day}
            db.zadd("shop:bench#presence", users)
            for track in range(20):
                http.post("/v1/commands/add_track", json={
                    "shopId": "bench", "trackId": f"t{track}", "userId": "u000000999999"}).raise_for_status()
            db.config_resetstat()
            before = cpu_us(self.pids), cpu_us([self.server.process.pid])
            self.tool("vote", connections=200, window=2, seconds=self.seconds)
            calls = db.info("commandstats")["cmdstat_evalsha"]["calls"]
            after = cpu_us(self.pids), cpu_us([self.server.process.pid])
        self.found["command_us"], self.found["redis_command_us"] = (
            (now - then) / calls for now, then in zip(after, before))

    def masters(self) -> None:
        """Three masters beside one server."""
        # It needs what is here.
        import measure_masters
        self.found |= measure_masters.measure(self.directory / "masters", self.certificate, self.quick)
        self._pin(*self.affinity)

    def nginx(self) -> None:
        """nginx between, passing TCP through: its own share."""
        # Only TLS passed through is used.
        nowhere = ("127.0.0.1:9", "127.0.0.1:9")
        own = "%s:%d" % self.gateway.address()
        self._pin(SERVER_CPU)
        more = {"limit_conn stream_per_address 4096": "limit_conn stream_per_address 60000"}
        with RunningNginx(self.directory / "nginx/files", (own, own), nowhere, self.certificate.cert,
                          self.certificate.key, more, workers=max(2, self.connections // 4_000)) as nginx:
            self.url = f"wss://{nginx.stream}"
            self.pids = nginx.worker_pids()
            result = self.tool("fanout", connections=1_000, rate=RATES[0], seconds=self.seconds)
            self.found["nginx_delivery_us"] = result["server"]["cpuUsPerDelivery"]
            result = self.tool("idle", connections=self.connections, seconds=2)
            self.found["nginx_setup_us"] = result["server"]["cpuUsPerConnection"]
            self.found["nginx_bytes"] = result["server"]["privateBytesPerConnection"]
