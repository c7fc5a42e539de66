"""The feed: who follows whom, one publish per post, and the merged posts for who was away."""

import json
import re
import time

import pytest
import redis

from Fixtures.scripts.command_scripts import Failed
from Fixtures.scripts.lua_scripts import NOW_MS

FOLLOWS, TOPIC = "user:u1#follows", "user:u1"


def follow(commands, barber, **more):
    return commands.follow(user="u1", role="user", barberId=barber, **more)


def publish(commands, barber, id, **more):
    return commands.publish_post(barberId=barber, post=json.dumps({"id": id, **more.pop("post", {})}), **more)


def feed(commands, **more):
    answer = commands.feed(user="u1", role="user", **more)
    return [post["id"] for post in answer["posts"]], answer["more"]


def test_following_changes_and_is_told_once(commands, db, unchanged):
    assert follow(commands, "b1") == {"barberId": "b1", "following": True, "count": 1}
    assert db.smembers(FOLLOWS) == {b"feed:b1"}
    with unchanged():
        assert follow(commands, "b1") == {"barberId": "b1", "following": True, "count": 1}
        assert commands.unfollow(userId="u1", barberId="b2") == {"barberId": "b2", "following": False, "count": 1}
    assert follow(commands, "a1")["count"] == 2
    assert commands.following(userId="u1") == {"barbers": ["a1", "b1"], "next": None}
    assert commands.unfollow(userId="u1", barberId="b1") == {"barberId": "b1", "following": False, "count": 1}
    assert commands.log(TOPIC) == [
        ("follows:changed", {"topic": "feed:b1", "following": True}),
        ("follows:changed", {"topic": "feed:a1", "following": True}),
        ("follows:changed", {"topic": "feed:b1", "following": False})]


def test_a_user_follows_at_most_1000(commands, db, unchanged):
    db.sadd(FOLLOWS, *(f"feed:b{n}" for n in range(1_000)))
    with unchanged(), pytest.raises(Failed) as failed:
        follow(commands, "new", id="op-1")
    assert failed.value.code == "too_many"
    assert follow(commands, "b7")["count"] == 1_000
    assert commands.unfollow(userId="u1", barberId="b7")["count"] == 999
    assert follow(commands, "new")["count"] == 1_000
    assert len(commands.following(userId="u1")["barbers"]) == 1_000


def test_garbage_among_the_followed_is_left_out(commands, db):
    db.sadd(FOLLOWS, b"\xff", "feed:", "feed:a b", "shop:1", "feed:" + "x" * 201, "feed:ok", "feed:x#log", "")
    assert commands.following(userId="u1") == {"barbers": ["ok"], "next": None}
    publish(commands, "ok", "p1")
    publish(commands, "x" * 201, "p2")
    assert feed(commands) == (["p1"], False)


@pytest.mark.parametrize("name, more", [("follow", {"barberId": "b"}), ("unfollow", {"barberId": "b"}),
                                        ("following", {}), ("feed", {})])
def test_another_type_changes_nothing(commands, db, unchanged, name, more):
    db.set(FOLLOWS, "x")
    with unchanged(), pytest.raises(redis.ResponseError, match="BADKEY"):
        commands.call(name, userId="u1", **more)


def test_a_post_is_published_as_it_came(commands, db):
    text = '{"id":"p1","price":10.00,"big":12345678901234567890,"tags":[],"more":{}}'
    assert commands.publish_post(barberId="b1", post=text) == {"barberId": "b1", "postId": "p1"}
    own = '{ "barberId":"b1","id":"p2"}'
    commands.publish_post(barberId="b1", post=own)
    logged = [fields[b"d"].decode() for _, fields in db.xrange("feed:b1#log") if fields[b"e"] == b"feed:new_post"]
    assert logged == ['{"barberId":"b1",' + text[1:], own]
    assert [event for event, _ in commands.log("feed:b1")] == ["feed_updates", "feed:new_post"] * 2
    assert db.xlen("#outbox") == 0, "the cost does not depend on followers"


@pytest.mark.parametrize("post", [
    "[]", "7", "", "{}", '{"id":7}', '{"id":""}', '{"id":null}', '{"id":["p"]}', '{"id":"' + "x" * 201 + '"}',
    '{"id":"p","barberId":"b2"}', '{"id":"p","barberId":null}', '{"id":"p","barberId":1}', '{"id":"p","n":nan}',
])
def test_what_is_no_post_is_refused(commands, unchanged, post):
    with unchanged(), pytest.raises(Failed) as failed:
        commands.publish_post(barberId="b1", post=post, id="op-1")
    assert failed.value.code == "bad_request"


