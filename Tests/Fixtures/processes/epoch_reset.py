"""Runs `switchboard reset-epochs`."""

import subprocess

from Fixtures.processes.node import BINARY, ENVIRONMENT


def reset(server, *words, code=0):
    """Runs the command; returns its two outputs."""
    done = subprocess.run(
        [str(BINARY), "reset-epochs", "--redis", server.url, *words], capture_output=True, text=True, timeout=60,
        env=ENVIRONMENT)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout.strip(), done.stderr.strip()
