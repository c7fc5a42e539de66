"""Push from the notification to the device: gateway, worker, courier, and a stand-in for APNs over HTTP/2."""

import datetime
import json
import time
import zoneinfo

import pytest

from Fixtures.apps.push_people import PACKS, Person, age_calls
from Fixtures.clients.tokens import SECRET
from Fixtures.outside.apns import Apns, refusal
from Fixtures.outside.server import Answer, OutsideServer
from Fixtures.processes.courier import CourierProcess
from Fixtures.processes.gateway import API_KEY, Gateway
from Fixtures.processes.worker import Worker
from Fixtures.waiting import eventually, pass_time

FAR_MS = 4_000_000_000_000


@pytest.fixture(scope="module")
def apple(tmp_path_factory, certificate):
    apns = Apns(tmp_path_factory.mktemp("apns"))
    with OutsideServer(certificate, apns) as server:
        apns.url = server.url
        apns.server = server
        yield apns
    assert apns.wrong == []


@pytest.fixture(scope="module")
def courier(tmp_path_factory, shared_server, certificate, apple):
    one = CourierProcess(tmp_path_factory.mktemp("courier"), shared_server.url, certificate, {},
                         *apple.flags(apple.url)).start()
    yield one
    one.stop()


@pytest.fixture(scope="module")
def gateway(tmp_path_factory, shared_server, certificate, courier):
    directory = tmp_path_factory.mktemp("push")
    node = Gateway(directory / "gateway", shared_server.url, certificate, SECRET, *PACKS,
                   limits={"userActionsPerSecond": 1_000})
    worker = Worker(directory / "worker", shared_server.url, *PACKS).start()
    yield node.start().wait_ready()
    worker.stop()
    node.stop()


@pytest.fixture(scope="module")
def http(gateway):
    with gateway.http(key=API_KEY) as client:
        yield client


@pytest.fixture
def person(http, db):
    return lambda *arguments, **more: Person(http, db, *arguments, **more)


def test_a_notification_reaches_every_device_of_a_user_who_is_away(apple, person):
    ann = person(2)
    name = ann.notify("Chair 2", data={"bookingId": "b1"})
    for token in ann.tokens:
        push = eventually(lambda token=token: apple.shown(token).get(name), 10, "the push")
        assert push.payload == {
            "aps": {"alert": {"title": "Chair 2", "body": "Come in"}, "badge": 1, "thread-id": "booking",
                    "sound": "default"},
            "id": name[2:], "type": "booking", "data": {"bookingId": "b1"}}
        assert push.priority == "10"
    eventually(lambda: ann.is_settled() and not ann.waiting(), what="nothing waits")
    assert [len(apple.to(token)) for token in ann.tokens] == [1, 1]


def test_the_badge_is_what_is_unread_on_all_devices(apple, person):
    ann = person()
    (token,) = ann.tokens
    names = []
    for badge in (1, 2):
        names.append(ann.notify(str(badge)))
        assert eventually(lambda: apple.shown(token).get(names[-1]), 10).badge == badge
    ann.read(names[0])
    names.append(ann.notify("again"))
    assert eventually(lambda: apple.shown(token).get(names[-1]), 10).badge == 2


def test_a_message_is_pushed_once_for_its_conversation(apple, person, http):
    ann, bob = person(), person()
    conversation = "_".join(sorted([ann.id, bob.id]))
    apple.plan[ann.tokens[0]] = [refusal(500, "InternalServerError")]

    def send(id, text):
        answer = http.post(f"/v1/conversations/{conversation}/messages",
                           json={"userId": bob.id, "id": id, "text": text})
        assert answer.status_code == 201, answer.text

    send("m1", "one")
    eventually(lambda: len(apple.to(ann.tokens[0])) == 1, 10, "the first try")
    send("m2", "two")
    push = eventually(lambda: apple.shown(ann.tokens[0]).get("c:" + conversation), 15, "the push")
    assert push.payload["aps"]["alert"] == {"body": "two"} and push.badge == 2
    assert push.payload["senderId"] == bob.id and push.payload["messageId"] == "m2"
    assert len(apple.shown(ann.tokens[0])) == 1 and apple.to(bob.tokens[0]) == []


def test_what_waited_is_not_pushed_once_its_sender_is_blocked(apple, person, http, db):
    """A message that quiet hours held came in the morning, from a user who had been blocked in the evening."""
    ann, bob = person(), person()
    conversation = "_".join(sorted([ann.id, bob.id]))
    answer = http.post(f"/v1/conversations/{conversation}/messages",
                       json={"userId": bob.id, "id": "m1", "text": "one"})
    assert answer.status_code == 201, answer.text
    eventually(lambda: apple.shown(ann.tokens[0]), 10, "the push")
    eventually(lambda: ann.is_settled() and not ann.waiting(), what="nothing waits")
    assert http.put(f"/v1/users/{ann.id}/blocks/{bob.id}").status_code == 200
    # As if it had been held until now.
    db.zadd(ann.key("pushes"), {"c:" + conversation: time.time() * 1_000})
    eventually(lambda: ann.waiting() == {}, 10, "it is dropped")
    assert len(apple.to(ann.tokens[0])) == 1


