"""The streams of the outbox, as an operator would look at them."""

LANES = 16


def names(prefix: str = "") -> list[str]:
    """The streams on plain names: of each lane what commands left there, and what calls of the worker did."""
    lanes = ["", *(f":{lane}" for lane in range(1, LANES))]
    return [f"{prefix}#outbox{lane}{end}" for end in ("", ":next") for lane in lanes]


def waiting(db, prefix: str = "") -> int:
    """How many entries wait in all streams."""
    with db.pipeline(transaction=False) as pipe:
        for name in names(prefix):
            pipe.xlen(name)
        return sum(pipe.execute())


def clear(db) -> None:
    """Deletes what waits, and what is counted of it."""
    db.delete(*names(), *(f"{name}:payers" for name in names()))
