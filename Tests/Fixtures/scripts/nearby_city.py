"""Listeners of a whole city by plain rules: who is in whose picture when there are more than a picture holds.

A grid of squares finds the nearest, and pictures are lists. It holds where at most 24 stand within 20 m of each other;
of larger piles the scripts look at any.
"""

import math
from dataclasses import dataclass, field

from Fixtures.scripts.nearby_model import LIVE_METRES, MOVE_METRES, rounded
from Fixtures.scripts.nearby_scripts import EARTH_METRES, metres

PICTURE_KEPT, PICTURE_THIN, WATCHERS_MAX, REACH_MIN, FOUND_MIN = 12, 4, 48, 20, 36
GEO_LATITUDE_MAX = 85.05112878
SLOT_LETTERS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_"
DEGREE_METRES = 111_226


@dataclass(frozen=True)
class Density:
    """How large pictures are, at whom a step looks, and how many it tells."""

    within: int
    kept: int
    most: int
    near: int
    told: int


DENSITIES = [Density(100, 6, 10, 10, 11), Density(250, 10, 16, 15, 14), Density(LIVE_METRES + 1, 12, 24, 18, 16)]


def density_within(metres):
    return next((one for one in DENSITIES if metres < one.within), DENSITIES[-1])


def slot_text(number):
    """The slot of the listener that came as this one of its cell; at the same distance the lesser comes first."""
    letters = []
    for _ in range(5):
        number, letter = divmod(number, 64)
        letters.append(SLOT_LETTERS[letter])
    return "".join(reversed(letters)).encode()


def in_redis(place):
    """The place as a sorted set keeps it: the middle of a square of 2^26 to a side."""
    def middle(value, bound):
        step = 2 * bound / 2 ** 26
        return (math.floor((value + bound) / (2 * bound) * 2 ** 26) + 0.5) * step - bound
    return middle(place[0], GEO_LATITUDE_MAX), middle(place[1], 180)


def on_a_plane(one, other):
    """Metres as the scripts measure where Redis has not: on a plane, a centimetre off in two kilometres."""
    north, east = other[0] - one[0], other[1] - one[1]
    east *= math.cos(math.radians((one[0] + other[0]) / 2))
    return math.sqrt(north * north + east * east) * EARTH_METRES * math.pi / 180


@dataclass
class Resident:
    slot: bytes
    visible: str = "everyone"
    rounding: int = 0
    place: tuple | None = None     # as kept
    there: tuple | None = None     # as a sorted set has it
    told: tuple | None = None
    picture: list = field(default_factory=list)
    reach: int = LIVE_METRES
    watchers: list = field(default_factory=list)


class Squares:
    """Users by place, so that the nearest are found without looking at all."""

    def __init__(self, side):
        self.side = side
        self.users = {}

    def _square(self, place):
        return (math.floor(place[0] * DEGREE_METRES / self.side),
                math.floor(place[1] * DEGREE_METRES * 0.6 / self.side))

    def add(self, user, place):
        self.users.setdefault(self._square(place), {})[user] = place

    def remove(self, user, place):
        del self.users[self._square(place)][user]

    def nearest(self, place, need, key):
        """At least `need` within LIVE_METRES, or all: (metres, key of the user, user), nearest first."""
        row, column = self._square(place)
        found = []
        for ring in range(int(LIVE_METRES / self.side) + 3):
            # Whoever stands in a further ring is at least this far away: a degree to the east is over 0.6 of one north.
            if ring and len([one for one in found if one[0] < (ring - 1) * self.side]) >= need:
                break
            for south in range(-ring, ring + 1):
                step = 1 if abs(south) == ring else 2 * ring
                for west in range(-ring, ring + 1, step or 1):
                    for user, there in self.users.get((row + south, column + west), {}).items():
                        # Redis tells four decimals; at the same distance the slots decide.
                        found.append((round(metres(there, place), 4), key(user), user))
        return sorted(one for one in found if one[0] <= LIVE_METRES)


