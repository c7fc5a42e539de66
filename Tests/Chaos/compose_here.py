"""Runs all of deploy/compose.yaml on this machine without a container engine: what its containers would be given, by
name spaces.

Each image is a bare Debian by debootstrap, then the RUN and COPY lines of the container file; each service runs in a
network name space with its address, in a root that is mounted read-only, as the image's user, with the secrets of
secrets.sh and no capability. Redis is this machine's own redis-server. Then clients subscribe through nginx, every
gateway is restarted, and everything must stop by itself. Needs root, debootstrap, iproute2 and Debian's archive.

usage: .venv/bin/python Tests/Chaos/compose_here.py [--images DIR]     DIR keeps the images for the next run
"""

import argparse
import json
import os
import shutil
import signal
import ssl
import subprocess
import sys
import tempfile
from pathlib import Path

import paths  # noqa: F401
from Fixtures.clients.native import Client
from Fixtures.processes import deploy_files
from Fixtures.processes.deploy_files import DEPLOY, ROOT
from Fixtures.processes.node import BINARY, ENVIRONMENT
from Fixtures.waiting import eventually

SUITE = "bookworm"
INSIDE = "--inside"
BRIDGE = "172.28.5.1/24"
COMPOSE = deploy_files.compose()
STAGES = deploy_files.stages()


def sh(*words, **options) -> str:
    """Runs a command that must succeed; its output."""
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, **options)
    assert done.returncode == 0, f"{words}\n{done.stdout[-1000:]}{done.stderr[-2000:]}"
    return done.stdout


def image(directory: Path, stage) -> Path:
    """The root directory of a stage's image, made unless it is there."""
    root = directory / stage.name
    if not root.exists():
        assert stage.base == "debian:12-slim"
        base = directory / "base"
        if not base.exists():
            sh("debootstrap", "--variant=minbase", SUITE, base.with_suffix(".part"))
            base.with_suffix(".part").rename(base)
        part = root.with_suffix(".part")
        shutil.rmtree(part, ignore_errors=True)
        sh("cp", "--archive", base, part)
        shutil.copy("/etc/resolv.conf", part / "etc/resolv.conf")
        for line in stage.runs:
            sh("chroot", part, "/bin/sh", "-c", line,
               env={"PATH": os.environ["PATH"], "DEBIAN_FRONTEND": "noninteractive"})
        part.rename(root)
    for flags, sources, target in stage.copies:
        for source in sources:
            # What the build stage leaves is what this tree's build left.
            here = BINARY if flags == ["--from=build"] else ROOT / source
            shutil.copy(here, root / target[1:])
    return root


class Service:
    """One service of compose.yaml as a process; its root and network are made for it and end with this program."""

    def __init__(self, name: str, address: str, root: Path | None, directory: Path, secrets: Path):
        self.name, self.address, self.root, self.secrets = name, address, root, secrets
        self.service = COMPOSE["services"][name]
        self.log = directory / f"{name}.log"
        self.data = directory / "redis"
        self.process = None
        sh("ip", "netns", "add", name)
        sh("ip", "link", "add", name, "type", "veth", "peer", "name", "eth0", "netns", name)
        sh("ip", "link", "set", name, "master", "inside", "up")
        sh("ip", "-n", name, "address", "add", f"{address}/24", "dev", "eth0")
        for device in ("eth0", "lo"):
            sh("ip", "-n", name, "link", "set", device, "up")
        for setting, value in self.service.get("sysctls", {}).items():
            sh("ip", "netns", "exec", name, "sysctl", "-w", f"{setting}={value}")
        if root is not None:
            self._mount(directory / "roots" / name)

    def _mount(self, place: Path) -> None:
        """The image once more, read-only, with the mounts of the service over it."""
        place.mkdir(parents=True)
        (self.root / "run/secrets").mkdir(exist_ok=True)
        for name in self.service.get("secrets", ()):
            (self.root / "run/secrets" / name).touch()
        sh("mount", "--bind", self.root, place)
        for name in self.service.get("secrets", ()):
            sh("mount", "--bind", self.secrets / name, place / "run/secrets" / name)
        sh("mount", "-t", "proc", "proc", place / "proc")
        for one in self.service.get("tmpfs", ()):
            target, _, flags = one.partition(":")
            (place / target[1:]).mkdir(parents=True, exist_ok=True)
            sh("mount", "-t", "tmpfs", "-o", flags, "tmpfs", place / target[1:])
        sh("mount", "-o", "remount,bind,ro", place)
        self.root = place

    def start(self) -> "Service":
        """Starts the process by the image's entry point and the service's command."""
        command = self.service.get("command", [])
        if self.root is None:
            words = [part.replace("/run/secrets", str(self.secrets)).replace("/data", str(self.data))
                     for word in command for part in word.split("=", 1)]
        else:
            stage = STAGES[self.service["build"]["target"]]
            words = [*self._inside(stage), *stage.entry, *command]
        user = 0 if self.root is None else int(self._id(stage.user))
        # An engine gives a container's output to its user.
        readable, writable = os.pipe()
        os.fchown(writable, user, user)
        self.copier = subprocess.Popen(["cat"], stdin=readable, stdout=open(self.log, "ab"))
        self.process = subprocess.Popen(
            ["ip", "netns", "exec", self.name, *map(str, words)], stdin=subprocess.DEVNULL, stdout=writable,
            stderr=writable, env=ENVIRONMENT)
        os.close(readable)
        os.close(writable)
        return self

    def _id(self, user: str) -> str:
        return user if user.isdigit() else next(
            line.split(":")[2] for line in (self.root / "etc/passwd").read_text().splitlines()
            if line.startswith(f"{user}:"))

    def _inside(self, stage) -> list:
        user = self._id(stage.user)
        return ["chroot", self.root, "setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups",
                "--no-new-privs", "--bounding-set=-all", "--inh-caps=-all"]

    def is_healthy(self) -> bool:
        """The health check of compose.yaml."""
        stage = STAGES[self.service["build"]["target"]]
        kind, *words = self.service["healthcheck"]["test"]
        assert kind == "CMD"
        words = [word.replace("$$", "$") for word in words]
        return subprocess.run(["ip", "netns", "exec", self.name, *map(str, self._inside(stage)), *words],
                              capture_output=True).returncode == 0

    def stop(self) -> None:
        """As the engine stops it: SIGTERM, and it must end within its grace period."""
        if self.process is None:
            return
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(int(self.service["stop_grace_period"][:-1]))
        self.copier.wait(5)
        assert code == 0, f"{self.name} ended with {code}\n{self.log.read_text()[-2000:]}"
        self.process = None


