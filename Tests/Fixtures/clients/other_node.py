"""A client of Redis that knows the secret of all nodes, and speaks as a node of its own on their channels."""

import hashlib
import hmac
import itertools
import secrets
import struct
import time

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from Fixtures.waiting import eventually


class OtherNode:
    """A node with one shard, whose questions and answers are whatever a test writes."""

    def __init__(self, db):
        # Each process has a name of its own: of a known one, numbers that begin again are repetitions.
        self.name = f"Evil_{secrets.token_hex(4)}"
        self.db, self.numbers = db, itertools.count(1)
        self.secret = eventually(lambda: db.get("#node-secret"), 10, "the secret of all nodes")
        self.asked = 0
        self.ears = db.pubsub()
        self.ears.subscribe(f"#node:{self.name}")
        eventually(lambda: (self.ears.get_message() or {}).get("type") == "subscribe", 10, "its channel")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.leave()
        self.ears.close()

    def join(self):
        """Stands in the list of nodes from now on, as a gateway, and has a worker there."""
        ends = int(time.time() * 1_000) + 600_000
        self.db.hset("#nodes", mapping={
            self.name: f"{ends} gateway 9.9.9 99 0", self.name + "_w": f"{ends} worker 9.9.9 99 0"})

    def leave(self):
        """Is removed from the list."""
        self.db.hdel("#nodes", self.name, self.name + "_w")

    def _seal(self, node: str, shard: int, number: int, head: bytes) -> tuple[AESGCM, bytes, bytes]:
        key = hmac.digest(self.secret, f"fleet questions of {node}.{shard}".encode(), hashlib.sha256)
        return AESGCM(key), bytes(4) + struct.pack(">Q", number), head

    def message(self, text: bytes, node: str, shard: int = 0) -> bytes:
        """A sealed message for a shard of a node."""
        number = next(self.numbers)
        head = f"?{self.name} 0 {shard} {number}".encode()
        key, nonce, head = self._seal(self.name, 0, number, head)
        return head + b"\n" + key.encrypt(nonce, text, head + node.encode())

    def send(self, message: bytes, node: str):
        """Publishes on a node's channel, where that node alone listens."""
        assert self.db.publish(f"#node:{node}", message) == 1

    def question(self, kind: str, number: int, parameters: str = "{}", order: int = 0, limit: int = 50) -> bytes:
        """The text of a question of now."""
        return f"ask {number} {int(time.time() * 1_000)} {kind} {order} {limit}\n{parameters}".encode()

    def received(self, seconds: float = 5) -> tuple[str, int, bytes]:
        """The next message on its channel: the node and shard that sent it, and its text."""
        def next_message():
            found = self.ears.get_message(timeout=0.1)
            return found if found and found["type"] == "message" else None

        return self.opened(eventually(next_message, seconds, "a message")["data"])

    def opened(self, message: bytes) -> tuple[str, int, bytes]:
        """The node and shard that sent a message, and its text."""
        self.asked += 1
        head, _, sealed = message.partition(b"\n")
        node, shard, _, number = head[1:].decode().split(" ")
        key, nonce, head = self._seal(node, int(shard), int(number), head)
        return node, int(shard), key.decrypt(nonce, sealed, head + self.name.encode())
