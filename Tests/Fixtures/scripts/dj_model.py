"""What DJ mode must do, said without Redis; and a reader of what state_dj.lua tells."""

import json
from datetime import UTC, datetime

from Fixtures.scripts.command_scripts import Failed

SHOP = "42"
NOT_PRESENT = ("not_present", "Must be at shop to vote")
NOT_THERE = ("not_present", "Must be at shop to add a track")


def iso(ms):
    """ISO 8601 in UTC with milliseconds."""
    moment = datetime.fromtimestamp(ms // 1000, UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{ms % 1000:03d}Z"


def state(scripts, shop=SHOP, **options):
    """The state that a client of the topic receives."""
    keys = [f"dj:{shop}#{facet}" for facet in ("log", "meta", "session", "tracks", "tally", "order", "voters")]
    text = scripts.state("dj", keys)
    return json.loads(text) if text else None


def spotify(item):
    """The item with what a player of Spotify's tracks reads; these have nothing but their names."""
    artist, image = item["artistName"], item["albumArt"]
    return item | {
        "id": item["trackId"], "name": item["trackName"], "artists": [{"name": artist}] if artist else [],
        "album": {"name": "", "images": [{"url": image}] if image else []}, "duration_ms": 0}


def flat(item):
    """The item as the queue has it."""
    more = ("id", "name", "artists", "album", "duration_ms")
    return {name: value for name, value in item.items() if name not in more}


class Model:
    """One shop's session: every ballot by itself, counted anew whenever asked."""

    def __init__(self):
        self.active = False
        self.names_voters = False
        self.started_ms = None
        self.current = None
        self.tracks = []
        self.removed = {}
        self.count = 0  # of the tracks that were new to the session
        self.events = []

    def find(self, track_id):
        return next((track for track in self.tracks if track["trackId"] == track_id), None)

    @staticmethod
    def counts(track):
        votes = list(track["ballots"].values())
        up, down = votes.count("up"), votes.count("down")
        return {"upvotes": up, "downvotes": down, "score": up - down}

    def ordered(self):
        return sorted(self.tracks, key=lambda track: (-self.counts(track)["score"], track["number"]))

    def standing(self, track):
        return {**self.counts(track), "position": self.ordered().index(track) + 1}

    @staticmethod
    def plain(track):
        return {name: value for name, value in track.items() if name not in ("ballots", "number")}

    def told_votes(self, track):
        """The standing as the state tells it: with the voters where the session names them."""
        standing = self.standing(track)
        if not self.names_voters:
            return standing
        named = {f"{word}votes": [user for user, vote in track["ballots"].items() if vote == word]
                 for word in ("up", "down")}
        return {**standing, **named, "upvoteCount": standing["upvotes"], "downvoteCount": standing["downvotes"]}

    def state(self):
        return {"shopId": SHOP, "isActive": self.active, "currentTrack": self.current,
                "queue": [{**self.plain(track), **self.told_votes(track)} for track in self.ordered()],
                "startedAt": iso(self.started_ms) if self.active else None}

    def page(self):
        """The state as a page of the queue; a model's queue is never longer."""
        return self.state() | {"next": None}

    def my_votes(self, user):
        return {"votes": {track["trackId"]: track["ballots"][user] for track in self.tracks
                          if user in track["ballots"]}}

    def _end(self):
        self.active, self.started_ms, self.current, self.tracks = False, None, None, []
        self.removed, self.count = {}, 0

    def start_session(self, now_ms, voters=False):
        if not self.active:
            self._end()
            self.active, self.started_ms, self.names_voters = True, now_ms, voters
            self.events.append(("session:started", self.state()))
        return {"shopId": SHOP, "isActive": True, "startedAt": iso(self.started_ms)}

    def stop_session(self, now_ms):
        if self.active:
            self._end()
            self.events.append(("session:stopped", self.state()))
        return {"shopId": SHOP, "isActive": False}

    def add_track(self, now_ms, user, present, track_id):
        if not present:
            raise Failed(*NOT_THERE)
        if not self.active or self.find(track_id):
            raise Failed("conflict", "")
        if sum(other["addedBy"] == user for other in self.tracks) >= 20:
            raise Failed("too_many", "")
        number, ballots = self.removed.pop(track_id, (self.count + 1, {}))
        self.count = max(self.count, number)
        track = {"trackId": track_id, "trackName": "", "artistName": "", "albumArt": "", "addedBy": user,
                 "addedAt": iso(now_ms), "number": number,
                 "ballots": {**{other: vote for other, vote in ballots.items() if other != user}, user: "up"}}
        self.tracks.append(track)
        item = spotify({**self.plain(track), **self.standing(track)})
        self.events.append(("track:added", item))
        return item

    def vote(self, now_ms, user, present, track_id, vote):
        if not present:
            raise Failed(*NOT_PRESENT)
        track = self.find(track_id)
        if not track:
            raise Failed("not_found", "")
        changed = track["ballots"].get(user, "none") != vote
        if changed:
            track["ballots"].pop(user, None)
            if vote != "none":
                track["ballots"][user] = vote
        answer = {"trackId": track_id, **self.standing(track)}
        if changed:
            self.events.append(("queue:update", answer))
        return answer

    def remove_track(self, now_ms, user, track_id):
        track = self.find(track_id)
        if not track:
            raise Failed("not_found", "")
        if user and track["addedBy"] != user:
            raise Failed("forbidden", "")
        self.tracks.remove(track)
        self.removed[track_id] = track["number"], track["ballots"]
        self.events.append(("track:removed", {"trackId": track_id}))
        return {"trackId": track_id}

    def next_track(self, now_ms):
        if not self.active:
            raise Failed("conflict", "")
        if self.tracks:
            track = self.ordered()[0]
            self.current = spotify({**self.plain(track), **self.counts(track)})
            self.tracks.remove(track)
            self.events.append(("track:playing", self.current))
        elif self.current:
            self.current = None
            self.events.append(("queue:empty", {"shopId": SHOP}))
        return {"track": self.current}
