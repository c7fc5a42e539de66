"""Publishes at a given rate, in batches over keep-alive HTTPS connections, and writes down each attempt and answer.

Open loop: what is due is due, however long answers take. A batch that got no answer or 503 is sent again with the same
ids until its deadline, since nobody knows what became of it.

Commands on stdin, each answered by one line:
    rate N            publishes a second from now on
    burst N BYTES     N publishes at once with so much padding, over all topics
    stop              rate 0, and wait until every attempt is settled
    once              one publish on each topic, settled; the answer says how many were acked
    status            counts as JSON
    quit
"""

import argparse
import asyncio
import json
import random
import ssl
import sys
import time
import zlib
from collections import Counter

TICK_SECONDS = 0.005
ANSWER_SECONDS = 4
CONNECT_SECONDS = 3
BACK_OFF_SECONDS = (0.05, 1.0)
BATCHES_MAX = 20_000
KEYS = 20


def now_us() -> int:
    return time.monotonic_ns() // 1_000


class Log:
    """The publisher log; lines are written when they are due to be read."""

    def __init__(self, path):
        self.file = open(path, "w", encoding="ascii", buffering=1 << 20)

    def attempt(self, item) -> None:
        self.file.write(f'{{"t":{now_us()},"try":"{item.identity}","topic":"{item.topic}","crc":"{item.crc}"}}\n')

    def ack(self, item, answer) -> None:
        duplicate = ',"dup":true' if answer.get("duplicate") else ""
        self.file.write(f'{{"t":{now_us()},"ack":"{item.identity}","topic":"{item.topic}","epoch":"{answer["epoch"]}",'
                        f'"offset":{answer["offset"]}{duplicate}}}\n')

    def nack(self, item, status, code) -> None:
        self.file.write(f'{{"t":{now_us()},"nack":"{item.identity}","status":{status},"code":{json.dumps(code)}}}\n')


class Item:
    """One message."""

    __slots__ = ("identity", "topic", "data", "crc", "deadline", "tries")

    def __init__(self, identity, topic, scheduled_us, padding, key, deadline):
        member = f'"k":"{key}",' if key is not None else ""
        self.identity, self.topic, self.deadline, self.tries = identity, topic, deadline, 0
        self.data = f'{{"m":"{identity}","t":{scheduled_us},{member}"p":"{padding}"}}'
        self.crc = f"{zlib.crc32(self.data.encode()):08x}"

    @property
    def text(self) -> str:
        return f'{{"topic":"{self.topic}","event":"e","data":{self.data},"id":"{self.identity}"}}'


