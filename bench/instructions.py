#!/usr/bin/env python3
"""What a message takes of a gateway, in instructions and calls: exact on a busy machine.

    .venv/bin/python bench/instructions.py [BINARY] [--against BINARY] [--functions [COUNT]] [--budget] [--json FILE]
        [--messages N] [--members N]

Callgrind counts what the threads of a gateway with one shard execute, outside the kernel. Told are

  connection  one more client: TLS 1.3 handshake, upgrade, and a subscription to a topic that has members
  delivery    one more member that an event is delivered to
  unicast     a publish by HTTP on a kept connection, and its delivery to the one member of the topic
  read        GET /v1/topics/TOPIC on a kept connection

Each happens alone and so often that a gateway's timers hardly count; what they take in an idle time as long is taken
off. Data have 200 bytes, requests are those of the load tool. `malloc` counts all calls that allocate, by anybody;
`retain`, `release` and `access` are calls of the Swift runtime, for references and for checks of exclusivity. These
calls are those of the shard's thread.

  --against BINARY    counts another build beside BINARY, and prints the ratios
  --functions COUNT   lists the functions of the shard that most of a unicast message's instructions pass (60), with all
                      that they call, and by themselves. A function that calls itself by way of others counts more
                      than once
  --budget            ends 1 when a figure exceeds its budget (BUDGETS in this file)
  --json FILE         writes the figures

Times do not follow from these figures: the kernel's work is not in them, and valgrind knows no SHA and ADX
instructions, which the machine has. A stripped binary has no names, so calls of the runtime are none there. BINARY is
.build/release/switchboard by default. Needs valgrind and binutils.
"""

import argparse
import contextlib
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "Tests")]

from callgrind import Counted, Profile  # noqa: E402
from Fixtures.clients import raw  # noqa: E402
from Fixtures.clients.certificates import write_certificate  # noqa: E402
from Fixtures.clients.tokens import SECRET  # noqa: E402
from Fixtures.processes.gateway import API_KEY, Gateway  # noqa: E402
from Fixtures.redis.server import RedisServer  # noqa: E402

BINARY = ROOT / ".build/release/switchboard"
#: Most that may be counted on the shard, for each case; lower them when the code has become cheaper.
BUDGETS = {
    "connection": {"instructions": 2_875_000, "malloc": 718},
    "delivery": {"instructions": 9_900, "malloc": 0.5},
    "unicast": {"instructions": 118_200, "malloc": 32},
    "read": {"instructions": 206_500, "malloc": 120},
}
#: Names of the functions whose calls are told, on any C library and runtime.
CALLS = {
    "malloc": {"malloc", "calloc", "realloc", "memalign", "posix_memalign", "aligned_alloc"},
    "free": {"free"},
    "retain": {"swift_retain", "swift_retain_n"},
    "release": {"swift_release", "swift_release_n"},
    "access": {"swift_beginAccess"},
}
SHARD = "shard-0"
DATA = '{"m":"0000000001:0000000000000001","p":"' + "x" * 158 + '"}'
SUBSCRIBE = '{"event":"subscribe","data":{"topic":"%s"}}'
#: One address opens everything, nothing comes due while it is counted, and everything is slow.
LIMITS = {"unauthenticatedPerAddressMax": 10_000, "connectionsPerAddressMax": 10_000,
          "connectsPerAddressPerSecond": 100_000, "requestsPerAddressPerSecond": 100_000, "pingMs": 600_000,
          "tlsHandshakeMs": 60_000, "requestHeadMs": 60_000, "requestBodyMs": 60_000, "authenticateMs": 60_000,
          "redisProbeMs": 60_000, "redisProbeTimeoutMs": 30_000}
START_SECONDS_MAX = 120
WARM_UP = 10


class Member:
    """A client of one topic."""

    def __init__(self, gateway: Gateway, topic: str):
        self.connection, status, self.received = raw.upgrade(gateway)
        assert status == 101, status
        self.connection.sendall(raw.frame(raw.TEXT, (SUBSCRIBE % topic).encode()))
        self.expect(b'"subscribed"')

    def expect(self, words: bytes) -> None:
        """Reads the next message, which has these words."""
        while not (frames := raw.frames(self.received)):
            piece = self.connection.recv(65_536)
            assert piece, "the gateway ended the connection"
            self.received += piece
        [(opcode, payload)] = frames
        assert opcode == raw.TEXT and words in payload, payload
        self.received = b""


