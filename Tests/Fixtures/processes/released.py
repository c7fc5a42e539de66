"""A release of the built programs, made once in a run, and folders into which its package is installed."""

import fcntl
import os
import re
import shutil
import stat
import subprocess
import time
from pathlib import Path

import pytest

from Fixtures.processes.node import BINARY

ROOT = Path(__file__).resolve().parents[3]
#: The time in the files of a release made here: a fixed one, so that the tests can expect it.
EPOCH = 1_790_000_000
#: What `find` calls a kind of file, and its bits in a mode.
KINDS = {"f": stat.S_IFREG, "d": stat.S_IFDIR, "l": stat.S_IFLNK, "s": stat.S_IFSOCK}
DPKG_FOLDERS = ("updates", "info", "triggers", "alternatives", "parts")


def run(*words, check=True, **options) -> subprocess.CompletedProcess:
    """Runs a command; its text is in the error of one that fails."""
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=120, **options)
    assert not check or done.returncode == 0, f"{words}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done


class Release:
    """The files of `scripts/release.sh`."""

    def __init__(self, folder: Path):
        self.folder = folder
        [self.package] = folder.glob("*.deb")
        self.name = self.package.stem
        _, self.version, self.architecture = self.name.split("_")

    def file(self, ending: str) -> Path:
        return self.folder / (self.name + ending)

    def unpacked(self, folder: Path) -> Path:
        """The package's files below a folder."""
        if not folder.exists():
            run("dpkg-deb", "--extract", self.package, folder)
        return folder

    def next_version(self, folder: Path) -> Path:
        """The same package under a later version: what an upgrade installs."""
        tree = folder / "tree"
        run("dpkg-deb", "--raw-extract", self.package, tree)
        control = tree / "DEBIAN/control"
        control.write_text(re.sub(r"^Version: (.*)$", r"Version: \1+next", control.read_text(), flags=re.M))
        # A program of the same size with another digest: what a new version brings.
        with open(tree / "usr/bin/switchboard", "ab") as program:
            program.write(b"\0next")
        run("dpkg-deb", "--build", "--root-owner-group", "-Znone", tree, folder / "next.deb")
        shutil.rmtree(tree)
        return folder / "next.deb"


def make_release(shared: Path) -> Release:
    """Makes the release of the run, once for all its processes."""
    shared.mkdir(exist_ok=True)
    with open(shared / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        folder = shared / "dist"
        if not folder.exists():
            began = time.monotonic()
            run(ROOT / "scripts/release.sh", "--binaries", BINARY.absolute().parent, "--out", folder, "--level", "0",
                cwd=ROOT, env=os.environ | {"SOURCE_DATE_EPOCH": str(EPOCH)})
            print(f"the release took {time.monotonic() - began:.1f} s")
    return Release(folder)


def as_owner_of_files(record: Path) -> list[str]:
    """How dpkg is run so that it may give files to others; skips the test where nothing lets it.

    fakeroot only says that it gave a file away, and keeps in the record whom it belongs to.
    """
    if os.getuid() == 0:
        return []
    if shutil.which("fakeroot"):
        record.touch()
        return ["fakeroot", "-i", str(record), "-s", str(record), "--"]
    pytest.skip("dpkg gives files to root: it needs root, or fakeroot, to install into a folder")


class DebianRoot:
    """A folder with dpkg's own records and this machine's libraries in them, so that dependencies are really judged.

    The package's scripts run on this machine and act below the folder (`DPKG_ROOT`), so no right to chroot is needed.
    """

    #: The system whose programs run.
    HOST = Path("/")

    def __init__(self, folder: Path, release: Release):
        self.folder, self.release = folder, release
        self.as_root = as_owner_of_files(folder.with_name(folder.name + ".owners"))
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith("SWITCHBOARD_")}
        self.environment["PATH"] = f"/usr/sbin:/sbin:{os.environ['PATH']}"
        records = folder / "var/lib/dpkg"
        for name in DPKG_FOLDERS:
            (records / name).mkdir(parents=True)
        for name in ("etc", "tmp", "usr/bin"):
            (folder / name).mkdir(parents=True, exist_ok=True)
        (folder / "etc/passwd").write_text("root:x:0:0:root:/root:/bin/sh\n")
        (folder / "etc/group").write_text("root:x:0:\n")
        for name in ("shadow", "gshadow"):
            (folder / "etc" / name).write_text("root:*::\n" if name == "gshadow" else "root:*:19000:0:99999:7:::\n")
        fields = run("dpkg-deb", "--field", release.package, "Depends").stdout
        names = [re.match(r"[^ ]+", one.strip())[0] for one in fields.split(",")]
        (records / "status").write_text("".join(run("dpkg-query", "--status", name).stdout + "\n" for name in names))
        (records / "available").touch()
        for entry in re.findall(r"(?ms)^Package: (\S+)$(.*?)^\n", (records / "status").read_text()):
            same = f":{release.architecture}" if "\nMulti-Arch: same" in entry[1] else ""
            (records / f"info/{entry[0]}{same}.list").write_text("/.\n")

    def dpkg(self, *words, check=True) -> subprocess.CompletedProcess:
        """Runs dpkg on this root; a question about a changed file is answered by keeping it."""
        return run(
            *self.as_root, "dpkg", f"--root={self.folder}", "--force-script-chrootless", "--force-not-root",
            "--force-confold", *words, check=check, env=self.environment, stdin=subprocess.DEVNULL)

    def install(self, package: Path | None = None, check=True) -> subprocess.CompletedProcess:
        return self.dpkg("--install", package or self.release.package, check=check)

    def state(self) -> str:
        """What dpkg thinks of the package: its state and version; empty when it does not know it."""
        found = run("dpkg-query", f"--admindir={self.folder}/var/lib/dpkg", "--show", "--showformat",
                    "${db:Status-Abbrev}|${Version}", "switchboard", check=False).stdout
        return found.replace(" ", "")

    def files(self) -> dict[str, tuple]:
        """Every file and folder but dpkg's records: kind, mode, owner, group."""
        told = run(*self.as_root, "find", self.folder, "-mindepth", "1", "-printf", r"%P\t%y\t%m\t%U\t%G\0").stdout
        found = {}
        for name, kind, mode, user, group in sorted(entry.split("\t") for entry in told.split("\0")[:-1]):
            if not name.startswith("var/lib/dpkg"):
                found[name] = (oct(KINDS[kind] | int(mode, 8)), int(user), int(group))
        return found

    def account(self) -> tuple[str, int, int] | None:
        """The line of the service's user in the root's passwd, with its user and group numbers."""
        for line in (self.folder / "etc/passwd").read_text().splitlines():
            if line.startswith("switchboard:"):
                fields = line.split(":")
                return line, int(fields[2]), int(fields[3])
        return None
