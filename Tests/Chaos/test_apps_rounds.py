"""The five apps live through moves of slots and failovers: a round of each kind, on a Cluster and on a group."""

import argparse

import apps_rounds
import pytest
from Fixtures.seeds import seed_of


@pytest.mark.slow
@pytest.mark.thorough
@pytest.mark.parametrize("on", sorted(apps_rounds.KINDS))
def test_what_was_answered_is_true_after_moves_and_failovers(tmp_path, on):
    options = argparse.Namespace(seed=seed_of("apps"), on=on, kinds=apps_rounds.KINDS[on], rounds=1, calm=2.0)
    figures, problems = apps_rounds.play(options, tmp_path, log=lambda text: None)
    assert not problems, (problems[:5], figures)
    # A run in which an app does nothing would prove nothing.
    assert all(figures[player.name]["calls"] > 20 for player in apps_rounds.PLAYERS), figures
