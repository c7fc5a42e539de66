"""Clients that poll, round robin in front of two gateways that are restarted in turn: nothing is lost in silence.

usage: .venv/bin/python Tests/Chaos/roundrobin.py --minutes 10 --clients 200 --seed 7

Each client follows shared topics, its own topic that nobody else may see, and a conversation in which it acts. It
checks by positions that every event comes once and in order, over every restart. Exit code 1 when anything was lost,
doubled, mixed up or never came.
"""

import argparse
import asyncio
import json
import random
import sys
import time
from pathlib import Path

import paths  # noqa: F401
import aiohttp
import httpx
import runs
from Fixtures.clients.certificates import write_certificate
from Fixtures.clients.tokens import SECRET, sign
from Fixtures.processes.gateway import API_KEY
from Fixtures.processes.nginx import RunningNginx
from Fixtures.processes.ports import free_port
from Fixtures.redis.server import RedisServer
from Fixtures.waiting import comes_true, time_passes
from installed import Installed
from wanderers import PAUSE_SECONDS, Findings, Ledger, Library, Wanderer
from world import LIMITS, NGINX, FixedGateway

CALM_SECONDS = (2.0, 4.0)
DOWN_SECONDS = 0.5
KILL_SHARE = 0.3
CATCH_UP_SECONDS = 30
REAL_CLIENTS = 4


class Installation(Installed):
    """Redis, two gateways at fixed addresses, and nginx, which sends each request to the next of them."""

    def __init__(self, directory, drain_ms):
        self.directory = Path(directory)
        self.certificate = write_certificate(self.directory)
        redis = RedisServer(self.directory / "redis")
        plain = [f"127.0.0.1:{free_port()}" for _ in range(2)]
        tls = [f"127.0.0.1:{free_port()}" for _ in range(2)]
        more = {"requestsPerAddressPerSecond": 100_000, "drainMs": drain_ms}
        gateways = [
            FixedGateway(self.directory / f"gateway-{number}", tls[number], redis.url, self.certificate, SECRET,
                         "--listen-plain", plain[number], "--trust-proxy", "127.0.0.1/32", limits=LIMITS | more)
            for number in range(2)]
        nginx = self.nginx = RunningNginx(
            self.directory / "nginx", tls, plain, self.certificate.cert, self.certificate.key, workers=2,
            more=NGINX | {"least_conn;": "", "limit_conn http_per_address 4096": "limit_conn http_per_address 60000"})
        super().__init__(redis, gateways, (nginx.__enter__, nginx.stop))
        # What a process counted is gone with it; this was read last.
        self.hops = [0.0, 0.0]
        self.past = 0.0

    def read_hops(self, number):
        self.hops[number] = self.gateways[number].metric("switchboard_hops_total", way="out")

    def restart(self, number, kills):
        """Ends a gateway in good order or by a crash, and starts it again at its place."""
        gateway = self.gateways[number]
        self.read_hops(number)
        self.past += self.hops[number]
        self.hops[number] = 0
        if kills:
            gateway.kill()
        else:
            gateway.stop()

    def start(self, number):
        self.gateways[number].start().wait_ready(20)


class Publishers:
    """Publishes by way of nginx, again and again under the same id until it is acknowledged."""

    def __init__(self, origin, context, topics, private, rate, seed):
        self.http = httpx.AsyncClient(base_url=origin, verify=context, headers={"apikey": API_KEY}, timeout=10,
                                      trust_env=False)
        self.topics, self.private, self.rate = topics, private, rate
        self.rng = random.Random(seed)
        self.stopping = asyncio.Event()
        self.heads, self.count, self.retries = {}, 0, 0

    async def run(self):
        while not self.stopping.is_set():
            began = time.monotonic()
            await asyncio.gather(self._publish(self.rng.choice(self.topics), {}), self._tell_somebody())
            await self._pause(max(0.0, 2 / self.rate - (time.monotonic() - began)))

    async def _tell_somebody(self):
        name = self.rng.choice(self.private)
        await self._publish(f"user:{name}", {"to": name})

    async def _pause(self, seconds):
        try:
            await asyncio.wait_for(self.stopping.wait(), seconds)
        except asyncio.TimeoutError:
            pass

    async def _publish(self, topic, more):
        self.count += 1
        message = {"topic": topic, "event": "told", "data": more | {"at": time.monotonic()}, "id": f"p{self.count}"}
        while True:
            try:
                answer = await self.http.post("/v1/broadcast", json=message)
                if answer.status_code == 200:
                    break
            except httpx.HTTPError:
                pass
            self.retries += 1
            await self._pause(0.05)
        self.heads[topic] = (answer.json()["epoch"], answer.json()["offset"])


