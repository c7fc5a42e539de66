"""What a flood of the outbox does to everybody else, and how long it takes when many users erase themselves at once.

usage: .venv/bin/python Tests/Chaos/outbox_floods.py [--rounds 3] [--users 50] [--groups 100] [--only WORD]

  user     one user's entries, as many as may wait, stand in the outbox
  service  one service's, as many as a lane holds
  erase    --users users, all of them in --groups common groups, erase their data at the same moment

Meanwhile pairs of other users write to each other, some of them in the flood's own lane. A message is timed from the
request to the event on the other's own topic, which comes by way of the outbox. Exits with 1 when a message was
refused, p99 is over a second, the outbox is not empty in the end, an entry was given up, or something of an erased
user is left in a group.
"""

import argparse
import json
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import paths  # noqa: F401
from Fixtures.clients.certificates import write_certificate
from Fixtures.clients.tokens import SECRET, sign
from Fixtures.processes.gateway import API_KEY, Gateway
from Fixtures.processes.worker import Worker
from Fixtures.redis import outbox
from Fixtures.redis.server import RedisServer
from Fixtures.waiting import eventually, pass_time
from roundrobin import quantile

PACKS = ("--packs", "messaging,people")
PAIRS = 24
# Below the rate of send_message, 240 a minute.
PAUSE_SECONDS = 0.27
P99_SECONDS_MAX = 1
FLOODS = {"user": ("user:flood", 10_000), "service": ("service:flood", 250_000)}
LIMITS = {"requestsPerAddressPerSecond": 100_000, "userRedisUsPerSecond": 100_000_000}


class Site:
    """Redis, a gateway and a worker."""

    def __init__(self, directory):
        self.redis = RedisServer(directory / "redis").start()
        self.gateway = Gateway(directory / "gateway", self.redis.url, write_certificate(directory), SECRET, *PACKS,
                               limits=LIMITS).start().wait_ready()
        self.worker = Worker(directory / "worker", self.redis.url, *PACKS).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for each in (self.gateway, self.worker, self.redis):
            each.stop()

    def http(self, user=None):
        return self.gateway.http(key=sign(SECRET, user) if user else API_KEY)


class Pairs:
    """Pairs of users who write to each other all the time."""

    def __init__(self, site: Site):
        self.site, self.ending = site, threading.Event()
        self.sent, self.delays, self.refused = {}, [], []
        self.link = site.redis.client().pubsub(ignore_subscribe_messages=True)
        self.link.psubscribe("user:pair-*-b")
        self.pool = ThreadPoolExecutor(PAIRS + 1)
        self.running = [self.pool.submit(self._hear), *(self.pool.submit(self._write, n) for n in range(PAIRS))]

    def _hear(self):
        while not self.ending.is_set():
            message = self.link.get_message(timeout=0.05)
            if message is None:
                continue
            data = json.loads(message["data"].split(b"\n", 1)[1])
            began = self.sent.pop(data.get("lastMessageId"), None)
            if began is not None:
                self.delays.append(time.monotonic() - began)

    def _write(self, number):
        writer, count = f"pair-{number}-a", 0
        with self.site.http(writer) as http:
            while not self.ending.wait(PAUSE_SECONDS * (1 + number / PAIRS)):
                count += 1
                name = f"m-{number}-{count}"
                self.sent[name] = time.monotonic()
                answer = http.post(f"/v1/conversations/{writer}_pair-{number}-b/messages",
                                   json={"id": name, "text": "hello"})
                if answer.status_code not in (200, 201):
                    self.refused.append((answer.status_code, answer.text[:120]))
                    self.sent.pop(name, None)

    def take(self):
        """The delays since it was asked last."""
        delays, self.delays = self.delays, []
        return sorted(delays)

    def end(self):
        eventually(lambda: not self.sent, 30, "every message was told")
        self.ending.set()
        self.pool.shutdown()
        for each in self.running:
            each.result()


def told(what, seconds, delays, problems):
    line = f"{what:34} {seconds:6.1f} s   {len(delays):5} messages"
    if delays:
        p50, p99 = quantile(delays, 0.5), quantile(delays, 0.99)
        line += f"   p50 {p50 * 1000:5.0f} ms  p99 {p99 * 1000:5.0f} ms  max {delays[-1] * 1000:5.0f} ms"
        if p99 > P99_SECONDS_MAX:
            problems.append(f"{what}: p99 {p99:.2f} s")
    print(line, flush=True)


