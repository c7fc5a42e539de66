"""A Spotify outside: its tokens, its catalogue, and the settings of a courier that asks it."""

import base64
import uuid
from urllib.parse import parse_qs, urlsplit

from Fixtures.outside.server import Answer


def described(number: int, name: str) -> dict:
    """A track object of Spotify's."""
    return {"id": f"track{number}", "name": name, "external_ids": {"isrc": f"GB{number:010}"},
            "artists": [{"name": "Ann"}, {"name": "Bob"}], "duration_ms": 1_000 * number,
            "album": {"name": "An Album", "images": [
                {"url": "https://i.example/640", "width": 640}, {"url": "https://i.example/300", "width": 300}]}}


class Spotify:
    """What Spotify answers, until a test says otherwise; the answer of an `OutsideServer`."""

    def __init__(self):
        self.reset()

    def reset(self):
        self.tokens, self.grants, self.next = set(), 0, []
        self.lifetime, self.found = 3_600, 23

    def __call__(self, asked) -> Answer:
        if asked.path == "/api/token":
            basic = base64.b64encode(b"the-client:the-secret").decode()
            if asked.headers["authorization"] != "Basic " + basic or asked.body != b"grant_type=client_credentials":
                return Answer.of({"error": "invalid_client"}, 400)
            self.grants += 1
            self.tokens.add(token := uuid.uuid4().hex)
            return Answer.of({"access_token": token, "token_type": "Bearer", "expires_in": self.lifetime})
        if asked.headers.get("authorization", "").removeprefix("Bearer ") not in self.tokens:
            return Answer.of({"error": {"status": 401}}, 401)
        if self.next:
            return self.next.pop(0)
        query = {name: values[0] for name, values in parse_qs(urlsplit(asked.path).query).items()}
        assert query["market"] == "DE"
        if asked.path.startswith("/v1/tracks/"):
            number = urlsplit(asked.path).path.removeprefix("/v1/tracks/track")
            return Answer.of(described(int(number), "Blue")) if number.isdigit() else Answer.of({}, 404)
        if int(query["limit"]) > 10:
            return Answer.of({"error": {"message": "Invalid limit"}}, 400)
        first = int(query["offset"])
        items = [described(n, f"{query['q']} {n}") for n in range(first, min(first + int(query["limit"]), self.found))]
        return Answer.of({"tracks": {"items": items, "total": self.found}})


def settings(directory, url) -> dict:
    """The config of a courier that asks it."""
    (directory / "client-secret").write_text("the-secret\n")
    return {"services": {"spotify": {"url": url, "token-url": url + "/api/token", "client-id": "the-client",
                                     "client-secret-file": str(directory / "client-secret"), "market": "DE"}}}
