"""clients/js told what to do from outside: in Node, or in a page of a browser (clients/js/test/driver.js)."""

import json
import os
import queue
import shutil
import signal
import subprocess
import threading
import time
from pathlib import Path

from Fixtures.processes.ports import free_port
from Fixtures.waiting import eventually, pass_time

CLIENT = Path(__file__).resolve().parents[3] / "clients/js"
# Debian's modules are where Debian's node looks; another node is told.
DEBIAN_MODULES = Path("/usr/share/nodejs")
SECONDS_MAX = 20


class Driven:
    """Takes orders, and tells what it sees; all of that is kept in `told`."""

    def __init__(self):
        self.told = []
        self._read_to = 0

    def order(self, order, **more):
        raise NotImplementedError

    def pull(self):
        """Adds what was told meanwhile to `told`."""
        raise NotImplementedError

    def next(self, **wanted):
        """The next thing told that has these members; what came before it is passed over."""
        def look():
            self.pull()
            while self._read_to < len(self.told):
                one = self.told[self._read_to]
                self._read_to += 1
                if wanted.items() <= one.items():
                    return one
            return None

        try:
            return eventually(look, SECONDS_MAX)
        except AssertionError:
            raise AssertionError(f"no {wanted} among {self.told[-10:]}") from None

    def numbers(self, topic, event="tick"):
        """The numbers in the topic's events of this name, so far."""
        self.pull()
        return [one["data"]["n"] for one in self.told if one.get("topic") == topic and one.get("event") == event]

    def has_heard(self, topic, event):
        """Whether the topic's event of this name has come."""
        self.pull()
        return any(one.get("topic") == topic and one.get("event") == event for one in self.told)

    def of_type(self, kind):
        return [one for one in self.told if one.get("type") == kind]


class InNode(Driven):
    """A process of Node; a context manager."""

    def __init__(self, certificate):
        node = shutil.which("node")
        assert node, "no node on PATH (scripts/packages.sh test installs it)"
        super().__init__()
        environment = {**os.environ, "NODE_EXTRA_CA_CERTS": str(certificate.cert)}
        self._process = subprocess.Popen(
            [node, CLIENT / "test/drive.js", DEBIAN_MODULES / "ws/index.js"], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True, env=environment)
        self._lines = queue.Queue()
        self._thread = threading.Thread(target=self._read)
        self._thread.start()

    def _read(self):
        for line in self._process.stdout:
            self._lines.put(line)

    def order(self, order, **more):
        self._process.stdin.write(json.dumps({"order": order, **more}) + "\n")
        self._process.stdin.flush()

    def pull(self):
        assert self._process.poll() is None, "the process of Node has ended"
        while not self._lines.empty():
            self.told.append(json.loads(self._lines.get()))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._process.stdin.close()
        self._thread.join(SECONDS_MAX)
        assert self._process.wait(SECONDS_MAX) == 0


class InPage(Driven):
    """A page that any origin has opened, which gets the module as a text."""

    LOAD = """
    async ([library, driver]) => {
        const load = (text) => import(URL.createObjectURL(new Blob([text], { type: "text/javascript" })));
        window.told = [];
        window.take = (await load(driver)).driver(await load(library), (seen) => window.told.push(seen));
    }
    """

    def __init__(self, page):
        super().__init__()
        self._page = page
        page.evaluate(self.LOAD, [(CLIENT / "switchboard.js").read_text(), (CLIENT / "test/driver.js").read_text()])

    def order(self, order, **more):
        self._page.evaluate("order => window.take(order)", {"order": order, **more})

    def pull(self):
        self.told += self._page.evaluate("JSON.parse(JSON.stringify(window.told.splice(0)))")


def lives_through(open_at, start, sign, shop):
    """State, events, a vote; then the gateway is killed, drained and back: nothing is missed or done twice.

    `start(port)` starts a gateway of the same Redis; `open_at(gateway)` returns what is driven; `sign(user)` makes a
    token.
    """
    port = free_port()
    gateway, other = start(port), start()
    driven = open_at(gateway)
    topic = f"dj:{shop}"
    with other.http() as http:
        def service(name, **arguments):
            response = http.post(f"/v1/commands/{name}", json=arguments)
            assert response.status_code == 200, response.text

        service("start_session", shopId=shop)
        service("check_in", shopId=shop, userId="u1")
        service("check_in", shopId=shop, userId="dj")
        service("add_track", shopId=shop, trackId="t1", trackName="One", userId="dj")
    driven.order("open", url=f"wss://127.0.0.1:{port}/ws", token=sign("u1"))
    driven.order("join", topic=topic)
    assert driven.next(topic=topic, type="live")["state"]["queue"][0]["trackId"] == "t1"
    vote = {"shopId": shop, "trackId": "t1", "vote": "up"}
    driven.order("call", event="vote", data=vote, options={"id": f"{shop}-1"})
    assert driven.next(call=f"{shop}-1")["answer"]["upvotes"] == 2
    # The event may come after the answer, and the state that the client has is older until then.
    eventually(lambda: driven.has_heard(topic, "queue:update"), SECONDS_MAX, "the event of the vote")
    driven.order("state", topic=topic)
    assert driven.next(stateOf=topic)["state"]["queue"][0]["upvotes"] == 2

    for number in range(1, 4):
        other.publish(topic, "tick", {"n": number})
    eventually(lambda: len(driven.numbers(topic)) == 3, SECONDS_MAX, "the events")
    gateway.kill()
    driven.next(phase="waiting")
    driven.order("call", event="vote", data={**vote, "vote": "down"}, options={"id": f"{shop}-2", "keepMs": 60_000})
    for number in range(4, 7):
        other.publish(topic, "tick", {"n": number})
    gateway = start(port)
    assert driven.next(call=f"{shop}-2")["answer"]["downvotes"] == 1
    eventually(lambda: len(driven.numbers(topic)) == 6, SECONDS_MAX, "what was missed")

    gateway.signal(signal.SIGTERM)
    driven.next(phase="draining")
    driven.next(phase="waiting")
    assert gateway.wait() == 0
    other.publish(topic, "tick", {"n": 7})
    start(port)
    driven.next(phase="open")
    other.publish(topic, "tick", {"n": 8})
    eventually(lambda: len(driven.numbers(topic)) == 8, SECONDS_MAX, "what was missed over the drain")
    assert driven.numbers(topic) == list(range(1, 9))
    assert len([one for one in driven.of_type("event") if one["event"] == "queue:update"]) == 2, "two votes"
    assert not driven.of_type("gap")
    assert [one["recovered"] for one in driven.of_type("live")] == [False, False, True, True]


def renews_its_token(open_at, start, sign):
    """The gateway says that the token ends; another one goes over the same connection, which outlives the first."""
    gateway = start(limits={"tokenLeewaySeconds": 0, "tokenWarningMs": 1_500})
    driven = open_at(gateway)
    driven.order("open", url="wss://127.0.0.1:%d/ws" % gateway.address()[1], token="source")
    driven.next(asked="first")
    first = int(time.time()) + 3
    driven.order("give", token=sign("u1", exp=first))
    driven.order("join", topic="user:u1")
    driven.next(topic="user:u1", type="live")
    driven.next(asked="expiring")
    driven.order("give", token=sign("u1", exp=first + 60))
    pass_time(first + 1 - time.time(), "the first token has ended")
    gateway.publish("user:u1", "tick", {"n": 1})
    driven.next(topic="user:u1", event="tick")
    assert not driven.of_type("pending")
