"""The built-in scripts at their limits: for each, keys as large as they may get, and a call.

A case fills Redis and returns a function that makes the n-th call. Writes get another argument each time, so that every
call does all its work.
"""

import json

from Fixtures.scripts.lua_scripts import NOW_MS
from weight_site import Site, kept  # noqa: F401  Site for those who run the cases

CASES = {}
USERS = 10_000
LONG = "x" * 190


def case(function):
    CASES[function.__name__.rstrip("_")] = function
    return function


# Leaderboards


@kept
def board(site):
    site.fill(lambda pipe, n: pipe.zadd("leaderboard:c", {f"user-{n:08}-{'y' * 20}": n + 0.123456789}), USERS)


@case
def top(site):
    board(site)
    return lambda n: site.commands.top(challengeId="c", limit=1000)


@case
def around(site):
    board(site)
    return lambda n: site.commands.around(challengeId="c", userId=f"user-{5_000:08}-{'y' * 20}", count=100)


@case
def rank(site):
    board(site)
    return lambda n: site.commands.rank(challengeId="c", userId=f"user-{5_000:08}-{'y' * 20}")


@case
def add_points(site):
    site.fill(lambda pipe, n: pipe.zadd("leaderboard:c", {f"user-{n:08}": 5}), USERS)
    return lambda n: site.commands.add_points(challengeId="c", userId=f"user-{5_000 + n:08}", points=1.5)


@case
def leaderboard_refresh(site):
    board(site)
    site.commands.leaderboard_refresh(challengeId="c")

    def call(n):
        with site.db.pipeline(transaction=False) as pipe:
            for place in range(100):
                pipe.zadd("leaderboard:c", {f"m{place}": 1_000_000 + (place * 37 + n * 13) % 100})
            pipe.execute()
        site.db.delete("#outbox")
        site.db.config_resetstat()
        site.commands.leaderboard_refresh(challengeId="c")
    return call


# DJ mode


# As many users as a track names.
MANY = [f"user-{number}" for number in range(465)]
SHORT = ["u"] * 2_047


@kept
def session(site, tracks=499, voters=None):
    """A session with a full queue of the largest tracks; `voters` are named for each of them."""
    site.commands.start_session(shopId="s", random="a" * 32)
    site.db.hset("dj:s#session", "sequence", tracks + 1)
    names = " ".join(voters or ()) + " |"

    def add(pipe, number):
        track = f"track-{number:04}-{'t' * 100}"
        text = json.dumps({"trackId": track, "trackName": "n" * 200, "artistName": "a" * 200, "albumArt": "b" * 700,
                           "addedBy": f"user-{number}-{'u' * 50}", "addedAt": "2026-11-20T20:03:20.123Z"})
        pipe.hset("dj:s#tracks", track, text)
        pipe.hset("dj:s#tally", track, f"{'a' * 12} {number + 1} {number % 7} {number % 3}")
        pipe.zadd("dj:s#order", {track: (number % 7 - number % 3) * 16384 - number - 1})
        if voters:
            pipe.hset("dj:s#voters", track, names)

    site.fill(add, tracks)
    if voters:
        site.db.hset("dj:s#voters", "", 1)
    site.fill(lambda pipe, n: pipe.zadd("shop:s#presence", {f"user-{n}": NOW_MS + 90_000}), USERS)


@case
def dj(site):
    session(site)
    return lambda n: site.commands.dj(shopId="s")


@case
def dj_voters(site):
    session(site, voters=MANY)
    return lambda n: site.commands.dj(shopId="s")


@case
def dj_voters_short(site):
    """Ids of one letter: the most users in a page."""
    session(site, voters=SHORT)
    return lambda n: site.commands.dj(shopId="s")


@case
def my_votes(site):
    session(site)
    site.db.hset("dj:s#ballots#user-1", mapping={"": "a" * 12} | {
        f"track-{n:04}-{'t' * 100}": f"{n + 1}u" for n in range(499)})
    return lambda n: site.commands.my_votes(shopId="s", userId="user-1")


@case
def vote(site):
    session(site)
    return lambda n: site.commands.vote(
        shopId="s", trackId=f"track-{n:04}-{'t' * 100}", vote="up", userId="user-1", id=f"op-{n}")


@case
def vote_voters(site):
    session(site, voters=MANY)
    return lambda n: site.commands.vote(
        shopId="s", trackId=f"track-{n:04}-{'t' * 100}", vote="down", userId=MANY[0], id=f"op-{n}")


