"""How clients of Phoenix, Socket.IO and event streams speak; what they hear comes as lines of the subscribers' log.

A wire is one connection. `open` connects, `subscribe` asks for topics, `happenings` waits for the next thing that came
and returns what it means, as tuples:

    ("S", topic, epoch, offset, recovered)       a topic was joined, and the answer told where
    ("J", topic)                                 a topic was joined, and the answer told no position
    ("P", topic, epoch, offset, message)         an event with its position; message is "event id crc"
    ("G", topic, epoch, offset, reason)          a gap
    ("X", topic or "-", code)                    a refusal, or the end of a topic
    ("W", ms)                                    the gateway drains

`asked` tells which position each topic was asked for with. `Lost` says that the connection is over.
"""

import asyncio
import itertools
import json
import time
import zlib

from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake

OPEN_SECONDS = 10
HEARTBEAT_SECONDS = 20
_DECODER = json.JSONDecoder()


class Lost(Exception):
    """The connection is over, with this close code or status, or 0."""

    def __init__(self, code=0):
        super().__init__(code)
        self.code = code


def told(text: str, event: str) -> str:
    """What an event says, as it is logged: the checksum is of its data as the wire has them."""
    start = text.index('{"m":"')
    data, end = _DECODER.raw_decode(text, start)
    return f"{event} {data['m']} {zlib.crc32(text[start:end].encode()):08x}"


class Wire:
    """One connection of a client with those topics; `places` are its positions so far, by topic."""

    def __init__(self, address, context, key: str, topics: list, places: dict):
        self.host, _, port = address.rpartition(":")
        self.port, self.context, self.key = int(port), context, key
        self.topics, self.places = topics, places
        self.asked = {}


class Frames(Wire):
    """Over a WebSocket."""

    path = ""
    shows_key = False
    connection = None

    async def open(self):
        try:
            self.connection = await connect(
                f"wss://{self.host}:{self.port}{self.path}", ssl=self.context, compression=None, proxy=None,
                additional_headers={"x-api-key": self.key} if self.shows_key else None, ping_interval=None,
                open_timeout=OPEN_SECONDS, close_timeout=1, max_queue=4)
        except InvalidHandshake as refusal:
            raise Lost(getattr(getattr(refusal, "response", None), "status_code", 0)) from None

    async def say(self, text: str):
        try:
            await self.connection.send(text)
        except ConnectionClosed as closed:
            raise Lost(closed.rcvd.code if closed.rcvd else 0) from None

    async def hear(self) -> str:
        try:
            return await self.connection.recv()
        except ConnectionClosed as closed:
            raise Lost(closed.rcvd.code if closed.rcvd else 0) from None

    async def leave(self):
        if self.connection is not None:
            await self.connection.close()

    def cut(self):
        if self.connection is not None:
            self.connection.transport.abort()


class Phoenix(Frames):
    """A client of Supabase; that of version 2 says where it was, as `config.broadcast.since`."""

    path = "/realtime/v1/websocket?vsn=1.0.0"
    shows_key = True
    resumes = False

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.references = itertools.count(1)
        self.joins = {}
        self.beat = time.monotonic()

    def frame(self, channel, ref, event, payload) -> str:
        return json.dumps({"topic": channel, "event": event, "payload": payload, "ref": ref})

    def read(self, text) -> tuple:
        message = json.loads(text)
        return message["topic"], message["event"], message["payload"], message["ref"]

    async def subscribe(self, topics):
        for topic in topics:
            ref = str(next(self.references))
            self.joins[ref] = topic
            self.asked[topic] = self.places.get(topic) if self.resumes else None
            since = {}
            if self.asked[topic] is not None:
                epoch, offset = self.asked[topic]
                since = {"since": {"epoch": epoch, "offset": offset}}
            await self.say(self.frame(f"realtime:{topic}", ref, "phx_join", {"config": {"broadcast": since}}))

    async def happenings(self) -> list:
        text = await self.hear()
        if time.monotonic() - self.beat > HEARTBEAT_SECONDS:
            self.beat = time.monotonic()
            await self.say(self.frame("phoenix", "beat", "heartbeat", {}))
        channel, event, payload, ref = self.read(text)
        topic = channel.removeprefix("realtime:")
        if event == "broadcast":
            meta = payload["meta"]
            return [("P", topic, meta["epoch"], meta["offset"], told(text, payload["event"]))]
        if event == "phx_reply":
            joined = self.joins.pop(ref, None)
            if joined is None:
                return []
            return [("J", joined) if payload["status"] == "ok" else ("X", joined, "refused")]
        if event == "system" and payload["extension"] == "gap":
            return [("G", topic, payload["epoch"], payload["offset"], payload["reason"])]
        # After an error of the channel comes `phx_close`, or the end of the connection.
        return [("X", topic, "closed")] if event == "phx_close" else []


