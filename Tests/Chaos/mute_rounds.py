"""How long it takes to find a subscriber link that is mute or leads to another server, with default limits.

usage: .venv/bin/python Tests/Chaos/mute_rounds.py [--rounds 20] [--parallel 4] [--seed N]

Each round, at a random moment of the probe's period, a gateway's subscriber link goes mute, and in the next it is cut
and led to an unrelated Redis. Readiness must turn red with the right reason within 10 s, the client must stay
connected and get every event that was published meanwhile, once and in order. Prints the times; exits with 1 when a
round failed.
"""

import argparse
import random
import statistics
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import paths  # noqa: F401
from Fixtures.clients.certificates import write_certificate
from Fixtures.clients.tokens import SECRET
from Fixtures.processes.fault_proxy import FaultProxy, named
from Fixtures.processes.gateway import Gateway
from Fixtures.redis.server import RedisServer
from Fixtures.waiting import eventually, pass_time

SUBSCRIBER = named("-subscriber")
FOUND_SECONDS_MAX = 10
BACK_SECONDS_MAX = 20
REASONS = {"mute": "probe_lost", "wrong server": "redis_mismatch"}


class Lane:
    """One gateway behind a proxy of its own; publishes go by a gateway that has none."""

    def __init__(self, directory, number, rig):
        self.proxy = FaultProxy(rig.redis.socket_path, seed=number).__enter__()
        self.gateway = Gateway(directory / f"gateway-{number}", self.proxy.redis_url, rig.certificate, SECRET).start()
        self.gateway.wait_ready()
        self.topic = f"shop:mute-{number}"
        self.rig = rig
        self.client = self.gateway.client()
        self.client.subscribe(self.topic)
        self.published = self.received = 0

    def publish(self, count):
        for _ in range(count):
            answer = self.rig.publisher.publish(self.topic, "e", {})
            self.published += 1
            assert answer["offset"] == self.published

    def receive(self):
        """Takes what was published; returns how many never came."""
        while self.received < self.published:
            try:
                self.client.expect("e", offset=self.received + 1, timeout=BACK_SECONDS_MAX)
            except AssertionError as error:
                print(f"{self.topic}: {error}", flush=True)
                return self.published - self.received
            self.received += 1
        self.client.expect_nothing()
        return 0

    def round(self, kind, phase_seconds):
        """One fault from its begin to the last event; returns (seconds to red, to green, lost)."""
        pass_time(phase_seconds, "the fault comes at some point of a probe's period")
        self.publish(1)
        began = time.monotonic()
        if kind == "mute":
            self.proxy.drop_to_client(SUBSCRIBER)
        else:
            self.proxy.retarget(self.rig.unrelated.socket_path, SUBSCRIBER)
            self.proxy.reset_all(SUBSCRIBER)
        self.publish(3)

        def found():
            answer = self.gateway.ops("/readyz")
            return answer.status_code == 503 and ("subscriber", REASONS[kind]) in (
                (one["part"], one["reason"]) for one in answer.json()["conditions"])

        eventually(found, FOUND_SECONDS_MAX, f"{kind}: red")
        red = time.monotonic() - began
        self.publish(1)
        self.proxy.heal()
        began = time.monotonic()
        self.gateway.wait_ready(BACK_SECONDS_MAX)
        green = time.monotonic() - began
        self.publish(1)
        return red, green, self.receive()

    def close(self):
        self.client.close()
        self.gateway.stop()
        self.proxy.__exit__()


def run(options, directory):
    random_ = random.Random(options.seed)
    rig = SimpleNamespace(
        redis=RedisServer(directory / "redis").start(), unrelated=RedisServer(directory / "unrelated").start(),
        certificate=write_certificate(directory), publisher=None)
    lanes, lock = [], threading.Lock()
    results = {kind: [] for kind in REASONS}
    failures = []
    phases = [random_.uniform(0, 2.5) for _ in range(2 * options.rounds)]
    jobs = iter([(kind, phases.pop()) for _ in range(options.rounds) for kind in REASONS])

    def work(lane):
        while True:
            with lock:
                job = next(jobs, None)
            if job is None:
                return
            kind, phase = job
            try:
                result = lane.round(kind, phase)
            except Exception as error:  # The round's result; the lane cannot go on.
                failures.append(f"{lane.topic} {kind}: {error!r}")
                return
            with lock:
                results[kind].append(result)
                print(f"{kind:12} red after {result[0]:.2f} s, green {result[1]:.2f} s after the end of the fault, "
                      f"lost {result[2]}", flush=True)

    try:
        rig.publisher = Gateway(directory / "publisher", rig.redis.url, rig.certificate, SECRET).start().wait_ready()
        for number in range(options.parallel):
            lanes.append(Lane(directory, number, rig))
        with ThreadPoolExecutor(options.parallel) as pool:
            list(pool.map(work, lanes))
    finally:
        for lane in lanes:
            lane.close()
        if rig.publisher is not None:
            rig.publisher.stop()
        rig.redis.stop()
        rig.unrelated.stop()
    return results, failures


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=20, help="of each kind")
    parser.add_argument("--parallel", type=int, default=4, help="gateways at a time")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(2**32))
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    with tempfile.TemporaryDirectory() as directory:
        results, failures = run(options, Path(directory))
    lost = 0
    for kind, rounds in results.items():
        lost += sum(result[2] for result in rounds)
        if rounds:
            red, green = [one[0] for one in rounds], [one[1] for one in rounds]
            print(f"{kind}: {len(rounds)} rounds; red after min {min(red):.2f} median {statistics.median(red):.2f} max "
                  f"{max(red):.2f} s; green after median {statistics.median(green):.2f} max {max(green):.2f} s")
    print(f"lost {lost}, failed rounds {len(failures)}")
    for failure in failures:
        print(failure)
    complete = all(len(rounds) == options.rounds for rounds in results.values())
    return 0 if complete and not failures and lost == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