async def shake(installation, rng, until, log):
    """Restarts the gateways in turn until it is time, and each of them once."""
    rounds = {"SIGTERM": 0, "SIGKILL": 0}
    number = 0
    while time.monotonic() < until or sum(rounds.values()) < 2:
        kills = rng.random() < KILL_SHARE
        began = time.monotonic()
        await asyncio.to_thread(installation.restart, number, kills)
        await time_passes(DOWN_SECONDS, "the gateway is away")
        await asyncio.to_thread(installation.start, number)
        rounds["SIGKILL" if kills else "SIGTERM"] += 1
        log(f"gateway {number} {'killed' if kills else 'drained'} and back after {time.monotonic() - began:.1f} s")
        await time_passes(rng.uniform(*CALM_SECONDS), "the load runs undisturbed")
        number = 1 - number
    return rounds


async def live(installation, options, log):
    """The whole run; returns what was found."""
    findings, rng = Findings(), random.Random(options.seed)
    origin = f"https://{installation.nginx.http}"
    context = installation.certificate.trusting_context()
    shared = [f"shop:round-{number}" for number in range(options.topics)]
    names = [f"c{number}" for number in range(options.clients)]
    real = min(REAL_CLIENTS, options.clients)
    async with aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, ssl=context), timeout=aiohttp.ClientTimeout(total=90)) as http:
        clients, tasks = [], []
        for number, name in enumerate(names):
            own = f"conversation:{name}"
            token = sign(SECRET, name, ttl=7_200, topics=[own])
            topics = [*rng.sample(shared, min(2, len(shared))), f"user:{name}", own]
            ledger = Ledger(name, topics, findings)
            if number < real:
                clients.append(Library(http, origin, token, ledger))
                tasks.append(asyncio.create_task(clients[-1].start()))
            else:
                clients.append(Wanderer(http, origin, token, ledger, own, rng.randrange(2**32)))
                tasks.append(asyncio.create_task(clients[-1].run()))
        wanderers = clients[real:]
        if not await comes_true(lambda: all(client.ledger.is_present for client in clients), CATCH_UP_SECONDS):
            findings.violations.append("not everybody was there in time")
        publishers = Publishers(origin, context, shared, names, options.rate, rng.randrange(2**32))
        publishing = asyncio.create_task(publishers.run())
        for wanderer in wanderers:
            wanderer.acting.set()
        rounds = await shake(installation, rng, time.monotonic() + options.minutes * 60, log)
        publishers.stopping.set()
        await publishing
        # Whoever waits for an answer gets it, and then everybody sees the end of all topics.
        for wanderer in wanderers:
            wanderer.acting.clear()
        if not await comes_true(
                lambda: all(client.ledger.is_present and client.ledger.caught_up(publishers.heads)
                            for client in clients), CATCH_UP_SECONDS):
            for client in clients:
                late = {topic: (client.ledger.place.get(topic), publishers.heads.get(topic))
                        for topic in client.ledger.topics}
                if not client.ledger.caught_up(publishers.heads) or not client.ledger.is_present:
                    client.ledger.violation(f"never caught up: {late}")
        for wanderer in wanderers:
            wanderer.stopping.set()
        await comes_true(lambda: all(task.done() for task in tasks), PAUSE_SECONDS)
        for client in clients[:real]:
            await client.stop()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await publishers.http.aclose()
    return findings, rounds, publishers


def quantile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0


def run(options, directory, log=lambda text: print(text, flush=True)):
    """One run; what it found and whether that is good."""
    with Installation(directory, options.drain_ms) as installation:
        findings, rounds, publishers = asyncio.run(live(installation, options, log))
        for number in range(2):
            installation.read_hops(number)
        hops = installation.past + sum(installation.hops)
    summary = {
        "clients": options.clients, "minutes": options.minutes, "seed": options.seed, "restarts": rounds,
        "published": publishers.count, "publishes repeated": publishers.retries,
        "delivered": findings.delivered, "operations": findings.operations,
        "sessions": len(findings.sids), "ends": dict(findings.ends), "gaps told": findings.told,
        "polls": findings.polls, "inputs that took the hop": int(hops),
        "latency ms": {f"p{share:g}": round(1_000 * quantile(findings.latencies, share / 100), 1)
                       for share in (50, 99, 99.9)},
        "back after s": {"p50": round(quantile(findings.returns, 0.5), 2),
                         "max": round(max(findings.returns, default=0), 2)},
        "violations": len(findings.violations), "first violations": findings.violations[:20],
    }
    return summary, not findings.violations


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--minutes", type=float, default=1)
    parser.add_argument("--clients", type=int, default=200)
    parser.add_argument("--rate", type=float, default=20, help="publishes a second")
    parser.add_argument("--topics", type=int, default=10)
    parser.add_argument("--drain-ms", type=int, default=3_000)
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
