"""A listening session at its limits: 500 who take part, a queue of 80 songs and 40 KiB, 200 songs that are over."""

import json

from weight_cases import Site
from weight_site import kept

ID = "5f0c2b1e-0000-4000-8000-000000000001"
DAY_MS = 86_400_000
PEOPLE, SONGS, SONGS_MAX = 500, 80, 16_384
MONTH_MS = 30 * DAY_MS


def song(number: int, size: int = 510) -> str:
    """The stored text of a song, of so many bytes."""
    told = {"id": f"5f0c2b1e-0000-4000-8000-{number:012}", "added_at": "2026-11-20T20:03:20.123Z",
            "added_by": {"id": f"u{number % 4}", "username": "Ann", "is_anonymous": False},
            "song": {"id": "4uLU6hMCjMI75M1A2tKUQC", "isrc": "GBARL9300135", "name": "n", "artists": ["A", "B"],
                     "album": "a" * 20, "duration_ms": 213_573, "image_url": "https://i/1", "source": "spotify"}}
    told["song"]["name"] = "n" * (size - len(json.dumps(told, separators=(",", ":"))) + 1)
    return json.dumps(told, separators=(",", ":"))


@kept
def listening(site: Site, songs: int = SONGS, people: int = PEOPLE, skips: int = 200) -> None:
    """A session that u0 hosts, that u1 to u499 take part in."""
    commands, db = site.commands, site.db
    # Times in keys are Redis's own: what ends must end behind its clock.
    commands.now_ms += 12 * MONTH_MS
    now = commands.now_ms
    key = f"session:{ID}#"
    db.hset(key + "session", mapping={
        "created": now, "ends": now + DAY_MS, "code": "party", "host": "u0", "host_note": "abc - Ann", "locked": 0,
        "paused": 0, "sequence": songs + 1, "bytes": 510 * songs, "added": now, "current": json.loads(song(0))["id"],
        "votes": 3, "crowd": 0, "finished": 300})
    db.set("joincode:party", ID)
    site.fill(lambda pipe, n: pipe.hset(key + "people", f"u{n}", "abc - Somebody"), people)
    site.fill(lambda pipe, n: pipe.sadd(key + "members", f"u{n}"), people)
    site.fill(lambda pipe, n: pipe.sadd(key + "skips", f"u{n + 100}"), skips)
    here = {"session": ID, "tag": "abc", "code": "party"}
    site.fill(lambda pipe, n: pipe.hset(f"user:u{n}#listening", mapping=here), people)
    for number in range(songs + 1):
        id = json.loads(song(number))["id"]
        db.hset(key + "songs", id, song(number))
        if number:
            db.zadd(key + "order", {id: (number % 7 - 3) * SONGS_MAX - number})
        db.hset(key + "ballots#u1", id, 1)
    # Those whose songs wait, and u1 who writes, block as many as possible and are blocked by more than a list takes.
    for number in range(4):
        blocked = "".join(f"{n:08}-{'b' * 27} " for n in range(240))
        blockers = "".join(f"{n:08}-{'c' * 27} " for n in range(110))
        db.hset(key + "apart", mapping={f">u{number}": blocked, f"<u{number}": blockers + "*"})
    db.hset(key + "adders", mapping={f"u{n}": 20 for n in range(4)})
    for number in range(101, 301):
        db.hset(key + "history", number, song(number, 1_200)[:-1] + ',"status":"played","votes":3}')
    for number in range(100):
        db.lpush(key + "chat", json.dumps({"id": f"{number:032}", "text": "x" * 500, "sent_at": "2026",
                                           "user": {"id": "u1", "username": "Ann", "is_anonymous": False}}))
    for number in range(50):
        db.hset(key + "tickets", f"{number:032}", now + 1_000)


def fresh(n: int) -> str:
    return f"{n * 2_654_435_761 % 2**32:08x}" * 4
