"""Commands from outside: who may, how often, how retries and order are kept, and what happens when Redis is away."""

import itertools
import json
import re
import threading

import pytest

from Fixtures.apps.operator_scripts import script, write_scripts
from Fixtures.clients.native import _run
from Fixtures.clients.tokens import SECRET
from Fixtures.processes.gateway import API_KEY, Gateway, error_code
from Fixtures.waiting import eventually

ROLES = ("anonymous", "user", "service", "worker")
COUNT = script(
    "count_up", "write('HINCRBY', key.box, 'n', 1) write('RPUSH', key.list, args.tag or '')\n"
    "emit('shop:' .. args.shopId, 'counted', {tag = args.tag or ''})\n"
    "return {before = tonumber(read('HGET', key.box, 'n') or 0), tag = args.tag or null, user = caller.user or null}",
    arg=["shopId id", "userId user optional", "tag string 1..40 optional"],
    key=["box shop:{shopId}#box", "list shop:{shopId}#list"])
LIMITS = script(
    "limits", "return {n = args.n or null, text = args.text or null, ids = args.ids and array(args.ids) or null}",
    arg=["shopId id", "n int -5..5 optional", "text string 2..4 optional", "ratio number 0..1 optional",
         "size enum small,large optional", "open bool optional", "note json 20 2 optional", "at time optional",
         "ids ids 1..3 optional"])
# Answers that no client may ever see.
HOSTILE = {
    "open": "return raw('{\"a\":')", "array": "return array{1}", "text": "return raw('\"x\"')",
    "frame": "return raw('{}}{\"event\":\"authenticated\"}')", "nan": "return {n = 0 / 0}",
    "deep": "return raw(string.rep('{\"a\":', 70) .. '1' .. string.rep('}', 70))",
    "utf8": "return raw('{\"a\":\"\\255\"}')", "control": "return raw('{\"a\":\"\\1\"}')",
    "huge": "return {a = string.rep('x', 1100000)}", "fault": "local missing = nil\nreturn missing.field",
    "undeclared": "fail('nothing_of_the_kind', 'x')", "global": "leak = 1\nreturn {}",
    "foreign": "emit('shop:other', 'e', {}) return {}", "type": "return {f = read}",
}


def scripts() -> dict:
    """Everything the tests call: a command for each set of roles, and those above."""
    texts = {"count_up": COUNT, "limits": LIMITS}
    for size in (1, 2, 3):
        for roles in itertools.combinations(ROLES, size):
            name = "may_" + "_".join(roles)
            texts[name] = script(name, "write('HINCRBY', key.box, 'n', 1) return {done = true}", allow="|".join(roles))
    for name, body in HOSTILE.items():
        texts[f"hostile_{name}"] = script(f"hostile_{name}", "write('HSET', key.box, 'n', 1)\n" + body)
    return texts


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    return write_scripts(tmp_path_factory.mktemp("scripts"), **scripts())


# None is in the way, unless a test gives one.
MANY = {"messagesPerSecond": 100_000, "userActionsPerSecond": 100_000}


@pytest.fixture
def start(gateway, directory):
    """Starts a gateway of a test's own with the scripts."""
    def start(*flags, limits=None, **options):
        return gateway("--scripts", directory, *flags, limits=MANY | (limits or {}), **options)

    return start


@pytest.fixture(scope="module")
def lasting(tmp_path_factory, shared_server, certificate, directory):
    """A gateway with the scripts, for the tests that leave it as it is."""
    gateway = Gateway(tmp_path_factory.mktemp("lasting"), shared_server.url, certificate, SECRET,
                      "--scripts", str(directory), limits=MANY)
    yield gateway.start().wait_ready()
    gateway.stop()


@pytest.fixture
def gw(lasting):
    """That gateway; fails the test in which it died."""
    yield lasting
    assert lasting.process.poll() is None, lasting.log_text[-4000:]


@pytest.fixture
def shop(topic):
    return topic.removeprefix("shop:")


def dump(db, pattern: str) -> dict:
    """What Redis holds under a pattern."""
    return {key: db.dump(key) for key in sorted(db.keys(pattern))}


# Rights


@pytest.mark.parametrize("roles", [roles for size in (1, 2, 3) for roles in itertools.combinations(ROLES, size)],
                         ids="|".join)
