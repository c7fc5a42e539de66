"""The scripts of push at their limits."""

import json

from Fixtures.scripts.lua_scripts import NOW_MS
from weight_cases import case

DEVICES = 10
WAITING = 100
CALLED = 8


def token(number):
    return f"{number:0200x}"


def device(number, at=NOW_MS):
    return json.dumps({"k": token(number), "p": "visionos", "e": "production", "z": "America/Argentina/ComodRivadavia",
                       "r": at + number})


def devices(site):
    site.db.hset("user:ann#devices", mapping={f"device-{n:02}-{'d' * 54}": device(n) for n in range(DEVICES)})


def rules(site):
    types = {f"type-{n:02}-{'t' * 55}": "urgent" for n in range(50)}
    site.db.set("user:ann#push_rules", json.dumps({"types": types, "from": 1_320, "to": 420, "mode": "hold"}))
    return json.dumps(types)


def waiting(site, at=NOW_MS - 60_000):
    site.db.zadd("user:ann#pushes", {f"c:{n:03}-{'c' * 190}": at + n for n in range(WAITING)})
    site.db.hset("user:ann#push_tries", mapping={f"c:{n:03}-{'c' * 190}": '{"n":1,"d":[]}' for n in range(WAITING)})
    return [f"c:{n:03}-{'c' * 190}" for n in range(CALLED)]


@case
def register_device(site):
    devices(site)
    return lambda n: site.commands.register_device(userId="ann", deviceId=f"new-{n}", deviceToken=token(1_000 + n),
                                                   timezone="Europe/Berlin", now_ms=NOW_MS + 100 + n)


@case
def remove_device(site):
    devices(site)
    site.fill(lambda pipe, n: pipe.hset("user:ann#devices", f"d{n}", device(n)), 40)
    return lambda n: site.commands.remove_device(userId="ann", deviceId=f"d{n}")


@case
def set_preferences(site):
    devices(site)
    types = rules(site)
    return lambda n: site.commands.set_preferences(userId="ann", types=types, quietFrom="22:00", quietTo="07:00")


@case
def push_settings(site):
    devices(site)
    rules(site)
    return lambda n: site.commands.push_settings(userId="ann")


@case
def claim_token(site):
    site.db.set("token:t1#owner", f"bob phone {NOW_MS}")
    return lambda n: site.commands.claim_token(role="worker", tokenId="t1", userId=f"u{n}", deviceId="d",
                                               at=NOW_MS + n + 1)


@case
def free_token(site):
    site.fill(lambda pipe, n: pipe.set(f"token:t{n}#owner", f"bob phone {NOW_MS}"), 100)
    return lambda n: site.commands.free_token(role="worker", tokenId=f"t{n}", userId="bob")


@case
def drop_token(site):
    devices(site)
    name = f"device-00-{'d' * 54}"
    return lambda n: site.commands.drop_token(role="worker", userId="ann", deviceId=name, tokenId="t1", at=NOW_MS)


@case
def pushes_refresh(site):
    devices(site)
    waiting(site)
    # Everything was shown to a live session.
    site.db.set("user:ann#online", NOW_MS - 1)

    def call(n):
        waiting(site)
        return site.commands.call("pushes_refresh", role="worker", userId="ann", now_ms=NOW_MS)[0]

    return call


@case
def call_pushes(site):
    waiting(site)
    site.db.set("user:ann#push_call", NOW_MS)
    return lambda n: site.commands.call_pushes(role="worker", userId="ann", round=NOW_MS)


@case
def pushes_answered(site):
    devices(site)
    names = waiting(site)
    known = [f"device-{n:02}-{'d' * 54}" for n in range(DEVICES)]
    results = [{"p": name, "s": NOW_MS - 60_000 + n, "at": NOW_MS + n, "tries": 3, "done": known}
               for n, name in enumerate(names)]
    answer = json.dumps({"results": results, "dead": [{"device": id, "until": NOW_MS + 50} for id in known]})

    def call(n):
        devices(site)
        waiting(site)
        site.db.set("user:ann#push_call", NOW_MS)
        return site.commands.call("pushes_answered", role="worker", userId="ann", round=NOW_MS, pushes=names,
                                  outcome="ok", answer=answer)[0]

    return call


@case
def erase_push(site):
    def call(n):
        devices(site)
        waiting(site)
        rules(site)
        return site.commands.erase_push(role="worker", userId="ann")

    return call


@case
def export_push(site):
    devices(site)
    rules(site)
    waiting(site)
    return lambda n: site.commands.export_push(role="worker", userId="ann")
