"""Listeners for the tests of the pack `nearby`: where they are, what they send and what they hear."""

import pytest

from Fixtures.scripts.nearby_scripts import Ears, NearbyCommands

HERE = (52.5201, 13.4051)
DEGREE_METRES = 111_226
TRACK = {"trackId": "t1", "trackName": "Song", "artist": "Band", "duration": 215_000, "isPlaying": True}


@pytest.fixture
def pack(db):
    return NearbyCommands(db)


@pytest.fixture
def ears(db):
    ears = Ears(db)
    yield ears
    ears.close()


def north(distance, place=HERE):
    """The place so many metres north of another."""
    return place[0] + distance / DEGREE_METRES, place[1]


def put(pack, user, place=HERE, **more):
    """Puts a listener at the very place: geometry is tested with those who have chosen so, unless they chose else."""
    pack.db.hsetnx(f"user:{user}#listener", "rounding", "exact")
    return pack.set_location(userId=user, latitude=place[0], longitude=place[1], **more)


def ids(answer):
    return [one["id"] for one in answer["nearby"]]


def told(ears, event=None):
    return [(user, data["id"]) for user, name, data in ears.heard() if event in (None, name)]


def crowd(pack, count, place, spread, rng, user="c{:05}"):
    for number in range(count):
        there = place[0] + rng.uniform(-spread, spread), place[1] + rng.uniform(-spread, spread)
        put(pack, user.format(number), there)


def block(db, pack, user, other):
    db.sadd(f"user:{user}#blocks", other)
    db.sadd(f"user:{other}#blockers", user)
    pack.blocks_refresh(userId=user)
    pack.relay()


def mute(db, pack, user, other):
    db.sadd(f"user:{user}#mutes", other)
    db.sadd(f"user:{other}#muters", user)
    pack.mutes_refresh(userId=user)
    pack.relay()
