"""One user, one vote, whatever happens: three gateways, lost connections, repeated requests."""

import asyncio
import itertools
import random
from functools import partial

import pytest

from Fixtures.clients.phones import Voter, Watcher
from Fixtures.processes.gateway import command
from Fixtures.waiting import comes_true, eventually

SHOP = "votes"
USERS, TRACKS, REPEATED = 50, 100, 0.3  # a page of `dj` has all tracks
LIMITS = {"userActionsPerSecond": 100_000, "messagesPerSecond": 100_000, "joinsPerSecond": 10_000,
          "connectsPerAddressPerSecond": 100_000}


@pytest.fixture
def trio(gateway, server, worker):
    """Three gateways and a worker on a Redis of their own."""
    gateways = [gateway(server=server, limits=LIMITS) for _ in range(3)]
    worker(server=server)
    return gateways


@pytest.fixture
def service(trio):
    with trio[0].http() as http:
        yield partial(command, http)


@pytest.fixture
def session(service):
    """An active session with TRACKS tracks of one user's, and all users at the shop."""
    service("start_session", shopId=SHOP)
    for user in ["dj", *(f"u{number}" for number in range(USERS))]:
        service("check_in", shopId=SHOP, userId=user)
    for number in range(TRACKS):
        service("add_track", shopId=SHOP, trackId=f"t{number}", trackName=f"Track {number}", userId="dj")


def ballots_of(db, user):
    """A user's ballots as Redis keeps them: track -> u or d; a hash has one of each."""
    return {track.decode(): ballot.decode()[-1]
            for track, ballot in db.hgetall(f"dj:{SHOP}#ballots#{user}").items() if track}


class Picture:
    """What a client of the seed's app would show: the session as state and events tell it."""

    def __init__(self):
        self.tracks = {}

    def apply(self, event, data):
        if event is None:
            self.tracks = {item["trackId"]: (item["upvotes"], item["downvotes"]) for item in data["queue"]}
        elif event == "track:added":
            self.tracks[data["trackId"]] = (data["upvotes"], data["downvotes"])
        elif event == "queue:update":
            self.tracks[data["trackId"]] = (data["upvotes"], data["downvotes"])
            assert data["score"] == data["upvotes"] - data["downvotes"]


