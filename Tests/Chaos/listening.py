"""Listening sessions under chaos: nothing that was answered is lost, and every socket shows what is true.

usage: .venv/bin/python Tests/Chaos/listening.py [--users 200] [--sessions 20] [--changes 9999]

Three gateways and a worker serve the pack of QueueUp. Users join, leave, add songs, vote, change and withdraw votes,
ask to skip, and hosts finish songs, at random. Now and then a request is sent and its connection is cut before the
answer; the user sends it again, under the same name, to any gateway. Sockets are cut and opened again. At the end
  - the votes of every song, also of those that are over, are the sum of the ballots that were answered;
  - the picture that a socket's events make is that of `sessions/current`;
  - a song was skipped by its listeners exactly when more than half of them asked so.
Prints figures; exits with 1 when anything is otherwise.
"""

import argparse
import json
import random
import socket
import sys
import tempfile
import threading
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import paths  # noqa: F401
import httpx
from Fixtures.apps.listening import Picture
from Fixtures.clients.certificates import write_certificate
from Fixtures.clients.native import Client
from Fixtures.clients.tokens import SECRET, sign
from Fixtures.processes.gateway import Gateway
from Fixtures.processes.worker import Worker
from Fixtures.redis import outbox
from Fixtures.redis.server import RedisServer
from Fixtures.waiting import eventually, pass_time

NODES = 3
THREADS = 12
QUEUE_MAX = 12
ANSWER_SECONDS = 20
CUT, UNHEARD = 0.03, 0.08
EVENTS = {"queue.updated", "votes.updated", "now_playing.updated", "session.updated"}


class Site:
    """Redis, the gateways, the worker."""

    def __init__(self, directory: Path):
        certificate = write_certificate(directory)
        self.redis = RedisServer(directory / "redis").start()
        flags = ("--packs", "queueup", "--jwt-role", "authenticated=user", "--listen-plain", "127.0.0.1:0",
                 "--shards", "1")
        self.gateways = [Gateway(directory / f"gateway-{number}", self.redis.url, certificate, SECRET, *flags).start()
                         for number in range(NODES)]
        self.worker = Worker(directory / "worker", self.redis.url, "--packs", "queueup").start()
        for gateway in self.gateways:
            gateway.wait_ready()
        self.addresses = [gateway.address("plain") for gateway in self.gateways]
        self.lock = threading.Lock()
        self.opened = []

    def client(self, rng, path: str, token: str) -> Client:
        host, port = rng.choice(self.addresses)
        client = Client(f"ws://{host}:{port}{path}", None, token=token)
        with self.lock:
            self.opened.append(client)
        return client

    def close(self):
        for client in self.opened:
            client.close()
        for gateway in self.gateways:
            gateway.stop()
        self.worker.stop()
        self.redis.stop()


