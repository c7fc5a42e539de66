"""`switchboard check` says what the gateways' Redis user may not do, before a gateway is started that cannot work."""

import re
from functools import partial
from pathlib import Path

import pytest

from Fixtures.clients.emitter import Emitter
from Fixtures.clients.tokens import SECRET
from Fixtures.processes.bridges import holder
from Fixtures.processes.check import check
from Fixtures.processes.fault_proxy import FaultProxy
from Fixtures.processes.gateway import Gateway, command
from Fixtures.redis.server import RedisServer
from Fixtures.scripts.lua_scripts import LUA
from Fixtures.waiting import eventually

#: With these `check` can ask for all others.
ASKING = ("+info", "+ping", "+client|setname", "+config|get", "+acl|dryrun", "+script", "+eval", "+evalsha", "+time")
#: Words of Redis in scripts that couriers and `move-data` alone run.
OTHERS = {"DUMP"}


@pytest.fixture
def redis(tmp_path):
    (tmp_path / "redis").mkdir()
    server = RedisServer(tmp_path / "redis", tcp=True).start()
    yield server
    server.stop()


def rule(redis, *words):
    """`ACL SETUSER` of the gateways' user, who has nothing else."""
    with redis.client() as db:
        assert db.execute_command("ACL", "SETUSER", "gateway", "reset", "on", ">ours", *words) == b"OK"


def url(redis):
    return f"redis://gateway:ours@127.0.0.1:{redis.port}"


def lacking(done):
    """The rules that `check` prints for the user."""
    found = re.search(r"^error: 127.0.0.1:\d+: the Redis user gateway lacks rights of a gateway: ACL SETUSER gateway"
                      r" (.*), then ACL SAVE$", done.stdout, re.M)
    return found[1].split() if found else []


@pytest.mark.parametrize("rules, flags, mend", [
    ("~* &* +@all", (), []),
    # A user that Redis 7 makes has no channels unless it is told.
    ("~* +@all", (), ["&*"]),
    ("&* +@all", (), ["~*"]),
    ("~* &* +@all", ("--redis-prefix", "app:"), []),
    ("~app:* &app:* +@all", ("--redis-prefix", "app:"), []),
    ("~app:* &app:#* +@all", ("--redis-prefix", "app:"), ["&app:*"]),
    ("~* &* +@all -zadd -subscribe", (), ["+subscribe", "+zadd"]),
    ("~* &* +@all -publish", (), ["+publish"]),
    # The shops' scripts need no places, and those of others are not served.
    ("~* &* +@all -@geo", (), []),
    ("~* &* +@all -@geo", ("--packs", "all"), ["+geopos", "+geosearch"]),
    ("~* &* +@all -script|load", (), ["+script|load"]),
    ("~app:#* ~app:shop:* &app:* +@all", ("--redis-prefix", "app:"), ["~app:*"]),
    ("~* &* +@all -psubscribe", (), []),
    ("~* &* +@all -psubscribe", ("--bridge", "socketio"), ["+psubscribe"]),
    ("~app:* &app:* +@all", ("--redis-prefix", "app:", "--bridge", "python-socketio"), ["&socketio"]),
    ("~app:* +@all", ("--redis-prefix", "app:", "--bridge", "socketio"), ["&app:*", "&socket.io#*"]),
])
def test_check_names_each_right_that_is_missing(redis, tmp_path, rules, flags, mend):
    rule(redis, *rules.split())
    done = check(tmp_path, url(redis), *flags)
    assert lacking(done) == mend, done.stdout[-3_000:]
    assert (done.returncode == 0) is (not mend), done.stdout[-3_000:]
    assert ("ok: the Redis user gateway has the rights of a gateway on 1 server" in done.stdout) is (not mend)


