"""A user's own topic follows others: their events come as events of the own topic, while the session lives."""

import itertools

import pytest

from Fixtures.waiting import eventually

_numbers = itertools.count(1)


@pytest.fixture
def user():
    return f"follower-{next(_numbers)}"


@pytest.fixture
def barber():
    return f"barber-{next(_numbers)}"


@pytest.fixture
def follows(db, gw):
    """Changes what a user follows the way the script does: the set, then the event on the own topic."""

    def change(user, *barbers):
        key = f"user:{user}#follows"
        with db.pipeline() as both:
            both.delete(key)
            if barbers:
                both.sadd(key, *(f"feed:{barber}" for barber in barbers))
            both.execute()
        gw.publish(f"user:{user}", "follows:changed", {})

    return change


def counted(gw, barber, number):
    """Waits until so many sessions are on a barber's feed."""
    with gw.http() as http:
        eventually(lambda: http.get(f"/v1/topics/feed:{barber}").json()["subscribers"]["sessions"] == number)


def test_a_followed_topics_events_come_on_the_own_topic(gw, token, user, barber, db):
    db.sadd(f"user:{user}#follows", f"feed:{barber}")
    with gw.client(token=token(user)) as client:
        client.subscribe(f"user:{user}")
        gw.publish(f"feed:{barber}", "feed:new_post", {"id": "p1"})
        message = client.expect("feed:new_post", topic=f"user:{user}", data={"id": "p1"})
        assert "offset" not in message, "it has no place in the own topic's log"
        client.expect_nothing()


def test_following_begins_and_ends_on_the_live_session(gw, token, user, barber, follows):
    with gw.client(token=token(user)) as client:
        client.subscribe(f"user:{user}")
        follows(user, barber)
        client.expect("follows:changed")
        counted(gw, barber, 1)
        gw.publish(f"feed:{barber}", "feed:new_post", {"id": "p1"})
        client.expect("feed:new_post", topic=f"user:{user}")
        follows(user)
        client.expect("follows:changed")
        counted(gw, barber, 0)
        gw.publish(f"feed:{barber}", "feed:new_post", {"id": "p2"})
        client.expect_nothing()


def test_every_session_of_the_user_gets_it_once(gw, token, user, barber, db):
    db.sadd(f"user:{user}#follows", f"feed:{barber}")
    with gw.client(token=token(user)) as one, gw.client(token=token(user)) as two:
        one.subscribe(f"user:{user}")
        two.subscribe(f"user:{user}")
        one.subscribe(f"user:{user}")
        gw.publish(f"feed:{barber}", "feed:new_post", {"id": "p1"})
        for client in (one, two):
            client.expect("feed:new_post", topic=f"user:{user}")
            client.expect_nothing()


def test_what_the_client_joined_itself_is_told_as_itself(gw, token, user, barber, db):
    db.sadd(f"user:{user}#follows", f"feed:{barber}")
    with gw.client(token=token(user)) as client:
        client.subscribe(f"user:{user}")
        client.subscribe(f"feed:{barber}")
        gw.publish(f"feed:{barber}", "feed:new_post", {"id": "p1"})
        client.expect("feed:new_post", topic=f"feed:{barber}", offset=1)
        client.expect_nothing()
        assert client.request("unsubscribe", {"topic": f"feed:{barber}"})["event"] == "unsubscribed"
        counted(gw, barber, 1)
        gw.publish(f"feed:{barber}", "feed:new_post", {"id": "p2"})
        client.expect("feed:new_post", topic=f"user:{user}")


def test_leaving_the_own_topic_leaves_what_it_follows(gw, token, user, barber, db):
    db.sadd(f"user:{user}#follows", f"feed:{barber}")
    with gw.client(token=token(user)) as client:
        client.subscribe(f"user:{user}")
        counted(gw, barber, 1)
        client.request("unsubscribe", {"topic": f"user:{user}"})
        counted(gw, barber, 0)
        client.subscribe(f"user:{user}")
        counted(gw, barber, 1)
    counted(gw, barber, 0)


def test_the_set_opens_nothing_the_user_could_not_open(gw, token, user, barber, db):
    """What others wrote into the set is data: no rights, no such topics, no topics at all."""
    db.sadd(f"user:{user}#follows", "order:7", "user:other", "nowhere:1", "garbage", b"\xff\n", f"user:{user}",
            f"feed:{barber}")
    with gw.client(token=token(user)) as client:
        client.subscribe(f"user:{user}")
        for topic in ("order:7", "user:other"):
            gw.publish(topic, "secret", {})
        gw.publish(f"user:{user}", "own", {})
        client.expect("own")
        gw.publish(f"feed:{barber}", "feed:new_post", {})
        client.expect("feed:new_post")
        client.expect_nothing()


def test_a_set_of_another_type_refuses_the_subscription(gw, token, user, db):
    db.set(f"user:{user}#follows", "text")
    with gw.client(token=token(user)) as client:
        client.refused("subscribe", {"topic": f"user:{user}"}, "internal")


def test_another_gateways_publish_arrives(gateway, token, user, barber, db):
    one, two = gateway(), gateway()
    db.sadd(f"user:{user}#follows", f"feed:{barber}")
    with one.client(token=token(user)) as client:
        client.subscribe(f"user:{user}")
        two.publish(f"feed:{barber}", "feed:new_post", {"id": "p1"})
        client.expect("feed:new_post", topic=f"user:{user}")
