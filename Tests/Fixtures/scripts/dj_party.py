"""A DJ session with people in it, and what tests say to it."""

import pytest

from Fixtures.scripts.command_scripts import Failed
from Fixtures.scripts.dj_model import SHOP
from Fixtures.scripts.lua_scripts import NOW_MS

TOPIC = f"dj:{SHOP}"


@pytest.fixture
def party(commands, db):
    """A running session; ann, bob and cas are there."""
    db.zadd(f"shop:{SHOP}#presence", {user: NOW_MS + 90_000 for user in ("ann", "bob", "cas")})
    commands.start_session(shopId=SHOP, random="a" * 32)
    return commands


def failure(call, *arguments, **options):
    with pytest.raises(Failed) as failed:
        call(*arguments, **options)
    return failed.value.code, failed.value.message


def add(commands, track, user="ann", **more):
    return commands.add_track(user=user, role="user", shopId=SHOP, trackId=track, **more)


def vote(commands, track, vote, user="ann", **more):
    return commands.vote(user=user, role="user", shopId=SHOP, trackId=track, vote=vote, **more)


def standing(answer):
    return tuple(answer[name] for name in ("upvotes", "downvotes", "score", "position"))
