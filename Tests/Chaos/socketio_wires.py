"""How clients of Socket.IO speak, over a WebSocket and by polling; see `wires.py`."""

import asyncio
import itertools
import json

from wires import OPEN_SECONDS, Bytes, Frames, Lost, told


class Packets:
    """What a client of Socket.IO says and hears, whatever carries it: one namespace, with positions."""

    namespace = ""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.numbers = itertools.count()
        self.batches = {}

    def entry(self) -> str:
        return f'40{self.namespace}{{"positions":true}}'

    def request(self, topics) -> str:
        """The packet that asks for topics."""
        number = str(next(self.numbers))
        self.batches[number] = list(topics)
        wanted = []
        for topic in topics:
            self.asked[topic] = self.places.get(topic)
            since = {}
            if self.asked[topic] is not None:
                epoch, offset = self.asked[topic]
                since = {"since": {"epoch": epoch, "offset": offset}}
            wanted.append({"topic": topic} | since)
        return f"42{self.namespace}{number}" + json.dumps(["subscribe", {"topics": wanted}])

    def packet(self, text: str) -> list:
        """What a packet that is no ping means."""
        if text.startswith("43"):
            number, _, answer = text[2 + len(self.namespace):].partition("[")
            answer = json.loads("[" + answer)[0]
            topics = self.batches.pop(number)
            if "error" in answer:
                return [("X", topic, answer["error"]["code"]) for topic in topics]
            return [("X", topic, result["error"]["code"]) for topic, result in
                    zip(topics, answer["topics"], strict=True) if "error" in result]
        if text[:1] == "1" or text[:2] in ("41", "44"):
            raise Lost()
        if not text.startswith("42"):
            return []
        event, *arguments = json.loads(text[2 + len(self.namespace):])
        first = arguments[0]
        if event == "subscribed":
            return [("S", first["topic"], first["epoch"], first["offset"], int(first["recovered"]))]
        if event == "gap":
            return [("G", first["topic"], first["epoch"], first["offset"], first["reason"])]
        if event == "draining":
            return [("W", first["reconnectAfterMs"])]
        if event == "error":
            return [("X", first.get("topic", "-"), first["code"])]
        if event in ("warning", "token:expiring", "unsubscribed"):
            return []
        place = arguments[1]
        return [("P", place["topic"], place["epoch"], place["offset"], told(text, event))]


class SocketIO(Packets, Frames):
    """Socket.IO over a WebSocket."""

    path = "/socket.io/?EIO=4&transport=websocket"

    async def open(self):
        await super().open()
        await asyncio.wait_for(self.hear(), OPEN_SECONDS)
        await self.say(self.entry())
        if not (await asyncio.wait_for(self.hear(), OPEN_SECONDS)).startswith("40"):
            raise Lost()

    async def subscribe(self, topics):
        await self.say(self.request(topics))

    async def happenings(self) -> list:
        text = await self.hear()
        if text != "2":
            return self.packet(text)
        await self.say("3")
        return []


class Polling(Packets, Bytes):
    """Socket.IO by polling, in another namespace; the client begins a new session when its connection is lost."""

    namespace = "/queue,"
    target = "/socket.io/?EIO=4&transport=polling"

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.outbox, self.waiting, self.session = [], [], ""

    async def open(self):
        await self.connect()
        [opening, *_] = await asyncio.wait_for(self.get(), OPEN_SECONDS)
        self.session = "&sid=" + json.loads(opening[1:])["sid"]
        await asyncio.wait_for(self.post([self.entry()]), OPEN_SECONDS)
        while not self.waiting:
            self.waiting += await asyncio.wait_for(self.get(), OPEN_SECONDS)
        if not self.waiting.pop(0).startswith("40"):
            raise Lost()

    async def get(self) -> list:
        return (await self.exchange(f"GET {self.target}{self.session}")).split("\x1e")

    async def post(self, packets):
        await self.exchange(f"POST {self.target}{self.session}", "\x1e".join(packets))

    async def exchange(self, request: str, body: str = "") -> str:
        status, fields = await self.head(request, body)
        try:
            answer = await self.reader.readexactly(int(fields["content-length"]))
        except (OSError, asyncio.IncompleteReadError):
            raise Lost() from None
        if status != 200:
            raise Lost(status)
        return answer.decode()

    async def subscribe(self, topics):
        self.outbox.append(self.request(topics))

    async def happenings(self) -> list:
        if self.outbox:
            packets, self.outbox = self.outbox, []
            await self.post(packets)
        packets, self.waiting = self.waiting or await self.get(), []
        found = []
        for packet in packets:
            if packet == "2":
                self.outbox.append("3")
            else:
                found += self.packet(packet)
        return found


class Roaming(Polling):
    """The same, but every few requests go over a new connection, which may reach any node."""

    requests_each = 6

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.requests = 0

    async def exchange(self, request: str, body: str = "") -> str:
        self.requests += 1
        if self.requests % self.requests_each == 0:
            self.cut()
            try:
                await self.connect()
            except (OSError, TimeoutError):
                raise Lost() from None
        return await super().exchange(request, body)