def test_a_retry_publishes_once(commands, unchanged):
    first = commands.call("publish_post", id="op-1", barberId="b1", post='{"id":"p1"}')
    with unchanged():
        assert commands.call("publish_post", id="op-1", barberId="b1", post='{"id":"p1"}') == (first[0], 1)


def test_the_feed_merges_by_time(commands, unchanged):
    for barber in "abc":
        follow(commands, barber)
    for n, barber in enumerate("abacxbca"):
        publish(commands, barber, f"{barber}{n}", now_ms=NOW_MS + n)
    with unchanged():
        assert feed(commands) == (["a7", "c6", "b5", "c3", "a2", "b1", "a0"], False)
        assert feed(commands, limit=3) == (["a7", "c6", "b5"], True)
        assert feed(commands, limit=7)[1] is False
        assert feed(commands, limit=1) == (["a7"], True)
    commands.unfollow(userId="u1", barberId="a")
    assert feed(commands) == (["c6", "b5", "c3", "b1"], False)
    assert commands.feed(userId="nobody") == {"posts": [], "updates": [], "more": False}


def test_garbage_in_logs_is_left_out(commands, db):
    for barber in "abcd":
        follow(commands, barber)
    publish(commands, "a", "p1")
    good = {"e": "feed:new_post", "d": '{"id":"p"}', "i": "-", "t": "5"}
    for change in ({"d": "[]"}, {"d": '{"id":nan}'}, {"d": b'{"id":"\xff"}'}, {"t": "x"}, {"e": "other"}, {"i": None}):
        db.xadd("feed:a#log", {name: value for name, value in {**good, **change}.items() if value is not None})
    db.set("feed:b#log", "x")
    db.xadd("feed:c#log", {"x": "y"}, id="0-1")
    assert feed(commands) == (["p1"], False)


def test_a_page_ends_before_it_is_too_long(commands):
    follow(commands, "a")
    for n in range(40):
        publish(commands, "a", str(n), post={"text": "x" * 30_000})
    assert feed(commands, limit=100) == (["39"], True), "one post at least"
    for n in range(40):
        publish(commands, "a", f"s{n}", post={"text": "x" * 1_000}, now_ms=NOW_MS + 1)
    posts, more = feed(commands, limit=100)
    assert posts == [f"s{n}" for n in range(39, 39 - len(posts), -1)] and 14 < len(posts) < 17 and more


def test_an_answer_has_fewer_values_than_a_clients_json_may_have(commands, unchanged):
    """Four posts of 3,000 values made an answer that the gateway could not read, until they left their logs."""
    follow(commands, "a")
    for n in range(4):
        publish(commands, "a", str(n), post={"values": [1] * 3_000})
    posts = commands.feed(user="u1", role="user")["posts"]
    assert 1 <= len(posts) and sum(len(post["values"]) for post in posts) < 9_000
    with unchanged(), pytest.raises(Failed, match="bad_request.*5000 values"):
        publish(commands, "a", "5", post={"values": [1] * 10_100})


def test_a_page_has_at_most_20_posts(commands):
    follow(commands, "a")
    for n in range(22):
        publish(commands, "a", str(n))
    assert feed(commands, limit=100) == ([str(n) for n in range(21, 1, -1)], True)


def test_barbers_whose_posts_were_broadcast_are_looked_at_too(commands, db):
    """Their newest post's time is not known; up to forty of them are read all the same."""
    for n in range(45):
        follow(commands, f"b{n}")
    publish(commands, "b7", "told", now_ms=NOW_MS - 50)
    for n in range(30):
        db.xadd(f"feed:b{n + 10}#log", {"e": "feed:new_post", "d": f'{{"id":"x{n}"}}', "i": "-", "t": NOW_MS + n})
    for barber in [*range(7), 8, 9, *range(40, 45)]:
        commands.unfollow(userId="u1", barberId=f"b{barber}")
    posts, more = feed(commands)
    assert posts == [f"x{n}" for n in range(29, 9, -1)] and more


def test_long_names_of_the_followed_come_in_pages(commands, db):
    names = sorted(f"b{n:03}-{'x' * 150}" for n in range(500))
    db.sadd(FOLLOWS, *(f"feed:{name}" for name in names))
    seen, after = [], {}
    while True:
        answer = commands.following(userId="u1", **after)
        seen += answer["barbers"]
        if answer["next"] is None:
            break
        assert len(answer["barbers"]) > 100
        after = {"after": answer["next"]}
    assert seen == names and after


def test_reads_have_a_bound(commands, db):
    """Other events between the posts cost reads; beyond the bound what was found is told."""
    follow(commands, "a")
    publish(commands, "a", "old")
    for n in range(2_500):
        db.xadd("feed:a#log", {"e": "other", "d": "{}", "i": "-", "t": "5"}, id=f"{n + 3}-0")
    db.config_resetstat()
    assert feed(commands) == ([], False)
    # 3, 6 and 12 events, then 24 in each of twelve reads: 309 events, as much as a hundred short reads had.
    assert db.info("commandstats")["cmdstat_xrevrange"]["calls"] == 15


