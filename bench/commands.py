#!/usr/bin/env python3
"""Votes, messages and publishes a second through one gateway with one shard, and the same scripts called in Redis
alone, in turn.

    .venv/bin/python bench/commands.py [--seconds 10] [--rounds 3] [--cases vote,vote_song,send_message,publish]
        [--json FILE]

Starts a Redis and a gateway of its own. The gateway has CPU 0; Redis and the load have CPU 1. Nobody listens to the
topics. Through the gateway, 50 WebSockets of a backend over TLS have 16 messages in flight each, and every answer must
be an ack. Redis alone is called over 50 connections with 16 calls in flight each, as redis-benchmark does; but
redis-benchmark cannot name one user in two places, so the calls are made here, from the one that MONITOR shows. A round
is both, one after the other. Prints rates, the CPU of gateway and Redis for each call, Redis's own time in the script,
the ratio of the rates in each round, and how much of the time the host took away. A vote of QueueUp is two scripts on
both sides: the first finds the user's session. Publishes go to so many topics in turn that hardly two share a call.
SWITCHBOARD_BIN names another build of the gateway.
"""

import argparse
import asyncio
import itertools
import json
import os
import ssl
import statistics
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "Tests")]

import httpx  # noqa: E402
from Fixtures.clients.certificates import write_certificate  # noqa: E402
from Fixtures.clients.tokens import SECRET  # noqa: E402
from Fixtures.processes.gateway import API_KEY, Gateway  # noqa: E402
from Fixtures.redis.server import RedisServer  # noqa: E402

CONNECTIONS, WINDOW = 50, 16
USERS, SONGS = 200, 20
DAY_MS = 86_400_000
#: More than Redis can store in a second.
MESSAGES_PER_SECOND_MAX = 50_000
#: One address stands for everybody, and one backend asks for all users.
LIMITS = {
    "connectionsPerAddressMax": 100_000, "connectsPerAddressPerSecond": 1_000_000, "messagesPerSecond": 1_000_000,
    "topicsPerAddressMax": 10_000_000, "userKeptBytes": 2**40, "addressKeptBytes": 2**40,
    "requestsPerAddressPerSecond": 1_000_000, "userActionsPerSecond": 1_000_000, "userRedisUsPerSecond": 100_000_000,
    "serviceRedisUsPerSecond": 100_000_000, "outboxMax": 100_000_000}


def cpu_us(pid: int) -> float:
    """CPU time of all threads of a process, from its nanosecond counters."""
    return sum(int((task / "schedstat").read_text().split()[0]) for task in Path(f"/proc/{pid}/task").iterdir()) / 1_000


def stolen() -> tuple[int, int]:
    """Ticks that the host took away, and all ticks."""
    ticks = [int(word) for word in Path("/proc/stat").read_text().splitlines()[0].split()[1:]]
    return ticks[7], sum(ticks[:8])


def pin(pid: int, cpu: int) -> None:
    """Every thread that is there, and whatever they start; on one CPU nothing is pinned."""
    if (os.cpu_count() or 1) > 1:
        for task in Path(f"/proc/{pid}/task").iterdir():
            os.sched_setaffinity(int(task.name), {cpu})


class Site:
    """Redis, the gateway, and what prepares them."""

    def __init__(self, directory: Path):
        self.redis = RedisServer(directory / "redis").start()
        self.certificate = write_certificate(directory)
        self.gateway = Gateway(directory / "gateway", self.redis.url, self.certificate, SECRET, "--packs", "all",
                               "--shards", "1", "--log-level", "warn", limits=LIMITS).start().wait_ready()
        self.http = self.gateway.http()
        self.db = self.redis.client()
        pin(self.gateway.process.pid, 0)
        pin(self.redis.process.pid, 1)
        pin(os.getpid(), 1)

    def call(self, command: str, **arguments) -> dict:
        answer = self.http.post(f"/v1/commands/{command}", json=arguments)
        if answer.status_code >= 300:
            sys.exit(f"{command}: {answer.status_code} {answer.text}")
        return answer.json()

    def scripts(self) -> tuple[int, int]:
        """Calls of scripts that did not fail, and the microseconds that Redis counted for them."""
        figures = self.db.info("commandstats").get("cmdstat_evalsha", {"calls": 0, "failed_calls": 0, "usec": 0})
        return figures["calls"] - figures["failed_calls"], figures["usec"]

    def close(self) -> None:
        self.http.close()
        self.db.close()
        self.gateway.stop()
        self.redis.stop()