def described(site):
    """A shop that knows as many tracks as it may; returns what Spotify says of a track, at its longest."""
    session(site)
    site.db.hset("dj:s#catalogue", mapping={f"old-{n}": "{}" for n in range(1_000)})
    site.db.zadd("dj:s#described", {f"old-{n}": n for n in range(1_000)})
    return {"name": "n" * 200, "artists": [{"name": "a" * 60}] * 5, "duration_ms": 1,
            "album": {"name": "b" * 100, "images": [{"url": "u" * 100}]}, "available_markets": ["DE"] * 4_000}


@case
def describe_track(site):
    about = described(site)
    return lambda n: site.commands.describe_track(
        shopId="s", trackId=f"track-{n:04}-{'t' * 100}", track=json.dumps(about), id=f"op-{n}")


@case
def track_found(site):
    about = described(site)
    return lambda n: site.commands.track_found(
        shopId="s", trackId=f"track-{n:04}-{'t' * 100}", outcome="ok", answer=json.dumps(about), id=f"op-{n}")


@case
def untold_refresh(site):
    session(site)

    def call(n):
        site.db.zadd("dj:s#untold", {f"track-{number:04}-{'t' * 100}": 1 for number in range(20)})
        site.db.config_resetstat()
        return site.commands.untold_refresh(shopId="s", token=n + 1)
    return call


@case
def add_track(site):
    session(site, 450)
    return lambda n: site.commands.add_track(
        shopId="s", trackId=f"new-{n}", trackName="n" * 200, artistName="a" * 200, albumArt="b" * 700,
        userId=f"user-{n}", id=f"op-{n}")


@case
def remove_track(site):
    session(site)
    return lambda n: site.commands.remove_track(shopId="s", trackId=f"track-{n:04}-{'t' * 100}", id=f"op-{n}")


@case
def next_track(site):
    session(site)
    return lambda n: site.commands.next_track(shopId="s", id=f"op-{n}")


@case
def start_session(site):
    def call(n):
        site.commands.stop_session(shopId="s")
        site.db.config_resetstat()
        site.commands.start_session(shopId="s", random="a" * 32)
    return call


@case
def stop_session(site):
    def call(n):
        session(site, 100)
        site.db.config_resetstat()
        site.commands.stop_session(shopId="s")
    return call


# Notifications and feeds


@kept
def inbox(site):
    data = json.dumps({"values": list(range(1_540))})
    assert 8_000 < len(data) <= 8_192
    for number in range(500):
        site.db.xadd("user:u#inbox", {"type": "t" * 64, "title": "i" * 200, "body": "b" * 2_000, "data": data,
                                      "timestamp": "2026-11-20T20:03:20.123Z"}, id=f"{NOW_MS + number}-0")
        site.db.sadd("user:u#unread", f"{NOW_MS + number}-0")


@case
def notifications(site):
    inbox(site)
    return lambda n: site.commands.notifications(userId="u", limit=100)


@case
def notify(site):
    inbox(site)
    data = {"values": list(range(1_500))}
    return lambda n: site.commands.notify(userId="u", type="t", title="i" * 200, body="b" * 2_000, data=data,
                                          now_ms=NOW_MS + 1_000 + n)


@case
def notify_many(site):
    def call(n):
        site.db.delete("#outbox")
        site.db.config_resetstat()
        return site.commands.notify_many(
            campaignId="c", users=[f"user-{number:03}" for number in range(100)], type="t", title="i" * 200,
            body="b" * 2_000, data=json.dumps({"values": list(range(800))}), id=f"op-{n}")
    return call


@case
def mark_read(site):
    inbox(site)
    return lambda n: site.commands.mark_read(
        userId="u", ids=[f"{NOW_MS + (number + n * 7) % 500}-0" for number in range(100)])


@case
def mark_all_read(site):
    def call(n):
        site.db.sadd("user:u#unread", *(f"{NOW_MS + number}-0" for number in range(500)))
        site.db.config_resetstat()
        site.commands.mark_all_read(userId="u")
    return call


@kept
def follows(site, count=1_000, text=None):
    text = text or json.dumps({"id": "p", "barberId": "b", "text": "w" * 300})
    for number in range(count):
        barber = f"barber-{number:04}"
        site.db.sadd("user:u#follows", f"feed:{barber}")
        for age in range(3):
            site.commands.call("publish_post", barberId=barber, now_ms=NOW_MS + number * 7 % 997 * 1_000 + age,
                               post=text.replace('"b"', json.dumps(barber)))


