"""The capacity model's arithmetic, and that docs/capacity.md says what its figures ask for."""

import argparse
import dataclasses
import json
import math
import subprocess
import sys
from pathlib import Path

import pytest

import document
import measure
import model
import planning
from examples import LOADS, SITES
from figures import FIGURES, STEPS
from model import Load, Site, Stream

ROOT = Path(__file__).resolve().parents[2]
# Nothing costs anything, unless a test says so.
FREE = dict.fromkeys(FIGURES, 0.0) | {"cluster_times": 1.0, "master_links_max": 10_000.0}
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
        {"deliveries": 0.05, "publishes": 0.002, "from Redis": 0.0005, "connects": 0.03, "joins": 0, "idle": 0.002})
    joining = model.gateway_cores(one(users=1_000, session_seconds=10, joins_each=3), FREE | {"join_us": 50.0}, 1)
    assert joining["joins"] == pytest.approx(0.01)
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
    assert plan(one(publishes=100_000), redis_publish_us=11.0).masters == 3
    joining = one(users=1_000, session_seconds=10, joins_each=3)
    assert model.redis_cores(joining, FREE | {"redis_join_us": 100.0}, 11) == pytest.approx(0.03)


def test_masters_by_hand():
    """100,000 publishes/s at 20 us are 2 cores, and 2.2 on a Cluster; a plan takes half of a core."""
    load = one(publishes=100_000)
    result = plan(load, redis_publish_us=20.0, cluster_times=1.1)
    assert result.masters_for == pytest.approx({"processor": 4.4, "memory": 0, "network": 0}) and result.masters == 5
    assert result.redis_cores == pytest.approx(2.2)
    # Twelve gateways of 8 shards, of which each takes 1,000 us of every master in a second: 0.096 cores.
    probed = plan(one(users=800_000, publishes=100_000), redis_publish_us=20.0, master_idle_us=1_000.0)
    assert probed.gateways == 12 and probed.masters_for["processor"] == pytest.approx(2 / 0.404)
    assert probed.masters == 5 and probed.redis_cores == pytest.approx(2 + 5 * 0.096)


def test_one_server_does_while_it_can_and_a_cluster_has_three_masters():
    assert plan(one(publishes=24_000), redis_publish_us=20.0, cluster_times=9.0).masters == 1
    assert plan(one(publishes=26_000), redis_publish_us=20.0).masters == 3
    small = plan(one(publishes=26_000), redis_publish_us=20.0)
    assert small.redis_cores == pytest.approx(0.52)


MIB_TOPICS = {"redis_topic_bytes": 1 << 20}


@pytest.mark.parametrize("load, figures, bound, needed", [
    # 40 GiB of events where a plan takes 16 of each master; then 8 of these are kept for 8 gateways that do not read.
    (one(topics=40 << 10), MIB_TOPICS, "memory", 2.5),
    (one(users=1_600_000, topics=40 << 10), MIB_TOPICS | {"master_buffer_bytes": 1 << 30}, "memory", 5),
    # 1,000 publishes/s of 10 MB are 80 Gbit/s, where a plan takes 5 of each.
    (one(publishes=1_000), {"redis_message_bytes": 10e6}, "network", 16),
])
def test_each_resource_can_be_the_one_that_asks_for_masters(load, figures, bound, needed):
    result = plan(load, **figures)
    assert max(result.masters_for, key=result.masters_for.get) == bound
    assert result.masters_for[bound] == pytest.approx(needed)
    assert result.masters == max(3, math.ceil(needed))


def test_channels_are_paid_for_each_gateway_that_hears_them():
    figures = FREE | {"redis_channel_bytes": 100.0, "redis_listener_bytes": 10.0}
    everybody, alone = one(users=1_000_000, topics=5), one(users=5, topics=5)
    assert model.redis_bytes(everybody, figures, 11) == pytest.approx(5 * 200)
    assert model.redis_bytes(alone, figures, 11) == pytest.approx(5 * 100)


