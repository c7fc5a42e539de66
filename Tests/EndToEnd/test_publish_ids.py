"""The id of a publish belongs to its publisher, to what was published, and to the epoch in which it was logged."""

import json

import pytest

from Fixtures.processes.gateway import error_code


@pytest.fixture
def talk(topic, db):
    """A conversation whose members are u1 and u2."""
    talk = topic.replace("shop:", "conversation:")
    db.sadd(talk + "#members", "u1", "u2")
    return talk


def say(client, talk, text, id="op-1"):
    return client.request("publish", {"event": "message", "data": {"text": text}, "id": id}, topic=talk)


def logged(db, topic):
    return [json.loads(entry[1][b"d"]) for entry in db.xrange(topic + "#log")]


def test_two_members_who_choose_one_id_are_both_heard(gw, token, talk, db):
    """The second one was acked with the first one's offset, and his message existed nowhere."""
    with gw.client(token=token("u1")) as one, gw.client(token=token("u2")) as other:
        first, second = say(one, talk, "hello"), say(other, talk, "hi")
        again = say(other, talk, "hi")
    assert [answer["event"] for answer in (first, second, again)] == ["ack"] * 3
    assert [answer["data"]["offset"] for answer in (first, second, again)] == [1, 2, 2]
    assert logged(db, talk) == [{"text": "hello"}, {"text": "hi"}]


def test_an_id_used_for_another_message_is_a_conflict(gw, token, talk, db):
    """It was acked as if it had been published."""
    with gw.client(token=token("u1")) as client:
        say(client, talk, "hello")
        answer = say(client, talk, "goodbye")
        assert (answer["event"], answer["data"]["code"]) == ("error", "conflict"), answer
    assert logged(db, talk) == [{"text": "hello"}]


def test_a_service_and_a_user_do_not_share_ids(gw, token, talk, db):
    bearer = {"authorization": f"Bearer {token('backend', role='service')}"}
    with gw.client(token=token("u1")) as client, gw.http() as http, gw.http(key=None) as by_token:
        by_token.headers.update(bearer)
        say(client, talk, "hello")
        message = {"topic": talk, "event": "message", "data": {"text": "news"}, "id": "op-1"}
        answers = [http.post("/v1/broadcast", json=message).json() for _ in range(2)]
        other = by_token.post("/v1/broadcast", json=message).json()
    assert [answer["offset"] for answer in answers] == [2, 2] and answers[1]["duplicate"]
    assert other["offset"] == 3 and "duplicate" not in other, other
    assert len(logged(db, talk)) == 3


def test_http_tells_a_conflict_of_one_message_and_of_one_in_a_batch(gw, topic, db):
    """It was answered `"duplicate":true`, and the other data was lost."""
    def message(number, id="op-1"):
        return {"topic": topic, "event": "e", "data": {"n": number}, "id": id}
    with gw.http() as http:
        assert http.post("/v1/broadcast", json=message(1)).json()["offset"] == 1
        answer = http.post("/v1/broadcast", json=message(2))
        assert (answer.status_code, error_code(answer)) == (409, "conflict")
        results = http.post("/v1/broadcast", json={"messages": [
            message(3, "op-2"), message(1), message(4), message(5, "op-2"), message(3, "op-2")]}).json()["results"]
    assert results[0]["offset"] == 2 and "duplicate" not in results[0]
    assert results[1]["offset"] == 1 and results[1]["duplicate"]
    assert [result["error"]["code"] for result in results[2:4]] == ["conflict"] * 2
    assert results[4]["offset"] == 2 and results[4]["duplicate"]
    assert logged(db, topic) == [{"n": 1}, {"n": 3}]


def test_a_retry_whose_members_stand_in_another_order_is_a_retry(gw, topic):
    with gw.http() as http:
        texts = ['{"a":1,"b":{"c":2,"d":3}}', '{ "b": {"d":3, "c":2}, "a":1 }']
        answers = [http.post("/v1/broadcast", content=f'{{"topic":"{topic}","event":"e","data":{text},"id":"op"}}')
                   for text in texts]
    assert [answer.json()["offset"] for answer in answers] == [1, 1] and answers[1].json()["duplicate"]


@pytest.mark.parametrize("shape", ["one", "batch"])
def test_a_retry_after_the_epoch_ended_is_published_anew(gw, topic, db, shape):
    """It was acked as a duplicate in the dead epoch, and no log held the event."""
    messages = [{"topic": topic, "event": "e", "data": {"n": n}, "id": f"op-{n}"} for n in range(2)]
    with gw.http() as http:
        def publish():
            if shape == "one":
                return [http.post("/v1/broadcast", json=message).json() for message in messages]
            return http.post("/v1/broadcast", json={"messages": messages}).json()["results"]
        before = publish()
        db.delete(topic + "#meta", topic + "#log")
        after = publish()
    assert {answer["epoch"] for answer in after}.isdisjoint(answer["epoch"] for answer in before)
    assert [(answer["offset"], "duplicate" in answer) for answer in after] == [(1, False), (2, False)]
    assert logged(db, topic) == [{"n": 0}, {"n": 1}]
