"""A conversation of two users with three devices each while gateways are killed: one order for all, each message once.

usage: .venv/bin/python Tests/Chaos/messages.py [--messages 5000] [--rate 200] [--seed N]

Each device follows the conversation through any gateway and comes back by position. The six of them send the messages
together, each until it is answered, now and then again although it was, and move their users' read marks. Readers go
through the pages meanwhile. Gateways are killed in turn. Exits with 1 when two devices have another order, a message
is missing or doubled, a mark goes back, or pages have a hole. Prints how long messages took from the first try of the
sender to each device.
"""

import argparse
import asyncio
import json
import random
import sys
import time

import paths  # noqa: F401
import httpx
import runs
from Fixtures.clients.certificates import write_certificate
from Fixtures.clients.tokens import SECRET, sign
from Fixtures.processes.gateway import API_KEY
from Fixtures.processes.ports import free_port
from Fixtures.processes.worker import Worker
from Fixtures.redis.server import RedisServer
from Fixtures.waiting import comes_true, time_passes
from installed import Installed
from roundrobin import quantile
from websockets.asyncio.client import connect
from websockets.exceptions import WebSocketException
from world import LIMITS, FixedGateway

USERS = ("ann", "bob")
PLACE = "ann_bob"
TOPIC = f"conversation:{PLACE}"
DEVICES = 3
PACKS = ("--packs", "messaging")
PAUSE_SECONDS = 0.02
DOWN_SECONDS = 0.4
CALM_SECONDS = (1.0, 2.5)
CATCH_UP_SECONDS = 30
AGAIN_SHARE = 0.05
READ_SHARE = 0.1


class Findings:
    """What must not be, and how long messages took."""

    def __init__(self):
        self.violations, self.latencies, self.prompt = [], [], []
        self.repeated = self.pages = self.reloads = self.kills = 0

    def violation(self, text):
        self.violations.append(text)


class Rig(Installed):
    """Redis, three gateways at fixed addresses, and a worker."""

    def __init__(self, directory, gateways=3):
        certificate = self.certificate = write_certificate(directory)
        redis = RedisServer(directory / "redis", "--appendonly", "yes", "--appendfsync", "always")
        limits = LIMITS | {"requestsPerAddressPerSecond": 100_000}
        gateways = [
            FixedGateway(directory / f"gateway-{number}", f"127.0.0.1:{free_port()}", redis.url, certificate,
                         SECRET, *PACKS, limits=limits) for number in range(gateways)]
        worker = Worker(directory / "worker", redis.url, *PACKS)
        super().__init__(redis, gateways, (worker.start, worker.stop))

    def origins(self):
        return [f"https://{gateway.fixed}" for gateway in self.gateways]


class Server:
    """Requests to any gateway, again and again until one answers."""

    def __init__(self, rig, rng, findings):
        self.rig, self.rng, self.findings = rig, rng, findings
        self.http = httpx.AsyncClient(verify=rig.certificate.trusting_context(), headers={"apikey": API_KEY},
                                      timeout=4, trust_env=False)

    async def ask(self, method, path, **options):
        while True:
            try:
                answer = await self.http.request(method, self.rng.choice(self.rig.origins()) + path, **options)
            except httpx.HTTPError:
                self.findings.repeated += 1
                await time_passes(PAUSE_SECONDS, "the pause of a client that repeats")
                continue
            if answer.status_code in (200, 201):
                return answer.json()
            if answer.status_code not in (429, 503):
                raise AssertionError(f"{method} {path}: {answer.status_code} {answer.text}")
            self.findings.repeated += 1
            await time_passes(PAUSE_SECONDS, "the pause of a client that repeats")

    async def page(self, user, before=None):
        more = {"before": before} if before is not None else {}
        return await self.ask("GET", f"/v1/conversations/{PLACE}/messages", params={"userId": user, **more})


