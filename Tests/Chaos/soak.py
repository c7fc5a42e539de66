"""A whole installation under a steady load for an hour: nothing may grow.

Thousands of TLS clients hear ten events a second, a tenth of them coming and going; users vote, bookings change, a
worker refreshes queues. Memory, descriptors and keys of every process are written as a table and a plot. The run fails
when a figure still grows in its last half, by the line through its points and that line's error, when the load was
not carried, or when a row of the gateway's readiness was red or warned at any look.

usage: .venv/bin/python Tests/Chaos/soak.py --minutes 60 --seed 1
"""

import contextlib
import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path

import paths
import runs
from Fixtures.clients.certificates import write_certificate
from Fixtures.clients.green_watch import GreenWatch
from Fixtures.clients.tokens import SECRET
from Fixtures.processes.figures import descriptors, private_bytes, resident_bytes
from Fixtures.processes.gateway import API_KEY, Gateway
from Fixtures.processes.worker import Worker
from Fixtures.redis.server import RedisServer
from Fixtures.waiting import eventually, pass_time
from soak_figures import Figures

BENCH = Path(os.environ.get("SWITCHBOARD_BENCH", paths.ROOT / ".build/release/switchboard-bench"))
# All clients come from one address.
LIMITS = {"connectionsPerAddressMax": 100_000, "topicsPerAddressMax": 10_000_000,
          "userKeptBytes": 2**40, "addressKeptBytes": 2**40, "unauthenticatedPerAddressMax": 100_000,
          "connectsPerAddressPerSecond": 100_000,
          "addressRedisUsPerSecond": 100_000_000, "anonymousRedisUsPerSecond": 100_000_000}
TRACKS, VOTERS, SHOPS = 20, 50, 20
#: In the names of keys by which a repeated call is recognised. There are as many as calls in the time that they live.
OPERATIONS = (b"#done#", b"#seen#")
WARM_UP_SECONDS = 5
#: Beyond its time a load tool may take this long to begin and to end.
PATIENCE_SECONDS = 180
#: After everybody has left, a gateway has this long to close what they held.
LEAVE_SECONDS = 30


