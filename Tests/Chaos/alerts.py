"""The faults of an operator's night (night_shift.py) before a real Prometheus: which alert fires, after how long.

usage: .venv/bin/python Tests/Chaos/alerts.py [--only redis_stopped,worker_dead] [--at-once N]

Each fault has an installation of its own, with a worker, and a Prometheus with deploy/prometheus/rules.yaml that
scrapes and evaluates every second. Prints a table: the fault, its alert, the seconds from the fault until it fired, and
every other alert that fired within OBSERVED_SECONDS, which should be none. Exits with 1 when an alert is missing or
another one fired.
"""

import argparse
import concurrent.futures
import multiprocessing
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import paths  # noqa: F401
import night_rows  # noqa: F401  adds its faults
from Fixtures.processes.prometheus import Prometheus
from Fixtures.waiting import eventually, pass_time
from night_faults import FAULTS
from night_site import Site

#: The alert of each fault, without its first word. A drain is no fault: its alert is for one that does not end.
EXPECTED = {
    "redis_stopped": "RedisUnusable", "redis_read_only": "RedisUnusable", "redis_out_of_memory": "RedisUnusable",
    "redis_password_rotated": "RedisUnusable", "redis_stalled": "RedisUnusable",
    "certificate_ends_soon": "CertificateEnds", "certificate_ended": "CertificateEnds",
    "certificate_is_junk": "ReloadRefused", "certificate_is_missing": "ReloadRefused",
    "key_is_of_another": "ReloadRefused",
    "worker_dead": "NoWorker", "nobody_works_off_the_outbox": "NoWorker", "receiver_down": "WebhookFails",
    "slow_reader": "SlowClients", "descriptors_96": "DescriptorsShort", "descriptors_400": "DescriptorsShort",
    "descriptors_1024": "DescriptorsShort", "user_floods": "CallersOverRate", "user_floods_by_http": "CallersOverRate",
    "clock_two_hours_fast": "ClockWrong", "gateway_stopped": "ProcessStalled",
    "nginx_without_proxy_header": "ProxyMismatch", "proxy_header_to_a_plain_port": "ProxyMismatch",
    "http_to_a_tls_port": "TLSFails", "upgrade_dropped": "UpgradeDropped",
    "thread_cannot_start": "ThreadFailed", "shard_hangs": "LoopStuck", "memory_short": "MemoryShort",
    "revocations_of_another_type": "RightsUnreadable", "default_user_is_off": "RedisCannotLoad",
    "redis_may_evict": "RedisEvicts", "redis_nearly_full": "RedisNearlyFull",
    "redis_stops_to_write": "RedisPersistenceSwitched", "bridge_without_its_right": "BridgeDown",
}
#: Faults whose installation breaks the promise before the fault does: the certificate is short-lived from the start.
BROKEN_BEFORE = {"certificate_ended"}
#: Faults that bring, or end, a worker of their own.
OWN_WORKER = {"worker_dead", "nobody_works_off_the_outbox"}
#: The longest time that an alert of rules.yaml waits which such a fault could raise, and some scrapes.
OBSERVED_SECONDS = 75
QUIET_SECONDS_MAX = 60
PLAYED_SECONDS_MAX = 240


class AlertSite(Site):
    """An installation in which only the fault is wrong: it has a worker."""

    def __init__(self, directory: Path, *, has_worker: bool, limits: dict):
        super().__init__(directory)
        self.has_worker = has_worker
        self.more = limits

    def gateway(self, *flags: str, **options):
        gateway = super().gateway(*flags, **options | {"limits": options.get("limits", {}) | self.more})
        if self.has_worker and "worker" not in self.nodes:
            self.worker(url=options.get("url", ""))
        return gateway

    @property
    def live_targets(self) -> dict[tuple[str, str], str]:
        """The addresses of the nodes that run."""
        return {key: address for key, address in self.targets.items() if self.nodes[key[1]].process is not None}

    @property
    def targets(self) -> dict[tuple[str, str], str]:
        """The address of each node's metrics, by job and instance; that of a dead one stays."""
        found = {}
        for name, node in self.nodes.items():
            if "ops" in node.addresses:
                found[f"switchboard-{node.kind}", name] = "%s:%d" % node.address("ops")
        return found


