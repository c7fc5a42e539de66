"""Clients of Socket.IO that poll, each request at whichever gateway, and what each of them may see."""

import asyncio
import json
import random
import time
from collections import Counter

import aiohttp
import socketio

SEPARATOR = "\x1e"
TEXT = {"Content-Type": "text/plain;charset=UTF-8"}
ANSWER_SECONDS = 10
PAUSE_SECONDS = 0.2


class Ended(Exception):
    """The session is over; the client comes back with another."""


class Ledger:
    """What one client has seen of each topic. Every departure from the promise is a violation."""

    def __init__(self, name, topics, findings):
        self.name, self.topics, self.findings = name, topics, findings
        self.place = {}
        self.known = Counter()
        self.heard = set()
        self.away_since = None

    def violation(self, text):
        self.findings.violations.append(f"{self.name}: {text}")

    def joined(self, topic, answer):
        """A topic was joined: nothing was missed, or the client is told."""
        before, self.place[topic] = self.place.get(topic), (answer["epoch"], answer["offset"])
        if before is None:
            return
        if answer["recovered"]:
            self.place[topic] = before
            if before[0] != answer["epoch"] or before[1] > answer["offset"]:
                self.violation(f"recovered {topic} from {before} to {answer}")
        elif self.place[topic] != before:
            self.findings.told += 1

    def gap(self, gap):
        self.findings.told += 1
        self.place[gap["topic"]] = (gap["epoch"], gap["offset"])

    def event(self, name, data, place, prompt):
        """An event came; `prompt` when its latency counts."""
        topic = place["topic"]
        if topic not in self.topics or data.get("to", self.name) != self.name:
            return self.violation(f"another's event: {name} {data} {place}")
        epoch, offset = self.place.get(topic, (None, None))
        if place["epoch"] != epoch or place["offset"] != offset + 1:
            self.violation(f"{topic}: {place} after {epoch} {offset}")
        self.place[topic] = (place["epoch"], place["offset"])
        self.findings.delivered += 1
        if "op" in data:
            if data["op"] in self.heard:
                self.violation(f"taken twice: {data['op']}")
            self.heard.add(data["op"])
        if prompt:
            self.findings.latencies.append(time.monotonic() - data["at"])

    def ended(self):
        """The session is over."""
        self.away_since = self.away_since or time.monotonic()

    def back(self):
        """Every topic is joined again."""
        if self.away_since is not None:
            self.findings.returns.append(time.monotonic() - self.away_since)
            self.away_since = None

    @property
    def is_present(self):
        return self.away_since is None and len(self.place) == len(self.topics)

    def caught_up(self, heads):
        """Whether it has seen the last event of each of its topics."""
        return all(self.place.get(topic) == heads[topic] for topic in self.topics if topic in heads)


class Findings:
    """What all clients of a run have found."""

    def __init__(self):
        self.violations, self.latencies, self.returns = [], [], []
        self.told = self.delivered = self.polls = self.operations = 0
        self.ends = Counter()
        self.sids = set()


