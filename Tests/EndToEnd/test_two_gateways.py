"""Two gateways, one Redis: whatever is published on either arrives on both, also by Sentinels and on a Cluster."""

import pytest


# One server is shared with other tests; the others are of this file.
ANY_REDIS = pytest.mark.parametrize("pair", ["shared_server", "group", "cluster"], indirect=True)


@pytest.fixture
def pair(request, gateway):
    redis = request.getfixturevalue(getattr(request, "param", "shared_server"))
    return gateway(server=redis), gateway(server=redis)


@pytest.mark.parametrize("publisher", [0, 1])
def test_published_on_one_received_on_both(pair, topic, publisher):
    with pair[0].client() as one, pair[1].client() as two:
        assert one.subscribe(topic)["epoch"] == two.subscribe(topic)["epoch"]
        position = pair[publisher].publish(topic, "e", {"n": 1})
        for client in (one, two):
            client.expect("e", topic=topic, data={"n": 1}, offset=position["offset"])
            client.expect_nothing()


@ANY_REDIS
def test_one_order_for_everybody(pair, topic):
    """Both gateways publish at once; all subscribers see the same order."""
    with pair[0].client() as one, pair[1].client() as two, pair[0].http() as left, pair[1].http() as right:
        one.subscribe(topic)
        two.subscribe(topic)
        for number in range(50):
            for side, http in (("left", left), ("right", right)):
                body = {"topic": topic, "event": "e", "data": {"side": side, "n": number}}
                assert http.post("/v1/broadcast", json=body).status_code == 200
        assert [one.expect("e", offset=n) for n in range(1, 101)] == [two.expect("e", offset=n) for n in range(1, 101)]


def test_retry_on_the_other_gateway_stores_once(pair, topic):
    with pair[1].client() as client:
        client.subscribe(topic)
        first = pair[0].publish(topic, "e", {}, id="op-1")
        again = pair[1].publish(topic, "e", {}, id="op-1")
        assert (first["epoch"], first["offset"]) == (again["epoch"], again["offset"])
        client.expect("e", offset=1)
        client.expect_nothing()


@ANY_REDIS
def test_return_to_the_other_gateway(pair, topic):
    with pair[0].client() as client:
        epoch = client.subscribe(topic)["epoch"]
    for _ in range(5):
        pair[0].publish(topic, "e", {})
    with pair[1].client() as client:
        assert client.subscribe(topic, {"epoch": epoch, "offset": 0})["recovered"] is True
        for offset in range(1, 6):
            client.expect("e", offset=offset)


def test_subscribers_are_counted_on_both(pair, topic):
    with pair[0].client() as one, pair[1].client() as two, pair[0].http() as http:
        one.subscribe(topic)
        two.subscribe(topic)
        assert http.get(f"/v1/topics/{topic}").json()["subscribers"] == {"sessions": 1, "nodes": 2}


def test_several_shards_serve_one_topic(gateway, topic):
    gw = gateway("--shards", "4")
    clients = [gw.client() for _ in range(24)]
    try:
        for client in clients:
            client.subscribe(topic)
        gw.publish(topic, "e", {})
        for client in clients:
            client.expect("e", offset=1)
            client.expect_nothing()
    finally:
        for client in clients:
            client.close()