def everything(images: Path) -> None:
    """Starts, uses, restarts and stops the installation; says each step when it is done."""
    with tempfile.TemporaryDirectory(prefix="switchboard-compose-") as name:
        directory = Path(name)
        # As the mode of an engine's own directories: the services' users pass it.
        directory.chmod(0o755)
        secrets = directory / "secrets"
        sh(DEPLOY / "secrets.sh", secrets)
        (directory / "redis").mkdir()
        roots = {name: image(images, STAGES[name]) for name in ("balancer", "switchboard")}
        services = network(directory, roots, secrets)
        try:
            use(services, secrets)
        finally:
            for service in reversed(services.values()):
                if service.process is not None:
                    service.process.kill()
                    print(service.name, service.log.read_text()[-1500:])
            unmount(directory)


def unmount(directory: Path) -> None:
    """Takes the mounts away, so that nothing of the images is deleted with the directory."""
    places = [line.split(" ")[1] for line in Path("/proc/mounts").read_text().splitlines()
              if line.split(" ")[1].startswith(str(directory))]
    for place in reversed(places):
        sh("umount", "--lazy", place)


def network(directory: Path, roots: dict, secrets: Path) -> dict:
    """The services of compose.yaml, each in its name space on one bridge."""
    sh("mount", "--make-rprivate", "/")
    sh("mount", "-t", "tmpfs", "tmpfs", "/run")
    sh("ip", "link", "add", "inside", "type", "bridge")
    sh("ip", "address", "add", BRIDGE, "dev", "inside")
    sh("ip", "link", "set", "inside", "up")
    free = (f"172.28.5.{number}" for number in range(20, 250))
    addresses = {}
    for name, service in COMPOSE["services"].items():
        networks = service["networks"]
        addresses[name] = networks["inside"]["ipv4_address"] if isinstance(networks, dict) else next(free)
    hosts = "".join(f"{address} {name}\n" for name, address in addresses.items())
    for root in roots.values():
        (root / "etc/hosts").write_text("127.0.0.1 localhost\n" + hosts)
    return {name: Service(name, address, roots.get(COMPOSE["services"][name].get("build", {}).get("target")), directory,
                          secrets)
            for name, address in addresses.items()}


def use(services: dict, secrets: Path) -> None:
    """In the order of `depends_on`; then a client through nginx across a restart of every gateway."""
    gateways = [services[name] for name in deploy_files.gateways(COMPOSE)]
    services["redis"].start()
    for name in ("worker-1", "worker-2"):
        services[name].start()
    for gateway in gateways:
        gateway.start()
    for gateway in gateways:
        eventually(gateway.is_healthy, 20, f"{gateway.name} healthy\n{gateway.log.read_text()}")
    nginx = services["nginx"].start()
    eventually(nginx.is_healthy, 20, f"nginx healthy\n{nginx.log.read_text()}")
    print("healthy:", ", ".join(one.name for one in [*gateways, nginx]), flush=True)
    context = ssl.create_default_context(cafile=secrets / "tls.crt")
    context.check_hostname = False
    key = (secrets / "api-keys").read_text().strip().partition(":")[2]
    position, last = None, 0
    for gateway in [None, *gateways]:
        if gateway is not None:
            gateway.stop()
            assert not gateway.is_healthy()
            gateway.start()
            eventually(gateway.is_healthy, 20, f"{gateway.name} healthy again")
        for _ in range(6):
            with Client(f"wss://{nginx.address}:8443/ws", context) as client:
                answer = client.subscribe("shop:compose", position)
                assert position is None or answer["recovered"] is True
                body = json.dumps({"topic": "shop:compose", "event": "e", "data": {}})
                answer = sh("curl", "--silent", "--insecure", "--noproxy", "*", "-H", f"apikey: {key}", "--json", body,
                            f"https://{nginx.address}:8443/v1/broadcast")
                last += 1
                assert json.loads(answer)["offset"] == last, answer
                client.expect("e", offset=last)
                position = {"epoch": json.loads(answer)["epoch"], "offset": last}
        print(f"published and received through nginx: {last}"
              + (f"; {gateway.name} was restarted in good order" if gateway else ""), flush=True)
    for name, service in reversed(services.items()):
        service.stop()
    print("every service ended by SIGTERM with 0", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--images", type=Path)
    parser.add_argument(INSIDE, action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if not options.inside:
        images = options.images or Path(tempfile.mkdtemp(prefix="switchboard-images-"))
        images.mkdir(parents=True, exist_ok=True)
        for stage in ("balancer", "switchboard"):
            image(images, STAGES[stage])
        try:
            return subprocess.run(["unshare", "--net", "--mount", "--fork", "--kill-child", sys.executable, __file__,
                                   INSIDE, "--images", images]).returncode
        finally:
            if options.images is None:
                shutil.rmtree(images)
    everything(options.images)
    print("PASS", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