class Backend:
    """A service with one connection, which is kept."""

    def __init__(self, gateway: Gateway):
        self.connection = raw.connect(gateway)

    def ask(self, line: str, body: str = "") -> None:
        """Sends one request, which must be answered 200."""
        length = f"Content-Length: {len(body)}\r\n" if body else ""
        self.connection.sendall(f"{line} HTTP/1.1\r\nHost: bench\r\napikey: {API_KEY}\r\n{length}\r\n{body}".encode())
        head, received = b"", b""
        while not head:
            received += self.connection.recv(65_536)
            head, _, rest = received.rpartition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200 "), received
        left = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0]) - len(rest)
        while left > 0:
            left -= len(self.connection.recv(65_536))

    def publish(self, topic: str) -> None:
        self.ask("POST /v1/broadcast", f'{{"topic":"{topic}","event":"e","data":{DATA}}}')


class Meter:
    """A counted gateway with one shard, and a Redis of its own."""

    def __init__(self, binary: Path, directory: Path):
        certificate = write_certificate(directory)
        self.redis = RedisServer(directory / "redis")
        self.counted = Counted(directory)
        self.gateway = Gateway(directory / "gateway", self.redis.url, certificate, SECRET, "--shards", "1",
                               "--log-level", "warn", limits=LIMITS)
        self.gateway.start_seconds_max = START_SECONDS_MAX
        self.gateway.arguments[:1] = self.counted.command(binary)

    def __enter__(self):
        self.redis.start()
        try:
            self.gateway.start().wait_ready(START_SECONDS_MAX)
        except BaseException:
            self.gateway.kill()
            self.redis.stop()
            raise
        self.counted.pid = self.gateway.process.pid
        return self

    def __exit__(self, *_):
        self.gateway.kill()
        self.redis.stop()

    def count(self, number: int, work) -> dict[str, Profile]:
        """What one of `number` pieces of work takes of each thread."""
        self.counted.dump()
        begun = time.monotonic()
        work()
        seconds = time.monotonic() - begun
        busy = self.counted.dump()
        time.sleep(seconds)
        idle = self.counted.dump()
        return {name: profile.combined(idle.get(name, Profile()), -1).scaled(1 / number)
                for name, profile in busy.items()}


