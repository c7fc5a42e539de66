"""`switchboard test`: the tests of packs are played in a Redis of their own; each outcome is told with its place."""

import json
import os
import re
import signal
import subprocess
import tempfile
from pathlib import Path

import pytest

from Fixtures.apps.operator_scripts import examples, script, write_scripts
from Fixtures.processes.node import BINARY, ENVIRONMENT
from Fixtures.waiting import eventually

ROOT = Path(__file__).resolve().parents[2]
PACKS = sorted(path for path in (ROOT / "Tests" / "Packs").iterdir() if (path / "tests").is_dir())
SECONDS_MAX = 50


def played(*arguments, **environment):
    """Runs the command; returns its exit code, and what it said on both outputs."""
    answer = subprocess.run(
        [BINARY, "test", *(str(argument) for argument in arguments)], capture_output=True, text=True,
        timeout=SECONDS_MAX, env=ENVIRONMENT | environment, check=False)
    return answer.returncode, answer.stdout, answer.stderr


def blocks(page, language):
    """The samples of a page in one language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", (ROOT / "docs" / "scripts" / page).read_text(), re.M | re.S)


def pack(directory, cases, scripts=None, **more):
    """A pack with these cases in `tests/a.json`; returns its directory."""
    write_scripts(directory, **(scripts or {"put": PUT}))
    (directory / "tests").mkdir(exist_ok=True)
    text = cases if isinstance(cases, str) else json.dumps({"cases": cases, "as": "user:ann"} | more, indent=1)
    (directory / "tests" / "a.json").write_text(text)
    return directory


def case(*steps, name="a case"):
    return {"name": name, "steps": list(steps)}


PUT = script(
    "put", "write('HSET', key.box, args.name, args.size)\n"
    "emit('shop:' .. args.shopId, 'box:put', {name = args.name, size = args.size})\n"
    "return {name = args.name, size = args.size, at = iso(now_ms)}",
    arg=["shopId id", "name string 1..9", "size int 1..9"], emits="box:put {name: string, size: int}",
    returns="{name: string, size: int, at: string}")
CALL = {"call": "put", "with": {"shopId": "1", "name": "a", "size": 2}}


# Packs of the repository


@pytest.mark.parametrize("directory", PACKS, ids=lambda path: path.name)
def test_the_tests_of_a_built_in_pack_pass(directory):
    code, said, errors = played(directory, "--packs", directory.name)
    assert (code, errors) == (0, ""), said + errors
    assert re.search(r"^\d+ cases: all passed$", said, re.M), said


def test_the_tests_of_an_apps_pack_pass():
    code, said, errors = played(ROOT / "Tests" / "Fixtures" / "apps" / "sixth_app", "--packs", "none")
    assert (code, errors) == (0, ""), said + errors
    assert said.endswith("3 cases: all passed\n")


# The guide


def test_the_guides_reminders_are_told_when_they_are_due(tmp_path):
    named = {}
    for text in blocks("later.md", "lua"):
        command = re.search(r"^-- @command +(\w+)$", text, re.M)
        named[command[1] if command else "reminders_refresh"] = text
    assert len(named) == 4
    directory = pack(tmp_path / "reminders", blocks("later.md", "json")[0], named)
    code, said, errors = played(directory)
    assert (code, errors) == (0, ""), said + errors
    assert said.endswith("6 cases: all passed\n")


def test_a_refresh_that_asks_for_no_time_is_noted(tmp_path):
    """The sweep at the end of a `wait` hid it: the tests passed, and reminders came minutes late."""
    named = {f"script{number}": text for number, text in enumerate(blocks("later.md", "lua")) if "@command" in text}
    [refresh] = [text for text in blocks("later.md", "lua") if "@command" not in text]
    broken = refresh.replace(", again_ms = integer(rest[2], 0, INTEGER_MAX)}", "}")
    assert broken != refresh
    for text, notes in ((refresh, 0), (broken, 3)):
        tests = blocks("later.md", "json")[0]
        directory = pack(tmp_path / f"reminders{notes}", tests, named | {"reminders_refresh": text})
        code, said, errors = played(directory)
        assert (code, errors) == (0, ""), said + errors
        found = re.findall(r"^  .*/tests/a\.json:(\d+)  note: .*again_ms$", said, re.M)
        assert len(found) == notes, said
        assert all('"reminder.due"' in tests.splitlines()[int(line) - 1] for line in found), said


def test_the_guides_first_test_passes_and_tells_a_broken_script(tmp_path):
    lend = examples()["lend_umbrella"]
    directory = pack(tmp_path / "umbrellas", blocks("testing.md", "json")[0], {"lend_umbrella": lend})
    code, said, errors = played(directory)
    assert (code, errors) == (0, ""), said + errors
    broken = lend.replace("if not back and lent >= UMBRELLAS then", "if not back and lent > UMBRELLAS then")
    assert broken != lend
    (directory / "lend_umbrella.lua").write_text(broken)
    code, said, errors = played(directory)
    assert code == 1, said + errors
    lines = said.splitlines()
    text = (directory / "tests" / "a.json").read_text().splitlines()
    line = 1 + next(number for number, row in enumerate(text) if "none_left" in row)
    assert lines[0].startswith("ok ") and lines[1].startswith("FAILED ") and "only twelve umbrellas" in lines[1]
    assert lines[2].split() == [f"{directory}/tests/a.json:{line}", "error"]
    assert lines[3].split() == ["expected", "none_left"] and lines[4].split()[:3] == ["found", "the", "answer"]
    assert lines[-1] == "2 cases: 1 failed"


def test_the_check_finds_a_wrong_argument_of_later(tmp_path):
    """It passed, and became a dead letter once the worker made the call."""
    friend = next(text for text in blocks("later.md", "lua") if "@command  remind_friend" in text)
    rest = {"remind_me": next(text for text in blocks("later.md", "lua") if "@command  remind_me" in text)}
    wrong = friend.replace("later('remind_me', {userId", "later('remind_me', {user")
    assert wrong != friend
    write_scripts(tmp_path / "pack", remind_friend=wrong, **rest)
    answer = subprocess.run(
        [BINARY, "check", "--scripts", tmp_path / "pack", "--redis", "redis://127.0.0.1:1"], capture_output=True,
        text=True, timeout=SECONDS_MAX, env=ENVIRONMENT, check=False)
    line = 1 + next(number for number, row in enumerate(wrong.splitlines()) if "later(" in row)
    place = re.escape(f"{tmp_path / 'pack'}/remind_friend.lua:{line}: later: ")
    assert answer.returncode == 1
    assert re.search(place + '"user" is no argument of remind_me', answer.stdout), answer.stdout
    assert re.search(place + "'userId' of remind_me is missing", answer.stdout), answer.stdout


# Outcomes


@pytest.mark.parametrize("step, told", [
    (CALL | {"answer": {"size": 3}}, ["answer.size", "expected  3", "found     2"]),
    (CALL | {"answer": {"sise": 2}}, ["answer.sise", "found     nothing"]),
    (CALL | {"answer": {"at": "$now+1s"}}, ["answer.at", "2030-01-01T00:00:01.000Z", "2030-01-01T00:00:00.000Z"]),
    (CALL | {"error": "conflict"}, ["error", "expected  conflict", "found     the answer {"]),
    (CALL | {"events": []}, ["events", "expected  no events", 'shop:1 box:put {"name":"a","size":2}']),
    (CALL | {"events": [{"topic": "shop:1", "event": "box:put", "data": {"size": 3}}]}, ["events[0].data.size"]),
    (CALL | {"eventsInclude": [{"topic": "shop:2", "event": "box:put"}]}, ["eventsInclude", "shop:2 box:put"]),
    (CALL | {"dead": ["put"]}, ["what the worker gave up", "expected  put", "found     nothing"]),
    ({"call": "put", "with": {"shopId": "1"}}, ["answer", "the error bad_request: 'name' is missing"]),
    ({"call": "putt"}, ["not_found: there is no command putt; did you mean put?"]),
    ({"call": "put", "as": "usr:x", "with": {}}, ['"usr:x" is no caller']),
    ({"key": "shop:1#box", "value": {"a": "2"}}, ["shop:1#box", "found     null"]),
    ({"join": "shop"}, ['"shop" is no topic']),
    ({"call": "put", "with": {"shopId": "$shop"}}, ["no earlier step has named $shop"]),
    ({"service": "music", "reply": {}}, ["no call of the service music waits"]),
    ({"redis": ["HGET", "a"]}, ["wrong number of arguments"]),
])
def test_another_outcome_is_told_with_its_place(tmp_path, step, told):
    directory = pack(tmp_path / "boxes", [case(step), case(CALL, name="another")])
    code, said, errors = played(directory)
    assert code == 1, said + errors
    assert f"FAILED  {directory}/tests/a.json:" in said and "a.json:" in said.splitlines()[1]
    for text in told:
        assert text in said, said
    assert said.splitlines()[-2].endswith("another") and said.endswith("2 cases: 1 failed\n")


def test_values_that_scripts_make_have_names_in_later_steps(tmp_path):
    keep = script(
        "keep",
        "local id = 'n' .. string.sub(random, 1, 8)\nwrite('SET', key.box, id)\nreturn {id = id, list = array({1, 2})}",
        random="", returns="{id: string, list: [int]}")
    directory = pack(tmp_path / "made", [case(
        {"call": "keep", "as": "service", "with": {"shopId": "1"}, "answer": {"id": "$id", "list": [1, 2.0]}},
        {"key": "shop:1#box", "value": "$id"},
        {"call": "put", "with": {"shopId": "${id}", "name": "a", "size": 2},
         "events": [{"topic": "shop:${id}", "event": "box:put", "data": {"name": "a"}}]},
        {"key": "shop:1#box", "value": "$other"}, {"key": "shop:1#box", "value": "$$other"})],
        {"keep": keep, "put": PUT})
    code, said, errors = played(directory)
    # The last step alone is wrong: it expects the text "$other".
    assert code == 1 and "expected  \"$other\"" in said and said.count("expected") == 1, said + errors


def test_only_wanted_cases_are_played(tmp_path):
    directory = pack(tmp_path / "boxes", [case(CALL, name="First box"), case(CALL | {"error": "full"}, name="second")])
    code, said, _ = played(directory, "--filter", "first")
    assert code == 0 and said.splitlines()[-1] == "1 case: all passed" and "second" not in said
    code, said, errors = played(directory, "--filter", "third")
    assert (code, said) == (2, "") and errors.strip().endswith('has "third" in its name')


# Time


@pytest.mark.parametrize("now", ["2001-01-01T00:00:00Z", "2090-01-01T00:00:00Z"])
def test_keys_end_by_the_time_of_the_test(tmp_path, now):
    """A moment that a write names was compared with Redis's own clock, so such a key ended at once or never."""
    ends = script(
        "ends", "write('SET', key.moment, 'x', 'PXAT', now_ms + 60000)\nwrite('SET', key.second, 'x', 'EXAT', "
        "math.floor(now_ms / 1000) + 60)\nwrite('SET', key.span, 'x', 'EX', 60)\nwrite('SET', key.later, 'x')\n"
        "write('PEXPIREAT', key.later, now_ms + 60000)\nreturn {}",
        key=[f"{name} shop:{{shopId}}#{name}" for name in ("moment", "second", "span", "later")])
    names = [f"shop:1#{name}" for name in ("moment", "second", "span", "later")]
    there = [{"key": name, "value": "x"} for name in names]
    gone = [{"key": name, "value": None} for name in names]
    directory = pack(tmp_path / "ends", [case(
        {"call": "ends", "with": {"shopId": "1"}}, *there, {"wait": "50s"}, *there, {"wait": "10s"}, *gone)],
        {"ends": ends}, now=now)
    code, said, errors = played(directory)
    assert code == 0, said + errors


