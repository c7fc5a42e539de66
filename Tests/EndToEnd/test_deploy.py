"""The container file and compose.yaml, as far as they can be tried without a container engine.

`compose_here.py` beside this file goes further: it runs all of compose.yaml in name spaces.
"""

import os
import re
import shutil
import socket
import subprocess

import pytest

from Fixtures.processes import deploy_files
from Fixtures.processes.deploy_files import DEPLOY, ROOT, flag
from Fixtures.processes.node import BINARY, ENVIRONMENT, NodeProcess
from Fixtures.processes.packages import named_packages
from Fixtures.processes.ports import free_port
from Fixtures.waiting import eventually

COMPOSE = deploy_files.compose()
GATEWAYS = deploy_files.gateways(COMPOSE)
STAGES = deploy_files.stages()
SECONDS = re.compile(r"(\d+)s")


def run(*words, **options):
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=60, **options)


@pytest.fixture(scope="module")
def secrets(tmp_path_factory):
    directory = tmp_path_factory.mktemp("compose") / "secrets"
    assert run(DEPLOY / "secrets.sh", directory).returncode == 0
    return directory


@pytest.fixture(scope="module")
def redis(secrets, tmp_path_factory):
    """Redis by compose.yaml's own command, at another port and place; the address that settings.json is to name."""
    port, directory = free_port(), tmp_path_factory.mktemp("data")
    mine = {"--port": f"--port={port}", "--bind": "--bind=127.0.0.1", "--dir": f"--dir={directory}"}
    command = [mine.get(word.partition("=")[0], word).replace("/run/secrets", str(secrets))
               for word in COMPOSE["services"]["redis"]["command"]]
    # redis-server takes an option and its value as two words as well as one.
    words = [part for word in command for part in word.split("=", 1)]
    settings = secrets / "settings.json"
    settings.write_text(settings.read_text().replace("redis:6379", f"127.0.0.1:{port}"))
    with open(directory / "redis.log", "wb") as log:
        process = subprocess.Popen(words, stdout=log, stderr=log)

    def answers():
        # Anybody may ask for a sign of life.
        return run("redis-cli", "-p", port, "--user", "health", "--pass", "-", "ping").stdout.strip() == "PONG"

    eventually(answers, 10, "a Redis that answers")
    yield port
    process.terminate()
    assert process.wait(10) == 0, (directory / "redis.log").read_text()


def mapped(service, secrets, **changes):
    """A service's words with the secrets where they are here, and some flags' values changed."""
    words = [word.replace("/run/secrets", str(secrets)) for word in service["command"]]
    return [f"--{name}={changes[name]}" if (name := word[2:].partition("=")[0]) in changes else word for word in words]


@pytest.mark.shipped
def test_the_image_installs_what_the_binary_needs():
    both = (BINARY, BINARY.absolute().parent / "switchboard-courier")
    needed = "".join(run("readelf", "--dynamic", "--wide", binary).stdout for binary in both)
    libraries = re.findall(r"\(NEEDED\).*\[(.*)\]", needed)
    packages = set()
    for library in libraries:
        owners = run("dpkg-query", "--search", f"*/{library}").stdout
        packages |= set(re.findall(r"^([^:,\s]+)(?::\w+)?: ", owners, re.M))
    # Without the C library and the compiler's there is no Debian.
    packages -= {"libc6", "libgcc-s1", "libc6-i386", "libc6-x32"}
    assert len(packages) >= 3
    assert set(STAGES["switchboard"].packages) == packages | {"ca-certificates"}
    # What compiles it is what scripts/packages.sh installs to build, without the server that tests run.
    assert set(STAGES["build"].packages) == named_packages("build") - {"redis-server"}


BUILD_FOLDERS = ("Sources/", "Plugins/", "lua/", "web/", "bench/Sources/", "bench/report/")
BUILD_FILES = ("Package.swift", "clients/js/switchboard.js", "scripts/embed.sh")