class Soak:
    """The installation and its load; a context manager that ends every process it started."""

    def __init__(self, directory: Path, options):
        self.directory, self.options = directory, options
        self.rng = random.Random(options.seed)
        self.stack = contextlib.ExitStack()
        self.redis = RedisServer(directory / "redis")
        certificate = write_certificate(directory)
        # What was done is recognised for five minutes, and from the outbox for an hour: in a run that is not much
        # longer the keys would never level. So they live for a twelfth of it at most.
        self.life_seconds = min(300, max(round(options.minutes * 5), 5))
        lives = {"idempotencySeconds": self.life_seconds, "relayedSeconds": self.life_seconds}
        self.gateway = Gateway(directory / "gateway", self.redis.url, certificate, SECRET, "--log-level", "warn",
                               limits=LIMITS | lives)
        self.worker = Worker(directory / "worker", self.redis.url, "--log-level", "warn", limits=lives)
        self.tools: dict[str, subprocess.Popen] = {}
        self.figures = Figures()
        self.problems: list[str] = []

    def __enter__(self) -> "Soak":
        try:
            for process in (self.redis, self.gateway, self.worker):
                self.stack.callback(process.stop)
                process.start()
            self.gateway.wait_ready()
            self.watch = self.stack.enter_context(GreenWatch(self.gateway))
            self._prepare()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for tool in self.tools.values():
            if tool.poll() is None:
                tool.kill()
            tool.wait()
        self.stack.close()

    def _prepare(self) -> None:
        """A DJ session with tracks, and voters who are at the shop for the whole run."""
        until_ms = (time.time() + self.options.minutes * 60 + 3_600) * 1_000
        with self.redis.client() as db, db.pipeline(transaction=False) as many:
            for number in range(VOTERS + TRACKS):
                many.zadd("shop:votes#presence", {f"u{number:012}": until_ms})
            many.execute()
        with self.gateway.http() as http:
            calls = [("start_session", {"shopId": "votes"})] + [
                ("add_track", {"shopId": "votes", "trackId": f"t{track}", "userId": f"u{VOTERS + track:012}"})
                for track in range(TRACKS)]
            for name, arguments in calls:
                http.post(f"/v1/commands/{name}", json=arguments).raise_for_status()

    # The load

    def _tool(self, name: str, scenario: str, *flags) -> None:
        host, port = self.gateway.address()
        words = [BENCH, scenario, "--url", f"wss://{host}:{port}", "--api-key", API_KEY, "--secret-file",
                 self.gateway.directory / "secret", "--redis", self.redis.url, *flags]
        with open(self.directory / f"{name}.log", "ab") as log:
            self.tools[name] = subprocess.Popen([str(word) for word in words], stdout=log, stderr=log)

    def begin(self) -> None:
        """Starts what runs the whole time; the clients that come and go begin with the first look."""
        seconds = round(self.options.minutes * 60)
        load = ["--seconds", seconds, "--warmup", WARM_UP_SECONDS]
        self.steady = self.options.clients - self.options.clients // 10
        self._tool("listeners", "fanout", "--topic", "shop:soak", "--connections", self.steady, "--rate",
                   self.options.rate, *load, "--json", self.directory / "listeners.json")
        self._tool("voters", "vote", "--topic", "shop:votes", "--connections", VOTERS, "--rate", self.options.votes,
                   *load, "--json", self.directory / "voters.json")
        self._tool("bookings", "queue", "--topic", "shop:book", "--topics", SHOPS, "--connections", SHOPS, "--rate",
                   self.options.bookings, *load, "--json", self.directory / "bookings.json")

    def come_and_go(self) -> None:
        """A tenth of the clients: so many at a time as the seed says, in as many seconds, and all leave."""
        tool = self.tools.get("visitors")
        if tool is not None and tool.poll() is None:
            return
        # 1: a measure of churn's own did not hold, which is another test's to judge.
        if tool is not None and tool.returncode not in (0, 1):
            self.problems.append(f"visitors: the load tool ended with {tool.returncode}")
        count = self.rng.randint(max(self.options.clients // 20, 1), max(self.options.clients // 10, 2))
        self._tool("visitors", "churn", "--topic", "shop:soak", "--connections", count, "--ramp",
                   max(count // self.rng.randint(2, 8), 1), "--rounds", self.rng.randint(1, 4),
                   "--pid", os.getpid())

    # What is measured

    def sample(self) -> dict[tuple[str, str], float]:
        """Every figure of this moment."""
        row = {}
        for name, process in (("gateway", self.gateway), ("worker", self.worker), ("redis", self.redis)):
            pid = process.process.pid
            row[f"{name} resident", "bytes"] = resident_bytes(pid)
            row[f"{name} private", "bytes"] = private_bytes(pid)
            row[f"{name} descriptors", "descriptors"] = descriptors(pid)
        with self.redis.client() as db:
            row["redis data", "bytes"] = db.info("memory")["used_memory"]
            # DBSIZE would count keys that have expired and are not deleted yet: how many, depends on the load.
            keys = list(db.scan_iter(count=1_000))
            operations = sum(any(word in key for word in OPERATIONS) for key in keys)
            row["redis keys", "keys"] = len(keys) - operations
            row["redis operations", "operations"] = operations
        return row

    def _look_at_lives(self) -> None:
        """Every key by which a repeated call is recognised ends in time."""
        with self.redis.client() as db, db.pipeline(transaction=False) as many:
            names = [key for key in db.scan_iter(count=1_000) if any(word in key for word in OPERATIONS)]
            for name in names:
                many.ttl(name)
            lives = many.execute()
        longest = max(lives, default=0)
        if -1 in lives or longest > self.life_seconds or not names:
            self.problems.append(f"{len(names)} keys of operations, {lives.count(-1)} without an end, the longest life "
                                 f"{longest} s of {self.life_seconds}")

    def run(self) -> None:
        """Samples until the listeners have ended; each row of the table is the mean of the samples of its time."""
        row_seconds = min(60.0, self.options.minutes * 60 / 60)
        self.begin()
        began = time.monotonic()
        deadline = began + self.options.minutes * 60 + PATIENCE_SECONDS
        samples, row_until, is_live = [], None, False
        while self.tools["listeners"].poll() is None:
            if time.monotonic() > deadline:
                self.problems.append("the listeners did not end in time")
                break
            pass_time(row_seconds / 6, "the interval of the samples")
            now = time.monotonic()
            if not is_live:
                # The rows begin when everybody is there.
                is_live = self.gateway.metric("switchboard_sessions") >= self.steady
                began, row_until = now, now + row_seconds
                continue
            self.come_and_go()
            if now - began < self.options.minutes * 60 - WARM_UP_SECONDS:
                samples.append(self.sample())
            if now >= row_until and samples:
                self._row(now - began, samples)
                samples, row_until = [], row_until + row_seconds
        self._end()

    def _row(self, seconds: float, samples: list) -> None:
        mean = {key: sum(sample[key] for sample in samples) / len(samples) for key in samples[0]}
        self.figures.add(seconds, mean)
        shown = {name: value for (name, _), value in mean.items() if name in ("gateway private", "redis data")}
        print(f"{seconds:6.0f} s  " + "  ".join(f"{name} {value / 1_024:,.0f} kB" for name, value in shown.items())
              + f"  gateway descriptors {mean['gateway descriptors', 'descriptors']:,.0f}", flush=True)
        self.figures.write_csv(self.directory / "soak.csv")

    def _end(self) -> None:
        """Looks at what the tools say, and whether the gateway gives everything back."""
        self._look_at_lives()
        print(f"readiness: {self.watch.looks} looks, {len(self.watch.problems)} of them not green")
        self.problems += self.watch.problems[:5]
        for name in ("listeners", "voters", "bookings"):
            try:
                self.tools[name].wait(PATIENCE_SECONDS)
                result = json.loads((self.directory / f"{name}.json").read_text())["runs"][-1]
                told = {key: result.get(key) for key in ("passed", "expected", "delivered", "lost", "refused", "notes")}
                print(f"{name}: {json.dumps({key: value for key, value in told.items() if value is not None})}")
                if not result["passed"]:
                    self.problems.append(f"{name}: the load was not carried: {result.get('notes')}")
            except (subprocess.TimeoutExpired, OSError, ValueError, LookupError) as error:
                log = (self.directory / f"{name}.log").read_text(errors="replace")
                self.problems.append(f"{name}: no result ({error!r}): {log[-500:]}")
        if (visitors := self.tools.get("visitors")) is not None and visitors.poll() is None:
            visitors.kill()
            visitors.wait()
        try:
            eventually(lambda: self.gateway.metric("switchboard_connections") <= 1, LEAVE_SECONDS,
                       "the end of all connections")
        except AssertionError as failure:
            self.problems.append(f"connections are open though everybody has left: {failure}")


def main() -> int:
    parser = runs.arguments(__doc__.split("\n")[0], clients=4_000, rate=10)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--votes", type=int, default=20, help="votes a second")
    parser.add_argument("--bookings", type=int, default=5, help="changes of bookings a second")
    parser.add_argument("--out", type=Path, default=None, help="where table and plot go")
    options = runs.parse(parser)
    options.rate = round(options.rate)
    with runs.directory(options) as outcome:
        with Soak(outcome.path, options) as soak:
            soak.run()
        out = options.out or outcome.path
        out.mkdir(parents=True, exist_ok=True)
        soak.figures.write_csv(out / "soak.csv")
        problems = soak.problems + soak.figures.growing()
        if soak.figures.rows:
            title = f"{options.clients} clients, {options.rate}/s, {options.minutes:g} minutes, seed {options.seed}"
            soak.figures.write_svg(out / "soak.svg", title)
        for name, line in soak.figures.trends().items():
            print(f"{name:22} {line.text(soak.figures.units[name])}")
        for problem in problems or ["nothing grows"]:
            print(problem)
        outcome.good = not problems and options.out is not None
        print(f"table and plot: {out}")
        print("FAIL" if problems else "PASS", flush=True)
        return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