class Device:
    """One device: what it has heard, in its order, and the marks that it was told."""

    def __init__(self, name, user, server, sent, findings):
        self.name, self.user, self.server, self.sent, self.findings = name, user, server, sent, findings
        self.position, self.messages, self.marks = None, {}, {}
        self.joined_at = None
        self.is_live = False

    def take(self, message, live):
        known = self.messages.get(message["id"])
        if known not in (None, message["timestampMs"]):
            self.findings.violation(f"{self.name}: {message['id']} has two times")
        if known is None:
            if live and self.messages and message["timestampMs"] <= max(self.messages.values()):
                self.findings.violation(f"{self.name}: {message['id']} came out of order")
            began = self.sent.get(message["id"])
            if live and began is not None:
                # One that was sent while this device was away came as soon as it was back.
                late = time.monotonic() - began
                (self.findings.prompt if began > self.joined_at else self.findings.latencies).append(late)
        elif live:
            self.findings.violation(f"{self.name}: {message['id']} came twice")
        self.messages[message["id"]] = message["timestampMs"]

    def mark(self, data):
        place = (data["userId"], data["status"])
        if data["upToMs"] <= self.marks.get(place, 0) or data["afterMs"] < self.marks.get(place, 0):
            self.findings.violation(f"{self.name}: the mark {place} went back to {data['upToMs']}")
        self.marks[place] = data["upToMs"]

    def joined(self, data):
        if data["recovered"]:
            return
        self.findings.reloads += 1
        self.position = {"epoch": data["epoch"], "offset": data["offset"]}
        state = data["state"]
        for message in state["messages"]:
            self.take(message, live=False)
        for member in state["members"]:
            for status in ("delivered", "read"):
                place = (member["userId"], status)
                if member[f"{status}Ms"] < self.marks.get(place, 0) and status == "read":
                    self.findings.violation(f"{self.name}: the mark {place} went back in the state")

    def hear(self, message):
        event, data = message["event"], message.get("data", {})
        if event == "subscribed" and message.get("topic") == TOPIC:
            self.joined_at, self.is_live = time.monotonic(), True
            return self.joined(data)
        if event in ("error", "gap"):
            raise ConnectionError(f"{event}: {data}")
        if message.get("topic") != TOPIC:
            return
        if "offset" in message:
            if message["offset"] != self.position["offset"] + 1:
                self.findings.violation(f"{self.name}: offset {message['offset']} after {self.position['offset']}")
            self.position["offset"] = message["offset"]
        if event == "message:added":
            self.take(data, live=True)
        elif event == "messages:read":
            self.mark(data)

    async def run(self, rig, rng):
        token = sign(SECRET, self.user, ttl=7_200)
        while True:
            gateway = rng.choice(rig.gateways)
            try:
                async with connect(
                        f"wss://{gateway.fixed}/ws", ssl=rig.certificate.trusting_context(), proxy=None,
                        additional_headers={"Authorization": f"Bearer {token}"}, max_size=None) as socket:
                    since = {"since": self.position} if self.position else {}
                    await socket.send(json.dumps({"event": "subscribe", "data": {"topic": TOPIC} | since}))
                    async for text in socket:
                        self.hear(json.loads(text))
            except (OSError, WebSocketException):
                pass
            self.is_live = False
            await time_passes(PAUSE_SECONDS, "the pause of a client that comes back")


class Sender:
    """What one device sends: its share of the messages, each until it is answered, and read marks."""

    def __init__(self, device, server, count, rate, rng):
        self.device, self.server, self.count, self.rate, self.rng = device, server, count, rate, rng
        self.mark = 0

    async def run(self):
        user = self.device.user
        for number in range(self.count):
            began = time.monotonic()
            id = f"{self.device.name}-{number}"
            self.device.sent[id] = began
            body = {"id": id, "text": f"text {number} of {self.device.name}", "userId": user}
            path = f"/v1/conversations/{PLACE}/messages"
            first = await self.server.ask("POST", path, json=body)
            if self.rng.random() < AGAIN_SHARE:
                again = await self.server.ask("POST", path, json=body)
                if again["timestampMs"] != first["timestampMs"]:
                    self.server.findings.violation(f"a retry of {id} was stored anew")
            if self.rng.random() < READ_SHARE and self.device.messages:
                await self._read(user)
            await time_passes(max(0.0, 1 / self.rate - (time.monotonic() - began)), "the load's pace")

    async def _read(self, user):
        """Reads up to some message that has come; marks of the user's other devices may be further."""
        ids = list(self.device.messages)
        body = {"upTo": ids[-1 - self.rng.randrange(min(len(ids), 20))], "userId": user}
        answer = await self.server.ask("POST", f"/v1/conversations/{PLACE}/read", json=body)
        if answer["upToMs"] < self.mark:
            self.server.findings.violation(f"the mark of {user} went back to {answer['upToMs']}")
        self.mark = answer["upToMs"]


async def read_pages(server, user, rng, walks, stopping):
    """Goes through the pages again and again; each walk is the ids in the order in which they were told."""
    while not stopping.is_set():
        walk, before = [], None
        for _ in range(rng.randrange(2, 12)):
            page = await server.page(user, before)
            server.findings.pages += 1
            walk += [message["id"] for message in page["messages"]]
            before = page["next"]
            if before is None:
                break
        walks.append(walk)
        await time_passes(PAUSE_SECONDS, "the pace of a reader")


def judge_walk(walk, order, findings):
    """A walk is a piece of the order, newest first: no hole, nothing twice, whatever was sent meanwhile."""
    if walk and (walk[0] not in order or walk != list(order)[order[walk[0]]:][:len(walk)]):
        findings.violation(f"a walk from {walk[0]} has a hole or a double")


