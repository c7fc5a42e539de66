"""An operator's own scripts: the guide's example from end to end, and every mistake told by file and line."""

import json
import re
import subprocess

import pytest

from Fixtures.apps.operator_scripts import EXAMPLE, example, script, write_scripts
from Fixtures.processes.gateway import API_KEY, error_code
from Fixtures.processes.node import BINARY, ENVIRONMENT
from Fixtures.redis.server import RedisServer
from Fixtures.waiting import eventually

FAR_FUTURE_MS = 4_102_444_800_000


@pytest.fixture
def lender(gateway, tmp_path):
    """A gateway with the guide's example."""
    return gateway("--scripts", write_scripts(tmp_path / "scripts", **{EXAMPLE: example()}))


@pytest.fixture
def shop(topic, db):
    """The id of a shop at which u1, u2 and u3 are."""
    db.zadd(f"{topic}#presence", {user: FAR_FUTURE_MS for user in ("u1", "u2", "u3")})
    return topic.removeprefix("shop:")


# The example


def test_the_example_by_every_door(lender, shop, token, db):
    with lender.client() as watcher, lender.client(token=token("u1")) as client, lender.http() as http:
        watcher.subscribe(f"shop:{shop}")
        ack = client.request(EXAMPLE, {"shopId": shop})
        assert ack["event"] == "ack" and ack["data"].items() >= {"shopId": shop, "userId": "u1", "left": 11}.items()
        watcher.expect("umbrella:lent", topic=f"shop:{shop}", offset=1, data={"shopId": shop, "left": 11})
        answer = http.post(f"/v1/commands/{EXAMPLE}", json={"shopId": shop, "userId": "u2"})
        assert answer.status_code == 200 and answer.json()["left"] == 10, answer.text
        watcher.expect("umbrella:lent", offset=2, data={"shopId": shop, "left": 10})
        answer = http.post(f"/v1/shops/{shop}/umbrellas", json={"userId": "u3", "days": 1})
        assert answer.status_code == 200 and answer.json()["left"] == 9, answer.text
        watcher.expect("umbrella:lent", offset=3, data={"shopId": shop, "left": 9})
        watcher.expect_nothing()
    assert set(db.hkeys(f"shop:{shop}#umbrellas")) == {b"u1", b"u2", b"u3"}


def test_the_example_is_described(lender):
    with lender.http() as http:
        paths = http.get("/v1/openapi.json").json()["paths"]
    for path in (f"/v1/commands/{EXAMPLE}", "/v1/shops/{shopId}/umbrellas"):
        operation = paths[path]["post"]
        assert operation["summary"].startswith("Lend one of a shop's umbrellas")
        assert operation["x-weight"] == 150 and operation["x-rate"] == ["6/60 s user"]
        assert "umbrella:lent" in operation["description"] and "403" in operation["responses"]


def test_the_example_refuses(lender, shop, token, db):
    with lender.client(token=token("u9")) as client, lender.http() as http:
        error = client.refused(EXAMPLE, {"shopId": shop}, "not_present")
        assert error["data"]["message"] == "Must be at the shop to borrow an umbrella"
        client.refused(EXAMPLE, {"shopId": shop, "days": 15}, "bad_request")
        client.refused(EXAMPLE, {"shopId": shop, "userId": "u1"}, "forbidden")
        db.hset(f"shop:{shop}#umbrellas", mapping={f"x{n}": FAR_FUTURE_MS for n in range(12)})
        answer = http.post(f"/v1/shops/{shop}/umbrellas", json={"userId": "u1"})
        assert (answer.status_code, error_code(answer)) == (409, "none_left")
        answer = http.post(f"/v1/shops/{shop}/umbrellas", json={"userId": "u9"})
        assert (answer.status_code, error_code(answer)) == (403, "not_present")


@pytest.mark.parametrize("over", ["WebSocket", "HTTP"])
def test_a_retry_of_the_example_changes_nothing(lender, shop, token, db, over):
    with lender.client() as watcher, lender.client(token=token("u1")) as client, lender.http() as http:
        watcher.subscribe(f"shop:{shop}")

        def lend(user):
            if over == "WebSocket":
                client.send(EXAMPLE, {"shopId": shop}, ref="op-1")
                return client.expect("ack", ref="op-1")["data"]
            return http.post(f"/v1/shops/{shop}/umbrellas", json={"userId": user, "id": "op-1"}).json()

        first = lend("u1")
        db.delete(f"shop:{shop}#umbrellas")
        assert lend("u1") == first and not db.exists(f"shop:{shop}#umbrellas")
        watcher.expect("umbrella:lent", offset=1)
        watcher.expect_nothing()