class City:
    """The listeners of one cell. Each call returns what is answered and told."""

    def __init__(self, square_side):
        self.people = {}
        self.shown, self.hidden = Squares(square_side), Squares(square_side)
        self.hidden_count, self.slots_given = 0, 0
        self.blocks, self.mutes, self.followers = set(), set(), set()

    def _slot(self, user):
        return self.people[user].slot

    def may_see(self, viewer, user):
        visible = self.people[user].visible
        if (viewer, user) in self.mutes or (viewer, user) in self.blocks or (user, viewer) in self.blocks:
            return False
        return visible == "everyone" or visible == "followers" and (user, viewer) in self.followers

    def put(self, user, place, visible="everyone", rounding=0):
        """A listener says its place. Its settings are those of its first call."""
        if user not in self.people:
            self.people[user] = Resident(slot_text(self.slots_given), visible, rounding)
            self.slots_given += 1
        size = 1_000 if self.people[user].visible == "nobody" else self.people[user].rounding
        place = tuple(float(f"{degrees:.7f}") for degrees in rounded(place, size))
        return self._settle(user, place, is_told=False, is_forced=False)

    def again(self, user):
        """Rights of a listener have changed."""
        return self._settle(user, self.people[user].place, is_told=True, is_forced=True)[1]

    def _settle(self, user, place, is_told, is_forced):
        one, events = self.people[user], []
        around = self.shown.nearest(place, FOUND_MIN, self._slot)
        others = [far for far, _, other in around if other != user]
        density = density_within(others[PICTURE_KEPT - 1] if len(others) >= PICTURE_KEPT else LIVE_METRES)
        chosen = []
        for far, _, other in around:
            if len(chosen) < density.kept and other != user and self.may_see(user, other) and (
                    other in one.picture or len(self.people[other].watchers) < WATCHERS_MAX):
                chosen.append((other, far))
        is_full = len(chosen) == density.kept
        if one.visible != "nobody":
            self._show(user, place, around, density, is_forced, events)
        self._see(user, chosen, is_full, is_told, events)
        squares = self.hidden if one.visible == "nobody" else self.shown
        if one.place:
            squares.remove(user, one.there)
        else:
            self.hidden_count += one.visible == "nobody"
        one.place, one.there = place, in_redis(place)
        squares.add(user, one.there)
        return chosen, events

    def _show(self, user, place, around, density, is_forced, events):
        one = self.people[user]
        far = one.told is None or metres(one.told, place) > MOVE_METRES
        one.told = place if far else one.told
        near = around[:density.near]
        if self.hidden_count:
            wide = near[-1][0] if len(near) == density.near else LIVE_METRES
            near = sorted(near + [each for each in self.hidden.nearest(place, density.near, self._slot)
                                  if each[0] <= wide])[:density.near]
        fresh = [(viewer, distance) for distance, _, viewer in near
                 if (place != one.place or is_forced) and viewer != user and viewer not in one.watchers
                 and distance <= self.people[viewer].reach]
        staying, before = [], len(events)
        for viewer in one.watchers:
            distance = metres(self.people[viewer].there, place)
            if self.may_see(viewer, user) and distance <= self.people[viewer].reach:
                staying.append(viewer)
                if far:
                    events.append((viewer, "nearby:move", user, distance))
            else:
                other = self.people[viewer]
                other.picture.remove(user)
                if len(other.picture) < PICTURE_THIN:
                    other.reach = min(other.reach * 2, LIVE_METRES)
                events.append((viewer, "nearby:leave", user, None))
        cuts, tells = 1, len(events) - before
        for viewer, distance in fresh:
            if len(staying) >= WATCHERS_MAX or tells >= density.told:
                break
            if not self.may_see(viewer, user):
                continue
            other = self.people[viewer]
            has_room = len(other.picture) < density_within(other.reach).most
            if not has_room and cuts and other.reach >= DENSITIES[0].within:
                cuts -= 1
                has_room = self._cut(viewer, distance, events)
            if has_room:
                staying.append(viewer)
                tells += 1
                self.people[viewer].picture.append(user)
                events.append((viewer, "nearby:enter", user, distance))
        one.watchers = staying

    def _cut(self, viewer, distance, events):
        """Leaves a full picture the nearest; whether somebody at a distance is one of them."""
        other = self.people[viewer]
        order = sorted([on_a_plane(other.there, self.people[each].there) for each in other.picture] + [distance])
        most = density_within(order[PICTURE_KEPT - 1]).kept
        last = order[most - 1]
        room = most - sum(each < last for each in order)
        kept = []
        for each in other.picture:
            far = on_a_plane(other.there, self.people[each].there)
            if far < last or far == last and room > 0:
                room -= far == last
                kept.append(each)
            else:
                self.people[each].watchers.remove(viewer)
                events.append((viewer, "nearby:leave", each, None))
        other.picture, other.reach = kept, min(math.ceil(max(last, REACH_MIN)), LIVE_METRES)
        return distance < last or room > 0

    def _see(self, user, chosen, is_full, is_told, events):
        one = self.people[user]
        after = [other for other, _ in chosen]
        for other in one.picture:
            if other not in after:
                self.people[other].watchers.remove(user)
                if is_told:
                    events.append((user, "nearby:leave", other, None))
        for other, distance in chosen:
            if other not in one.picture:
                self.people[other].watchers.append(user)
                if is_told:
                    events.append((user, "nearby:enter", other, distance))
        one.picture = after
        one.reach = LIVE_METRES
        if is_full:
            one.reach = min(math.ceil(max(chosen[-1][1], REACH_MIN)), LIVE_METRES)

    def remove(self, user):
        """A listener's place is deleted, or all of the listener."""
        one, events = self.people.pop(user), []
        for viewer in one.watchers:
            other = self.people[viewer]
            other.picture.remove(user)
            if len(other.picture) < PICTURE_THIN:
                other.reach = min(other.reach * 2, LIVE_METRES)
            events.append((viewer, "nearby:leave", user, None))
        for other in one.picture:
            self.people[other].watchers.remove(user)
        (self.hidden if one.visible == "nobody" else self.shown).remove(user, one.there)
        self.hidden_count -= one.visible == "nobody"
        return events
