#!/usr/bin/env python3
"""Questions over all nodes to a gateway that has many sessions and topics, and deliveries beside them.

usage: .venv/bin/python bench/fleet.py [--connections 20000] [--topics 10000] [--seconds 30] [--rounds 5] [--shards 2]

One gateway holds the connections, each subscribed to one of the topics; another, without clients, is asked. Each
question is asked three times a second, since callers within 250 ms share an answer. The table shows the times of its
answers, and the processor time of the gateway that holds the connections for one of them, beyond that of the seconds
before and behind, which have none: pings and pongs of so many connections cost more than one answer. Then the load
tool publishes to 200 members in rounds, with one question asked each second and without, in turn; every other round
begins with the other. The questions take turns. The p99 of deliveries is that of each round, and the ratio is the
median of those within a round. At the end the same is done with all questions in each second.

20,000 connections need `ulimit -n 50000`. Figures count only from a machine with nothing else to do.
"""

import argparse
import itertools
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "bench/capacity"), str(ROOT / "Tests"), str(ROOT / "Tests/Chaos")]

from Fixtures.clients.certificates import write_certificate  # noqa: E402
from Fixtures.clients.tokens import SECRET  # noqa: E402
from Fixtures.processes.gateway import API_KEY, Gateway  # noqa: E402
from Fixtures.redis.server import RedisServer  # noqa: E402
from Fixtures.waiting import eventually  # noqa: E402
from measure import BENCH, LIMITS, cpu_us  # noqa: E402

QUESTIONS = ["nodes", "topics", "topics?sort=rate", "sessions", "sessions?limit=500", "sessions?user=nobody", "slow",
             "talkers?by=key"]
MEMBERS, RATE, OPEN_SECONDS_MAX, SETTLE_SECONDS, ASKS = 200, 50, 900, 5, 3


