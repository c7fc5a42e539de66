"""`switchboard dev` reads scripts again when a file changes, and leaves the old ones when there is a mistake."""

import contextlib
import json
import re
import subprocess

import httpx
import pytest

from Fixtures.apps.operator_scripts import script, write_scripts
from Fixtures.processes.dev import RunningGateway, answer_of, asked
from Fixtures.processes.node import BINARY, ENVIRONMENT
from Fixtures.samples import sample
from Fixtures.waiting import eventually

QUIET = "--demo=false"


def answering(name, number):
    return script(name, f"return {{number = {number}}}", returns="{number: int}")


def test_a_changed_script_is_read_again(tmp_path):
    scripts = tmp_path / "scripts"
    write_scripts(scripts, one=answering("one", 1))
    with RunningGateway(tmp_path / "dev", QUIET, "--scripts", scripts) as gateway:
        assert answer_of(gateway, "one", shopId="1") == {"number": 1}
        write_scripts(scripts, one=answering("one", 2), two=answering("two", 7))
        eventually(lambda: answer_of(gateway, "two", shopId="1") == {"number": 7}, 20, "the new script")
        assert answer_of(gateway, "one", shopId="1") == {"number": 2}
        line = eventually(lambda: re.search(r"^scripts: .*$", gateway.terminal, re.M), 10, "the line about it")[0]
        assert f"changed {scripts}/one.lua" in line and f"new {scripts}/two.lua" in line
        assert line.endswith("now there is two")
        (scripts / "two.lua").unlink()
        eventually(lambda: "there is no more two" in gateway.terminal, 20, "the end of the script")
        assert asked(gateway, "POST", "/v1/commands/two", {"shopId": "1"}).status_code == 404
        assert answer_of(gateway, "one", shopId="1") == {"number": 2}


@pytest.mark.parametrize("text, told", [
    (answering("one", 2).replace("@cost", "@cots"), r"one\.lua:\d+: .*@cots"),
    (answering("one", 2).replace("return {", "return {{"), r"one\.lua:\d+: "),
], ids=["header", "body"])
def test_a_script_with_a_mistake_leaves_the_old_one(tmp_path, text, told):
    scripts = tmp_path / "scripts"
    write_scripts(scripts, one=answering("one", 1))
    with RunningGateway(tmp_path / "dev", QUIET, "--scripts", scripts) as gateway:
        write_scripts(scripts, one=text)
        eventually(lambda: "the scripts go on as they were" in gateway.terminal, 20, "the mistake")
        assert re.search(told, gateway.terminal), gateway.terminal
        eventually(lambda: "scripts have mistakes" in gateway.log(), 5, "the line of the log")
        assert answer_of(gateway, "one", shopId="1") == {"number": 1}
        write_scripts(scripts, one=answering("one", 3))
        eventually(lambda: answer_of(gateway, "one", shopId="1") == {"number": 3}, 20, "the mended script")


def test_a_pack_that_gets_a_namespace_has_it(tmp_path):
    scripts = tmp_path / "scripts"
    write_scripts(scripts, one=answering("one", 1))
    rule = {"subscribe": "anyone", "publish": "service", "log": {"events": 9, "seconds": 60}}
    with RunningGateway(tmp_path / "dev", QUIET, "--scripts", scripts) as gateway:
        event = {"topic": "room:1", "event": "hello", "data": {}}
        assert asked(gateway, "POST", "/v1/broadcast", event).status_code == 404
        (scripts / "pack.json").write_text(json.dumps({"namespaces": {"room": rule}}))

        def is_there():
            with contextlib.suppress(httpx.TransportError):
                return asked(gateway, "POST", "/v1/broadcast", event).status_code == 200

        eventually(is_there, 20, "the namespace")


def test_a_fault_of_a_script_is_on_the_terminal_with_its_line(tmp_path):
    scripts = tmp_path / "scripts"
    body = "local none = nil\nreturn {number = none.x}"
    write_scripts(scripts, one=script("one", body, returns="{number: int}"))
    with RunningGateway(tmp_path / "dev", QUIET, "--scripts", scripts) as gateway:
        assert asked(gateway, "POST", "/v1/commands/one", {"shopId": "1"}).status_code == 500
        eventually(lambda: re.search(r"a script failed.*one\.lua:\d+", gateway.terminal), 5, "the fault")


def test_the_tutorials_script_is_tried_by_hand(tmp_path):
    """The tutorial showed what callers say and get, and no line to type."""
    lend = sample("docs/scripts/tutorial.md#a-complete-script:lua")
    scripts = write_scripts(tmp_path / "dev/umbrellas", lend_umbrella=lend)
    with RunningGateway(tmp_path / "dev", QUIET, "--scripts", scripts) as gateway:
        (tmp_path / "dev/.build/release").mkdir(parents=True)
        (tmp_path / "dev/.build/release/switchboard").symlink_to(BINARY.absolute())
        text = sample("docs/scripts/testing.md#try-it-by-hand:sh").replace(":8443", f":{gateway.port}")
        done = subprocess.run(["sh", "-euc", text], cwd=tmp_path / "dev", capture_output=True, text=True, timeout=30,
                              env=ENVIRONMENT)
        assert done.returncode == 0 and '"left":11' in done.stdout, done.stdout + done.stderr
        refused = subprocess.run(["sh", "-euc", text.rpartition("-H")[0].rstrip(" \\\n") + " --json '{}'"],
                                 cwd=tmp_path / "dev", capture_output=True, text=True, timeout=30, env=ENVIRONMENT)
        assert '"unauthorized"' in refused.stdout, refused.stdout + refused.stderr
