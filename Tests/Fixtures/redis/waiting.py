"""Waiting for what several Redis processes say, while some of them are away."""

import contextlib

import redis

from Fixtures.waiting import eventually


def until(look, seconds_max: float = 20, what: str = "what was waited for"):
    """The first true value of `look()`; a server that does not answer shows nothing."""
    def seen():
        with contextlib.suppress(redis.RedisError, OSError):
            return look()
        return None
    return eventually(seen, seconds_max, what)