# Mistakes in headers

MISTAKES = {
    "unknown tag": (script("a", tropic="shop:{shopId}"), "unknown tag @tropic", "@topic"),
    "no summary": (script("a", drop="summary"), "@summary", ""),
    "no rights": (script("a", drop="allow"), "@allow", ""),
    "no answer": (script("a", drop="returns"), "@returns", ""),
    "no cost": (script("a", drop="cost"), "@cost", ""),
    "no key to write": (script("a", drop="key", topic="shop:*"), "@key", ""),
    "no command": (script("a", drop="command"), "", ""),
    "name of the protocol": (script("subscribe"), "word of the protocol", ""),
    "name with a capital": (script("lendUmbrella"), "@command", ""),
    "command of an embedded script": (script("vote"), "vote is defined in barbershop/dj/vote.lua", "replace"),
    "unknown role": (script("a", allow="user|servce"), "servce", "service"),
    "unknown type": (script("a", arg="shopId identifier"), "no type", "id"),
    "bad range": (script("a", arg=["shopId id", "n int 5..1"]), "int A..B", ""),
    "bad default": (script("a", arg=["shopId id", "n int 1..5 = 6"]), "default", ""),
    "argument twice": (script("a", arg=["shopId id", "shopId id"]), "declared twice", ""),
    "reserved argument": (script("a", arg=["shopId id", "id id"]), "id is the operation's own", ""),
    "undeclared variable": (script("a", key="box shop:{shopid}#box"), "{shopid} is no @arg", "shopId"),
    "two homes": (script("a", arg=["shopId id", "otherId id"], key=["one shop:{shopId}#a", "two shop:{otherId}#b"]),
                  "all keys of a script belong to one id", ""),
    "facet of the gateway": (script("a", key="box shop:{shopId}#log"), "#log", ""),
    "unknown namespace": (script("a", topic="shopp:{shopId}"), "shopp is not configured", "shop"),
    "calls nobody": (script("a", calls="beat_shp"), "no command beat_shp", "beat_shop"),
    "calls who may not": (script("a", calls="vote"), "vote must @allow worker", ""),
    "writing GET": (script("a", http="GET /v1/things/{shopId}"), "@readonly", ""),
    "route of the gateway": (script("a", http="POST /v1/topics/{shopId}"), "/v1/topics", ""),
    "route of an embedded script": (script("a", arg=["shopId id"], http="POST /v1/shops/{shopId}/presence"),
                                    "is the same as on barbershop/shops/check_in.lua", ""),
    "undeclared argument in a route": (script("a", http="POST /v1/things/{thing}"), "{thing} is no @arg", ""),
    "unknown method": (script("a", http="PUSH /v1/things/{shopId}"), "method", "PUT"),
    "bad error code": (script("a", errors="not found"), "@errors", ""),
    "status of a gateway's code": (script("a", errors="not_found 410"), "404", ""),
    "reserved event": (script("a", emits="gap {a}"), "@emits", ""),
    "answer of no type": (script("a", returns="{a: int, b string}"), "mine.lua:7: @returns: expected , or } behind b",
                          ""),
    "answer of an unknown type": (script("a", returns="[strng]"), "mine.lua:7: @returns: there is no type strng",
                                  "string"),
    "event of no object": (script("a", emits="said string"), "mine.lua:9: @emits: the data of an event are an object",
                           ""),
    "weightless": (script("a", weight="0"), "@weight: expected the microseconds", "300"),
    "rate of nobody": (script("a", rate="6/60 s usr"), "counts by user, address, key", "user"),
    "wire name": (script("a", arg=["shopId id", "n id as a-b"]), "after as: a lower-case letter", "A-Z a-z 0-9 _"),
    "wire name twice": (script("a", arg=["shopId id", "n id as shopId"]), "another value is called shopId", ""),
    "folded number": (script("a", arg=["shopId id", "n int 1..2 fold lower"]), "fold lower is for id", "not for int"),
    "status": (script("a", http="POST /v1/things/{shopId} 404"), "200, 201, 202 or 204", "refusals have their own"),
    "resolved without a word": (script("a", resolve="x = shop:{shopId}#x else not_found"), "behind -- stands", "e.g."),
    "resolved by nothing": (script("a", resolve="x = shop:{shpId}#x else not_found -- S."), "{shpId} is no @arg",
                            "shopId"),
    "derived of nothing": (script("a", derive="c = geohash(shopId, shopId, 5)"), "must be an argument number",
                           "not optional"),
    "span of one": (script("a", span="-- for fun"), "belong to one id already", "leave it out"),
    "tag twice": (script("a", summary=["One.", "Two."]), "@summary was given before", "line 2"),
}


