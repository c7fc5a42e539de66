"""A gateway that does exactly what a test says: it serves the page's files and hands each WebSocket to the test."""

import http
import json
import queue
import re
import threading
from pathlib import Path

from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Response
from websockets.sync.server import serve

WEB = Path(__file__).resolve().parents[2] / "web"
FILES = {"/": "index.html", "/app.js": "app.js", "/client.js": "client.js", "/style.css": "style.css",
         "/icon.svg": "icon.svg"}
TYPES = {".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8",
         ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml"}
DEADLINE_SECONDS = 15


def content_security_policy():
    """The policy the gateway sends with the pages, read from where it is written."""
    text = (WEB / "WebPages.swift").read_text()
    declaration = text[text.index("contentSecurityPolicy"):]
    return "".join(re.findall(r'"([^"]*)"', declaration))


class Connection:
    """One WebSocket of the page, seen from the server."""

    def __init__(self, socket):
        self._socket = socket

    def receive(self):
        """The next message that is not a ping."""
        while True:
            message = json.loads(self._socket.recv(timeout=DEADLINE_SECONDS))
            if message["event"] != "ping":
                return message

    def send(self, event, data=None, topic=None, **more):
        message = {"event": event, "data": {} if data is None else data, **more}
        if topic is not None:
            message["topic"] = topic
        self._socket.send(json.dumps(message))

    def accept(self, topics, epoch="e1", offset=0, **more):
        """Confirms the next subscriptions, one for each topic, and returns the requests by topic."""
        requests = {}
        for _ in range(topics):
            request = self.receive()
            assert request["event"] == "subscribe"
            topic = request["data"]["topic"]
            requests[topic] = request
            data = {"topic": topic, "epoch": epoch, "offset": offset, "recovered": False, **more}
            self.send("subscribed", data, topic=topic, ref=request["ref"])
        return requests

    def close(self, code=1012, reason=""):
        self._socket.close(code, reason)


class ScriptedGateway:
    """Serves until closed; `connection()` waits for the page's next WebSocket."""

    def __init__(self):
        self._arrivals = queue.Queue()
        self._server = serve(self._opened, "127.0.0.1", 0, process_request=self._page, compression=None)
        self.url = "http://127.0.0.1:%d/" % self._server.socket.getsockname()[1]
        self._thread = threading.Thread(target=self._server.serve_forever)
        self._thread.start()

    def connection(self):
        return self._arrivals.get(timeout=DEADLINE_SECONDS)

    def close(self):
        self._server.shutdown()
        self._thread.join(DEADLINE_SECONDS)

    def _opened(self, socket):
        closed = threading.Event()
        wait_closed = socket.close

        def close(*arguments):
            closed.set()
            wait_closed(*arguments)

        socket.close = close
        self._arrivals.put(Connection(socket))
        try:
            # The handler's return would close the socket, so it stays until the test closes it or the page goes.
            while not closed.wait(0.1) and socket.close_code is None:
                pass
        except ConnectionClosed:
            pass

    def _page(self, socket, request):
        if request.path == "/ws":
            return None
        if request.path not in FILES:
            return socket.respond(http.HTTPStatus.NOT_FOUND, "no such page\n")
        path = WEB / FILES[request.path]
        body = path.read_bytes()
        headers = Headers({
            "Content-Type": TYPES[path.suffix], "Content-Length": str(len(body)), "Connection": "close",
            "Content-Security-Policy": content_security_policy(), "X-Content-Type-Options": "nosniff",
        })
        return Response(200, "OK", headers, body)
