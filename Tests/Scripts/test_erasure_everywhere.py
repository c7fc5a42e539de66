"""A user of all packs is erased, and then looked for in every key of Redis: names, values of every type, and logs.

What is left must be listed in docs/erasure.md with its time to live. Each command has a sample call in erasure_fill.py.
"""

import json
import re
from pathlib import Path

import pytest

from Fixtures.scripts.command_scripts import Header
from Fixtures.scripts.erasure_fill import ID_WORD, ME, SAMPLES, TEXT_WORD, TITLE_WORD, TOKEN_WORD, Fill, gateways_part
from Fixtures.scripts.lua_scripts import LUA, built_in
from Fixtures.scripts.outbox_order import PACKS

DOCS = Path(__file__).resolve().parents[2] / "docs" / "erasure.md"
ROUNDS = 3
SECONDS = {"minute": 60, "hour": 3_600, "day": 86_400, "week": 604_800, "year": 31_622_400}


def headers():
    return {path.stem: Header.read(path) for path in built_in()}


def listed():
    """The table of docs/erasure.md: (keys, pattern, seconds or None where others end it, what, cells)."""
    rows = []
    for line in DOCS.read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| `") and len(cells) == 4:
            life = re.match(r"(\d+|an?|`log\.seconds`) ?(minute|hour|day|week|year)?", cells[2])
            seconds = None
            if life and life[1] == "`log.seconds`":
                seconds = 86_400 * 9 // 8 + 60 + (86_400 if "and a day" in cells[2] else 0)
            elif life:
                seconds = SECONDS[life[2]] * (1 if life[1] in ("a", "an") else int(life[1]))
            for key in re.findall(r"`([^`]+)`", cells[0]):
                pattern = "[^#]*".join(map(re.escape, key.split("*")))
                rows.append((key, re.compile(pattern), seconds, cells[1], cells))
    return rows


def words(value):
    """The bytes in a reply of Redis, however deep."""
    if isinstance(value, dict):
        value = [*value.keys(), *value.values()]
    if isinstance(value, (list, tuple, set)):
        return [word for each in value for word in words(each)]
    return [value if isinstance(value, bytes) else str(value).encode()]


def found(db, word):
    """The keys that have a word in their name or value."""
    reads = {b"string": db.get, b"hash": db.hgetall, b"set": db.smembers, b"list": lambda key: db.lrange(key, 0, -1),
             b"zset": lambda key: db.zrange(key, 0, -1), b"stream": db.xrange}
    return sorted(key.decode() for key in db.keys("*") if any(
        word.encode() in each for each in [key, *words(reads[db.type(key)](key))]))


def refreshed(road, names):
    """What the worker's refreshes do for keys of these names, until nothing is left to do."""
    templates = {name: header.tag("refresh") for name, header in headers().items() if header.is_refresh}
    for name, template in templates.items():
        if not road.commands.path(name).exists():
            continue
        variable = re.search(r"\{(\w+)\}", template)[1]
        pattern = re.compile(re.sub(r"\\\{\w+\\\}", "([^#]+)", re.escape(template)))
        for key in sorted(names):
            if match := pattern.fullmatch(key):
                road.refresh(name, key.split("#")[0], **{variable: match[1]})
    road.relay()


def key_names(db):
    return {key.decode() for key in db.keys("*")}


@pytest.fixture
def filled(db):
    fill = Fill(db)
    for name, sample in SAMPLES.items():
        sample(fill)
    gateways_part(fill)
    for _ in range(ROUNDS):
        refreshed(fill.road, key_names(db))
    return fill


def test_every_command_has_a_sample():
    """A new command that keeps something of its caller is in the proof, or this fails."""
    known = {name for name, header in headers().items()
             if header.tag("command") is not None and header.tag("allow") != "worker"}
    assert known == set(SAMPLES)


def test_what_an_erasure_leaves_is_listed_and_ends(filled, db):
    """Texts stood for a day in the logs of others, ids for a year in their lists, and for ever in their mutes."""
    road, names = filled.road, key_names(db)
    assert len(found(db, ID_WORD)) > 150 and len(found(db, TEXT_WORD)) > 20 and found(db, TOKEN_WORD)
    road.erase(ME, *PACKS)
    road.relay()
    for _ in range(ROUNDS):
        refreshed(road, names | key_names(db))
    rows, used, wrong = listed(), set(), []
    left = {word: found(db, word) for word in (ID_WORD, TEXT_WORD, TITLE_WORD, TOKEN_WORD)}
    for word, keys in left.items():
        for key in keys:
            row = next((row for row in rows if row[1].fullmatch(key) and allows(row, word)), None)
            life = db.ttl(key)
            if row is None or row[2] is not None and not 0 <= life <= row[2]:
                wrong.append((word, key, life, row and row[0]))
            else:
                used.add(row[0])
    assert wrong == []
    # What steps between the ids of a Cluster leave is searched for in test_sagas.py.
    unused = {row[0] for row in rows if not row[3].startswith("on a Redis Cluster")} - used
    assert unused == set(), "rows of the table that nothing is left of"


def allows(row, word):
    """Whether a row says that such words may stay."""
    return {ID_WORD: True, TEXT_WORD: "texts" in row[3], TITLE_WORD: "titles" in row[3], TOKEN_WORD: False}[word]


def test_the_answer_says_what_the_table_says():
    """`keeps` of each pack.json, which the answer of an erasure has, row by row."""
    told = {(pack.parent.name, item["keys"], item["what"], item["until"])
            for pack in LUA.glob("*/pack.json") for item in json.loads(pack.read_text()).get("keeps", [])}
    rows = {(cells[3], cells[0].replace("`", ""), cells[1], cells[2]) for *_, cells in listed()}
    assert told == {row for row in rows if row[0] != "gateway"}
