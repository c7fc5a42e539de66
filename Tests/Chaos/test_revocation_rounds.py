"""Two rounds of the rig, so that a change that breaks it is seen before it is merged."""

import argparse

import pytest
import revocation_rounds
from Fixtures.seeds import seed_of


@pytest.mark.slow
def test_nothing_is_heard_two_seconds_after(tmp_path):
    """Access could not be withdrawn at all, and a node that is away misses whatever is only told (M1)."""
    options = argparse.Namespace(rounds=2, cut=2, seed=seed_of("revocation"))
    times, failures = revocation_rounds.run(options, tmp_path)
    assert not failures, "\n".join(failures)
    assert len(times) == 2 * 2 * revocation_rounds.NODES