def user(number: int) -> str:
    return f"u{number:08d}"


class Vote:
    """The barbershop's vote: 200 guests, 20 tracks, up and down in turn."""

    command = "vote"
    #: After so many calls the same ones come again; 0: never.
    round = 2 * USERS * SONGS
    #: The argument that tells its calls from others.
    own = "userId"
    #: Blanks between the words of its call, when the last word may have some; -1: no word has any.
    blanks = -1

    def prepare(self, site: Site) -> None:
        site.call("start_session", shopId="bench")
        until = int(time.time() * 1_000) + DAY_MS
        site.db.zadd("shop:bench#presence", {user(number): until for number in range(USERS)})
        for number in range(SONGS):
            site.call("add_track", shopId="bench", trackId=self.song(number), userId=user(0))

    def song(self, number: int) -> str:
        return f"track-{number:04d}"

    def arguments(self, number: int) -> dict:
        return {"shopId": "bench", "trackId": self.song(number // USERS % SONGS), "userId": user(number % USERS),
                "vote": "down" if number // (USERS * SONGS) % 2 else "up"}

    def call(self, site: Site, number: int) -> None:
        site.call(self.command, **self.arguments(number))

    def message(self, number: int) -> dict:
        """What a client sends."""
        return {"event": self.command, "data": self.arguments(number)}


class VoteSong(Vote):
    """QueueUp's vote: the same in a listening session, which is found by the user."""

    command = "vote_song"

    def prepare(self, site: Site) -> None:
        site.call("create_listening", join_code="bench", userId=user(0))
        for number in range(1, USERS):
            site.call("join_listening", join_code="bench", userId=user(number))
        self.ids = [site.call("add_song", id=f"song-{number}", name="A", artists="B", album="C", duration_ms=1,
                              userId=user(number + 1))["id"] for number in range(SONGS)]

    def arguments(self, number: int) -> dict:
        return {"queued_song_id": self.ids[number // USERS % SONGS], "userId": user(number % USERS),
                "vote_value": -1 if number // (USERS * SONGS) % 2 else 1}


class SendMessage(Vote):
    """Messages of 100 characters in 100 conversations of two."""

    command = "send_message"
    round, conversations = 0, 100

    def prepare(self, site: Site) -> None:
        for number in range(self.conversations):
            site.call(self.command, **self.arguments(number))

    def arguments(self, number: int) -> dict:
        one = number % self.conversations
        return {"conversationId": f"a{one:08d}_b{one:08d}", "id": f"message-{number:010d}", "userId": f"a{one:08d}",
                "text": "x" * 100}


class Publish(Vote):
    """Events of 200 bytes on 2,000 topics."""

    command, own, blanks, round = "publish", "topic", 18, 2_000
    data = {"m": "0000000001:0000000000000001", "p": "x" * 158}

    def prepare(self, site: Site) -> None:
        for number in range(self.round):
            self.call(site, number)

    def arguments(self, number: int) -> dict:
        return {"topic": f"shop:bench-{number % self.round:04d}"}

    def call(self, site: Site, number: int) -> None:
        # Without a blank: sent() cuts what MONITOR shows at blanks.
        event = self.arguments(number) | {"event": "order:created", "data": self.data}
        site.http.post("/v1/broadcast", content=json.dumps(event, separators=(",", ":")),
                       headers={"content-type": "application/json"}).raise_for_status()

    def message(self, number: int) -> dict:
        return self.arguments(number) | {"event": "publish", "data": {"event": "order:created", "data": self.data}}


def sent(site: Site, case, number: int) -> bytes:
    """What the gateway sends to Redis for one call, as MONITOR shows it: the script, before it what its keys need."""
    arguments = case.arguments(number)
    ids = [value for value in arguments.values() if isinstance(value, str)]
    calls = b""
    with site.redis.client() as link, link.monitor() as monitor:
        case.call(site, number)
        for line in monitor.listen():
            text = line["command"]
            if not text.lower().startswith("evalsha") or arguments[case.own] not in text:
                continue
            calls += encoded(text.encode().split(b" ", case.blanks))
            if all(value in text for value in ids):
                return calls
    sys.exit("MONITOR did not show the call")


def encoded(words: list[bytes]) -> bytes:
    return b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words)


def frame(text: bytes) -> bytes:
    """A client's text frame; the mask is zero, which leaves the text as it is."""
    head = bytes([0x81, 0x80 | len(text)]) if len(text) < 126 else b"\x81\xfe" + len(text).to_bytes(2, "big")
    return head + bytes(4) + text


class Answers:
    """Counts a word in a stream of bytes; another word there ends the run."""

    def __init__(self, reader, word: bytes, refusal: bytes):
        self.reader, self.word, self.refusal, self.rest = reader, word, refusal, b""

    async def take(self, count: int) -> None:
        while count > 0:
            data = await self.reader.read(262_144)
            if not data:
                sys.exit("the connection ended")
            seen = self.rest + data
            if self.refusal in seen:
                sys.exit("refused: " + seen[seen.index(self.refusal):][:300].decode(errors="replace"))
            count -= seen.count(self.word)
            # What is left may be the beginning of the next word, and has none whole.
            self.rest = seen[max(seen.rfind(self.word) + len(self.word), len(seen) - len(self.word) + 1):]


async def keep_asking(writer, answers, requests, until: float, ending: bytes = b"") -> int:
    """Sends a window, waits for its answers, sends the next; how many were answered.

    With an `ending` behind each window, it is the ending's answer that is waited for.
    """
    done = 0
    while time.perf_counter() < until:
        writer.write(b"".join(itertools.islice(requests, WINDOW)) + ending)
        await answers.take(1 if ending else WINDOW)
        done += WINDOW
    writer.close()
    return done


async def through_gateway(site: Site, case, numbers, seconds: float) -> int:
    context = ssl.create_default_context(cafile=str(site.certificate.cert))
    context.check_hostname = False
    host, port = site.gateway.address()
    links = []
    for _ in range(CONNECTIONS):
        reader, writer = await asyncio.open_connection(host, port, ssl=context)
        writer.write(f"GET /ws HTTP/1.1\r\nHost: {host}:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                     f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
                     f"apikey: {API_KEY}\r\n\r\n".encode())
        head = await reader.readuntil(b"\r\n\r\n")
        if not head.startswith(b"HTTP/1.1 101"):
            sys.exit(head.decode())
        links.append((reader, writer))

    def requests():
        for ref, number in enumerate(numbers, 1):
            message = case.message(number) | {"ref": ref}
            yield frame(json.dumps(message, separators=(",", ":")).encode())

    shared, until = requests(), time.perf_counter() + seconds
    return sum(await asyncio.gather(*(
        keep_asking(writer, Answers(reader, b'"event":"ack"', b'"event":"error"'), shared, until)
        for reader, writer in links)))


async def in_redis(site: Site, calls, seconds: float) -> int:
    """Redis answers in order, so the answer of a PING behind each window says that all of it was answered."""
    links = [await asyncio.open_unix_connection(site.redis.socket_path) for _ in range(CONNECTIONS)]
    until = time.perf_counter() + seconds
    return sum(await asyncio.gather(*(
        keep_asking(writer, Answers(reader, b"+PONG\r\n", b"-FAIL "), calls, until, b"*1\r\n$4\r\nPING\r\n")
        for reader, writer in links)))


def calls_of(site: Site, case, numbers):
    """The calls for Redis alone: what the gateway sends for one call, with the ids of another in their places."""
    models = {}
    for number in numbers:
        arguments = case.arguments(number)
        vote = arguments.get("vote", arguments.get("vote_value"))
        if vote not in models:
            models[vote] = arguments, sent(site, case, number)
        model, text = models[vote]
        for name, value in arguments.items():
            if model[name] != value:
                # As long as the one before, so the lengths that Redis is told stay right.
                text = text.replace(model[name].encode(), value.encode())
        yield text


def measure(site: Site, run, label: str) -> dict:
    site.db.delete("#outbox")
    before = cpu_us(site.gateway.process.pid), cpu_us(site.redis.process.pid), *site.scripts(), *stolen()
    began = time.perf_counter()
    done = asyncio.run(run())
    seconds = time.perf_counter() - began
    after = cpu_us(site.gateway.process.pid), cpu_us(site.redis.process.pid), *site.scripts(), *stolen()
    gateway, redis, calls, script_us, taken, ticks = (late - early for late, early in zip(after, before, strict=True))
    # Two publishes of one topic may have shared a call.
    if calls < (0.9 * done if label == Publish.command else done):
        sys.exit(f"{label}: {done} were answered, and Redis made {calls} calls that did not fail")
    return {"answered": done, "perSecond": done / seconds, "gatewayUs": gateway / done, "redisUs": redis / done,
            "scriptUs": script_us / done, "stolenPercent": 100 * taken / max(ticks, 1)}


def compare(site: Site, case, options) -> list[dict]:
    """The rounds of one case."""
    case.prepare(site)
    numbers = itertools.count(1_000)
    rounds = []
    for _ in range(options.rounds):
        through = measure(site, lambda: through_gateway(site, case, numbers, options.seconds), case.command)
        # Made before the clock runs. Votes come round; a message is stored once, so there are enough of them.
        count = case.round or int(options.seconds * MESSAGES_PER_SECOND_MAX)
        made = itertools.cycle(list(itertools.islice(calls_of(site, case, numbers), count)))
        alone = measure(site, lambda: in_redis(site, made, options.seconds), case.command)
        rounds.append({"gateway": through, "redis": alone, "ratio": through["perSecond"] / alone["perSecond"]})
    return rounds


def tell(name: str, rounds: list[dict]) -> None:
    def middle(side, figure):
        return statistics.median(one[side][figure] for one in rounds)
    ratios = [one["ratio"] for one in rounds]
    taken = max(one[side]["stolenPercent"] for one in rounds for side in ("gateway", "redis"))
    print(f"{name:14}{middle('gateway', 'perSecond'):11.0f}{middle('redis', 'perSecond'):11.0f}"
          f"{statistics.median(ratios):8.2f} ({min(ratios):.2f} to {max(ratios):.2f})"
          f"{middle('gateway', 'gatewayUs'):11.1f}"
          f"{middle('gateway', 'redisUs'):10.1f}{middle('redis', 'redisUs'):10.1f}"
          f"{middle('gateway', 'scriptUs'):10.1f}{middle('redis', 'scriptUs'):10.1f}{taken:9.1f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    cases = {case.command: case for case in (Vote, VoteSong, SendMessage, Publish)}
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--cases", default=",".join(cases))
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    results = {}
    print(f"{'':14}{'gateway':>11}{'Redis':>11}{'':27}{'gateway':>11}{'Redis us/call':>20}{'script us/call':>20}\n"
          f"{'':14}{'calls/s':>11}{'calls/s':>11}{'ratio':>8}{'':19}{'us/call':>11}"
          f"{'gateway':>10}{'alone':>10}{'gateway':>10}{'alone':>10}{'stolen %':>9}", flush=True)
    with tempfile.TemporaryDirectory() as directory:
        for name in options.cases.split(","):
            site = Site(Path(directory) / name)
            try:
                results[name] = compare(site, cases[name](), options)
            finally:
                site.close()
            tell(name, results[name])
    if options.json:
        options.json.write_text(json.dumps(results, indent=2) + "\n")


main()
