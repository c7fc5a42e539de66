"""The version before and this one on one Redis behind nginx, forward and back, while everything breaks.

The steps are those of docs/upgrade.md: the worker first and then one gateway after another; to roll back, the gateways
first and then the worker. The load never stops. After each step a seeded plan of faults breaks processes, Redis,
network and clients of every dialect, as chaos.py does. Every write is synced, so nothing may be lost, no epoch may
change, and the checker looks at what each client saw from the first step to the last.

The version before is a commit that is pinned below. Its gateway is built once, into .build/versions.

usage: .venv/bin/python Tests/Chaos/mixed_versions.py --seconds 15 --seed 1 [--older BINARY]
"""

import os
import subprocess
import sys
import time
from pathlib import Path

import chaos
import faults
import paths
import runs
from Fixtures.processes.node import BINARY
from votes import Votes
from world import World

# The last commit of version 0.1.0.
OLDER_COMMIT = "780015ff0bd16d5619bb3ea12718a433c424ea4b"
BUILD = ["swift", "build", "--configuration", "release", "--static-swift-stdlib", "--product", "switchboard"]
BUILD_SECONDS_MAX = 3_600


def older_binary() -> Path:
    """The gateway of the pinned commit, which is built unless it is there."""
    binary = paths.ROOT / ".build/versions" / OLDER_COMMIT / "switchboard"
    if binary.exists():
        return binary
    binary.parent.mkdir(parents=True, exist_ok=True)
    source = binary.parent / "source"
    if not source.exists():
        run(["git", "worktree", "prune"], paths.ROOT)
        run(["git", "worktree", "add", "--detach", "--force", source, OLDER_COMMIT], paths.ROOT)
    print(f"building {OLDER_COMMIT[:8]}: some minutes, once", flush=True)
    run(BUILD, source)
    os.link(source / ".build/release/switchboard", binary)
    run(["git", "worktree", "remove", "--force", source], paths.ROOT)
    return binary


def run(words: list, directory: Path) -> None:
    done = subprocess.run([str(word) for word in words], cwd=directory, capture_output=True, text=True,
                          timeout=BUILD_SECONDS_MAX)
    if done.returncode != 0:
        raise RuntimeError(f"{words} failed:\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")


class MixedWorld(World):
    """An installation whose processes all begin as the older version."""

    def __init__(self, *arguments, older: Path, **options):
        super().__init__(*arguments, **options)
        self.older, self.newer = older, BINARY.absolute()
        for node in self.nodes:
            node.arguments[0] = str(older)

    @property
    def nodes(self) -> list:
        return [*self.gateways, self.worker]

    def replace(self, node, binary: Path) -> None:
        """Ends a process in good order and starts it from the other binary; waits until it serves again."""
        node.stop()
        node.arguments[0] = str(binary)
        node.start()
        if node is not self.worker:
            node.wait_ready(30)
        self.wait_live()

    def versions(self) -> list[str]:
        """The binary that each process really runs."""
        names = {self.older.resolve(): "older", self.newer.resolve(): "newer"}
        running = [Path(os.readlink(f"/proc/{node.process.pid}/exe")) for node in self.nodes]
        return [names[path] for path in running]


def steps(world: MixedWorld) -> list[tuple]:
    """What is replaced by which binary before each plan of faults."""
    first, second, third = world.gateways
    forward = [[], [world.worker], [first], [second], [third]]
    back = [[third], [first, second], [world.worker]]
    return [(nodes, world.newer) for nodes in forward] + [(nodes, world.older) for nodes in back]


def main() -> int:
    parser = runs.arguments(__doc__.split("\n")[0], clients=100, rate=300, topics=40)
    parser.add_argument("--seconds", type=float, default=15, help="of faults after each of the eight steps")
    parser.add_argument("--others", type=int, default=35, help="clients of other dialects, of seven kinds in turn")
    parser.add_argument("--older", type=Path, help="a gateway of the version before, instead of building it")
    options = runs.parse(parser)
    older = (options.older or older_binary()).absolute()
    for binary in (older, BINARY):
        print(subprocess.run([binary, "--version"], capture_output=True, text=True, check=True).stdout.strip())
    failures, done = [], 0
    with runs.directory(options) as outcome:
        with MixedWorld(outcome.path, older=older, gateways=3, proxied=True, worker=True, per_client=4, durable=True,
                        epoch_kept=True, persistence="always", limits=chaos.SLOW, others=options.others,
                        **runs.world_options(options)) as world:
            world.votes = Votes(world, options.seed).start()
            world.rate(options.rate)
            for number, (nodes, binary) in enumerate(steps(world)):
                began = time.monotonic()
                for node in nodes:
                    world.replace(node, binary)
                print(f"step {number}: {' '.join(world.versions())} after {time.monotonic() - began:.1f} s", flush=True)
                injector = faults.Injector(world)
                injector.run(faults.plan(options.seed + number, options.seconds, without=faults.LOSSES))
                failures += injector.failures
                done += sum(injector.done.values())
                for gateway in world.gateways:
                    gateway.wait_ready(30)
                world.wait_live()
            report = world.finish()
        report.counts["faults"] = done
        return runs.close(outcome, report, failures)


if __name__ == "__main__":
    sys.exit(main())