class Rig:
    """A Redis, the gateway that holds the connections, the one that is asked, and the load tool."""

    def __init__(self, directory: Path, options):
        self.directory, self.options = directory, options
        certificate = write_certificate(directory)
        self.redis = RedisServer(directory / "redis").start()
        limits = LIMITS | {"connectionsMax": 100_000, "fleetQuestionsPerSecond": 1_000_000, "fleetWaitMs": 5_000}
        self.holder, self.asked = (
            Gateway(directory / name, self.redis.url, certificate, SECRET, "--shards", str(options.shards),
                    limits=limits).start().wait_ready() for name in ("holder", "asked"))
        self.holding = None

    def stop(self):
        if self.holding is not None:
            self.holding.kill()
            self.holding.wait()
        for process in (self.holder, self.asked, self.redis):
            process.stop()

    def tool(self, scenario: str, **flags) -> subprocess.Popen:
        words = [BENCH, scenario, "--url", "wss://%s:%d" % self.holder.address(), "--api-key", API_KEY,
                 "--secret-file", self.holder.directory / "secret", "--pid", self.holder.process.pid, "--sources", 32]
        words += [word for name, value in flags.items() for word in (f"--{name}", value)]
        return subprocess.Popen([str(word) for word in words], stdout=sys.stderr)

    def hold(self) -> None:
        """Opens the connections."""
        before = self.holder.fd_count
        seconds = 3_600 + len(QUESTIONS) * self.options.seconds
        self.holding = self.tool("idle", connections=self.options.connections, topics=self.options.topics,
                                 seconds=seconds, processes=4)
        eventually(lambda: self.holding.poll() is not None
                   or self.holder.fd_count - before >= self.options.connections, OPEN_SECONDS_MAX, "every connection")
        if self.holding.poll() is not None:
            raise RuntimeError("the tool ended before its connections were measured")
        time.sleep(SETTLE_SECONDS)

    def ask(self, http, question: str) -> float:
        """Asks once; the milliseconds until the answer, which must be whole."""
        began = time.monotonic()
        response = http.get(f"/v1/{question}")
        took = (time.monotonic() - began) * 1_000
        if response.status_code != 200 or response.json()["unanswered"]:
            raise RuntimeError(f"{question}: {response.text[:500]}")
        return took

    def cost(self, http, question: str) -> tuple[float, list[float]]:
        """Microseconds of processor for one answer, and the times, of a question that is asked ASKS times a second."""
        def used(asks: bool) -> float:
            before, due = cpu_us([self.holder.process.pid]), time.monotonic()
            for _ in range(self.options.seconds * ASKS):
                if asks:
                    times.append(self.ask(http, question))
                due += 1 / ASKS
                time.sleep(max(0, due - time.monotonic()))
            return (cpu_us([self.holder.process.pid]) - before) / (self.options.seconds * ASKS)

        times = []
        before, asked, behind = used(False), used(True), used(False)
        return asked - (before + behind) / 2, times

    def p99(self, questions: list[str]) -> float:
        """The p99 of deliveries of one round in which these are asked each second, milliseconds."""
        output, done = self.directory / "run.json", threading.Event()
        output.unlink(missing_ok=True)
        asks = bool(questions)
        asker = threading.Thread(target=self.ask_all, args=(done, questions))
        if asks:
            asker.start()
        try:
            tool = self.tool("fanout", connections=MEMBERS, rate=RATE, seconds=self.options.seconds, json=output)
            if tool.wait(OPEN_SECONDS_MAX) != 0:
                raise RuntimeError("the tool failed")
        finally:
            done.set()
            if asks:
                asker.join()
        return json.loads(output.read_text())["runs"][-1]["latency"]["p99Us"] / 1_000

    def ask_all(self, done: threading.Event, questions: list[str]) -> None:
        """Asks each question once a second, evenly."""
        with self.asked.http() as http:
            for question in itertools.cycle(questions):
                if done.wait(1 / len(questions)):
                    return
                self.ask(http, question)

    def compare(self, number: int, questions: list[str]) -> float:
        """One round with the questions and without; the ratio of the two p99."""
        found = {asks: self.p99(questions if asks else []) for asks in ((False, True), (True, False))[number % 2]}
        ratio = found[True] / found[False]
        words = questions[0] if len(questions) == 1 else "all"
        print(f"{words:>22} {found[False]:>11.2f} {found[True]:>8.2f} {ratio:>6.2f}", flush=True)
        return ratio


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--connections", type=int, default=20_000)
    parser.add_argument("--topics", type=int, default=10_000)
    parser.add_argument("--seconds", type=int, default=30, help="of each measurement")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--shards", type=int, default=2)
    options = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_NOFILE, [resource.getrlimit(resource.RLIMIT_NOFILE)[1]] * 2)
    with tempfile.TemporaryDirectory(prefix="switchboard-fleet-") as name:
        rig = Rig(Path(name), options)
        try:
            rig.hold()
            with rig.asked.http() as http:
                eventually(lambda: sum(one["role"] == "gateway" for one in http.get("/v1/nodes").json()["nodes"]) == 2,
                           30, "a gateway that knows the other")
                print(f"{'question':>22} {'median ms':>9} {'max ms':>7} {'CPU ms':>7}")
                for question in QUESTIONS:
                    used_us, times = rig.cost(http, question)
                    print(f"{question:>22} {statistics.median(times):>9.1f} {max(times):>7.1f} "
                          f"{used_us / 1_000:>7.2f}", flush=True)
            print(f"{'asked each second':>22} {'p99 without':>11} {'p99 with':>8} {'ratio':>6}")
            ratios = [rig.compare(number, [QUESTIONS[number % len(QUESTIONS)]]) for number in range(options.rounds)]
            print(f"{'median, one of them':>22} {'':>11} {'':>8} {statistics.median(ratios):>6.2f}")
            ratios = [rig.compare(number, QUESTIONS) for number in range(min(3, options.rounds))]
            print(f"{'median, all of them':>22} {'':>11} {'':>8} {statistics.median(ratios):>6.2f}")
        finally:
            rig.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
