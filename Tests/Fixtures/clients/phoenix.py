"""Clients of the Phoenix dialect: one written by hand that sees the exact frames, and Supabase's own for Python."""

import asyncio
import json
from urllib.parse import urlencode

from Fixtures.clients import native
from realtime import AsyncRealtimeClient, RealtimeSubscribeStates

WAIT_SECONDS = 5


class Frames(native.Client):
    """A connection that sends and expects frames as they are on the wire."""

    def __init__(self, gateway, key: str | None, vsn: str | None = "2.0.0", path: str = "/realtime/v1/websocket",
                 **options):
        query = urlencode({name: value for name, value in (("apikey", key), ("vsn", vsn)) if value is not None})
        host, port = gateway.address()
        super().__init__(f"wss://{host}:{port}{path}?{query}", gateway.certificate.trusting_context(), **options)

    def receive_raw(self, timeout: float = WAIT_SECONDS) -> str | bytes:
        """The next frame, byte for byte."""
        try:
            return native._run(asyncio.wait_for(self.connection.recv(), timeout))
        except TimeoutError:
            raise AssertionError(f"no frame within {timeout} s") from None

    def expect_raw(self, *frames: str | bytes) -> None:
        """The next frames are these, byte for byte."""
        for frame in frames:
            assert self.receive_raw() == frame

    def push(self, *frame) -> None:
        """Sends one frame of version 2."""
        self.send_raw(json.dumps(frame, separators=(",", ":")))

    def pull(self) -> list:
        """The next frame of version 2: [join_ref, ref, topic, event, payload]."""
        frame = json.loads(self.receive_raw())
        assert isinstance(frame, list) and len(frame) == 5, frame
        return frame

    def reply(self, status: str = "ok") -> dict:
        """The next frame is a reply with this status; its response."""
        frame = self.pull()
        assert frame[3] == "phx_reply" and frame[4]["status"] == status, frame
        return frame[4]["response"]

    def join(self, channel: str, ref: str = "1", status: str = "ok", token: str | None = None, **config) -> dict:
        """Joins a channel and returns the response."""
        payload = {"config": config} | ({"access_token": token} if token else {})
        self.push(ref, ref, channel, "phx_join", payload)
        return self.reply(status)

    def quiet(self) -> None:
        """Nothing was sent before the answer to a heartbeat that is sent now."""
        self.push(None, "quiet", "phoenix", "heartbeat", {})
        self.expect_raw('[null,"quiet","phoenix","phx_reply",{"status":"ok","response":{}}]')


class Supabase:
    """Supabase's own client for Python, with what it heard in queues; for the `async with` of one test."""

    def __init__(self, gateway, key: str, **options):
        self.client = AsyncRealtimeClient(f"{gateway.origin}/realtime/v1", key, **options)
        self.heard: asyncio.Queue = asyncio.Queue()
        self.notices: asyncio.Queue = asyncio.Queue()
        self.states: asyncio.Queue = asyncio.Queue()

    async def __aenter__(self):
        await asyncio.wait_for(self.client.connect(), WAIT_SECONDS)
        return self

    async def __aexit__(self, *_):
        await self.client.close()

    def channel(self, name: str, **config):
        """A channel that puts what it hears into the queues; not joined yet."""
        broadcast = {"ack": config.get("ack", False), "self": config.get("own", False)}
        if "replay" in config:
            broadcast["replay"] = config["replay"]
        options = {"config": {"broadcast": broadcast, "presence": {"key": "", "enabled": False},
                              "private": config.get("private", False)}}
        channel = self.client.channel(name, options)
        channel.on_broadcast("*", self.heard.put_nowait)
        channel.on_system(self.notices.put_nowait)
        return channel

    async def join(self, name: str, **config):
        """Joins a channel."""
        channel = self.channel(name, **config)
        await asyncio.wait_for(channel.subscribe(lambda state, _: self.states.put_nowait(state)), WAIT_SECONDS)
        assert await self.state() == RealtimeSubscribeStates.SUBSCRIBED
        return channel

    async def state(self, seconds: float = WAIT_SECONDS):
        """The next state that a channel came to."""
        return await asyncio.wait_for(self.states.get(), seconds)

    async def next(self, seconds: float = WAIT_SECONDS) -> dict:
        """The next broadcast."""
        return await asyncio.wait_for(self.heard.get(), seconds)