def measure(binary: Path, messages: int = 200, members: int = 100) -> dict[str, dict[str, Profile]]:
    """The profiles of all cases, by thread."""
    with tempfile.TemporaryDirectory(prefix="switchboard-instructions-") as name, \
            Meter(binary, Path(name)) as meter, contextlib.ExitStack() as stack:
        gateway = meter.gateway

        def join(topics: list[str]) -> list[Member]:
            made = [Member(gateway, topic) for topic in topics]
            for member in made:
                stack.callback(member.connection.close)
            return made

        backend = Backend(gateway)
        stack.callback(backend.connection.close)

        def deliver(events: int, rooms: list[tuple[str, list[Member]]]) -> None:
            for number in range(events):
                topic, crowd = rooms[number % len(rooms)]
                backend.publish(topic)
                for member in crowd:
                    member.expect(b'"e"')

        def read(times: int) -> None:
            for number in range(times):
                backend.ask(f"GET /v1/topics/{topics[number % members]}")

        crowd = join(["shop:crowd"] * WARM_UP)
        connection = meter.count(members, lambda: crowd.extend(join(["shop:crowd"] * members)))
        deliver(WARM_UP, [("shop:crowd", crowd)])
        events = max(messages // 5, 1)
        fanout = meter.count(events, lambda: deliver(events, [("shop:crowd", crowd)]))

        topics = [f"shop:{number:04d}" for number in range(members)]
        rooms = [(topic, [member]) for topic, member in zip(topics, join(topics), strict=True)]
        # Each topic's first event costs more.
        deliver(2 * members, rooms)
        unicast = meter.count(messages, lambda: deliver(messages, rooms))
        read(WARM_UP)
        reads = meter.count(messages, lambda: read(messages))
    delivery = {thread: profile.combined(unicast.get(thread, Profile()), -1).scaled(1 / (len(crowd) - 1))
                for thread, profile in fanout.items()}
    return {"connection": connection, "delivery": delivery, "unicast": unicast, "read": reads}


def figures(profiles: dict[str, Profile]) -> dict[str, float]:
    """Instructions by thread, and the calls of the shard."""
    shard = profiles[SHARD]
    instructions = {"instructions": shard.instructions,
                    "all": sum(profile.instructions for profile in profiles.values())}
    return {name: round(value, 2) for name, value in instructions.items()} | {
        name: round(shard.count(names), 2) for name, names in CALLS.items()}


def over_budget(found: dict[str, dict[str, float]], budgets: dict = BUDGETS) -> list[str]:
    """A sentence for each figure that is larger than its budget."""
    return [f"{case}: {found[case][name]:,.1f} {name} on the shard, more than {most:,}"
            for case, most_of_case in budgets.items() for name, most in most_of_case.items()
            if found[case][name] > most]


def table(found: dict[str, dict[str, float]]) -> str:
    """The figures as text; instructions of the shard and of all threads, then the shard's calls."""
    rows = [f"{'':12}{'shard':>12}{'all':>12}" + "".join(f"{name:>9}" for name in CALLS)]
    for case, entry in found.items():
        rows.append(f"{case:12}" + "".join(f"{entry[name]:12,.0f}" for name in ("instructions", "all"))
                    + "".join(f"{entry[name]:9.1f}" for name in CALLS))
    return "\n".join(rows)


def ratios(found: dict, other: dict) -> str:
    """Each figure as a multiple of the other build's."""
    def cell(case, name, least):
        base = other[case][name]
        return f"{found[case][name] / base:.3f}" if base >= least else "-"

    # Less is what timers do otherwise in one window than in another.
    names = ("instructions", "all")
    return "\n".join(f"{case:12}" + "".join(f"{cell(case, name, 2_000):>12}" for name in names)
                     + "".join(f"{cell(case, name, 1):>9}" for name in CALLS) for case in found)


def functions(profile: Profile, count: int) -> str:
    """The functions of a profile that most instructions pass."""
    most = [name for name, _ in profile.inclusive.most_common(count)]
    plain = subprocess.run(["swift", "demangle", "--compact", "--simplified"], input="\n".join(most),
                           capture_output=True, text=True, check=True).stdout.splitlines()
    return "\n".join([f"{'with calls':>12}{'itself':>12}{'calls':>9}  function"] + [
        f"{profile.inclusive[name]:12,.0f}{profile.own[name]:12,.0f}{profile.calls[name]:9.2f}  {text[:160]}"
        for name, text in zip(most, plain, strict=True)])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary", type=Path, nargs="?", default=BINARY)
    parser.add_argument("--against", type=Path, metavar="BINARY")
    parser.add_argument("--functions", type=int, nargs="?", const=60, metavar="COUNT")
    parser.add_argument("--budget", action="store_true")
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--messages", type=int, default=200, help="unicast messages and reads that are counted (200)")
    parser.add_argument("--members", type=int, default=100, help="clients of the crowd, and of single topics (100)")
    options = parser.parse_args()
    kept = {}
    for label, binary in (("other", options.against), ("this", options.binary)):
        if binary is None:
            continue
        profiles = measure(binary, options.messages, options.members)
        kept[label] = {case: figures(threads) for case, threads in profiles.items()}
        print(f"{binary}\n{table(kept[label])}\n", flush=True)
        if options.functions:
            print(f"unicast, functions of {SHARD}\n{functions(profiles['unicast'][SHARD], options.functions)}\n")
    if options.against:
        print(f"this / other\n{ratios(kept['this'], kept['other'])}\n")
    if options.json:
        options.json.write_text(json.dumps(kept, indent=1) + "\n")
    wrong = over_budget(kept["this"]) if options.budget else []
    for line in wrong:
        print(f"FAILED: {line}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
