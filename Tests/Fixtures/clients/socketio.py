"""Clients of Socket.IO: python-socketio as its users have it, and the bare protocol over a WebSocket."""

import asyncio
import json

import aiohttp
import socketio
from websockets.exceptions import ConnectionClosed

from Fixtures.clients.native import Client, _run
from Fixtures.waiting import eventually

WEBSOCKET = "/socket.io/?EIO=4&transport=websocket"
SEPARATOR = "\x1e"
TEXT = {"Content-Type": "text/plain;charset=UTF-8"}


class Phone:
    """python-socketio, unmodified; a context manager. What it hears in any namespace is kept in `heard`, in order."""

    def __init__(self, gateway, *, transports=("websocket",), namespaces=("/",), auth=None, headers=None,
                 connects=True, reconnection=False, path="socket.io"):
        self.gateway, self.heard, self.refused, self.ended = gateway, [], [], []
        self.options = {"transports": list(transports), "namespaces": list(namespaces), "auth": auth,
                        "headers": headers or {}, "wait_timeout": 5, "socketio_path": path}
        _run(self._make(reconnection))
        if connects:
            self.connect()

    async def _make(self, reconnection):
        context = self.gateway.certificate.trusting_context()
        self.session = aiohttp.ClientSession(connector=aiohttp.TCPConnector(ssl=context))
        self.sio = socketio.AsyncClient(
            http_session=self.session, reconnection=reconnection, reconnection_delay=0.1, reconnection_delay_max=0.3)
        for namespace in self.options["namespaces"]:
            self.sio.on("*", lambda name, *data, at=namespace: self.heard.append((at, name, *data)), namespace)
            self.sio.on("disconnect", lambda reason, at=namespace: self.ended.append((at, reason)), namespace)
            self.sio.on("connect_error", lambda data, at=namespace: self.refused.append((at, data)), namespace)

    def connect(self):
        _run(self.sio.connect(self.gateway.origin, **self.options))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        _run(self._close())

    async def _close(self):
        await asyncio.wait_for(self.sio.shutdown(), 5)
        await self.session.close()

    @property
    def transport(self) -> str:
        return self.sio.transport()

    def call(self, name, data=None, namespace="/", timeout=5):
        """Emits an event and returns what it was acknowledged with."""
        return _run(self.sio.call(name, data, namespace=namespace, timeout=timeout))

    def emit(self, name, data=None, namespace="/"):
        _run(self.sio.emit(name, data, namespace=namespace))

    def names(self, namespace=None) -> list[str]:
        """The names of the events heard in a namespace, or in all."""
        return [event[1] for event in self.heard if namespace in (None, event[0])]

    def hears(self, name, namespace="/", seconds_max=5):
        """Waits for an event and returns its arguments; it and those before it are forgotten."""
        def take():
            for index, (at, heard, *data) in enumerate(self.heard):
                if (at, heard) == (namespace, name):
                    del self.heard[:index + 1]
                    return tuple(data) or (None,)
            return None
        data = eventually(take, seconds_max, f"{namespace} {name}; heard: {self.heard}")
        return data[0] if len(data) == 1 else data


class Wire(Client):
    """The packets themselves, over a WebSocket whose open packet was read."""

    def __init__(self, gateway, path=WEBSOCKET, **options):
        host, port = gateway.address()
        super().__init__(f"wss://{host}:{port}{path}", gateway.certificate.trusting_context(), **options)
        opening = self.packet()
        assert opening[0] == "0", opening
        self.opening = json.loads(opening[1:])

    def packet(self, timeout: float = 5) -> str:
        """The next packet."""
        return _run(asyncio.wait_for(self.connection.recv(), timeout))

    def enters(self, namespace="", auth=None) -> str:
        """Connects to a namespace, which must be granted; its name as packets have it is returned."""
        self.send_raw(f"40{namespace}" + (json.dumps(auth) if auth else ""))
        answer = self.packet()
        assert answer.startswith(f"40{namespace}{{\"sid\":\""), answer
        return namespace

    def asks(self, namespace, number, name, data=None):
        """Emits an event and returns its acknowledgement, which must be the next packet."""
        self.send_raw(f"42{namespace}{number}" + json.dumps([name, data]))
        answer = self.packet()
        assert answer.startswith(f"43{namespace}{number}["), answer
        return json.loads(answer[len(f"43{namespace}{number}"):])[0]

    def hears(self, namespace, name):
        """Takes the next packet, which must be this event; returns its arguments."""
        packet = self.packet()
        assert packet.startswith(f"42{namespace}["), packet
        heard, *data = json.loads(packet[len(f"42{namespace}"):])
        assert heard == name, packet
        return data

    def ends(self, code: int, timeout: float = 5) -> list[str]:
        """The gateway closes with this code; what it said before."""
        said = []
        while True:
            try:
                said.append(self.packet(timeout))
            except ConnectionClosed as closed:
                assert closed.rcvd is not None and closed.rcvd.code == code, closed
                return said


class Session:
    """A session by hand: each request is one call."""

    def __init__(self, gateway, **headers):
        self.http = gateway.http(key=None)
        self.http.headers.update(headers)
        opening = self.http.get("/socket.io/?EIO=4&transport=polling")
        assert opening.status_code == 200, opening.text
        assert opening.headers["content-type"] == "text/plain; charset=UTF-8"
        assert opening.headers["cache-control"] == "no-store"
        assert opening.text[0] == "0"
        self.opening = json.loads(opening.text[1:])
        self.query = f"/socket.io/?EIO=4&transport=polling&sid={self.opening['sid']}"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.http.close()

    def get(self, timeout=10):
        return self.http.get(self.query, timeout=timeout)

    def post(self, *packets, **headers):
        body = packets[0] if isinstance(packets[0], bytes) else SEPARATOR.join(packets)
        return self.http.post(self.query, content=body, headers=TEXT | headers)

    def says(self, *packets):
        answer = self.post(*packets)
        assert (answer.status_code, answer.text) == (200, "ok"), answer.text
        assert answer.headers["content-type"] == "text/html"

    def hears(self) -> list[str]:
        answer = self.get()
        assert answer.status_code == 200, answer.text
        return answer.text.split(SEPARATOR)

    def enters(self, namespace="", auth=None):
        self.says(f"40{namespace}" + (json.dumps(auth) if auth else ""))
        [answer] = self.hears()
        assert answer.startswith(f"40{namespace}{{\"sid\":\""), answer

    def fault(self, answer, code, status=400):
        assert answer.status_code == status, answer.text
        assert answer.headers["content-type"] == "application/json"
        assert answer.json()["code"] == code and answer.json()["message"]


class Probe(Client):
    """A WebSocket to which a session that polls may move."""

    def __init__(self, gateway, session, **options):
        host, port = gateway.address()
        path = f"/socket.io/?EIO=4&transport=websocket&sid={session.opening['sid']}"
        super().__init__(f"wss://{host}:{port}{path}", gateway.certificate.trusting_context(), **options)

    def packet(self, timeout=5):
        return _run(asyncio.wait_for(self.connection.recv(), timeout))

    def ends(self, code):
        try:
            packet = self.packet()
        except ConnectionClosed as closed:
            assert closed.rcvd is not None and closed.rcvd.code == code, closed
        else:
            raise AssertionError(f"not closed: {packet}")