def test_random_feeds_agree_with_a_model(commands, db, rng):
    barbers = [f"b{n}" for n in range(12)]
    followed, logs, clock = set(), {barber: [] for barber in barbers}, NOW_MS
    for n in range(1_000):
        barber = rng.choice(barbers)
        action = rng.choices(["post", "follow", "unfollow", "feed"], [50, 10, 8, 25])[0]
        if action == "post":
            clock += rng.choice([0, 1, 5])
            publish(commands, barber, str(n), now_ms=clock)
            logs[barber] = (logs[barber] + [(clock, n)])[-200:]
        elif action == "follow":
            followed.add(barber)
            assert follow(commands, barber)["count"] == len(followed)
        elif action == "unfollow":
            followed.discard(barber)
            assert commands.unfollow(userId="u1", barberId=barber)["count"] == len(followed)
        else:
            limit = rng.randrange(1, 101)
            posts = sorted((-at, "feed:" + name, -post) for name in followed for at, post in logs[name])
            limit = min(limit, 20)
            assert feed(commands, limit=limit) == (
                [str(-post) for *_, post in posts[:limit]], len(posts) > limit)
    assert followed


def test_the_cost_of_1000_follows(commands, db):
    db.sadd(FOLLOWS, *(f"feed:b{n}" for n in range(1_000)))
    for n in range(3_000):
        publish(commands, f"b{n % 1_000}", str(n), now_ms=NOW_MS + n, post={"text": "x" * 400})
    taken = []
    db.config_resetstat()
    for _ in range(20):
        begun = time.perf_counter()
        posts, more = feed(commands, limit=100)
        taken.append(time.perf_counter() - begun)
    assert posts == [str(n) for n in range(2_999, 2_979, -1)] and more
    stats = db.info("commandstats")
    assert stats["cmdstat_xrevrange"]["calls"] == 20 * 21
    print(f"feed of 1000: client p50 {sorted(taken)[10] * 1e3:.1f} ms, max {max(taken) * 1e3:.1f} ms; "
          f"in Redis {stats['cmdstat_evalsha']['usec_per_call'] / 1e3:.1f} ms on average")


def test_bad_posts_hide_no_good_ones(commands, db):
    for n in range(30):
        follow(commands, f"b{n}")
        publish(commands, f"b{n}", f"p{n}", now_ms=NOW_MS + n)
        if n < 25:  # newer than every good post, and no JSON
            db.xadd(f"feed:b{n}#log", {"e": "feed:new_post", "d": "{nan}", "i": "-", "t": NOW_MS + 1_000 + n}, id="7-0")
    assert feed(commands, limit=3) == (["p29", "p28", "p27"], True)
    assert feed(commands, limit=20) == ([f"p{n}" for n in range(29, 9, -1)], True)


def test_a_post_tells_its_update_live(commands, unchanged):
    """The app counts new posts by `feed_updates`, which only whoever asked for the feed was told."""
    publish(commands, "b1", "p1", post={"text": "x"}, now_ms=NOW_MS)
    update = {"type": "new_post", "postId": "p1", "barberId": "b1", "timestamp": "2026-11-20T20:03:20.123Z"}
    assert commands.log("feed:b1") == [
        ("feed_updates", update), ("feed:new_post", {"id": "p1", "text": "x", "barberId": "b1"})]
    follow(commands, "b1")
    assert commands.feed(user="u1", role="user")["updates"] == [update]
    with unchanged(), pytest.raises(Failed):
        publish(commands, "b1", "p2", post={"barberId": "other"})


def test_each_post_has_an_update(commands, db):
    """The app's `feed_updates` had no counterpart: whoever was away could not count the posts it had not seen."""
    follow(commands, "b1")
    publish(commands, "b1", "p1", post={"text": "x" * 5_000})
    publish(commands, "b1", "p2")
    follow(commands, "b2")
    db.xadd("feed:b2#log", {"e": "feed:new_post", "d": '{"id":7}', "i": "-", "t": 0})
    answer = commands.feed(user="u1", role="user")
    updates = answer["updates"]
    assert [update["postId"] for update in updates] == ["p2", "p1", None] and len(answer["posts"]) == 3
    assert [(update["type"], update["barberId"]) for update in updates] == [("new_post", f"b{n}") for n in (1, 1, 2)]
    assert updates[2]["timestamp"] == "1970-01-01T00:00:00.000Z"
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", update["timestamp"]) for update in updates)