def test_no_number_of_masters_helps_when_probes_fill_each():
    """A plan of such gateways says so, and ends."""
    result = plan(one(users=1_000_000, publishes=10), redis_publish_us=1.0, master_idle_us=10_000.0)
    assert result.masters == float("inf") and result.gateways == 15
    assert "fewer and larger gateways" in "".join(planning.settings(result, Site(), 10_000))


def test_links_and_the_herd_at_redis_by_hand():
    """15 gateways of 8 shards with 3 + 7 links; 5 of them are a zone, whose 333,333 users join 2 topics each."""
    load = one(users=1_000_000, publishes=40_000, session_seconds=1e12, joins_each=2)
    result = plan(load, redis_publish_us=25.0, redis_join_us=30.0, master_links=3.0, master_shard_links=1.0)
    assert result.gateways == 15 and result.links == 150 and result.masters == 3
    assert result.redis_herd_seconds == pytest.approx(10, rel=1e-3)
    assert planning.settings(result, Site(), 160) != planning.settings(result, Site(), 170)


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
                 "--descriptors", "--zones", "--deliveries", "--joins", "--redis-memory-gib"):
        assert flag in text, f"the plan does not say what it assumes for {flag}"


def test_a_plan_takes_joins_publishes_and_members():
    text, result, _ = planned("--users", "1000000", "--publishes", "5000", "--members", "40", "--joins", "3000")
    assert result.load.deliveries == pytest.approx(200_000) and result.load.joins == pytest.approx(3_000)
    assert "40 members hear each" in text and "3,000 joins/s" in text


@pytest.mark.parametrize("words", [
    ("--publishes", "5"), ("--members", "5"), ("--publishes", "5", "--members", "5", "--deliveries", "5")])
def test_a_plan_refuses_a_load_that_is_not_said_or_said_twice(words):
    with pytest.raises(SystemExit, match="plan: "):
        planned("--users", "1000", *words)


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
    for page, text in document.rendered().items():
        assert page.read_text() == text, page.name
    shown = {name for page in document.PAGES for _, name, _ in document.MARKED.findall(page.read_text())}
    assert shown == set(document.tables(STORED))
    assert set(STORED["figures"]) == set(FIGURES)
    assert set(STORED["steps"]) == set(STEPS)
    for step in STEPS:
        assert callable(getattr(measure.Measuring, step))


def test_numbers_are_for_people():
    assert [document.number(value) for value in (0, 0.01234, 1.5, 12.345, 123.4, 1_234_567, 99.96)] == [
        "0", "0.012", "1.5", "12.3", "123", "1,230,000", "100"]
    assert document.size(18_432) == "18.4 kB" and document.bits(2.5e9) == "2.5 Gbit/s"


def test_the_busiest_id_is_one_masters_and_more_machines_do_not_help_it():
    """500 commands/s of 500 us on one id are a quarter of a core: half of what a plan uses of any master."""
    busiest = Stream("hot", 500, 1, "command", 500)
    for publishes in (1_000, 100_000):
        load = one(publishes=publishes, kind="command", hottest=busiest)
        result = plan(load, Site(is_cluster=True), redis_command_us=50.0, master_links=2.0, master_shard_links=1.0)
        assert result.masters == max(3, math.ceil(publishes * 50 / 5e5))
        assert result.fill["processor of the master of the busiest id"] == pytest.approx(0.5)
        assert result.fill["processor of a master"] == pytest.approx(publishes * 50 / 1e6 / result.masters / 0.5)
        assert result.fill["connections at a master"] == pytest.approx(result.gateways * 9 / 9_000)
        assert result.fill["connections of a gateway, a zone lost"] <= 1


def test_a_command_of_several_steps_costs_what_is_said():
    load = Load("one", 1_000, 1, (Stream("s", 1_000, 1, "command", 300),))
    assert model.redis_cores(load, FREE | {"redis_command_us": 50.0}, 1) == pytest.approx(0.3)
