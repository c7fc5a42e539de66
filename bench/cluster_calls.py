#!/usr/bin/env python3
"""Each command of the packs on a Redis Cluster of three masters: the calls that it takes, and the time of its answer.

    .venv/bin/python bench/cluster_calls.py [--rounds 40] [--write]

Starts a Cluster, a gateway with one shard and a worker, and makes the sample calls of
Tests/Fixtures/scripts/erasure_fill.py over HTTP, one after the other, each round with users, shops and sessions of its
own. In the first rounds MONITOR shows what the gateway asks of which master for a call; the times are those of the
other rounds. The calls that the gateway makes for itself are left out, and so are those of the worker. Prints the
table, or writes it into docs/benchmarks.md.
SWITCHBOARD_BIN names another build of the gateway.
"""

import argparse
import itertools
import json
import re
import statistics
import sys
import tempfile
import threading
import time
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "Tests"), str(ROOT / "bench")]

from Fixtures.clients.certificates import write_certificate  # noqa: E402
from Fixtures.clients.tokens import SECRET, sign  # noqa: E402
from Fixtures.processes.gateway import Gateway  # noqa: E402
from Fixtures.processes.worker import Worker  # noqa: E402
from Fixtures.redis.cluster import RedisCluster  # noqa: E402
from Fixtures.scripts.command_scripts import Header  # noqa: E402
from Fixtures.scripts.erasure_fill import ID_WORD, SAMPLES  # noqa: E402
from Fixtures.scripts.lua_scripts import pack_of, script_path  # noqa: E402

PAGE = ROOT / "docs/benchmarks.md"
HEADING = "## Commands on a Cluster\n"
WATCHED_ROUNDS = 2
#: One address stands for everybody.
LIMITS = {
    "messagesPerSecond": 1_000_000, "userKeptBytes": 2**40, "addressKeptBytes": 2**40,
    "userActionsPerSecond": 1_000_000,
    "requestsPerAddressPerSecond": 1_000_000, "userRedisUsPerSecond": 100_000_000, "outboxMax": 100_000_000}
#: Names of which each round has its own.
OWN = ("shopId", "challengeId", "joinCode")
#: Keys of the gateway's own calls: of the whole installation, and of probes.
GATEWAYS_OWN = re.compile(r"\{sb\}|#probe:")


class Monitors:
    """What one gateway asks of each master."""

    def __init__(self, cluster, gateway_name: str):
        self.masters, self.name, self.lines, self.marks = cluster.masters(), gateway_name, [], itertools.count()
        self.clients = [master.client() for master in self.masters]
        self.seen, self.is_over = [None] * len(self.masters), False
        for place, master in enumerate(self.masters):
            threading.Thread(target=self._watch, args=(place, master), daemon=True).start()

    def _watch(self, place, master):
        with master.client() as client, client.monitor() as monitor:
            while not self.is_over:
                line = monitor.next_command()
                if line["command"].startswith("ECHO "):
                    self.seen[place] = line["command"].split()[1]
                elif line["client_type"] != "lua":
                    self.lines.append((place, str(line["client_port"]), line["command"]))

    def end(self):
        """Ends the views, which cost Redis time; each sees a last mark."""
        self.is_over = True
        for client in self.clients:
            client.echo("end")
            client.close()

    def _settle(self):
        """Waits until everything before now was shown."""
        mark = f"mark{next(self.marks)}"
        deadline = time.monotonic() + 10
        while self.seen != [mark] * len(self.masters):
            for client in self.clients:
                client.echo(mark)
            assert time.monotonic() < deadline, "MONITOR shows nothing"
            time.sleep(0.001)  # lint:allow between two looks, with a deadline

    def count(self, act):
        """Runs a call; returns its result, the calls that it took and the masters that they went to."""
        ports = [{str(one["addr"].rsplit(":", 1)[1]) for one in client.client_list()
                  if one["name"] == f"switchboard-{self.name}-shard-0"} for client in self.clients]
        self._settle()
        self.lines.clear()
        result = act()
        self._settle()
        own = [place for place, port, text in self.lines if port in ports[place]
               and text.split(" ", 1)[0] in ("EVALSHA", "HGET", "GET", "HMGET") and not GATEWAYS_OWN.search(text)]
        return result, len(own), len(set(own))


