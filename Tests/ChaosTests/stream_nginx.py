"""nginx passing TLS through to any number of gateways: deploy/nginx-stream.conf with other servers."""

import os
import pwd
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

from support.running_nginx import DEPLOY, free_port

START_SECONDS = 10
STOP_SECONDS = 10


class StreamNginx:
    """nginx in front of gateways at fixed addresses; a dead one is left out for a second, not five."""

    def __init__(self, directory: Path, gateways: list):
        self.directory = Path(directory)
        self.address = f"127.0.0.1:{free_port()}"
        self.gateways = gateways
        self.process = None

    def start(self) -> "StreamNginx":
        self.directory.mkdir(parents=True, exist_ok=True)
        stream = (DEPLOY / "nginx-stream.conf").read_text()
        servers = "".join(f"server {address} max_fails=1 fail_timeout=1s;\n" for address in self.gateways)
        stream, replaced = re.subn(r"(\s*server 10\.0\.0\.\d+:8443[^;]*;)+", "\n" + servers, stream)
        assert replaced == 1, "deploy/nginx-stream.conf names its gateways in another way"
        stream = stream.replace("listen 0.0.0.0:8443", f"listen {self.address}")
        stream = stream.replace("/var/log/nginx", str(self.directory))
        stream = re.sub(r"limit_conn stream_per_address \d+", "limit_conn stream_per_address 60000", stream)
        main = (DEPLOY / "nginx.conf").read_text()
        main = main.replace("user www-data", f"user {pwd.getpwuid(os.getuid()).pw_name}")
        main = main.replace("/run/nginx.pid", str(self.directory / "nginx.pid"))
        main = main.replace("/var/log/nginx", str(self.directory))
        main = main.replace("include nginx-http.conf;", "")
        # The descriptors this user may have.
        main = main.replace("262144", "16384").replace("131072", "16000")
        (self.directory / "nginx.conf").write_text(main)
        (self.directory / "nginx-stream.conf").write_text(stream)
        binary = shutil.which("nginx", path=os.environ.get("PATH", "") + ":/usr/sbin")
        assert binary, "nginx is missing (scripts/packages.sh test installs it)"
        log_path = self.directory / "start.log"
        with open(log_path, "ab") as log:
            self.process = subprocess.Popen(
                [binary, "-c", str(self.directory / "nginx.conf"), "-p", str(self.directory), "-e", str(log_path),
                 "-g", "daemon off;"], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        # Its pid file is written when it listens.
        deadline = time.monotonic() + START_SECONDS
        while not (self.directory / "nginx.pid").exists():
            if self.process.poll() is not None or time.monotonic() > deadline:
                self.stop()
                raise RuntimeError(f"nginx did not start\n{log_path.read_text()}")
            time.sleep(0.01)  # lint:allow between two looks, with a deadline
        return self

    def stop(self) -> None:
        if self.process is None:
            return
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.process = None
