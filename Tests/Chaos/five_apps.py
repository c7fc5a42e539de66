"""The five apps at once: each plays its own flow with its own clients' frames, and knows what must be true at the end.

What was answered is noted. When all is quiet, `problems` compares what the apps' clients show and what Redis has with
that.
"""

import threading
import time

import paths  # noqa: F401
import listening
from app_player import ANSWER_SECONDS, ANSWERED_SECONDS_MAX, Player, token_of
from Fixtures.clients.phoenix import Frames
from Fixtures.clients.socketio import Phone
from Fixtures.clients.tokens import SECRET, sign
from Fixtures.scripts.nearby_scripts import metres
from Fixtures.waiting import eventually

# Presence at a shop ends 90 s after the last check-in.
PRESENT_SECONDS = 40
NEXT = {"pending": ["confirmed", "cancelled"], "confirmed": ["in-progress", "no-show"], "in-progress": ["completed"]}


class Shop(Player):
    """A. The Cut Club: phones at the shop vote over Socket.IO, and the shop moves bookings through the queue."""

    name, shop, users, tracks = "barbershop", "s1", [f"u{number}" for number in range(6)], ["t0", "t1", "t2"]

    def begin(self):
        self.command("start_session", shopId=self.shop)
        self.command("set_barber", shopId=self.shop, barberId="b", active=True)
        self.present, self.ballots, self.bookings = {}, {}, {}
        for track in self.tracks:
            self._check_in("u0")
            self.command("add_track", shopId=self.shop, trackId=track, trackName=track, userId="u0")
            self.ballots["u0", track] = "up"
        self.follower = self.ear(f"dj:{self.shop}", f"shop:{self.shop}")
        self.phones = {user: self._phone(user) for user in self.users[:3]}

    def _phone(self, user):
        phone = Phone(self.rng.choice(self.world.gateways), namespaces=("/dj", "/queue"),
                      auth={"token": token_of(user)})
        for namespace in ("/dj", "/queue"):
            eventually(lambda namespace=namespace: "error" not in phone.call(
                "subscribe", {"shopId": self.shop}, namespace), 30, "a phone that listens")
        return phone

    def close(self):
        for phone in self.phones.values():
            phone.__exit__()
        super().close()

    def _check_in(self, user):
        if self.present.get(user, 0) < time.monotonic():
            self.command("check_in", shopId=self.shop, userId=user)
            self.present[user] = time.monotonic() + PRESENT_SECONDS

    def deed(self):
        self.vote() if self.rng.random() < 0.6 else self.book()

    def vote(self):
        user, track = self.rng.choice(self.users), self.rng.choice(self.tracks)
        choice = self.rng.choice(("up", "down", "none"))
        self._check_in(user)
        if user in self.phones:
            # As the app's own client sends it; the id makes it safe to repeat.
            body = {"trackId": track, "vote": choice, "id": f"{user}-{self.calls}"}

            def is_answered():
                told = self.phones[user].call("vote", body, "/dj", timeout=ANSWER_SECONDS)
                assert "error" not in told or told["error"]["code"] in ("unavailable", "rate_limited"), told
                self.repeated += "error" in told
                return "error" not in told
            eventually(is_answered, ANSWERED_SECONDS_MAX, "an answer to a vote")
            self.calls += 1
        else:
            self.command("vote", shopId=self.shop, trackId=track, userId=user, vote=choice)
        self.ballots[user, track] = choice

    def book(self):
        movable = [one for one, status in self.bookings.items() if status in NEXT]
        if len(movable) < 4 or self.rng.random() < 0.2:
            id = f"b{len(self.bookings)}"
            self.command("create_booking", shopId=self.shop, bookingId=id, userId=self.rng.choice(self.users))
            self.bookings[id] = "pending"
            return
        id = self.rng.choice(movable)
        status = self.rng.choice(NEXT[self.bookings[id]])
        more = {"barberId": "b"} if status == "in-progress" else {}
        self.command("move_booking", shopId=self.shop, bookingId=id, status=status, **more)
        self.bookings[id] = status

    def problems(self):
        # Whatever becomes of Redis, nobody's connection ends.
        self.found += [f"the connection of {user} ended: {phone.ended}"
                       for user, phone in self.phones.items() if phone.ended]
        tally = {track["trackId"]: track for track in self.command("dj", shopId=self.shop)["queue"]}
        for track in self.tracks:
            cast = [choice for (_, voted), choice in self.ballots.items() if voted == track]
            for choice, member in (("up", "upvotes"), ("down", "downvotes")):
                if tally[track][member] != cast.count(choice):
                    self.found.append(f"{track} has {tally[track][member]} {member}, {cast.count(choice)} were cast")
        waiting, shown = list(self.bookings.values()).count("confirmed"), {}

        def length(name, told):
            """The length that a client shows; behind a gap it asks."""
            return told["queueLength"] if name != "gap" else self.command("queue", shopId=self.shop)["queueLength"]

        def is_shown():
            """A worker reckons a queue a second after it changed."""
            for event in self.heard(self.follower):
                if event.get("topic") == f"shop:{self.shop}" and event["event"] in ("queue:update", "gap"):
                    shown["follower"] = length(event["event"], event["data"])
            for user, phone in self.phones.items():
                told = [event for event in phone.heard if event[0] == "/queue" and event[1] in ("queue:update", "gap")]
                shown[user] = length(*told[-1][1:3]) if told else None
            return set(shown.values()) == {waiting}
        try:
            eventually(is_shown, 20, "the queue")
        except AssertionError:
            self.found.append(f"{waiting} wait, and the queue is shown so: {shown}")
        return self.found


