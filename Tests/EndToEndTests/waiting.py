"""Waiting for a condition with a deadline; no test sleeps for a fixed time."""

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
