"""A TCP proxy between a client and a server that misbehaves on demand: mute, slow, cutting, leading elsewhere.

It needs no rights and no kernel modules. Faults may be switched at any moment, for existing and new connections, for
all of them or for those that a predicate on their first bytes chooses (``named`` finds a Redis link by its name).
"""

import asyncio
import random
import socket
import struct
import threading
import time
from collections.abc import Callable

from Fixtures.processes.web_frames import WebFrames

CHUNK = 65_536
FIRST_BYTES_MAX = 4_096
# What one direction may hold back before the proxy stops reading, as a kernel would.
HELD_BYTES_MAX = 1 << 20
TO_CLIENT, TO_SERVER = "to client", "to server"

When = Callable[[bytes], bool]


def named(*suffixes: str) -> When:
    """Chooses Redis connections whose `CLIENT SETNAME` ends with one of these."""
    return lambda first: any(suffix.encode() + b"\r\n" in first for suffix in suffixes)


class FaultProxy:
    """Listens on 127.0.0.1 and forwards to `target`, (host, port) or the path of a unix socket; a context manager.

    The server is dialled with the client's first bytes, so that faults can choose by them. Every method may be called
    from any thread and has taken effect when it returns. `websockets`: each connection is a plain WebSocket, whose
    frames can be lost whole.
    """

    def __init__(self, target, seed: int = 0, websockets: bool = False):
        self.accepted = 0
        self.bytes_to_client = 0
        self.bytes_to_server = 0
        self.bytes_swallowed = 0
        self.frames_lost = 0
        self._losing = None
        self._websockets = websockets
        self._original = target
        self._faults: dict[str, tuple] = {}
        self._random = random.Random(seed)
        self._connections: set[_Connection] = set()
        self._loop = asyncio.new_event_loop()
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=256)
        self._listener.setblocking(False)
        self.port = self._listener.getsockname()[1]
        self._thread = threading.Thread(target=self._loop.run_forever, name="fault-proxy", daemon=True)

    def __enter__(self) -> "FaultProxy":
        self._thread.start()
        self._accepting = self._do(self._start())
        return self

    def __exit__(self, *_):
        self._do(self._stop())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    @property
    def redis_url(self) -> str:
        """The address for `--redis`."""
        return f"redis://127.0.0.1:{self.port}"

    @property
    def open(self) -> int:
        """Connections open now."""
        return len(self._connections)

    # Faults that last until `heal`; each replaces the one of its kind

    def delay(self, ms: float, when: When | None = None) -> None:
        """Bytes of both directions arrive this much later."""
        self._set("delay", ms / 1_000, when)

    def throttle(self, bytes_per_second: float, when: When | None = None) -> None:
        """Each direction of each connection carries no more than this."""
        self._set("throttle", bytes_per_second, when)

    def split(self, max_bytes: int, when: When | None = None) -> None:
        """Bytes are sent on in pieces of 1 to `max_bytes`."""
        self._set("split", max_bytes, when)

    def drop_to_client(self, when: When | None = None) -> None:
        """Swallows what the server says, its end included."""
        self._set(TO_CLIENT, True, when)

    def drop_to_server(self, when: When | None = None) -> None:
        """Swallows what the client says, its end included."""
        self._set(TO_SERVER, True, when)

    def refuse(self, when: When | None = None) -> None:
        """New connections are accepted and closed."""
        self._set("refuse", True, when)

    def truncate(self, after_bytes: int, when: When | None = None) -> None:
        """Each connection is reset after so many more bytes to the client."""
        self._set("truncate", after_bytes, when)

    def retarget(self, target, when: When | None = None) -> None:
        """New connections lead to another server."""
        self._set("target", target, when)

    def heal(self, reset_holed: bool = True) -> None:
        """Ends all faults; new connections lead to the first target again.

        Connections of which bytes were swallowed are reset, since TCP never goes on with a hole; `reset_holed=False`
        lets them go on.
        """
        self._do(self._heal(reset_holed))

    # Faults of a moment

    def reset_all(self, when: When | None = None) -> int:
        """Resets (RST) both sides of existing connections; returns how many."""
        return self._do(self._reset(when))

    def half_close(self, when: When | None = None) -> None:
        """Tells existing clients that the server will say no more; what they say is still sent on."""
        self._do(self._half_close(when))

    def lose_frame(self, holding: bytes) -> None:
        """Swallows the next frame to some client that holds these bytes, and lets the connection go on."""
        async def change():
            self._losing = holding
        self._do(change())

    # On the proxy's thread

    def _loses(self, frame: bytes) -> bool:
        if self._losing is None or self._losing not in frame:
            return False
        self._losing = None
        self.frames_lost += 1
        return True

    def _do(self, coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(timeout=30)

    def _set(self, kind, value, when):
        async def change():
            # A new tuple each time: `truncate` counts from here for each connection.
            self._faults[kind] = (value, when)
        self._do(change())

    def _fault(self, kind, first):
        """The fault of this kind that a connection with these first bytes has, or `None`."""
        fault = self._faults.get(kind)
        return fault if fault and (fault[1] is None or fault[1](first)) else None

    async def _start(self):
        return self._loop.create_task(self._accept())

    async def _stop(self):
        self._accepting.cancel()
        await asyncio.gather(self._accepting, return_exceptions=True)
        self._listener.close()
        await self._end_all(list(self._connections))

    async def _heal(self, reset_holed):
        self._faults.clear()
        if reset_holed:
            await self._end_all([one for one in self._connections if one.is_holed])

    async def _reset(self, when):
        chosen = [one for one in self._connections if when is None or when(one.first)]
        await self._end_all(chosen)
        return len(chosen)

    async def _half_close(self, when):
        for one in self._connections:
            if when is None or when(one.first):
                one.half_close()

    @staticmethod
    async def _end_all(connections):
        await asyncio.gather(*(one.end(reset=True) for one in connections))

    async def _accept(self):
        while True:
            client, _ = await self._loop.sock_accept(self._listener)
            self.accepted += 1
            client.setblocking(False)
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if self._fault("refuse", b""):
                client.close()
                continue
            connection = _Connection(self, client)
            self._connections.add(connection)
            connection.start()


class _Connection:
    """One client and, after its first bytes, one server."""

    def __init__(self, proxy: FaultProxy, client: socket.socket):
        self.proxy = proxy
        self.client = client
        self.server = None
        self.first = b""
        self.is_holed = False
        self.frames = WebFrames() if proxy._websockets else None
        self.tasks = []
        self._directions_open = 2
        self._is_half_closed = False
        self._is_ending = False
        self._truncation = (None, 0)

    def start(self):
        self.tasks.append(asyncio.get_running_loop().create_task(self._run()))

    async def _run(self):
        loop = asyncio.get_running_loop()
        try:
            chunk = await loop.sock_recv(self.client, CHUNK)
            self.first = chunk[:FIRST_BYTES_MAX]
            if not chunk or self.proxy._fault("refuse", self.first):
                return self._end_soon(reset=False)
            other = self.proxy._fault("target", self.first)
            target = other[0] if other else self.proxy._original
            family = socket.AF_INET if isinstance(target, tuple) else socket.AF_UNIX
            self.server = socket.socket(family, socket.SOCK_STREAM)
            self.server.setblocking(False)
            if family == socket.AF_INET:
                self.server.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            await loop.sock_connect(self.server, target if isinstance(target, tuple) else str(target))
        except OSError:
            return self._end_soon(reset=True)
        self._pump(TO_SERVER, self.client, self.server, chunk)
        self._pump(TO_CLIENT, self.server, self.client, b"")

    def _pump(self, direction, source, sink, chunk):
        held = _Held()
        if chunk:
            held.put(chunk)
        loop = asyncio.get_running_loop()
        self.tasks.append(loop.create_task(self._read(source, held)))
        self.tasks.append(loop.create_task(self._write(direction, sink, held)))

    async def _read(self, source, held):
        loop = asyncio.get_running_loop()
        try:
            while True:
                await held.room.wait()
                chunk = await loop.sock_recv(source, CHUNK)
                if len(self.first) < FIRST_BYTES_MAX and source is self.client:
                    self.first = (self.first + chunk)[:FIRST_BYTES_MAX]
                held.put(chunk)
                if not chunk:
                    return
        except OSError as error:
            held.put(error)

    async def _write(self, direction, sink, held):
        proxy = self.proxy
        try:
            while True:
                arrived, chunk = await held.take()
                if delay := proxy._fault("delay", self.first):
                    await asyncio.sleep(max(0, arrived + delay[0] - time.monotonic()))  # lint:allow the fault itself
                if proxy._fault(direction, self.first):
                    self.is_holed = True
                    if isinstance(chunk, bytes) and chunk:
                        proxy.bytes_swallowed += len(chunk)
                        continue
                    return
                if isinstance(chunk, OSError):
                    return self._end_soon(reset=True)
                if not chunk:
                    return self._direction_ended(sink)
                if direction == TO_CLIENT and self.frames:
                    chunk = b"".join(frame for frame in self.frames.take(chunk) if not proxy._loses(frame))
                await self._send(direction, sink, chunk)
        except OSError:
            self._end_soon(reset=True)

    async def _send(self, direction, sink, chunk):
        """Sends a chunk as split, throttle and truncate demand."""
        proxy, loop = self.proxy, asyncio.get_running_loop()
        while chunk:
            size = len(chunk)
            if split := proxy._fault("split", self.first):
                size = min(size, proxy._random.randint(1, split[0]))
            rate = proxy._fault("throttle", self.first)
            if rate:
                size = min(size, max(1, int(rate[0] / 20)))
            is_last = False
            if direction == TO_CLIENT and (truncate := proxy._fault("truncate", self.first)):
                if self._truncation[0] is not truncate:
                    self._truncation = (truncate, truncate[0])
                left = self._truncation[1]
                size, is_last = min(size, left), size >= left
                self._truncation = (truncate, left - size)
            piece, chunk = chunk[:size], chunk[size:]
            await loop.sock_sendall(sink, piece)
            if direction == TO_CLIENT:
                proxy.bytes_to_client += len(piece)
            else:
                proxy.bytes_to_server += len(piece)
            if is_last:
                return self._end_soon(reset=True)
            if rate:
                await asyncio.sleep(size / rate[0])  # lint:allow the fault itself

    def half_close(self):
        """Shuts the client's reading side; the rest of what the server says is lost."""
        try:
            self.client.shutdown(socket.SHUT_WR)
        except OSError:
            return
        self._is_half_closed = True

    def _direction_ended(self, sink):
        self._directions_open -= 1
        if self._directions_open == 0:
            return self._end_soon(reset=False)
        if not (self._is_half_closed and sink is self.client):
            sink.shutdown(socket.SHUT_WR)

    def _end_soon(self, reset):
        asyncio.get_running_loop().create_task(self.end(reset))

    async def end(self, reset):
        """Ends both sockets; no task of this connection uses them any more when they are closed."""
        if self._is_ending:
            return
        self._is_ending = True
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)
        for end in (self.client, self.server):
            if end is None:
                continue
            if reset:
                end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            end.close()
        self.proxy._connections.discard(self)


class _Held:
    """What was read of one direction and not yet written: bytes, then `b""` for the end or an error."""

    def __init__(self):
        self._queue = asyncio.Queue()
        self._bytes = 0
        self.room = asyncio.Event()
        self.room.set()

    def put(self, chunk):
        self._queue.put_nowait((time.monotonic(), chunk))
        self._bytes += len(chunk) if isinstance(chunk, bytes) else 0
        if self._bytes > HELD_BYTES_MAX:
            self.room.clear()

    async def take(self):
        arrived, chunk = await self._queue.get()
        self._bytes -= len(chunk) if isinstance(chunk, bytes) else 0
        if self._bytes <= HELD_BYTES_MAX:
            self.room.set()
        return arrived, chunk
