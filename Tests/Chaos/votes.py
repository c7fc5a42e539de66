"""Casts votes during a run, each until it is answered, and counts for itself what the tally must be (I8)."""

import random
import threading
import time

import httpx
from Fixtures.processes.gateway import API_KEY
from Fixtures.waiting import pass_time

SHOP = "chaos"
USERS, TRACKS = 20, 5
PAUSE_SECONDS = 0.01
PRESENT_SECONDS = 40
ANSWER_SECONDS = 4
STOP_SECONDS = 60


class Votes:
    """A thread that votes for users by way of any gateway; a request without an answer is sent again with its id."""

    def __init__(self, world, seed: int):
        self.world = world
        self.rng = random.Random(f"{seed} votes")
        self.ballots = {}
        self.present_until = {}
        self.repeated = 0
        self.ending = threading.Event()
        self.thread = threading.Thread(target=self._run, name="votes", daemon=True)
        self.failure = None
        self.serial = 0

    def start(self) -> "Votes":
        """Opens the session, checks everybody in, and begins to vote."""
        with httpx.Client(timeout=ANSWER_SECONDS, trust_env=False, headers={"apikey": API_KEY}) as http:
            self._do(http, "start_session")
            for user in self._users():
                self._check_in(http, user)
            for track in self._tracks():
                # Who adds a track votes for it.
                self._do(http, "add_track", trackId=track, trackName=track, userId="u0")
                self.ballots["u0", track] = "up"
        self.thread.start()
        return self

    def facts(self) -> list:
        """Ends the voting; what was told and what was cast, for each track."""
        self.ending.set()
        self.thread.join(STOP_SECONDS)
        if self.failure is not None:
            raise self.failure
        with httpx.Client(timeout=ANSWER_SECONDS, trust_env=False, headers={"apikey": API_KEY}) as http:
            told = {track["trackId"]: track for track in self._do(http, "dj")["queue"]}
        found = []
        for track in self._tracks():
            voters = {user: choice for (user, voted), choice in self.ballots.items()
                      if voted == track and choice != "none"}
            tally = {"up": told[track]["upvotes"], "down": told[track]["downvotes"]} if track in told else {}
            found.append({"what": f"dj:{SHOP} {track}", "tally": tally, "voters": voters})
        return found

    def _users(self):
        return [f"u{number}" for number in range(USERS)]

    def _tracks(self):
        return [f"t{number}" for number in range(TRACKS)]

    def _check_in(self, http, user) -> None:
        """Presence ends 90 s after the last check-in."""
        self._do(http, "check_in", userId=user)
        self.present_until[user] = time.monotonic() + PRESENT_SECONDS

    def _run(self) -> None:
        try:
            with httpx.Client(timeout=ANSWER_SECONDS, trust_env=False, headers={"apikey": API_KEY}) as http:
                while not self.ending.wait(PAUSE_SECONDS):
                    user, track = self.rng.choice(self._users()), self.rng.choice(self._tracks())
                    choice = self.rng.choice(("up", "down", "none"))
                    if self.present_until.get(user, 0) < time.monotonic():
                        self._check_in(http, user)
                    self._do(http, "vote", trackId=track, userId=user, vote=choice)
                    self.ballots[user, track] = choice
        except Exception as error:
            self.failure = error

    def _do(self, http, name: str, **arguments) -> dict:
        """The answer of a command, asked for until it comes."""
        self.serial += 1
        body = arguments | {"shopId": SHOP, "id": f"{name}-{self.serial}"}
        for number in range(10_000):
            self.repeated += number > 0
            try:
                host, port = self.rng.choice(self.world.gateways).address("plain")
                answer = http.post(f"http://{host}:{port}/v1/commands/{name}", json=body)
            except (httpx.TransportError, LookupError):
                pass_time(PAUSE_SECONDS, "the pause of a client that repeats")
                continue
            if answer.status_code == 200:
                # Now and then a client did not hear the answer and asks again.
                if self.rng.random() < 0.2 and number == 0:
                    continue
                return answer.json()
            if answer.status_code not in (429, 503):
                raise AssertionError(f"{name} {body}: {answer.status_code} {answer.text}")
            pass_time(PAUSE_SECONDS, "the pause of a client that repeats")
        raise AssertionError(f"{name} {body} was never answered")
