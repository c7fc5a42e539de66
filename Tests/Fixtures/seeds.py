"""Seeds of random tests: the same in every run of the gate, others on demand."""

import os
import random
import zlib

import pytest

VARIABLE = "SWITCHBOARD_SEED"


def seed_of(name: str) -> int:
    """The seed of the test or run with this name, which is printed; `SWITCHBOARD_SEED=n` gives every test others."""
    seed = zlib.crc32(f"{os.environ.get(VARIABLE, '1')}:{name}".encode())
    print(f"{VARIABLE}={os.environ.get(VARIABLE, '1')} gives seed {seed}")
    return seed


def seeded(name: str) -> random.Random:
    """Repeatable randomness for the test with this name."""
    return random.Random(seed_of(name))


def lives(count: int) -> list:
    """The numbers of random lives: the gate lives through the first two, `make thorough` through the others."""
    return [pytest.param(number, marks=[pytest.mark.thorough] * (number > 1)) for number in range(count)]
