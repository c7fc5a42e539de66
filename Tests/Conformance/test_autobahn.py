"""RFC 6455 as the Autobahn suite knows it, over TLS, against a running gateway."""

import os
import threading
from collections import Counter

import pytest
from websockets.sync.server import serve

from Fixtures.processes import autobahn
from Fixtures.processes.dev import RunningGateway

# It needs an environment of Python 2.7, and the code of WebSockets has its own tests and a fuzzer.
pytestmark = pytest.mark.thorough

# Half a minute on two idle cores; the deadline is for a slow machine with other things to do.
TIMEOUT_SECONDS = 600


@pytest.fixture(scope="session")
def wstest():
    try:
        return autobahn.install()
    except autobahn.Unavailable as reason:
        pytest.skip(str(reason))


@pytest.mark.parametrize("groups", [
    pytest.param(autobahn.LIGHT_GROUPS, id="without UTF-8 and large messages"),
    pytest.param(autobahn.GROUPS, id="all", marks=pytest.mark.thorough),
])
def test_every_case_of_the_fuzzing_client_passes(wstest, tmp_path, show, groups):
    with RunningGateway(tmp_path / "node", "--echo") as gateway:
        verdicts = autobahn.run(
            wstest, gateway.wss + "/echo", tmp_path, [f"{name}.*" for name in groups], TIMEOUT_SECONDS)
    show(autobahn.summary(verdicts))
    assert Counter(autobahn.group(case) for case in verdicts) == groups
    assert autobahn.offences(verdicts) == []


@pytest.mark.thorough
def test_deflated_messages_pass(wstest, tmp_path, show):
    """A sample, or with AUTOBAHN_DEFLATE=all (`make autobahn`) every case of groups 12 and 13."""
    is_whole = os.environ.get("AUTOBAHN_DEFLATE") == "all"
    cases = [f"{name}.*" for name in autobahn.DEFLATE_GROUPS] if is_whole else autobahn.DEFLATE_SAMPLE
    timeout_seconds = TIMEOUT_SECONDS * 6 if is_whole else TIMEOUT_SECONDS
    flags = ("--echo", "--deflate", "--deflate-min-bytes", "0")
    with RunningGateway(tmp_path / "node", *flags) as gateway:
        verdicts = autobahn.run(wstest, gateway.wss + "/echo", tmp_path, cases, timeout_seconds)
        deflated, inflated = (gateway.metric(f"switchboard_{name}_total") for name in ("deflated", "inflated"))
    show(autobahn.summary(verdicts))
    if is_whole:
        assert Counter(autobahn.group(case) for case in verdicts) == autobahn.DEFLATE_GROUPS
    else:
        assert sorted(verdicts) == sorted(cases)
    # Of these none is a matter of taste: all must be OK.
    assert autobahn.offences(verdicts, {"OK"}) == []
    assert min(deflated, inflated) > 500 * len(verdicts), "the extension was agreed on, and used both ways"


def test_the_runner_sees_what_a_lax_server_does(wstest, tmp_path):
    """Proves that a verdict other than OK comes through: this echo reads a bad text to its end before failing it."""
    server = serve(lambda socket: [socket.send(message) for message in socket], "127.0.0.1", 0, compression=None)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        url = "ws://127.0.0.1:%d/" % server.socket.getsockname()[1]
        verdicts = autobahn.run(wstest, url, tmp_path, ["1.1.*", "6.4.*"], TIMEOUT_SECONDS)
    finally:
        server.shutdown()
        thread.join()
    assert {verdicts[case]["behavior"] for case in verdicts if autobahn.group(case) == "1"} == {"OK"}
    assert [line.split(":")[0] for line in autobahn.offences(verdicts)] == ["6.4.1", "6.4.2", "6.4.3", "6.4.4"]
    assert "NON-STRICT" in autobahn.summary(verdicts)
