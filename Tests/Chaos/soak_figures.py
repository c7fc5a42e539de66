"""What a soak measured: rows of figures by time, whether one of them grows, and the table and plot of all."""

import csv
import html
import math
from dataclasses import dataclass
from pathlib import Path

#: Growth a second below which a figure counts as level, by unit: a gateway would need months to feel it. How many keys
#: of operations there are follows the load; they are only shown.
FLOORS = {"bytes": 100.0, "descriptors": 0.005, "keys": 0.02, "operations": math.inf}
#: How many standard errors a slope must be above nothing.
ERRORS = 3.0
#: Fewer points say nothing about a slope.
POINTS_MIN = 8
#: The share of a run that is judged: its last half.
JUDGED_SHARE = 0.5


@dataclass(frozen=True)
class Trend:
    """The line through a figure's points, by least squares; slope and error a second."""

    slope: float
    error: float
    start: float

    def text(self, unit: str) -> str:
        """The growth in an hour."""
        scale, name = (1 / 1_024, "kB") if unit == "bytes" else (1, unit)
        return f"{self.slope * 3_600 * scale:+,.0f} ± {self.error * 3_600 * scale:,.0f} {name}/h"


def trend(points: list[tuple[float, float]]) -> Trend:
    """The line through points of (seconds, value).

    Neighbours resemble each other, so there is less to learn from them than from as many independent points: the
    error is widened by what their residuals have in common.
    """
    count = len(points)
    mean_t, mean_v = sum(t for t, _ in points) / count, sum(v for _, v in points) / count
    spread = sum((t - mean_t) ** 2 for t, _ in points)
    slope = sum((t - mean_t) * (v - mean_v) for t, v in points) / spread
    residuals = [v - mean_v - slope * (t - mean_t) for t, v in points]
    squares = sum(r * r for r in residuals)
    if squares == 0:
        return Trend(slope, 0.0, mean_v - slope * mean_t)
    shared = sum(a * b for a, b in zip(residuals, residuals[1:])) / squares
    shared = min(max(shared, 0.0), 0.9)
    error = math.sqrt(squares / (count - 2) / spread * (1 + shared) / (1 - shared))
    return Trend(slope, error, mean_v - slope * mean_t)


def without_jump(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """The points with the largest rise between neighbours taken out: a table that doubled once is no leak."""
    rises = [after[1] - before[1] for before, after in zip(points, points[1:])]
    place = max(range(len(rises)), key=rises.__getitem__)
    jump = max(rises[place], 0.0)
    return [(t, v - jump if index > place else v) for index, (t, v) in enumerate(points)]


class Figures:
    """Figures by name and unit, row by row."""

    def __init__(self):
        self.units: dict[str, str] = {}
        self.rows: list[tuple[float, dict[str, float]]] = []

    def add(self, seconds: float, row: dict[tuple[str, str], float]) -> None:
        """A row of values by (name, unit)."""
        self.units.update({name: unit for name, unit in row})
        self.rows.append((seconds, {name: value for (name, _), value in row.items()}))

    def points(self, name: str, since: float = 0.0) -> list[tuple[float, float]]:
        """What was measured of a figure from a moment on."""
        return [(t, row[name]) for t, row in self.rows if t >= since and name in row]

    @property
    def judged_since(self) -> float:
        """When the part of the run begins that is judged."""
        return self.rows[-1][0] * (1 - JUDGED_SHARE) if self.rows else 0.0

    def trends(self) -> dict[str, Trend]:
        """The trend of each figure over the part that is judged; those without enough points are left out."""
        found = {}
        for name in self.units:
            points = self.points(name, self.judged_since)
            if len(points) >= POINTS_MIN:
                found[name] = trend(points)
        return found

    def growing(self) -> list[str]:
        """The figures that grow, each with its slope; a figure that cannot be judged counts as growing."""
        trends, problems = self.trends(), []
        for name, unit in self.units.items():
            line = trends.get(name)
            if line is None:
                problems.append(f"{name}: too few points to judge it")
            elif self._rises(line, unit) and self._rises(trend(without_jump(self.points(name, self.judged_since))),
                                                         unit):
                problems.append(f"{name} grows: {line.text(unit)}")
        return problems

    @staticmethod
    def _rises(line: Trend, unit: str) -> bool:
        return line.slope > FLOORS[unit] and line.slope > ERRORS * line.error

    def write_csv(self, path: Path) -> None:
        """A line for each row."""
        with open(path, "w", newline="") as file:
            table = csv.writer(file)
            table.writerow(["seconds", *self.units])
            for seconds, row in self.rows:
                table.writerow([round(seconds), *(round(row[name]) if name in row else "" for name in self.units)])

    def write_svg(self, path: Path, title: str) -> None:
        """A plot for each figure, with the line through the part that is judged."""
        width, height, columns = 460, 170, 2
        growing = {problem.split(" grows")[0] for problem in self.growing()}
        trends, plots = self.trends(), []
        for index, name in enumerate(self.units):
            x, y = (index % columns) * width, 30 + index // columns * height
            plots.append(f'<g transform="translate({x},{y})">{self._plot(name, trends.get(name), name in growing)}</g>')
        total = 40 + -(-len(self.units) // columns) * height
        path.write_text(
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width * columns}" height="{total}" '
            f'font-family="sans-serif" font-size="11"><rect width="100%" height="100%" fill="white"/>'
            f'<text x="10" y="18" font-size="14">{html.escape(title)}</text>{"".join(plots)}</svg>\n')

    def _plot(self, name: str, line: Trend | None, grows: bool) -> str:
        left, top, width, height = 10, 34, 430, 110
        points = self.points(name)
        low, high = min(v for _, v in points), max(v for _, v in points)
        span, end = max(high - low, 1e-9), max(self.rows[-1][0], 1e-9)

        def place(t: float, v: float) -> str:
            v = min(max(v, low), high)
            return f"{left + t / end * width:.1f},{top + height - (v - low) / span * height:.1f}"

        colour = "#c0392b" if grows else "#2c6fbb"
        told = line.text(self.units[name]) if line else "not judged"
        parts = [
            f'<text x="{left}" y="16" font-weight="bold" fill="{colour}">{html.escape(name)}</text>',
            f'<text x="{left}" y="29">{low:,.0f} to {high:,.0f} {self.units[name]}; {told}</text>',
            f'<rect x="{left}" y="{top}" width="{width}" height="{height}" fill="none" stroke="#ccc"/>',
            f'<polyline fill="none" stroke="{colour}" points="{" ".join(place(t, v) for t, v in points)}"/>']
        if line:
            ends = [place(t, line.start + line.slope * t) for t in (self.judged_since, self.rows[-1][0])]
            parts.append(f'<polyline fill="none" stroke="#222" stroke-dasharray="4 3" points="{" ".join(ends)}"/>')
        return "".join(parts)
