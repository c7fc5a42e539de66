"""Three gateways of which each answers why a user did not get an event."""

import json

from Fixtures.clients import raw
from Fixtures.clients.tokens import SECRET, sign
from Fixtures.processes.gateway import Gateway
from Fixtures.processes.worker import Worker
from Fixtures.redis.server import RedisServer
from Fixtures.waiting import eventually

PACKS = ("--packs", "barbershop,orders,people,messaging")
LIMITS = {"outboundBytesMax": 262_144, "tokenLeewaySeconds": 0, "tokenWarningMs": 500, "userActionsPerSecond": 1_000,
          "fleetQuestionsPerSecond": 10_000}
READER = "reader-key-0123456789abcdef0123456789ab"
WRITER = "writer-key-0123456789abcdef0123456789ab"
KEYS = [f"reader:{READER}:read", f"writer:{WRITER}:write"]


class TracedFleet:
    """Three gateways of two shards, and a worker, on one Redis."""

    def __init__(self, directory, certificate):
        self.directory, self.certificate = directory, certificate
        self.redis = RedisServer(directory / "redis").start()
        self.nodes = [self.node(name) for name in ("one", "two", "three")]
        self.worker = Worker(directory / "worker", self.redis.url, *PACKS).start()
        for node in self.nodes:
            eventually(lambda node=node: self.knows_all(node), 60, "a gateway that asks all three")

    def node(self, name):
        node = Gateway(self.directory / name, self.redis.url, self.certificate, SECRET, *PACKS, "--shards", "2",
                       limits=LIMITS, keys=KEYS)
        return node.start().wait_ready()

    def knows_all(self, node):
        """A gateway is asked once the others have seen its probe."""
        known = self.get("/v1/nodes", node).json()
        return sum(one["role"] == "gateway" for one in known["nodes"]) == 3 and not known["unanswered"]

    def stop(self):
        self.worker.stop()
        for node in self.nodes:
            node.stop()
        self.redis.stop()

    def get(self, path, node=None, key=READER, **query):
        with (node or self.nodes[2]).http(key) as http:
            return http.get(path, params=query)

    def why(self, user, topic, offset, **query):
        """The answer of the third gateway, once every gateway is part of it."""
        def ask():
            answer = self.get("/v1/why", user=user, topic=topic, offset=offset, **query)
            assert answer.status_code == 200, answer.text
            return answer.json()

        def whole():
            answer = ask()
            return answer if not answer["unanswered"] else None

        answer = eventually(whole, 60, "an answer of all gateways")
        assert answer.items() >= {"user": user, "topic": topic, "offset": offset}.items()
        assert all(sentence.strip() for sentence in answer["sentences"]) and answer["evidence"]
        return answer

    def verdict(self, verdict, user, topic, offset, *words, **query):
        """Asks, and checks the verdict and that the sentences name these facts."""
        answer = self.why(user, topic, offset, **query)
        assert answer["verdict"] == verdict, json.dumps(answer, indent=1)
        text = " ".join(answer["sentences"])
        for word in words:
            assert word in text, f"{word!r} is not said: {text}"
        return answer

    def slow_client(self, user, topic, **claims):
        """A client of the first gateway that subscribes and reads no more; the bytes of its kernel are few."""
        slow, status, _ = raw.upgrade(
            self.nodes[0], "Authorization: Bearer " + sign(SECRET, user, **claims), receive_buffer=4_096)
        assert status == 101
        slow.sendall(raw.frame(raw.TEXT, json.dumps({"event": "subscribe", "data": {"topic": topic}}).encode()))

        def joined():
            with self.nodes[0].http() as http:
                return http.get(f"/v1/topics/{topic}").json()["subscribers"]["sessions"] == 1

        eventually(joined, 5, "the slow member")
        return slow