def test_a_refresh_runs_when_a_key_changes_ends_or_is_due(tmp_path):
    watch = ("-- @summary  S.\n-- @refresh  shop:{shopId}#box\n-- @arg shopId id\n-- @key box shop:{shopId}#box\n"
             "-- @key count shop:{shopId}#count\n-- @returns {again_ms?: int, idle: bool}\n-- @cost O(1)\n"
             "-- @weight 10\n\nwrite('RPUSH', key.count, iso(now_ms))\n"
             "local left = read('PTTL', key.box)\n"
             "if left < 0 then return {idle = true} end\nreturn {idle = false, again_ms = now_ms + 20000}\n")
    keep = script("keep", "write('SET', key.box, 'x', 'EX', 50)\nreturn {}")
    at = [f"2030-01-01T00:00:{second}.000Z" for second in ("00", "20", "40", "50")]
    directory = pack(tmp_path / "watched", [case(
        {"call": "keep", "with": {"shopId": "1"}}, {"key": "shop:1#count", "value": at[:1]},
        {"wait": "1m"}, {"key": "shop:1#count", "value": at})], {"watch": watch, "keep": keep})
    code, said, errors = played(directory)
    assert code == 0, said + errors


def test_keys_keep_their_lives_while_the_clock_of_redis_goes_on(tmp_path):
    """A key of 50 s had a second less after steps that took a second, so it ended before its time."""
    keep = script("keep", "write('SET', key.box, 'x', 'EX', 50)\nreturn {}")
    second = [{"redis": ["WAIT", "1", "100"]}] * 10
    directory = pack(tmp_path / "held", [case(
        {"call": "keep", "with": {"shopId": "1"}}, *second, {"wait": "49200ms"}, {"key": "shop:1#box", "value": "x"},
        {"wait": "800ms"}, {"key": "shop:1#box", "value": None})], {"keep": keep})
    code, said, errors = played(directory)
    assert code == 0, said + errors


