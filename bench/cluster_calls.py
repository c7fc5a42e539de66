#!/usr/bin/env python3
"""Each command of the packs on a Redis Cluster of three masters: the calls that it takes, and the time of its answer.

    .venv/bin/python bench/cluster_calls.py [--rounds 84] [--write]

Starts a Cluster, a gateway with one shard, a worker, and a courier with a Spotify that answers at once. The sample
calls of Tests/Fixtures/scripts/erasure_fill.py are made over HTTP, one after the other, each round with users, shops
and sessions of its own. In the first rounds MONITOR shows what the gateway asks of which master for a call; the times
are those of the other rounds. The calls that the gateway makes for itself are left out, and so are those of the worker.
Prints the table; `--write` puts it into docs/benchmarks/redis.md, too. A command that was refused has the code in its
row. SWITCHBOARD_BIN names another build of the gateway.
"""

import argparse
import contextlib
import json
import re
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "Tests"), str(ROOT / "bench")]

from Fixtures.clients.certificates import write_certificate  # noqa: E402
from Fixtures.clients.tokens import SECRET, sign  # noqa: E402
from Fixtures.outside.server import OutsideServer  # noqa: E402
from Fixtures.outside.spotify import Spotify, settings  # noqa: E402
from Fixtures.processes.courier import CourierProcess  # noqa: E402
from Fixtures.processes.gateway import Gateway, error_code  # noqa: E402
from Fixtures.processes.worker import Worker  # noqa: E402
from Fixtures.redis.cluster import RedisCluster  # noqa: E402
from Fixtures.redis.watch import RedisWatch  # noqa: E402
from Fixtures.scripts.command_scripts import Header  # noqa: E402
from Fixtures.scripts.erasure_fill import ID_WORD, ME, OTHERS, SAMPLES  # noqa: E402
from Fixtures.scripts.lua_scripts import built_in, pack_of  # noqa: E402

PAGE = ROOT / "docs/benchmarks/redis.md"
HEADING = "## Commands on a Cluster\n"
WATCHED_ROUNDS = 4
#: One address stands for everybody.
LIMITS = {
    "messagesPerSecond": 1_000_000, "userKeptBytes": 2**40, "addressKeptBytes": 2**40,
    "userActionsPerSecond": 1_000_000,
    "requestsPerAddressPerSecond": 1_000_000, "userRedisUsPerSecond": 100_000_000, "outboxMax": 100_000_000}
#: Arguments and users of which each round has its own.
OWN = ("shopId", "challengeId", "joinCode", "campaignId", "q")
USERS = re.compile(rf"(?<![a-z])({'|'.join([ID_WORD, *OTHERS])})(?![a-z])")
SCRIPTS = {path.stem: path for path in built_in()}


class Masters:
    """What one gateway's shard asks of each master."""

    def __init__(self, cluster, gateway_name: str):
        self.servers, self.links = cluster.masters(), re.compile(rf"switchboard-{gateway_name}-shard-0-\d+")

    def count(self, act):
        """Runs a call; returns its result, the calls that it took until then and how many masters had them."""
        with contextlib.ExitStack() as stack:
            watches = [stack.enter_context(RedisWatch(server, self.links)) for server in self.servers]
            result = act()
        counts = [len(watch.on_behalf_of_clients()) for watch in watches]
        return result, sum(counts), sum(map(bool, counts))


class Fill:
    """Stands in the place of a script test's `Fill`, and calls over HTTP."""

    def __init__(self, http, anybody, number: int, watch, times, counts, refused):
        self.http, self.anybody, self.number, self.watch = http, anybody, number, watch
        self.times, self.counts, self.refused = times, counts, refused
        self.tokens, self.made, self.road = {}, {}, self
        self.now_ms = int(time.time() * 1_000)

    def fresh(self, value, name=""):
        """A value with names of this round."""
        if isinstance(value, list):
            return [self.fresh(one) for one in value]
        if not isinstance(value, str):
            return value
        value = USERS.sub(rf"\g<1>{self.number}", value)
        return f"{value}-{self.number}" if name in OWN else value

    def other(self, user, name, **arguments):
        user = self.fresh(user)
        if user not in self.tokens:
            self.tokens[user] = sign(SECRET, user, ttl=7_200, role="authenticated")
        return self._call(name, self.anybody, {"Authorization": f"Bearer {self.tokens[user]}"}, arguments)

    def me(self, name, **arguments):
        return self.other(ME, name, **arguments)

    def service(self, name, **arguments):
        return self._call(name, self.http, {}, arguments)

    def do(self, _, name, role="", user="", **arguments):
        """A call of nobody."""
        assert role == "anonymous" and not user
        return self._call(name, self.anybody, {}, arguments)

    def relay(self):
        """The worker passes on what waits."""

    def _call(self, name, http, headers, arguments):
        header = Header.read(SCRIPTS[name])
        body = {}
        for argument in header.arguments:
            if argument.name in arguments:
                value = self.fresh(arguments[argument.name], argument.name)
                is_text = argument.kind.startswith("json ") and isinstance(value, str)
                body[argument.wire] = json.loads(value) if is_text else value

        if name == "set_location":
            # Neighbours are to be those of this round alone.
            body["latitude"] += self.number / 5

        def act():
            began = time.perf_counter()
            answer = http.post(f"/v1/commands/{name}", json=body, headers=headers)
            return answer, 1_000 * (time.perf_counter() - began)
        if self.watch:
            (answer, _), calls, masters = self.watch.count(act)
            self.counts[name].append((calls, masters))
        else:
            answer, spent = act()
            if answer.is_success:
                self.times[name].append(spent)
        if not answer.is_success:
            self.refused[name].add(error_code(answer))
        return answer.json() if answer.content else {}


