"""A stand-in for APNs: what it answers is planned by device token, and what reaches each device is kept."""

import json
import threading
import time
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from Fixtures.outside.server import Answer

TEAM, KEY_ID, TOPIC = "TEAM123456", "KEY1234567", "com.example.shop"


@dataclass
class Push:
    """A push as it came."""

    token: str
    collapse: str
    badge: int
    priority: str
    payload: dict
    status: int
    at: float


def refusal(status: int, reason: str, **more) -> Answer:
    """An answer as APNs gives it."""
    headers = {name.replace("_", "-"): str(more.pop(name)) for name in ("retry_after",) if name in more}
    return Answer(status, json.dumps({"reason": reason, **more}).encode(), headers)


class Apns:
    """The `answer` of an `OutsideServer`. `plan[token]` is what the next pushes to a device are answered, then
    `always[token]`, or 200.
    """

    def __init__(self, directory: Path):
        key = ec.generate_private_key(ec.SECP256R1())
        self.key_file = directory / "key.p8"
        self.key_file.write_bytes(key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))
        self._public = key.public_key()
        self._lock = threading.Lock()
        self.plan: dict[str, list[Answer]] = defaultdict(list)
        self.always: dict[str, Answer] = {}
        self.pushes: list[Push] = []
        self.provider_tokens: set[str] = set()
        self.wrong: list[str] = []
        self.on_push = lambda push: None

    def flags(self, url: str) -> list[str]:
        return ["--apns-key-file", str(self.key_file), "--apns-key-id", KEY_ID, "--apns-team", TEAM,
                "--apns-topic", TOPIC, "--apns-url", url]

    def _judge(self, asked) -> None:
        """Everything that APNs would refuse is a mistake of the courier's."""
        word, _, token = asked.headers.get("authorization", "").partition(" ")
        claims = jwt.decode(token, self._public, algorithms=["ES256"], issuer=TEAM)
        header = jwt.get_unverified_header(token)
        age = time.time() - claims["iat"]
        good = {
            "version": asked.version == 2, "method": asked.method == "POST", "word": word == "bearer",
            "key": header["kid"] == KEY_ID and header["alg"] == "ES256", "age": -60 < age < 3_600,
            "topic": asked.headers.get("apns-topic") == TOPIC, "type": asked.headers.get("apns-push-type") == "alert",
            "collapse": 0 < len(asked.headers.get("apns-collapse-id", "")) <= 64, "size": len(asked.body) <= 4_096,
            "expiration": int(asked.headers.get("apns-expiration", 0)) > time.time(),
            "priority": asked.headers.get("apns-priority") in ("5", "10"),
        }
        self.wrong += [name for name, is_good in good.items() if not is_good]
        self.provider_tokens.add(token)

    def __call__(self, asked) -> Answer:
        try:
            self._judge(asked)
            payload = json.loads(asked.body)
        except (jwt.PyJWTError, ValueError, KeyError) as error:
            self.wrong.append(repr(error))
            return refusal(403, "InvalidProviderToken")
        token = asked.path.removeprefix("/3/device/")
        with self._lock:
            planned = self.plan[token]
            answer = planned.pop(0) if planned else self.always.get(token, Answer())
            push = Push(token, asked.headers["apns-collapse-id"], payload["aps"]["badge"],
                        asked.headers["apns-priority"], payload, 0 if answer.cut or answer.never else answer.status,
                        time.time())
            self.pushes.append(push)
        self.on_push(push)
        return answer

    def to(self, token: str) -> list[Push]:
        """What came for a device, in order."""
        with self._lock:
            return [push for push in self.pushes if push.token == token]

    def shown(self, token: str) -> dict[str, Push]:
        """What the device shows: of each collapse id the last push that APNs took."""
        return {push.collapse: push for push in self.to(token) if push.status == 200}