def test_a_refresh_that_wakes_itself_or_fails_ends_the_case(tmp_path):
    head = ("-- @summary  S.\n-- @refresh  shop:{shopId}#box\n-- @arg shopId id\n-- @key box shop:{shopId}#box\n"
            "-- @returns {idle: bool}\n-- @cost O(1)\n-- @weight 10\n\n")
    restless = head + "write('HSET', key.box, 'at', 'x')\nreturn {idle = true}\n"
    directory = pack(tmp_path / "restless", [case(CALL)], {"put": PUT, "again": restless})
    code, said, _ = played(directory)
    assert code == 1 and "a refresh changes its own keys at each run: again of 1" in said, said
    failing = head + "local x = nil\nreturn {idle = x.y}\n"
    directory = pack(tmp_path / "failing", [case(CALL)], {"put": PUT, "again": failing})
    code, said, _ = played(directory)
    assert code == 1 and "the refresh again of 1 was refused: internal" in said, said
    assert re.search(r"a script failed: refresh/again: .*again\.lua:10: ", said), said


def test_a_call_of_a_service_outside_is_answered_by_the_test(tmp_path):
    guide = examples()
    scripts = {name: guide[name] for name in ("put_song", "look_up_song", "song_found")}
    room = {"namespaces": {"room": {"subscribe": "user", "publish": "service", "log": {"events": 9, "seconds": 60}}}}
    song = {"room_id": "r", "id": "s1"}
    steps = [
        {"call": "put_song", "with": song | {"song_title": "Blue"}},
        {"call": "look_up_song", "with": song, "answer": {"ok": True}, "events": []},
        {"service": "catalogue", "request": {"song": "s1"}, "reply": {"title": "Blau"},
         "events": [{"topic": "room:r", "event": "song.put", "data": {"song_title": "Blau"}}]},
        {"key": "room:r#songs", "value": {"s1": "Blau"}},
        {"call": "look_up_song", "with": song}, {"service": "catalogue", "failed": True, "events": []}]
    directory = pack(tmp_path / "songs", [case(*steps)], scripts)
    (directory / "pack.json").write_text(json.dumps(room))
    code, said, errors = played(directory)
    assert (code, errors) == (0, ""), said + errors


