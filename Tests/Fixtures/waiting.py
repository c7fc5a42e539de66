"""Waiting: for a condition with a deadline, nearly always; for time itself where time is what a test is about."""

import asyncio
import time


def eventually(condition, seconds_max: float = 5, what: str = "the condition"):
    """Returns the first true value of `condition()`; fails after `seconds_max`."""
    deadline = time.monotonic() + seconds_max
    while True:
        value = condition()
        if value:
            return value
        assert time.monotonic() < deadline, f"{what} did not come true within {seconds_max} s"
        time.sleep(0.01)  # lint:allow between two looks, with a deadline


def pass_time(seconds: float, why: str) -> None:
    """Lets time pass: for what no condition shows, such as that nothing happens for so long. `why` says what for."""
    assert why, "a reason"
    time.sleep(seconds)  # lint:allow the one way to let time pass


async def comes_true(condition, seconds_max: float) -> bool:
    """Whether the condition becomes true in that time, while other tasks go on."""
    deadline = time.monotonic() + seconds_max
    while not condition():
        if time.monotonic() > deadline:
            return False
        await asyncio.sleep(0.02)  # lint:allow between two looks, with a deadline
    return True


async def time_passes(seconds: float, why: str) -> None:
    """`pass_time` while other tasks go on."""
    assert why, "a reason"
    await asyncio.sleep(seconds)  # lint:allow the one way to let time pass
