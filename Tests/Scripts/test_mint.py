"""mint: what a script may have the gateway sign, and that no caller chooses whose token it is."""

import pytest
import redis

from Fixtures.scripts.command_scripts import Commands
from Fixtures.scripts.lua_scripts import NOW_MS, parts_of

HEADER = """-- @command  try
-- @summary  For these tests.
-- @allow    user|service
-- @arg      sessionId id
-- @arg      who       string 0..200 optional
-- @key      box       session:{sessionId}#box
-- @mint     session:{sessionId} 6 h
-- @random
-- @returns  {}
-- @cost     O(1)
"""
DIGITS = "0123456789abcdef0123456789abcdef"
NOW = NOW_MS // 1000


@pytest.fixture
def mint(db, tmp_path):
    """Runs a body; returns the whole reply."""

    def run(body, header=HEADER, **options):
        (tmp_path / "try.lua").write_text(header + "\n" + body + "\n")
        commands, replies = Commands(db, tmp_path), []
        evaluate = db.evalsha
        db.evalsha = lambda *words: replies.append(evaluate(*words)) or replies[-1]
        try:
            commands.call("try", **{"sessionId": "7", "user": "ann", "role": "user", "random": DIGITS, **options})
        finally:
            db.evalsha = evaluate
        return parts_of(replies[-1])

    return run


@pytest.mark.parametrize("body, subject, flag", [
    ("mint()", "ann", 0), ("mint(nil, {anonymous = true})", "ann", 1), ("mint('ann')", "ann", 0),
    ("mint('guest')", f"guest:{DIGITS}", 1), ("mint('guest:' .. random)", f"guest:{DIGITS}", 1),
    ("mint('01234567-89AB-CDEF-0123-456789ABCDEF')", "01234567-89AB-CDEF-0123-456789ABCDEF", 1),
])
def test_the_subject_is_the_caller_or_somebody_new(mint, body, subject, flag):
    reply = mint(f"return {{subject = {body}}}")
    assert reply[0] == b'{"subject":"%s"}' % subject.encode()
    assert reply[3] == f"{subject} {flag} {NOW} {NOW + 6 * 3600} m-{DIGITS}".encode()


@pytest.mark.parametrize("use", [
    "mint(args.who)", "mint('guest:' .. args.who)", "mint('guest:1')", "mint('bob')", "mint(5)", "mint(random .. 'x')",
    "mint() mint()", "mint() do return {token = 'mine'} end",
])
def test_nobody_else_can_be_named(mint, unchanged, use):
    with unchanged(), pytest.raises(redis.ResponseError, match="FAULT"):
        mint(f"write('SET', key.box, 1) {use} return {{}}", who="bob")


def test_a_uuid_of_the_call_is_somebody_new(mint, unchanged):
    """What @derive has made names keys before the script runs, and is nobody's yet; a place on the map is no user."""
    derived = HEADER.replace("-- @mint", "-- @derive   newId = uuid(guest:)\n-- @derive   oldId = uuid()\n-- @mint")
    reply = mint("return {subject = mint(args.newId)}", header=derived)
    subject, flag = reply[3].split()[:2]
    assert subject.startswith(b"guest:") and len(subject) == 42 and flag == b"1"
    assert mint("return {subject = mint(args.oldId)}", header=derived)[3].split()[1] == b"1"
    with unchanged(), pytest.raises(redis.ResponseError, match="the subject is nil"):
        mint("mint(args.who) return {}", header=derived, who="bob")
    place = HEADER.replace("-- @mint", "-- @arg      north number -90..90\n-- @arg      east number -180..180\n"
                           "-- @derive   cell = geohash(north, east, 5)\n-- @mint")
    with unchanged(), pytest.raises(redis.ResponseError, match="the subject is nil"):
        mint("mint(args.cell) return {}", header=place, north=1, east=2)


def test_without_the_tag_there_is_no_token(mint, unchanged):
    with unchanged(), pytest.raises(redis.ResponseError, match="@mint"):
        mint("mint() return {}", header=HEADER.replace("-- @mint     session:{sessionId} 6 h\n", ""))
    assert len(mint("return {}")) == 3


def test_a_retry_gets_the_same_token(mint):
    """The answer was remembered without it."""
    first = mint("mint('guest') return {n = 1}", id="op-1")
    again = mint("mint('guest') return {n = 1}", id="op-1", random="f" * 32, now_ms=NOW_MS + 60_000)
    assert again == [first[0], 1, 0, first[3]]