class Publishers:
    """The open loop, the connections, and what they share."""

    def __init__(self, options):
        self.options = options
        self.rng = random.Random(options.seed)
        self.log = Log(options.log)
        self.context = ssl.create_default_context(cafile=options.ca)
        self.topics = []
        for text in options.topics:
            prefix, _, count = text.rpartition(":")
            self.topics += [f"{prefix}{number}" for number in range(int(count))]
        self.queue = asyncio.Queue()
        self.counts = Counter()
        self.rate = 0
        self.unsettled = 0
        self.serial = 0
        self.padding = "".join(self.rng.choices("abcdefghijklmnopqrstuvwxyz", k=65_000))

    async def run(self) -> None:
        loop = asyncio.get_running_loop()
        tasks = [loop.create_task(self._connection(number)) for number in range(self.options.connections)]
        tasks.append(loop.create_task(self._schedule()))
        reader = asyncio.StreamReader()
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
        while line := await reader.readline():
            words = line.decode().split()
            answer = await self._command(words)
            self.log.file.flush()
            print(answer, flush=True)
            if words[0] == "quit":
                break
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self.log.file.close()

    async def _command(self, words) -> str:
        if words[0] == "rate":
            self.rate = float(words[1])
        elif words[0] == "burst":
            self._put([self._item(self.rng.choice(self.topics), now_us(), int(words[2])) for _ in range(int(words[1]))])
        elif words[0] == "stop":
            self.rate = 0
            await self._settled()
        elif words[0] == "once":
            before = self.counts["acked"]
            self._put([self._item(topic, now_us(), self.options.padding) for topic in self.topics])
            await self._settled()
            return str(self.counts["acked"] - before)
        return json.dumps(dict(self.counts) | {"unsettled": self.unsettled})

    async def _settled(self) -> None:
        while self.unsettled:
            await asyncio.sleep(TICK_SECONDS)  # lint:allow between two looks; every item has a deadline

    def _item(self, topic, scheduled_us, padding) -> Item:
        self.serial += 1
        key = f"k{self.rng.randrange(KEYS)}" if topic.startswith("live:") else None
        return Item(f"{self.options.name}-{self.options.seed:x}-{self.serial}", topic, scheduled_us,
                    self.padding[:padding], key, time.monotonic() + self.options.deadline)

    def _put(self, items) -> None:
        self.unsettled += len(items)
        size, batch = 0, []
        for item in items:
            # A body may have 1 MiB.
            if batch and (len(batch) >= self.options.batch or size + len(item.data) > 800_000):
                self.queue.put_nowait(batch)
                size, batch = 0, []
            batch.append(item)
            size += len(item.data) + 200
        if batch:
            self.queue.put_nowait(batch)

    async def _schedule(self) -> None:
        """Makes what is due; a batch leaves when it is full or its first message has waited for 20 ms."""
        due, last, batch = 0.0, time.monotonic(), []
        while True:
            await asyncio.sleep(TICK_SECONDS)  # lint:allow the clock of the open loop
            now = time.monotonic()
            due += (now - last) * self.rate
            last = now
            while due >= 1:
                due -= 1
                if self.queue.qsize() > BATCHES_MAX:
                    self.counts["skipped"] += 1
                    continue
                batch.append(self._item(self.rng.choice(self.topics), now_us(), self.options.padding))
            if batch and (len(batch) >= self.options.batch or len(batch) >= self.rate * 0.02):
                self._put(batch)
                batch = []

    # Connections

    async def _connection(self, number) -> None:
        """Sends batches over one connection at a time; each failure moves on to the next target."""
        targets, turn = self.options.target, number
        reader = writer = None
        while True:
            batch = await self.queue.get()
            for item in batch:
                item.tries += 1
                self.log.attempt(item)
            self.counts["attempts"] += len(batch)
            try:
                if writer is None:
                    host, _, port = targets[turn % len(targets)].rpartition(":")
                    reader, writer = await asyncio.wait_for(
                        asyncio.open_connection(host, int(port), ssl=self.context, limit=1 << 22), CONNECT_SECONDS)
                status, body, keep = await asyncio.wait_for(self._exchange(reader, writer, batch), ANSWER_SECONDS)
                self._answered(batch, status, body)
                if keep:
                    continue
            except (OSError, asyncio.TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, ValueError):
                self.counts["unanswered"] += 1
                self._again(batch)
            if writer is not None:
                writer.transport.abort()
            reader = writer = None
            turn += 1

    async def _exchange(self, reader, writer, batch):
        body = ('{"messages":[' + ",".join(item.text for item in batch) + "]}").encode()
        head = (f"POST /v1/broadcast HTTP/1.1\r\nHost: localhost\r\napikey: {self.options.key}\r\n"
                f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n")
        writer.write(head.encode() + body)
        await writer.drain()
        lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        fields = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
        answer = await reader.readexactly(int(fields.get("content-length", 0)))
        return int(lines[0].split(" ")[1]), answer, fields.get("connection", "").lower() != "close"

    def _answered(self, batch, status, body) -> None:
        answer = json.loads(body) if body else {}
        self.counts[f"status {status}"] += 1
        if status != 200:
            code = answer.get("error", {}).get("code", "")
            for item in batch:
                self.log.nack(item, status, code)
            self.counts["nacked"] += len(batch)
            if status in (429, 503) or status >= 500:
                return self._again(batch)
            self.unsettled -= len(batch)
            return
        again = []
        for item, result in zip(batch, answer["results"], strict=True):
            if "error" in result:
                code = result["error"]["code"]
                self.log.nack(item, 200, code)
                self.counts[f"nacked {code}"] += 1
                if code in ("unavailable", "rate_limited", "internal"):
                    again.append(item)
                else:
                    self.unsettled -= 1
            else:
                self.log.ack(item, result)
                self.counts["acked"] += 1
                self.counts["duplicates"] += bool(result.get("duplicate"))
                self.unsettled -= 1
        if again:
            self._again(again)

    def _again(self, batch) -> None:
        """Sends the batch again after a pause, without those whose time is over."""
        now = time.monotonic()
        left = [item for item in batch if item.deadline > now]
        self.unsettled -= len(batch) - len(left)
        self.counts["given up"] += len(batch) - len(left)
        if left:
            least, most = BACK_OFF_SECONDS
            pause = self.rng.uniform(least, min(most, least * 2 ** left[0].tries))
            asyncio.get_running_loop().call_later(pause, self.queue.put_nowait, left)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--target", action="append", required=True, help="HOST:PORT, repeatable")
    parser.add_argument("--ca", required=True)
    parser.add_argument("--key", required=True)
    parser.add_argument("--topics", action="append", required=True, help="PREFIX:COUNT, repeatable")
    parser.add_argument("--log", required=True)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--name", default="p")
    parser.add_argument("--connections", type=int, default=4)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--padding", type=int, default=150)
    parser.add_argument("--deadline", type=float, default=15, help="seconds until an unanswered message is given up")
    asyncio.run(Publishers(parser.parse_args()).run())


if __name__ == "__main__":
    main()