def test_failures_are_tried_again_on_those_devices_only(apple, person, courier):
    def sent():
        return courier.metric("switchboard_pushes_total", outcome="sent")
    before = sent()
    ann = person(3)
    kinds = [[refusal(503, "Shutdown")], [Answer(never=True)], []]
    for token, planned in zip(ann.tokens, kinds):
        apple.plan[token] = list(planned)
    name = ann.notify()
    for token in ann.tokens:
        eventually(lambda token=token: name in apple.shown(token), 40, "the push")
    eventually(ann.is_settled, 15, "the call is over")
    assert [len(apple.to(token)) for token in ann.tokens] == [2, 2, 1] and ann.waiting() == {}
    assert not ann.db.exists(ann.key("push_tries"))
    eventually(lambda: sent() == before + 3, 10, "each device counts once")


def test_what_is_newer_waits_for_what_got_no_answer(apple, person):
    ann = person(2)
    apple.plan[ann.tokens[0]] = [Answer(cut=True)]
    names = [ann.notify("first")]
    eventually(lambda: apple.to(ann.tokens[0]), 10, "the connection has ended")
    names.append(ann.notify("second"))
    for token in ann.tokens:
        eventually(lambda token=token: names[1] in apple.shown(token), 20, "both pushes")
        order = [push.collapse for push in apple.to(token)]
        assert order.index(names[0]) < order.index(names[1]) and names[0] in apple.shown(token)


def test_what_is_read_before_the_next_try_is_not_sent(apple, person):
    ann = person()
    (token,) = ann.tokens
    apple.plan[token] = [refusal(500, "InternalServerError")]
    name = ann.notify()
    eventually(lambda: apple.to(token) and ann.is_settled() and ann.waiting(), 10, "the first try has failed")
    ann.read(name)
    eventually(lambda: ann.waiting() == {}, 15, "the next try finds it read")
    assert len(apple.to(token)) == 1 and apple.shown(token) == {}


def test_a_dead_device_is_forgotten_unless_it_registered_since(apple, person):
    ann = person(4)
    apple.plan[ann.tokens[0]] = [refusal(410, "Unregistered", timestamp=FAR_MS)]
    apple.plan[ann.tokens[1]] = [refusal(400, "BadDeviceToken")]
    apple.plan[ann.tokens[2]] = [refusal(410, "Unregistered", timestamp=1_000)]
    name = ann.notify()
    eventually(lambda: all(name in apple.shown(token) for token in ann.tokens[2:]), 20, "the living have it")
    eventually(lambda: ann.devices() == {"phone-2", "phone-3"}, what="the dead are forgotten")
    for number, token in enumerate(ann.tokens[:2]):
        assert [push.status for push in apple.to(token)] == [410 if number == 0 else 400]


def test_a_device_that_is_told_too_much_rests_for_a_minute(apple, person):
    ann = person()
    apple.plan[ann.tokens[0]] = [refusal(429, "TooManyRequests", retry_after=90)]
    name = ann.notify()
    eventually(lambda: apple.to(ann.tokens[0]) and ann.is_settled() and ann.waiting(), 10, "the first try")
    assert 80_000 < ann.waiting()[name] - time.time() * 1_000 <= 90_000


def test_a_connected_user_gets_no_push(apple, person, gateway, token, db):
    ann = person()
    with gateway.client(token=token(ann.id)) as client:
        client.subscribe(f"user:{ann.id}")
        eventually(lambda: db.exists(ann.key("online")), what="a heartbeat")
        name = ann.notify()
        client.expect("notification")
        pass_time(1, "a push would be with APNs by now")
        assert apple.to(ann.tokens[0]) == [] and list(ann.waiting()) == [name]
        # As if it had been told long ago: heartbeats that came since show that the session has heard it.
        db.zadd(ann.key("pushes"), {name: time.time() * 1_000 - 60_000})
        eventually(lambda: ann.waiting() == {}, 10, "it is dropped")
    assert apple.to(ann.tokens[0]) == []