class Wanderer:
    """A thin client: open, poll, send, come back. It acts in a topic of its own, and each action must count once."""

    def __init__(self, http, origin, token, ledger, own, seed):
        self.http, self.token, self.ledger, self.own = http, token, ledger, own
        self.base = f"{origin}/socket.io/?EIO=4&transport=polling"
        self.rng = random.Random(seed)
        self.stopping = asyncio.Event()
        self.acting = asyncio.Event()
        self.sending = asyncio.Lock()
        self.operation = None
        self.count = 0
        # Numbers of its own, so that another's acknowledgement is known for what it is.
        self.ack = self.rng.randrange(10**6, 10**9) * 1_000
        self.waiting = {}

    async def run(self):
        while not self.stopping.is_set():
            tasks = []
            try:
                await self._open()
                tasks = [asyncio.create_task(self._poll()), asyncio.create_task(self._live())]
                done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    task.result()
            except Ended as end:
                self.ledger.findings.ends[str(end)] += 1
            except (aiohttp.ClientError, asyncio.TimeoutError, OSError) as error:
                self.ledger.findings.ends[type(error).__name__] += 1
            finally:
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)
                self.ledger.ended()
                self.waiting = {}
            await self._pause(PAUSE_SECONDS * (0.5 + self.rng.random()))

    async def _pause(self, seconds):
        try:
            await asyncio.wait_for(self.stopping.wait(), seconds)
        except asyncio.TimeoutError:
            pass

    # Requests

    async def _get(self, query):
        async with self.http.get(query) as answer:
            text = await answer.text()
            if answer.status != 200:
                raise Ended(f"GET {answer.status} {text[:30]}" if answer.status == 400 else f"GET {answer.status}")
            return text

    async def _post(self, packet):
        async with self.sending, self.http.post(self.query, data=packet.encode(), headers=TEXT) as answer:
            text = await answer.text()
            if answer.status != 200 or text != "ok":
                raise Ended(f"POST {answer.status}")

    async def _open(self):
        opening = await self._get(self.base)
        sid = json.loads(opening[1:])["sid"]
        if sid in self.ledger.findings.sids:
            self.ledger.violation(f"a second session of the id {sid}")
        self.ledger.findings.sids.add(sid)
        self.query = f"{self.base}&sid={sid}"

    async def _poll(self):
        while True:
            payload = await self._get(self.query)
            self.ledger.findings.polls += 1
            for packet in payload.split(SEPARATOR):
                await self._take(packet)

    async def _take(self, packet):
        if packet == "1":
            raise Ended("closed")
        if packet == "2":
            await self._post("3")
        elif packet.startswith("40"):
            self._settle("40", None)
        elif packet.startswith("43"):
            number, _, arguments = packet[2:].partition("[")
            self._settle(int(number), json.loads("[" + arguments)[0])
        elif packet.startswith("42["):
            name, data, *place = json.loads(packet[2:])
            if name == "gap":
                self.ledger.gap(data)
            elif place:
                self.ledger.event(name, data, place[0], self.ledger.is_present)
        elif packet.startswith("44"):
            raise Ended("refused")
        elif packet != "6":
            self.ledger.violation(f"a packet {packet[:80]}")

    # Asking

    def _settle(self, key, value):
        future, topic = self.waiting.pop(key, (None, None))
        if future is None:
            return self.ledger.violation(f"another's acknowledgement: {key} {value}")
        # At once: the events that follow it in the same answer are looked at next.
        if topic is not None and "error" not in value:
            self.ledger.joined(topic, value)
        if not future.done():
            future.set_result(value)

    async def _asks(self, key, packet, joins=None):
        future = asyncio.get_running_loop().create_future()
        self.waiting[key] = (future, joins)
        await self._post(packet)
        return await asyncio.wait_for(future, ANSWER_SECONDS)

    async def _call(self, name, data, joins=None):
        self.ack += 1
        return await self._asks(self.ack, f"42{self.ack}" + json.dumps([name, data]), joins)

    async def _live(self):
        await self._asks("40", "40" + json.dumps({"token": self.token, "positions": True}))
        for topic in self.ledger.topics:
            place = self.ledger.place.get(topic)
            since = {"since": {"epoch": place[0], "offset": place[1]}} if place else {}
            answer = await self._call("subscribe", {"topic": topic} | since, joins=topic)
            if "error" in answer:
                raise Ended(f"subscribe {answer['error']['code']}")
        self.ledger.back()
        # A pause that ends by itself may swallow that the task is cancelled, so each turn looks.
        while not self.stopping.is_set():
            await self._pause(1 + 2 * self.rng.random())
            if self.acting.is_set():
                await self._act()

    async def _act(self):
        """Publishes under an id; what was not acknowledged is done again until it is."""
        if self.operation is None:
            self.count += 1
            self.operation = f"{self.ledger.name}-{self.count}"
        data = {"op": self.operation, "at": time.monotonic()}
        answer = await self._call(
            "publish", {"topic": self.own, "event": "done", "data": data, "id": self.operation})
        # An earlier try under the same id, whose answer got lost, said another time.
        code = answer.get("error", {}).get("code")
        if code is None or code == "conflict":
            self.ledger.findings.operations += 1
            self.operation = None


class Library:
    """python-socketio, unmodified, by polling alone; it joins its topics again whenever it is connected."""

    def __init__(self, http, origin, token, ledger):
        self.origin, self.token, self.ledger = origin, token, ledger
        self.sio = socketio.AsyncClient(
            http_session=http, reconnection=True, reconnection_delay=0.1, reconnection_delay_max=0.5)
        self.sio.on("connect", self._joins)
        self.sio.on("disconnect", lambda *_: ledger.ended())
        self.sio.on("gap", lambda data, *_: ledger.gap(data))
        self.sio.on("*", self._heard)

    def _heard(self, name, data, place=None):
        if place is not None:
            self.ledger.event(name, data, place, self.ledger.is_present)

    async def _joins(self):
        for topic in self.ledger.topics:
            place = self.ledger.place.get(topic)
            since = {"since": {"epoch": place[0], "offset": place[1]}} if place else {}
            # The acknowledgement is taken where it comes: what follows it in the same answer is heard after it.
            await self.sio.emit(
                "subscribe", {"topic": topic} | since,
                callback=lambda answer, topic=topic: self._joined(topic, answer))

    def _joined(self, topic, answer):
        if "error" in answer:
            return
        self.ledger.joined(topic, answer)
        if len(self.ledger.place) == len(self.ledger.topics):
            self.ledger.back()

    async def start(self):
        await self.sio.connect(
            self.origin, transports=["polling"], auth={"token": self.token, "positions": True}, wait_timeout=10,
            retry=True)

    async def stop(self):
        await asyncio.wait_for(self.sio.shutdown(), ANSWER_SECONDS)