class User:
    """One listener, whose calls follow each other; everything answered is noted."""

    def __init__(self, site: Site, number: int, seed: int, codes: list[str]):
        self.site, self.codes = site, codes
        self.rng = random.Random(f"{seed} user {number}")
        self.id = str(uuid.UUID(int=self.rng.getrandbits(128), version=4))
        self.token = sign(SECRET, self.id, ttl=3_600, role="authenticated")
        self.http = httpx.Client(timeout=ANSWER_SECONDS, trust_env=False)
        self.place, self.hosts = None, set()
        self.ballots, self.skipped = {}, {}
        self.ear = None
        self.counts = {"calls": 0, "changes": 0, "repeated": 0, "cut": 0, "waits": 0}
        self.problems = []

    # Calls

    def call(self, method: str, path: str, body: dict | None = None) -> tuple[int, dict]:
        """The answer of one operation, asked for until it comes."""
        name = str(uuid.UUID(int=self.rng.getrandbits(128), version=4))
        self.counts["calls"] += 1
        self.counts["changes"] += method != "GET"
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            host, port = self.rng.choice(self.site.addresses)
            if self.rng.random() < CUT:
                self._cut(host, port, method, path, body, name)
                continue
            headers = {"Authorization": f"Bearer {self.token}", "Idempotency-Key": name}
            try:
                answer = self.http.request(method, f"http://{host}:{port}/api/v1{path}", json=body, headers=headers)
            except httpx.TransportError:
                self.counts["repeated"] += 1
                continue
            if answer.status_code in (429, 503):
                self.counts["waits"] += 1
                pass_time(0.1 + 0.3 * self.rng.random(), "the pause of a client that repeats")
                continue
            if method != "GET" and self.rng.random() < UNHEARD:
                # The answer was lost on its way: the client asks again.
                self.counts["repeated"] += 1
                continue
            return answer.status_code, answer.json()
        raise AssertionError(f"{method} {path} was never answered")

    def _cut(self, host, port, method, path, body, name) -> None:
        """Sends the request and ends the connection before the answer."""
        text = json.dumps(body) if body is not None else ""
        head = (f"{method} /api/v1{path} HTTP/1.1\r\nHost: {host}:{port}\r\nAuthorization: Bearer {self.token}\r\n"
                f"Idempotency-Key: {name}\r\nContent-Type: application/json\r\nContent-Length: {len(text)}\r\n\r\n")
        with socket.create_connection((host, port)) as link:
            link.sendall((head + text).encode())
        self.counts["cut"] += 1

    def current(self) -> dict:
        status, answer = self.call("GET", "/sessions/current")
        assert status == 200, answer
        return answer

    # Deeds

    def act(self) -> None:
        """One random deed."""
        if self.place is None or self.rng.random() < 0.03:
            self.join(self.rng.choice(self.codes))
            return
        deed = self.rng.choices(("vote", "add", "skip", "finish", "leave", "listen"), (66, 8, 17, 5, 1, 3))[0]
        getattr(self, deed)()

    def join(self, code: str) -> None:
        status, answer = self.call("POST", "/sessions/join", {"join_code": code})
        assert status == 200, answer
        self.place = answer["session"]["id"]
        self.listen()

    def leave(self) -> None:
        assert self.call("POST", "/sessions/leave") == (200, {"ok": True})
        self.place = None
        self._close_ear()

    def add(self) -> None:
        answer = self.current()
        if len(answer["queue"]) >= QUEUE_MAX:
            return
        track = {"id": "t", "isrc": None, "name": f"{self.counts['calls']}", "artists": "A", "album": "B",
                 "duration_ms": 1, "image_url": None}
        status, song = self.call("POST", "/songs/add", track)
        if status != 200:
            self.problems.append(f"add: {status} {song}")

    def vote(self) -> None:
        answer = self.current()
        songs = [*answer["queue"], *([answer["current_song"]] if "current_song" in answer else [])]
        if not songs:
            return
        mine = {song: value for (place, song), value in self.ballots.items() if place == self.place and value}
        for song in songs:
            if answer["my_votes"].get(song["id"], 0) != mine.get(song["id"], 0):
                self.problems.append(f"{self.id} voted otherwise on {song['id']}")
        for song in self.rng.sample(songs, min(3, len(songs))):
            value = self.rng.choice((1, 1, -1, 0))
            status, told = self.call("POST", f"/songs/{song['id'].upper()}/vote", {"vote_value": value}) if value else (
                self.call("DELETE", f"/songs/{song['id']}/vote"))
            if status == 200:
                self.ballots[self.place, song["id"]] = value
            elif status != 404:
                self.problems.append(f"vote: {status} {told}")

    def skip(self) -> None:
        status, told = self.call("POST", "/sessions/request_skip")
        if status != 200:
            self.problems.append(f"request_skip: {status} {told}")
        elif told["skipped"]:
            self.skipped[self.place] = self.skipped.get(self.place, 0) + 1
        elif told["skip_request_count"] * 2 > told["participant_count"]:
            self.problems.append(f"more than half asked, and nothing was skipped: {told}")

    def finish(self) -> None:
        if self.place in self.hosts:
            assert self.call("POST", "/sessions/song_finished") == (200, {"ok": True})

    def listen(self) -> None:
        """Opens the session's socket, after the one before was cut."""
        self._close_ear()
        self.ear = self.site.client(self.rng, f"/api/v1/sessions/{self.place.upper()}/realtime", self.token)
        joined = self.ear.receive(ANSWER_SECONDS)
        assert joined["event"] == "subscribed", joined
        self.picture = Picture(self.current())

    def _close_ear(self) -> None:
        if self.ear:
            self.ear.close()
        self.ear = None

    def shown(self) -> Picture:
        """The picture behind everything that came."""
        self.ear.send("ping", ref="end")
        while (message := self.ear.receive(ANSWER_SECONDS))["event"] != "pong":
            if message["event"] in EVENTS:
                self.picture.take(message["event"], message["data"])
        return self.picture


