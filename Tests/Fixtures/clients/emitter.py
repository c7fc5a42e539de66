"""Socket.IO's emitter for Redis (`@socket.io/redis-emitter` 5), by the bytes that it publishes.

Its messages are MessagePack as `notepack.io` writes it: each number in the shortest form, maps in the order of their
members, floats of 64 bits.
"""

import datetime
import struct

UID = "emitter"
EVENT = 2


class Undefined:
    """JavaScript's `undefined`."""


class Date(datetime.datetime):
    """A `Date` as notepack.io 2 writes it; other times are written as version 3 does."""


def _head(fixed: int, most: int, marks: bytes, sizes: str, count: int) -> bytes:
    """The head of a string, an array or a map: its count in the mark itself, or behind one of the marks."""
    if count <= most:
        return bytes([fixed | count])
    for mark, size in zip(marks, sizes, strict=True):
        if count < 1 << 8 * struct.calcsize(">" + size):
            return bytes([mark]) + struct.pack(">" + size, count)
    raise ValueError(count)


def _number(value: int) -> bytes:
    if -0x20 <= value < 0x80:
        return struct.pack(">b", value)
    marks, forms = (b"\xcc\xcd\xce\xcf", "BHIQ") if value >= 0 else (b"\xd0\xd1\xd2\xd3", "bhiq")
    for mark, form in zip(marks, forms, strict=True):
        bits = 8 * struct.calcsize(">" + form)
        if (0 <= value < 1 << bits) if form.isupper() else -(1 << bits - 1) <= value:
            return bytes([mark]) + struct.pack(">" + form, value)
    raise ValueError(value)


def encode(value) -> bytes:
    """A value as `notepack.io` encodes it."""
    match value:
        case None:
            return b"\xc0"
        case bool():
            return b"\xc3" if value else b"\xc2"
        case int():
            return _number(value)
        case float():
            return b"\xcb" + struct.pack(">d", value)
        case str():
            text = value.encode()
            return _head(0xa0, 0x1f, b"\xd9\xda\xdb", "BHI", len(text)) + text
        case bytes():
            return _head(0, -1, b"\xc4\xc5\xc6", "BHI", len(value)) + value
        case Undefined():
            return b"\xd4\x00\x00"
        case Date():
            return b"\xd7\x00" + struct.pack(">q", round(value.timestamp() * 1_000))
        case datetime.datetime():
            seconds, milliseconds = divmod(round(value.timestamp() * 1_000), 1_000)
            if not milliseconds:
                return b"\xd6\xff" + struct.pack(">I", seconds)
            return b"\xd7\xff" + struct.pack(">Q", milliseconds * 1_000_000 << 34 | seconds)
        case list():
            return _head(0x90, 0xf, b"\xdc\xdd", "HI", len(value)) + b"".join(map(encode, value))
        case dict():
            members = b"".join(encode(name) + encode(member) for name, member in value.items())
            return _head(0x80, 0xf, b"\xde\xdf", "HI", len(value)) + members
    raise TypeError(type(value))


class Emitter:
    """`new Emitter(redisClient)`: `Emitter(db).of("/queue").to("shop:42").emit("queue:update", {...})`."""

    def __init__(self, db, namespace="/", rooms=(), excepted=(), flags=None, key="socket.io"):
        self.db, self.namespace, self.key = db, namespace, key
        self.rooms, self.excepted, self.flags = list(rooms), list(excepted), flags or {}

    def _with(self, **more) -> "Emitter":
        own = {"namespace": self.namespace, "rooms": self.rooms, "excepted": self.excepted, "flags": self.flags,
               "key": self.key}
        return Emitter(self.db, **(own | more))

    def of(self, namespace: str) -> "Emitter":
        return self._with(namespace=namespace)

    def to(self, *rooms: str) -> "Emitter":
        return self._with(rooms=[*self.rooms, *rooms])

    def leaving_out(self, *rooms: str) -> "Emitter":
        """`except`, which Python keeps for itself."""
        return self._with(excepted=[*self.excepted, *rooms])

    @property
    def volatile(self) -> "Emitter":
        return self._with(flags=self.flags | {"volatile": True})

    def message(self, event: str, *arguments) -> tuple[str, bytes]:
        """The channel and the bytes of an event."""
        packet = {"type": EVENT, "data": [event, *arguments], "nsp": self.namespace}
        options = {"rooms": self.rooms, "flags": self.flags, "except": self.excepted}
        room = f"{self.rooms[0]}#" if len(self.rooms) == 1 else ""
        return f"{self.key}#{self.namespace}#{room}", encode([UID, packet, options])

    def emit(self, event: str, *arguments) -> None:
        self.db.publish(*self.message(event, *arguments))
