"""Users with phones, as services see them."""

import time
import uuid

PACKS = ("--packs", "push,messaging")


def age_calls(db):
    """Makes what a dead courier has in hand a minute old, after which another one takes it over."""
    for entry in db.xpending_range("#calls:apns", "couriers", "-", "+", 4_000):
        db.xclaim("#calls:apns", "couriers", entry["consumer"], 0, [entry["message_id"]], idle=61_000, justid=True)


class Person:
    """A user with phones, as services see them."""

    def __init__(self, http, db, phones=1, **device):
        self.http, self.db = http, db
        self.id = "u-" + uuid.uuid4().hex[:10]
        self.tokens = [uuid.uuid4().hex * 2 for _ in range(phones)]
        for number, token in enumerate(self.tokens):
            self.register(number, token=token, **device)

    def register(self, number=0, **device):
        answer = self.http.put(f"/v1/users/{self.id}/devices/phone-{number}", json=device)
        assert answer.status_code == 200, answer.text

    def notify(self, title="Ready", type="booking", **more):
        answer = self.http.post(f"/v1/users/{self.id}/notifications",
                                json={"type": type, "title": title, "body": "Come in", **more})
        assert answer.status_code == 200, answer.text
        return "n:" + answer.json()["id"]

    def read(self, *names):
        answer = self.http.post(f"/v1/users/{self.id}/notifications/read",
                                json={"userId": self.id, "ids": [name[2:] for name in names]})
        assert answer.status_code == 200, answer.text

    def prefer(self, **preferences):
        answer = self.http.put(f"/v1/users/{self.id}/push", json=preferences)
        assert answer.status_code == 200, answer.text

    def key(self, facet):
        return f"user:{self.id}#{facet}"

    def waiting(self):
        """What waits, by the time from which it may go."""
        return {name.decode(): score for name, score in self.db.zrange(self.key("pushes"), 0, -1, withscores=True)}

    def is_settled(self):
        """Whether nothing is on its way, or due but at rest."""
        call = self.db.get(self.key("push_call"))
        is_due = any(score <= time.time() * 1_000 for score in self.waiting().values())
        return call == b"rest" or call is None and not is_due

    def devices(self):
        return {id.decode() for id in self.db.hkeys(self.key("devices"))}
