"""A whole installation under load: Redis, gateways behind nginx, a worker, publishers and a crowd; and what was true
at its end."""

import contextlib
import json
import os
import random
import signal
import sys
import time
import zlib
from pathlib import Path

import paths  # noqa: F401
import checker
import final_facts
import httpx
from commanded import Commanded, Crowds
from Fixtures.clients.certificates import write_certificate
from Fixtures.clients.tokens import SECRET
from Fixtures.processes.fault_proxy import FaultProxy
from Fixtures.processes.figures import private_bytes
from Fixtures.processes.gateway import API_KEY, Gateway
from Fixtures.processes.nginx import RunningNginx
from Fixtures.processes.ports import free_port
from Fixtures.processes.worker import Worker
from Fixtures.redis import outbox
from Fixtures.redis.server import RedisServer
from floods import Floods

LOG_EVENTS = 1_000
TOPICS_PER_READ = 50
AUDITS_MAX = 2_000
# Longer than a poll waits for an answer of another node that Redis lost (pollHopMs, 2 s); its client comes back then.
QUIET_SECONDS = 3
OUTBOX_SECONDS = 60
BENCH = Path(os.environ.get("SWITCHBOARD_BENCH", paths.ROOT / ".build/release/switchboard-bench"))
PERSISTENCE = {
    "always": ["--appendonly", "yes", "--appendfsync", "always"],
    "everysec": ["--appendonly", "yes", "--appendfsync", "everysec"],
    "rdb": ["--save", "1 1"],
    "none": [],
}
NAMESPACES = {
    "load": {"subscribe": "anyone", "publish": "service", "log": {"events": LOG_EVENTS, "seconds": 300},
             "slow": "disconnect"},
    "live": {"subscribe": "anyone", "publish": "service", "log": {"events": LOG_EVENTS, "seconds": 300},
             "slow": "conflate", "conflate": {"e": "k"}},
}
# A dead gateway is left out for a second, not five; all clients come from one address.
NGINX = {"max_fails=2 fail_timeout=5s": "max_fails=1 fail_timeout=1s",
         "limit_conn stream_per_address 4096": "limit_conn stream_per_address 60000"}
# All clients come from one address, and all of them come back at once.
LIMITS = {"connectionsPerAddressMax": 100_000, "topicsPerAddressMax": 10_000_000,
          "userKeptBytes": 2**40, "addressKeptBytes": 2**40, "unauthenticatedPerAddressMax": 100_000,
          "unauthenticatedMax": 100_000,
          "connectsPerAddressPerSecond": 100_000,
          "addressRedisUsPerSecond": 100_000_000, "anonymousRedisUsPerSecond": 100_000_000}


class FixedGateway(Gateway):
    """A gateway that listens where it listened before; `paused` after SIGSTOP."""

    def __init__(self, directory, address, *arguments, **options):
        super().__init__(directory, *arguments, **options)
        self.fixed = address
        self.arguments[self.arguments.index("--listen") + 1] = address
        self.starts = 0
        self.baseline = None

    def start(self):
        super().start()
        self.starts += 1
        self.baseline = None
        return self

    def usage(self) -> dict:
        """Descriptors, memory and queued bytes."""
        return {"fds": self.fd_count, "rss": self.resident_bytes, "private": private_bytes(self.process.pid),
                "queued": int(self.metric("switchboard_queued_bytes"))}


