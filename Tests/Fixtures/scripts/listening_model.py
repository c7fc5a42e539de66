"""A listening session as a model that is easy to believe: lists and dicts, no scores, no tags, no bytes."""

from dataclasses import dataclass, field


@dataclass
class Song:
    id: str
    added: int
    by: str
    ballots: dict = field(default_factory=dict)

    @property
    def votes(self):
        return sum(self.ballots.values())


@dataclass
class Session:
    code: str
    host: str
    people: set = field(default_factory=set)
    queue: list = field(default_factory=list)
    current: Song | None = None
    over: list = field(default_factory=list)
    skips: set = field(default_factory=set)
    crowd: bool = False
    locked: bool = False

    @property
    def order(self):
        return sorted(self.queue, key=lambda song: (-song.votes, song.added))

    def song(self, id):
        return next((song for song in [*self.queue, *([self.current] if self.current else [])] if song.id == id), None)

    def advance(self, status):
        if self.current:
            self.over.append((self.current.id, status))
        self.skips = set()
        self.current = self.order[0] if self.queue else None
        if self.current:
            self.queue.remove(self.current)

    def add(self, song):
        if self.current:
            self.queue.append(song)
        else:
            self.current = song

    def ask(self, user):
        """Whether the song was skipped."""
        if not self.current:
            return False
        self.skips.add(user)
        return self.judge()

    def judge(self):
        """Skips when more than half ask so."""
        if not (self.current and 2 * len(self.skips) > len(self.people)):
            return False
        self.advance("skipped")
        self.crowd = True
        return True

    def leave(self, user):
        self.people.discard(user)
        self.skips.discard(user)
        self.judge()


class Model:
    """All sessions and who is where."""

    def __init__(self):
        self.sessions, self.place = {}, {}

    def create(self, code, user):
        self.sessions[code] = Session(code, user)
        self.join(code, user)

    def join(self, code, user):
        if self.place.get(user) == code:
            return
        self.sessions[code].people.add(user)
        self.leave(user)
        self.place[user] = code

    def leave(self, user):
        former = self.place.pop(user, None)
        if former:
            self.sessions[former].leave(user)

    def of(self, user):
        return self.sessions.get(self.place.get(user))
