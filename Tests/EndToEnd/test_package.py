"""The Debian package: its files, and what an installation, an upgrade, a removal and a purge do to a system."""

import json
import re
import shutil
import stat

import pytest

from Fixtures.processes.node import BINARY, ENVIRONMENT
from Fixtures.processes.packages import named_packages
from Fixtures.processes.released import ROOT, DebianRoot, run
from Fixtures.processes.units import read_unit

UNITS = [f"switchboard-{kind}.service" for kind in ("courier", "gateway", "worker")]
# An exposure above this is a setting that was lost; systemd counts to 10.
EXPOSURE_MAX = 1.8

pytestmark = pytest.mark.shipped


@pytest.fixture(scope="module")
def files(released, tmp_path_factory):
    return released.unpacked(tmp_path_factory.mktemp("unpacked") / "files")


@pytest.fixture(scope="module")
def next_package(released, tmp_path_factory):
    return released.next_version(tmp_path_factory.mktemp("next"))


@pytest.fixture
def root(released, tmp_path):
    """A system without the package."""
    return DebianRoot(tmp_path / "root", released)


def test_files_are_where_debian_wants_them(files):
    modes = {str(path.relative_to(files)): stat.S_IMODE(path.lstat().st_mode) for path in files.rglob("*")}
    wanted = {"usr/bin/switchboard": 0o755, "usr/bin/switchboard-courier": 0o755, "usr/bin/switchboard-health": 0o755,
              "usr/lib/sysusers.d/switchboard.conf": 0o644, "etc/switchboard": 0o750, "etc/switchboard/tls": 0o750,
              "etc/switchboard/gateway.json": 0o640, "etc/logrotate.d/switchboard": 0o644,
              "usr/share/doc/switchboard/copyright": 0o644, "usr/share/doc/switchboard/README.md": 0o644,
              "usr/share/switchboard/secrets.sh": 0o755, "usr/share/switchboard/prometheus/rules.yaml": 0o644,
              **{f"lib/systemd/system/{unit}": 0o644 for unit in UNITS}}
    assert {name: modes.get(name) for name in wanted} == wanted
    # Nothing else but pages and examples.
    rest = [name for name in modes if name not in wanted and not (files / name).is_dir()]
    assert all(re.match(r"usr/share/(doc/)?switchboard/", name) for name in rest), rest
    assert {modes[name] for name in rest} <= {0o644}
    for unit in UNITS:
        assert (files / "lib/systemd/system" / unit).read_bytes() == (ROOT / "deploy/systemd" / unit).read_bytes()


def test_files_of_pages_come_from_the_repository(files):
    """Secrets lie in deploy/secrets of a checkout that was tried out: git does not know them, no package has them."""
    tracked = set(run("git", "ls-files", "--cached", "--others", "--exclude-standard", cwd=ROOT).stdout.splitlines())
    for base, below in (("usr/share/doc/switchboard", ""), ("usr/share/switchboard", "deploy/")):
        for path in (files / base).rglob("*"):
            name = below + str(path.relative_to(files / base))
            if path.is_file() and path.name not in ("copyright", "switchboard.cdx.json"):
                assert name in tracked, name
                assert path.read_bytes() == (ROOT / name).read_bytes(), name


def test_links_between_installed_pages_lead_somewhere(files):
    pages = files / "usr/share/doc/switchboard"
    found = 0
    for page in pages.rglob("*.md"):
        for target in re.findall(r"\]\(([^)#\s:]+\.md)", page.read_text()):
            assert (page.parent / target).resolve().is_relative_to(pages), f"{page}: {target}"
            assert (page.parent / target).exists() or not (ROOT / page.relative_to(pages).parent / target).resolve(
            ).is_relative_to(ROOT / "docs"), f"{page.relative_to(pages)}: {target}"
            found += 1
    assert found > 100
    for unit in UNITS:
        [page] = re.findall(r"^Documentation=file:///(.*)$", (files / "lib/systemd/system" / unit).read_text(), re.M)
        assert (files / page).exists(), page