def run(*words: str) -> subprocess.CompletedProcess:
    return subprocess.run([str(BINARY), *words], capture_output=True, text=True, timeout=20, env=ENVIRONMENT)


@pytest.mark.parametrize("text, told, hint", MISTAKES.values(), ids=MISTAKES.keys())
def test_a_wrong_header_does_not_start(shared_server, tmp_path, text, told, hint):
    directory = write_scripts(tmp_path / "scripts", mine=text)
    result = run("gateway", "--listen-plain", "127.0.0.1:0", "--redis", shared_server.url, "--scripts", directory)
    assert result.returncode != 0
    line = next(line for line in result.stderr.splitlines() if "mine.lua:" in line)
    assert re.search(rf"{re.escape(directory)}/mine\.lua:\d+: ", line), line
    assert told in line and hint in line, line


def test_the_line_is_the_mistakes_own(shared_server, tmp_path):
    text = script("a", arg=["shopId id", "n intt 1..5"])
    number = text.splitlines().index("-- @arg n intt 1..5") + 1
    directory = write_scripts(tmp_path / "scripts", mine=text)
    result = run("gateway", "--listen-plain", "127.0.0.1:0", "--redis", shared_server.url, "--scripts", directory)
    assert f"mine.lua:{number}: " in result.stderr and "did you mean int" in result.stderr


def test_two_files_of_one_command(shared_server, tmp_path):
    directory = write_scripts(tmp_path / "scripts", one=script("same"), two=script("same"))
    result = run("gateway", "--listen-plain", "127.0.0.1:0", "--redis", shared_server.url, "--scripts", directory)
    assert result.returncode != 0 and re.search(r"two\.lua:1: .*one\.lua", result.stderr), result.stderr


# Mistakes in bodies

BROKEN = {
    "bad word": ("local x == 3", 1, "near '=='"),
    "open string": ("local x = 'abc\nreturn {}", 1, "unfinished string"),
    "open block": ("if args.shopId then\n  return {}", 2, "'end' expected"),
    "end too many": ("return {}\nend", 2, "expected near 'end'"),
}


def compile_lines(kind: str) -> tuple[str, int, str]:
    """A script that does not compile, the line where it shows, and the words."""
    body, line, words = BROKEN[kind]
    text = script("broken", body)
    return text, text[:text.index(body)].count("\n") + line, words


@pytest.mark.parametrize("kind", BROKEN)
def test_a_script_that_does_not_compile_harms_no_other(gateway, tmp_path, token, topic, kind):
    text, _, words = compile_lines(kind)
    directory = write_scripts(tmp_path / "scripts", broken=text, good=script("good", "return {fine = true}"))
    gw = gateway("--scripts", directory, "--shards", "2")
    shop = topic.removeprefix("shop:")

    def compile_faults():
        return [line for line in gw.log_text.splitlines() if "does not compile" in line]
    told = eventually(compile_faults, what="a line in the log")
    assert len(told) == 1 and "broken" in told[0] and words in told[0], told
    assert re.search(r"broken\.lua:\d+: ", told[0]), told
    with gw.client(token=token("u1")) as client:
        for _ in range(3):
            client.refused("broken", {"shopId": shop}, "internal")
        assert client.request("good", {"shopId": shop})["data"] == {"fine": True}
        assert client.request("presence_count", {"shopId": shop})["data"]["count"] == 0
    assert gw.ops("/readyz").status_code == 200
    assert len(re.findall("redis connected", gw.log_text)) == 2, "the links stay"


def kept(server) -> int:
    """The scripts that lie in a Redis."""
    return server.client().info("memory")["number_of_cached_scripts"]


