"""A server outside, for couriers: HTTP/2 and HTTP/1.1 over TLS, whose answers a test decides."""

import asyncio
import contextlib
import json
import ssl
import threading
from dataclasses import dataclass, field

import h2.config
import h2.connection
import h2.events
import h2.exceptions


@dataclass
class Asked:
    """A request as it came."""

    method: str
    path: str
    headers: dict
    body: bytes
    # Which connection it came on, from 1.
    connection: int
    version: int


@dataclass
class Answer:
    """What is answered. `cut` ends the connection instead, `never` leaves the request open, `after` waits (HTTP/2)."""

    status: int = 200
    body: bytes = b""
    headers: dict = field(default_factory=dict)
    cut: bool = False
    never: bool = False
    after: float = 0

    @classmethod
    def of(cls, value, status: int = 200, **headers) -> "Answer":
        """JSON."""
        names = {name.replace("_", "-"): str(text) for name, text in headers.items()}
        return cls(status, json.dumps(value).encode(), {"content-type": "application/json"} | names)


class OutsideServer:
    """`answer` gets an `Asked` and gives an `Answer`; `asked` is all that came, in order."""

    def __init__(self, certificate, answer, protocols=("h2", "http/1.1")):
        self.answer, self.asked = answer, []
        self.connections = 0
        self.most_streams = 0
        self._writers = set()
        self._tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._tls.load_cert_chain(certificate.cert, certificate.key)
        self._tls.set_alpn_protocols(list(protocols))
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self.port = 0
        self.listen()

    def _run(self, work):
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(10)

    # Life

    def listen(self):
        """Begins to listen, again at the same port after `away()`."""
        async def start():
            self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port, ssl=self._tls)
            self.port = self._server.sockets[0].getsockname()[1]
        self._run(start())

    def away(self):
        """Ends every connection and listens no more."""
        async def stop():
            self._server.close()
            for writer in list(self._writers):
                writer.transport.abort()
        self._run(stop())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.away()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    @property
    def url(self) -> str:
        return f"https://127.0.0.1:{self.port}"

    # Connections

    async def _serve(self, reader, writer):
        self.connections += 1
        number = self.connections
        self._writers.add(writer)
        protocol = writer.get_extra_info("ssl_object").selected_alpn_protocol()
        with contextlib.suppress(OSError, asyncio.IncompleteReadError, h2.exceptions.ProtocolError):
            await (self._speak_2 if protocol == "h2" else self._speak_1)(reader, writer, number)
        self._writers.discard(writer)
        writer.close()

    def _take(self, *parts) -> Answer:
        asked = Asked(*parts)
        self.asked.append(asked)
        return self.answer(asked)

    async def _speak_1(self, reader, writer, number):
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
            method, path, _ = head[0].split(" ")
            headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in head[1:] if line)}
            body = await reader.readexactly(int(headers.get("content-length", 0)))
            answer = self._take(method, path, headers, body, number, 1)
            if answer.cut:
                return writer.transport.abort()
            lines = [f"HTTP/1.1 {answer.status} x", f"content-length: {len(answer.body)}"]
            lines += [f"{name}: {value}" for name, value in answer.headers.items()]
            writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + answer.body)
            await writer.drain()

    async def _speak_2(self, reader, writer, number):
        peer = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False, header_encoding="utf-8"))
        peer.initiate_connection()
        writer.write(peer.data_to_send())
        open_streams, left = {}, {}
        while received := await reader.read(65_536):
            for event in peer.receive_data(received):
                if isinstance(event, h2.events.RequestReceived):
                    open_streams[event.stream_id] = (dict(event.headers), bytearray())
                    self.most_streams = max(self.most_streams, len(open_streams))
                elif isinstance(event, h2.events.DataReceived):
                    open_streams[event.stream_id][1].extend(event.data)
                    peer.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
                elif isinstance(event, h2.events.StreamEnded):
                    headers, body = open_streams[event.stream_id]
                    answer = self._take(headers[":method"], headers[":path"], headers, bytes(body), number, 2)
                    if answer.cut:
                        return writer.transport.abort()
                    if answer.never:
                        continue
                    del open_streams[event.stream_id]
                    if answer.after:
                        self._loop.call_later(
                            answer.after, self._late, peer, writer, event.stream_id, answer)
                        continue
                    fields = [(":status", str(answer.status)), *answer.headers.items()]
                    peer.send_headers(event.stream_id, fields)
                    left[event.stream_id] = answer.body
                elif isinstance(event, h2.events.StreamReset):
                    open_streams.pop(event.stream_id, None)
                    left.pop(event.stream_id, None)
            for stream, body in list(left.items()):
                self._more(peer, stream, body, left)
            writer.write(peer.data_to_send())
            await writer.drain()

    @staticmethod
    def _late(peer, writer, stream, answer):
        """An answer without a body, unless the client has gone."""
        if writer.is_closing():
            return
        with contextlib.suppress(OSError, h2.exceptions.ProtocolError):
            peer.send_headers(stream, [(":status", str(answer.status)), *answer.headers.items()], end_stream=True)
            writer.write(peer.data_to_send())

    @staticmethod
    def _more(peer, stream, body, left):
        """Sends as much of a body as the window allows."""
        room = min(peer.local_flow_control_window(stream), peer.max_outbound_frame_size)
        while body and room > 0:
            peer.send_data(stream, body[:room])
            body = body[room:]
            room = min(peer.local_flow_control_window(stream), peer.max_outbound_frame_size)
        if body:
            left[stream] = body
        else:
            peer.end_stream(stream)
            del left[stream]
