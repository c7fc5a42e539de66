"""The Redis of every shipped deployment comes back from its own files with all that it held, however it ended."""

import signal

import pytest

from Fixtures.clients.tokens import SECRET, sign
from Fixtures.processes.deployments import EVENTS, ORDER, Deployment, write
from Fixtures.processes.gateway import Gateway
from Fixtures.redis.contents import lasting
from Fixtures.redis.waiting import until


@pytest.fixture(scope="module", params=["one", "sentinel", "cluster"])
def deployment(request, tmp_path_factory):
    """A running deployment; the tests of one kind follow each other on the same data."""
    made = Deployment(request.param, tmp_path_factory.mktemp(request.param))
    try:
        yield made.start()
    finally:
        made.stop()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL], ids=["stopped", "killed"])
def test_everything_is_there_after_a_restart_of_redis(deployment, certificate, tmp_path, number):
    """The default user, as which Redis loads its file, had no rights: whatever a script had written was left out."""
    gateway = Gateway(tmp_path / "before", deployment.url, certificate, SECRET)
    try:
        gateway.start().wait_ready(30)
        position = write(gateway, f"shop-{number}")
    finally:
        gateway.stop()
    until(deployment.is_whole, 30, "replicas in step")
    before = deployment.contents()
    assert {b"order:77#log", b"order:{77}#log"} & set(before) and len(before) > 20
    deployment.end(number)
    deployment.start()
    after = deployment.contents()
    assert lasting(before) == lasting(after)
    assert not any("NOPERM" in server.log for server in deployment.servers)
    reopened(deployment, Gateway(tmp_path / "after", deployment.url, certificate, SECRET), position)


def reopened(deployment, gateway: Gateway, position: dict) -> None:
    """Clients of a new gateway go on behind the position of one server; replicated servers end epochs and say so."""
    try:
        with gateway.start().wait_ready(30).client(token=sign(SECRET, "ann", topics=[ORDER])) as client:
            answer = client.subscribe(ORDER, {"epoch": position["epoch"], "offset": position["offset"] - EVENTS})
            assert answer["recovered"] is (deployment.kind == "one")
            if answer["recovered"]:
                assert [client.expect("processing_started")["data"]["n"] for _ in range(EVENTS)] == list(range(EVENTS))
    finally:
        gateway.stop()
