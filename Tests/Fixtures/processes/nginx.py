"""Runs nginx with the configuration of deploy/, changed only where deploy/README.md says to change it."""

import os
import pwd
import shutil
import signal
import socket
import subprocess
from pathlib import Path

from Fixtures.processes.ports import free_port

DEPLOY = Path(__file__).resolve().parents[3] / "deploy"
FILES = ("nginx.conf", "nginx-stream.conf", "nginx-http.conf")
STOP_SECONDS = 15
START_SECONDS = 15


class RunningNginx:
    """nginx before two gateways, both ways; a context manager.

    `tls` and `plain` are the HOST:PORT of the two gateways' listeners; `tls` may name more of them. Clients reach
    `stream` (pass-through) and `http` (TLS ends at nginx) over TLS. `more` are further texts to replace.

    For more connections than one process may have descriptors, or one address ports: `workers` processes, among which
    the kernel spreads connections evenly, and `addresses` of the pass-through (`streams`).
    """

    def __init__(self, directory, tls, plain, certificate, key, more=None, workers=None, addresses=1):
        self.directory = Path(directory)
        port = free_port()
        self.streams = [f"127.0.0.{number}:{port}" for number in range(1, addresses + 1)]
        self.stream = self.streams[0]
        self.http = f"127.0.0.1:{free_port()}"
        self._process = None
        self._replacements = {
            "10.0.0.11:8443": tls[0],
            "10.0.0.12:8443": " max_fails=2 fail_timeout=5s; server ".join(tls[1:]),
            "10.0.0.11:8080": plain[0],
            "10.0.0.12:8080": plain[1],
            "listen 0.0.0.0:8443": f"listen {self.stream}",
            "listen 0.0.0.0:443": f"listen {self.http}",
            "/etc/switchboard/tls/fullchain.pem": certificate,
            "/etc/switchboard/tls/privkey.pem": key,
            "/var/log/nginx": self.directory,
            "/run/nginx.pid": self.directory / "nginx.pid",
            "user www-data": f"user {pwd.getpwuid(os.getuid()).pw_name}",
            # Logs at once, so that a test can read what it caused.
            " buffer=64k flush=5s;": ";",
        } | (more or {})
        if workers:
            self._replacements["worker_processes auto"] = f"worker_processes {workers}"
            # Without it, whichever worker woke first takes what is there.
            options = "reuseport backlog=4096 so_keepalive=60s:20s:3"
            self._replacements["listen 0.0.0.0:8443 backlog=4096 so_keepalive=60s:20s:3"] = "; ".join(
                f"listen {address} {options}" for address in self.streams)
            del self._replacements["listen 0.0.0.0:8443"]

    def __enter__(self):
        self.directory.mkdir(parents=True, exist_ok=True)
        (self.directory / "temp").mkdir(exist_ok=True)
        unused = set(self._replacements)
        for name in FILES:
            text = (DEPLOY / name).read_text()
            for old, new in self._replacements.items():
                if old in text:
                    unused.discard(old)
                    text = text.replace(old, str(new))
            if name == "nginx-http.conf":
                # Debian's compiled-in places for bodies belong to root.
                text = text.replace("http {", "http {" + self._temporary_paths(), 1)
            (self.directory / name).write_text(text)
        assert not unused, f"deploy/ no longer has {unused}"
        self.check()
        self._process = subprocess.Popen(
            [*self._command(), "-g", "daemon off;"], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        try:
            for address in (self.stream, self.http):
                self._wait_open(address)
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        """Ends nginx; afterwards its logs are complete."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
        try:
            self._process.communicate(timeout=STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.communicate()
            raise

    def check(self):
        """`nginx -t`; its warnings are failures too, except the one about `user` when not root."""
        done = subprocess.run([*self._command(), "-t"], stdin=subprocess.DEVNULL, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        warnings = [line for line in done.stderr.splitlines() if "[warn]" in line and '"user" directive' not in line]
        assert warnings == []

    def reload(self):
        """Starts new workers; the old ones end with their last connection or after worker_shutdown_timeout."""
        self._process.send_signal(signal.SIGHUP)

    def worker_pids(self):
        """Its processes that carry connections."""
        master = self._process.pid
        return [int(pid) for pid in Path(f"/proc/{master}/task/{master}/children").read_text().split()]

    def log(self, name):
        """The text of a log, e.g. `switchboard-http.log`."""
        return (self.directory / name).read_text(errors="replace")

    def _command(self):
        # nginx is in /usr/sbin, which is not on every user's PATH.
        binary = shutil.which("nginx", path=os.environ.get("PATH", "") + ":/usr/sbin")
        assert binary, "nginx is missing (scripts/packages.sh test installs it)"
        return [binary, "-c", str(self.directory / "nginx.conf"), "-p", str(self.directory),
                "-e", str(self.directory / "start.log")]

    def _temporary_paths(self):
        kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        return "".join(f" {kind}_temp_path {self.directory}/temp/{kind};" for kind in kinds)

    def _wait_open(self, address):
        host, port = address.rsplit(":", 1)
        for _ in range(START_SECONDS * 10):
            try:
                socket.create_connection((host, int(port)), timeout=1).close()
                return
            except ConnectionRefusedError:
                pass
            try:
                self._process.wait(0.1)
            except subprocess.TimeoutExpired:
                continue
            raise AssertionError(f"nginx ended at start\n{self._process.stderr.read()}")
        raise AssertionError(f"nginx does not listen on {address}")
