"""Whoever may PUBLISH on a topic's channel may claim any position. It costs a read of the log, once."""

import pytest

HUGE = 2**53 - 1


def log_reads(seen, topic):
    """How often the log was read to repair the topic's feed."""
    return sum(1 for words in seen.commands if f"{topic}#log" in words and "oldest" in words)


@pytest.mark.parametrize("epoch, offset", [
    (None, HUGE), (None, 2**63 - 1), (None, 1_000), (None, 3), ("other", 1), ("other", HUGE)])
def test_a_forged_position_is_read_for_once(gw, db, topic, watch, epoch, offset):
    """A position beyond the log made every shard with members ask again at each round trip, for ever."""
    with gw.client() as client:
        joined = client.subscribe(topic)
        with watch() as seen:
            db.publish(topic, f"P{epoch or joined['epoch']} {offset} forged -\n{{}}")
            # As many round trips as would show a repetition; what members are told is as if nothing had been forged.
            for number in range(1, 41):
                gw.publish(topic, "honest", {"n": number})
                client.expect("honest", topic=topic, offset=number, data={"n": number})
        assert log_reads(seen, topic) <= 2
        client.expect_nothing()


def test_many_forged_positions_cost_at_most_a_read_each(gw, db, topic, watch):
    """The cost of lies grows with the lies, not with time."""
    with gw.client() as client:
        epoch = client.subscribe(topic)["epoch"]
        with watch() as seen:
            for number in range(20):
                db.publish(topic, f"P{epoch} {HUGE - number} forged -\n{{}}")
            for number in range(1, 81):
                gw.publish(topic, "honest", {"n": number})
                client.expect("honest", topic=topic, offset=number, data={"n": number})
        assert log_reads(seen, topic) <= 22
        client.expect_nothing()
