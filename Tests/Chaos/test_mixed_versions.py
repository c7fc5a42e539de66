"""The version before beside this one: a short run of the rig."""

import subprocess
import sys

import mixed_versions
import pytest
from Fixtures.processes.node import BINARY, ENVIRONMENT
from Fixtures.seeds import seed_of

RUN_SECONDS_MAX = 600


@pytest.mark.thorough
def test_two_versions_lose_nothing_forward_and_back(tmp_path):
    """Each of the eight steps is held for a few seconds of faults; the version before is built once."""
    older = mixed_versions.older_binary()
    done = subprocess.run(
        [sys.executable, mixed_versions.__file__, "--seconds", "3", "--older", older, "--seed",
         str(seed_of("mixed versions"))],
        capture_output=True, text=True, timeout=RUN_SECONDS_MAX,
        env=ENVIRONMENT | {"SWITCHBOARD_BIN": str(BINARY.absolute())})
    assert done.returncode == 0 and done.stdout.endswith("PASS\n"), done.stdout[-4000:] + done.stderr[-2000:]
    assert "step 4: newer newer newer newer" in done.stdout and "step 7: older older older older" in done.stdout
