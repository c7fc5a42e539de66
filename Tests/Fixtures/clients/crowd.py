"""Many clients at once, on one event loop in a thread of its own."""

import asyncio
import json

from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

JOIN_AT_ONCE = 50


class Crowd:
    """`count` clients of one gateway, all subscribed to one topic; `dialect_crowds.py` has those of other dialects."""

    path = "/ws"
    headers: dict | None = None

    def __init__(self, gateway, topic: str, count: int):
        self.gateway, self.topic, self.count = gateway, topic, count
        self.runner = asyncio.Runner()
        self.connections = []

    def __enter__(self):
        self.runner.__enter__()
        try:
            self.runner.run(self._join())
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(self, *_):
        try:
            self.runner.run(self._leave())
        finally:
            self.runner.close()

    async def _join(self):
        host, port = self.gateway.address()
        context = self.gateway.certificate.trusting_context()
        turns = asyncio.Semaphore(JOIN_AT_ONCE)

        async def one():
            async with turns:
                connection = await self._open(host, port, context)
                self.connections.append(connection)
                await asyncio.wait_for(self._subscribe(connection), 10)

        await asyncio.gather(*(one() for _ in range(self.count)))

    async def _open(self, host, port, context):
        return await connect(
            f"wss://{host}:{port}{self.path}", ssl=context, compression=None, proxy=None, ping_interval=None,
            open_timeout=20, close_timeout=5, max_queue=None, additional_headers=self.headers)

    async def _subscribe(self, connection):
        await connection.send(json.dumps({"event": "subscribe", "data": {"topic": self.topic}}))
        answer = json.loads(await connection.recv())
        assert answer["event"] == "subscribed", answer

    def read(self, text: str) -> dict:
        """What a message says, by the members `event` and `data`."""
        return json.loads(text)

    async def _leave(self):
        await asyncio.gather(*(connection.close() for connection in self.connections), return_exceptions=True)

    def receive(self, event: str, seconds_max: float = 10) -> list[dict]:
        """The next message named `event` of every client; `gap` messages before it are allowed."""
        async def one(connection):
            while True:
                message = self.read(await connection.recv())
                if message["event"] == event:
                    return message
                assert message["event"] == "gap", message

        async def everyone():
            return await asyncio.wait_for(asyncio.gather(*map(one, self.connections)), seconds_max)

        return self.runner.run(everyone())

    def closed(self, seconds_max: float = 20) -> list[tuple[int, list[str]]]:
        """Waits until the gateway has closed every connection: the close code and the events before it."""
        async def one(connection):
            events = []
            try:
                while True:
                    events.append(json.loads(await connection.recv())["event"])
            except ConnectionClosed:
                return connection.close_code, events

        async def everyone():
            return await asyncio.wait_for(asyncio.gather(*map(one, self.connections)), seconds_max)

        return self.runner.run(everyone())
