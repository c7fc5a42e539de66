"""GET /v1/topics/...: where a topic stands, and its log."""

import pytest

from Fixtures.processes.gateway import error_code


@pytest.fixture
def http(gw):
    with gw.http() as http:
        yield http


def test_topic_that_nobody_knows(http, db, topic):
    answer = http.get(f"/v1/topics/{topic}").json()
    assert (answer["topic"], answer["epoch"], answer["offset"], answer["state"]) == (topic, None, 0, None)
    assert answer["subscribers"]["sessions"] == 0
    assert db.keys(topic + "*") == [], "looking creates nothing"


def test_topic_with_events_subscribers_and_state(gw, http, db, topic):
    db.set("queue:" + topic.split(":")[1], '{"waiting":2}', ex=60)
    position = gw.publish(topic)
    with gw.client() as client:
        client.subscribe(topic)
        answer = http.get(f"/v1/topics/{topic}").json()
    assert (answer["epoch"], answer["offset"]) == (position["epoch"], 1)
    assert answer["subscribers"] == {"sessions": 1, "nodes": 1} and answer["state"] == {"waiting": 2}


def test_history_pages(gw, http, topic):
    for number in range(1, 8):
        gw.publish(topic, "e", {"n": number}, **({"id": "op-7"} if number == 7 else {}))
    whole = http.get(f"/v1/topics/{topic}/events").json()
    assert (whole["offset"], whole["first"], len(whole["events"])) == (7, 1, 7)
    assert whole["events"][0] == {"event": "e", "offset": 1, "data": {"n": 1}}
    assert whole["events"][6] == {"event": "e", "offset": 7, "data": {"n": 7}, "id": "op-7"}
    page = http.get(f"/v1/topics/{topic}/events?after=2&limit=3").json()
    assert [event["offset"] for event in page["events"]] == [3, 4, 5]
    assert page["next"] == 5 and whole["next"] is None
    assert http.get(f"/v1/topics/{topic}/events?after=5").json()["next"] is None
    assert http.get(f"/v1/topics/{topic}/events?after=7").json()["events"] == []
    assert http.get(f"/v1/topics/{topic}/events?after=9223372036854775807").json()["events"] == []


def test_a_page_of_large_events_ends_and_goes_on(gateway, topic):
    """A page of 300 events of 64 kB kept Redis busy for 200 ms and did not fit into its reply."""
    gw = gateway(limits={"logPageBytesMax": 100_000})
    for number in range(10):
        gw.publish(topic, "e", {"n": number, "pad": "x" * 30_000})
    seen, after, pages = [], 0, 0
    with gw.http() as http:
        while after is not None:
            page = http.get(f"/v1/topics/{topic}/events?after={after}&limit=300").json()
            seen += [event["offset"] for event in page["events"]]
            after, pages = page["next"], pages + 1
    assert seen == list(range(1, 11)) and pages == 4


@pytest.mark.parametrize("query", [
    "after=-1", "after=x", "after=1.5", "after=", "after=1&after=2", "after=99999999999999999999", "limit=0",
    "limit=-1", "limit=x", "limit=100000", "after=%00",
])
def test_malformed_query(http, topic, query):
    response = http.get(f"/v1/topics/{topic}/events?{query}")
    assert response.status_code == 400 and error_code(response) == "bad_request"


def test_rights_of_reading_are_those_of_subscribing(gw, token, topics):
    order = topics("order")
    gw.publish(order, "e", {})
    with gw.http(key=None) as http:
        for path in (f"/v1/topics/{order}", f"/v1/topics/{order}/events"):
            def status(**headers):
                return http.get(path, headers=headers).status_code
            assert status() == 401
            assert status(authorization="Bearer x") == 401
            assert status(authorization="Bearer " + token("u1")) == 403
            assert status(authorization="Bearer " + token("u1", topics=[order])) == 200
            assert status(authorization="Bearer " + token("u1", topics=[order + "0"])) == 403
            assert status(authorization="Bearer " + token("b1", role="service")) == 200
        assert http.get("/v1/topics/nowhere:1").status_code == 404


@pytest.mark.parametrize("path", ["nocolon", "shop:", ":1", "Shop:1", "shop:a%20b", "shop:%00", "shop:a%2Fb",
                                  "shop:" + "x" * 201, "shop:a%23log"])
def test_malformed_topic(http, watch, path):
    with watch() as seen:
        response = http.get(f"/v1/topics/{path}")
        assert response.status_code in (400, 404)
    assert seen.on_behalf_of_clients() == []