class Minutes:
    """What a session told, in full: a service listens and is never cut."""

    def __init__(self, site: Site, session: str):
        self.client = site.gateways[0].client(headers=[("apikey", site.gateways[0].http().headers["apikey"])])
        told = self.client.subscribe(f"session:{session}")
        self.offset, self.session = told["offset"], session

    def check(self, statuses: dict, asked: int, problems: list) -> int:
        """Checks each skip against what was told before, as far as no gap was; returns how many were the listeners'."""
        people, skips, current, ended = 1, 0, None, None
        by_request, total, is_whole = 0, 0, True
        self.client.send("ping", ref="end")
        while (message := self.client.receive(ANSWER_SECONDS))["event"] != "pong":
            event, told = message["event"], message["data"]
            if "offset" in message:
                if message["offset"] != self.offset + 1:
                    problems.append(f"the minutes have a silent hole: {message['offset']} after {self.offset}")
                self.offset = message["offset"]
            if event == "gap":
                problems.append("the minutes have a hole")
                self.offset, is_whole = told["offset"], False
            elif not is_whole:
                continue
            elif event == "now_playing.updated":
                ended, current = current, told.get("current_song", {}).get("id")
            elif event == "session.updated":
                count, after = told["skip_request_count"], told["participant_count"]
                if current and count * 2 > after:
                    problems.append(f"{count} of {after} ask, and the song goes on")
                if ended and told["last_skip_was_crowdsourced"] and statuses.get(ended) == "skipped":
                    total += 1
                    by_request += after == people
                    most = (skips + 1) * 2 > people if after == people else skips * 2 > after
                    if not most:
                        problems.append(f"skipped when {skips} of {people} had asked")
                people, skips, ended = after, count, None
        if is_whole and by_request != asked:
            problems.append(f"{asked} were told that they skipped, and {by_request} skips were told")
        return total


def run(users: int, sessions: int, changes: int, seed: int, directory: Path) -> tuple[dict, list[str]]:
    """One run: figures and problems."""
    site = Site(directory)
    try:
        codes = [f"code-{number}" for number in range(sessions)]
        crowd = [User(site, number, seed, codes) for number in range(users)]
        minutes = {}
        for host, code in zip(crowd, codes, strict=False):
            status, answer = host.call("POST", "/sessions/create", {"join_code": code})
            assert status == 200, answer
            host.place = answer["session"]["id"]
            host.hosts.add(host.place)
            minutes[host.place] = Minutes(site, host.place)
            host.listen()
        began = time.monotonic()
        each = changes // users

        def live(group):
            rng = random.Random(f"{seed} {group[0].id}")
            left = {user: each for user in group}
            while left:
                user = rng.choice(list(left))
                before = user.counts["changes"]
                user.act()
                left[user] -= user.counts["changes"] - before
                if left[user] <= 0:
                    del left[user]

        with ThreadPoolExecutor(THREADS) as pool:
            list(pool.map(live, [crowd[number::THREADS] for number in range(min(THREADS, users))]))
        seconds = time.monotonic() - began
        with site.redis.client() as db:
            eventually(lambda: outbox.waiting(db) == 0, 30, "the worker has passed everything on")
        return judge(site, crowd, minutes, seconds)
    finally:
        site.close()


def judge(site, crowd, minutes, seconds):
    """What must be true at the end."""
    problems = [problem for user in crowd for problem in user.problems]
    figures = {"seconds": round(seconds, 1), "songs": 0, "ballots": 0, "skips": 0, "sockets": 0, "pictures": 0}
    for name in crowd[0].counts:
        figures[name] = sum(user.counts[name] for user in crowd)
    for session, notes in minutes.items():
        there = [user for user in crowd if user.place == session]
        votes, statuses = {}, {}
        if there:
            answer = there[0].current()
            if answer["participant_count"] != len(there):
                problems.append(f"{answer['participant_count']} take part, {len(there)} were let in")
            songs = [*answer["queue"], *([answer["current_song"]] if "current_song" in answer else [])]
            before = None
            while True:
                path = f"/sessions/{session}/history" + (f"?before={before}" if before else "")
                page = there[0].call("GET", path)[1]
                songs += page["songs"]
                before = page["next"]
                if before is None:
                    break
            votes = {song["id"]: song["votes"] for song in songs}
            statuses = {song["id"]: song["status"] for song in songs}
        for song, total in votes.items():
            cast = sum(user.ballots.get((session, song), 0) for user in crowd)
            figures["ballots"] += sum((session, song) in user.ballots for user in crowd)
            if cast != total:
                problems.append(f"song {song} has {total} votes, its ballots are {cast}")
        figures["songs"] += len(votes)
        if there:
            asked = sum(user.skipped.get(session, 0) for user in crowd)
            figures["skips"] += notes.check(statuses, asked, problems)
        for user in there:
            figures["sockets"] += 1
            differences = user.shown().differs_from(user.current())
            figures["pictures"] += not differences
            if differences:
                problems.append(f"a socket of {session} shows otherwise: {differences}")
    return figures, problems


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--users", type=int, default=200)
    parser.add_argument("--sessions", type=int, default=20)
    parser.add_argument("--changes", type=int, default=10_000, help="votes, skips, joins and the like")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(2**32))
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    with tempfile.TemporaryDirectory() as directory:
        figures, problems = run(options.users, options.sessions, options.changes, options.seed, Path(directory))
    print(json.dumps(figures))
    print(f"problems {len(problems)}")
    for problem in problems[:20]:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
