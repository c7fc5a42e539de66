"""Phones: clients that lose their connection at any moment, return to any gateway, and repeat what was unanswered."""

import asyncio
import json

from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake

ANSWER_SECONDS = 5
LOST = (ConnectionClosed, InvalidHandshake, OSError, TimeoutError, EOFError)


class Line:
    """A connection to one of several gateways at a time."""

    def __init__(self, gateways, rng, token=None):
        self.gateways, self.rng, self.token = gateways, rng, token
        self.connection = None
        self.cuts = 0

    async def open(self):
        """Connects to a gateway chosen by chance, trying until one takes it."""
        while True:
            gateway = self.rng.choice(self.gateways)
            host, port = gateway.address()
            headers = [("Authorization", f"Bearer {self.token}")] if self.token else []
            try:
                self.connection = await connect(
                    f"wss://{host}:{port}/ws", ssl=gateway.certificate.trusting_context(), additional_headers=headers,
                    compression=None, proxy=None, ping_interval=None, open_timeout=10, close_timeout=1, max_queue=None)
                return
            except LOST:
                await asyncio.sleep(0.05)  # lint:allow back-off of a client that cannot connect

    async def send(self, message):
        await self.connection.send(json.dumps(message))

    async def receive(self):
        return json.loads(await asyncio.wait_for(self.connection.recv(), ANSWER_SECONDS))

    def cut(self):
        """Loses the connection without a goodbye, as a phone in a tunnel does."""
        self.cuts += 1
        self.connection.transport.abort()

    async def close(self):
        if self.connection is not None:
            await self.connection.close()


class Voter(Line):
    """Sends one command after the other; each is repeated under the same `ref` until it is answered."""

    def __init__(self, *arguments, repeat=0.0, cut=0.0, **options):
        super().__init__(*arguments, **options)
        self.repeat, self.cut_chance = repeat, cut
        self.repeats = 0

    async def command(self, event, data, ref):
        """The answer of the command: the ack's data, or the error's."""
        message = {"event": event, "data": data, "ref": ref}
        while True:
            try:
                if self.connection is None:
                    await self.open()
                await self.send(message)
                if self.rng.random() < self.repeat:
                    self.repeats += 1
                    await self.send(message)
                if self.rng.random() < self.cut_chance:
                    self.cut()
                answer = await self._answer(ref)
                if answer["data"].get("code") not in ("rate_limited", "unavailable"):
                    return answer
            except LOST:
                self.connection = None

    async def _answer(self, ref):
        while True:
            message = await self.receive()
            # The second answer of a command sent twice may come before the first of the next.
            if message.get("ref") == ref:
                return message


class Watcher(Line):
    """Keeps a picture of one topic: its state, then every event in order; comes back by position after a cut."""

    def __init__(self, *arguments, topic, apply, cut=0.0, **options):
        super().__init__(*arguments, **options)
        self.topic, self.apply, self.cut_chance = topic, apply, cut
        self.position = None
        self.joined = asyncio.Event()
        self.restarts = 0

    async def run(self):
        """Follows the topic until it is cancelled."""
        while True:
            try:
                await self.open()
                since = {"since": self.position} if self.position else {}
                await self.send({"event": "subscribe", "data": {"topic": self.topic, **since}})
                while True:
                    self._take(json.loads(await self.connection.recv()))
                    if self.rng.random() < self.cut_chance:
                        self.cut()
            except LOST:
                continue

    def _take(self, message):
        data = message["data"]
        if message["event"] == "subscribed":
            if not data["recovered"]:
                if self.position is not None:
                    self.restarts += 1
                self.apply(None, data.get("state"))
                self.position = {"epoch": data["epoch"], "offset": data["offset"]}
            self.joined.set()
        elif message["event"] == "gap":
            raise ConnectionError("a gap: begin anew from the state")
        elif "offset" in message:
            assert message["offset"] == self.position["offset"] + 1, (message, self.position)
            self.position["offset"] = message["offset"]
            self.apply(message["event"], data)
