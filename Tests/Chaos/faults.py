"""Breaks a running world in seeded ways, and mends what it broke.

A plan is made before anything runs and depends on its seed alone. It has lanes that run at the same time: processes,
Redis, the network between gateways and Redis, and clients. Within a lane one fault follows the other.
"""

import random
import signal
import threading
import time
import traceback


REDIS_SECONDS_MAX = 20


class Fault:
    """One fault of a plan: when it begins (seconds from the start), what it is, and its own randomness."""

    def __init__(self, at: float, lane: str, name: str, seconds: float, seed: int):
        self.at, self.lane, self.name, self.seconds, self.seed = at, lane, name, seconds, seed

    def __str__(self) -> str:
        return f"{self.at:7.2f} s  {self.lane:8} {self.name} for {self.seconds:.2f} s"


# Name: weight, least and greatest duration in seconds.
LANES = {
    "process": {
        "kill gateway": (4, 0.2, 2), "stop gateway": (2, 0.5, 4), "restart gateway": (3, 0, 0.5),
        "kill worker": (1, 0.1, 1), "stop worker": (1, 0.5, 3),
    },
    "redis": {
        "kill redis": (3, 0.2, 2), "stop redis": (2, 0.3, 3), "kill pubsub clients": (3, 0, 0.1),
        "kill normal clients": (2, 0, 0.1), "small output buffer": (2, 1, 3), "flush scripts": (2, 0.5, 2),
        "pause clients": (1, 0.3, 2), "no memory": (1, 0.5, 2), "flush all": (1, 0, 0.1),
        "delete logs": (1, 0, 0.1), "delete positions": (1, 0, 0.1),
    },
    "network": {
        "delay": (2, 0.5, 3), "throttle": (1, 0.5, 2), "mute to gateway": (2, 0.5, 8), "mute to redis": (2, 0.5, 8),
        "reset": (3, 0, 0.1), "half close": (2, 0, 0.5), "split": (2, 1, 4), "truncate": (2, 0.2, 1),
        "refuse": (1, 0.3, 2),
    },
    "outbox": {"flood outbox": (1, 0, 0.5)},
    "clients": {"stall": (2, 1, 10), "drop": (3, 0, 0.2), "churn": (3, 1, 4), "burst": (2, 0, 0.1)},
}

# Faults that lose what Redis had acknowledged.
LOSSES = ("flush all", "delete logs", "delete positions")


def plan(seed: int, seconds: float, lanes=tuple(LANES), without=()) -> list:
    """The faults of a run of that length, in the order of their beginnings."""
    faults = []
    for lane in lanes:
        # A string seeds the same everywhere; a tuple would not.
        rng = random.Random(f"{seed} {lane}")
        choices = {name: entry for name, entry in LANES[lane].items() if name not in without}
        at = rng.uniform(0.3, 2)
        while at < seconds:
            name = rng.choices(list(choices), [weight for weight, *_ in choices.values()])[0]
            _, least, most = choices[name]
            duration = rng.uniform(least, most)
            faults.append(Fault(at, lane, name, duration, rng.randrange(2**32)))
            at += duration + rng.uniform(0.5, 3.5)
    return sorted(faults, key=lambda fault: fault.at)