def test_check_says_when_it_cannot_know(redis, tmp_path):
    rule(redis, "~*", "+@all", "-acl")
    done = check(tmp_path, url(redis))
    assert re.search(r"^warning: .* does not say whether the Redis user gateway has the rights of a gateway \(noperm\):"
                     r" ACL SETUSER gateway \+acl\|dryrun, then ACL SAVE$", done.stdout, re.M), done.stdout
    assert done.returncode == 0


def test_check_asks_a_redis_that_is_far_away(redis, tmp_path):
    """One question after the other took longer than a check waits."""
    rule(redis, "~*", "+@all")
    with FaultProxy(("127.0.0.1", redis.port)) as proxy:
        proxy.delay(40)
        done = check(tmp_path, f"redis://gateway:ours@127.0.0.1:{proxy.port}")
    assert lacking(done) == ["&*"], done.stdout[-3_000:]


def commands_of_scripts():
    """The commands of Redis that the scripts of the repository name."""
    text = "".join(path.read_text() for path in Path(LUA).rglob("*.lua"))
    return set(re.findall(r"\b(?:p?call|read|write|read_or|may)\(\s*'([A-Z]+)'", text)) - OTHERS


def test_what_check_prints_is_all_that_a_gateway_needs(redis, tmp_path, certificate):
    """Each command that a script names is asked for; a user with nothing else has a gateway that works."""
    rule(redis, *ASKING)
    flags = ("--bridge", "socketio", "--packs", "all")
    rules = lacking(check(tmp_path, url(redis), *flags))
    assert "~*" in rules
    # Redis looks at channels once the commands are allowed.
    rule(redis, *ASKING, *rules)
    assert lacking(check(tmp_path, url(redis), *flags)) == ["&*"]
    rules.append("&*")
    asked = {word[1:].split("|")[0].upper() for word in (*ASKING, *rules) if word.startswith("+")}
    assert commands_of_scripts() <= asked, commands_of_scripts() - asked
    rule(redis, *ASKING, *rules)
    assert check(tmp_path, url(redis), *flags).returncode == 0

    with redis.client() as db:
        db.execute_command("ACL", "LOG", "RESET")
    gateway = Gateway(tmp_path / "gateway", url(redis), certificate, SECRET, *flags, "--shards", "2")
    try:
        gateway.start().wait_ready()
        works(gateway, redis)
        assert gateway.ops("/readyz").json()["status"] == "ready"
    finally:
        gateway.stop()
    with redis.client() as db:
        refused = db.execute_command("ACL", "LOG")
        assert refused == [], "\n".join(map(str, refused))


def works(gateway, redis):
    """Clients, backends and operators use the gateway."""
    with gateway.http() as http, gateway.client() as client, redis.client() as db:
        call = partial(command, http)
        client.subscribe("shop:1")
        for number in range(3):
            gateway.publish("shop:1", "note", {"n": number}, id=f"op-{number}")
            client.expect("note", data={"n": number})
        assert gateway.publish("shop:1", "note", {"n": 2}, id="op-2")["offset"] == 3
        eventually(lambda: holder(gateway), 15, "a bridge that publishes")
        Emitter(db).to("shop:1").emit("emitted", {"n": 4})
        client.expect("emitted", data={"n": 4}, timeout=10)
        call("start_session", shopId="1")
        for user in ("ann", "bob"):
            call("check_in", shopId="1", userId=user)
        call("add_track", shopId="1", trackId="t1", trackName="One", userId="ann")
        call("vote", shopId="1", trackId="t1", vote="up", userId="bob")
        for path in ("/v1/topics/shop:1", "/v1/topics/shop:1/events", "/v1/nodes", "/v1/shops/1/dj",
                     "/v1/shops/1/presence", "/v1/shops/1/queue", "/v1/dead-letters?service=outbox"):
            assert http.get(path).status_code == 200, path
        assert http.post("/v1/revocations", json={"user": "ann"}).status_code < 300
        eventually(lambda: gateway.ops("/readyz").status_code == 200, 5, "readiness")
