"""A short run of the rigs of fleets: a group that Sentinels watch and a Cluster, under load."""

import argparse
import json

import cluster_rounds
import fleet
import pytest
from Fixtures.seeds import seed_of
from fleet_rounds import played_and_judged


def options(kinds, **more):
    return argparse.Namespace(seed=seed_of("fleets"), clients=10, topics=20, rate=40, rounds=1,
                              kinds=kinds, **more)


@pytest.mark.slow
def test_a_cluster_whose_slots_move_loses_nothing_in_silence(tmp_path):
    played, report, problems = played_and_judged(
        options(["move"]), tmp_path, cluster_rounds.make_world, cluster_rounds.ClusterRounds,
        cluster_rounds.judge)
    assert report.good and not problems, json.dumps([report.summary(), problems], indent=1)
    assert len(played) == 1 and report.counts["acked"] > 50, report.counts


@pytest.mark.slow
def test_a_group_whose_master_dies_tells_what_it_lost(tmp_path):
    played, report, problems = played_and_judged(
        options(["kill"], redis_wait=0), tmp_path, fleet.make_world,
        lambda world, rng: fleet.GroupRounds(world, rng, False), fleet.judge)
    assert report.good and not problems, json.dumps([report.summary(), problems], indent=1)
    assert len(played) == 1 and report.counts["resets"] > 0, report.counts
