"""A redis-server under callgrind, which counts its instructions: the same on any host, however busy.

`server` is a `RedisServer` of the tests, of this tree or of another.
"""

import re
import subprocess
import time

START_SECONDS_MAX = 60


def start(server, *options: str) -> None:
    """Starts a server that does not run, with the data that its directory holds; `options` are callgrind's."""
    words = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={server.directory}/counted", *options,
             "redis-server", "--port", "0", "--unixsocket", server.socket_path, "--dir", str(server.directory),
             "--save", "", "--hz", "1"]
    server.process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + START_SECONDS_MAX
    while time.monotonic() < deadline:
        try:
            with server.client() as client:
                client.ping()
            return
        except Exception:  # noqa: BLE001 - it is not there yet
            time.sleep(0.2)  # lint:allow between two looks, with a deadline
    raise RuntimeError("redis-server did not start under valgrind")


def instructions(server) -> int:
    """Instructions so far: callgrind writes its sum into a file each time it is asked."""
    subprocess.run(["callgrind_control", "-d", str(server.process.pid)], check=True, capture_output=True)
    return sum(int(found) for path in server.directory.glob("counted.*")
               for found in re.findall(r"^totals: (\d+)", path.read_text(), re.M))


def zero(server) -> None:
    """Counts from here on."""
    told(server, "zero")


def since_zero(server) -> int:
    """Instructions since `zero`, of what is collected."""
    told(server, "dump")
    paths = list(server.directory.glob("counted.*"))
    total = sum(int(found) for path in paths for found in re.findall(r"^totals: (\d+)", path.read_text(), re.M))
    for path in paths:
        path.unlink()
    return total


def told(server, word: str) -> None:
    """Has callgrind do something at once; `callgrind_control` would first look at every process of the machine."""
    subprocess.run(["vgdb", f"--pid={server.process.pid}", word], check=True, capture_output=True)
