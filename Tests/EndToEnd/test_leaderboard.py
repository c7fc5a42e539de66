"""A challenge's leaderboard through gateway and worker: points, ranks, moves, and numbers that are none."""

import time

import pytest

from Fixtures.processes.gateway import command, error_code
from Fixtures.redis.server import fill_million
from Fixtures.waiting import eventually

MEMBERS = 1_000_000
LIMITS = {"userActionsPerSecond": 100_000}


@pytest.fixture
def gw(gateway, server):
    return gateway(server=server, limits=LIMITS)


@pytest.fixture
def http(gw):
    with gw.http() as http:
        yield http


@pytest.mark.parametrize("points", [
    "NaN", "Infinity", "-Infinity", "1e999", "-1e999", "0x10", '"0x10"', '"5"', '"NaN"', "null", "true", "[]", "{}",
    "1.", ".5", "+1", "01", "1e", '""',
])
def test_what_is_no_number_is_no_points(http, server, points):
    response = http.post(
        "/v1/commands/add_points", content='{"challengeId":"c1","userId":"u1","points":%s}' % points)
    assert response.status_code == 400 and error_code(response) == "bad_request", response.text
    with server.client() as db:
        assert not db.exists("leaderboard:c1")


def test_points_beyond_what_a_number_holds_are_refused(http, server):
    command(http, "add_points", challengeId="c1", userId="u1", points=2**53 - 2)
    response = http.post("/v1/commands/add_points", json={"challengeId": "c1", "userId": "u1", "points": 2})
    assert response.status_code == 409 and error_code(response) == "conflict"
    with server.client() as db:
        assert db.zscore("leaderboard:c1", "u1") == 2**53 - 2


def test_moves_are_told_once_to_all_and_to_each_it_concerns(gw, http, worker, server, token):
    worker(server=server)
    command(http, "add_points", challengeId="c2", userId="ada", points=10)
    command(http, "add_points", challengeId="c2", userId="ben", points=5)
    with gw.client() as board, gw.client(token=token("ada")) as ada, gw.client(token=token("ben")) as ben:
        top = board.subscribe("challenge:c2")["state"]["top"]
        ranks = {"ada": 1, "ben": 2}
        assert [(item["userId"], item["rank"]) for item in top] == list(ranks.items())
        ada.subscribe("user:ada")
        ben.subscribe("user:ben")
        command(http, "add_points", challengeId="c2", userId="ben", points=7)
        while ranks != {"ben": 1, "ada": 2}:
            moves = board.expect("leaderboard:moves", topic="challenge:c2")["data"]["moves"]
            ranks |= {move["userId"]: move["rank"] for move in moves}

        def told(client, user, rank):
            while True:
                message = client.expect("leaderboard:update", topic=f"user:{user}")
                if message["data"]["rank"] == rank:
                    return message["data"]

        assert told(ben, "ben", 1) == {"challengeId": "c2", "rank": 1, "score": 12}
        assert told(ada, "ada", 2) == {"challengeId": "c2", "rank": 2, "score": 10}


def test_fast_changes_are_told_ten_times_a_second_at_most(gw, http, worker, server):
    worker(server=server)
    command(http, "add_points", challengeId="c3", userId="u0", points=1)
    with gw.client() as board, server.client() as db:
        board.subscribe("challenge:c3")
        start = time.monotonic()
        for number in range(300):
            command(http, "add_points", challengeId="c3", userId=f"u{number % 7}", points=1)
        score = 300 // 7 + 1 + 1  # u0: the first point, and its share of the 300
        eventually(lambda: b'"u0"' in (db.get("challenge:c3#top") or b"")
                   and f'"{score}"'.encode() in db.get("challenge:c3#top"))
        seconds = time.monotonic() - start
        told = int(db.hget("challenge:c3#meta", "offset"))
        assert 1 <= told <= seconds * 10 + 2, f"{told} events in {seconds:.2f} s"


@pytest.mark.thorough
def test_a_million_members(http, server):
    """Every answer equals ZREVRANK; the latencies are those of one keep-alive HTTPS connection."""
    with server.client() as db:
        fill_million(db, "leaderboard:big", "m", "math.floor(n / 10)")
        times = {}

        def timed(name, **arguments):
            start = time.perf_counter()
            answer = command(http, name, challengeId="big", **arguments)
            times.setdefault(name, []).append((time.perf_counter() - start) * 1000)
            return answer

        for number in range(0, MEMBERS, MEMBERS // 300):
            user = f"m{number}"
            answer = timed("add_points", userId=user, points=number % 13 + 0.5)
            assert answer["rank"] == db.zrevrank("leaderboard:big", user) + 1
            assert timed("rank", userId=user)["rank"] == answer["rank"]
            around = timed("around", userId=user, count=5)
            names = [item["userId"] for item in around["around"]]
            first = max(answer["rank"] - 1 - 5, 0)
            assert names == [name.decode() for name in db.zrevrange("leaderboard:big", first, answer["rank"] - 1 + 5)]
            top = timed("top", limit=100)["top"]
            assert [item["userId"] for item in top] == [
                name.decode() for name in db.zrevrange("leaderboard:big", 0, 99)]
        for name, figures in times.items():
            figures.sort()
            print(f"{name:10} p50 {figures[len(figures) // 2]:.2f} ms  p99 {figures[int(len(figures) * 0.99)]:.2f} ms")