def test_scripts_of_packs_come_to_redis_with_their_first_call(gateway, server, tmp_path, token, topic):
    """All of them lay there from the start; each of them makes every publish dearer, and few are called."""
    scripts = write_scripts(tmp_path / "scripts", mine=script("mine", "return {}"))
    gw = gateway("--scripts", scripts, server=server)
    shop = topic.removeprefix("shop:")
    with gw.client(token=token("u1")) as client:
        client.subscribe(topic)
        before = kept(server)
        assert 20 < before < 60, before
        assert client.request("mine", {"shopId": shop})["event"] == "ack"
        for _ in range(2):
            assert client.request("presence_count", {"shopId": shop})["data"]["count"] == 0
        assert kept(server) < 60
        server.client().script_flush()
        assert client.request("presence_count", {"shopId": shop})["data"]["count"] == 0
        assert client.request("mine", {"shopId": shop})["event"] == "ack"


# switchboard check


def test_check_leaves_no_script_of_a_pack_in_redis(server, tmp_path):
    """It loaded all of them, into the Redis that serves users."""
    result = check(server.url, write_scripts(tmp_path / "scripts", mine=script("mine", "return {}")), tmp_path)
    assert "error:" not in result.stdout, result.stdout
    assert kept(server) < 60


def check(url: str, directory: str, tmp_path, *more: str) -> subprocess.CompletedProcess:
    (tmp_path / "keys").write_text(f"backend:{API_KEY}\n")
    return run("check", "--redis", url, "--api-keys", str(tmp_path / "keys"), "--scripts", directory, *more)


def test_check_is_content_with_the_example(shared_server, tmp_path):
    result = check(shared_server.url, write_scripts(tmp_path / "scripts", **{EXAMPLE: example()}), tmp_path)
    assert result.returncode == 0, result.stdout + result.stderr
    assert re.search(r"^ok: \d\d+ commands, \d+ refreshes; 1 scripts of ", result.stdout, re.M), result.stdout
    assert "error:" not in result.stdout


def test_check_tells_every_mistake_of_every_file(shared_server, tmp_path):
    texts = {f"mine{number}": text for number, (text, _, _) in enumerate(MISTAKES.values())}
    result = check(shared_server.url, write_scripts(tmp_path / "scripts", **texts), tmp_path)
    assert result.returncode == 1
    told = {match[1] for match in re.finditer(r"^error: \S+/(mine\d+)\.lua:\d+: ", result.stdout, re.M)}
    # What the files say about each other is told once the files themselves are right.
    alone = {name for name in texts if name in told}
    assert len(alone) >= 15 and all(line.startswith("error: ") for line in result.stdout.splitlines()
                                    if ".lua:" in line), result.stdout


@pytest.mark.parametrize("kind", BROKEN)
def test_check_compiles(shared_server, tmp_path, kind):
    text, line, words = compile_lines(kind)
    result = check(shared_server.url, write_scripts(tmp_path / "scripts", broken=text), tmp_path)
    assert result.returncode == 1
    errors = [found for found in result.stdout.splitlines() if found.startswith("error: ")]
    assert len(errors) == 1 and f"/broken.lua:{line}: " in errors[0] and words in errors[0], result.stdout


BODIES = {
    "undeclared key": ("read('GET', key.bx)", "key.bx is no @key", "box"),
    "undeclared argument": ("local id = args.shopID", "args.shopID is no @arg", "shopId"),
    "undeclared topic": ("emit('dj:' .. args.shopId, 'e', {})", "no @topic of the header", ""),
    "undeclared call": ("later('notify', {})", "is in no @calls", ""),
    "undeclared event": ("emit('shop:' .. args.shopId, 'said', {})", '"said" is in no @emits', ""),
    "undeclared error": ("fail('full', 'No room')", "is in no @errors", ""),
    "Redis itself": ("redis.call('DEL', key.box)", "redis is not there", "write()"),
}


@pytest.mark.parametrize("body, told, mend", BODIES.values(), ids=BODIES.keys())
def test_check_tells_what_a_body_uses_undeclared(shared_server, tmp_path, body, told, mend):
    """It was found when the first caller met it."""
    text = script("a", "local fine = 1\n" + body + "\nreturn {}", weight="100")
    line = text.splitlines().index(body) + 1
    result = check(shared_server.url, write_scripts(tmp_path / "scripts", mine=text), tmp_path)
    errors = [found for found in result.stdout.splitlines() if found.startswith("error: ")]
    assert result.returncode == 1 and len(errors) == 1, result.stdout
    assert f"/mine.lua:{line}: " in errors[0] and told in errors[0] and mend in errors[0], errors


