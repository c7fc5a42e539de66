"""Two nodes of one Redis, and a session that polls: it lives on one, and its requests reach either."""

import itertools
import json

from Fixtures.clients.socketio import TEXT, Session
from Fixtures.waiting import eventually

#: Limits of nodes that find out quickly that one of them is gone.
FAST = {"pollHopMs": 400, "shardSweepMs": 20}


class Wanderer(Session):
    """A session of the first gateway, whose requests go to the given ones in turn."""

    def __init__(self, home, *ways):
        super().__init__(home)
        self.home = home
        self.https = [way.http(key=None) for way in ways]
        self.ways = itertools.cycle(self.https)

    def __exit__(self, *_):
        super().__exit__()
        for http in self.https:
            http.close()

    def get(self, timeout=10):
        return next(self.ways).get(self.query, timeout=timeout)

    def post(self, *packets, **headers):
        body = packets[0] if isinstance(packets[0], bytes) else "\x1e".join(packets)
        return next(self.ways).post(self.query, content=body, headers=TEXT | headers)

    def joins(self, topic):
        self.enters()
        self.says('421["subscribe",{"topic":"%s"}]' % topic)
        [answer] = self.hears()
        return json.loads(answer[3:])[0]


def polls(held, session, way):
    """A poll that the node has passed on, and that its session's node holds; what it will be answered."""
    before = hops(session.home, "in")
    poll = held(session.get)
    eventually(lambda: way.metric("switchboard_hops_waiting") == 1 and hops(session.home, "in") > before)
    return poll


def knows_secret(*gateways):
    """Ids of sessions are known elsewhere once both nodes have the secret that Redis keeps."""
    def known():
        for home, way in itertools.permutations(gateways, 2):
            with Wanderer(home, way) as session:
                if session.post("40").status_code != 200:
                    return False
                session.get()
                session.post("1")
        return True
    eventually(known, 10, "the secret of the nodes")


def hops(node, way="out"):
    return node.metric("switchboard_hops_total", way=way)