def play(fill) -> None:
    """All samples; one that fails leaves the others."""
    for name, sample in SAMPLES.items():
        try:
            sample(fill)
        except (KeyError, IndexError, TypeError) as error:
            fill.refused[name].add(repr(error))


def row(name: str, times: list, counts: list, refused: set) -> str:
    """A command's line of the table."""
    first = f"| {pack_of(SCRIPTS[name])} | `{name}` | "
    if not times or not counts:
        return first + f"refused: {', '.join(sorted(refused)) or 'not called'} | | | | |"
    calls, masters = zip(*counts)
    span = f"{min(calls)} to {max(calls)}" if min(calls) != max(calls) else f"{calls[0]}"
    cuts = statistics.quantiles(times, n=100, method="inclusive")
    timed = ", ".join([f"{len(times)}", *(f"then {code}" for code in sorted(refused))])
    return first + f"{span} | {max(masters)} | {timed} | {cuts[49]:.1f} | {cuts[98]:.1f} |"


def measure(directory: Path, rounds: int) -> tuple:
    """Times and counts by command, and refusals."""
    times, counts, refused = defaultdict(list), defaultdict(list), defaultdict(set)
    cluster = RedisCluster(directory / "cluster", replicas=0).start()
    certificate = write_certificate(directory)
    (directory / "mint").write_bytes(b"a secret for tokens of the gateway's own\n")
    gateway = Gateway(directory / "gateway", cluster.url, certificate, SECRET, "--packs", "all", "--shards", "1",
                      "--jwt-role", "authenticated=user", "--mint-secret-file", str(directory / "mint"),
                      limits=LIMITS)
    worker = Worker(directory / "worker", cluster.url, "--packs", "all")
    (directory / "courier").mkdir()
    with contextlib.ExitStack() as stack:
        stack.callback(cluster.stop)
        spotify = stack.enter_context(OutsideServer(certificate, Spotify()))
        courier = CourierProcess(directory / "courier", cluster.url, certificate,
                                 settings(directory / "courier", spotify.url))
        for process in (gateway, worker, courier):
            stack.callback(process.stop)
            process.start()
        gateway.wait_ready(30)
        with gateway.http() as http, gateway.http(key=None) as anybody:
            masters = Masters(cluster, http.get("/v1/topics/shop:none/audit").json()["node"])
            for number in range(rounds):
                watch = masters if number < WATCHED_ROUNDS else None
                play(Fill(http, anybody, number, watch, times, counts, refused))
                print(f"round {number + 1} of {rounds}", file=sys.stderr, flush=True)
    return times, counts, refused


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=84)
    parser.add_argument("--write", action="store_true", help="into docs/benchmarks/redis.md")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="switchboard-calls-") as name:
        times, counts, refused = measure(Path(name), options.rounds)
    names = sorted(SAMPLES, key=lambda name: (pack_of(SCRIPTS[name]), name))
    table = ["| pack | command | calls | masters | timed | p50 ms | p99 ms |", "|---|---|---|---|---|---|---|",
             *(row(name, times[name], counts[name], refused[name]) for name in names)]
    print("\n".join(table))
    if options.write:
        text, count = re.subn(rf"({HEADING}.*?\n)\| pack \|.*?\n(?=\n)",
                              lambda found: found[1] + "\n".join(table) + "\n", PAGE.read_text(), count=1, flags=re.S)
        assert count, f"{PAGE} has no table under {HEADING!r}"
        PAGE.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