class QueueUp(Player):
    """B. Shared listening sessions: the users, sockets and judgement of listening.py."""

    name = "queueup"

    class User(listening.User):
        """A listener whose socket may find Redis away."""

        def listen(self):
            deadline = time.monotonic() + ANSWERED_SECONDS_MAX
            while True:
                try:
                    return super().listen()
                except AssertionError:
                    assert time.monotonic() < deadline

        def shown(self):
            """The picture; the app asks for the whole session after a gap, as it does at each start."""
            self.ear.send("ping", ref="end")
            while (message := self.ear.receive(ANSWER_SECONDS))["event"] != "pong":
                if message["event"] == "gap":
                    self.site.world.gaps.append((message["topic"], message["data"]["reason"]))
                    self.picture = listening.Picture(self.current())
                elif message["event"] in listening.EVENTS:
                    self.picture.take(message["event"], message["data"])
            return self.picture

    def begin(self):
        self.lock, self.opened = threading.Lock(), []
        self.addresses = [gateway.address("plain") for gateway in self.world.gateways]
        self.gateways = self.world.gateways
        codes = ["code-0", "code-1"]
        self.crowd = [self.User(self, number, self.rng.getrandbits(32), codes) for number in range(8)]
        self.minutes = {}
        for host, code in zip(self.crowd, codes, strict=False):
            status, answer = host.call("POST", "/sessions/create", {"join_code": code})
            assert status == 200, answer
            host.place = answer["session"]["id"]
            host.hosts.add(host.place)
            self.minutes[host.place] = listening.Minutes(self, host.place)
            host.listen()

    #: As listening.Site makes a client.
    client = listening.Site.client

    def deed(self):
        self.rng.choice(self.crowd).act()

    def close(self):
        for client in [*self.opened, *(one.client for one in self.minutes.values())]:
            client.close()
        super().close()

    def problems(self):
        figures, problems = listening.judge(self, self.crowd, self.minutes, 1)
        self.calls, self.repeated = figures["calls"], figures["repeated"] + figures["waits"] + figures["cut"]
        # A hole that was told is one of the failover's, and no silent one.
        told = [problem for problem in problems if problem == "the minutes have a hole"]
        self.world.gaps += [("session", "told") for _ in told]
        self.found += [problem for problem in problems if problem not in told]
        # No half change: each user is in the session that the own keys name, and in no other.
        with self.world.redis_client() as db:
            own = {user.id: db.hget(f"user:{user.id}#listening", "session") for user in self.crowd}
            for session in self.minutes:
                for user in self.crowd:
                    is_in = bool(db.hexists(f"session:{session}#people", user.id))
                    if is_in != (own[user.id] == session.encode()) or is_in != (user.place == session):
                        self.found.append(f"half a change: {user.id} is in {session}: {is_in}, and {own[user.id]}")
        return self.found


class Messaging(Player):
    """C. Messaging: two users with two devices each write, read and block in turn."""

    name, place, users = "messaging", "ann_bob", ("ann", "bob")

    def begin(self):
        topic = f"conversation:{self.place}"
        self.sent, self.marks = {}, {}
        self.devices = [self.ear(topic, user=user) for user in self.users for _ in range(2)]

    def deed(self):
        user = self.rng.choice(self.users)
        if self.sent and self.rng.random() < 0.2:
            body = {"upTo": self.rng.choice(list(self.sent)[-5:])}
            told = self.ask("POST", f"/v1/conversations/{self.place}/read", body, user)[1]
            if told["upToMs"] < self.marks.get(user, 0):
                self.found.append(f"the mark of {user} went back")
            self.marks[user] = told["upToMs"]
            return
        id = f"m{len(self.sent)}"
        told = self.ask("POST", f"/v1/conversations/{self.place}/messages", {"id": id, "text": f"text {id}"}, user)[1]
        self.sent[id] = told["timestampMs"]

    def problems(self):
        pages, before = [], None
        while True:
            query = f"?before={before}" if before is not None else ""
            page = self.ask("GET", f"/v1/conversations/{self.place}/messages{query}", user="ann")[1]
            pages += [message["id"] for message in page["messages"]]
            before = page["next"]
            if before is None:
                break
        wanted = sorted(self.sent, key=self.sent.get)
        if pages[::-1] != wanted:
            self.found.append(f"{len(wanted)} messages were answered, and the pages have {len(set(pages))}")
        for device in self.devices:
            events = self.heard(device)
            heard = [event["data"]["id"] for event in events if event["event"] == "message:added"]
            if heard != wanted and not any(event["event"] == "gap" for event in events):
                self.found.append(f"a device heard {len(heard)} messages of {len(wanted)}, or in another order")
        # Both sides' lists agree with the conversation.
        for user in self.users:
            lists = self.ask("GET", f"/v1/users/{user}/conversations", user=user)[1]["conversations"]
            shown = [one["lastMessage"] for one in lists if one["id"] == self.place]
            if wanted and shown != [f"text {wanted[-1]}"]:
                self.found.append(f"half a change: the list of {user} ends otherwise")
        return self.found