def test_every_file_of_etc_is_the_operators(released, files):
    named = run("dpkg-deb", "--info", released.package, "conffiles").stdout.split()
    assert set(named) == {"/" + str(path.relative_to(files)) for path in (files / "etc").rglob("*") if path.is_file()}
    fields = dict(re.findall(r"^(\S+): (.*)$", run("dpkg-deb", "--field", released.package).stdout, re.M))
    assert (fields["Package"], fields["Version"]) == ("switchboard", released.version)
    assert {"Maintainer", "Description", "Section", "Priority", "Installed-Size"} <= set(fields)
    # dpkg installs it beside what `make run` installs, and names a missing library.
    assert "libhiredis-dev" in named_packages("build") and "libhiredis0.14" in fields["Depends"]


def test_the_default_configuration_is_one_that_all_three_take(files, tmp_path):
    """Its files are missing on a new system, and each program says so by the file's name."""
    text = (files / "etc/switchboard/gateway.json").read_text()
    assert set(json.loads(text)) >= {"listen", "ops", "worker-ops", "courier-ops", "redis", "tls-cert", "api-keys"}
    config = tmp_path / "gateway.json"
    config.write_text(text.replace("/etc/switchboard", str(tmp_path / "none")))
    done = run(BINARY, "check", "--config", config, check=False, env=ENVIRONMENT)
    said = done.stdout + done.stderr
    assert done.returncode == 1 and "none/tls/fullchain.pem" in said and "unknown" not in said, said


def test_an_installation_makes_the_user_and_starts_nothing(root):
    said = root.install()
    assert root.state() == f"ii|{root.release.version}"
    line, user, group = root.account()
    assert line.endswith(":/:/usr/sbin/nologin") and user > 0
    files = root.files()
    for name, mode in (("etc/switchboard", "0o40750"), ("etc/switchboard/tls", "0o40750"),
                       ("etc/switchboard/gateway.json", "0o100640")):
        assert files[name] == (mode, 0, group), name
    assert files["usr/bin/switchboard"] == ("0o100755", 0, 0)
    assert "Nothing runs yet: /usr/share/doc/switchboard/deploy/README.md" in said.stderr
    # Every file is as the package has it.
    assert root.dpkg("--verify", "switchboard").stdout == ""
    (root.folder / "usr/bin/switchboard").write_text("another")
    assert "/usr/bin/switchboard" in root.dpkg("--verify", "switchboard", check=False).stdout


def test_the_user_is_made_without_systemd_too(root, tmp_path):
    """A container image has no systemd-sysusers."""
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in ("usr/sbin", "usr/bin", "sbin", "bin"):
        for path in (DebianRoot.HOST / name).iterdir():
            if path.name != "systemd-sysusers" and not (programs / path.name).exists():
                (programs / path.name).symlink_to(path)
    root.environment["PATH"] = str(programs)
    root.install()
    line, _, group = root.account()
    assert line.endswith(":/:/usr/sbin/nologin") and root.files()["etc/switchboard"][2] == group


def test_a_missing_library_is_named(root):
    status = root.folder / "var/lib/dpkg/status"
    status.write_text(re.sub(r"(?ms)^Package: libhiredis0\.14$.*?^\n", "", status.read_text()))
    done = root.install(check=False)
    assert done.returncode == 1 and "libhiredis0.14" in done.stderr
    assert root.state().startswith("iU")


def test_an_upgrade_keeps_what_the_operator_changed(root, next_package):
    root.install()
    own = root.folder / "etc/switchboard"
    (own / "gateway.json").write_text('{"listen": "127.0.0.1:1"}\n')
    (own / "gateway.json").chmod(0o600)
    (own / "jwt-secret").write_text("secret\n")
    own.chmod(0o700)
    before = {name: entry for name, entry in root.files().items() if name.startswith("etc/switchboard")}
    account = root.account()
    root.install(next_package)
    assert root.state() == f"ii|{root.release.version}+next"
    assert (own / "gateway.json").read_text() == '{"listen": "127.0.0.1:1"}\n'
    after = {name: entry for name, entry in root.files().items() if name.startswith("etc/switchboard")}
    # A file that dpkg would have put in the place of the changed one may lie beside it.
    after.pop("etc/switchboard/gateway.json.dpkg-dist", None)
    assert after == before and root.account() == account


