"""Leaderboards: ranks as ZREVRANK gives them, who is told, and what other systems may have put into the keys."""

import json
import math
import time

import pytest
import redis

from Fixtures.redis.server import RedisServer, fill_million
from Fixtures.scripts.command_scripts import Commands, Failed

BOARD, TOLD = "leaderboard:c1", "challenge:c1#top"
HOSTILE = [b"\xff\xfe", b'a"b\\c', b"line\nbreak\0", "é".encode(), b"bob@example.com", b"", b"x" * 201,
           b"\xed\xa0\x80"]


def add(commands, user, points, **more):
    return commands.add_points(challengeId="c1", userId=user, points=points, **more)


def refresh(commands, **more):
    """Runs the refresh; returns (moves, left) or None when nothing was told, and what users were told."""
    answer = commands.leaderboard_refresh(challengeId="c1", **more)
    told = commands.log("challenge:c1")
    commands.db.xtrim("challenge:c1#log", maxlen=0)
    users = commands.relay()
    assert answer == {"idle": commands.db.zcard(BOARD) == 0} and len(told) <= 1
    if not told:
        return None, users
    name, data = told[0]
    assert name == "leaderboard:moves" and set(data) == {"challengeId", "moves", "left", "updatedAt"}
    assert data["challengeId"] == "c1" and data["updatedAt"] == "2026-11-20T20:03:20.123Z"
    return ([(move["userId"], move["rank"], move["score"]) for move in data["moves"]], data["left"]), users


def update(user, rank, score):
    return f"user:{user}", "leaderboard:update", {"challengeId": "c1", "rank": rank, "score": score}


def test_points_add_up(commands, db):
    assert add(commands, "ann", 5) == {"challengeId": "c1", "userId": "ann", "score": 5, "rank": 1}
    assert add(commands, "bob", 0.1) == {"challengeId": "c1", "userId": "bob", "score": 0.1, "rank": 2}
    assert add(commands, "bob", 0.2)["score"] == 0.1 + 0.2
    assert add(commands, "ann", -5) == {"challengeId": "c1", "userId": "ann", "score": 0, "rank": 2}
    assert db.zrange(BOARD, 0, -1, withscores=True) == [(b"ann", 0.0), (b"bob", 0.1 + 0.2)]


@pytest.mark.parametrize("stored, points", [
    (2**53 - 1, 1), (-(2**53) + 1, -1), (None, 2**53), (None, -1e308), (math.inf, -1), (-math.inf, 1), (1e308, 1e308),
])
def test_scores_stay_exact(commands, db, unchanged, stored, points):
    db.zadd(BOARD, {"ann": 1 if stored is None else stored})
    with unchanged(), pytest.raises(Failed) as failed:
        add(commands, "bob" if stored is None else "ann", points, id="op-1")
    assert failed.value.code == "conflict"


def test_a_score_of_the_last_integer_is_exact(commands, db):
    assert add(commands, "ann", 2**53 - 1)["score"] == 2**53 - 1
    assert db.zscore(BOARD, "ann") == 2**53 - 1


def test_a_retry_adds_once(commands, db):
    first = commands.call("add_points", id="op-1", challengeId="c1", userId="ann", points=5)
    add(commands, "bob", 9)
    assert commands.call("add_points", id="op-1", challengeId="c1", userId="ann", points=5) == (first[0], 1)
    assert db.zscore(BOARD, "ann") == 5
    with pytest.raises(Failed, match="conflict"):
        add(commands, "ann", 6, id="op-1")


@pytest.mark.parametrize("key", [BOARD, TOLD])
def test_another_type_changes_nothing(commands, db, unchanged, key):
    db.rpush(key, "x")
    with unchanged(), pytest.raises(redis.ResponseError, match="BADKEY"):
        commands.leaderboard_refresh(challengeId="c1")
    if key == BOARD:
        for name in ("add_points", "rank", "top", "around"):
            more = {"top": {}, "add_points": {"userId": "a", "points": 1}}.get(name, {"userId": "a"})
            with unchanged(), pytest.raises(redis.ResponseError, match="BADKEY"):
                commands.call(name, challengeId="c1", **more)


