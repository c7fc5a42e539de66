"""Dead letters over HTTP: what was given up is read in pages, tried again and dropped, by services alone."""

import hashlib
import json

import pytest

from Fixtures.clients.tokens import sign
from Fixtures.outside.courier import Courier

PATH = "/v1/dead-letters"
CALL = {"i": "0" * 32, "r": '{"q":"a"}', "c": "found", "a": '{"roomId":"7"}'}


@pytest.fixture
def courier(db, request):
    """A courier of a service of the test's own."""
    one = Courier(db, "dead-" + hashlib.sha256(request.node.name.encode()).hexdigest()[:12])
    one.join()
    yield one
    db.delete(one.calls, one.dead)


@pytest.fixture
def http(gw):
    with gw.http() as http:
        yield http


def read(http, service, **more):
    answer = http.get(PATH, params={"service": service, **more})
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_a_call_that_was_given_up_is_seen_and_made_again(http, courier, db):
    db.xadd(courier.calls, CALL)
    answers = db.xlen("#outbox:next")
    (call,) = courier.claim()
    assert courier.finish(*call, reason="status 500")
    told = read(http, courier.service)
    (letter,) = told["deadLetters"]
    assert told["next"] is None and letter.pop("timestamp").endswith("Z")
    assert letter == {"id": letter["id"], "reason": "status 500", "callId": CALL["i"], "command": "found",
                      "request": {"q": "a"}, "arguments": {"roomId": "7"}}
    answer = http.post(PATH + "/retry", params={"service": courier.service, "id": letter["id"]})
    assert (answer.status_code, answer.json()) == (200, {"retried": 1, "gone": 0, "next": None})
    # The courier gets it as it was, under the id by which the service can tell a repetition.
    ((_, again),) = courier.claim()
    assert again == call[1]
    assert read(http, courier.service)["deadLetters"] == []
    for method, path in (("POST", PATH + "/retry"), ("DELETE", PATH)):
        answer = http.request(method, path, params={"service": courier.service, "id": letter["id"]})
        assert (answer.status_code, answer.json()["error"]["code"]) == (404, "not_found")
    assert db.xlen("#outbox:next") == answers + 1
    db.xtrim("#outbox:next", maxlen=0)


def test_letters_come_in_pages_and_are_retried_and_dropped_by_page_or_all(http, courier, db):
    ids = [f"{number}-0" for number in range(1, 8)]
    for id in ids:
        db.xadd(courier.dead, {"id": "9-9", "reason": "x", **CALL} if id != "3-0" else {"what": "nonsense"}, id=id)
    seen, after = [], {}
    while True:
        page = read(http, courier.service, limit=3, **after)
        seen += [letter["id"] for letter in page["deadLetters"]]
        if page["next"] is None:
            break
        after = {"after": page["next"]}
    assert seen == ids
    answer = http.post(PATH + "/retry", params={"service": courier.service, "limit": 4}).json()
    assert answer == {"retried": 3, "gone": 1, "next": "4-0"} and db.xlen(courier.calls) == 3
    assert http.delete(PATH, params={"service": courier.service, "id": "5-0"}).json() == {"dropped": 1}
    assert [letter["id"] for letter in read(http, courier.service)["deadLetters"]] == ["3-0", "6-0", "7-0"]
    assert http.delete(PATH, params={"service": courier.service}).json() == {"dropped": 3}
    assert http.delete(PATH, params={"service": courier.service}).json() == {"dropped": 0}


def test_no_more_calls_wait_than_may(gateway, courier, db):
    there = gateway("--shards", "1", limits={"callsMax": 2})
    for number in range(3):
        db.xadd(courier.dead, {"id": "9-9", "reason": "x", **CALL}, id=f"{number + 1}-0")
    with there.http() as http:
        answer = http.post(PATH + "/retry", params={"service": courier.service})
        assert answer.json() == {"retried": 2, "gone": 0, "next": "2-0"}
        answer = http.post(PATH + "/retry", params={"service": courier.service, "after": "2-0"})
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
        assert "is a courier running?" in answer.json()["error"]["message"]
    assert db.xlen(courier.dead) == 1