# What cannot be played


@pytest.mark.parametrize("text, told", [
    ("", "a.json:1: not valid JSON"),
    ('{\n "cases": [\n  {]\n', "a.json:3: not valid JSON"),
    ("[]", "a.json:1: expected an object"),
    ('{"cases": 5}', "a.json:1: \"cases\" must be a list"),
    ('{"cases": [], "case": []}', 'a.json:1: "case" is no member of a file of tests; did you mean cases?'),
    ('{"cases": [{"steps": []}]}', 'a.json:1: a case needs a "name"'),
    ('{"cases": [\n{"name": "a", "steps": [\n{"cal": "put"}]}]}', "a.json:3: a step has exactly one of call"),
    ('{"cases": [{"name": "a", "steps": [{"call": "put"}]}]}', 'a.json:1: "as" is missing'),
    ('{"as": "service", "cases": [{"name": "a", "steps": [\n{"call": "put",\n "anser": {}}]}]}',
     'a.json:3: "anser" is no member of a step "call"; did you mean answer?'),
    ('{"cases": [{"name": "a", "steps": [\n{"wait": "soon"}]}]}', 'a.json:2: "wait" must be a time'),
    ('{"cases": [{"name": "a", "now": "today", "steps": []}]}', 'a.json:1: "now" must be a time'),
    ('{"cases": [{"name": "a", "steps": [{"key": "a:1#b"}]}]}', 'a.json:1: a step "key" needs "value"'),
    ('{"cases": [{"name": "a", "steps": [{"wait": "1s", "events": [{"topic": 5}]}]}]}', "a.json:1: an event is {"),
    ("[" * 5000, "a.json:1: nested too deeply"),
    ('{"cases": [], "cases": []}', "a member name occurs twice"),
    ('{"cases": []}', "have no cases"),
    ("\x00\x01", "a.json:1: not valid JSON"),
])
def test_a_file_that_is_none_is_told_by_its_line(tmp_path, text, told):
    code, said, errors = played(pack(tmp_path / "wrong", text))
    assert (code, said) == (2, "") and told in errors, errors


