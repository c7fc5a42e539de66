"""A gateway that does exactly what a test says: it serves the page's files and hands each WebSocket to the test.

Requests other than GET are for the test to answer, by `answer_requests`.
"""

import http
import json
import queue
import re
import threading
import urllib.parse
from pathlib import Path

from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Response
from websockets.sync.server import serve

ROOT = Path(__file__).resolve().parents[3]
WEB = ROOT / "web"
FILES = {"/": WEB / "index.html", "/switchboard.js": ROOT / "clients/js/switchboard.js"} | {
    f"/{file.relative_to(WEB)}": file for file in WEB.rglob("*") if file.suffix in (".js", ".css", ".svg", ".html")}
FILES["/inspector"] = FILES.pop("/inspector/index.html")
TYPES = {".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8",
         ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml"}
DEADLINE_SECONDS = 15


def content_security_policy(frames):
    """The policy the gateway sends with a page, read from where it is written; `frames` is a case of the pages'."""
    text = (WEB / "WebPages.swift").read_text()
    declaration = text[text.index("func contentSecurityPolicy"):]
    rule = re.search(rf'case {frames} = "([^"]*)"', text).group(1)
    return "".join(re.findall(r'"([^"]*)"', declaration)) + rule


def _requests(message):
    """A message as requests: one for each topic of a subscribe."""
    topics = message["event"] == "subscribe" and message["data"].get("topics")
    return [message | {"data": topic} for topic in topics] if topics else [message]


class Connection:
    """One WebSocket of the page, seen from the server."""

    def __init__(self, socket):
        self._socket = socket
        self._unread = []

    def receive(self, *events):
        """The next message that is one of these events, or any that is not a ping; others wait for their turn."""
        while True:
            for index, message in enumerate(self._unread):
                if not events or message["event"] in events:
                    return self._unread.pop(index)
            message = json.loads(self._socket.recv(timeout=DEADLINE_SECONDS))
            if message["event"] != "ping":
                self._unread += _requests(message)

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

    @property
    def offered(self):
        """The subprotocols that the page offered, one of which may show its token."""
        return self._socket.request.headers.get("Sec-WebSocket-Protocol", "").split(", ")

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


class Channel:
    """One WebSocket of the page that speaks as Supabase's clients do, seen from the server."""

    def __init__(self, socket):
        self._socket = socket
        self.query = urllib.parse.parse_qs(urllib.parse.urlsplit(socket.request.path).query)

    def receive(self, event):
        """The next message of this event."""
        while True:
            message = json.loads(self._socket.recv(timeout=DEADLINE_SECONDS))
            if message[3] == event:
                return message

    def accept(self, refusal=None):
        """Answers the next join, and returns it."""
        join = join_ref, ref, topic, _, _ = self.receive("phx_join")
        reply = {"status": "ok", "response": {"postgres_changes": []}}
        if refusal is not None:
            reply = {"status": "error", "response": {"reason": refusal}}
        self._socket.send(json.dumps([join_ref, ref, topic, "phx_reply", reply]))
        return join

    def broadcast(self, topic, event, payload, offset=None, **flattened):
        meta = {} if offset is None else {"meta": {"epoch": "e1", "offset": offset}}
        body = {"type": "broadcast", "event": event, "payload": payload, **meta, **flattened}
        self._socket.send(json.dumps([None, None, f"realtime:{topic}", "broadcast", body]))

    def system(self, topic, status, message):
        body = {"status": status, "message": message, "extension": "system", "channel": topic}
        self._socket.send(json.dumps([None, None, f"realtime:{topic}", "system", body]))

    def close(self, code=1012, reason=""):
        self._socket.close(code, reason)


def answer_requests(page, pattern, answer):
    """Answers the page's requests for addresses of this pattern, and returns the list of them as they come.

    `answer` takes (method, path, body) and returns (status, body).
    """
    asked = []

    def handle(route):
        request = route.request
        path = request.url.removeprefix("http://").partition("/")[2]
        body = json.loads(request.post_data) if request.post_data else None
        asked.append((request.method, f"/{path}", body, request.headers))
        status, told = answer(request.method, f"/{path}", body)
        text = "" if told is None else json.dumps(told)
        route.fulfill(status=status, body=text, headers={"Content-Type": "application/json"})

    page.route(pattern, handle)
    return asked


class ScriptedGateway:
    """Serves until closed; `connection()` waits for the page's next WebSocket at `/ws`, `channel()` for its next one
    at `/realtime/v1/websocket`, and `socket()` for its next one at a path of an app.

    `guests` are handed out one by one at `/demo/guest`, where there is nothing when it is None.
    """

    def __init__(self, guests=None):
        self._guests = guests
        self._arrivals = {kind: queue.Queue() for kind in ("/ws", "/realtime/v1/websocket", "app")}
        self._server = serve(self._opened, "127.0.0.1", 0, process_request=self._page, compression=None,
                             select_subprotocol=_protocol)
        self.url = "http://127.0.0.1:%d/" % self._server.socket.getsockname()[1]
        self._thread = threading.Thread(target=self._server.serve_forever)
        self._thread.start()

    def connection(self):
        return Connection(self._arrivals["/ws"].get(timeout=DEADLINE_SECONDS))

    def channel(self):
        return Channel(self._arrivals["/realtime/v1/websocket"].get(timeout=DEADLINE_SECONDS))

    def socket(self):
        """The path and the connection."""
        socket = self._arrivals["app"].get(timeout=DEADLINE_SECONDS)
        return socket.request.path, Connection(socket)

    def sockets_waiting(self):
        """How many WebSockets the page has opened that no test has taken."""
        return sum(arrivals.qsize() for arrivals in self._arrivals.values())

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
        path = socket.request.path.partition("?")[0]
        self._arrivals[path if path in self._arrivals else "app"].put(socket)
        try:
            # The handler's return would close the socket, so it stays until the test closes it or the page goes.
            while not closed.wait(0.1) and socket.close_code is None:
                pass
        except ConnectionClosed:
            pass

    def _page(self, socket, request):
        path = request.path.partition("?")[0]
        if request.headers.get("Upgrade") is not None:
            return None
        if path == "/demo/guest" and self._guests:
            name = self._guests.pop(0) if len(self._guests) > 1 else self._guests[0]
            guest = {"token": f"token-of-{name}", "userId": name, "shopId": "demo", "challengeId": "demo",
                     "code": "c0de"}
            return _response("application/json", json.dumps(guest).encode())
        if path == "/demo/people":
            return _response("application/json", b'{"people": [], "session": ""}')
        if path not in FILES:
            return socket.respond(http.HTTPStatus.NOT_FOUND, "no such page\n")
        file = FILES[path]
        frames = "framedByOwn" if path.startswith("/inspector") else "framesOwn"
        return _response(TYPES[file.suffix], file.read_bytes(), frames)


def _protocol(_, offered):
    """What the gateway chooses of what a page offers; most of its sockets offer nothing."""
    return "switchboard.v1" if "switchboard.v1" in offered else None


def _response(content_type, body, frames="none"):
    headers = Headers({
        "Content-Type": content_type, "Content-Length": str(len(body)), "Connection": "close",
        "Content-Security-Policy": content_security_policy(frames), "X-Content-Type-Options": "nosniff",
    })
    return Response(200, "OK", headers, body)
