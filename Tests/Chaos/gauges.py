"""What is measured beside a run: a process's memory, the answers that one client gets, what Redis does."""

import math
import threading
import time

from Fixtures.processes.figures import resident_bytes


def now_us() -> int:
    """The clock of all logs."""
    return time.monotonic_ns() // 1_000


def quantile(values, share: float) -> float:
    """The value below which that share stays; 0 without values."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))] if ordered else 0.0


class Sampler:
    """Takes a value every so often on a thread of its own; a context manager."""

    def __init__(self, interval_seconds: float, take):
        self.samples = []
        self.failures = []
        self._interval, self._take = interval_seconds, take
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def _run(self) -> None:
        while not self._over.wait(self._interval):
            try:
                self.samples.append((now_us(), self._take()))
            except Exception as error:  # What could not be measured is told with the figures.
                self.failures.append(repr(error))
                return

    def __enter__(self) -> "Sampler":
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._over.set()
        self._thread.join()

    def values(self, since_us: int = 0, until_us: int = 1 << 62) -> list:
        """What was taken in a span of time."""
        return [value for t, value in self.samples if since_us <= t < until_us]


def resident(gateway, interval_seconds: float = 0.05) -> Sampler:
    """Resident bytes of a process."""
    pid = gateway.process.pid
    return Sampler(interval_seconds, lambda: resident_bytes(pid))


def timed(interval_seconds: float, ask) -> Sampler:
    """Milliseconds until an answer, asked every so often."""
    def take():
        began = time.monotonic()
        ask()
        return (time.monotonic() - began) * 1_000
    return Sampler(interval_seconds, take)


class RedisFigures:
    """Commands, latency and CPU of a Redis, from a moment on."""

    def __init__(self, server):
        self.db = server.client()
        self.db.config_resetstat()

    def close(self) -> None:
        self.db.close()

    def calls(self, *names: str) -> int:
        """How often these commands were called."""
        commands = self.db.info("commandstats")
        return sum(commands.get(f"cmdstat_{name}", {"calls": 0})["calls"] for name in names)

    def execution_ms(self, name: str) -> float:
        """The 99th percentile of a command's time inside Redis."""
        return self.db.info("latencystats").get(f"latency_percentiles_usec_{name}", {}).get("p99", 0.0) / 1_000

    def cpu_seconds(self) -> float:
        """CPU time used since the server's start."""
        cpu = self.db.info("cpu")
        return cpu["used_cpu_sys"] + cpu["used_cpu_user"]

    def channels(self) -> int:
        """Channels that somebody is subscribed to."""
        return self.db.info("stats")["pubsub_channels"]


def reply_ms(before, after, share: float) -> float:
    """A bound in milliseconds for that share of a gateway's Redis replies between two looks at its metrics."""
    first, last = (page.buckets("switchboard_redis_latency_seconds") for page in (before, after))
    grown = {bound: last[bound] - first.get(bound, 0) for bound in last}
    return min((bound * 1_000 for bound, count in grown.items() if count >= share * grown[math.inf]), default=0.0)


def busy_seconds(samples, share: float) -> float:
    """How long a process used more than that share of a core, from samples of its CPU seconds."""
    return sum((t - before_t) / 1e6 for (before_t, before), (t, cpu) in zip(samples, samples[1:])
               if cpu - before > share * (t - before_t) / 1e6)
