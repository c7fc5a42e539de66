"""A small supervisor that runs systemd's unit files as they are installed, without systemd.

It does what our units ask of systemd: `Type=notify`, the watchdog, restarts, `ExecReload`, and the signals of a stop. A
program named `systemctl` beside it lets the scripts of a package speak to it. What confines a process (users, name
spaces, filters of system calls) it leaves out; `systemd-analyze` judges those settings.
"""

import json
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

from Fixtures.processes.node import ENVIRONMENT
from Fixtures.waiting import eventually

SYSTEMCTL = """#!{python}
import json, os, socket, sys

link = socket.socket(socket.AF_UNIX)
link.connect({path!r})
link.sendall(json.dumps(sys.argv[1:]).encode() + b"\\n")
code, text = json.loads(link.makefile().read())
print(text, end="")
sys.exit(code)
"""


def seconds(text: str) -> float:
    """A time as units write it: `10s`, `1min`, `infinity`."""
    if text == "infinity":
        return float("inf")
    number, unit = re.fullmatch(r"([\d.]+)(ms|s|min|)", text).groups()
    return float(number) * {"ms": 0.001, "s": 1, "": 1, "min": 60}[unit]


def read_unit(path: Path) -> dict[str, list[str]]:
    """The settings of a unit file by section and name: `Service.ExecStart`; a setting may come several times."""
    found, section = {}, ""
    for line in path.read_text().splitlines():
        if line.startswith("["):
            section = line.strip("[]")
        elif line and not line.startswith("#"):
            name, _, value = line.partition("=")
            found.setdefault(f"{section}.{name}", []).append(value)
    return found


class Unit:
    """One service of a supervisor: its process, and what it has reported."""

    def __init__(self, name: str, supervisor: "Supervisor"):
        self.name, self.supervisor = name, supervisor
        self.process, self.state, self.status = None, "inactive", ""
        #: Every report in order, and how often the supervisor has started the process.
        self.heard, self.starts = [], 0
        self.signs_of_life, self.last_sign = 0, 0.0
        self.is_wanted = False

    @property
    def settings(self) -> dict:
        """As the file says now, and as the test changes it: a package may have brought another one."""
        settings = read_unit(self.supervisor.root / "lib/systemd/system" / self.name)
        return settings | {f"Service.{name}": [value] for name, value in self.supervisor.changes.items()}

    def setting(self, name: str) -> str:
        return self.settings[f"Service.{name}"][-1]

    def words(self, command: str) -> list[str]:
        """A command line, with the package's own files where they are here."""
        pid = str(self.process.pid) if self.process else ""
        words = shlex.split(self.setting(command).replace("$MAINPID", pid))
        own = ("/usr/bin/switchboard", "/etc/switchboard")
        return [str(self.supervisor.root) + word if word.startswith(own) else word for word in words]

    def start(self) -> bool:
        """Starts the process and waits for READY=1; false when it ended or did not become ready in time."""
        self.is_wanted, self.state = True, "activating"
        self.run()
        end = time.monotonic() + seconds(self.setting("TimeoutStartSec"))
        while self.state == "activating" and time.monotonic() < end:
            if self.process.poll() is not None:
                self.state = "failed"
            time.sleep(0.01)  # lint:allow between two looks, with the unit's deadline
        return self.state == "active"

    def run(self) -> None:
        """Starts the process with the environment of a service that notifies."""
        self.starts += 1
        self.last_sign = time.monotonic()
        watchdog = int(seconds(self.setting("WatchdogSec")) * 1_000_000)
        with open(self.supervisor.directory / f"{self.name}.log", "ab") as log:
            self.process = subprocess.Popen(
                self.words("ExecStart"), stdout=log, stderr=log, stdin=subprocess.DEVNULL,
                env=ENVIRONMENT | {"NOTIFY_SOCKET": self.supervisor.notify_path, "WATCHDOG_USEC": str(watchdog)})

    def hear(self, line: str) -> None:
        """A line of a report (sd_notify(3))."""
        name, _, value = line.partition("=")
        if line == "WATCHDOG=1":
            self.signs_of_life += 1
            self.last_sign = time.monotonic()
            return
        self.heard.append(line)
        if name == "STATUS":
            self.status = value
        states = {"READY=1": "active", "RELOADING=1": "reloading", "STOPPING=1": "deactivating"}
        self.state = states.get(line, self.state)

    def watch(self) -> None:
        """Ends a process that gives no sign of life, and starts one anew that has ended by itself."""
        if not self.is_wanted or self.process is None:
            return
        silence = time.monotonic() - self.last_sign
        if self.process.poll() is None and self.state == "active" and silence > seconds(self.setting("WatchdogSec")):
            self.state = "watchdog"
            self.end(signal.SIGABRT, seconds(self.setting("TimeoutAbortSec")))
        if self.process.poll() is not None and self.state != "failed" and self.setting("Restart") == "always":
            time.sleep(seconds(self.setting("RestartSec")))  # lint:allow the pause that the unit asks for
            if self.is_wanted:
                self.state = "activating"
                self.run()

    def end(self, number: int, seconds_max: float) -> int:
        """Sends a signal, and SIGKILL to a process that has not ended in time."""
        self.process.send_signal(number)
        try:
            return self.process.wait(seconds_max)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait(10)

    def stop(self) -> int:
        """Stops it as the unit says; returns the exit code."""
        self.is_wanted = False
        if self.process is None or self.process.poll() is not None:
            self.state = "inactive"
            return 0
        code = self.end(getattr(signal, self.setting("KillSignal")), seconds(self.setting("TimeoutStopSec")))
        self.state, self.process = "inactive" if code == 0 else "failed", None
        return code

    def reload(self) -> bool:
        """Runs the unit's command for a reload."""
        return subprocess.run(self.words("ExecReload"), timeout=10).returncode == 0

    @property
    def log_text(self) -> str:
        return (self.supervisor.directory / f"{self.name}.log").read_text(errors="replace")


