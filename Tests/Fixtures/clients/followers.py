"""Clients that follow a topic wherever their gateway goes, and publishers that must never be refused."""

import asyncio
import json
import time
from itertools import count

from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake

from Fixtures.processes.gateway import API_KEY
from Fixtures.waiting import comes_true

LOST = (ConnectionClosed, InvalidHandshake, OSError, TimeoutError, EOFError)
#: What a client does when it is told that its gateway goes away.
LEAVES, WAITS = "leaves, then waits for the hint", "is closed, then waits for the hint"


class Follower:
    """A subscriber of one topic. It returns as it was told to `target()`, and resumes at its position."""

    def __init__(self, target, context, topic, manner=WAITS):
        self.target, self.context, self.topic, self.manner = target, context, topic, manner
        self.epoch, self.offset = None, 0
        self.events, self.holes, self.codes, self.returns, self.hints = 0, [], [], [], []
        self.live = False

    async def run(self):
        """Follows until it is cancelled."""
        while True:
            try:
                connection = await connect(
                    f"wss://{self.target()}/ws", ssl=self.context, compression=None, proxy=None, ping_interval=None,
                    open_timeout=20, close_timeout=2, max_queue=None)
            except LOST:
                await asyncio.sleep(0.1)  # lint:allow back-off of a client that cannot connect
                continue
            hint = 0
            try:
                hint = await self.follow(connection)
            except ConnectionClosed:
                self.codes.append(connection.close_code)
                if self.hints:
                    hint = self.hints[-1]
            finally:
                self.live = False
                await connection.close()
            await asyncio.sleep(hint / 1_000)  # lint:allow the hint it was given
            self.returns.append(time.monotonic())

    async def follow(self, connection):
        """Reads until the connection ends, or until it leaves by itself: then the rest of the hint."""
        since = {"since": {"epoch": self.epoch, "offset": self.offset}} if self.epoch else {}
        await connection.send(json.dumps({"event": "subscribe", "data": {"topic": self.topic, **since}}))
        async for text in connection:
            message = json.loads(text)
            data = message.get("data", {})
            if message["event"] == "subscribed":
                if self.epoch and not data["recovered"]:
                    self.holes.append(message)
                if not self.epoch:
                    self.epoch, self.offset = data["epoch"], data["offset"]
                self.live = True
            elif message["event"] == "draining":
                self.hints.append(data["reconnectAfterMs"])
                if self.manner == LEAVES:
                    return self.hints[-1]
            elif message["event"] == "e":
                if message["offset"] != self.offset + 1:
                    self.holes.append(message)
                self.offset = message["offset"]
                self.events += 1
            else:
                self.holes.append(message)
        raise ConnectionClosed(None, None)


async def publish(http, origin, topics, pause, failures, published):
    """Publishes to the topics in turn until it is cancelled; counts each, and notes what was not a success."""
    for number in count():
        topic = topics[number % len(topics)]
        try:
            answer = await http.post(
                f"{origin}/v1/broadcast", headers={"apikey": API_KEY},
                json={"topic": topic, "event": "e", "data": {"n": number}})
            if answer.status_code == 200:
                published[topic] = answer.json()["offset"]
            else:
                failures.append((answer.status_code, answer.text))
        except Exception as error:
            failures.append(repr(error))
        await asyncio.sleep(pause)  # lint:allow the pace of a publisher


async def stalls(longest):
    """Notes in `longest[0]` by how many seconds this process was late at most, until it is cancelled."""
    while True:
        before = time.monotonic()
        await asyncio.sleep(0.05)  # lint:allow how late one is after a short pause is what is measured
        longest[0] = max(longest[0], time.monotonic() - before - 0.05)


async def true(condition, seconds_max, what):
    """Waits until the condition is true."""
    assert await comes_true(condition, seconds_max), f"{what} did not come true within {seconds_max} s"


def most_in_window(times, window):
    """The largest number of times in any window of this length."""
    times = sorted(times)
    first, most = 0, 0
    for index, at in enumerate(times):
        while times[first] <= at - window:
            first += 1
        most = max(most, index - first + 1)
    return most
