"""The samples of clients/js/README.md as files that Node and a browser load, with Debian's React beside them."""

import re
import shutil
import subprocess

import pytest

from Fixtures.clients.js_client import CLIENT, DEBIAN_MODULES

README = (CLIENT / "README.md").read_text()
ADDRESS = "wss://127.0.0.1:8443/ws"


def sample(language, first=""):
    """The block of this language that begins so."""
    return re.search(rf"```{language}\n({re.escape(first)}.*?)```", README, re.S)[1]


def compiled(folder, port, shop):
    """Writes the samples for React into the folder, as JavaScript, for the shop at this gateway's port."""
    compiler = shutil.which("tsc") or pytest.fail("no tsc on PATH (scripts/packages.sh test installs it)")
    for name in ("Room.jsx", "main.jsx"):
        text = sample("jsx", f"// {name}\n")
        (folder / name).write_text(text.replace(ADDRESS, f"wss://127.0.0.1:{port}/ws").replace('"demo"', f'"{shop}"'))
    # The sources alone: nobody looks for the modules here.
    options = ("--jsx", "react", "--allowJs", "--noResolve", "--target", "es2022", "--module", "es2022", "--outDir",
               folder)
    done = subprocess.run([compiler, *options, "Room.jsx", "main.jsx"], cwd=folder, capture_output=True, text=True,
                          timeout=60)
    assert done.returncode == 0, done.stdout
    return folder


def package(folder):
    """Puts the client into the folder, as an installed package."""
    place = folder / "node_modules/switchboard-client"
    place.mkdir(parents=True)
    for name in ("package.json", "switchboard.js", "react.js"):
        shutil.copy(CLIENT / name, place)
    for name in ("react", "react-test-renderer"):
        (folder / "node_modules" / name).symlink_to(DEBIAN_MODULES / name)


class Shop:
    """A shop's music at a gateway, as its backend sees it."""

    def __init__(self, gateway, shop):
        self._gateway, self._shop = gateway, shop
        self.call("start_session")
        self.call("check_in", userId="dj")

    def call(self, name, **arguments):
        with self._gateway.http() as http:
            response = http.post(f"/v1/commands/{name}", json={"shopId": self._shop, **arguments})
        assert response.status_code == 200, response.text

    def add(self, number):
        self.call("add_track", trackId=f"t{number}", trackName=f"Track {number}", userId="dj")