def calm(pairs, problems):
    pairs.take()
    began = time.monotonic()
    pass_time(4, "the pairs alone")
    told("calm", time.monotonic() - began, pairs.take(), problems)


def flood(site, pairs, name, problems):
    payer, count = FLOODS[name]
    # The lane is that of a pair's own messages, too: the gateway chose it.
    with site.redis.client() as db:
        lane = "#outbox:7"
        pairs.take()
        for start in range(0, count, 5_000):
            with db.pipeline(transaction=False) as pipe:
                for number in range(start, min(start + 5_000, count)):
                    other = f"heard-{number % 400}"
                    pipe.xadd(lane, {"p": payer, "c": "list_conversation", "a": json.dumps({
                        "userId": other, "conversationId": f"{other}_z", "unread": 1, "lastText": "flood",
                        "lastId": f"f-{number}", "lastSenderId": "z", "lastMs": 1_700_000_000_000 + number})})
                pipe.execute()
        db.publish("#outbox", lane)
        began = time.monotonic()
        eventually(lambda: outbox.waiting(db) < 50, 600, "the flood is done")
        told(f"flood of one {name}: {count} entries", time.monotonic() - began, pairs.take(), problems)


def erase(site, pairs, options, problems):
    users = [f"gone-{number}" for number in range(options.users)]
    with site.http() as http, site.redis.client() as db:
        for number in range(options.groups):
            made = http.post("/v1/conversations", json={"userId": users[number % len(users)], "members": users})
            assert made.status_code == 201, made.text
            group = made.json()["id"]
            for user in users[::10]:
                said = http.post(f"/v1/conversations/{group}/messages",
                                 json={"id": f"s-{user}", "userId": user, "text": f"by {user}"})
                assert said.status_code in (200, 201), said.text
        eventually(lambda: outbox.waiting(db) < 50, 300, "the lists are made")
        pairs.take()
        before, began = db.info("cpu")["used_cpu_user"], time.monotonic()
        calls = db.info("commandstats").get("cmdstat_evalsha", {}).get("calls", 0)
        with ThreadPoolExecutor(16) as pool:
            def ask(user):
                with site.http(user) as one:
                    return one.delete(f"/v1/users/{user}/data").status_code
            answers = list(pool.map(ask, users))
        if set(answers) != {202}:
            problems.append(f"erasures were answered {sorted(set(answers))}")
        highest = 0

        def is_done():
            nonlocal highest
            highest = max(highest, outbox.waiting(db))
            return not any(db.exists(f"user:{user}#groups", f"user:{user}#chats") for user in users) \
                and outbox.waiting(db) < 50

        eventually(is_done, 900, "everything is erased")
        seconds = time.monotonic() - began
        told(f"{len(users)} users in {options.groups} groups erased", seconds, pairs.take(), problems)
        spent = db.info("cpu")["used_cpu_user"] - before
        calls = db.info("commandstats")["cmdstat_evalsha"]["calls"] - calls
        print(f"    {calls} script calls, {spent:.1f} s of Redis, at most {highest} entries waited")
        left = [key for key in db.scan_iter("conversation:*#roll", count=5_000) if db.hlen(key)
                and any(field.decode() in users for field in db.hkeys(key))]
        texts = [key for key in db.scan_iter("conversation:*#messages", count=5_000)
                 if any(b"by gone-" in value for value in db.hvals(key))]
        if left or texts:
            problems.append(f"left of erased users: {len(left)} memberships, {len(texts)} conversations with texts")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--users", type=int, default=50)
    parser.add_argument("--groups", type=int, default=100)
    parser.add_argument("--only", default="", choices=["", "user", "service", "erase"])
    options = parser.parse_args()
    problems = []
    for _ in range(options.rounds):
        with tempfile.TemporaryDirectory() as directory, Site(Path(directory)) as site:
            pairs = Pairs(site)
            calm(pairs, problems)
            for name in FLOODS:
                if options.only in ("", name):
                    flood(site, pairs, name, problems)
            if options.only in ("", "erase"):
                erase(site, pairs, options, problems)
            pairs.end()
            with site.redis.client() as db:
                eventually(lambda: outbox.waiting(db) == 0, 60, "an empty outbox")
                if dead := db.xlen("#outbox-dead"):
                    problems.append(f"{dead} entries were given up")
            problems += [f"refused: {each}" for each in pairs.refused[:5]]
    for problem in problems:
        print("PROBLEM", problem)
    print("FAIL" if problems else "PASS")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
