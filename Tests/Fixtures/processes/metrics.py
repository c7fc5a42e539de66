"""The one reader of a gateway's metrics: pages in the text format of Prometheus."""

import math
import re

_SAMPLE = re.compile(r"^(\w+)(?:\{(.*)\})? (\S+)$")
_LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')


class Metrics:
    """One page; `text` is the page itself."""

    def __init__(self, text: str):
        self.text = text
        self._samples = {}
        self._names = set()
        for line in text.splitlines():
            if line.startswith("# TYPE "):
                self._names.add(line.split(" ")[2])
            elif found := _SAMPLE.match(line):
                name, labels, value = found.groups()
                self._samples.setdefault(name, []).append((dict(_LABEL.findall(labels or "")), float(value)))

    def value(self, name: str, **labels) -> float:
        """The sum over the lines of a metric that have these labels; 0 where there is none of them.

        A line without labels is the whole and stands for itself when no labels are asked for.
        Fails when the page does not have the metric at all, so that a misspelled name cannot pass for 0.
        """
        assert name in self._names or name in self._samples, f"no metric {name} in\n{self.text}"
        samples = self._samples.get(name, [])
        whole = [value for have, value in samples if not have]
        if whole and not labels:
            return whole[0]
        return sum(value for have, value in samples if labels.items() <= have.items())

    def buckets(self, name: str) -> dict[float, float]:
        """The cumulated counts of a histogram by upper bound; the last bound is infinity."""
        return {math.inf if have["le"] == "+Inf" else float(have["le"]): value
                for have, value in self._samples[f"{name}_bucket"]}

    def label_values(self, name: str, label: str) -> set[str]:
        """What a label of a metric is, on all its lines."""
        return {have[label] for have, _ in self._samples[name]}
