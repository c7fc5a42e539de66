"""Latency over time from a run's logs: from the first attempt of a message to each of its events."""

import json
from pathlib import Path

BUCKET_US = 100_000
LATE_US = 1_000_000
FEW = 5


class Latency:
    """Events by the time of their arrival, in buckets of 100 ms; of clients from a number on."""

    def __init__(self, directory, first_client: int = 0):
        directory = Path(directory)
        tried = {}
        for path in sorted(directory.glob("publisher*.jsonl")):
            for line in open(path, encoding="ascii", errors="replace"):
                if '"try"' in line and line.endswith("\n"):
                    entry = json.loads(line)
                    tried.setdefault(entry["try"], entry["t"])
        self.buckets = {}
        for path in sorted(directory.glob("subscribers*.log")):
            for line in open(path, encoding="ascii", errors="replace"):
                fields = line.split(" ")
                if fields[1] == "E" and len(fields) == 8 and fields[6] in tried and int(fields[2]) >= first_client:
                    arrived = int(fields[0])
                    self.buckets.setdefault(arrived // BUCKET_US, []).append(arrived - tried[fields[6]])

    def until_prompt(self, since_us: int, until_us: int) -> float:
        """Seconds from a moment until the last bucket whose p99 was over a second, before another moment; else 0."""
        late = [bucket for bucket in range(since_us // BUCKET_US, until_us // BUCKET_US)
                if len(values := self.buckets.get(bucket, ())) >= FEW and self._quantile(values, 0.99) > LATE_US]
        return ((late[-1] + 1) * BUCKET_US - since_us) / 1e6 if late else 0.0

    def quantile(self, share: float, since_us: int = 0, until_us: int = 1 << 62) -> float:
        """Milliseconds below which that share of the events of a span of time stayed."""
        values = [value for bucket, values in self.buckets.items()
                  if since_us <= bucket * BUCKET_US < until_us for value in values]
        return self._quantile(values, share) / 1_000 if values else 0.0

    @staticmethod
    def _quantile(values, share: float) -> int:
        ordered = sorted(values)
        return ordered[min(len(ordered) - 1, int(len(ordered) * share))]
