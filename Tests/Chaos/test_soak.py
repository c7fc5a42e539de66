"""The judge of a soak: it names what grows, and is not misled by noise, steps, or what levelled before."""

import csv
import random
import xml.etree.ElementTree as ElementTree

import pytest

from soak_figures import Figures, trend

MB = 1 << 20


def figures(value, *, minutes=60, unit="bytes", name="gateway private"):
    """A row a minute of a figure that is a function of the seconds."""
    made = Figures()
    for minute in range(1, minutes + 1):
        made.add(minute * 60.0, {(name, unit): value(minute * 60.0)})
    return made


def noise(seed, width):
    rng = random.Random(seed)
    return lambda: rng.gauss(0, width)


def test_the_line_goes_through_points_on_a_line():
    line = trend([(float(t), 5 + 2.0 * t) for t in range(10)])
    assert line.slope == pytest.approx(2) and line.start == pytest.approx(5) and line.error == pytest.approx(0)


@pytest.mark.parametrize("seed", range(20))
def test_a_leak_in_noise_is_named(seed):
    """3.8 kB a second is what a gateway lost before anybody looked for an hour."""
    jitter = noise(seed, 0.5 * MB)
    made = figures(lambda t: 200 * MB + 3_800 * t + jitter())
    assert [problem.split(":")[0] for problem in made.growing()] == ["gateway private grows"]


@pytest.mark.parametrize("seed", range(20))
def test_noise_around_a_level_is_no_growth(seed):
    jitter = noise(seed, 2 * MB)
    assert figures(lambda t: 200 * MB + jitter()).growing() == []


def test_what_levelled_before_the_judged_part_is_no_growth():
    assert figures(lambda t: min(t, 1_500.0) * 10_000).growing() == []


def test_one_step_is_no_slope():
    assert figures(lambda t: 200 * MB + (4 * MB if t > 2_700 else 0)).growing() == []


def test_falling_is_no_growth():
    assert figures(lambda t: 200 * MB - 4_000 * t).growing() == []


@pytest.mark.parametrize("unit, slope", [("descriptors", 0.02), ("keys", 0.1)])
def test_descriptors_and_keys_are_judged_too(unit, slope):
    assert len(figures(lambda t: 100 + slope * t, unit=unit).growing()) == 1


def test_operations_follow_the_load_and_are_not_judged():
    assert figures(lambda t: 9_000 + 0.1 * t, unit="operations", name="redis operations").growing() == []


def test_too_short_a_run_is_no_pass():
    assert "too few points" in figures(lambda t: 1.0, minutes=5).growing()[0]


def test_the_table_and_the_plot_hold_every_figure(tmp_path):
    made = figures(lambda t: 200 * MB + 4_000 * t, name="gateway <private>")
    made.write_csv(tmp_path / "soak.csv")
    made.write_svg(tmp_path / "soak.svg", "a & b")
    rows = list(csv.reader(open(tmp_path / "soak.csv")))
    assert rows[0] == ["seconds", "gateway <private>"] and len(rows) == 61 and rows[1] == ["60", "209955200"]
    text = "".join(ElementTree.parse(tmp_path / "soak.svg").getroot().itertext())
    assert "gateway <private>" in text and "a & b" in text
