"""QueueUp's app as its source has it: REST calls with a Supabase token, and a socket that sends nothing."""

import itertools
import re
import uuid

import httpx

from Fixtures.clients.tokens import SECRET, sign

FLAGS = ("--packs", "queueup", "--jwt-role", "authenticated=user")
TIME = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")
_numbers = itertools.count(1)


def supabase_token(user: str, name: str | None = None, guest: bool = False, **claims) -> str:
    """A token as Supabase's Auth signs it."""
    metadata = {"username": name} if name else {}
    return sign(SECRET, user, **{
        "role": "authenticated", "aud": "authenticated", "is_anonymous": guest, "user_metadata": metadata,
        "app_metadata": {"provider": "email"}, "session_id": str(uuid.uuid4()), "aal": "aal1"} | claims)


def user_id() -> str:
    """A user that no other test has."""
    return str(uuid.UUID(int=next(_numbers) + (0xabcdef << 100), version=4))


class Shown(Exception):
    """An error as the app shows it: the sentence."""

    def __init__(self, status: int, sentence: str):
        super().__init__(f"{status}: {sentence}")
        self.status, self.sentence = status, sentence


class App:
    """One phone: QueueAPIService, its models, and WebSocketService."""

    def __init__(self, gateway, name: str | None = None, guest: bool = False, user: str | None = None,
                 token: str | None = None):
        self.gateway = gateway
        self.user = user or user_id()
        self.token = token or supabase_token(self.user, name, guest)
        self.me = {"id": self.user, "is_anonymous": guest} | ({"username": name} if name else {})
        self.http = gateway.http(key=None)
        self.sockets = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for socket in self.sockets:
            socket.close()
        self.http.close()

    # QueueAPIService

    def send(self, method: str, path: str, body: dict | None = None) -> httpx.Response:
        """A request as the app makes it."""
        headers = {"Authorization": f"Bearer {self.token}", "Accept": "application/json"}
        options = {"json": body} if body is not None else {}
        return self.http.request(method, "/api/v1" + path, headers=headers, **options)

    def call(self, method: str, path: str, body: dict | None = None) -> dict:
        """The answer; an error as the app reads it: the text in `error`, else in `detail`."""
        response = self.send(method, path, body)
        if 200 <= response.status_code < 300:
            return response.json()
        told = response.json()
        sentence = told.get("error")
        if sentence is None:
            detail = told["detail"]
            sentence = detail if isinstance(detail, str) else detail[0]["msg"]
        else:
            assert told.keys() == {"error", "status_code", "request_id"}, told
            assert told["status_code"] == response.status_code and told["request_id"], told
        assert isinstance(sentence, str) and sentence, told
        raise Shown(response.status_code, sentence)

    def create(self, code):
        return session_of(self.call("POST", "/sessions/create", {"join_code": code}))

    def join(self, code):
        return session_of(self.call("POST", "/sessions/join", {"join_code": code}))

    def current(self):
        return session_of(self.call("GET", "/sessions/current"))

    def leave(self):
        assert self.call("POST", "/sessions/leave") == {"ok": True}

    def control(self, **wanted):
        assert self.call("PATCH", "/sessions/control_session", wanted) == {"ok": True}

    def request_skip(self):
        answer = self.call("POST", "/sessions/request_skip")
        assert answer.keys() == {"ok", "skip_request_count", "participant_count", "skipped"} and answer["ok"] is True
        return answer

    def song_finished(self):
        assert self.call("POST", "/sessions/song_finished") == {"ok": True}

    def add(self, name="Never Gonna Give You Up", **more):
        return song_of(self.call("POST", "/songs/add", track(name) | more))

    def vote(self, song, value):
        answer = self.call("POST", f"/songs/{song.upper()}/vote", {"vote_value": value})
        assert answer.keys() == {"ok", "total_votes"} and answer["ok"] is True
        return answer["total_votes"]

    def unvote(self, song):
        return self.call("DELETE", f"/songs/{song}/vote")["total_votes"]

    # WebSocketService

    def listen(self, session: str):
        """Opens the session's socket, which sends nothing, and waits until it is joined."""
        socket = self.gateway.client(f"/api/v1/sessions/{session.upper()}/realtime", token=self.token)
        self.sockets.append(socket)
        return socket


def track(name: str) -> dict:
    return {"id": "4uLU6hMCjMI75M1A2tKUQC", "isrc": "GBARL9300135", "name": name, "artists": "Rick Astley",
            "album": "Whenever You Need Somebody", "duration_ms": 213_573, "image_url": "https://i.scdn.co/image/1",
            "source": "spotify"}


# The app's models: what its decoder refuses, fails here.


def user_of(told: dict) -> dict:
    assert told.keys() <= {"id", "username", "is_anonymous"}, told
    assert isinstance(told["id"], str) and uuid.UUID(told["id"])
    assert isinstance(told.get("username", ""), str) and isinstance(told.get("is_anonymous", False), bool)
    return told


def song_of(told: dict) -> dict:
    assert told.keys() == {"id", "status", "added_at", "votes", "song", "added_by"}, told
    assert uuid.UUID(told["id"]) and TIME.match(told["added_at"])
    assert told["status"] in ("queued", "playing", "played", "skipped") and isinstance(told["votes"], int)
    song = told["song"]
    assert song.keys() == {"id", "isrc", "name", "artists", "album", "duration_ms", "image_url", "source"}, song
    for name in ("id", "name", "album", "source"):
        assert isinstance(song[name], str)
    assert isinstance(song["duration_ms"], int) and song["source"] in ("spotify", "apple_music")
    user_of(told["added_by"])
    return told


def session_of(told: dict) -> dict:
    assert told.keys() - {"current_song", "token", "user"} == {
        "session", "queue", "my_votes", "skip_request_count", "participant_count", "user_requested_skip",
        "last_skip_was_crowdsourced"}, told
    session = told["session"]
    assert session.keys() - {"host_provider"} == {"id", "join_code", "created_at", "host"}, session
    assert uuid.UUID(session["id"]) and TIME.match(session["created_at"])
    user_of(session["host"])
    for song in [*told["queue"], *([told["current_song"]] if "current_song" in told else [])]:
        song_of(song)
    assert [song["status"] for song in told["queue"]] == ["queued"] * len(told["queue"])
    assert told["queue"] == sorted(told["queue"], key=lambda song: (-song["votes"], song["added_at"]))
    assert all(value in (1, -1) for value in told["my_votes"].values())
    return told