class World:
    """Everything of one run, in one directory; a context manager, which ends every process by its pid."""

    def __init__(self, directory, *, seed: int, gateways: int = 3, persistence: str = "everysec", clients: int = 20,
                 topics: int = 20, per_client: int = 2, prefix: str = "load:t", proxied: bool = False,
                 worker: bool = False, durable: bool = False, epoch_kept: bool = False, flags=(), publishers: int = 4,
                 batch: int = 32, padding: int = 150, limits: dict | None = None, through_nginx: bool = True,
                 deadline: float = 15, late: int = 0, publish_to: int | None = None,
                 patience: float = 60, crowds: int = 1, nginx_workers: int | None = None,
                 attempts: int | None = None, others: int = 0, forgets: bool = False, loses: bool = False, redis=None,
                 settle_seconds: float = 15):
        self.directory = Path(directory)
        self.directory.mkdir(parents=True, exist_ok=True)
        self.seed, self.rng = seed, random.Random(seed)
        self.clients, self.topic_count, self.per_client, self.prefix = clients, topics, per_client, prefix
        self.topics = [f"{prefix}{number}" for number in range(topics)]
        self.publisher_options = (publishers, batch, padding, deadline)
        self.durable, self.epoch_kept, self.through_nginx = durable, epoch_kept, through_nginx
        # How many of the gateways wait for `start_late`; the gateway that is published to, if it is one only; and how
        # many seconds things may take that grow with clients and topics.
        self.late, self.publish_to, self.patience = late, publish_to, patience
        # How long descriptors and memory may take to be those of the start, once nobody is connected any more.
        self.settle_seconds = settle_seconds
        # Processes that the clients are spread over, as descriptors are limited by process; and how many clients of
        # each may try to connect at once.
        self.crowds, self.attempts = crowds, attempts
        # Clients of other dialects beside the native ones; whether each of them loses an event, which must be found.
        self.others, self.forgets = others, forgets
        # Proxies between the native clients and the gateways, by which frames of plain WebSockets can be lost.
        self.loses, self.client_proxies = loses, []
        assert BENCH.exists(), f"{BENCH} is missing: `make bench` makes it"
        self.stack = contextlib.ExitStack()
        # One server, or a group of them that is passed.
        self.redis = redis or RedisServer(self.directory / "redis", *PERSISTENCE[persistence])
        certificate = self.certificate = write_certificate(self.directory)
        self.proxies = [FaultProxy(self.redis.socket_path, seed + number) for number in range(gateways)] \
            if proxied else []
        config = {"namespaces": NAMESPACES}
        self.gateways = []
        for number in range(gateways):
            url = self.proxies[number].redis_url if proxied else self.redis.url
            more = ("--trust-proxy", "127.0.0.1/32", "--proxy-protocol", "tls") if through_nginx else ()
            gateway = FixedGateway(
                self.directory / f"gateway-{number}", f"127.0.0.1:{free_port()}", url, certificate, SECRET,
                "--listen-plain", "127.0.0.1:0", *more, *flags, limits=LIMITS | (limits or {}), config=config)
            self.gateways.append(gateway)
        self.worker = Worker(self.directory / "worker", self.redis.url) if worker else None
        # Only TLS passed through is used.
        nowhere = ("127.0.0.1:9", "127.0.0.1:9")
        self.nginx = RunningNginx(self.directory / "nginx", [one.fixed for one in self.gateways], nowhere,
                                  certificate.cert, certificate.key, NGINX, nginx_workers,
                                  crowds if nginx_workers else 1)
        self.crowd = self.publishers = self.votes = None
        self.floods = Floods(durable)
        # Topics whose log a fault deleted: it need not hold what was acked.
        self.evicted = set()

    # Life

    def __enter__(self) -> "World":
        try:
            self._start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def _start(self) -> None:
        self.stack.callback(self._stop_redis)
        self.redis.start()
        for proxy in self.proxies:
            self.stack.enter_context(proxy)
        at_once = self.gateways[:len(self.gateways) - self.late]
        for gateway in self.gateways:
            self.stack.callback(self._stop_gateway, gateway)
        for gateway in at_once:
            gateway.start()
        if self.worker:
            self.stack.callback(self.worker.stop)
            self.worker.start()
        if self.through_nginx:
            self.stack.enter_context(self.nginx)
        for gateway in at_once:
            self._baseline(gateway)
        if self.loses:
            self.client_proxies = [
                self.stack.enter_context(FaultProxy(one.address("plain"), self.seed, websockets=True))
                for one in self.gateways]
        addresses = [self.nginx.stream] if self.through_nginx else [one.fixed for one in self.gateways]
        self._start_crowd(addresses)
        self._start_publishers(
            addresses if self.publish_to is None else [self.gateways[self.publish_to].fixed])

    @staticmethod
    def _baseline(gateway) -> None:
        gateway.wait_ready(20)
        gateway.baseline = gateway.usage()

    def start_late(self) -> None:
        """Starts the gateways that were to be late, at addresses that the crowd already knows."""
        for gateway in self.gateways[len(self.gateways) - self.late:]:
            gateway.start()
            self._baseline(gateway)

    def _start_crowd(self, addresses) -> None:
        shares = [self.clients // self.crowds + (number < self.clients % self.crowds) for number in range(self.crowds)]
        started = []
        for number, clients in enumerate(shares):
            # Each process of several has an address of nginx to itself, for which the certificate is not valid.
            own = [self.nginx.streams[number]] if len(self.nginx.streams) > 1 else addresses
            roots = [f"ws://127.0.0.1:{one.port}" for one in self.client_proxies] or [f"wss://{one}" for one in own]
            urls = [word for root in roots for word in ("--url", f"{root}/ws")]
            trust = ["--ca", self.certificate.cert] if own is addresses else []
            pace = ["--attempts", self.attempts] if self.attempts else []
            started.append(Commanded(
                [BENCH, "crowd", *urls, *trust, *pace, "--clients", clients, "--topics",
                 f"{self.prefix}:{self.topic_count}", "--per-client", self.per_client, "--log",
                 self.directory / f"subscribers{number or ''}.log", "--stdin"],
                self.directory / f"crowd{number or ''}.err"))
            self.stack.callback(started[-1].end)
        if self.others:
            started.append(self._other_clients(addresses))
            self.stack.callback(started[-1].end)
        self.crowd = started[0] if len(started) == 1 else Crowds(started)
        self.wait_live()

    def _other_clients(self, addresses) -> Commanded:
        targets = [word for address in addresses for word in ("--target", address)]
        return Commanded(
            [sys.executable, Path(__file__).with_name("other_clients.py"), *targets, "--ca", self.certificate.cert,
             "--key", API_KEY, "--clients", self.others, "--scale", self.clients, "--topics",
             f"{self.prefix}:{self.topic_count}", "--per-client", self.per_client, "--seed", self.seed, "--log",
             self.directory / "subscribers-other.log", *(["--forget"] if self.forgets else [])],
            self.directory / "other-clients.err")

    def _start_publishers(self, addresses) -> None:
        connections, batch, padding, deadline = self.publisher_options
        targets = [word for address in addresses for word in ("--target", address)]
        self.publishers = Commanded(
            [sys.executable, Path(__file__).with_name("publishers.py"), *targets, "--ca", self.certificate.cert,
             "--key", API_KEY, "--topics", f"{self.prefix}:{self.topic_count}", "--log",
             self.directory / "publisher.jsonl", "--seed", self.seed, "--connections", connections, "--batch", batch,
             "--padding", padding, "--deadline", deadline], self.directory / "publishers.err")
        self.stack.callback(self.publishers.end)

    def _stop_gateway(self, gateway) -> None:
        if gateway.process is not None and gateway.process.poll() is None:
            gateway.signal(signal.SIGCONT)
        gateway.stop()

    def _stop_redis(self) -> None:
        if self.redis.process is not None:
            self.redis.process.send_signal(signal.SIGCONT)
        self.redis.kill()

    def __exit__(self, *_):
        self.stack.close()

    # During the run

    def status(self) -> dict:
        """What the crowd says of itself."""
        return json.loads(self.crowd.ask("status"))

    def wait_live(self) -> None:
        """Waits until every client has all its topics."""
        wanted = self.clients + self.others
        self.every(0.05, lambda: self.status()["live"] >= wanted, self.patience, "every client is live")

    @staticmethod
    def every(interval: float, condition, seconds_max: float, what: str) -> None:
        """Looks at a condition again and again until it is true."""
        deadline = time.monotonic() + seconds_max
        while not condition():
            assert time.monotonic() < deadline, f"not within {seconds_max} s: {what}"
            time.sleep(interval)  # lint:allow between two looks, with a deadline

    def rate(self, per_second: float) -> None:
        """Publishes so many messages a second from now on."""
        self.publishers.ask(f"rate {per_second}")

    # The end

    def settle(self) -> None:
        """No more publishes; everybody is back; a last message on every topic has been acked and has arrived."""
        self.publishers.ask("stop", 60)
        for gateway in self.gateways:
            gateway.wait_ready(30)
        self.wait_live()
        self.every(0.2, lambda: int(self.publishers.ask("once", self.patience)) == self.topic_count, self.patience,
                    "a last message on every topic")
        seen = {"events": -1, "since": time.monotonic()}

        def quiet():
            events = self.status()["events"]
            if events != seen["events"]:
                seen.update(events=events, since=time.monotonic())
            return time.monotonic() - seen["since"] > QUIET_SECONDS
        self.every(0.1, quiet, 60, f"no event for {QUIET_SECONDS} seconds")
        self.wait_live()

    def finish(self) -> checker.Report:
        """Settles, collects the facts, ends the load and checks everything."""
        self.settle()
        with contextlib.suppress(AssertionError):  # The checker says what is left.
            self.every(0.1, lambda: self._channels() == self._wanted(), 5, "the channels are those that are wanted")
        facts = {"durable": self.durable, "epoch_kept": self.epoch_kept, "log_max": LOG_EVENTS,
                 "topics": self._topics(),
                 "channels": {"actual": self._channels(), "desired": self._wanted()},
                 "audits": [audit for gateway in self.gateways for audit in self._audits(gateway)]}
        if self.votes is not None:
            facts["votes"] = self.votes.facts()
        if self.worker is not None:
            facts |= self._outbox()
        self.crowd.end()
        self.publishers.end()
        facts["gateways"] = [self._usage(gateway) for gateway in self.gateways]
        with contextlib.suppress(AssertionError):  # The checker says what is left.
            self.every(0.1, lambda: not self._channels(), 10, "channels are given up")
        facts["channels_after"] = {"actual": self._channels(), "desired": []}
        (self.directory / "facts.json").write_text(json.dumps(facts))
        return checker.check(self.directory)

    def _outbox(self) -> dict:
        """What of the outbox is not done when nothing breaks any more, and what became of its floods."""
        with self.redis.client() as db:
            with contextlib.suppress(AssertionError):  # The checker says what is left.
                self.every(0.1, lambda: outbox.waiting(db) == 0, OUTBOX_SECONDS, "the outbox is worked off")
            return {"outbox": {"wait": outbox.waiting(db), "are dead": db.xlen("#outbox-dead")},
                    "floods": self.floods.facts(db)}

    def _topics(self) -> dict:
        """Position and log of every topic; a few topics in one round trip."""
        found = {}
        with self.redis.client() as db:
            for start in range(0, len(self.topics), TOPICS_PER_READ):
                some = self.topics[start:start + TOPICS_PER_READ]
                with db.pipeline(transaction=False) as read:
                    for topic in some:
                        read.hgetall(f"{topic}#meta")
                        read.xrange(f"{topic}#log")
                    answers = iter(read.execute())
                for topic in some:
                    found[topic] = self._topic(topic, next(answers), next(answers))
        return found

    def _topic(self, topic: str, meta: dict, entries: list) -> dict:
        log = []
        for identity, fields in entries:
            data = fields[b"d"]
            message = f"{fields[b'e'].decode()} {json.loads(data)['m']} {zlib.crc32(data):08x}"
            log.append([int(identity.split(b"-")[0]), message])
        return {"epoch": meta[b"epoch"].decode(), "offset": int(meta[b"offset"]), "log": log,
                "expired": topic in self.evicted}

    def _channels(self) -> list:
        with self.redis.client() as db:
            return sorted(name.decode() for name in db.pubsub_channels()
                          if b"#" not in name and not name.startswith(b"__sentinel__"))

    def _wanted(self) -> list:
        """The topics that some client holds; the clients of other dialects have no others."""
        return sorted({self.topics[(client * self.per_client + k) % self.topic_count]
                       for client in range(max(self.clients, self.others)) for k in range(self.per_client)})

    def _audits(self, gateway) -> list:
        """The gateway's own account of each topic, where it keeps one; of so many topics only a sample."""
        found = []
        topics = self.topics if len(self.topics) <= AUDITS_MAX else self.rng.sample(self.topics, AUDITS_MAX)
        host, port = gateway.address("plain")
        with httpx.Client(base_url=f"http://{host}:{port}", headers={"apikey": API_KEY}, timeout=10,
                          trust_env=False) as http:
            for topic in topics:
                answer = http.get(f"/v1/topics/{topic}/audit")
                if answer.status_code != 200:
                    return found
                found.append(answer.json())
        return found

    def _usage(self, gateway) -> dict:
        before = gateway.baseline or gateway.usage()
        now = before

        def settled():
            nonlocal now
            now = gateway.usage()
            # Free memory goes back to the system a second or two after a surge.
            return (now["fds"] <= before["fds"] + 2 and now["queued"] == 0
                    and now["rss"] <= before["rss"] * final_facts.RSS_FACTOR + final_facts.RSS_SLACK)
        with contextlib.suppress(AssertionError):  # The checker says what is left.
            self.every(0.1, settled, self.settle_seconds, "descriptors")
        # What was judged, and no later look: the answer to the look before may still be counted in it.
        return {"name": gateway.directory.name, "before": before, "after": now}
