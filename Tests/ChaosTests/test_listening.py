"""A small run of listening sessions under chaos, so that a change that breaks one is seen before it is merged."""

import listening
import pytest
from support.seeds import seed_of


@pytest.mark.slow
def test_what_was_answered_is_what_is_shown(tmp_path):
    figures, problems = listening.run(users=15, sessions=3, changes=700, seed=seed_of("listening"), directory=tmp_path)
    assert not problems, problems[:5]
    # A run in which nothing happens would prove nothing.
    assert figures["songs"] > 10 and figures["ballots"] > 30 and figures["skips"] > 0, figures
    assert figures["pictures"] == figures["sockets"] > 5 and figures["cut"] > 3 and figures["repeated"] > 10, figures
