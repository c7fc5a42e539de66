"""The faults of chaos.py with the libraries for apps as its clients: half of them in Swift, half in JavaScript.

What the apps are told is held against the same promises: every event once and in order, every hole told, the last event
of every topic seen by all.

usage: .venv/bin/python Tests/Chaos/client_chaos.py SWIFT --seconds 60 --seed 1
       (SWIFT is what `swift build --package-path Tests/Chaos/apps` makes; `make chaos-clients` does both)
"""

import os
import shutil
import sys
from pathlib import Path

import paths  # noqa: F401
import chaos
import runs
from commanded import Commanded, Crowds
from Fixtures.clients.js_client import DEBIAN_MODULES
from world import World

APPS = Path(__file__).with_name("apps")


class AppWorld(World):
    """An installation whose subscribers are apps."""

    swift = None

    def _start_crowd(self, addresses) -> None:
        os.environ["NODE_EXTRA_CA_CERTS"] = str(self.certificate.cert)
        programs = {
            "swift": [self.swift, "--ca", self.certificate.cert],
            "js": [shutil.which("node"), APPS / "crowd.js", DEBIAN_MODULES / "ws/index.js"],
        }
        urls = [word for address in addresses for word in ("--url", f"wss://{address}/ws")]
        started = []
        for name, program in programs.items():
            started.append(Commanded(
                [*program, *urls, "--clients", self.clients // 2, "--topics", f"{self.prefix}:{self.topic_count}",
                 "--per-client", self.per_client, "--log", self.directory / f"subscribers-{name}.log",
                 "--forget", "yes" if self.forgets else "no"],
                self.directory / f"apps-{name}.err"))
            self.stack.callback(started[-1].end)
        self.crowd = Crowds(started)
        self.wait_live()


def main() -> int:
    parser = runs.arguments(__doc__.split("\n")[0], clients=40, rate=200, topics=40)
    parser.add_argument("swift", type=Path, help="the Swift program")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--prefix", default="load:t", help="load:t disconnects slow clients, live:t conflates")
    parser.add_argument("--forget", action="store_true", help="each reader loses an event: the checker must see it")
    options = runs.parse(parser)
    options.others = 0
    AppWorld.swift = options.swift.resolve()
    with runs.directory(options) as outcome:
        report, failures = chaos.run(options, outcome, world_type=AppWorld)
        return runs.close(outcome, report, failures)


if __name__ == "__main__":
    sys.exit(main())
