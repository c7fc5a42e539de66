"""The capacity model's arithmetic, and that docs/capacity.md says what its figures ask for."""

import argparse
import dataclasses
import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench/capacity"))

import document
import measure
import model
import planning
from examples import LOADS, SITES
from figures import FIGURES, STEPS
from model import Load, Site, Stream

# Nothing costs anything, unless a test says so.
FREE = dict.fromkeys(FIGURES, 0.0)
STORED = json.loads((ROOT / "docs/capacity.json").read_text())


def plan(load, site=Site(), **figures):
    return model.plan(load, FREE | figures, site)


def one(users=1_000, publishes=0.0, members=1.0, topics=1, kind="http", **options):
    return Load("one", users, topics, (Stream("s", publishes, members, kind),), **options)


def flat(us):
    return {f"delivery_us_{rate}": us for rate in model.RATES}


def test_a_delivery_is_cheaper_the_more_a_connection_gets():
    figures = {"delivery_us_20": 10.0, "delivery_us_100": 8.0, "delivery_us_400": 4.0, "delivery_us_1600": 1.0}
    assert [model.delivery_us(figures, rate) for rate in (0.01, 20, 100, 400, 1_600, 9_999)] == [10, 10, 8, 4, 1, 1]
    # Half way on the logarithm.
    assert model.delivery_us(figures, 200) == pytest.approx(6.0)
    assert model.delivery_us(figures, 800) == pytest.approx(2.5)


def test_copies_are_bounded_by_members_and_by_gateways():
    assert model.copies(1, 10) == pytest.approx(1)
    assert model.copies(2, 2) == pytest.approx(1.5)
    assert model.copies(1_000_000, 10) == pytest.approx(10)
    assert model.copies(5, 1) == 1 and model.copies(0, 1) == 0 == model.copies(0, 5)
    for members in (1, 3, 50):
        for gateways in (1, 2, 7, 100):
            assert 0 < model.copies(members, gateways) <= min(members, gateways) + 1e-9


def test_cpu_by_hand():
    """1,000 publishes/s to 1,000 members at 10 us are 10 cores; a gateway gives four, and two zones must do."""
    result = plan(one(publishes=1_000, members=1_000), **flat(10.0))
    assert result.cores["deliveries"] == pytest.approx(10)
    assert result.gateways_for["cpu"] == pytest.approx(2.5) and result.bound_by == "cpu"
    assert result.gateways == 6


def test_each_part_of_the_cpu():
    load = one(users=1_000, publishes=100, members=50, session_seconds=10)
    cost = {"http_publish_us": 20.0, "receive_us": 5.0, "setup_us": 300.0, "idle_us": 2.0}
    cores = model.gateway_cores(load, FREE | cost | flat(10.0), 1)
    assert cores == pytest.approx(
        {"deliveries": 0.05, "publishes": 0.002, "from Redis": 0.0005, "connects": 0.03, "idle": 0.002})
    command = model.gateway_cores(one(publishes=100, kind="command"), FREE | {"command_us": 40.0}, 1)
    assert command["publishes"] == pytest.approx(0.004)


@pytest.mark.parametrize("site, figures, bound", [
    (Site(connections_max=100_000), {}, "connections"),
    (Site(connections_max=200_000), {"connection_bytes": 15_000.0, "kernel_bytes": 85_000.0}, "memory"),
    (Site(network_bits=1e9), {"wire_bytes": 400.0}, "network"),
])
def test_each_resource_can_be_the_one_that_counts(site, figures, bound):
    result = plan(one(users=1_000_000, publishes=10, members=200_000), site, **figures)
    assert result.bound_by == bound
    assert result.gateways > result.gateways_for[bound]


def test_connections_by_hand():
    """A million at 250,000 each are four gateways; three zones of which two must do are six."""
    large = Site(connections_max=250_000, descriptors=1_048_576)
    assert plan(one(users=1_000_000), large).gateways == 6
    assert plan(one(users=1_000_000), dataclasses.replace(large, zones=1)).gateways == 5
    assert plan(one(users=1)).gateways == 3 and plan(one(users=1), Site(zones=1)).gateways == 2


def test_redis_pays_for_each_gateway_that_has_a_member():
    cost = {"redis_publish_us": 10.0, "redis_copy_us": 1.0}
    alone, spread = one(publishes=1_000), one(publishes=1_000, members=1_000_000)
    assert model.redis_cores(alone, FREE | cost, 11) == pytest.approx(0.01)
    assert model.redis_cores(spread, FREE | cost, 11) == pytest.approx(0.02)
    assert plan(one(publishes=100_000), redis_publish_us=11.0).redis_shards == 3