def test_letters_that_nobody_of_ours_wrote_are_told_as_text(http, courier, db):
    """They become neither a fault of the gateway's nor members of its answer."""
    db.xadd(courier.dead, {"r": '{"a":1},"b":{', "a": '[1]', "reason": b'\xff"\x00', "c": "x" * 300_000}, id="1-0")
    db.xadd(courier.dead, {"r": "{" * 500, "i": "{}"}, id="2-0")
    first = http.get(PATH, params={"service": courier.service})
    letter, = json.loads(first.content)["deadLetters"]
    assert letter["request"] == '{"a":1},"b":{' and letter["arguments"] == "[1]" and letter["callId"] is None
    assert letter["reason"] == '\ufffd"\x00' and first.json()["next"] == "1-0", "one large letter is a page"
    (second,) = read(http, courier.service, after="1-0")["deadLetters"]
    assert (second["request"], second["callId"]) == ("{" * 500, "{}")
    # A receiver's letter whose place is nonsense goes nowhere.
    box = "#webhook-dead:" + courier.service
    for id in ("", "order:7:e:0", "order:7:e:x", "order:7", "order:7::1", "order:7:" + "e" * 65 + ":1"):
        db.xadd(box, {"id": id, "topic": "order:7", "reason": "x", "e": "a", "d": "{}"})
    db.xadd(box, {"id": "x:e:1", "topic": "a#b", "reason": "x"})
    answer = http.post(PATH + "/retry", params={"service": "webhooks:" + courier.service}).json()
    assert answer == {"retried": 0, "gone": 7, "next": None}
    assert http.delete(PATH, params={"service": "webhooks:" + courier.service}).json() == {"dropped": 7}


def test_only_services_of_every_topic_may_ask(gw, token, secret):
    asked = {"params": {"service": "spotify"}}
    callers = {None: 401, token("u1"): 403, token("u1", topics=["order:*"]): 403,
               sign(secret, "backend", role="service", topics=["order:*"]): 403,
               sign(secret, "backend", role="service"): 200}
    with gw.http(key=None) as http:
        for bearer, status in callers.items():
            headers = {"authorization": f"Bearer {bearer}"} if bearer else {}
            for method, path in (("GET", PATH), ("DELETE", PATH), ("POST", PATH + "/retry")):
                assert http.request(method, path, headers=headers, **asked).status_code == status, (method, bearer)


@pytest.mark.parametrize("query", [
    "", "service=", "service=Spotify", "service=a%23b", "service=a:b", "service=webhooks:", "service=webhooks:a:b",
    "service=../x", "service=" + "a" * 33, "service=a&service=b", "service=%ff", "service=a&id=1", "service=a&id=-",
    "service=a&id=(1-0", "service=a&id=1-0-0", "service=a&id=" + "9" * 16 + "-0", "service=a&after=%2B",
    "service=a&limit=0", "service=a&limit=101", "service=a&limit=x", "service=a&idd=1-0", "receiver=a"])
def test_what_is_malformed_is_refused_with_a_sentence(http, query):
    answer = http.get(f"{PATH}?{query}")
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "bad_request"), answer.text


def test_a_misspelt_id_does_not_drop_all(http, courier, db):
    db.xadd(courier.dead, CALL, id="1-0")
    for more in ({"ID": "1-0"}, {"after": "0-0"}, {"limit": "1"}):
        assert http.delete(PATH, params={"service": courier.service, **more}).status_code == 400
    assert http.put(PATH, params={"service": courier.service}).status_code == 405
    assert http.request("DELETE", PATH, params={"service": courier.service}, content=b"{}").status_code == 400
    assert db.xlen(courier.dead) == 1