def test_reads(commands, db, unchanged):
    db.zadd(BOARD, {f"u{n:03}": n // 2 for n in range(300)})
    order = [member.decode() for member in db.zrevrange(BOARD, 0, -1)]
    rows = [{"rank": n + 1, "userId": user, "score": int(user[1:]) // 2} for n, user in enumerate(order)]
    with unchanged():
        assert commands.top(challengeId="c1")["top"] == rows[:100]
        assert commands.top(challengeId="c1", limit=3)["top"] == rows[:3]
        first = commands.top(challengeId="c1", limit=3, top=1000)
        second = commands.top(challengeId="c1", limit=1000, **{"from": first["next"]})
        assert first["top"] + second["top"] == rows and (first["next"], second["next"]) == (201, None)
        assert commands.rank(challengeId="c1", userId="u002") == {"challengeId": "c1", **rows[297]}
        assert commands.rank(challengeId="c1", userId="zoe") == {
            "challengeId": "c1", "userId": "zoe", "rank": -1, "score": None}
        for place, count, first, last in [(0, 10, 0, 11), (150, 10, 140, 161), (299, 100, 199, 300), (5, 100, 0, 106)]:
            assert commands.around(challengeId="c1", userId=order[place], count=count) == {
                "challengeId": "c1", "userId": order[place], "rank": place + 1, "around": rows[first:last]}
        with pytest.raises(Failed) as failed:
            commands.around(challengeId="c1", userId="zoe")
        assert failed.value.code == "not_found"
        assert commands.top(challengeId="c2") == {"challengeId": "c2", "top": [], "next": None}


def test_who_moved_is_told_once(commands):
    add(commands, "ann", 5)
    assert refresh(commands) == (([("ann", 1, 5)], []), [update("ann", 1, 5)])
    assert refresh(commands) == (None, [])
    add(commands, "bob", 7.5)
    add(commands, "cas", 1)
    assert refresh(commands) == (
        ([("bob", 1, 7.5), ("ann", 2, 5), ("cas", 3, 1)], []),
        [update("bob", 1, 7.5), update("ann", 2, 5), update("cas", 3, 1)])


def test_who_fell_out_is_told(commands, db):
    db.zadd(BOARD, {f"u{n:03}": n for n in range(100)})
    assert refresh(commands) == (None, [])
    add(commands, "new", 0.5)
    assert refresh(commands) == (([("new", 99 + 1, 0.5)], ["u000"]), [update("new", 100, 0.5)])


def test_a_board_that_was_there_is_adopted_in_silence(commands, db):
    db.zadd(BOARD, {"ann": 5, "bob": 3})
    assert refresh(commands) == (None, [])
    db.zadd(BOARD, {"bob": 4})
    assert refresh(commands)[0] == ([("bob", 2, 4)], [])
    db.delete(TOLD)
    add(commands, "bob", 9)  # notes the board as it was before
    assert refresh(commands)[0] == ([("bob", 1, 13), ("ann", 2, 5)], [])


def test_an_emptied_board_is_told_and_forgotten(commands, db):
    add(commands, "ann", 5)
    refresh(commands)
    assert db.ttl(TOLD) == -1
    db.delete(BOARD)
    assert refresh(commands) == (([], ["ann"]), [])
    assert refresh(commands) == (None, []) and 0 < db.ttl(TOLD) <= 86_400
    add(commands, "bob", 1)
    assert db.ttl(TOLD) == -1
    assert refresh(commands)[0] == ([("bob", 1, 1)], [])
    db.delete(BOARD, TOLD)
    assert refresh(commands) == (None, []) and not db.exists(TOLD)


@pytest.mark.parametrize("text", [
    "", "nonsense", "{}x", "7", '["a"]', '["a",1]', '["a","x"]', '{"a":"1"}', "[null,null]",
    json.dumps(["a", "1"] * 101),
])
def test_garbage_in_what_was_told_is_adopted_in_silence(commands, db, text):
    db.zadd(BOARD, {"ann": 5})
    db.set(TOLD, text)
    moves, users = refresh(commands)
    if text == '{"a":"1"}':  # reads as an empty list
        assert moves == ([("ann", 1, 5)], [])
    else:
        assert moves is None and users == []
    assert json.loads(db.get(TOLD)) == ["ann", "5"]


def test_an_older_token_is_refused(commands, db, unchanged):
    add(commands, "ann", 5)
    refresh(commands, token=7)
    add(commands, "ann", 5)
    with unchanged(), pytest.raises(redis.ResponseError, match="FENCED"):
        commands.leaderboard_refresh(challengeId="c1", token=6)


def test_hostile_members_give_json(commands, scripts, db):
    scripted_state(scripts)
    refresh(commands)
    for score, member in enumerate(HOSTILE):
        db.zadd(BOARD, {member: score + 0.1})
    db.zadd(BOARD, {"inf": math.inf, "-inf": -math.inf, "huge": 1e300, "ann": 3.3})
    db.set(TOLD, "[]")
    (moves, left), users = refresh(commands)
    rows = commands.top(challengeId="c1")["top"]
    told = [(row["userId"], row["rank"], row["score"]) for row in rows]
    assert moves == told and left == [] and refresh(commands) == (None, [])
    assert scripted_state(scripts) == {"challengeId": "c1", "top": rows}
    assert told[:3] == [("inf", 1, None), ("huge", 2, 1e300), ("???", 3, 7.1)]  # rank 4 is the long member
    assert [rank for _, rank, _ in told] == [1, 2, 3, *range(5, 13)] and told[-1] == ("-inf", 12, None)
    assert {"é", 'a"b\\c', "line\nbreak\0", "bob@example.com", "", "??"} <= {name for name, _, _ in told}
    assert [topic for topic, _, _ in users] == ["user:inf", "user:huge", "user:ann", "user:-inf"]
    db.zrem(BOARD, *HOSTILE)
    assert sorted(refresh(commands)[0][1]) == sorted(name for name, _, _ in told if name not in
                                                     ("inf", "huge", "ann", "-inf"))


def scripted_state(scripts, board=BOARD):
    """What a joining client is told; checks that it is JSON."""
    text = scripts.state("challenge", ["challenge:c1#log", "challenge:c1#meta", board])
    return json.loads(text, parse_constant=pytest.fail) if text else None


def test_state(commands, scripts, db):
    assert scripted_state(scripts) == {"challengeId": "c1", "top": []}
    scores = [0.1, 1 / 3, 1e300, 5e-324, 2**53 - 1, -2.5, 0, -0.0, 1e21, 123456789012.25]
    db.zadd(BOARD, {f"u{n}": score for n, score in enumerate(scores)} | {f"v{n:03}": -n - 10 for n in range(200)})
    assert scripted_state(scripts) | {"next": 101} == commands.top(challengeId="c1")
    assert len(scripted_state(scripts)["top"]) == 100
    assert [row["score"] for row in scripted_state(scripts)["top"][:10]] == sorted(scores, reverse=True)
    db.rename(BOARD, "app:leaderboard:{leaderboard:c1}")
    assert scripted_state(scripts, "app:leaderboard:{leaderboard:c1}")["challengeId"] == "leaderboard:c1"
    db.rpush(BOARD, "x")
    assert scripted_state(scripts) is None


def test_random_operations_agree_with_a_model(commands, db, rng):
    """Ranks are ZREVRANK's at every step, and what is told makes of the last list told the one that is true."""
    users = [prefix + str(n) for prefix in ("u", "U", "~", "-", "u1") for n in range(rng.choice([4, 30]))]
    scores, followed, seen = {}, False, {}

    def order():
        ranked = sorted(((score, user.encode()) for user, score in scores.items()), reverse=True)
        return [(user.decode(), place + 1, score) for place, (score, user) in enumerate(ranked)]

    for _ in range(2_000):
        user, points = rng.choice(users), rng.choice([0, 1, 1, 2, -1, 0.5, -0.25, 7])
        action = rng.choices(["add", "zadd", "zrem", "refresh", "clear"], [60, 10, 10, 20, 0.2])[0]
        if action == "add":
            if not followed:
                followed, seen = True, {name: (rank, score) for name, rank, score in order()[:100]}
            scores[user] = scores.get(user, 0) + points
            rank = next(rank for name, rank, _ in order() if name == user)
            assert add(commands, user, points) == {
                "challengeId": "c1", "userId": user, "score": scores[user], "rank": rank}
            assert db.zrevrank(BOARD, user) + 1 == rank == commands.rank(challengeId="c1", userId=user)["rank"]
        elif action == "zadd":
            scores[user] = points
            db.zadd(BOARD, {user: points})
        elif action == "zrem":
            scores.pop(user, None)
            db.zrem(BOARD, user)
        elif action == "clear":
            scores.clear()
            db.delete(BOARD)
        else:
            now = {name: (rank, score) for name, rank, score in order()[:100]}
            moved = [(name, *place) for name, place in now.items() if seen.get(name) != place] if followed else []
            left = {name for name in seen if name not in now} if followed else set()
            told, users_told = refresh(commands)
            assert (told and (told[0], set(told[1]))) == ((moved, left) if moved or left else None)
            assert users_told == [update(*move) for move in moved]
            followed, seen = followed or bool(now), now
    assert len(scores) > 5


@pytest.mark.thorough
def test_a_million_members(tmp_path, rng):
    """Exact ranks among many ties; prints the time of each call, seen by the client."""
    server = RedisServer(tmp_path).start()
    try:
        db = server.client()
        fill_million(db, BOARD, "u", "n % 1000")
        commands = Commands(db)
        calls = {
            "add_points": lambda user: add(commands, user, rng.choice([1, 1, 0.5, -1, 400])),
            "rank": lambda user: commands.rank(challengeId="c1", userId=user),
            "around": lambda user: commands.around(challengeId="c1", userId=user),
            "top": lambda user: commands.top(challengeId="c1"),
        }
        for name, call in calls.items():
            taken = []
            db.config_resetstat()
            for _ in range(1_000):
                user = f"u{rng.randrange(1_000_000)}"
                begun = time.perf_counter()
                answer = call(user)
                taken.append(time.perf_counter() - begun)
                if name != "top":
                    assert answer["rank"] == db.zrevrank(BOARD, user) + 1
            taken.sort()
            stats = db.info("commandstats")["cmdstat_evalsha"]
            print(f"{name}: client p50 {taken[500] * 1e6:.0f} us, p99 {taken[990] * 1e6:.0f} us; "
                  f"in Redis {stats['usec_per_call']:.1f} us on average")
    finally:
        server.stop()