def judge(told, sent, devices, walks, findings):
    """The pages, newest first, have what was sent, each once; devices have that order; no walk had a hole."""
    if sorted(told) != sorted(sent):
        findings.violation(f"{len(sent)} were sent, and the pages have {len(told)}, {len(set(told))} different ones")
    for device in devices:
        mine = [id for id, _ in sorted(device.messages.items(), key=lambda item: -item[1])]
        if mine != told:
            findings.violation(f"{device.name} has {len(mine)} messages, and not the order of the pages")
    order = {id: place for place, id in enumerate(told)}
    for walk in walks:
        judge_walk(walk, order, findings)


async def kill_in_turn(rig, rng, stopping, findings, log):
    number = 0
    while not stopping.is_set():
        await time_passes(rng.uniform(*CALM_SECONDS), "the load runs undisturbed")
        gateway = rig.gateways[number % len(rig.gateways)]
        gateway.kill()
        findings.kills += 1
        await time_passes(DOWN_SECONDS, "the gateway is away")
        await asyncio.to_thread(gateway.start)
        await asyncio.to_thread(gateway.wait_ready, 20)
        log(f"gateway {number % len(rig.gateways)} was killed and is back")
        number += 1


async def live(rig, options, log):
    """The whole run; what was found."""
    rng, findings, sent, walks = random.Random(options.seed), Findings(), {}, []
    server = Server(rig, rng, findings)
    devices = [Device(f"{user}-{number}", user, server, sent, findings) for user in USERS for number in range(DEVICES)]
    stopping = asyncio.Event()
    tasks = [asyncio.create_task(device.run(rig, rng)) for device in devices]
    if not await comes_true(lambda: all(device.is_live for device in devices), CATCH_UP_SECONDS):
        raise AssertionError("not everybody was there in time")
    shares = [options.messages // len(devices) + (number < options.messages % len(devices))
              for number in range(len(devices))]
    pace = options.rate / len(devices)
    senders = [Sender(device, server, share, pace, random.Random(f"{options.seed} {device.name}"))
               for device, share in zip(devices, shares, strict=True)]
    readers = [asyncio.create_task(read_pages(server, user, rng, walks, stopping)) for user in USERS]
    killer = asyncio.create_task(kill_in_turn(rig, rng, stopping, findings, log))
    began = time.monotonic()
    await asyncio.gather(*(sender.run() for sender in senders))
    seconds = time.monotonic() - began
    stopping.set()
    await asyncio.gather(killer, *readers)
    told, before = [], None
    while True:
        page = await server.page("ann", before)
        told += [message["id"] for message in page["messages"]]
        before = page["next"]
        if before is None:
            break
    await comes_true(lambda: all(device.is_live and len(device.messages) >= len(told) for device in devices),
                     CATCH_UP_SECONDS)
    judge(told, sent, devices, walks, findings)
    for task in tasks:
        task.cancel()
    ended = await asyncio.gather(*tasks, return_exceptions=True)
    for result in ended:
        if isinstance(result, Exception):
            findings.violation(f"a device ended: {result!r}")
    await server.http.aclose()
    return findings, len(walks), len(told), seconds


def run(options, directory, log=lambda text: print(text, flush=True)):
    """One run; what it found and whether that is good."""
    with Rig(directory) as rig:
        findings, walks, messages, seconds = asyncio.run(live(rig, options, log))
    everything = findings.prompt + findings.latencies
    summary = {
        "seed": options.seed, "messages": messages, "messages a second": round(messages / seconds),
        "kills": findings.kills, "requests repeated": findings.repeated, "walks": walks, "pages": findings.pages,
        "states read": findings.reloads, "delivered": len(everything),
        "ms to devices that were there": {f"p{share:g}": round(1_000 * quantile(findings.prompt, share / 100), 1)
                                          for share in (50, 99, 99.9)},
        "ms to all": {f"p{share:g}": round(1_000 * quantile(everything, share / 100), 1) for share in (50, 99, 99.9)},
        "violations": len(findings.violations), "first violations": findings.violations[:20],
    }
    return summary, not findings.violations


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--messages", type=int, default=5_000)
    parser.add_argument("--rate", type=float, default=200, help="messages a second, of all devices")
    parser.add_argument("--seed", type=int, default=None, help="repeats a run's faults and messages")
    parser.add_argument("--keep", action="store_true", help="keep the logs of a good run, too")
    options = runs.parse(parser)
    with runs.directory(options) as outcome:
        summary, outcome.good = run(options, outcome.path)
    print(json.dumps(summary, indent=1))
    print("PASS" if outcome.good else "FAIL", flush=True)
    return 0 if outcome.good else 1


if __name__ == "__main__":
    sys.exit(main())
