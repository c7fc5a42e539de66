"""A WebSocket client of the native protocol. `expect` is strict: the next message must be the expected one."""

import asyncio
import itertools
import json
import ssl
import threading

from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

WAIT_SECONDS = 5
OPEN_SECONDS = 10
ANY = object()


class Loop:
    """One event loop in a thread of its own, on which all clients run.

    websockets' blocking client reads and writes a TLS socket from two threads at once, which Python 3.11's ssl module
    does not stand: about one connection in a thousand hangs or breaks. One loop does both from one thread.
    """

    _loop = None

    @classmethod
    def run(cls, coroutine, timeout: float):
        """Runs a coroutine to its end and returns its result; raises TimeoutError."""
        if cls._loop is None:
            cls._loop = asyncio.new_event_loop()
            threading.Thread(target=cls._loop.run_forever, name="clients", daemon=True).start()
        return asyncio.run_coroutine_threadsafe(asyncio.wait_for(coroutine, timeout), cls._loop).result()


class Connection:
    """A WebSocket connection with blocking calls."""

    def __init__(self, url: str, **options):
        async def opened():
            return await connect(url, **options)

        self.socket = Loop.run(opened(), OPEN_SECONDS)

    def send(self, message: str | bytes) -> None:
        Loop.run(self.socket.send(message), OPEN_SECONDS)

    def recv(self, timeout: float) -> str | bytes:
        return Loop.run(self.socket.recv(), timeout)

    def close(self) -> None:
        Loop.run(self.socket.close(), OPEN_SECONDS)


class Client:
    """One connection; a context manager."""

    def __init__(self, url: str, context: ssl.SSLContext | None, token: str | None = None, **options):
        headers = list(options.pop("headers", []))
        if token is not None:
            headers.append(("Authorization", f"Bearer {token}"))
        self.references = itertools.count(1)
        self.connection = Connection(
            url, ssl=context, additional_headers=headers, compression=None, proxy=None, open_timeout=10,
            close_timeout=2, ping_interval=None, max_size=None, max_queue=None, **options)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.connection.close()

    # Sending

    def send(self, event: str, data: dict | None = None, **members) -> None:
        """Sends one native message."""
        message = {"event": event, **members}
        if data is not None:
            message["data"] = data
        self.connection.send(json.dumps(message))

    def send_raw(self, text: str | bytes) -> None:
        self.connection.send(text)

    # Receiving

    def receive(self, timeout: float = WAIT_SECONDS) -> dict:
        """The next message."""
        try:
            text = self.connection.recv(timeout=timeout)
        except TimeoutError:
            raise AssertionError(f"no message within {timeout} s") from None
        assert isinstance(text, str), "the native protocol uses text frames"
        return json.loads(text)

    def expect(self, event: str, *, timeout: float = WAIT_SECONDS, ref=ANY, topic=ANY, offset=ANY, data=ANY) -> dict:
        """Takes the next message, which must be this one; returns it."""
        message = self.receive(timeout)
        assert message["event"] == event, message
        for name, wanted in (("ref", ref), ("topic", topic), ("offset", offset), ("data", data)):
            if wanted is not ANY:
                assert message.get(name) == wanted, message
        return message

    def expect_error(self, code: str, **members) -> dict:
        """The next message is an error with this code and a sentence."""
        message = self.expect("error", **members)
        assert message["data"]["code"] == code, message
        assert message["data"]["message"], message
        return message

    def expect_close(self, code: int, timeout: float = WAIT_SECONDS, after=()) -> list[dict]:
        """The gateway closes with this code; messages before it must have an event named in `after`."""
        messages = []
        while True:
            try:
                message = self.receive(timeout)
            except ConnectionClosed as closed:
                assert closed.rcvd is not None, f"closed without a close frame: {closed}"
                assert closed.rcvd.code == code, closed
                return messages
            assert message["event"] in after, message
            messages.append(message)

    def expect_nothing(self) -> None:
        """Nothing was sent before the answer to a ping that is sent now."""
        ref = f"nothing-{next(self.references)}"
        self.send("ping", ref=ref)
        self.expect("pong", ref=ref)

    # Conversations

    def request(self, event: str, data: dict | None = None, **members) -> dict:
        """Sends a message with a new reference and returns the answer, which must be the next message."""
        ref = next(self.references)
        self.send(event, data, ref=ref, **members)
        message = self.receive()
        assert message.get("ref") == ref, message
        return message

    def authenticate(self, token: str) -> dict:
        """Authenticates and returns the answer's data."""
        message = self.request("authenticate", {"token": token})
        assert message["event"] == "authenticated", message
        return message["data"]

    def subscribe(self, topic: str, since: dict | None = None) -> dict:
        """Subscribes and returns the answer's data."""
        message = self.request("subscribe", {"topic": topic} | ({"since": since} if since else {}))
        assert message["event"] == "subscribed" and message["topic"] == topic, message
        return message["data"]

    def refused(self, event: str, data: dict | None, code: str, **members) -> dict:
        """Sends a request that must be refused with this code; the connection stays."""
        message = self.request(event, data, **members)
        assert message["event"] == "error" and message["data"]["code"] == code, message
        return message
