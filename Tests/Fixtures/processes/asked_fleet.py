"""Gateways that operators ask, with workers and a courier where a test needs them."""

import base64
import functools
import secrets

from Fixtures.clients.tokens import SECRET
from Fixtures.processes.courier import CourierProcess
from Fixtures.processes.gateway import Gateway
from Fixtures.processes.worker import Worker
from Fixtures.redis.server import RedisServer
from Fixtures.waiting import eventually

READER, WRITER = "read-key-0123456789abcdef", "write-key-0123456789abcdef"
#: Every question of the API.
QUESTIONS = ["nodes", "topics", "sessions", "slow", "talkers", "outbox", "workers", "couriers", "webhooks"]
# A busy machine answers late; the tests of the deadline have a gateway of their own.
LIMITS = {"fleetWaitMs": 5_000, "fleetQuestionsPerSecond": 10_000, "redisProbeMs": 500}


class Fleet:
    """Gateways on one Redis, which two keys may ask: one that reads and one that writes."""

    def __init__(self, directory, certificate, count=3):
        self.redis = RedisServer(directory / "redis").start()
        self.workers, self.couriers, self.gateways = [], [], []
        for number in range(count):
            self.gateways.append(self.gateway(directory / f"gateway-{number}", certificate, LIMITS))

    def employ(self, directory, certificate, outside):
        """Adds two workers, and a courier whose receiver is away."""
        self.workers = [Worker(directory / f"worker-{number}", self.redis.url).start() for number in range(2)]
        (directory / "secret").write_bytes(b"whsec_" + base64.b64encode(secrets.token_bytes(24)) + b"\n")
        config = {"webhooks": {"kitchen": {
            "url": outside.url + "/hook", "secret-file": str(directory / "secret"), "topics": ["order:*"]}}}
        self.couriers = [CourierProcess(directory / "courier", self.redis.url, certificate, config).start()]

    def gateway(self, directory, certificate, limits, *flags):
        keys = [f"reader:{READER}:read", f"writer:{WRITER}:write"]
        return Gateway(directory, self.redis.url, certificate, SECRET, *flags, limits=limits, keys=keys
                       ).start().wait_ready()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        for process in [*self.gateways, *self.workers, *self.couriers, self.redis]:
            process.stop()

    def ask(self, question, number=0, key=READER):
        """The answer of one gateway to one request."""
        with self.gateways[number].http(key=key) as http:
            response = http.get(f"/v1/{question}")
        assert response.status_code == 200, response.text
        return response.json()

    def all_nodes(self, number):
        """The answer about nodes once a gateway knows all of them."""
        def known():
            answer = self.ask("nodes", number)
            return answer if len(answer["nodes"]) == count else None

        count = len(self.gateways) + len(self.workers) + len(self.couriers)
        return eventually(known, 20, "processes that know each other")

    @functools.cache  # noqa: B019 the fleet lives as long as the module's tests
    def node(self, number):
        """The id of a gateway."""
        with self.gateways[number].http() as http:
            return http.get("/v1/health").json()["node"]