class Orders(Player):
    """D. Order events: Supabase's client in the app, with a token for its order, and a backend that posts."""

    name, order = "orders", "7001"

    def begin(self):
        self.count = 0
        token = sign(SECRET, "buyer", ttl=7_200, topics=[f"order:{self.order}"])
        self.frames = [Frames(self.rng.choice(self.world.gateways), token) for _ in range(2)]
        self.ears += self.frames
        for frames in self.frames:
            frames.join(f"realtime:order:{self.order}")
        self.follower = self.ear(f"order:{self.order}")

    def deed(self):
        payload = {"order_id": self.order, "status": "processing", "number": self.count}
        body = {"messages": [{"topic": f"order:{self.order}", "event": "processing_started", "payload": payload,
                              "id": f"order-{self.count}"}]}
        self.ask("POST", "/realtime/v1/api/broadcast", body)
        self.count += 1

    def problems(self):
        self._judge("the backend's client", [
            None if event["event"] == "gap" else event["data"]["number"] for event in self.heard(self.follower)
            if event["event"] in ("gap", "processing_started")])
        for frames in self.frames:
            frames.push(None, "end", "phoenix", "heartbeat", {})
            heard = []
            while (frame := frames.pull())[1] != "end":
                if frame[3] == "broadcast":
                    heard.append(frame[4]["payload"]["number"])
                elif frame[3] == "system" and frame[4].get("extension") == "gap":
                    heard.append(None)
            self._judge("Supabase's client", heard)
        return self.found

    def _judge(self, client: str, heard: list) -> None:
        """Whether the numbers follow each other but for gaps, which are None, and whether the last one came.

        A master that is killed may have told the last event and neither answered it nor handed it on. Then the backend
        sends it again, and it comes once more, behind the gap.
        """
        last, is_told = -1, False
        for number in heard:
            first = last if is_told else last + 1
            if number is not None and (number < first or number > last + 1 and not is_told):
                self.found.append(f"{client} heard {number} after {last}")
            last, is_told = (last, True) if number is None else (number, False)
        if last != self.count - 1 and not is_told:
            self.found.append(f"{client} heard events up to {last} of {self.count}")


class Nearby(Player):
    """E. Hearby: listeners of one street move, hide, go and come back."""

    name, street, pace = "nearby", (52.52, 13.4), 0.12

    def begin(self):
        self.users = [f"near{number}" for number in range(8)]
        # A place that was put, or kept, while its user was hidden is a rounded one.
        self.places, self.hidden, self.exact = {}, set(), set()
        for user in self.users:
            self.ask("PUT", "/v1/privacy", {"rounding": 0, "visible": "everyone"}, user)

    def deed(self):
        user, draw = self.rng.choice(self.users), self.rng.random()
        if draw < 0.1 and user in self.places:
            self.ask("DELETE", "/v1/location", user=user)
            del self.places[user]
        elif draw < 0.2:
            visible = "everyone" if user in self.hidden else "nobody"
            self.ask("PUT", "/v1/privacy", {"rounding": 0, "visible": visible}, user)
            (self.hidden.discard if visible == "everyone" else self.hidden.add)(user)
            self.exact.discard(user)
        else:
            # Over cells' borders, so that a move changes several of them.
            place = (self.street[0] + self.rng.uniform(-0.006, 0.006), self.street[1] + self.rng.uniform(-0.006, 0.006))
            self.ask("PUT", "/v1/location", {"latitude": place[0], "longitude": place[1]}, user)
            self.places[user] = place
            (self.exact.discard if user in self.hidden else self.exact.add)(user)

    def problems(self):
        for user, place in self.places.items():
            told = self.ask("GET", "/v1/nearby?radius=20000&limit=40", user=user)[1]["nearby"]
            shown = {one["id"]: one["distance"] for one in told}
            wanted = {other: metres(place, there) for other, there in self.places.items()
                      if other != user and other not in self.hidden}
            if shown.keys() != wanted.keys():
                self.found.append(f"half a change: {user} is shown {sorted(shown)}, not {sorted(wanted)}")
            elif user in self.exact and any(
                    abs(shown[other] - wanted[other]) > 3 for other in shown if other in self.exact):
                self.found.append(f"{user} is shown places of before")
        return self.found


PLAYERS = (Shop, QueueUp, Messaging, Orders, Nearby)