class PhoenixV2(Phoenix):
    """Frames are arrays."""

    path = "/realtime/v1/websocket?vsn=2.0.0"
    resumes = True

    def frame(self, channel, ref, event, payload) -> str:
        return json.dumps([ref, ref, channel, event, payload])

    def read(self, text) -> tuple:
        _, ref, channel, event, payload = json.loads(text)
        return channel, event, payload, ref


class Bytes(Wire):
    """Over HTTP, on one connection."""

    reader = writer = None

    async def connect(self):
        self.reader, self.writer = await asyncio.wait_for(
            asyncio.open_connection(self.host, self.port, ssl=self.context, limit=65_536), OPEN_SECONDS)

    async def until(self, mark: bytes) -> bytes:
        try:
            return await self.reader.readuntil(mark)
        except (OSError, asyncio.IncompleteReadError):
            raise Lost() from None

    async def head(self, request: str, body: str = "", **fields) -> tuple:
        """Sends a request; the answer's status, and its fields by name."""
        fields = {"Host": "localhost"} | {name.replace("_", "-"): value for name, value in fields.items()}
        if body:
            fields |= {"Content-Length": len(body.encode()), "Content-Type": "text/plain;charset=UTF-8"}
        lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
        self.writer.write(f"{request} HTTP/1.1\r\n{lines}\r\n{body}".encode())
        lines = (await self.until(b"\r\n\r\n")).decode().split("\r\n")
        fields = dict(line.lower().split(": ", 1) for line in lines[1:] if line)
        return int(lines[0].split(" ")[1]), fields

    async def leave(self):
        self.cut()

    def cut(self):
        if self.writer is not None:
            self.writer.transport.abort()


class Stream(Bytes):
    """An event stream; it comes back with `Last-Event-ID`."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        # As a browser keeps it, so that what the gateway wrote is what it is asked for.
        self.last_id = self.places.get("last-id", "")

    def positions(self) -> dict:
        """What the last id says of each topic."""
        if not self.last_id:
            return dict.fromkeys(self.topics)
        parts = [None if part == "-" else part.split(":") for part in self.last_id.split(",")]
        return {topic: part and (part[0], int(part[1])) for topic, part in zip(self.topics, parts, strict=True)}

    async def open(self):
        await self.connect()
        self.asked = self.positions()
        query = "&".join(f"topic={topic}" for topic in self.topics)
        last = {"Last_Event_ID": self.last_id} if self.last_id else {}
        status, _ = await asyncio.wait_for(self.head(f"GET /v1/stream?{query}", **last), OPEN_SECONDS)
        if status != 200:
            raise Lost(status)

    async def subscribe(self, topics):
        if len(topics) < len(self.topics):
            raise Lost()  # A stream asks for all at once, when it is opened.

    async def happenings(self) -> list:
        record = (await self.until(b"\n\n")).decode().strip("\n")
        fields = dict(line.split(": ", 1) for line in record.split("\n") if not line.startswith(":"))
        if "data" not in fields:
            return []
        if "id" in fields:
            self.last_id = self.places["last-id"] = fields["id"]
        message = json.loads(fields["data"])
        event, topic, data = fields["event"], message.get("topic"), message["data"]
        if event == "subscribed":
            return [("S", topic, data["epoch"], data["offset"], int(data["recovered"]))]
        if event == "gap":
            return [("G", topic, data["epoch"], data["offset"], data["reason"])]
        if event == "draining":
            return [("W", data["reconnectAfterMs"])]
        if event == "refused":
            return [("X", topic or "-", data["code"])]
        if event in ("closed", "unsubscribed", "warning", "token:expiring"):
            return []
        place = self.positions()[topic]
        if place is None or place[1] != message["offset"]:
            return [("X", topic, "unreadable")]
        return [("P", topic, *place, told(fields["data"], event))]


class SingleStream(Stream):
    """The same with one topic: its clients share one encoding."""

    def __init__(self, address, context, key, topics, places):
        super().__init__(address, context, key, topics[:1], places)