def test_damaged_files_end_no_process(tmp_path, rng):
    """Whatever stands in a file, the outcome is one of the three."""
    good = json.dumps({"as": "user:ann", "cases": [case(CALL | {"answer": {"at": "$now+1s", "size": "$n"}})]}).encode()
    directory = pack(tmp_path / "damaged", "")
    for _ in range(25):
        text = bytearray(good)
        for _ in range(rng.randint(1, 3)):
            text[rng.randrange(len(text))] = rng.choice(b'{}[]":,$0x\\\xff\n')
        (directory / "tests" / "a.json").write_bytes(bytes(text))
        code, _, errors = played(directory)
        assert code in (0, 1, 2), (bytes(text), errors)


def test_a_pack_without_tests_or_with_a_broken_script_is_told(tmp_path):
    write_scripts(tmp_path / "bare", put=PUT)
    code, said, errors = played(tmp_path / "bare")
    assert (code, said) == (2, "") and f"{tmp_path}/bare has no tests" in errors and len(errors.splitlines()) == 1
    code, _, errors = played(tmp_path / "nowhere")
    assert code == 2 and "nowhere: No such file or directory" in errors
    directory = pack(tmp_path / "broken", [case(CALL)], {"put": PUT.replace("@cost", "@cots")})
    code, _, errors = played(directory)
    assert code == 2 and re.search(r"put\.lua:\d+: .*@cots", errors), errors
    code, _, errors = played(directory, "--redis-server", tmp_path / "no-redis")
    assert code == 2 and "put.lua" in errors or "no-redis" in errors
    code, _, errors = played()
    assert code == 2 and "expected the directory of one pack" in errors
    code, _, errors = played(directory, "--filtre", "x")
    assert code == 2 and "did you mean --filter?" in errors


def test_a_redis_that_does_not_start_is_told(tmp_path):
    code, said, errors = played(pack(tmp_path / "boxes", [case(CALL)]), "--redis-server", tmp_path / "no-redis")
    assert (code, said) == (2, "") and "no-redis did not start" in errors, errors


# What is left behind


def children(pid):
    """The processes that a process has started."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            words = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if words[1] == str(pid) and words[0] != "Z":
            found.append(int(path.parent.name))
    return found


def is_running(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.parametrize("number", [None, signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_nothing_is_left_behind(tmp_path, number):
    """A Redis that outlives its test would be found by nobody."""
    # The path of a socket has at most 107 bytes, and that of a test's own directory may have more.
    place = Path(tempfile.mkdtemp(prefix="packs-"))
    busy = ("-- @summary  S.\n-- @refresh  shop:{shopId}#box\n-- @arg shopId id\n-- @key box shop:{shopId}#box\n"
            "-- @returns {idle: bool, again_ms: int}\n-- @cost O(1)\n-- @weight 10\n\n"
            "return {idle = false, again_ms = now_ms + 1000}\n")
    steps = [CALL] + ([{"wait": "5h"}] * 50 if number else [])
    directory = pack(tmp_path / "boxes", [case(*steps)], {"put": PUT, "busy": busy})
    # A shell lets its jobs in the background ignore Ctrl-C, and each program that they start.
    process = subprocess.Popen(
        [BINARY, "test", directory], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        env=ENVIRONMENT | {"TMPDIR": str(place)}, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    servers = []
    try:
        if number:
            servers = eventually(lambda: children(process.pid), 20, "its Redis")
            eventually(lambda: not os.listdir(place), 20, "the directory to be gone")
            process.send_signal(number)
        process.wait(timeout=SECONDS_MAX)
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
    assert process.returncode == (-number if number else 0)
    place.rmdir()
    for pid in servers:
        eventually(lambda pid=pid: not is_running(pid), 10, "the end of its Redis")
