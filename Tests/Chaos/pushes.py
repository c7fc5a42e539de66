"""Pushes under chaos: each device of each user who is away shows what is unread, and nothing that was read.

usage: .venv/bin/python Tests/Chaos/pushes.py [--notifications 1000] [--seed 1]

A gateway, a worker, a courier, and a stand-in for APNs over HTTP/2, which answers by a plan drawn from the seed: 200,
410, 400, 429, 500, slow, never, or the end of the connection. Users have two devices each. Some are connected, some
read before the next try. The courier is killed twice in the middle of its work. At the end
  - every living device shows every notification that was not read, once for its collapse id, and in order unless APNs
    called it busy;
  - nothing was begun to be sent two seconds after it was read, and nothing at all to who is connected;
  - badges are what was unread when the push came;
  - dead tokens are forgotten, and no others;
  - one provider token was enough.
Prints figures; exits with 1 when anything is otherwise.
"""

import argparse
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

import paths  # noqa: F401
from Fixtures.apps.push_people import PACKS, Person, age_calls
from Fixtures.clients.certificates import write_certificate
from Fixtures.clients.tokens import SECRET, sign
from Fixtures.outside.apns import Apns, refusal
from Fixtures.outside.server import Answer, OutsideServer
from Fixtures.processes.courier import CourierProcess
from Fixtures.processes.gateway import API_KEY, Gateway
from Fixtures.processes.worker import Worker
from Fixtures.redis.server import RedisServer
from Fixtures.seeds import seeded
from Fixtures.waiting import eventually

FAR_MS = 4_000_000_000_000
READ_GRACE_S = 2
PLANS = {
    "good": lambda: [],
    "busy": lambda: [refusal(429, "TooManyRequests", retry_after=1)],
    "failing": lambda: [refusal(500, "InternalServerError"), refusal(503, "Shutdown")],
    "slow": lambda: [Answer(after=3)],
    "silent": lambda: [Answer(never=True)],
    "cut": lambda: [Answer(cut=True)],
}
WEIGHTS = {"good": 60, "gone": 6, "bad": 4, "busy": 6, "failing": 10, "slow": 8, "silent": 2, "cut": 4}
DEAD = {"gone": refusal(410, "Unregistered", timestamp=FAR_MS), "bad": refusal(400, "BadDeviceToken")}


