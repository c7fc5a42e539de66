"""A short run of everything at once, so that a change that breaks a promise is seen before it is merged."""

import argparse
import json

import chaos
import pytest
from Fixtures.processes.node import BINARY
from Fixtures.seeds import seed_of
from Fixtures.waiting import eventually
from other_clients import KINDS
from world import World

SECONDS = 6


@pytest.mark.slow
@pytest.mark.parametrize("durable", [
    pytest.param(0, id="everysec", marks=pytest.mark.thorough), pytest.param(1, id="always")])
def test_mixed_faults(tmp_path, durable):
    """Half of the runs may lose what Redis did not keep and must say so; the others may lose nothing."""
    # The lowest bit says which half the run belongs to.
    seed = seed_of("chaos") * 2 + durable
    assert BINARY.exists(), f"{BINARY} is missing: `make build` makes it"
    options = argparse.Namespace(
        seed=seed, seconds=SECONDS, clients=20, rate=150, topics=10, prefix="load:t",
        others=14, forget=False)
    report, failures = chaos.run(options, argparse.Namespace(path=tmp_path))
    assert not failures, "\n".join(failures)
    assert report.good, json.dumps(report.summary(), indent=1)
    # A run without load or faults would prove nothing.
    assert report.counts["acked"] > SECONDS * 40 and report.counts["delivered"] > report.counts["acked"]
    assert report.counts["faults"] >= 5, report.counts
    # Clients of the dialects that come back without a position did, and found the topics where they are.
    assert report.counts["rejoined without position"] > 0, report.counts


def test_a_lost_event_of_each_kind_is_seen(tmp_path):
    """The proof that the checker follows every kind of client: each loses one event of its feed."""
    with World(tmp_path, seed=1, gateways=1, persistence="none", clients=4, topics=4, per_client=2, others=len(KINDS),
               through_nginx=False, forgets=True) as world:
        world.rate(200)
        world.every(0.05, lambda: world.status()["events"] > 2_000, 30, "events")
        report = world.finish()
    assert report.by_invariant == {"I3": len(KINDS)}, report.summary()
    said = " ".join(shown["text"] for shown in report.violations)
    assert [kind for kind in KINDS if f"silent hole: client {kind}-" not in said] == [], said


def test_a_lost_frame_is_seen(tmp_path):
    """The proof that a whole run can fail: under load, one frame is lost on its way to one client."""
    with World(tmp_path, seed=1, gateways=1, persistence="none", clients=10, topics=5, per_client=1,
               through_nginx=False, loses=True) as world:
        world.rate(500)
        world.every(0.05, lambda: world.status()["events"] > 500, 30, "events")
        proxy = world.client_proxies[0]
        proxy.lose_frame(f'"topic":"{world.prefix}'.encode())
        eventually(lambda: proxy.frames_lost == 1, 10, "a lost frame")
        report = world.finish()
    assert report.by_invariant == {"I3": 1}, report.summary()
    assert "silent hole" in report.violations[0]["text"]
