"""Every script states its contract, is embedded, and names no key of its own."""

import re

import pytest

from Fixtures.scripts.lua_scripts import LUA, script_names, script_path, source

GUIDE = [LUA.parent / "docs" / "scripts" / name for name in ("builtin.md", "barbershop.md")]

SHARED = {"prelude", "writes", "checks", "values", "command", "run", "outside", "elsewhere", "looked", "quick", "moved"}
PLAIN = {"publish", "subscribe", "history", "replay", "position", "lease", "renew", "reset_epoch", "revoke",
         "rights_changes", "set_member", "here_change", "here_nodes", "here_read", "resolve", "look",
         "expire_calls", "outbox_done", "outbox_put", "outbox_figures", "ask", "keep_answer", "key_digest",
         "dead_letters", "retry_call", "retry_webhook", "seal"}
# Leases of several machines need one clock: Redis's.
TIMED = {"command", "lease", "revoke", "set_member", "here_nodes", "expire_calls", "ask", "keep_answer",
         "outbox_figures", "seal", "look", "moved"}
FILES = [name for name in script_names() if name not in SHARED]
BODIES = [name for name in FILES if not name.startswith("part_")]
COMMANDS = [name for name in BODIES if name not in PLAIN and not name.startswith("state_")]
TAGS = {"command", "summary", "http", "allow", "arg", "key", "topic", "calls", "steps", "emits", "returns", "errors",
        "cost", "state", "weight", "rate", "derive", "resolve", "span", "readonly", "idempotent", "random", "refresh",
        "coalesce", "heartbeat", "include", "erases", "exports", "members", "call_out", "type"}


def header(name):
    """The leading comment lines and the (tag, text) pairs in them."""
    lines = []
    for line in script_path(name).read_text().splitlines():
        if not line.startswith("--"):
            break
        lines.append(line)
    return lines, re.findall(r"^-- @(\w+) +(.+)$", "\n".join(lines), re.M)


@pytest.mark.parametrize("name", BODIES)
def test_header_has_every_tag(name):
    lines, tags = header(name)
    names = [tag for tag, _ in tags]
    assert names[0] == ("command" if "command" in names else "summary")
    for needed in ("summary", "key", "returns", "cost", "weight"):
        if needed == "key" and "topic" in names:
            continue  # it only tells
        assert needed in names, f"{name}.lua has no @{needed}"
    assert set(names) <= TAGS, f"{name}.lua has an unknown tag"
    if name in COMMANDS:
        return  # its keys have names, not numbers
    first = 3 if "state" in names else 1
    listed = re.findall(r"^-- KEYS\[(\d+)\] +(\w+)", "\n".join(lines), re.M)
    keys = [text.split()[0] for tag, text in tags if tag == "key"]
    assert listed == [(str(first + index), key) for index, key in enumerate(keys)]


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_writes_by_the_prelude_only(name):
    body = "\n".join(line for line in script_path(name).read_text().splitlines() if not line.startswith("--"))
    _, tags = header(name)
    for tag, part in tags:
        if tag == "include":
            body += script_path(f"part_{part}").read_text()
    assert "redis." not in body and "KEYS" not in body and "ARGV" not in body
    declared = {words.split()[0] for tag, text in tags if tag == "errors" for words in text.split(",")}
    assert set(re.findall(r"fail\('(\w+)'", body)) == declared - {"bad_request"} | (
        {"bad_request"} if "fail('bad_request'" in body else set())


@pytest.mark.parametrize("name", [name for name in BODIES if name not in COMMANDS])
def test_errors_are_declared(name):
    _, tags = header(name)
    declared = set(re.findall(r"[A-Z]{3,}", " ".join(text for tag, text in tags if tag == "errors")))
    raised = set(re.findall(r"refuse\('([A-Z]+)'", script_path(name).read_text()))
    assert raised <= declared


@pytest.mark.parametrize("name", FILES)
def test_script_is_described(name):
    assert f"`{name}.lua`" in "".join(page.read_text() for page in GUIDE)


@pytest.mark.parametrize("name", sorted(SHARED) + FILES)
def test_text_is_plain(name):
    text = script_path(name).read_text()
    assert text.isascii() and text.endswith("\n") and "\t" not in text
    assert max(map(len, text.splitlines())) <= 120
    banned = r"math\.random|os\." if name in TIMED else r"redis\.call\('TIME'|math\.random|os\."
    assert not re.search(banned, text), "time and chance are arguments"


def test_every_script_compiles(db, commands):
    for name in BODIES:
        if name in COMMANDS:
            text = commands.text(name)
        else:
            text = source(name, "subscribe") if name.startswith("state_") else source(name)
        assert len(db.script_load(text)) == 40


def test_scripts_touch_only_the_keys_they_are_given(scripts, db):
    """MONITOR shows every command of a script; its key is always one of KEYS."""
    with db.monitor() as monitor:
        scripts.publish(id="op-1")
        scripts.publish(log_max=0)
        scripts.publish(run="another")
        epoch, offset, _ = scripts.publish(run="another")
        scripts.subscribe(since=(epoch, offset - 1), run="another", state="shop")
        scripts.subscribe(topic="shop:43", state="shop")
        scripts.history(run="another")
        scripts.position(run="another")
        db.echo("end")
        seen = []
        for entry in monitor.listen():
            if entry["command"].startswith("ECHO"):
                break
            if entry["client_type"] == "lua":
                seen.append(entry["command"].split())
    allowed = {"shop:42#log", "shop:42#meta", "shop:42#seen#user:u1#op-1", "queue:42",
               "shop:43#log", "shop:43#meta", "queue:43",
               *(f"shop:{shop}#{part}" for shop in (42, 43) for part in ("status", "bookings", "barbers"))}
    assert {words[1] for words in seen if words[0] != "PUBLISH"} <= allowed
    assert {words[1] for words in seen if words[0] == "PUBLISH"} == {"shop:42"}
    assert {words[0] for words in seen} == {
        "HMGET", "GET", "TYPE", "XADD", "HSET", "EXPIRE", "DEL", "SET", "PUBLISH", "XRANGE", "XREVRANGE", "XLEN",
        "TTL", "HLEN", "SCARD", "RENAME"}
    assert {words[2] for words in seen if words[0] == "RENAME"} == {"shop:42#log-past"}, "beside the log it was"