def test_quiet_hours_hold_or_silence_and_types_are_left_out(apple, person):
    zone = zoneinfo.ZoneInfo("Asia/Kathmandu")
    now = datetime.datetime.now(zone)
    end = (now + datetime.timedelta(hours=3)).replace(second=0, microsecond=0)
    hours = {"quietFrom": (now - datetime.timedelta(hours=1)).strftime("%H:%M"), "quietTo": end.strftime("%H:%M")}
    ann = person(timezone="Asia/Kathmandu")
    (token,) = ann.tokens
    ann.prefer(types={"feed": "off", "alarm": "urgent"}, **hours)
    held, off, urgent = ann.notify(), ann.notify(type="feed"), ann.notify(type="alarm")
    eventually(lambda: urgent in apple.shown(token), 10, "what is urgent")
    eventually(lambda: list(ann.waiting()) == [held], 10, "the rest is decided")
    assert ann.waiting()[held] == end.timestamp() * 1_000
    assert [push.collapse for push in apple.to(token)] == [urgent] and off not in ann.waiting()
    bob = person(timezone="Asia/Kathmandu")
    bob.prefer(quietMode="silent", **hours)
    push = eventually(lambda name=bob.notify(): apple.shown(bob.tokens[0]).get(name), 10, "without sound")
    assert push.priority == "5" and "sound" not in push.payload["aps"]


def test_nothing_is_lost_or_late_when_the_courier_is_killed(apple, person, courier, db):
    """Killed in the middle, twice. A call that a dead courier has is taken over once it has been idle for a minute."""
    people = [person(2) for _ in range(12)]
    seen, wanted = set(), {}

    def push_came(push):
        seen.add(push.token)

    apple.on_push = push_came
    before = len(apple.pushes)
    for one in people:
        wanted[one.id] = one.notify("first")
    for kill in (1, 2):
        eventually(lambda kill=kill: len(apple.pushes) >= before + 8 * kill, 20, "the courier is at work")
        courier.kill()
        age_calls(db)
        if kill == 1:
            for one in people[:4]:
                one.second = one.notify("second")
        courier.start()
    for one in people:
        for token in one.tokens:
            eventually(lambda one=one, token=token: wanted[one.id] in apple.shown(token), 40, "each at least once")
    for one in people[:4]:
        for token in one.tokens:
            eventually(lambda one=one, token=token: one.second in apple.shown(token), 20, "those of meanwhile too")
            order = [push.collapse for push in apple.to(token)]
            assert order.index(wanted[one.id]) < order.index(one.second)
    eventually(lambda: all(one.is_settled() and not one.waiting() for one in people), 20, "nothing waits")
    assert len(apple.provider_tokens) == 1, "a courier that starts makes no new provider token"


@pytest.mark.parametrize("flags, message", [
    (["--apns-key-id", "K"], "pushes need --apns-key-file and --apns-team and --apns-topic too"),
    (["--apns-key-file", "x.p8", "--apns-key-id", "K", "--apns-team", "T", "--apns-topic", "a b"],
     "a bundle id such as"),
    (["--apns-url", "http://push.example"], "https://"),
])
def test_settings_that_do_not_fit_are_told(tmp_path, certificate, shared_server, flags, message):
    process = CourierProcess(tmp_path, shared_server.url, certificate, {}, *flags)
    with pytest.raises(RuntimeError, match=message):
        process.start()


def test_a_key_that_is_none_is_told(tmp_path, certificate, shared_server, apple):
    (tmp_path / "rsa.p8").write_text("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n")
    flags = apple.flags(apple.url)
    flags[1] = str(tmp_path / "rsa.p8")
    process = CourierProcess(tmp_path, shared_server.url, certificate, {}, *flags)
    with pytest.raises(RuntimeError, match="--apns-key-file .*rsa.p8"):
        process.start()


def test_the_token_of_another_app_stops_nobody(apple, person):
    """A user may register any token. What APNs says of another app's kept everybody's pushes back for five minutes."""
    ann, bob = person(), person()
    apple.plan[ann.tokens[0]] = [refusal(400, "DeviceTokenNotForTopic")]
    ann.notify()
    eventually(lambda: apple.to(ann.tokens[0]) and ann.is_settled() and not ann.waiting(), 10, "the refusal")
    name = bob.notify()
    eventually(lambda: name in apple.shown(bob.tokens[0]), 10, "the push of another user")
    assert ann.devices()


def test_a_refused_provider_token_closes_the_lane_and_keeps_what_waits(tmp_path, apple, person, courier):
    """Only the operator can mend it. Pushes wait meanwhile, and no device is forgotten."""
    ann, bob = person(), person()
    apple.plan[ann.tokens[0]] = [refusal(403, "InvalidProviderToken")]
    name = ann.notify()
    eventually(lambda: apple.to(ann.tokens[0]) and ann.is_settled() and ann.waiting(), 10, "the refusal")
    assert ann.db.pttl(ann.key("push_call")) > 200_000 and ann.devices() and list(ann.waiting()) == [name]
    bob.notify()
    eventually(lambda: bob.is_settled() and bob.waiting(), 10, "the lane is closed")
    assert apple.to(bob.tokens[0]) == []
    assert any(json.loads(line)["message"] == "apns takes nothing for now" for line in courier.log_text.splitlines())
