"""Secrets that every user of the machine could read: `secrets.sh` makes none, and a gateway warns of any."""

import contextlib
import os
import subprocess
import tempfile
from pathlib import Path

import pytest

from Fixtures.clients.tokens import SECRET
from Fixtures.processes.deploy_files import DEPLOY
from Fixtures.processes.gateway import Gateway
from Fixtures.processes.node import BINARY, ENVIRONMENT


def modes(directory: Path) -> dict:
    return {path.name: path.stat().st_mode & 0o777 for path in directory.iterdir()}


def make(directory: Path, kind: str = "one") -> str:
    done = subprocess.run([DEPLOY / "secrets.sh", directory, kind], check=True, capture_output=True, text=True,
                          timeout=60, umask=0o022)
    return done.stderr


def test_secrets_in_a_directory_that_others_enter_are_the_owners_alone(tmp_path):
    """The operator's password and the key of the certificate were readable by everybody."""
    directory = tmp_path / "there-before"
    directory.mkdir(mode=0o755)
    (directory / "api-keys").write_text("backend:a-key-of-an-earlier-run\n")
    (directory / "api-keys").chmod(0o644)
    assert "chmod 700" in make(directory, "sentinel")
    assert set(modes(directory).values()) == {0o600} and len(modes(directory)) == 9
    assert directory.stat().st_mode & 0o777 == 0o755, "it may be anybody's"
    # Containers have users of their own, which read what nobody else passes the directory for.
    directory.chmod(0o700)
    assert make(directory, "sentinel") == ""
    assert {name for name, mode in modes(directory).items() if mode == 0o600} == {"operator-password"}


def test_a_new_directory_is_the_owners_alone(tmp_path):
    directory = tmp_path / "new"
    assert make(directory) == ""
    assert directory.stat().st_mode & 0o777 == 0o700
    assert modes(directory)["operator-password"] == 0o600


@pytest.fixture
def open_directory():
    """A directory that every user passes; pytest's own are its owner's alone."""
    with tempfile.TemporaryDirectory() as name, contextlib.chdir(name):
        os.chmod(name, 0o755)
        yield Path(name)


def test_a_gateway_and_check_tell_of_secrets_that_everybody_can_read(open_directory, shared_server, certificate):
    gateway = Gateway(open_directory / "node", shared_server.url, certificate, SECRET)
    (open_directory / "node").chmod(0o755)
    secret, keys = (open_directory / "node" / name for name in ("secret", "api-keys"))
    secret.chmod(0o644)
    keys.chmod(0o640)
    gateway.start()
    try:
        lines = [line for line in gateway.log_text.splitlines() if "can read a secret" in line]
        assert len(lines) == 1 and f"chmod o= {secret}" in lines[0] and '"level":"warn"' in lines[0]
    finally:
        gateway.stop()
    done = subprocess.run(
        [str(BINARY), "check", "--listen-plain", "127.0.0.1:0", "--redis", shared_server.url, "--jwt-secret-file",
         secret, "--api-keys", keys], capture_output=True, text=True, timeout=60, env=ENVIRONMENT)
    assert f"warning: {secret} can be read by every user: chmod o= {secret}" in done.stdout
    assert f"{keys} can be read" not in done.stdout


def test_a_config_file_with_a_password_is_a_secret(open_directory):
    # Nobody is asked for the files alone: the check goes on without a Redis.
    for url, is_told in (("redis://user:pass@127.0.0.1:1", True), ("redis://127.0.0.1:1", False)):
        path = open_directory / "gateway.json"
        path.write_text(f'{{"redis": "{url}", "limits": {{"redisConnectMs": 200, "redisCallMs": 200}}}}')
        path.chmod(0o644)
        done = subprocess.run([str(BINARY), "check", "--listen-plain", "127.0.0.1:0", "--config", path],
                              capture_output=True, text=True, timeout=60, env=ENVIRONMENT)
        assert (f"{path} can be read by every user" in done.stdout) == is_told, done.stdout + done.stderr
