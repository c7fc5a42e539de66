"""Access that is withdrawn is gone within two seconds on every node, and after its return on one that was cut off.

usage: .venv/bin/python Tests/Chaos/revocation_rounds.py [--rounds 20] [--seed N] [--cut 5]

Three gateways on one Redis; the third one reaches it through a proxy. Each round, every gateway has a session of a user
who is a member of a conversation, and one of a user with a token. Events are published all the time, by the
first gateway. The third one is cut off from Redis for --cut seconds, in every other round by links that are mute rather
than closed; at a random moment of the cut the member is taken out and the token is revoked. Nothing may be heard more
than 2 s after the change, and on the third gateway more than 2 s after its readiness is green again. Prints the
times; exits with 1 when a round failed.
"""

import argparse
import random
import statistics
import sys
import tempfile
import threading
import time
from pathlib import Path

from websockets.exceptions import ConnectionClosed

import paths  # noqa: F401
from Fixtures.clients.certificates import write_certificate
from Fixtures.clients.tokens import SECRET, sign
from Fixtures.processes.fault_proxy import FaultProxy
from Fixtures.processes.gateway import Gateway
from Fixtures.redis.server import RedisServer
from Fixtures.waiting import eventually, pass_time

SECONDS_MAX = 2
BACK_SECONDS_MAX = 30
NODES = 3


class Listener:
    """One session that notes when it last heard an event, and when it was told or closed."""

    def __init__(self, gateway, topic, token):
        self.heard, self.told = [], None
        self.client = gateway.client(token=token)
        self.client.subscribe(topic)
        self.thread = threading.Thread(target=self._listen, daemon=True)
        self.thread.start()

    def _listen(self):
        try:
            while True:
                message = self.client.receive(timeout=BACK_SECONDS_MAX * 4)
                if message["event"] == "e":
                    self.heard.append(time.monotonic())
                elif message["event"] in ("unsubscribed", "error") and self.told is None:
                    self.told = time.monotonic()
        except (ConnectionClosed, AssertionError):
            if self.told is None:
                self.told = time.monotonic()

    def close(self):
        self.client.close()
        self.thread.join()


class Rig:
    """Redis, the proxy, and the gateways."""

    def __init__(self, directory, seed):
        certificate = write_certificate(directory)
        self.redis = RedisServer(directory / "redis").start()
        self.proxy = FaultProxy(self.redis.socket_path, seed=seed).__enter__()
        urls = [self.redis.url] * (NODES - 1) + [self.proxy.redis_url]
        self.gateways = [
            Gateway(directory / f"gateway-{number}", url, certificate, SECRET).start().wait_ready()
            for number, url in enumerate(urls)]

    def close(self):
        for gateway in self.gateways:
            gateway.stop()
        self.proxy.__exit__()
        self.redis.stop()


def request(gateway, method, path, **options):
    with gateway.http() as http:
        response = http.request(method, path, **options)
    assert response.status_code == 200, response.text


def round_(rig, number, cut_seconds, moment):
    """One round; returns the times from the change, or the return, to the last word heard, and what failed."""
    topic, member, bearer = f"conversation:round-{number}", f"member-{number}", f"bearer-{number}"
    first, away = rig.gateways[0], rig.gateways[-1]
    request(first, "PUT", f"/v1/topics/{topic}/members/{member}")
    tokens = [sign(SECRET, member), sign(SECRET, bearer, topics=[topic], jti=f"token-{number}")]
    listeners = [(node, Listener(gateway, topic, token)) for node, gateway in enumerate(rig.gateways)
                 for token in tokens]
    stop = threading.Event()

    def publish():
        with first.http() as http:
            while not stop.wait(0.05):
                http.post("/v1/broadcast", json={"topic": topic, "event": "e", "data": {}})

    publisher = threading.Thread(target=publish, daemon=True)
    publisher.start()
    try:
        eventually(lambda: all(listener.heard for _, listener in listeners), 10, "every session hears events")
        if number % 2:
            rig.proxy.drop_to_client()
            rig.proxy.drop_to_server()
        else:
            rig.proxy.refuse()
            rig.proxy.reset_all()
        pass_time(cut_seconds * moment, "the change comes at some moment of the cut")
        request(first, "DELETE", f"/v1/topics/{topic}/members/{member}")
        request(first, "POST", "/v1/revocations", json={"tokenId": f"token-{number}"})
        changed = time.monotonic()
        pass_time(cut_seconds * (1 - moment), "the rest of the cut")
        rig.proxy.heal()
        away.wait_ready(BACK_SECONDS_MAX)
        back = time.monotonic()
        pass_time(SECONDS_MAX + 1, "events go on, and must not be heard any more")
    finally:
        rig.proxy.heal()
        stop.set()
        publisher.join()
        for _, listener in listeners:
            listener.close()
    times, failures = [], []
    for node, listener in listeners:
        since = back if node == NODES - 1 else changed
        last = max([moment for moment in (*listener.heard, listener.told) if moment is not None], default=0) - since
        times.append((node, last))
        if listener.told is None or last > SECONDS_MAX:
            told = listener.told is not None
            failures.append(f"round {number}: node {node} was heard {last:.2f} s late, told {told}")
    return times, failures


def run(options, directory):
    random_ = random.Random(options.seed)
    rig = Rig(directory, options.seed)
    times, failures = [], []
    try:
        for number in range(options.rounds):
            found, wrong = round_(rig, number, options.cut, random_.uniform(0.05, 0.95))
            times += found
            failures += wrong
            print(f"round {number}: " + ", ".join(f"node {node} {last:+.2f} s" for node, last in found), flush=True)
    finally:
        rig.close()
    return times, failures


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--cut", type=float, default=5, help="seconds that the third gateway is away from Redis")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(2**32))
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    with tempfile.TemporaryDirectory() as directory:
        times, failures = run(options, Path(directory))
    for name, nodes in (("connected", range(NODES - 1)), ("cut off", [NODES - 1])):
        late = [last for node, last in times if node in nodes]
        median = statistics.median(late)
        print(f"{name}: {len(late)} sessions, last word median {median:+.2f} s, max {max(late):+.2f} s")
    print(f"failures {len(failures)}")
    for failure in failures:
        print(failure)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
