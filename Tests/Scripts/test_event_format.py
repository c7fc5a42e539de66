"""The forms that scripts write and gateways read: each is written in one place, and both sides agree on vectors.

`Tests/Fixtures/vectors/event_format.json` has what the scripts make of events of every form and bound; Swift
tests read it. `GOLDEN=write` writes it anew.
"""

import json
import os
import re
from pathlib import Path

import pytest
import redis

from Fixtures.scripts.lua_scripts import LUA, NOW_MS, TEMPLATES, Keys, Scripts, built_in, script_text, templates

FIXTURE = Path(__file__).resolve().parents[1] / "Fixtures" / "vectors" / "event_format.json"
KEYS = Keys()
# The longest words.
LONGEST = {"epoch": "E" * 32, "event": "v" * 64, "id": "i" * 128, "origin": "o" * 32}
# What is published: epoch, the offset before it, event, data, id, and the session that does not want the event back.
PUBLISHED = [
    ("k3x9", 0, "queue:update", '{"n":1}', "", ""),
    ("k3x9", 1, "queue:update", '{"n": [1, {"a":null}]}', "op-1", ""),
    ("e-_Z9", 8, "A/b.c-d_e:F", "{}", "op~1.2:3_-", "s_-9"),
    ("e", 9, "e", '{\n "text": "line\\nline"\n}', "", "s"),
    ("e", 99, "e", '{"text":"\u00e9 \u20ac \U0001f642"}', "1", ""),
    (LONGEST["epoch"], 9_007_199_254_740_989, LONGEST["event"], '{"a":' + "[" * 6 + "]" * 6 + "}", LONGEST["id"],
     LONGEST["origin"]),
]
# Words of an event that scripts refuse, as gateways refuse a message with them.
REFUSED = [
    {"epoch": "E" * 33}, {"epoch": "a.b"}, {"event": ""}, {"event": "v" * 65}, {"event": "a b", "id": "- s"},
    {"event": 'a"b'}, {"id": ""}, {"id": "i" * 129}, {"id": "a#b"}, {"id": "a s t"}, {"id": "- "}, {"id": "- a.b"},
    {"id": "- " + "o" * 33}, {"data": ""}, {"data": "[]"}, {"data": '"text"'}, {"data": "{"},
]
SCRIPTS = built_in()


def compare(name, made):
    """Compares with what the fixture has under a name."""
    kept = json.loads(FIXTURE.read_text()) if FIXTURE.exists() else {}
    if os.environ.get("GOLDEN") == "write":
        FIXTURE.parent.mkdir(exist_ok=True)
        kept[name] = made
        FIXTURE.write_text(json.dumps(dict(sorted(kept.items())), indent=1) + "\n")
    assert kept[name] == made, f"GOLDEN=write writes {FIXTURE.name} anew"


def written(db, scripts, listener, epoch, before, event, data, id, origin) -> dict:
    """The forms of a publish: the message, the entry of the log, the answers to readers and to the caller."""
    db.flushall()
    if before:
        db.hset(KEYS.meta, mapping={"epoch": epoch, "offset": before, "run": scripts.run, "until": NOW_MS + 330_000})
        db.xadd(KEYS.log, {"e": "e", "d": "{}", "i": "-", "t": NOW_MS}, id=f"{before}-0")
    word = (id or "-") + (f" {origin}" if origin else "")
    reply = scripts.publish(event=event, data=data, id=word, epoch=epoch, print="ab" if id else "")
    [message] = listener()
    [(entry, fields)] = db.xrevrange(KEYS.log, count=1)
    [read] = scripts.subscribe(since=(epoch, before)).events
    return {"epoch": epoch, "offset": before + 1, "event": event, "data": data, "id": id, "origin": origin,
            "words": [event, data, word], "reply": " ".join(map(str, reply)), "message": message.decode(),
            "entry": [entry.decode(), *(text.decode() for pair in fields.items() for text in pair)],
            "read": [text.decode() for text in read]}


@pytest.mark.parametrize("quick", [True, False])
def test_both_ways_to_publish_write_the_known_forms(db, listener, quick):
    scripts = Scripts(db, quick=quick)
    compare("written", [written(db, scripts, listener, *case) for case in PUBLISHED])


def test_what_scripts_refuse_is_no_message(scripts, db):
    messages = []
    for words in REFUSED:
        all = {"epoch": "k", "event": "e", "data": "{}", "id": "-"} | words
        with pytest.raises(redis.ResponseError, match="BADARG"):
            scripts.publish(**all, print="" if all["id"] == "-" else "ab")
        assert not db.exists(KEYS.log)
        messages.append("P{epoch} 1 {event} {id}\n{data}".format(**all))
    compare("refused", messages)


def test_a_reset_is_told_by_a_message_too(scripts, listener):
    scripts.publish()
    listener()
    scripts.reset_epoch()
    compare("reset", [message.decode() for message in listener()])


@pytest.mark.parametrize("text", ["'P' ..", "1062.5", "'d', data, 'i'"])
def test_a_form_is_written_in_one_place(text):
    places = {path.name: path.read_text().count(text) for path in LUA.glob("**/*.lua")}
    assert {name: count for name, count in places.items() if count} == {f"{TEMPLATES}.lua": 1}


def test_no_script_refers_to_a_copy_of_itself():
    """Texts that had to stay the same in two files said so: what is the same now stands in one."""
    said = {path.name: re.findall(r"\b[Aa]s in \w+\.lua", path.read_text()) for path in SCRIPTS}
    assert {name: texts for name, texts in said.items() if texts} == {}


def test_every_template_is_used_by_several_scripts():
    texts = [path.read_text() for path in SCRIPTS]
    uses = {name: sum(f"inline.{name}(" in text for text in texts) for name in templates()}
    assert len(uses) >= 5 and [name for name, count in uses.items() if count < 2] == []


def test_no_use_of_a_template_is_left_in_what_redis_gets():
    assert [path.name for path in SCRIPTS if "inline." in re.sub("--.*", "", script_text(path))] == []
