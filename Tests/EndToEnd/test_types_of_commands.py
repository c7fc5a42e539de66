"""`switchboard types`: the samples of docs/clients.md compile with what it writes, and contradictions do not."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from Fixtures.clients.js_client import CLIENT
from Fixtures.processes.node import BINARY, ENVIRONMENT

PAGE = (Path(__file__).resolve().parents[2] / "docs/clients.md").read_text()
# Lines that a program must not be able to write, each with a part of the compiler's reason.
WRONG_TYPESCRIPT = [
    ('await client.call("vote", { shopId: "demo", trackId: "t1", vote: "sideways" });', "\"sideways\"' is not"),
    ('await client.call("vote", { shopId: "demo", vote: "up" });', "'trackId' is missing"),
    ('await client.call("vote", { shopId: "demo", trackId: "t1", vote: "up", voice: 1 });', "'voice' does not exist"),
    ('await client.call("vote_twice", {});', "\"vote_twice\"' is not assignable"),
    ("standing.scores;", "Property 'scores' does not exist"),
    ("const wrong: string = standing.score;", "'number' is not assignable to type 'string'"),
]
WRONG_SWIFT = [
    ('_ = Commands.Vote(shopId: "demo", trackId: "t1", vote: .sideways)', "no member 'sideways'"),
    ('_ = Commands.Vote(shopId: "demo", vote: .up)', "missing argument for parameter 'trackId'"),
    ("_ = Commands.VoteTwice()", "no member 'VoteTwice'"),
    ('_ = try await client.call(Commands.Vote(shopId: "demo", trackId: "t1", vote: .up)).scores', "no member 'scores'"),
]


def sample(language):
    return re.search(rf"```{language}\n(// Types of commands\n.*?)```", PAGE, re.S)[1]


def written(language):
    """The types of all packs, so that all of them are compiled."""
    return subprocess.run([BINARY, "types", language, "--packs", "all"], capture_output=True, text=True, check=True,
                          env=ENVIRONMENT).stdout


def check(faults, wrong):
    """Compares the faults that a compiler found with the lines that are wrong."""
    assert len(faults) == len(wrong), faults
    for fault, (line, reason) in zip(faults, wrong, strict=True):
        assert reason in fault, (line, fault)


def test_typescript(tmp_path):
    compiler = shutil.which("tsc") or pytest.fail("no tsc on PATH (scripts/packages.sh test installs it)")
    (tmp_path / "node_modules").mkdir()
    (tmp_path / "node_modules/switchboard-client").symlink_to(CLIENT)
    (tmp_path / "commands.d.ts").write_text(written("typescript"))
    (tmp_path / "sample.ts").write_text(sample("typescript"))
    wrong = "".join(line + "\n" for line, _ in WRONG_TYPESCRIPT)
    (tmp_path / "wrong.ts").write_text(sample("typescript") + wrong)
    options = ("--noEmit", "--strict", "--target", "es2022", "--module", "es2022", "--moduleResolution", "node",
               "--lib", "es2022,dom,dom.iterable", "--pretty", "false")
    told = subprocess.run([compiler, *options, "sample.ts", "wrong.ts"], cwd=tmp_path, capture_output=True, text=True,
                          timeout=60).stdout
    first = sample("typescript").count("\n") + 1
    places = [(name, int(line)) for name, line in re.findall(r"^(\S+)\((\d+),\d+\): error", told, re.M)]
    assert places == [("wrong.ts", first + n) for n in range(len(WRONG_TYPESCRIPT))], told
    check(re.split(r"^(?=\S+\(\d+,\d+\): error)", told, flags=re.M)[1:], WRONG_TYPESCRIPT)


def test_swift(tmp_path):
    modules = BINARY.absolute().parent / "Modules"
    compiler = shutil.which("swiftc") or pytest.fail("no swiftc on PATH")

    def faults(name, text):
        (tmp_path / "Commands.swift").write_text(written("swift"))
        (tmp_path / name).write_text(text)
        told = subprocess.run([compiler, "-typecheck", "-swift-version", "6", "-I", modules, "Commands.swift", name],
                              cwd=tmp_path, capture_output=True, text=True, timeout=120).stderr
        return re.findall(r"^\S+\.swift:\d+:\d+: error: (.*)$", told, re.M)

    assert faults("Sample.swift", sample("swift")) == []
    wrong = "".join(f"    {line}\n" for line, _ in WRONG_SWIFT)
    check(faults("Wrong.swift", "import SwitchboardClient\nfunc wrong(_ client: SwitchboardClient) async throws {\n"
                                + wrong + "}\n"), WRONG_SWIFT)


HEAD = "-- @command {}\n-- @summary S. */\n-- @allow user\n-- @readonly\n-- @cost O(1)\n"
#: Scripts whose names are no identifiers, are alike as identifiers, or mean something else in a program.
HOSTILE = {
    "do_it": """
        @type record {a: int}
        @type string_value [{a: int}]
        @type track [{b: int}]
        @type track_value {c: int}
        @type shared {a: record}
        @type commands {a: shared}
        @type events 'a\\b'|'c'
        @type states {*: {d: int}}
        @type double {a: number}
        @type decodable {a: string}
        @type sendable {*: decodable}
        @type hashable {a: bool}
        @type coding_keys {a: [double]}
        @type json_value {a: any}
        @type type {a: type_value}
        @type type_value {a: int}
        @type protocol int
        @type self {a: record, b: record}
        @type any_ {a: int}
        @type a_b {a: int}
        @type a__b {b: int}
        @type optional {a: int|null}
        @type object_ {a: int, *: string}
        @arg itself id as self
        @arg answer enum yes,no
        @arg type enum 1st,2-nd,2.nd,A,a,--,self,init,default,Type,rawValue,await
        @arg init int 1..2 optional
        @arg inside bool optional as in
        @arg oneWay enum a,b as a_b
        @arg otherWay enum c,d as aB
        @arg commandName string 0..9
        @arg await id
        @arg string enum a,b = b
        @returns {self: int, _: int, Type: {a: int}, type: {b: int}, hashValue: string, init: bool,
            codingKeys: {a: int}, string: {a: int}, text: string, A: {b: int}, a: {c: int}, int: [{a: int}],
            n: int, is: bool, _1: int, shared: {a: int}, record: record, await: self, description: string,
            a_b: {a: int}, aB: {b: int}}""",
    "do__it": """
        @emits 2fa:done {code: string}
        @emits track:added {a: int}
        @emits track.added {b: int}
        @emits Track/added track_value
        @emits 123 {a: int}
        @emits ::: {a: int}
        @emits --- {}
        @emits shared {a: record}
        @emits String {a: string}
        @emits type {a: int}|{a: string, _2: int}
        @returns {}""",
    "record": "@returns {}",
    "string": "@returns string",
}


def hostile(directory, language):
    """The types of the hostile scripts."""
    directory.mkdir(exist_ok=True)
    for name, lines in HOSTILE.items():
        header = "".join(f"-- {line.strip()}\n" for line in lines.strip().splitlines())
        (directory / f"{name}.lua").write_text(HEAD.format(name) + header + "return {}\n")
    done = subprocess.run([BINARY, "types", language, "--scripts", directory], capture_output=True, text=True,
                          env=ENVIRONMENT)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_hostile_names_compile_in_typescript(tmp_path):
    """Names with a digit first were no keys, and `Record` was a type of the pack in place of TypeScript's own."""
    compiler = shutil.which("tsc") or pytest.fail("no tsc on PATH (scripts/packages.sh test installs it)")
    (tmp_path / "hostile.d.ts").write_text(hostile(tmp_path / "scripts", "typescript"))
    (tmp_path / "use.ts").write_text(
        'import type { Commands, Events } from "./hostile";\n'
        'export const empty: Commands["record"]["answer"] = {};\n'
        'export const code: Events["2fa:done"] = { code: "1" };\n'
        'export const added: Events["track.added"] = { b: 1 };\n')
    done = subprocess.run([compiler, "--noEmit", "--strict", "--target", "es2022", "use.ts"], cwd=tmp_path,
                          capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout


def test_hostile_names_compile_in_swift(tmp_path):
    """Names with a digit first, alike, or of a type that the text uses made a file that no compiler takes."""
    compiler = shutil.which("swiftc") or pytest.fail("no swiftc on PATH")
    text = hostile(tmp_path / "scripts", "swift")
    (tmp_path / "Hostile.swift").write_text(text)
    done = subprocess.run(
        [compiler, "-typecheck", "-swift-version", "6", "-I", BINARY.absolute().parent / "Modules", "Hostile.swift"],
        cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    # Events with one identifier get several, and a renamed member keeps its name in JSON.
    assert {"TrackAdded", "TrackAdded2", "TrackAdded3"} <= set(re.findall(r"(?:struct|typealias) (\w+)", text))
    assert 'case selfValue = "self"' in text


def test_a_wrong_script_is_told(tmp_path):
    (tmp_path / "scripts").mkdir()
    (tmp_path / "scripts/a.lua").write_text(
        "-- @command a\n-- @summary S.\n-- @allow user\n-- @readonly\n-- @cost O(1)\n"
        "-- @returns {a: [strin],\n--   b int}\nreturn {}\n")
    done = subprocess.run([BINARY, "types", "swift", "--scripts", tmp_path / "scripts"], capture_output=True, text=True,
                          env=ENVIRONMENT)
    assert done.returncode == 1 and done.stdout == ""
    assert 'a.lua:7: @returns: expected , or } behind b, not "int}"' in done.stderr, done.stderr
