"""The samples of clients/js/README.md in Node, at real gateways; Tests/Browser has the same in a page."""

import json
import os
import queue
import re
import shutil
import subprocess
import threading

import pytest

from Fixtures.clients.js_client import CLIENT, DEBIAN_MODULES, SECONDS_MAX
from Fixtures.clients.js_samples import ADDRESS, Shop, compiled, package, sample
from Fixtures.processes.ports import free_port
from Fixtures.waiting import eventually

PRELUDE = """
import { createRequire } from "node:module";
globalThis.WebSocket ??= createRequire(import.meta.url)("%s");
"""
# Shows the component as text whenever it has changed.
RENDER = """
import React, { StrictMode } from "react";
import { create } from "react-test-renderer";
import { SwitchboardClient } from "switchboard-client";
import { Room } from "./Room.js";

const [url, shop, order] = process.argv.slice(2);
const client = new SwitchboardClient(url);
client.start();
const room = React.createElement(Room, { client, shop });
const renderer = create(React.createElement(StrictMode, null, room));
const text = (node) => (typeof node === "string" ? node : (node.children ?? []).map(text).join());
let last = "";
const timer = setInterval(() => {
  const [notice, list] = [renderer.toJSON()].flat();
  const now = JSON.stringify([text(notice), ...(list?.children ?? []).map(text)]).replaceAll(",", ", ");
  if (now !== last) console.log(last = now);
}, 20);
process.stdin.on("data", () => {
  clearInterval(timer);
  renderer.unmount();
  setTimeout(() => process.exit(client.status.phase === "open" ? 0 : 1), 50);
});
"""


class Program:
    """A process of Node whose lines are read; a context manager."""

    def __init__(self, folder, certificate, *arguments):
        node = shutil.which("node") or pytest.fail("no node on PATH (scripts/packages.sh test installs it)")
        (folder / "prelude.mjs").write_text(PRELUDE % (DEBIAN_MODULES / "ws/index.js"))
        environment = {**os.environ, "NODE_EXTRA_CA_CERTS": str(certificate.cert), "NODE_PATH": str(DEBIAN_MODULES)}
        self.process = subprocess.Popen([node, "--import", folder / "prelude.mjs", *arguments], cwd=folder, text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)
        self.lines, self._said = [], queue.Queue()
        self._thread = threading.Thread(target=lambda: [self._said.put(line) for line in self.process.stdout])
        self._thread.start()

    def last(self):
        while not self._said.empty():
            self.lines.append(self._said.get().strip())
        return self.lines[-1] if self.lines else ""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait(SECONDS_MAX)
        self._thread.join(SECONDS_MAX)
        self.process.stdout.close()
        self.process.stdin.close()


@pytest.fixture
def start(gateway):
    """Starts a gateway, at the port of another if one is given."""
    return lambda port=0: gateway(listen=f"127.0.0.1:{port}")


def test_the_first_sample_in_node(tmp_path, certificate, start):
    one = start()
    # Debian's Node 18 takes a file for a module only where a package says so.
    for name in ("switchboard.js", "package.json"):
        shutil.copy(CLIENT / name, tmp_path)
    text = sample("javascript", "import { SwitchboardClient }")
    (tmp_path / "first.mjs").write_text(text.replace(ADDRESS, "wss://127.0.0.1:%d/ws" % one.address()[1]))
    with Program(tmp_path, certificate, "first.mjs") as program:
        eventually(lambda: program.last() and "begin with {" in program.lines, SECONDS_MAX, "the topic")
        one.publish("shop:demo", "tick", {"n": 1})
        eventually(lambda: program.last() == "tick { n: 1 }", SECONDS_MAX, "the event")


def test_the_sample_for_react_in_node(tmp_path, certificate, start):
    """React's own renderer shows the component; a gateway is killed, and what it missed is shown, too."""
    port, shop = free_port(), "js-samples-node"
    one, other = start(port), start()
    backend = Shop(other, shop)
    backend.add(1)
    package(tmp_path)
    compiled(tmp_path, port, shop)
    (tmp_path / "package.json").write_text(json.dumps({"type": "module"}))
    (tmp_path / "render.js").write_text(RENDER)
    with Program(tmp_path, certificate, "render.js", f"wss://127.0.0.1:{port}/ws", shop) as program:
        def shows(*numbers):
            wanted = json.dumps(["", *(f"Track {number}" for number in numbers)])
            eventually(lambda: program.last() == wanted, SECONDS_MAX, wanted)

        shows(1)
        backend.add(2)
        shows(1, 2)
        one.kill()
        eventually(lambda: re.match('\\["[A-Z]', program.last()), SECONDS_MAX, "a reason")
        backend.add(3)
        start(port)
        shows(1, 2, 3)
        program.process.stdin.write("unmount\n")
        program.process.stdin.flush()
        assert program.process.wait(SECONDS_MAX) == 0


def test_the_hooks(tmp_path):
    """React's own renderer, and topics that the test plays."""
    node = shutil.which("node") or pytest.fail("no node on PATH (scripts/packages.sh test installs it)")
    package(tmp_path)
    shutil.copy(CLIENT / "test/react.js", tmp_path / "react.test.mjs")
    done = subprocess.run([node, "--test", tmp_path / "react.test.mjs"], capture_output=True, text=True, timeout=60,
                          env={**os.environ, "NODE_PATH": str(DEBIAN_MODULES)})
    assert done.returncode == 0, done.stdout[-6000:]


def test_the_types_of_the_hooks():
    """The types export what the module does, and programs that use them as they should pass a strict compiler."""
    exported = re.findall(r"^export function (\w+)", (CLIENT / "react.js").read_text(), re.M)
    assert exported == re.findall(r"^export function (\w+)", (CLIENT / "react.d.ts").read_text(), re.M)
    compiler = shutil.which("tsc") or pytest.fail("no tsc on PATH (scripts/packages.sh test installs it)")
    options = ("--noEmit", "--strict", "--target", "es2022", "--module", "es2022", "--moduleResolution", "node",
               "--lib", "es2022,dom,dom.iterable", "--skipDefaultLibCheck")
    done = subprocess.run([compiler, *options, CLIENT / "test/uses-react.ts"], capture_output=True, text=True,
                          timeout=60)
    assert done.returncode == 0, done.stdout
