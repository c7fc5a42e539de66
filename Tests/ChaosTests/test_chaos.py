"""A short run of everything at once, so that a change that breaks a promise is seen before it is merged."""

import argparse
import os
import random

import chaos
import pytest
from node_process import BINARY
from world import BENCH

SECONDS = 6


@pytest.mark.slow
@pytest.mark.parametrize("durable", [0, 1], ids=["everysec", "always"])
def test_mixed_faults(tmp_path, durable):
    """Half of the runs may lose what Redis did not keep and must say so; the others may lose nothing."""
    seed = int(os.environ.get("SWITCHBOARD_SEED", random.SystemRandom().randrange(2**31) * 2 + durable))
    print(f"SWITCHBOARD_SEED={seed}")
    assert BINARY.exists(), f"{BINARY} is missing: `make build` makes it"
    options = argparse.Namespace(
        seed=seed, seconds=SECONDS, clients=20, rate=150, topics=10, no_repair=False, prefix="load:t",
        python_crowd=not BENCH.exists())
    report, failures = chaos.run(options, argparse.Namespace(path=tmp_path))
    assert not failures, "\n".join(failures)
    assert report.good, report.summary()
    # A run without load or faults would prove nothing.
    assert report.counts["acked"] > SECONDS * 40 and report.counts["delivered"] > report.counts["acked"]
    assert report.counts["faults"] >= 5, report.counts