class Run:
    """One run with its users, and what was found."""

    def __init__(self, directory: Path, notifications: int, seed: int):
        self.rng = seeded(f"pushes-{seed}")
        self.notifications = notifications
        self.problems = []
        self.kills = 0
        certificate = write_certificate(directory)
        self.redis = RedisServer(directory / "redis").start()
        self.db = self.redis.client()
        self.apns = Apns(directory)
        self.server = OutsideServer(certificate, self.apns)
        self.gateway = Gateway(directory / "gateway", self.redis.url, certificate, SECRET, *PACKS,
                               limits={"userActionsPerSecond": 1_000}).start().wait_ready()
        self.worker = Worker(directory / "worker", self.redis.url, *PACKS).start()
        self.courier = CourierProcess(directory / "courier", self.redis.url, certificate, {},
                                      *self.apns.flags(self.server.url)).start()
        self.http = self.gateway.http(key=API_KEY)
        self.clients = []

    def close(self):
        for client in self.clients:
            client.close()
        self.http.close()
        self.courier.stop()
        self.worker.stop()
        self.gateway.stop()
        self.server.__exit__()
        self.redis.stop()

    def people(self, count: int) -> list[Person]:
        found = []
        for _ in range(count):
            person = Person(self.http, self.db, 2)
            person.kinds = self.rng.choices(list(WEIGHTS), list(WEIGHTS.values()), k=2)
            for token, kind in zip(person.tokens, person.kinds):
                if kind in DEAD:
                    self.apns.always[token] = DEAD[kind]
                else:
                    self.apns.plan[token] = PLANS[kind]()
            person.names, person.read_at = [], {}
            found.append(person)
        return found

    def kill(self, after: int):
        """Kills the courier once so many pushes have come, and starts it again."""
        eventually(lambda: len(self.apns.pushes) >= after, 120, f"{after} pushes")
        self.courier.kill()
        age_calls(self.db)
        self.courier.start()
        self.kills += 1

    def go(self):
        connected = self.people(max(self.notifications // 50, 3))
        for person in connected:
            client = self.gateway.client(token=sign(SECRET, person.id))
            client.subscribe(f"user:{person.id}")
            self.clients.append(client)
            eventually(lambda person=person: self.db.exists(person.key("online")), 20, "a heartbeat")
        away = self.people(self.notifications * 4 // 5)
        begun = time.monotonic()
        killer = threading.Thread(target=lambda: [self.kill(self.notifications // 3), self.kill(self.notifications)])
        killer.start()
        for number in range(self.notifications):
            person = away[number % len(away)]
            person.names.append(person.notify(str(number)))
        for person in connected:
            person.names.append(person.notify("connected"))
        # Who has a device that fails reads before the next try.
        for person in away:
            if "failing" in person.kinds and self.rng.random() < 0.5:
                person.read(*person.names)
                person.read_at = dict.fromkeys(person.names, time.time())
        killer.join()
        eventually(lambda: all(one.is_settled() and not one.waiting() for one in away), 300, "everything is sent")
        print(f"{self.notifications} notifications, {len(self.apns.pushes)} pushes, {self.kills} kills, "
              f"{time.monotonic() - begun:.0f} s, answers {dict(Counter(push.status for push in self.apns.pushes))}")
        self.judge(away, connected)

    def judge(self, away, connected):
        by_token = {}
        for push in self.apns.pushes:
            by_token.setdefault(push.token, []).append(push)
        for person in connected:
            if any(token in by_token for token in person.tokens):
                self.problems.append(f"{person.id} is connected and was pushed to")
        for person in away:
            # A dead token is known as such once something was sent to it. Where the answer was cut off and the user has
            # read meanwhile, nothing was sent again.
            alive = {f"phone-{number}" for number, kind in enumerate(person.kinds)
                     if kind not in DEAD or person.tokens[number] not in by_token}
            living = {f"phone-{number}" for number, kind in enumerate(person.kinds) if kind not in DEAD}
            if person.devices() != alive and not (person.read_at and living <= person.devices()):
                self.problems.append(f"{person.id} has {person.devices()}, not {alive}")
            for token, kind in zip(person.tokens, person.kinds):
                self.judge_device(person, kind, by_token.get(token, []))
        if self.apns.wrong:
            self.problems.append(f"requests that APNs would refuse: {Counter(self.apns.wrong)}")
        if len(self.apns.provider_tokens) != 1:
            self.problems.append(f"{len(self.apns.provider_tokens)} provider tokens")
        if self.kills != 2:
            self.problems.append(f"{self.kills} kills")

    def judge_device(self, person, kind, pushes):
        shown = {push.collapse: push for push in pushes if push.status == 200}
        if kind not in DEAD:
            for name in person.names:
                if name not in shown and name not in person.read_at:
                    self.problems.append(f"{person.id} ({kind}) never got {name}")
        for push in pushes:
            read_at = person.read_at.get(push.collapse)
            if read_at is not None and push.at > read_at + READ_GRACE_S:
                self.problems.append(f"{person.id} got {push.collapse} {push.at - read_at:.1f} s after it was read")
        order = [push.collapse for push in pushes]
        firsts = [order.index(name) for name in person.names if name in order]
        if kind != "busy" and firsts != sorted(firsts):
            self.problems.append(f"{person.id} got its pushes in another order")
        for push in pushes:
            # Everything was told at once, so the badge is what is unread of all that was told by then.
            most = len(person.names)
            least = person.names.index(push.collapse) + 1 if push.collapse not in person.read_at else 0
            if not least <= push.badge <= most:
                self.problems.append(f"{person.id} has the badge {push.badge}, not {least} to {most}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--notifications", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        run = Run(Path(directory), options.notifications, options.seed)
        try:
            run.go()
        finally:
            run.close()
    for problem in run.problems[:20]:
        print("problem:", problem)
    print(f"{len(run.problems)} problems")
    return 1 if run.problems else 0


if __name__ == "__main__":
    sys.exit(main())
