"""What the gateway makes of a call's arguments before the script runs: `@derive`."""

import itertools
import re
import uuid
from dataclasses import dataclass


@dataclass
class Derived:
    """A value made for a call: `NAME = geohash(LATITUDE, LONGITUDE, LENGTH)`, `NAME = uuid(PREFIX)` or
    `NAME = address()`."""

    name: str
    latitude: str = ""
    longitude: str = ""
    length: int = 0
    prefix: str = ""
    is_address: bool = False

    numbers = itertools.count(1)

    @classmethod
    def read(cls, text: str) -> "Derived":
        if made := re.fullmatch(r"(\w+) *= *uuid\((.*)\)", text):
            return cls(made[1], prefix=made[2].strip())
        if made := re.fullmatch(r"(\w+) *= *address\(\)", text):
            return cls(made[1], is_address=True)
        name, *words, length = re.fullmatch(r"(\w+) *= *geohash\((\w+) *, *(\w+) *, *(\d+)\)", text).groups()
        return cls(name, *words, int(length))

    def value(self, values: dict) -> str:
        if self.is_address:
            return values.get("address") or "none"
        if self.length:
            return geohash(float(values[self.latitude]), float(values[self.longitude]), self.length)
        return self.prefix + str(uuid.UUID(int=next(Derived.numbers) << 64, version=4))


def geohash(latitude: float, longitude: float, length: int) -> str:
    """The name of the cell of a place (base 32, longitude first)."""
    bounds, text = [[-180.0, 180.0], [-90.0, 90.0]], ""
    for place in range(length):
        digit = 0
        for step in range(5):
            axis = (place * 5 + step) % 2
            value, (low, high) = (longitude, latitude)[axis], bounds[axis]
            middle = (low + high) / 2
            digit = digit * 2 + (value >= middle)
            bounds[axis] = [middle, high] if value >= middle else [low, middle]
        text += "0123456789bcdefghjkmnpqrstuvwxyz"[digit]
    return text


def folded(fold, value):
    """An argument in its one spelling; a list has those of its texts, and nothing stays nothing."""
    if isinstance(value, list):
        return [folded(fold, each) for each in value]
    if fold == "pair" and isinstance(value, str) and value.count("_") == 1 and value[-1] != "_":
        return "_".join(sorted(value.split("_"), key=str.encode))
    return value.lower() if fold == "lower" and isinstance(value, str) else value