def test_the_context_holds_the_sources_and_nothing_else():
    files = run("git", "ls-files", "--cached", "--others", "--exclude-standard", cwd=ROOT).stdout.splitlines()
    context = {path for path in files if deploy_files.is_in_context(path)}
    for path in files:
        if path.startswith(BUILD_FOLDERS) or path in BUILD_FILES:
            assert path in context
    # SwiftPM refuses a package of which a target has no sources.
    for folder in re.findall(r'tests\(\s*"(\w+)"', (ROOT / "Package.swift").read_text()):
        assert any(path.startswith(f"Tests/Unit/{folder}Tests/") for path in context), folder
    for folder in re.findall(r'(?:path|in): "([\w/]+\w)"', (ROOT / "Package.swift").read_text()):
        assert any(path.startswith(folder + "/") for path in context), folder
    for stage in STAGES.values():
        for flags, sources, _ in stage.copies:
            if flags or sources == ["."]:
                continue
            for source in sources:
                assert source in context and (ROOT / source).exists(), source
    for path in ("deploy/secrets/tls.key", ".git/config", ".build/release/switchboard", ".switchboard/api-key", ".env"):
        assert not deploy_files.is_in_context(path), path
    assert "deploy/secrets/" in (ROOT / ".gitignore").read_text().splitlines()


def test_images_run_without_rights():
    for name in ("switchboard", "balancer"):
        assert STAGES[name].user not in (None, "root", "0")
        assert STAGES[name].stop_signal == "SIGTERM"
    for name, service in COMPOSE["services"].items():
        assert service["read_only"] and service["cap_drop"] == ["ALL"], name
        assert service["security_opt"] == ["no-new-privileges:true"] and service["restart"], name
        if "build" in service:
            assert service["build"]["target"] in STAGES and (ROOT / service["build"]["dockerfile"]).exists(), name


def test_addresses_agree():
    services = COMPOSE["services"]
    assert len(GATEWAYS) == 3
    own = {name: service["networks"]["inside"]["ipv4_address"] for name, service in GATEWAYS.items()}
    assert services["nginx"]["extra_hosts"] == [f"{name}:{address}" for name, address in own.items()]
    upstreams = [re.match(r"server (\S+:\d+)", one) for one in deploy_files.nginx_directives("nginx-compose.conf")]
    assert [one[1] for one in upstreams if one] == [f"{name}:8443" for name in own]
    for service in GATEWAYS.values():
        assert flag(service, "trust-proxy") == services["nginx"]["networks"]["inside"]["ipv4_address"] + "/32"
        assert flag(service, "listen").endswith(":8443") and flag(service, "ops").endswith(":9090")
    # Nothing but nginx is published, and nginx on this machine alone unless somebody says otherwise.
    published = {name: service["ports"] for name, service in services.items() if "ports" in service}
    assert published == {"nginx": ["${PUBLISH_ADDRESS:-127.0.0.1}:8443:8443"]}


def test_nobody_is_killed_before_the_drain_is_over():
    for service in GATEWAYS.values():
        assert int(SECONDS.fullmatch(service["stop_grace_period"])[1]) > int(flag(service, "drain-seconds")) + 2


def test_descriptors_suffice():
    rlimit = re.search(r"worker_rlimit_nofile (\d+)", (DEPLOY / "nginx-compose.conf").read_text())[1]
    for name in (*GATEWAYS, "nginx"):
        assert COMPOSE["services"][name]["ulimits"]["nofile"]["hard"] >= int(rlimit) > 100_000


def test_the_stream_is_that_of_the_other_file():
    """nginx-compose.conf repeats nginx-stream.conf; what is different is on purpose."""
    both = [{one for one in deploy_files.nginx_directives(name) if not one.startswith(("server 10.", "access_log"))}
            for name in ("nginx-stream.conf", "nginx-compose.conf")]
    assert both[0] <= both[1], both[0] - both[1]


def test_nginx_takes_the_configuration(tmp_path):
    text = (DEPLOY / "nginx-compose.conf").read_text()
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        text = re.sub(r"gateway-\d:8443", "127.0.0.1:%d" % taken.getsockname()[1], text)
        text = text.replace("/run/nginx", str(tmp_path)).replace("0.0.0.0:8443", f"127.0.0.1:{free_port()}")
        (tmp_path / "nginx.conf").write_text(text)
        nginx = shutil.which("nginx", path=os.environ["PATH"] + ":/usr/sbin")
        done = run(nginx, "-t", "-e", "stderr", "-p", tmp_path, "-c", tmp_path / "nginx.conf")
    assert done.returncode == 0, done.stderr


def test_secrets_are_made_once(secrets):
    named = {entry["file"] for entry in COMPOSE["secrets"].values()}
    # The operator's password is for whoever types it, and for no container.
    assert named | {"secrets/operator-password"} == {f"secrets/{path.name}" for path in secrets.iterdir()}
    used = {name for service in COMPOSE["services"].values() for name in service.get("secrets", ())}
    assert used == set(COMPOSE["secrets"])
    before = {path.name: path.read_bytes() for path in secrets.iterdir()}
    assert run(DEPLOY / "secrets.sh", secrets).returncode == 0
    assert {path.name: path.read_bytes() for path in secrets.iterdir()} == before
    assert secrets.stat().st_mode & 0o777 == 0o700