class Supervisor:
    """Runs the units below a root; `changes` are settings of `[Service]` in the place of the files' own."""

    def __init__(self, root: Path, directory: Path, **changes: str):
        directory.mkdir(parents=True)
        self.root, self.directory, self.changes = root, directory, changes
        self.units, self.calls = {}, []
        self.notify_path, control = str(directory / "notify"), str(directory / "control")
        self._notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._notify.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        self._notify.bind(self.notify_path)
        self._notify.settimeout(0.05)
        self._control = socket.socket(socket.AF_UNIX)
        self._control.bind(control)
        self._control.listen()
        self.programs = directory / "programs"
        self.programs.mkdir()
        (self.programs / "systemctl").write_text(SYSTEMCTL.format(python=sys.executable, path=control))
        (self.programs / "systemctl").chmod(0o755)
        # What tells a package's scripts that systemd runs.
        (root / "run/systemd/system").mkdir(parents=True, exist_ok=True)
        self._is_over = threading.Event()
        work = (self._listen, self._watch, self._serve)
        self._threads = [threading.Thread(target=one, daemon=True) for one in work]
        for thread in self._threads:
            thread.start()

    def unit(self, kind: str) -> Unit:
        """The service of a kind of process."""
        name = f"switchboard-{kind}.service"
        return self.units.setdefault(name, Unit(name, self))

    def close(self) -> None:
        """Stops what runs."""
        for unit in self.units.values():
            unit.stop()
        self._is_over.set()
        # Ends the wait for a call.
        self._control.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(10)
        self._notify.close()
        self._control.close()

    def _listen(self) -> None:
        size = socket.CMSG_SPACE(12)
        while not self._is_over.is_set():
            try:
                text, extra, _, _ = self._notify.recvmsg(4_096, size)
            except TimeoutError:
                continue
            # NotifyAccess=main: the kernel says which process it was.
            pid = int.from_bytes(extra[0][2][:4], sys.byteorder)
            for unit in list(self.units.values()):
                if unit.process is not None and unit.process.pid == pid:
                    for line in text.decode().splitlines():
                        unit.hear(line)

    def _watch(self) -> None:
        while not self._is_over.wait(0.05):
            for unit in list(self.units.values()):
                unit.watch()

    def _serve(self) -> None:
        while not self._is_over.is_set():
            try:
                link, _ = self._control.accept()
            except OSError:
                return
            with link, link.makefile("rw") as stream:
                words = json.loads(stream.readline())
                self.calls.append(words)
                stream.write(json.dumps(self._answer(words)))

    def _answer(self, words: list[str]) -> tuple[int, str]:
        """What `systemctl` would answer and do."""
        verb, *names = [word for word in words if not word.startswith("-")]
        units = [self.unit(re.fullmatch(r"switchboard-(\w+)\.service", name)[1]) for name in names]
        if verb == "daemon-reload":
            return 0, ""
        if verb == "is-active":
            state = units[0].state
            return (0 if state == "active" else 3), state + "\n"
        if verb == "show":
            return 0, f"{{ path=... ; argv[]={units[0].setting('ExecStart')} ; ignore_errors=no }}\n"
        if verb == "try-restart":
            good = all(unit.stop() == 0 and unit.start() for unit in units if unit.state in ("active", "activating"))
            return (0 if good else 1), ""
        if verb == "disable" and "--now" in words:
            return (1 if any([unit.stop() for unit in units]) else 0), ""
        return 1, f"unknown: {words}\n"


def wait_for(unit: Unit, state: str, seconds_max: float = 30) -> None:
    """Waits until a unit is in a state."""
    eventually(lambda: unit.state == state, seconds_max, f"{unit.name} {state}, {unit.log_text[-2000:]}")


def path_with(programs: Path) -> str:
    """A PATH on which these programs come first."""
    return f"{programs}:/usr/sbin:/sbin:{os.environ['PATH']}"
