"""Apps that walk through a city of listeners over gateways: HTTP for their calls, a WebSocket for what they hear."""

import time

from Fixtures.clients.certificates import write_certificate
from Fixtures.clients.tokens import SECRET, sign
from Fixtures.processes.gateway import Gateway
from Fixtures.processes.worker import Worker
from Fixtures.waiting import eventually

PACKS = ("--packs", "nearby")
MOVES = 8
ERASURE_SECONDS = 1
SETTINGS = [("everyone", 0), ("everyone", 1_000), ("nobody", 0), ("everyone", 100)]


class App:
    """One installation of a listener's app."""

    def __init__(self, gateway, user):
        self.user = user
        token = sign(SECRET, user)
        self.http = gateway.http(key=None)
        self.http.headers["Authorization"] = f"Bearer {token}"
        self.socket = gateway.client(token=token)
        self.socket.subscribe(f"user:{user}")
        self.expected = []

    def put(self, path, **body):
        response = self.http.put(path, json=body)
        assert response.status_code == 200, response.text
        return response.json()

    def heard(self):
        """What the socket has heard of what it was to hear."""
        messages = [self.socket.receive() for _ in self.expected]
        self.socket.expect_nothing()
        return [(self.user, message["event"], message["data"]) for message in messages]

    def close(self):
        self.socket.close()
        self.http.close()


def walk_apps(walk, server, directory, count, figures):
    """Lets apps walk and erase themselves. Problems go to `walk`; returns the nodes' logs."""
    forget_refusals(walk)
    certificate = write_certificate(directory)
    gateways = [Gateway(directory / f"gateway-{number}", server.url, certificate, SECRET, *PACKS).start()
                for number in range(2)]
    worker = Worker(directory / "worker", server.url, *PACKS).start()
    apps = []
    try:
        for gateway in gateways:
            gateway.wait_ready()
        apps += [App(gateways[number % 2], f"app-{number}") for number in range(count)]
        by_user = {app.user: app for app in apps}
        for step in range(MOVES * count):
            app = apps[step % count]
            visible, rounding = SETTINGS[step % count % len(SETTINGS)]
            if step < count:
                app.put("/v1/privacy", visible=visible, rounding=rounding)
            # All to and fro over one street, so that they meet each other.
            spot = walk.rng.choice([-40, 40]) + walk.rng.uniform(-5, 5), walk.rng.uniform(-5, 5)
            place, chosen, events = walk.expect(app.user, spot, visible, rounding)
            answer = app.put("/v1/location", latitude=place[0], longitude=place[1])
            walk.judge_answer(app.user, answer, chosen)
            walk.judge(app.user, events)
            for viewer, *event in events:
                if viewer in by_user:
                    by_user[viewer].expected.append((viewer, *event))
        figures["told to apps"] = sum(len(app.expected) for app in apps)
        for app in apps:
            heard = [(user, event, data["id"]) for user, event, data in app.heard()]
            # One call tells in no order of its own; all calls do.
            if sorted(heard) != sorted(one[:3] for one in app.expected):
                walk.problems.append(f"the socket of {app.user} heard {heard}, not {app.expected}")
        figures["erased within ms"] = max(erase(walk, server, app) for app in apps)
        return [node.log_text for node in (*gateways, worker)]
    finally:
        for app in apps:
            app.close()
        for node in (*gateways, worker):
            node.stop()


def forget_refusals(walk):
    """Ends all blocks and mutes: a worker that starts has those in them decided anew, in an order of its own."""
    walk.city.blocks.clear()
    walk.city.mutes.clear()
    for kind in ("blocks", "blockers", "mutes", "muters"):
        names = list(walk.db.scan_iter(f"user:*#{kind}", count=100_000))
        if names:
            walk.db.delete(*names)


def erase(walk, server, app):
    """Erases the user of an app; milliseconds until no key names it."""
    with server.client() as db:
        cells = list(db.scan_iter("cell:*#slots", count=100_000))
        begun = time.monotonic()
        assert app.http.delete(f"/v1/users/{app.user}/data").status_code == 202

        def is_gone():
            return not any(db.hexists(cell, app.user) for cell in cells) and not db.exists(
                f"user:{app.user}#place", f"user:{app.user}#listener")
        eventually(is_gone, 10, "erasure")
        spent = (time.monotonic() - begun) * 1_000
    if spent > ERASURE_SECONDS * 1_000:
        walk.problems.append(f"{app.user} was erased after {spent:.0f} ms")
    walk.judge(app.user, walk.city.remove(app.user))
    walk.erased.add(app.user)
    return round(spent)