class Found(NamedTuple):
    """Seconds until the expected alert fired, `None` when it did not; all others that fired."""

    seconds: float | None
    others: list[str]
    had_fired: bool


def play(name: str, directory: Path, observed_seconds: float = OBSERVED_SECONDS) -> Found:
    """Causes the fault and observes the alerts; mends it afterwards."""
    expected = "Switchboard" + EXPECTED[name]
    # A loop that hangs would end the process, which is another fault.
    limits = {"stuckExitMs": 600_000} if name == "shard_hangs" else {}
    with AlertSite(directory, has_worker=name not in OWN_WORKER, limits=limits) as site, \
            Prometheus(directory / "prometheus") as prometheus:
        steps = FAULTS[name][0](site)
        next(steps)
        prometheus.watch(site.live_targets)
        count = len(site.live_targets)
        eventually(lambda: len(prometheus.query("min_over_time(up[3s]) == 1 and count_over_time(up[6s]) > 3")) == count,
                   QUIET_SECONDS_MAX, "every target is scraped")
        if name not in BROKEN_BEFORE:
            eventually(lambda: not prometheus.query("ALERTS"), QUIET_SECONDS_MAX,
                       "no alert, fired or pending, before the fault")
        had_fired = expected in prometheus.firing()
        began = time.monotonic()
        next(steps)
        seconds, others = None, set()
        while (passed := time.monotonic() - began) < observed_seconds:
            prometheus.watch(site.targets)
            firing = prometheus.firing()
            if expected in firing and seconds is None:
                seconds = passed
            others |= firing - {expected}
            pass_time(0.2, "Prometheus looks at its rules once a second")
        next(steps, None)
    return Found(seconds, sorted(others), had_fired)


def gives_up(*_) -> None:
    raise TimeoutError(f"it took longer than {PLAYED_SECONDS_MAX} s")


def played(name: str, observed_seconds: float = OBSERVED_SECONDS) -> Found | str:
    """What was found, or why the fault could not be played."""
    directory = Path(tempfile.mkdtemp(prefix="alerts-"))
    # Clients of the faults may wait for ever; one of them must not keep the others' rows back.
    signal.signal(signal.SIGALRM, gives_up)
    signal.alarm(PLAYED_SECONDS_MAX)
    try:
        return play(name, directory, observed_seconds)
    except Exception as failure:  # noqa: BLE001 - a row of the table says so, and the others go on
        return f"{type(failure).__name__}: {failure}".splitlines()[0]
    finally:
        signal.alarm(0)
        shutil.rmtree(directory, ignore_errors=True)


def line(name: str, found: Found | str) -> tuple[str, bool]:
    """A row of the table, and whether it is as it should be."""
    if isinstance(found, str):
        return f"| {name} | {EXPECTED[name]} | **not played**: {found} | |", False
    fired = "**never**" if found.seconds is None else f"{found.seconds:.0f}"
    if found.had_fired:
        fired += ", and before"
    others = ", ".join(found.others) or "none"
    return f"| {name} | {EXPECTED[name]} | {fired} | {others} |", found.seconds is not None and not found.others


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=",".join(EXPECTED))
    parser.add_argument("--at-once", type=int, default=3)
    options = parser.parse_args()
    print("| fault | alert | fires after, s | others |\n|---|---|---|---|", flush=True)
    failed = 0
    spawn = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(options.at_once, mp_context=spawn) as pool:
        names = options.only.split(",")
        for name, found in zip(names, pool.map(played, names), strict=True):
            text, is_good = line(name, found)
            failed += not is_good
            print(text, flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