@pytest.mark.parametrize("server, count", [
    pytest.param("server", 1_000, id="server"),
    pytest.param("group", 500, id="group"), pytest.param("cluster", 500, id="cluster"),
    *(pytest.param(kind, 3_000, id=f"{kind} at length", marks=pytest.mark.thorough)
      for kind in ("server", "group", "cluster")),
], indirect=["server"])
def test_tallies_equal_the_ballots(trio, token, server, count, session, rng, service):
    """The ballots are what each user's last answered vote says; everybody's picture is what Redis says."""
    ballots = {}
    pictures = []

    async def user(number, voter):
        for nth in range(count // USERS):
            track, vote = f"t{voter.rng.randrange(TRACKS)}", voter.rng.choice(["up", "down", "none"])
            answer = await voter.command(
                "vote", {"shopId": SHOP, "trackId": track, "vote": vote}, f"u{number}-{nth}-{voter.rng.random()}")
            assert answer["event"] == "ack", answer
            ballots[f"u{number}", track] = vote
        await voter.close()

    async def play():
        watchers = []
        for _ in range(6):
            picture = Picture()
            pictures.append(picture)
            watchers.append(Watcher(trio, random.Random(rng.random()), topic=f"dj:{SHOP}", apply=picture.apply,
                                    cut=0.001))
        following = [asyncio.create_task(watcher.run()) for watcher in watchers]
        await asyncio.gather(*(watcher.joined.wait() for watcher in watchers))
        voters = [Voter(trio, random.Random(rng.random()), token(f"u{number}"), repeat=REPEATED, cut=0.02)
                  for number in range(USERS)]
        await asyncio.gather(*(user(number, voter) for number, voter in enumerate(voters)))
        with server.client() as db:
            top = int(db.hget(f"dj:{SHOP}#meta", "offset"))
        assert await comes_true(lambda: all(watcher.position["offset"] >= top for watcher in watchers), 20)
        for task in following:
            task.cancel()
        await asyncio.gather(*following, return_exceptions=True)
        await asyncio.gather(*(watcher.close() for watcher in watchers))
        return voters, watchers

    voters, watchers = asyncio.run(play())
    print(f"votes {count}  repeated {sum(v.repeats for v in voters)}  voters' cuts {sum(v.cuts for v in voters)}  "
          f"watchers' cuts {sum(w.cuts for w in watchers)}  pictures begun anew {sum(w.restarts for w in watchers)}")
    expected = {f"t{number}": [1, 0] for number in range(TRACKS)}
    for (_, track), vote in ballots.items():
        if vote != "none":
            expected[track][vote == "down"] += 1
    expected = {track: tuple(counts) for track, counts in expected.items()}
    with server.client() as db:
        told = service("dj", shopId=SHOP)["queue"]
        assert {item["trackId"]: (item["upvotes"], item["downvotes"]) for item in told} == expected
        kept = [ballots_of(db, user) for user in ["dj", *(f"u{number}" for number in range(USERS))]]
        for track, counts in expected.items():
            votes = [ballot[track] for ballot in kept if track in ballot]
            assert (votes.count("u"), votes.count("d")) == counts, "no user is counted twice"
        assert [item["trackId"] for item in told] == sorted(
            expected, key=lambda track: (expected[track][1] - expected[track][0], int(track[1:]))), "score, then age"
    for picture in pictures:
        assert picture.tracks == expected
    assert sum(v.cuts for v in voters) > count // 200 and sum(v.repeats for v in voters) > count * REPEATED * 0.9


@pytest.mark.parametrize("count", [1_000, pytest.param(10_000, marks=pytest.mark.thorough)])
def test_one_user_at_three_gateways_has_one_ballot(trio, token, server, session, rng, count):
    """Many votes of one user on one track, from three gateways at once."""
    numbers = itertools.count()

    async def phone(gateway):
        voter = Voter([gateway], random.Random(rng.random()), token("u1"))
        for _ in range(count // 30 + 1):
            answer = await voter.command(
                "vote", {"shopId": SHOP, "trackId": "t1", "vote": voter.rng.choice(["up", "down"])},
                f"same-{next(numbers)}")
            assert answer["event"] == "ack", answer
            assert answer["data"]["upvotes"] + answer["data"]["downvotes"] == 2, "the adder's ballot and one more"
        await voter.close()

    async def play():
        await asyncio.gather(*(phone(gateway) for gateway in trio for _ in range(10)))

    asyncio.run(play())
    with server.client() as db:
        assert [len(ballots_of(db, user)) for user in ("dj", "u1")] == [TRACKS, 1]


def test_voting_while_absent_changes_nothing(trio, token, server, session):
    with server.client() as db, trio[0].client(token=token("absent")) as client:
        before = {key: db.dump(key) for key in db.keys(f"dj:{SHOP}#*")}
        error = client.refused("vote", {"shopId": SHOP, "trackId": "t1", "vote": "up"}, "not_present")
        assert error["data"]["message"] == "Must be at shop to vote"
        assert {key: db.dump(key) for key in db.keys(f"dj:{SHOP}#*")} == before


def test_presence_lasts_while_the_connection_lives(trio, token, server, session):
    """The heartbeat of a live connection keeps its user at the shop."""
    with trio[1].client(token=token("u1")) as client:
        client.request("ping")
        with server.client() as db:
            # Longer than the 20 s between two heartbeats: the first may have come already.
            db.zadd(f"shop:{SHOP}#presence", {"u1": int(db.time()[0] * 1000) + 40_000})
            first = db.zscore(f"shop:{SHOP}#presence", "u1")
            eventually(lambda: db.zscore(f"shop:{SHOP}#presence", "u1") > first, 30, "a heartbeat")
