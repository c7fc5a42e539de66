"""Calls of the pack `push` for its tests; the courier's part is played by its contract."""

import json

from Fixtures.scripts.lua_scripts import NOW_MS

TOKEN = {name: name * 32 for name in "abcdef"}


def register(commands, user="ann", device="phone", token="a", relayed=True, **more):
    answer = commands.register_device(user=user, role="user", deviceId=device,
                                      deviceToken=TOKEN.get(token, token), **more)
    if relayed:
        commands.relay()
    return answer["devices"]


def devices(db, user="ann"):
    return {id.decode(): json.loads(text) for id, text in db.hgetall(f"user:{user}#devices").items()}


def owners(db):
    """The keys that say whose a token is; not those that say whose it was."""
    return [key for key in db.keys("token:*#owner") if not db.get(key).endswith(b" -")]


def notify(commands, user="ann", title="Ready", **more):
    return "n:" + commands.notify(userId=user, type="booking", title=title, body="Come in", **more)["id"]


def pushes(db, user="ann"):
    return {name.decode(): score for name, score in db.zrange(f"user:{user}#pushes", 0, -1, withscores=True)}


def refresh(commands, now_ms, user="ann"):
    return commands.call("pushes_refresh", role="worker", userId=user, now_ms=now_ms)[0]


def call(commands, db, now_ms=NOW_MS, user="ann", **more):
    """What the refresh leads to: the request of the call that waits for a courier, and the arguments of its answer."""
    if db.get(f"user:{user}#push_call") == b"rest":
        db.delete(f"user:{user}#push_call")  # two seconds have passed
    refresh(commands, now_ms, user)
    ((_, fields),) = db.xrange("#outbox")
    db.delete("#outbox")
    commands.call("call_pushes", role="worker", now_ms=now_ms, **json.loads(fields[b"a"]), **more)
    calls = db.xrange("#calls:apns")
    db.delete("#calls:apns")
    if not calls:
        return None, None
    assert calls[0][1][b"c"] == b"pushes_answered"
    return json.loads(calls[0][1][b"r"]), json.loads(calls[0][1][b"a"])


def answer(commands, arguments, results=(), dead=(), now_ms=NOW_MS, outcome="ok", text=None):
    text = json.dumps({"results": list(results), "dead": list(dead)}) if text is None else text
    return commands.call("pushes_answered", role="worker", now_ms=now_ms, outcome=outcome, answer=text, **arguments)[0]
