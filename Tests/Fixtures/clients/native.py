"""A WebSocket client of the native protocol. `expect` is strict: the next message must be the expected one.

The connections live on one event loop in a thread of its own. (The threaded client of `websockets` reads and writes
one TLS object from two threads, which OpenSSL forbids: about one connection in three hundred broke.)
"""

import asyncio
import itertools
import json
import ssl
import threading

from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

WAIT_SECONDS = 5
ANY = object()

_loop = asyncio.new_event_loop()
threading.Thread(target=_loop.run_forever, name="clients", daemon=True).start()


def _run(coroutine):
    """Runs a coroutine on the clients' loop and returns its result."""
    return asyncio.run_coroutine_threadsafe(coroutine, _loop).result()


async def _open(url: str, **options):
    return await connect(url, **options)


class Client:
    """One connection; a context manager."""

    def __init__(self, url: str, context: ssl.SSLContext | None, token: str | None = None, **options):
        headers = list(options.pop("headers", []))
        options.setdefault("compression", None)
        if token is not None:
            headers.append(("Authorization", f"Bearer {token}"))
        self.references = itertools.count(1)
        self.connection = _run(_open(
            url, ssl=context, additional_headers=headers, proxy=None, open_timeout=10, close_timeout=2,
            ping_interval=None, max_size=None, max_queue=None, **options))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        _run(self.connection.close())

    # Sending

    def send(self, event: str, data: dict | None = None, **members) -> None:
        """Sends one native message."""
        message = {"event": event, **members}
        if data is not None:
            message["data"] = data
        _run(self.connection.send(json.dumps(message)))

    def send_raw(self, text: str | bytes) -> None:
        _run(self.connection.send(text))

    # Receiving

    def receive(self, timeout: float = WAIT_SECONDS) -> dict:
        """The next message."""
        try:
            text = _run(asyncio.wait_for(self.connection.recv(), timeout))
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