def test_a_body_that_fails_half_way_has_written_nothing(gateway, tmp_path, token, topic, db):
    """The SADD stayed, and the log told no line."""
    bodies = {"typo": "write('DEL', key.typo)", "nosuch": "write('NOSUCH', key.box)", "text": "write('INCR', key.text)",
              "answer": "do return 5 end", "other": "write('SET', 'user:bob#secret', 'x')"}
    keys = ["box shop:{shopId}#box", "text shop:{shopId}#text"]
    scripts = {f"try_{name}": script(f"try_{name}", f"write('SADD', key.box, 'a')\n{body}\nreturn {{}}", key=keys)
               for name, body in bodies.items()}
    gw = gateway("--scripts", write_scripts(tmp_path / "scripts", **scripts))
    db.set(f"{topic}#text", "words")
    with gw.client(token=token("u1")) as client:
        for name in scripts:
            client.refused(name, {"shopId": topic.removeprefix("shop:")}, "internal")
    assert not db.exists(f"{topic}#box") and not db.exists("user:bob#secret")
    for name in ("typo", "nosuch", "other"):
        line = scripts[f"try_{name}"].splitlines().index(bodies[name]) + 1
        assert f"try_{name}.lua:{line}: " in gw.log_text, gw.log_text


def test_check_hints_at_a_missing_weight(shared_server, tmp_path):
    directory = write_scripts(tmp_path / "scripts", mine=script("a"), fine=script("b", weight="200"))
    result = check(shared_server.url, directory, tmp_path)
    hints = [line for line in result.stdout.splitlines() if "@weight" in line]
    assert result.returncode == 0 and len(hints) == 1, result.stdout
    assert hints[0].startswith(f"warning: {directory}/mine.lua:1: no @weight: 1000 is assumed"), hints


def test_check_hints_at_a_missing_secret_for_tokens(shared_server, tmp_path):
    directory = write_scripts(tmp_path / "scripts", guest=script("guest", mint="shop:{shopId} 6 h"))
    lines = check(shared_server.url, directory, tmp_path).stdout.splitlines()
    told = [line for line in lines if "no --mint-secret" in line]
    assert len(told) == 1 and told[0].startswith("warning: no --mint-secret-file: guest ("), told
    (tmp_path / "secret").write_bytes(b"s" * 32)
    result = check(shared_server.url, directory, tmp_path, "--mint-secret-file", str(tmp_path / "secret"))
    assert result.returncode == 0 and "no --mint-secret" not in result.stdout
    result = check(shared_server.url, write_scripts(tmp_path / "none", a=script("a")), tmp_path)
    assert "no --mint-secret" not in result.stdout, "nothing needs it"


def test_check_without_redis_still_reads_the_headers(tmp_path):
    url = f"unix://{tmp_path}/none.sock"
    result = check(url, write_scripts(tmp_path / "scripts", mine=script("a", tropic="x")), tmp_path)
    assert result.returncode == 1 and "mine.lua:" in result.stdout and "@topic" in result.stdout


def test_check_names_what_the_configuration_leaves_out(shared_server, tmp_path):
    (tmp_path / "config.json").write_text(json.dumps({"namespaces": {"dj": None}}))
    result = check(shared_server.url, write_scripts(tmp_path / "scripts"), tmp_path, "--config",
                   str(tmp_path / "config.json"))
    assert re.search(r"^warning: the script vote is left out: namespace dj is not configured", result.stdout, re.M), (
        result.stdout)


def test_a_script_is_loaded_again_after_redis_was_emptied(gateway, tmp_path, server: RedisServer, token):
    gw = gateway("--scripts", write_scripts(tmp_path / "scripts", good=script("good", "return {fine = true}")),
                 server=server)
    with gw.client(token=token("u1")) as client, server.client() as db:
        db.script_flush()
        assert client.request("good", {"shopId": "1"})["data"] == {"fine": True}
        server.stop()
        server.start()
        eventually(lambda: client.request("good", {"shopId": "1"})["event"] == "ack", 10, "the script")
