"""A small crowd in Python, for small runs: the same flags, log and commands as `switchboard-bench crowd`."""

import argparse
import asyncio
import json
import random
import socket
import ssl
import struct
import sys
import time
import zlib
from collections import Counter

from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidMessage

BACK_OFF_SECONDS = (0.1, 5.0)
RETRY_SECONDS = (0.1, 1.0)
decode = json.JSONDecoder().raw_decode


def now_us() -> int:
    return time.monotonic_ns() // 1_000


class Subscriber:
    """One client: it remembers its position on each topic and comes back to it."""

    def __init__(self, crowd, name: str, topics: list):
        self.crowd, self.name, self.topics = crowd, name, topics
        self.positions = {}
        self.connection = None
        self.live = set()
        self.told_ms = None
        self.reading = asyncio.Event()
        self.reading.set()

    async def run(self) -> None:
        failures = 0
        while not self.crowd.ending:
            try:
                async with asyncio.timeout(10):
                    self.connection = await connect(
                        self.crowd.next_url(), ssl=self.crowd.context, compression=None, proxy=None,
                        ping_interval=None, max_size=None, max_queue=4, close_timeout=1)
            except (OSError, InvalidHandshake, InvalidMessage, EOFError, TimeoutError, ConnectionClosed) as error:
                self.line("N", type(error).__name__)
                failures += 1
                await self._pause(failures)
                continue
            self.line("C", 0)
            code = await self._converse()
            self.connection, self.live = None, set()
            self.line("D", code)
            self.crowd.counts["reconnects"] += 1
            if not self.crowd.ending:
                await self._pause(0 if code else 1)
            failures = 0

    async def _pause(self, failures: int) -> None:
        least, most = BACK_OFF_SECONDS
        if self.told_ms is not None:
            seconds, self.told_ms = self.told_ms / 1_000, None
        else:
            seconds = random.uniform(0, min(most, least * 2 ** failures))
        await asyncio.sleep(seconds)  # lint:allow the client's back-off

    async def _converse(self) -> int:
        try:
            self.asked = {}
            await self._subscribe(self.connection, self.topics)
            while True:
                text = await self.connection.recv()
                await self.reading.wait()
                self._message(text)
        except ConnectionClosed:
            return self.connection.close_code if self.connection.close_code not in (None, 1006) else 0

    async def _subscribe(self, connection, topics) -> None:
        """Asks for topics, from the last position where there is one."""
        wanted = []
        for topic in topics:
            since = self.positions.get(topic)
            self.asked[topic] = since
            wanted.append({"topic": topic} | ({"since": {"epoch": since[0], "offset": since[1]}} if since else {}))
        await connection.send(json.dumps({"event": "subscribe", "ref": 1, "data": {"topics": wanted}}))

    async def _subscribe_again(self, connection, topic) -> None:
        """After `unavailable` or `rate_limited`: the connection stays, so the client asks again."""
        await asyncio.sleep(random.uniform(*RETRY_SECONDS))  # lint:allow the client's back-off
        try:
            if self.connection is connection:
                await self._subscribe(connection, [topic])
        except ConnectionClosed:
            pass  # The next connection asks for all topics.

    def _message(self, text: str) -> None:
        message = json.loads(text)
        event, topic, data = message["event"], message.get("topic", "-"), message.get("data") or {}
        if event == "subscribed":
            since = self.asked[topic]
            self.line("S", topic, data["epoch"], data["offset"], int(data["recovered"]),
                      *(since or ("-", "-")))
            if not data["recovered"]:
                self.positions[topic] = (data["epoch"], data["offset"])
            self.live.add(topic)
        elif event == "gap":
            self.crowd.counts["gaps"] += 1
            self.positions[topic] = (data["epoch"], data["offset"])
            self.line("G", topic, data["epoch"], data["offset"], data.get("reason", "-"))
        elif event == "error":
            self.line("X", topic, data["code"])
            if data["code"] in ("unavailable", "rate_limited") and topic != "-":
                task = asyncio.get_running_loop().create_task(self._subscribe_again(self.connection, topic))
                self.crowd.tasks.add(task)
                task.add_done_callback(self.crowd.tasks.discard)
        elif event == "draining":
            self.told_ms = data["reconnectAfterMs"]
            self.line("W", self.told_ms)
        else:
            self.crowd.counts["events"] += 1
            offset = message.get("offset", "-")
            self.line("E", topic, offset, event, data.get("m", "-"), f"{zlib.crc32(data_bytes(text)):08x}")
            if topic in self.positions and offset != "-":
                self.positions[topic] = (self.positions[topic][0], offset)

    def line(self, kind: str, *fields) -> None:
        self.crowd.log.write(f"{now_us()} {kind} {self.name} {' '.join(map(str, fields))}\n")

    def cut(self) -> None:
        """Ends the connection by RST."""
        if self.connection is not None:
            raw = self.connection.transport.get_extra_info("socket")
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.transport.abort()