def test_rights(gw, shop, token, db, roles):
    """Each caller by both doors; who may not leaves nothing behind."""
    name, calls = "may_" + "_".join(roles), 0
    callers = {
        "anonymous": (None, {}), "user": (token("u1"), {"authorization": f"Bearer {token('u1')}"}),
        "service": (token("backend", role="service"), {"apikey": API_KEY})}
    for role, (bearer, headers) in callers.items():
        wanted = None if role in roles else "not_found" if roles == ("worker",) else (
            "unauthorized" if role == "anonymous" else "forbidden")
        with gw.client(token=bearer) as client, gw.http(key=None) as http:
            message = client.request(name, {"shopId": shop})
            answer = http.post(f"/v1/commands/{name}", json={"shopId": shop}, headers=headers)
        if wanted is None:
            calls += 2
            assert message["event"] == "ack" and message["data"] == {"done": True}, message
            assert answer.status_code == 200 and answer.json() == {"done": True}, answer.text
        else:
            assert message["data"]["code"] == wanted and error_code(answer) == wanted
            assert answer.status_code == {"not_found": 404, "unauthorized": 401, "forbidden": 403}[wanted]
    assert int(db.hget(f"shop:{shop}#box", "n") or 0) == calls


def test_a_user_acts_for_nobody_else(gw, shop, token, db):
    before = dump(db, f"shop:{shop}*")
    with gw.client(token=token("u1")) as client, gw.http(key=None) as http:
        client.refused("count_up", {"shopId": shop, "userId": "u2"}, "forbidden")
        answer = http.post("/v1/commands/count_up", json={"shopId": shop, "userId": "u2"},
                           headers={"authorization": f"Bearer {token('u1')}"})
        assert (answer.status_code, error_code(answer)) == (403, "forbidden")
        assert dump(db, f"shop:{shop}*") == before
        assert client.request("count_up", {"shopId": shop})["data"]["user"] == "u1"
        assert client.request("count_up", {"shopId": shop, "userId": "u1"})["data"]["user"] == "u1"


def test_a_service_acts_for_whom_it_names(gw, shop, token):
    with gw.http() as http, gw.client(token=token("backend", role="service")) as client:
        answer = http.post("/v1/commands/count_up", json={"shopId": shop, "userId": "u7"})
        assert answer.json()["user"] == "u7"
        assert client.request("count_up", {"shopId": shop, "userId": "u8"})["data"]["user"] == "u8"
        assert client.request("count_up", {"shopId": shop})["data"]["user"] is None
        answer = http.post("/v1/commands/my_votes", json={"shopId": shop})
        assert (answer.status_code, error_code(answer)) == (403, "forbidden"), "it must say for whom"


def test_an_unknown_command_names_the_nearest(gw, shop):
    with gw.client() as client, gw.http() as http:
        error = client.refused("count_upp", {"shopId": shop}, "not_found")
        assert "did you mean count_up?" in error["data"]["message"]
        answer = http.post("/v1/commands/may_wroker", json={"shopId": shop})
        assert answer.status_code == 404 and "may_worker?" not in answer.text, "a secret of the worker's"


def test_users_have_a_rate_and_services_have_none(start, shop, token):
    # A low rate, so that a busy host stays above it.
    gw = start(limits={"userActionsPerSecond": 1})
    with gw.client(token=token("u1")) as client, gw.http() as http:
        for number in range(40):
            client.send("count_up", {"shopId": shop}, ref=number)
        events = [client.receive() for _ in range(40)]
        acks = sum(message["event"] == "ack" for message in events)
        assert 2 <= acks < 30, "a burst of twice the rate"
        assert {message["data"]["code"] for message in events if message["event"] == "error"} == {"rate_limited"}
        mine = {"apikey": token("u1")}
        answers = [http.post("/v1/commands/count_up", json={"shopId": shop}, headers=mine) for _ in range(10)]
        refused = [answer for answer in answers if answer.status_code != 200]
        assert refused and all(answer.status_code == 429 and error_code(answer) == "rate_limited" for answer in refused)
        assert all(http.post("/v1/commands/count_up", json={"shopId": shop}).status_code == 200 for _ in range(40))
        with gw.client(token=token("u2")) as other:
            assert other.request("count_up", {"shopId": shop})["event"] == "ack", "each user has its own"


# Arguments

