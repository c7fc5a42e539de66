"""A player of an app's flow: a thread that repeats a call until it is answered, and clients that notice a hole."""

import random
import threading
import time
import uuid

import paths  # noqa: F401
import httpx
from Fixtures.clients.tokens import SECRET, sign
from Fixtures.processes.gateway import API_KEY
from Fixtures.waiting import eventually, pass_time

PAUSE_SECONDS = 0.02
ANSWER_SECONDS = 5
ANSWERED_SECONDS_MAX = 90


class Player(threading.Thread):
    """One app's flow: `begin` makes its clients, `deed` is done again and again, `problems` judges."""

    name = "player"
    # Seconds between two deeds: below the rates of the commands, most of which are per user and minute.
    pace = 0.05

    def __init__(self, world, seed: int):
        super().__init__(name=type(self).__name__, daemon=True)
        self.world, self.rng = world, random.Random(f"{seed} {type(self).__name__}")
        self.http = httpx.Client(timeout=ANSWER_SECONDS, trust_env=False)
        self.calls = self.repeated = 0
        self.ending, self.failure, self.found, self.ears = threading.Event(), None, [], []

    def run(self):
        try:
            while not self.ending.is_set():
                self.deed()
                pass_time(self.pace, "the pace of people")
        except Exception as error:
            self.failure = error

    def end(self) -> None:
        """No more deeds; the last one is answered."""
        self.ending.set()
        self.join(2 * ANSWERED_SECONDS_MAX)
        if self.failure is not None:
            self.found.append(f"{self.name} ended: {self.failure!r}")

    def close(self) -> None:
        for ear in self.ears:
            ear.close()
        self.http.close()

    # Calls

    def ask(self, method: str, path: str, body: dict | None = None, user: str | None = None, allowed=()) -> tuple:
        """Status and body of one operation; it is sent again, under its id, until it is answered."""
        key = {"Authorization": f"Bearer {token_of(user)}"} if user else {"apikey": API_KEY}
        headers = key | {"Idempotency-Key": str(uuid.UUID(int=self.rng.getrandbits(128), version=4))}
        deadline = time.monotonic() + ANSWERED_SECONDS_MAX
        while time.monotonic() < deadline:
            host, port = self.rng.choice(self.world.gateways).address("plain")
            try:
                answer = self.http.request(method, f"http://{host}:{port}{path}", json=body, headers=headers)
            except httpx.TransportError:
                self.repeated += 1
                continue
            # Now and then an answer is lost on its way.
            if answer.status_code in (429, 503) or method != "GET" and self.rng.random() < 0.05:
                self.repeated += 1
                pass_time(PAUSE_SECONDS, "the pause of a client that repeats")
                continue
            self.calls += 1
            assert answer.is_success or answer.status_code in allowed, f"{method} {path}: {answer.text}"
            return answer.status_code, answer.json() if answer.content else {}
        raise AssertionError(f"{method} {path} was never answered")

    def command(self, name: str, **arguments) -> dict:
        return self.ask("POST", f"/v1/commands/{name}", arguments)[1]

    # Events

    def ear(self, *topics: str, user: str | None = None):
        """A client of the native protocol that follows topics from now on."""
        credentials = {"token": token_of(user)} if user else {"headers": [("apikey", API_KEY)]}
        ear = self.rng.choice(self.world.gateways).client(**credentials)
        self.ears.append(ear)
        ear.positions = {}
        for topic in topics:
            told = eventually(lambda topic=topic: joined(ear, topic), 30, f"{self.name} joins {topic}")
            ear.positions[topic] = [told["epoch"], told["offset"]]
        return ear

    def heard(self, ear) -> list:
        """Everything that came, without a hole that was not told, up to the newest event of each topic."""
        events = []

        def is_whole():
            events.extend(self._drain(ear))
            return all(self._top(topic) == tuple(position) for topic, position in ear.positions.items())
        try:
            eventually(is_whole, 30, "the newest events")
        except AssertionError:
            tops = {topic: (self._top(topic), position) for topic, position in ear.positions.items()}
            self.found.append(f"{self.name}: a silent hole at the end: {tops}")
        return events

    def _top(self, topic: str) -> tuple:
        told = self.ask("GET", f"/v1/topics/{topic}")[1]
        return told["epoch"], told["offset"]

    def _drain(self, ear) -> list:
        events = []
        ear.send("ping", ref="end")
        while (message := ear.receive(ANSWER_SECONDS))["event"] != "pong":
            position = ear.positions.get(message.get("topic"))
            if message["event"] == "gap":
                self.world.gaps.append((message["topic"], message["data"]["reason"]))
                position[:] = message["data"]["epoch"], message["data"]["offset"]
            elif "offset" in message:
                if message["offset"] != position[1] + 1:
                    self.found.append(f"{self.name}: a silent hole: {message['offset']} after {position[1]}")
                position[1] = message["offset"]
            events.append(message)
        return events


def token_of(user: str) -> str:
    """The user's token, as QueueUp's clients have it."""
    return sign(SECRET, user, ttl=7_200, role="authenticated")


def joined(ear, topic: str) -> dict | None:
    """The answer of a subscribe, unless Redis is away."""
    answer = ear.request("subscribe", {"topic": topic})
    assert answer["event"] == "subscribed" or answer["data"]["code"] == "unavailable", answer
    return answer["data"] if answer["event"] == "subscribed" else None