def data_bytes(text: str) -> bytes:
    """The exact bytes of the member `data` of a message."""
    at = text.index('"data":') + len('"data":')
    return text[at:decode(text, at)[1]].encode()


class Crowd:
    """All clients of one process."""

    def __init__(self, options):
        self.options = options
        self.context = ssl.create_default_context(cafile=options.ca)
        self.log = open(options.log, "w", encoding="ascii", errors="replace", buffering=1 << 20)
        self.counts = Counter()
        self.tasks = set()
        self.turn = 0
        self.churn = 0.0
        self.ending = False
        prefix, _, count = options.topics.rpartition(":")
        count = int(count)
        self.clients = [
            Subscriber(self, str(number), sorted({
                f"{prefix}{(number * options.per_client + k) % count}" for k in range(options.per_client)}))
            for number in range(options.clients)]

    def next_url(self) -> str:
        self.turn += 1
        return self.options.url[self.turn % len(self.options.url)]

    async def run(self) -> None:
        loop = asyncio.get_running_loop()
        tasks = [loop.create_task(client.run()) for client in self.clients]
        tasks.append(loop.create_task(self._churn()))
        reader = asyncio.StreamReader()
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
        while line := await reader.readline():
            words = line.decode().split()
            if words[0] == "quit":
                break
            print(self._command(words), flush=True)
        self.ending = True
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self.log.close()
        for client in self.clients:
            if client.connection is not None:
                client.connection.transport.abort()
        print("bye", flush=True)

    def _command(self, words) -> str:
        if words[0] == "stall":
            for client in random.sample(self.clients, min(len(self.clients), int(words[1]))):
                client.reading.clear()
        elif words[0] == "resume":
            for client in self.clients:
                client.reading.set()
        elif words[0] == "drop":
            for client in random.sample(self.clients, min(len(self.clients), int(words[1]))):
                client.cut()
        elif words[0] == "churn":
            self.churn = float(words[1])
        self.log.flush()
        connected = sum(client.connection is not None for client in self.clients)
        live = sum(len(client.live) == len(client.topics) for client in self.clients)
        return json.dumps({"connected": connected, "live": live} | {
            name: self.counts[name] for name in ("events", "gaps", "reconnects", "resumed")})

    async def _churn(self) -> None:
        due = 0.0
        while True:
            await asyncio.sleep(0.05)  # lint:allow the pace of churn
            due += self.churn * 0.05
            while due >= 1:
                due -= 1
                random.choice(self.clients).cut()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", action="append", required=True)
    parser.add_argument("--ca", required=True)
    parser.add_argument("--clients", type=int, required=True)
    parser.add_argument("--topics", required=True, help="PREFIX:COUNT")
    parser.add_argument("--per-client", type=int, default=1)
    parser.add_argument("--log", required=True)
    parser.add_argument("--stdin", action="store_true", required=True)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    random.seed(options.seed)
    asyncio.run(Crowd(options).run())


if __name__ == "__main__":
    main()
