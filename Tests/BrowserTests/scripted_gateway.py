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
FILES = {"/": "index.html"} | {
    f"/{file.name}": file.name for file in WEB.iterdir() if file.suffix in (".js", ".css", ".svg")}
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
        self._unread = []

    def receive(self, *events):
        """The next message that is one of these events, or any that is not a ping; others wait for their turn."""
        for index, message in enumerate(self._unread):
            if not events or message["event"] in events:
                return self._unread.pop(index)
        while True:
            message = json.loads(self._socket.recv(timeout=DEADLINE_SECONDS))
            if message["event"] == "ping":
                continue
            if not events or message["event"] in events:
                return message
            self._unread.append(message)

    def send(self, event, data=None, topic=None, **more):
        message = {"event": event, "data": {} if data is None else data, **more}
        if topic is not None:
            message["topic"] = topic
        self._socket.send(json.dumps(message))

    def accept(self, topics, epoch="e1", offset=0, states=None, **more):
        """Confirms the next subscriptions, as many as said, and returns the requests by topic."""
        requests = {}
        for _ in range(topics):
            request = self.receive("subscribe")
            topic = request["data"]["topic"]
            requests[topic] = request
            data = {"topic": topic, "epoch": epoch, "offset": offset, "recovered": False, **more}
            if states and topic in states:
                data["state"] = states[topic]
            self.send("subscribed", data, topic=topic, ref=request["ref"])
        return requests

    def authenticate(self):
        """Takes the page's token and returns it."""
        request = self.receive("authenticate")
        token = request["data"]["token"]
        self.send("authenticated", {"userId": token.removeprefix("token-of-")}, ref=request["ref"])
        return token

    def answer(self, command, answer):
        """Answers the page's next call of a command and returns the call."""
        request = self.receive(command)
        if isinstance(answer, tuple):
            self.send("error", {"code": answer[0], "message": answer[1]}, ref=request["ref"])
        else:
            self.send("ack", answer, ref=request["ref"])
        return request

    def close(self, code=1012, reason=""):
        self._socket.close(code, reason)


class ScriptedGateway:
    """Serves until closed; `connection()` waits for the page's next WebSocket.

    `guests` are handed out one by one at `/demo/guest`, where there is nothing when it is None.
    """

    def __init__(self, guests=None):
        self._guests = guests
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
        if request.path == "/demo/guest" and self._guests:
            name = self._guests.pop(0) if len(self._guests) > 1 else self._guests[0]
            guest = {"token": f"token-of-{name}", "userId": name, "shopId": "demo", "challengeId": "demo",
                     "code": "c0de"}
            return _response("application/json", json.dumps(guest).encode())
        if request.path not in FILES:
            return socket.respond(http.HTTPStatus.NOT_FOUND, "no such page\n")
        path = WEB / FILES[request.path]
        return _response(TYPES[path.suffix], path.read_bytes())


def _response(content_type, body):
    headers = Headers({
        "Content-Type": content_type, "Content-Length": str(len(body)), "Connection": "close",
        "Content-Security-Policy": content_security_policy(), "X-Content-Type-Options": "nosniff",
    })
    return Response(200, "OK", headers, body)