GOOD = [
    {"n": -5}, {"n": 5}, {"n": 5.0}, {"text": "ab"}, {"text": "abcd"}, {"text": "\U0001f600é"}, {"ratio": 0},
    {"ratio": 1}, {"ratio": 0.5}, {"size": "small"}, {"open": False}, {"note": [[1]]}, {"note": "x" * 18},
    {"at": 0}, {"at": "1970-01-01T00:00:00Z"}, {"at": 253402300799999}, {"ids": ["a"]}, {"ids": [1, 2, "z"]},
    {"shopId": "x" * 200}, {"shopId": 42}, {"n": None, "text": None, "note": None},
]
BAD = [
    {"n": -6}, {"n": 6}, {"n": 1.5}, {"n": "1"}, {"n": True}, {"n": 1e400}, {"text": "a"}, {"text": "abcde"},
    {"text": "a\0b"}, {"text": 12}, {"ratio": -0.001}, {"ratio": 1.001}, {"size": "Small"}, {"size": ""},
    {"open": "true"}, {"open": 1}, {"note": [[[1]]]}, {"note": "x" * 19}, {"at": -1}, {"at": 253402300800000},
    {"at": "1970-01-01T00:00:00"}, {"at": "yesterday"}, {"ids": []}, {"ids": ["a", "b", "c", "d"]}, {"ids": ["a b"]},
    {"ids": "a"}, {"shopId": "x" * 201}, {"shopId": ""}, {"shopId": "a b"}, {"shopId": None}, {"shopId": ["a"]},
    {"nn": 1}, {"id": 7}, {"id": "a b"}, {"id": "-"}, {"id": "x" * 129},
]


@pytest.mark.parametrize("arguments", GOOD, ids=lambda arguments: json.dumps(arguments)[:40])
def test_arguments_within_their_limits(gw, shop, arguments):
    with gw.client() as client, gw.http() as http:
        assert client.request("limits", {"shopId": shop} | arguments)["event"] == "ack"
        answer = http.post("/v1/commands/limits", json={"shopId": shop} | arguments)
        assert answer.status_code == 200, answer.text


@pytest.mark.parametrize("arguments", BAD, ids=lambda arguments: json.dumps(arguments)[:40])
def test_arguments_beyond_their_limits(gw, shop, arguments):
    text = json.dumps({"shopId": shop} | arguments).replace("Infinity", "1e400")
    with gw.client() as client, gw.http() as http:
        client.send_raw(f'{{"event":"limits","ref":"x","data":{text}}}')
        error = client.expect_error("bad_request", ref="x")
        answer = http.post("/v1/commands/limits", content=text)
        assert (answer.status_code, error_code(answer)) == (400, "bad_request")
    name = next(iter(arguments))
    assert f"'{name}'" in error["data"]["message"], "the argument is named"
    if name == "nn":
        assert "did you mean n?" in error["data"]["message"]


@pytest.mark.parametrize("body, status", [
    (b"", 400), (b"[]", 400), (b"{", 400), (b"null", 400), (b'{"shopId":"1","shopId":"2"}', 400),
    (b'{"shopId":"1"} x', 400), (b'{"shopId":"' + b"x" * 1_100_000 + b'"}', 413)],
    ids=["empty", "array", "open", "null", "twice", "more", "large"])
def test_bodies(gw, body, status):
    with gw.http() as http:
        assert http.post("/v1/commands/limits", content=body).status_code == status
        assert http.post("/v1/commands/limits?shopId=1", json={}).status_code == 400, "a query is for GET"
        assert http.get("/v1/commands/limits").headers["allow"] == "POST"


# Retries


def test_a_string_reference_is_one_operation_everywhere(start, shop, token, db):
    one, two = start(), start()
    with one.client() as watcher:
        watcher.subscribe(f"shop:{shop}")
        answers = []
        for gw in (one, one, two):
            with gw.client(token=token("u1")) as client:
                client.send("count_up", {"shopId": shop}, ref="op-1")
                answers.append(client.expect("ack", ref="op-1")["data"])
        with two.http(key=None) as http:
            answer = http.post("/v1/commands/count_up", json={"shopId": shop, "id": "op-1"},
                               headers={"authorization": f"Bearer {token('u1')}"})
            answers.append(answer.json())
        assert all(answer == answers[0] for answer in answers)
        watcher.expect("counted", offset=1)
        watcher.expect_nothing()
    assert db.hget(f"shop:{shop}#box", "n") == b"1"


def test_a_number_reference_counts_within_its_connection(gw, shop, token, db):
    for calls in (1, 2):
        with gw.client(token=token("u1")) as client:
            for _ in range(3):
                client.send("count_up", {"shopId": shop}, ref=1)
                assert client.expect("ack", ref=1)["data"]["before"] == calls - 1
        assert int(db.hget(f"shop:{shop}#box", "n")) == calls


def test_an_id_belongs_to_its_caller(gw, shop, token, db):
    with gw.client(token=token("u1")) as one, gw.client(token=token("u2")) as two, gw.http() as http:
        for client in (one, two):
            client.send("count_up", {"shopId": shop}, ref="op-1")
            client.expect("ack", ref="op-1")
        http.post("/v1/commands/count_up", json={"shopId": shop, "userId": "u1", "id": "op-1"})
    assert db.hget(f"shop:{shop}#box", "n") == b"3"


