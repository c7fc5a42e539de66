"""Where an order stands, as who joins late is told."""

import json

import pytest

TOPIC = "order:7"
KEYS = [f"{TOPIC}#log", f"{TOPIC}#meta"]


def state(scripts):
    text = scripts.state("order", KEYS, pack="orders")
    return text and json.loads(text)


def test_the_newest_event_with_a_status_is_the_state(scripts):
    assert not state(scripts)
    scripts.publish(topic=TOPIC, event="webhook_image_processed", data='{"image_id":"1"}')
    assert state(scripts) == {"event": "webhook_image_processed", "payload": {"image_id": "1"}}
    scripts.publish(topic=TOPIC, event="processing_started", data='{"status":"processing"}')
    for number in range(19):
        scripts.publish(topic=TOPIC, event="webhook_image_processed", data=json.dumps({"image_id": number}))
    assert state(scripts) == {"event": "processing_started", "payload": {"status": "processing"}}
    scripts.publish(topic=TOPIC, event="webhook_image_processed", data='{"image_id":"last"}')
    assert state(scripts)["payload"] == {"image_id": "last"}, "older ones are not looked at"


def test_long_events_are_not_all_parsed(scripts):
    """Twenty events of 64 KiB took Redis 37 ms for each join."""
    def publish(event, **data):
        scripts.publish(topic=TOPIC, event=event, data=json.dumps(data))

    publish("first", status="queued")
    publish("long", values=[1] * 20_000, status="ready")
    assert state(scripts)["event"] == "long"
    publish("image", image_id=1)
    assert state(scripts)["event"] == "long", "the words of a long payload are looked at"
    for number in range(2):
        publish("image", values=[1] * 16_000, about={"status": number})
    assert state(scripts)["event"] == "image", "older events are read only as far as 64 KiB"


@pytest.mark.parametrize("entry", [{"e": "x y", "d": "{}"}, {"e": "x", "d": "[1]"}, {"e": "x", "d": "no json"},
                                   {"x": "y"}, {"e": "x", "d": "{" + '"a":1,' * 20_000 + '"b":2}'}])
def test_what_others_wrote_into_the_log_is_no_state(scripts, db, entry):
    scripts.publish(topic=TOPIC, event="a", data='{"status":"good"}')
    db.xadd(KEYS[0], entry)
    assert state(scripts) == {"event": "a", "payload": {"status": "good"}}


def test_a_log_of_another_type_is_no_state(scripts, db):
    scripts.subscribe(topic=TOPIC)
    db.set(KEYS[0], "x")
    assert not state_or_error(scripts)


def state_or_error(scripts):
    """The join itself is refused for such a log; the state has no part in it."""
    try:
        return state(scripts)
    except Exception as error:
        assert "BADKEY" in str(error), error