def test_a_removal_keeps_configuration_and_data_and_a_purge_leaves_nothing(root):
    before = root.files()
    root.install()
    kept = {"etc/switchboard/jwt-secret", "etc/switchboard/tls/privkey.pem", "var/lib/switchboard/data-time",
            "var/log/switchboard/access.log"}
    for name in kept:
        (root.folder / name).parent.mkdir(parents=True, exist_ok=True)
        (root.folder / name).write_text("mine\n")
    root.dpkg("--remove", "switchboard")
    assert root.state().startswith("rc|")
    left = set(root.files()) - set(before)
    conffiles = {"etc/switchboard/gateway.json", "etc/logrotate.d/switchboard"}
    assert {name for name in left if (root.folder / name).is_file() and not name.startswith(("etc/passwd", "etc/group",
            "etc/shadow", "etc/gshadow", "etc/.pwd"))} == kept | conffiles
    assert root.account()
    root.dpkg("--purge", "switchboard")
    assert root.state() == "" and root.account() is None
    # Copies that the programs for accounts make, and their lock.
    accounts = re.compile(r"etc/(\.pwd\.lock|(passwd|group|shadow|gshadow|subuid|subgid)-?)")
    left = {name for name in set(root.files()) - set(before) if not accounts.fullmatch(name)}
    # Folders of the system that were there on no real system either way.
    assert not {name for name in left if "switchboard" in name or (root.folder / name).is_file()}, left
    assert "switchboard" not in (root.folder / "etc/group").read_text()


@pytest.mark.parametrize("unit", UNITS)
def test_units_are_right_and_closed(files, unit):
    if not shutil.which("systemd-analyze"):
        pytest.skip("there is no systemd-analyze here: `apt-get install systemd` brings it")
    path = files / "lib/systemd/system" / unit
    # A copy that names programs of this machine, since the installed places are not here.
    text = path.read_text().replace("=/usr/bin/switchboard", f"={files}/usr/bin/switchboard")
    copy = files.parent / unit
    copy.write_text(text)
    done = run("systemd-analyze", "verify", "--man=no", copy, check=False)
    ours = [line for line in (done.stdout + done.stderr).splitlines() if unit in line]
    assert ours == [], ours
    score = run("systemd-analyze", "security", "--offline=true", "--no-pager", copy).stdout
    exposure = float(re.search(rf"exposure level for {re.escape(unit)}: ([\d.]+)", score)[1])
    print(f"{unit}: {exposure}")
    assert exposure <= EXPOSURE_MAX


@pytest.mark.parametrize("unit", UNITS)
def test_units_watch_and_end_processes_as_the_pages_say(files, unit):
    settings = read_unit(files / "lib/systemd/system" / unit)
    service = {name.partition(".")[2]: values[-1] for name, values in settings.items() if name.startswith("Service.")}
    assert (service["Type"], service["Restart"], service["KillSignal"]) == ("notify", "always", "SIGTERM")
    page = (ROOT / "deploy/README.md").read_text()
    assert f"WatchdogSec={service['WatchdogSec']}" in page
    # The time after which a process that hangs is ended, in the table of the page.
    ends = int(service["WatchdogSec"].rstrip("s")) + int(service["TimeoutAbortSec"].rstrip("s"))
    assert re.search(rf"^\| systemd \|.*\| {ends} s \|$", page, re.M)
    if "gateway" in unit:
        limits = "".join(page.read_text() for page in sorted((ROOT / "docs").glob("limits*.md")))
        limit = int(re.search(r"\| `drainMs` \| `(\d+)`", limits)[1])
        assert int(service["TimeoutStopSec"].rstrip("s")) > limit / 1_000 + 5
    # Only the state and the log may be written.
    assert service["ProtectSystem"] == "strict" and "ReadWritePaths" not in service
    assert service["ConfigurationDirectoryMode"] == "0750"
    # Keys and events are in memory.
    assert service["LimitCORE"] == "0"