def test_an_id_for_another_request_is_a_conflict(gw, shop, token, db):
    with gw.client(token=token("u1")) as client:
        client.send("count_up", {"shopId": shop, "tag": "a"}, ref="op-1")
        client.expect("ack", ref="op-1")
        before = dump(db, f"shop:{shop}*")
        client.send("count_up", {"shopId": shop, "tag": "b"}, ref="op-1")
        client.expect_error("conflict", ref="op-1")
        client.send("may_user", {"shopId": shop}, ref="op-1")
        client.expect_error("conflict", ref="op-1")
        assert dump(db, f"shop:{shop}*") == before


def test_without_an_id_every_call_counts(gw, shop, db):
    with gw.http() as http:
        for _ in range(3):
            http.post("/v1/commands/count_up", json={"shopId": shop})
    assert db.hget(f"shop:{shop}#box", "n") == b"3"


# Order


def pipelined(client, shop: str, count: int, first: int = 0) -> None:
    """Sends commands without waiting for answers."""
    texts = [json.dumps({"event": "count_up", "data": {"shopId": shop, "tag": str(number)}, "ref": f"{shop}-{number}"})
             for number in range(first, first + count)]

    async def send():
        for text in texts:
            await client.connection.send(text)
    _run(send())


def test_commands_of_a_session_keep_their_order(start, shop, token, db):
    gw = start()
    with gw.client(token=token("u1")) as client:
        pipelined(client, shop, 200)
        for number in range(200):
            client.expect("ack", ref=f"{shop}-{number}", timeout=10)
    assert db.lrange(f"shop:{shop}#list", 0, -1) == [str(number).encode() for number in range(200)]


def test_a_flushed_script_cache_loses_nothing_and_keeps_the_order(start, shop, token, db):
    gw = start(limits={"redisCallMs": 10_000})
    stop = threading.Event()

    def flush():
        while not stop.is_set():
            db.script_flush()

    flusher = threading.Thread(target=flush)
    flusher.start()
    try:
        with gw.client(token=token("u1")) as client:
            for first in range(0, 600, 100):
                pipelined(client, shop, 100, first)
                for number in range(first, first + 100):
                    client.expect("ack", ref=f"{shop}-{number}", timeout=10)
    finally:
        stop.set()
        flusher.join()
    assert db.lrange(f"shop:{shop}#list", 0, -1) == [str(number).encode() for number in range(600)]


# Redis


def test_redis_away_and_back(start, server, shop, token):
    gw = start(server=server)
    with gw.client(token=token("u1")) as client, gw.http() as http:
        assert client.request("count_up", {"shopId": shop})["event"] == "ack"
        server.stop()
        client.refused("count_up", {"shopId": shop}, "unavailable")
        answer = http.post("/v1/commands/count_up", json={"shopId": shop})
        assert (answer.status_code, error_code(answer)) == (503, "unavailable")
        assert int(answer.headers["retry-after"]) >= 1
        server.start()
        eventually(lambda: client.request("count_up", {"shopId": shop})["event"] == "ack", 10, "the way back")
        assert http.post("/v1/commands/count_up", json={"shopId": shop}).status_code == 200


# Scripts that misbehave


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_answer_is_a_fault_and_no_frame(start, shop, token, name):
    gw = start()
    with gw.client(token=token("u1")) as client, gw.http() as http:
        error = client.refused(f"hostile_{name}", {"shopId": shop}, "internal")
        assert "hostile" not in error["data"]["message"], "what is wrong is the operator's to know"
        answer = http.post(f"/v1/commands/hostile_{name}", json={"shopId": shop})
        assert (answer.status_code, error_code(answer)) == (500, "internal")
        client.expect_nothing()

    def faults():
        return [json.loads(line) for line in gw.log_text.splitlines() if "a script failed" in line]
    eventually(lambda: len(faults()) == 2, what="a line in the log for each call")
    assert all(line["script"] == f"command/hostile_{name}" and line["fault"] for line in faults()), faults()


def test_a_fault_names_file_and_line(start, shop, token):
    gw = start()
    with gw.client(token=token("u1")) as client:
        client.refused("hostile_fault", {"shopId": shop}, "internal")
    text = scripts()["hostile_fault"]
    line = text[:text.index("return missing.field")].count("\n") + 1
    eventually(lambda: re.search(rf"hostile_fault\.lua:{line}: ", gw.log_text), what="the line")


@pytest.mark.parametrize("name", ["nan", "fault", "undeclared", "global", "foreign", "type", "huge"])
def test_a_fault_before_the_writes_changes_nothing(gw, shop, token, db, name):
    with gw.client(token=token("u1")) as client:
        client.refused(f"hostile_{name}", {"shopId": shop}, "internal")
    assert dump(db, f"shop:{shop}*") == {}
