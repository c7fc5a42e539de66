"""What an operator looks at: three gateways, two workers, and a courier whose receiver of webhooks refuses."""

import base64
import contextlib
import json
import secrets

from Fixtures.clients import raw
from Fixtures.clients.tokens import SECRET, sign
from Fixtures.outside.server import Answer, OutsideServer
from Fixtures.processes.courier import CourierProcess
from Fixtures.processes.fault_proxy import FaultProxy
from Fixtures.processes.gateway import API_KEY, Gateway
from Fixtures.processes.worker import Worker
from Fixtures.redis.server import RedisServer
from Fixtures.waiting import eventually

READER, OPERATOR, WATCHER = "read-key-0123456789abcdef", API_KEY, "watch-key-0123456789abcdef"
LIMITS = {"fleetWaitMs": 5_000, "fleetQuestionsPerSecond": 10_000, "redisProbeMs": 500}


class InspectedFleet:
    """Processes, and the clients that a test lets in. Use it as a context manager."""

    def __init__(self, directory, certificate):
        self.directory, self.certificate = directory, certificate
        self.resources = contextlib.ExitStack()
        self.status = 503
        self.gateways = []

    def __enter__(self):
        try:
            self._start()
        except BaseException:
            self.resources.close()
            raise
        return self

    def __exit__(self, *_):
        self.resources.close()

    def _start(self):
        outside = self.resources.enter_context(OutsideServer(self.certificate, lambda _: Answer(self.status)))
        self.redis = self._run(RedisServer(self.directory / "redis", tcp=True))
        # The third gateway's way to Redis.
        self.proxy = self.resources.enter_context(FaultProxy(("127.0.0.1", self.redis.port)))
        for number, url in enumerate((self.redis.url, self.redis.url, self.proxy.redis_url)):
            self.gateways.append(self._run(Gateway(
                self.directory / f"gateway-{number}", url, self.certificate, SECRET, "--shards", "2", limits=LIMITS,
                keys=[f"reader:{READER}:read", f"watcher:{WATCHER}:read,tap"])).wait_ready())
        for number in range(2):
            self._run(Worker(self.directory / f"worker-{number}", self.redis.url))
        secret = self.directory / "secret"
        secret.write_bytes(b"whsec_" + base64.b64encode(secrets.token_bytes(24)) + b"\n")
        hook = {"url": outside.url + "/hook", "secret-file": str(secret), "topics": ["order:*"]}
        self._run(CourierProcess(
            self.directory / "courier", self.redis.url, self.certificate, {"webhooks": {"kitchen": hook}}))
        eventually(lambda: len(self.ask("nodes")["nodes"]) == 6, 30, "six processes that know each other")

    def _run(self, process):
        process.start()
        self.resources.callback(process.stop)
        return process

    @property
    def inspector(self) -> str:
        """The page's address on the first gateway."""
        return "http://%s:%d/inspector" % self.gateways[0].address("ops")

    def ask(self, question):
        """The first gateway's answer to a question."""
        with self.gateways[0].http(key=READER) as http:
            response = http.get(f"/v1/{question}")
        assert response.status_code == 200, response.text
        return response.json()

    def client(self, number, user, *topics):
        """A client of one gateway, subscribed to these topics."""
        client = self.gateways[number].client(token=sign(SECRET, user, topics=list(topics)))
        self.resources.callback(client.__exit__, None, None, None)
        client.__enter__()
        for topic in topics:
            client.subscribe(topic)
        return client

    def slow_client(self, number, user, topic):
        """A client that reads nothing."""
        token = sign(SECRET, user, topics=[topic])
        slow, status, _ = raw.upgrade(
            self.gateways[number], "Authorization: Bearer " + token, receive_buffer=4_096)
        assert status == 101
        self.resources.callback(slow.close)
        slow.sendall(raw.frame(raw.TEXT, json.dumps({"event": "subscribe", "data": {"topic": topic}}).encode()))
        eventually(lambda: self.ask(f"sessions?user={user}&topic={topic}")["total"] >= 1, 10, "the slow member")
        return slow

    def letter(self, order="order:7"):
        """A webhook that was given up, as a courier writes it; returns its id."""
        top = self.gateways[0].publish(order, "order:ready", {"table": 4})
        entry = {"id": f"{order}:{top['epoch']}:{top['offset']}", "topic": order, "e": "order:ready",
                 "d": '{"table":4}', "reason": "status 410"}
        with self.redis.client() as db:
            return db.xadd("#webhook-dead:kitchen", entry).decode()
