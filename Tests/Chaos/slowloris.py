"""Peers that hold connections and do nothing with them, and an honest client that wants in meanwhile.

usage: slowloris.py [--connections 1000] [--seconds 30]

Four kinds, so many connections of each, from several loopback addresses; one that the gateway ends is opened again.
Prints how long the honest client took to connect, and exits 1 if it failed once or its p99 is over a second.
"""

import argparse
import asyncio
import base64
import json
import math
import multiprocessing
import os
import ssl
import tempfile
import time
from pathlib import Path

import paths  # noqa: F401
from websockets.asyncio.client import connect

KINDS = ("idle", "hello", "head", "silent")
ADDRESSES = [f"127.0.1.{number}" for number in range(1, 9)]
HONEST_PER_SECOND = 20
P99_SECONDS_MAX = 1.0
# A whole second between two bytes: five of them fit into each deadline.
BYTE_SECONDS = 1.0
OPENING_AT_ONCE = 64


def client_hello() -> bytes:
    """What a client says first."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    outgoing = ssl.MemoryBIO()
    session = context.wrap_bio(ssl.MemoryBIO(), outgoing, server_hostname="localhost")
    try:
        session.do_handshake()
    except ssl.SSLWantReadError:
        pass
    return outgoing.read()


class Slowloris:
    """Holds `count` connections of each kind, and counts those that were ended and those that could not be opened."""

    def __init__(self, address: tuple[str, int], count: int):
        self.address, self.count = address, count
        self.held = dict.fromkeys(KINDS, 0)
        self.closed = dict.fromkeys(KINDS, 0)
        self.failed = dict.fromkeys(KINDS, 0)
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        self.context.check_hostname, self.context.verify_mode = False, ssl.CERT_NONE
        self.hello = client_hello()
        self.turns = asyncio.Semaphore(OPENING_AT_ONCE)

    async def run(self) -> None:
        """Until cancelled."""
        await asyncio.gather(*(
            self._hold(kind, ADDRESSES[number % len(ADDRESSES)])
            for kind in KINDS for number in range(self.count)))

    async def _hold(self, kind: str, source: str) -> None:
        while True:
            writer = None
            try:
                async with self.turns:
                    reader, writer = await asyncio.wait_for(asyncio.open_connection(
                        *self.address, local_addr=(source, 0),
                        ssl=self.context if kind in ("head", "silent") else None), 15)
                    if kind == "silent":
                        await asyncio.wait_for(self._upgrade(reader, writer), 15)
                self.held[kind] += 1
            except (OSError, EOFError, TimeoutError):
                self.failed[kind] += 1
                await asyncio.sleep(BYTE_SECONDS)  # lint:allow a peer that was refused comes again
                if writer is not None:
                    writer.transport.abort()
                continue
            try:
                await self._dawdle(kind, reader, writer)
            except OSError:
                pass
            self.held[kind] -= 1
            self.closed[kind] += 1
            writer.transport.abort()

    async def _upgrade(self, reader, writer) -> None:
        key = base64.b64encode(os.urandom(16)).decode()
        writer.write((
            f"GET /ws HTTP/1.1\r\nHost: {self.address[0]}:{self.address[1]}\r\nUpgrade: websocket\r\n"
            f"Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n\r\n").encode())
        head = await reader.readuntil(b"\r\n\r\n")
        if not head.startswith(b"HTTP/1.1 101 "):
            raise EOFError(head)

    async def _dawdle(self, kind: str, reader, writer) -> None:
        """Until the gateway has ended the connection."""
        words = {"hello": self.hello, "head": b"GET /ws HTTP/1.1\r\nX-Dawdle: " + b"x" * 4_096}.get(kind, b"")
        for byte in words:
            writer.write(bytes([byte]))
            try:
                # All kinds but the last are told nothing before the end; that one gets a close frame.
                await asyncio.wait_for(reader.read(65_536), BYTE_SECONDS)
                return
            except TimeoutError:
                continue
        while await reader.read(65_536):
            pass


async def connect_honestly(address: tuple[str, int], context: ssl.SSLContext) -> float:
    """A client's way in, TLS, upgrade and subscription: how many seconds it took."""
    started = time.monotonic()
    connection = await connect(
        f"wss://{address[0]}:{address[1]}/ws", ssl=context, compression=None, proxy=None, ping_interval=None,
        open_timeout=10, close_timeout=1)
    try:
        await connection.send('{"event":"subscribe","data":{"topic":"shop:42"}}')
        answer = json.loads(await asyncio.wait_for(connection.recv(), 10))
        assert answer["event"] == "subscribed", answer
        return time.monotonic() - started
    finally:
        connection.transport.abort()