def test_check_has_nothing_to_say(secrets, redis):
    """The gateways' own flags, and Redis as compose.yaml starts it: neither wrong nor doubtful."""
    for service in GATEWAYS.values():
        words = mapped(service, secrets)
        words[0] = "check"
        done = run(BINARY, *words, env=ENVIRONMENT)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "a master" in done.stdout
        findings = done.stdout.split("\n\n")[-1]
        assert "noeviction" not in findings and "appendonly" not in findings, findings


def test_the_gateways_user_may_move_data(secrets, redis):
    """It lacked CLIENT LIST, by which the command looks whether anybody is connected."""
    url = re.search(r'"(redis:[^"]+)"', (secrets / "settings.json").read_text())[1]
    done = run(
        BINARY, "move-data", "--dry-run", "--from", url, "--to", url, "--redis-layout", "tagged", env=ENVIRONMENT)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_operator_may_do_what_the_pages_say(secrets, redis):
    """No user could: the default one is off, and that of the gateways has no right to administer."""
    def ask(user, password, *words):
        return run("redis-cli", "-p", redis, "--user", user, "--pass", password, "--no-auth-warning", *words).stdout

    password = (secrets / "operator-password").read_text()
    theirs = re.search(r"switchboard:(\w+)@", (secrets / "settings.json").read_text())[1]
    for words in (("slowlog", "reset"), ("acl", "setuser", "switchboard", "on"), ("failover", "abort"), ("bgsave",)):
        assert "NOPERM" in ask("switchboard", theirs, *words)
        said = ask("operator", password, *words)
        assert said.strip() and "NOPERM" not in said, said


def test_nobody_logs_in_as_the_user_that_redis_loads_its_file_as(secrets, redis):
    """It has every right, for the file alone; and the gateways' user must not read the digests of passwords."""
    for words in ((), ("--user", "default", "--pass", "x"), ("--user", "default", "--pass", "")):
        done = run("redis-cli", "-p", redis, "--no-auth-warning", *words, "get", "key")
        assert "NOAUTH" in done.stdout, done.stdout + done.stderr
    theirs = re.search(r"switchboard:(\w+)@", (secrets / "settings.json").read_text())[1]
    ask = ("redis-cli", "-p", redis, "--user", "switchboard", "--pass", theirs, "--no-auth-warning", "acl")
    assert run(*ask, "dryrun", "default", "multi").stdout.strip() == "OK"
    for words in (("getuser", "operator"), ("list",), ("setuser", "switchboard", "on"), ("save",)):
        assert "NOPERM" in run(*ask, *words).stdout


def test_gateway_and_worker_run(secrets, redis, tmp_path):
    gateway, worker = NodeProcess(tmp_path / "gateway", "gateway"), NodeProcess(tmp_path / "worker", "worker")
    ops = free_port()
    # The command's name and the form of the log are there already.
    for node, service, changes in (
            (gateway, GATEWAYS["gateway-1"], {"listen": "127.0.0.1:0", "ops": f"127.0.0.1:{ops}"}),
            (worker, COMPOSE["services"]["worker-1"], {})):
        node.arguments += [word for word in mapped(service, secrets, **changes)[1:] if word != "--log=json"]
    try:
        gateway.start()
        # Its ready file says that it has leases: Redis let it do all it needs.
        worker.start()
        eventually(lambda: healthy("readyz", ops), 20, "ready")
        password = re.search(r"switchboard:(\w+)@", (secrets / "settings.json").read_text())[1]
        done = run("redis-cli", "-p", redis, "--user", "switchboard", "--pass", password, "flushall")
        assert "NOPERM" in done.stdout + done.stderr
    finally:
        gateway.stop()
        worker.stop()
    assert not healthy("livez", ops)


def healthy(question, port):
    """What the image's own health program says."""
    return run(DEPLOY / "health", question, port).returncode == 0


def test_health_tells_routing_from_restarting(gateway, server):
    """Redis away: `readyz` says do not route, `livez` says do not restart."""
    _, port = gateway(server=server).address("ops")
    assert healthy("livez", port) and healthy("readyz", port)
    server.stop()
    eventually(lambda: not healthy("readyz", port), 15, "not ready")
    assert healthy("livez", port)
    server.start()
    eventually(lambda: healthy("readyz", port), 15, "ready again")
