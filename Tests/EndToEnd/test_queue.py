"""The queue status is what the bookings and barbers say, whoever wrote them and whatever became of the worker."""

import asyncio
import json
import math
import random
import threading
import time

import pytest

from Fixtures.clients.phones import Watcher
from Fixtures.processes.gateway import command
from Fixtures.waiting import eventually

SHOPS = [f"q{number}" for number in range(12)]
LIMITS = {"connectsPerAddressPerSecond": 100_000, "joinsPerSecond": 10_000}
MOVES = {"pending": ["confirmed", "cancelled"], "confirmed": ["in-progress", "cancelled", "no-show"],
         "in-progress": ["completed"]}
CLOSED = {"completed", "cancelled", "no-show"}


class Shop:
    """What a shop's status must be, by the formula of the app's document."""

    def __init__(self):
        self.bookings, self.barbers, self.average = {}, set(), 30

    @property
    def status(self):
        waiting = sum(status == "confirmed" for status in self.bookings.values())
        wait = math.ceil(waiting / len(self.barbers) * self.average) if self.barbers else 0
        return {"queueLength": waiting, "avgWaitTime": wait, "currentlyServing": len(self.barbers),
                "estimatedWaitTimes": {"standard": wait, "blackCard": max(wait * 0.4, 5)}}


def told(status):
    """A status as it was told, without what the model does not know."""
    return {name: status[name] for name in ("queueLength", "avgWaitTime", "currentlyServing", "estimatedWaitTimes")}


class Changes:
    """Random changes of random shops: half as commands, half straight into Redis as a backend would write them."""

    def __init__(self, rng, db, http):
        self.rng, self.db, self.http = rng, db, http
        self.shops = {shop: Shop() for shop in SHOPS}
        self.number = 0
        self.made = 0

    def make(self, count):
        self.made += count
        for _ in range(count):
            shop = self.rng.choice(SHOPS)
            self.rng.choice([self._create, self._move, self._move, self._move, self._barber, self._average])(
                shop, self.shops[shop], self.rng.random() < 0.5)

    def _create(self, name, shop, is_command):
        self.number += 1
        booking = f"b{self.number}"
        if is_command:
            command(self.http, "create_booking", shopId=name, bookingId=booking, userId="u1", tier="standard")
            shop.bookings[booking] = "pending"
        else:
            shop.bookings[booking] = self.rng.choice(list(MOVES))
            self._write(name, shop, booking)

    def _move(self, name, shop, is_command):
        if not shop.bookings:
            return self._create(name, shop, is_command)
        booking = self.rng.choice(sorted(shop.bookings))
        status = self.rng.choice(MOVES[shop.bookings[booking]])
        if is_command:
            command(self.http, "move_booking", shopId=name, bookingId=booking, status=status)
        if status in CLOSED:
            del shop.bookings[booking]
            if not is_command:
                self.db.hdel(f"shop:{name}#bookings", booking)
        else:
            shop.bookings[booking] = status
            if not is_command:
                self._write(name, shop, booking)

    def _write(self, name, shop, booking):
        self.db.hset(f"shop:{name}#bookings", booking, json.dumps(
            {"userId": "u1", "tier": "blackCard", "status": shop.bookings[booking], "createdAt": 1_795_000_000_000}))

    def _barber(self, name, shop, is_command):
        barber = f"barber-{self.rng.randrange(4)}"
        is_active = barber not in shop.barbers
        (shop.barbers.add if is_active else shop.barbers.discard)(barber)
        if is_command:
            command(self.http, "set_barber", shopId=name, barberId=barber, active=is_active)
        else:
            (self.db.sadd if is_active else self.db.srem)(f"shop:{name}#barbers", barber)

    def _average(self, name, shop, _):
        shop.average = self.rng.randrange(5, 60)
        self.db.hset(f"shop:{name}#service", "averageMinutes", shop.average)


class Screens:
    """A client on each shop: the status its user sees."""

    def __init__(self, gateway, rng):
        self.seen = {}
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.watchers = [
            Watcher([gateway], random.Random(rng.random()), topic=f"shop:{shop}", apply=self._applier(shop))
            for shop in SHOPS]

    def _applier(self, shop):
        def apply(event, data):
            if event in (None, "queue:update"):
                self.seen[shop] = data
        return apply

    def __enter__(self):
        self.thread.start()
        self.tasks = [asyncio.run_coroutine_threadsafe(watcher.run(), self.loop) for watcher in self.watchers]
        return self

    def __exit__(self, *_):
        for task in self.tasks:
            task.cancel()
        for watcher in self.watchers:
            asyncio.run_coroutine_threadsafe(watcher.close(), self.loop).result()
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()


def is_right(changes, screens, db):
    """Whether the cache and every client show what the model says."""
    for name, shop in changes.shops.items():
        cached, seen = db.get(f"queue:{name}"), screens.seen.get(name)
        is_known = shop.bookings or shop.barbers or cached
        if is_known and not (cached and told(json.loads(cached)) == shop.status and seen
                             and told(seen) == shop.status):
            return False
    return True


@pytest.fixture
def changes(gateway, server, rng):
    gw = gateway(server=server, limits=LIMITS)
    with server.client() as db, gw.http() as http, Screens(gw, rng) as screens:
        yield Changes(rng, db, http), screens, db


def converge(changes, screens, db, bursts, size, seconds_max):
    for _ in range(bursts):
        changes.make(size)
        eventually(lambda: is_right(changes, screens, db), seconds_max, "the model's status at every client")


@pytest.mark.parametrize("server, bursts, size", [
    pytest.param("server", 2, 300, id="server"),
    pytest.param("server", 10, 400, id="server at length", marks=pytest.mark.thorough),
    pytest.param("group", 2, 150, id="group"), pytest.param("cluster", 2, 150, id="cluster"),
], indirect=["server"])
def test_with_keyspace_events(changes, worker, server, bursts, size):
    worker(server=server)
    converge(*changes, bursts=bursts, size=size, seconds_max=4)


@pytest.mark.parametrize("bursts, size", [
    pytest.param(2, 250, id="short"), pytest.param(4, 750, id="at length", marks=pytest.mark.thorough)])
def test_without_keyspace_events(changes, worker, server, bursts, size):
    """Only sweeps tell the worker; each finds everything within 5 s."""
    worker("--keyspace-events", "never", server=server)
    converge(*changes, bursts=bursts, size=size, seconds_max=8)
    with server.client() as db:
        assert db.config_get("notify-keyspace-events")["notify-keyspace-events"] == ""


@pytest.mark.thorough
def test_while_workers_are_killed(changes, worker, server):
    """Of two workers one is killed every 2 s and replaced; the rest goes on."""
    crew = [worker(server=server), worker(server=server)]
    ended = threading.Event()
    kills = []

    def reaper():
        while not ended.wait(2):
            crew[0].kill()
            kills.append(time.monotonic())
            crew[:] = [crew[1], worker(server=server)]

    thread = threading.Thread(target=reaper)
    thread.start()
    try:
        # Each burst has its own 10 s; the deadline is for a reaper that ended.
        deadline = time.monotonic() + 300
        while len(kills) < 6 or changes[0].made < 3_000:
            assert time.monotonic() < deadline, f"{len(kills)} kills, {changes[0].made} changes"
            converge(*changes, bursts=1, size=200, seconds_max=10)
    finally:
        ended.set()
        thread.join()
    print(f"workers killed {len(kills)}  changes {changes[0].made}")