class Injector:
    """Carries a plan out over a world."""

    def __init__(self, world):
        self.world = world
        self.ended = threading.Event()
        self.failures = []
        self.done = {}

    def run(self, faults: list) -> None:
        """Returns when every fault is over and mended; `failures` says what went wrong with the rig itself."""
        began = time.monotonic()
        lanes = {}
        for fault in faults:
            lanes.setdefault(fault.lane, []).append(fault)
        threads = [threading.Thread(target=self._lane, args=(began, mine), name=lane, daemon=True)
                   for lane, mine in lanes.items()]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.mend()

    def _lane(self, began: float, faults: list) -> None:
        for fault in faults:
            self._pause(began + fault.at - time.monotonic())
            action = getattr(self, "_" + fault.name.replace(" ", "_"))
            try:
                action(random.Random(fault.seed), fault.seconds)
                self.done[fault.name] = self.done.get(fault.name, 0) + 1
            except Exception:
                self.failures.append(f"{fault}: {traceback.format_exc()}")

    def _pause(self, seconds: float) -> None:
        """How long a fault lasts."""
        if seconds > 0:
            self.ended.wait(seconds)

    def mend(self) -> None:
        """Whatever a fault that failed half-way may have left behind."""
        for proxy in self.world.proxies:
            proxy.heal()
        with self._db() as db:
            db.config_set("maxmemory", 0)
            db.config_set("client-output-buffer-limit", "pubsub 33554432 8388608 60")
        self.world.crowd.ask("churn 0")
        self.world.crowd.ask("resume")
        for gateway in self.world.gateways:
            if gateway.process is None or gateway.process.poll() is not None:
                code = gateway.process.returncode if gateway.process else None
                self.failures.append(f"{gateway.directory.name} ended by itself: {code}\n{gateway.log_text[-3000:]}")
                gateway.process = None
                gateway.start()
            gateway.signal(signal.SIGCONT)

    # Processes

    def _kill_gateway(self, rng, seconds):
        gateway = rng.choice(self.world.gateways)
        assert gateway.process.poll() is None, f"{gateway.directory.name} ended by itself: {gateway.log_text[-3000:]}"
        gateway.kill()
        self._pause(seconds)
        gateway.start()

    def _stop_gateway(self, rng, seconds):
        gateway = rng.choice(self.world.gateways)
        gateway.signal(signal.SIGSTOP)
        self._pause(seconds)
        gateway.signal(signal.SIGCONT)

    def _restart_gateway(self, rng, seconds):
        gateway = rng.choice(self.world.gateways)
        gateway.stop()
        self._pause(seconds)
        gateway.start()

    def _kill_worker(self, rng, seconds):
        if self.world.worker:
            self.world.worker.kill()
            self._pause(seconds)
            self.world.worker.start()

    def _stop_worker(self, rng, seconds):
        if self.world.worker:
            self.world.worker.signal(signal.SIGSTOP)
            self._pause(seconds)
            self.world.worker.signal(signal.SIGCONT)

    # Redis

    def _db(self):
        return self.world.redis.client(socket_timeout=REDIS_SECONDS_MAX)

    def _kill_redis(self, rng, seconds):
        self.world.redis.kill()
        self._pause(seconds)
        self.world.redis.start()

    def _stop_redis(self, rng, seconds):
        self.world.redis.process.send_signal(signal.SIGSTOP)
        self._pause(seconds)
        self.world.redis.process.send_signal(signal.SIGCONT)

    def _kill_clients(self, kind):
        with self._db() as db:
            db.execute_command("CLIENT", "KILL", "TYPE", kind, "SKIPME", "yes")

    def _kill_pubsub_clients(self, rng, seconds):
        self._kill_clients("pubsub")

    def _kill_normal_clients(self, rng, seconds):
        self._kill_clients("normal")

    def _small_output_buffer(self, rng, seconds):
        with self._db() as db:
            db.config_set("client-output-buffer-limit", f"pubsub {rng.randrange(4, 64)}kb 2kb 1")
            self._burst(rng, 0)
            self._pause(seconds)
            db.config_set("client-output-buffer-limit", "pubsub 33554432 8388608 60")

    def _flush_scripts(self, rng, seconds):
        end = time.monotonic() + seconds
        with self._db() as db:
            while time.monotonic() < end:
                db.script_flush()
                self._pause(0.1)

    def _pause_clients(self, rng, seconds):
        with self._db() as db:
            db.execute_command("CLIENT", "PAUSE", int(seconds * 1_000), rng.choice(("ALL", "WRITE")))
        self._pause(seconds)

    def _no_memory(self, rng, seconds):
        with self._db() as db:
            db.config_set("maxmemory", 1)
            self._pause(seconds)
            db.config_set("maxmemory", 0)

    def _flush_all(self, rng, seconds):
        with self._db() as db:
            db.flushall()

    def _flood_outbox(self, rng, seconds):
        with self._db() as db:
            self.world.floods.add(db, rng, self.ended)

    def _some_topics(self, rng):
        return rng.sample(self.world.topics, max(1, len(self.world.topics) // 5))

    def _delete_logs(self, rng, seconds):
        topics = self._some_topics(rng)
        self.world.evicted.update(topics)
        with self._db() as db:
            db.delete(*(f"{topic}#log" for topic in topics))

    def _delete_positions(self, rng, seconds):
        with self._db() as db:
            db.delete(*(f"{topic}#meta" for topic in self._some_topics(rng)))

    # The network between gateways and Redis

    def _faulty(self, rng, seconds, fault, reset_holed=True):
        """One gateway's network, or everybody's."""
        proxies = self.world.proxies if rng.random() < 0.3 else [rng.choice(self.world.proxies)]
        for proxy in proxies:
            fault(proxy)
        self._pause(seconds)
        for proxy in proxies:
            proxy.heal(reset_holed)

    def _delay(self, rng, seconds):
        self._faulty(rng, seconds, lambda proxy: proxy.delay(rng.randrange(5, 400)))

    def _throttle(self, rng, seconds):
        self._faulty(rng, seconds, lambda proxy: proxy.throttle(rng.randrange(20_000, 200_000)))

    def _mute_to_gateway(self, rng, seconds):
        self._faulty(rng, seconds, lambda proxy: proxy.drop_to_client())

    def _mute_to_redis(self, rng, seconds):
        self._faulty(rng, seconds, lambda proxy: proxy.drop_to_server())

    def _reset(self, rng, seconds):
        self._faulty(rng, 0, lambda proxy: proxy.reset_all())

    def _half_close(self, rng, seconds):
        self._faulty(rng, seconds, lambda proxy: proxy.half_close())

    def _split(self, rng, seconds):
        self._faulty(rng, seconds, lambda proxy: proxy.split(rng.choice((1, 7, 100))))

    def _truncate(self, rng, seconds):
        self._faulty(rng, seconds, lambda proxy: proxy.truncate(rng.randrange(0, 20_000)))

    def _refuse(self, rng, seconds):
        def refuse(proxy):
            proxy.refuse()
            proxy.reset_all()
        self._faulty(rng, seconds, refuse)

    # Clients and publishers

    def _stall(self, rng, seconds):
        self.world.crowd.ask(f"stall {rng.randrange(1, max(2, self.world.clients // 5))}")
        self._pause(seconds)
        self.world.crowd.ask("resume")

    def _drop(self, rng, seconds):
        self.world.crowd.ask(f"drop {rng.randrange(1, max(2, self.world.clients // 3))}")

    def _churn(self, rng, seconds):
        self.world.crowd.ask(f"churn {rng.randrange(5, max(6, self.world.clients // 2))}")
        self._pause(seconds)
        self.world.crowd.ask("churn 0")

    def _burst(self, rng, seconds):
        self.world.publishers.ask(f"burst {rng.randrange(100, 600)} {rng.randrange(100, 4_000)}")
