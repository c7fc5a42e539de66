"""Who sees whom, by plain geometry: a picture is everyone visible within two kilometres.

It holds for crowds of at most 12, where no picture is full. Distances that lie on the border of a rule are kept out of
the histories, since Redis keeps places to 60 centimetres.
"""

import math
from dataclasses import dataclass

from Fixtures.scripts.nearby_scripts import EARTH_METRES, metres

LIVE_METRES = 2_000
MOVE_METRES = 25
SIGN_MS = 600_000
ROUNDINGS = (0, 100, 1_000)
CELL_DEGREES = 1.40625


def rounded(place, size):
    """The middle of the square that a place lies in; squares of about `size` metres divide each cell evenly."""
    if not size:
        return place
    degree = math.pi / 180 * EARTH_METRES

    def middle(value, count):
        step = CELL_DEGREES / count
        cell = math.floor(value / CELL_DEGREES)
        return cell * CELL_DEGREES + (math.floor((value - cell * CELL_DEGREES) / step) + 0.5) * step

    latitude = middle(place[0] + 90, math.floor(CELL_DEGREES * degree / size)) - 90
    columns = math.floor(CELL_DEGREES * degree * math.cos(math.radians(latitude)) / size)
    return latitude, middle(place[1] + 180, columns) - 180


@dataclass
class Listener:
    visible: str = "everyone"
    rounding: int = 100
    place: tuple | None = None
    ends: int = 0
    # Where it was when its place was last told.
    told: tuple | None = None

    @property
    def kept_rounding(self):
        return 1_000 if self.visible == "nobody" else self.rounding


class Model:
    """The listeners, and the events of each step as (who hears it, event, of whom, metres or None)."""

    def __init__(self, users):
        self.listeners = {user: Listener() for user in users}
        self.blocks = set()
        self.mutes = set()
        self.followers = set()
        self.pictures = {user: set() for user in users}

    def sees(self, viewer, shown):
        one, other = self.listeners[viewer], self.listeners[shown]
        if viewer == shown or not (one.place and other.place) or other.visible == "nobody":
            return False
        if (viewer, shown) in self.blocks or (shown, viewer) in self.blocks:
            return False
        if (viewer, shown) in self.mutes:
            return False
        if other.visible == "followers" and (shown, viewer) not in self.followers:
            return False
        return metres(one.place, other.place) <= LIVE_METRES

    def step(self, change, moved=None, quiet=None):
        """Makes a change and returns what is told. `moved` may be elsewhere now; `quiet` gets an answer instead."""
        change()
        events = []
        for viewer in self.listeners:
            now = {shown for shown in self.listeners if self.sees(viewer, shown)}
            before, self.pictures[viewer] = self.pictures[viewer], now
            # Nobody is told of what its own call is answered with, or what its own leaving ends.
            if viewer == quiet or not self.listeners[viewer].place:
                continue
            events += [(viewer, "nearby:leave", shown, None) for shown in before - now]
            events += [(viewer, "nearby:enter", shown, self._metres(viewer, shown)) for shown in now - before]
            if moved in before & now and self._is_far(moved):
                events.append((viewer, "nearby:move", moved, self._metres(viewer, moved)))
        self._note_told()
        return sorted(events, key=lambda one: one[:3])

    def _metres(self, viewer, shown):
        return metres(self.listeners[viewer].place, self.listeners[shown].place)

    def _is_far(self, moved):
        told = self.listeners[moved].told
        return told is None or metres(told, self.listeners[moved].place) > MOVE_METRES

    def _note_told(self):
        for user, listener in self.listeners.items():
            if not listener.place or listener.visible == "nobody":
                listener.told = None
            elif self._is_far(user):
                listener.told = listener.place
