"""Crowds whose clients speak Phoenix, Socket.IO, or read event streams."""

import asyncio
import json

from Fixtures.clients.crowd import Crowd
from Fixtures.processes.gateway import API_KEY


class PhoenixV1(Crowd):
    """Clients of `vsn=1.0.0`."""

    path = "/realtime/v1/websocket?vsn=1.0.0"
    headers = {"x-api-key": API_KEY}

    async def _subscribe(self, connection):
        await connection.send(json.dumps(
            {"topic": f"realtime:{self.topic}", "event": "phx_join", "payload": {"config": {}}, "ref": "1"}))
        answer = json.loads(await connection.recv())
        assert answer["event"] == "phx_reply" and answer["payload"]["status"] == "ok", answer

    def read(self, text):
        message = json.loads(text)
        assert message["event"] == "broadcast" and "offset" in message["payload"]["meta"], message
        return {"event": message["payload"]["event"], "data": message["payload"]["payload"]}


class PhoenixV2(Crowd):
    """Clients of `vsn=2.0.0`."""

    path = "/realtime/v1/websocket?vsn=2.0.0"
    headers = {"x-api-key": API_KEY}

    async def _subscribe(self, connection):
        await connection.send(json.dumps(["1", "1", f"realtime:{self.topic}", "phx_join", {"config": {}}]))
        answer = json.loads(await connection.recv())
        assert answer[3] == "phx_reply" and answer[4]["status"] == "ok", answer

    def read(self, text):
        _, _, _, event, payload = json.loads(text)
        assert event == "broadcast" and "offset" in payload["meta"], text
        return {"event": payload["event"], "data": payload["payload"]}


class SocketIO(Crowd):
    """Clients of Socket.IO over a WebSocket, in the namespace `/`."""

    path = "/socket.io/?EIO=4&transport=websocket"
    auth = ""
    arguments = 1

    async def _subscribe(self, connection):
        assert (await connection.recv())[0] == "0"
        await connection.send("40" + self.auth)
        assert (await connection.recv()).startswith("40")
        await connection.send("420" + json.dumps(["subscribe", {"topic": self.topic}]))
        answer = await connection.recv()
        assert answer.startswith("430[{\"topic\""), answer

    def read(self, text):
        assert text.startswith("42["), text
        event, *arguments = json.loads(text[2:])
        assert len(arguments) == self.arguments, text
        return {"event": event, "data": arguments[0]}


class SocketIOPositions(SocketIO):
    """The same with positions."""

    auth = json.dumps({"positions": True})
    arguments = 2


class _Stream:
    """An event stream with the members of a WebSocket that a crowd uses."""

    def __init__(self, reader, writer):
        self.reader, self.writer = reader, writer

    async def recv(self) -> str:
        return (await self.reader.readuntil(b"\n\n")).decode()

    async def close(self):
        self.writer.transport.abort()


class Stream(Crowd):
    """Readers of event streams."""

    async def _open(self, host, port, context):
        reader, writer = await asyncio.open_connection(host, port, ssl=context, limit=1 << 20)
        writer.write(f"GET /v1/stream?topic={self.topic} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 20)
        assert head.startswith(b"HTTP/1.1 200 "), head
        return _Stream(reader, writer)

    async def _subscribe(self, connection):
        while "event: subscribed" not in (record := await connection.recv()):
            assert record.startswith("retry:"), record

    def read(self, text):
        fields = dict(line.split(": ", 1) for line in text.strip().split("\n"))
        assert fields["id"] and fields["event"] == json.loads(fields["data"])["event"], text
        return json.loads(fields["data"])


ALL = [PhoenixV1, PhoenixV2, SocketIO, SocketIOPositions, Stream]
