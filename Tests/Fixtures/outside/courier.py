"""A courier in Python, written from docs/courier.md alone: it carries calls to a local HTTP server."""

import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import redis

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "courier.md").read_text()
FINISH = re.search(r"^```lua\n(.*?)^```$", PAGE, re.M | re.S)[1]


class Service:
    """A service outside: it answers a POST by a function of the path's JSON body, and remembers what it was asked.

    `statuses` are those of its first answers; the later ones have 200.
    """

    def __init__(self, answer=lambda body: body, statuses=()):
        self.answer, self.asked, self.statuses = answer, [], list(statuses)
        service = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):  # noqa: N802, the name that the base class asks for
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                service.asked.append((self.headers["idempotency-key"], body))
                text = service.answer(body)
                text = text if isinstance(text, bytes) else json.dumps(text).encode()
                self.send_response(service.statuses.pop(0) if service.statuses else 200)
                self.send_header("content-length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self.thread.start()
        self.url = f"http://127.0.0.1:{self.server.server_port}/"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


class Courier:
    """One courier of one service. Nothing runs by itself: the tests say when it claims, calls and finishes."""

    def __init__(self, db: redis.Redis, service: str, name: str = "py", prefix: str = ""):
        self.db, self.service, self.name, self.prefix = db, service, name, prefix
        self.calls, self.dead = f"{prefix}#calls:{service}", f"{prefix}#calls-dead:{service}"

    # Being alive

    def live(self, seconds: int = 10):
        self.db.set(f"{self.prefix}#courier:{self.service}", self.name, ex=seconds)

    def die(self):
        self.db.delete(f"{self.prefix}#courier:{self.service}")

    # Calls

    def join(self):
        try:
            self.db.xgroup_create(self.calls, "couriers", "0", mkstream=True)
        except redis.ResponseError as error:
            assert "BUSYGROUP" in str(error), error

    def claim(self, count: int = 16) -> list[tuple[bytes, dict]]:
        """Calls that nobody has, waited for."""
        found = self.db.xreadgroup("couriers", self.name, {self.calls: ">"}, count=count, block=1_000)
        return [(entry, fields) for _, entries in found for entry, fields in entries]

    def take_over(self, idle_ms: int = 60_000) -> list[tuple[bytes, dict]]:
        """Calls whose courier has not finished them."""
        return self.db.xautoclaim(self.calls, "couriers", self.name, idle_ms, "0-0", count=16)[1]

    def finish(self, entry: bytes, fields: dict, answer=None, reason: str = "") -> bool:
        """Answers a call, or gives it up; whether it was still this one's to finish."""
        outcome = {"outcome": "failed"} if reason else {"outcome": "ok", "answer": answer}
        arguments = json.dumps(json.loads(fields[b"a"]) | outcome)
        answers = self.prefix + "#outbox:next"
        return bool(self.db.eval(FINISH, 3, self.calls, answers, self.dead, entry, arguments, reason))

    # Questions

    def take(self, seconds: float = 5) -> dict:
        """The oldest question, waited for."""
        found = self.db.blpop([f"{self.prefix}#asks:{self.service}"], timeout=seconds)
        assert found, "nobody asked"
        return json.loads(found[1])

    def waiting(self) -> int:
        return self.db.llen(f"{self.prefix}#asks:{self.service}")

    def answer(self, question: dict, answer, word: str = "ok") -> int:
        """Answers with JSON, or with bytes as they are; how many gateways heard it."""
        body = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        return self.db.publish(question["to"], f"{question['id']} {word}\n".encode() + body)