async def connect_for(
        seconds: float, address: tuple[str, int], context: ssl.SSLContext) -> tuple[list[float], list[str]]:
    """Connects `HONEST_PER_SECOND` times a second, on a schedule of its own: the times taken and the failures."""
    times, failures = [], []

    async def one():
        try:
            times.append(await connect_honestly(address, context))
        except Exception as failure:
            failures.append(repr(failure))

    start, tasks = time.monotonic(), []
    for number in range(int(seconds * HONEST_PER_SECOND)):
        left = start + number / HONEST_PER_SECOND - time.monotonic()
        await asyncio.sleep(max(0, left))  # lint:allow the schedule of an open-loop load
        tasks.append(asyncio.create_task(one()))
    await asyncio.gather(*tasks)
    return times, failures


def percentile(values: list[float], part: float) -> float:
    """The value that `part` of them do not exceed."""
    return sorted(values)[max(math.ceil(len(values) * part) - 1, 0)]


def attack(address, count, figures, seconds) -> None:
    """The body of the attacking process: holds the connections until it is ended."""

    async def run():
        slowloris = Slowloris(address, count)
        task = asyncio.create_task(slowloris.run())
        end = time.monotonic() + seconds
        while time.monotonic() < end and not task.done():
            await asyncio.sleep(0.2)  # lint:allow figures are sent five times a second
            figures.put((slowloris.held, slowloris.closed, slowloris.failed))
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    try:
        asyncio.run(run())
    except KeyboardInterrupt:
        pass


class Attack:
    """Slow peers in a process of their own; a context manager."""

    def __init__(self, address: tuple[str, int], count: int, seconds_max: float = 600):
        spawn = multiprocessing.get_context("spawn")
        self.count = count
        self._figures = spawn.Queue()
        self._process = spawn.Process(target=attack, args=(address, count, self._figures, seconds_max), daemon=True)
        self.held = self.closed = self.failed = dict.fromkeys(KINDS, 0)

    def __enter__(self):
        self._process.start()
        return self

    def __exit__(self, *_):
        self.refresh()
        self._process.terminate()
        self._process.join()

    def refresh(self) -> "Attack":
        """Takes the newest figures."""
        while not self._figures.empty():
            self.held, self.closed, self.failed = self._figures.get()
        return self

    @property
    def is_complete(self) -> bool:
        """Whether nine in ten of each kind are held at once; the others are being renewed."""
        self.refresh()
        return all(held >= self.count * 0.9 for held in self.held.values())


def main() -> int:
    from Fixtures.clients.certificates import write_certificate
    from Fixtures.processes.gateway import Gateway
    from Fixtures.redis.server import RedisServer
    from Fixtures.clients.tokens import SECRET
    from Fixtures.waiting import eventually

    parser = argparse.ArgumentParser()
    parser.add_argument("--connections", type=int, default=1_000, help="of each kind")
    parser.add_argument("--seconds", type=float, default=30)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        server = RedisServer(directory / "redis").start()
        gateway = Gateway(directory / "gateway", server.url, write_certificate(directory), SECRET)
        try:
            gateway.start().wait_ready()
            with Attack(gateway.address(), options.connections) as attack:
                eventually(lambda: attack.is_complete, 60, "every slow peer in place")
                print(f"held: {attack.held}", flush=True)
                times, failures = asyncio.run(connect_for(
                    options.seconds, gateway.address(), gateway.certificate.trusting_context()))
                attack.refresh()
                print(f"held: {attack.held}\nclosed: {attack.closed}\nnot opened: {attack.failed}")
            print(f"gateway: {gateway.resident_bytes >> 20} MB resident, {gateway.fd_count} descriptors")
        finally:
            gateway.stop()
            server.stop()
    p50, p99 = percentile(times, 0.5), percentile(times, 0.99)
    print(f"honest: {len(times)} connects, p50 {p50 * 1e3:.1f} ms, p99 {p99 * 1e3:.1f} ms, {len(failures)} failures")
    for failure in failures[:5]:
        print(f"  {failure}")
    return 1 if failures or p99 > P99_SECONDS_MAX else 0


if __name__ == "__main__":
    raise SystemExit(main())