class Fill:
    """Stands in the place of a script test's `Fill`, and calls over HTTP."""

    def __init__(self, gateway, number: int, watch, times, counts, refused):
        self.number, self.watch, self.times, self.counts, self.refused = number, watch, times, counts, refused
        self.http, self.anybody = gateway.http(), gateway.http(key=None)
        self.tokens, self.made, self.road = {}, {}, self
        self.now_ms = int(time.time() * 1_000)

    def fresh(self, value, name=""):
        """A value with names of this round."""
        if isinstance(value, list):
            return [self.fresh(one) for one in value]
        if not isinstance(value, str):
            return value
        value = value.replace(ID_WORD, f"{ID_WORD}{self.number}")
        return f"{value}-{self.number}" if name in OWN else value

    def other(self, user, name, **arguments):
        user = self.fresh(user)
        if user not in self.tokens:
            self.tokens[user] = sign(SECRET, user, ttl=7_200, role="authenticated")
        return self._call(name, self.anybody, {"Authorization": f"Bearer {self.tokens[user]}"}, arguments)

    def me(self, name, **arguments):
        return self.other(f"me-{ID_WORD}", name, **arguments)

    def service(self, name, **arguments):
        return self._call(name, self.http, {}, arguments)

    def do(self, _, name, role="", user="", **arguments):
        """A call of nobody."""
        assert role == "anonymous" and not user
        return self._call(name, self.anybody, {}, arguments)

    def relay(self):
        """The worker passes on what waits."""

    def _call(self, name, http, headers, arguments):
        header = Header.read(script_path(name))
        body = {}
        for argument in header.arguments:
            if argument.name in arguments:
                value = self.fresh(arguments[argument.name], argument.name)
                is_text = argument.kind.startswith("json ") and isinstance(value, str)
                body[argument.wire] = json.loads(value) if is_text else value

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
            self.refused[name].add(answer.text[:200])
        return answer.json() if answer.content else {}


def play(fill) -> None:
    """All samples; one that fails leaves the others."""
    for name, sample in SAMPLES.items():
        try:
            sample(fill)
        except (KeyError, IndexError, TypeError) as error:
            fill.refused[name].add(repr(error))


def quantile(values: list, share: float) -> float:
    """The value below which so large a share lies."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def rows(times, counts) -> list:
    """The table, a line for each command with its pack."""
    found = []
    for name in sorted(times, key=lambda name: (pack_of(script_path(name)), name)):
        calls = [one for one, _ in counts[name]]
        if not times[name] or not calls:
            continue
        masters = [one for _, one in counts[name]]
        span = f"{min(calls)} to {max(calls)}" if min(calls) != max(calls) else f"{calls[0]}"
        cells = [pack_of(script_path(name)), f"`{name}`", statistics.median_high(calls), span, max(masters)]
        found.append("| " + " | ".join(map(str, cells)) + " | "
                     f"{quantile(times[name], 0.5):.1f} | {quantile(times[name], 0.99):.1f} |")
    return found


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
    try:
        gateway.start().wait_ready(30)
        worker.start()
        with gateway.http() as http:
            name = http.get("/v1/topics/shop:none/audit").json()["node"]
        watch = Monitors(cluster, name)
        for number in range(rounds):
            if number == WATCHED_ROUNDS:
                watch.end()
                watch = None
            play(Fill(gateway, number, watch, times, counts, refused))
            print(f"round {number + 1} of {rounds}", file=sys.stderr, flush=True)
    finally:
        worker.stop()
        gateway.stop()
        cluster.stop()
    return times, counts, refused


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--write", action="store_true", help="into docs/benchmarks.md")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="switchboard-calls-") as name:
        times, counts, refused = measure(Path(name), options.rounds)
    table = ["| pack | command | calls | from and to | masters | p50 ms | p99 ms |", "|---|---|---|---|---|---|---|",
             *rows(times, counts)]
    print("\n".join(table))
    for name, texts in sorted(refused.items()):
        print(f"{name} was refused: {sorted(texts)[:2]}", file=sys.stderr)
    if options.write:
        text = PAGE.read_text()
        before, heading, after = text.partition(HEADING)
        assert heading, f"{PAGE} has no heading {HEADING!r}"
        said = after.split("\n| pack |")[0]
        rest = re.split(r"\n(?=## )", after, maxsplit=1)
        PAGE.write_text(before + heading + said + "\n" + "\n".join(table) + "\n"
                        + ("\n" + rest[1] if len(rest) > 1 else ""))
    return 0


if __name__ == "__main__":
    sys.exit(main())