@case
def feed(site):
    follows(site)
    return lambda n: site.commands.feed(userId="u", limit=100)


@case
def feed_large(site):
    """Thirty posts of 32 kB, of as many values as a post may have."""
    post = json.dumps({"id": "p", "barberId": "b", "values": [1] * 4_990, "text": "w" * 17_000})
    follows(site, 30, post)
    return lambda n: site.commands.feed(userId="u", limit=30)


@case
def following(site):
    site.db.sadd("user:u#follows", *(f"feed:barber-{number:04}-{'b' * 100}" for number in range(1_000)))
    return lambda n: site.commands.following(userId="u")


@case
def follow(site):
    site.db.sadd("user:u#follows", *(f"feed:barber-{number:04}" for number in range(900)))
    return lambda n: site.commands.follow(userId="u", barberId=f"n{n}", id=f"op-{n}")


@case
def unfollow(site):
    site.db.sadd("user:u#follows", *(f"feed:barber-{number:04}" for number in range(1_000)))
    return lambda n: site.commands.unfollow(userId="u", barberId=f"barber-{n:04}", id=f"op-{n}")


@case
def publish_post(site):
    post = json.dumps({"id": "p", "values": list(range(4_000)), "text": "w" * 10_000})
    return lambda n: site.commands.publish_post(barberId="b", post=post, id=f"op-{n}")


# Rights


@kept
def withdrawn(site):
    site.fill(lambda pipe, n: pipe.zadd("#revoked", {f"u:user-{n:08}": NOW_MS + n}), USERS)
    site.fill(lambda pipe, n: pipe.hset("#revoked-before", f"u:user-{n:08}", NOW_MS // 1_000), USERS)
    site.fill(lambda pipe, n: pipe.zadd("#removed", {f"conversation:{n} user-{n:08}": NOW_MS + n}), USERS)


@case
def revoke(site):
    withdrawn(site)
    return lambda n: site.scripts.call(
        "revoke", ["#revoked", "#revoked-before"], [f"u:new-{n}", NOW_MS // 1_000, 2_678_400, 100_000])


@case
def set_member(site):
    withdrawn(site)
    site.fill(lambda pipe, n: pipe.sadd("conversation:1#members", f"user-{n:08}"), USERS)
    return lambda n: site.scripts.call(
        "set_member", ["conversation:1#members", "#removed"], ["conversation:1", f"user-{n:08}", "remove", 100_000])


@case
def rights_changes(site):
    withdrawn(site)
    return lambda n: site.scripts.call("rights_changes", ["#revoked", "#revoked-before", "#removed"], [0, 0, 500])


@case
def renew(site):
    names = [f"shop:{n}#meta" for n in range(64)]
    for name in names:
        site.db.hset(name, mapping={"epoch": "a", "offset": "0", "run": "r"})
    return lambda n: site.scripts.call("renew", names, [300])


# Presence


def present(n):
    return json.dumps({"k": f"key-{n}-{'k' * 30}", "u": f"user-{n:08}", "r": 1, "m": {"a": "m" * 500}},
                      separators=(",", ":"))


@kept
def here(site):
    """A topic with as many members as it may have, each saying as much as it may."""
    site.db.hset("room:1#here", "#", "e1 7")
    site.fill(lambda pipe, n: pipe.hset("room:1#here", f"abcdefgh.0.{n}", present(n)), 1_000)


@case
def here_change(site):
    here(site)

    def call(n):
        left = [f"abcdefgh.0.{(n * 64 + place) % 1_000}" for place in range(64)]
        come = [f"ijklmnop.{n}.{place}" for place in range(64)]
        site.db.hset("room:1#here", mapping={id: present(1) for id in left})
        site.db.config_resetstat()
        site.scripts.call("here_change", ["room:1#here"], [
            "room:1", "e1", 100_000, 300, 64, *left, *(word for id in come for word in (id, present(1)))])
        site.db.hdel("room:1#here", *come)
    return call


@case
def here_read(site):
    here(site)
    return lambda n: site.scripts.call("here_read", ["room:1#here"], [1_000])


@case
def here_nodes(site):
    site.fill(lambda pipe, n: pipe.zadd("#here-nodes", {f"node-{n:04}": 9_999_999_999_999}), 255)
    return lambda n: site.scripts.call("here_nodes", ["#here-nodes"], ["node-self", 120_000])