def test_the_herd_of_a_lost_zone_by_hand():
    """3 gateways of 8 cores; a third of 300,000 comes back at 320 us each: 32 s of CPU, on 16 cores."""
    figures = FREE | {"setup_us": 320.0}
    load = one(users=300_000, session_seconds=1e12)
    assert model.herd_seconds(load, figures, Site(), 3) == pytest.approx(2.0, rel=1e-3)
    assert model.herd_seconds(one(users=1, publishes=1e9), figures | flat(1e6), Site(), 3) == float("inf")


@pytest.mark.parametrize("load", LOADS, ids=[load.name for load in LOADS])
def test_examples_fit_also_without_a_zone(load):
    site = SITES.get(load.name, Site())
    result = model.plan(load, STORED["figures"], site)
    left = result.gateways - (result.gateways // site.zones if site.zones > 1 else 1)
    asked = model.needs(load, STORED["figures"], site, left)
    assert max(asked.values()) <= left, asked
    assert result.herd_seconds < 300


def test_more_users_never_need_less():
    loads = [dataclasses.replace(LOADS[2], users=users) for users in (1e3, 1e4, 1e5, 1e6, 1e7)]
    counts = [model.plan(load, STORED["figures"], Site()).gateways for load in loads]
    assert counts == sorted(counts)


def planned(*words):
    """What `plan` prints for these flags, and the plan behind it."""
    parser = argparse.ArgumentParser()
    planning.add_flags(parser)
    options = parser.parse_args(words)
    text = planning.text(options, STORED["figures"])
    load, _ = planning.load_of(options)
    return text, model.plan(load, STORED["figures"], planning.site_of(options)), planning.site_of(options)


@pytest.mark.parametrize("words", [
    ("--users", "500000"), ("--users", "10000000"), ("--users", "3", "--zones", "1"),
    ("--users", "1000000", "--deliveries", "200000"), ("--users", "2000000", "--connections-max", "400000"),
])
def test_a_plan_needs_only_users_and_fits_the_limits_it_names(words):
    """`--deliveries` was required, and plans exceeded the default connectionsMax and the unit's descriptors."""
    text, result, site = planned(*words)
    assert result.connections_peak <= site.connections_max <= site.descriptors * 0.9
    beyond = text.split("To set beyond the defaults:")[1]
    assert ("connectionsMax" in beyond) == (site.connections_max > model.Site.connections_max)
    assert ("LimitNOFILE" in beyond) == (site.descriptors > model.Site.descriptors)
    for flag in ("--topics", "--session-seconds", "--cores", "--memory-gib", "--network-gbit", "--connections-max",
                 "--descriptors", "--zones", "--deliveries"):
        assert flag in text, f"the plan does not say what it assumes for {flag}"


def test_a_plan_assumes_the_products_own_defaults():
    limits = (ROOT / "docs/limits.md").read_text()
    assert f"| `connectionsMax` | `{Site.connections_max}` |" in limits
    unit = (ROOT / "deploy/systemd/switchboard-gateway.service").read_text()
    assert f"LimitNOFILE={Site.descriptors}\n" in unit


def test_the_mix_of_a_plan_is_the_mix_of_the_examples():
    _, result, _ = planned("--users", "200000")
    example = next(load for load in LOADS if load.users == 200_000)
    assert result.load.streams == example.streams and result.load.topics == pytest.approx(example.topics)


def test_the_command_prints_a_plan():
    done = subprocess.run(
        [sys.executable, ROOT / "bench/capacity.py", "plan", "--users", "500000"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Assumed:\n- the mix of apps") and "**gateways**" in done.stdout
    wrong = subprocess.run([sys.executable, ROOT / "bench/capacity.py", "plan", "--users", "-1"], capture_output=True)
    assert wrong.returncode == 2


def test_the_document_is_up_to_date():
    """`.venv/bin/python bench/capacity.py render` mends it."""
    assert (ROOT / "docs/capacity.md").read_text() == document.rendered()
    assert set(STORED["figures"]) == set(FIGURES)
    for step in STEPS:
        assert callable(getattr(measure.Measuring, step))


def test_numbers_are_for_people():
    assert [document.number(value) for value in (0, 0.01234, 1.5, 12.345, 123.4, 1_234_567, 99.96)] == [
        "0", "0.012", "1.5", "12.3", "123", "1,230,000", "100"]
    assert document.size(18_432) == "18.4 kB" and document.bits(2.5e9) == "2.5 Gbit/s"
