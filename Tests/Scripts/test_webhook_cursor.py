"""The courier's step: a receiver's cursor goes from one epoch to the next, and nothing that was owed is passed over."""

import re
from pathlib import Path

import pytest

from Fixtures.scripts.lua_scripts import NOW_MS, Keys

COURIER = Path(__file__).resolve().parents[2] / "Sources/Courier/Running/CourierScripts.swift"
STEP = re.search(r'stepText = """\n(.*?)\n *"""', COURIER.read_text(), re.S)[1]
KEYS = Keys()
CURSOR, LEASE, PAST = "shop:42#hook#kitchen", "shop:42#hook-lease#kitchen", KEYS.log + "-past"
#: How long a cursor lives while events are owed.
OWED_MS = 2_678_400_000


class Courier:
    """What a courier does with one topic: `send` takes a page, and hands over as much of it as the receiver takes."""

    def __init__(self, db, since_ms=NOW_MS):
        self.script, self.since_ms, self.told = db.register_script(STEP), since_ms, []

    def step(self, done=("", ""), count=64):
        return self.script([CURSOR, LEASE, KEYS.meta, KEYS.log, PAST],
                           ["me", 30_000, *done, count, OWED_MS, self.since_ms])

    def page(self, done=("", ""), count=64):
        """epoch, done, last, offsets, before: nothing when no more is owed."""
        reply = self.step(done, count)
        if reply[0] == 2:
            return None
        _, epoch, done, last, entries, before, offset = reply
        return (epoch.decode(), done.decode(), int(last), [int(id.split(b"-")[0]) for id, _ in entries],
                (before.decode(), int(offset)) if before else None)

    def send(self, most=1_000, count=64):
        """Sends at most so many events and gaps, as `WebhookWork` has it; everything that was told so far."""
        page, last = self.page(count=count), None
        while page and most > 0:
            epoch, done, top, offsets, before = page
            first = offsets[0] if offsets else top + 1
            if before or first > int(done.replace("-", "0")) + 1:
                self.told.append((*(before or (epoch, int(done.replace("-", "0")))), "gap", epoch, first))
                last, most = (epoch, first - 1), most - 1
            for offset in offsets[:most]:
                self.told.append((epoch, offset))
                last, most = (epoch, offset), most - 1
            if most > 0:
                page = self.page((epoch, offsets[-1] if offsets else top), count)
            elif last:
                assert self.step(last, 0) == [1]
        return self.told


@pytest.fixture
def courier(db):
    return Courier(db)


def publish(scripts, count, epoch, **options):
    for _ in range(count):
        assert scripts.publish(epoch=epoch, **options)[0] == epoch


def test_the_rest_of_an_ended_epoch_is_sent_before_the_next(scripts, courier, db):
    """The cursor began the new epoch at 0, and 17 events of the old one were gone without a word."""
    publish(scripts, 20, "a")
    courier.send(most=3)
    publish(scripts, 2, "b", run="another")
    assert courier.send() == [*(("a", n) for n in range(1, 21)), ("a", 20, "gap", "b", 1), ("b", 1), ("b", 2)]
    assert courier.page() is None and db.pttl(KEYS.meta) + 60_000 >= db.pttl(CURSOR)
    assert db.pttl(PAST) <= 338_000, "the past log has no life of its own"


def test_an_epoch_that_begins_without_an_event_is_told_at_once(scripts, courier):
    publish(scripts, 3, "a")
    courier.send(most=2)
    scripts.reset_epoch()
    scripts.subscribe(epoch="b")
    assert courier.send() == [("a", 1), ("a", 2), ("a", 3), ("a", 3, "gap", "b", 1)]
    assert courier.page() is None
    publish(scripts, 1, "b")
    assert courier.send()[4:] == [("b", 1)]


def test_an_epoch_that_nobody_was_told_of_is_told_as_a_gap(scripts, courier, db):
    """Two ends between two steps: one past log is kept."""
    publish(scripts, 3, "a")
    courier.send(most=2)
    publish(scripts, 2, "b", run="second")
    publish(scripts, 1, "c", run="third")
    assert courier.send()[2:] == [("a", 2, "gap", "b", 1), ("b", 1), ("b", 2), ("b", 2, "gap", "c", 1), ("c", 1)]


def test_a_past_log_is_not_sent_twice(scripts, courier):
    """The epoch behind it ended without an event, so the past log is still that of the epoch before."""
    publish(scripts, 2, "a")
    scripts.subscribe(epoch="b", run="second")
    courier.send()
    scripts.subscribe(epoch="c", run="third")
    publish(scripts, 1, "c", run="third")
    assert courier.send()[2:] == [("a", 2, "gap", "b", 1), ("b", 0, "gap", "c", 1), ("c", 1)]


def test_a_topic_that_was_never_sent_is_owed_from_its_first_event(scripts, courier):
    publish(scripts, 2, "a")
    publish(scripts, 1, "b", run="another")
    assert courier.send() == [("a", 1), ("a", 2), ("a", 2, "gap", "b", 1), ("b", 1)]


def test_a_receiver_that_is_newer_than_the_end_of_an_epoch_is_owed_nothing_of_it(scripts, db):
    publish(scripts, 2, "a")
    publish(scripts, 1, "b", run="another")
    late = Courier(db, since_ms=NOW_MS + 1)
    assert late.page() == ("b", "-", 1, [1], None)


@pytest.mark.parametrize("begun", [True, False])
def test_a_log_that_ended_before_it_was_sent_is_told(scripts, courier, db, begun):
    """A topic without a cursor, whose receiver was away for longer than the log lived, was passed over in silence."""
    publish(scripts, 3, "a")
    if begun:
        courier.send(most=1)
    db.delete(KEYS.log)
    assert courier.send()[begun:] == [("a", int(begun), "gap", "a", 4)]
    assert courier.page() is None


def test_a_position_that_ended_before_its_events_were_sent_is_told(scripts, courier, db):
    publish(scripts, 3, "a")
    assert courier.page()[3] == [1, 2, 3], "which nobody takes"
    assert OWED_MS - 70_000 < db.pttl(CURSOR) <= OWED_MS
    db.delete(KEYS.log, KEYS.meta)
    assert courier.send() == [("a", 0, "gap", "a", 4)]
    assert courier.page() is None and not db.exists(CURSOR)


def test_nothing_is_told_of_a_position_that_ended_when_everything_was_sent(scripts, courier, db):
    publish(scripts, 3, "a")
    courier.send()
    db.delete(KEYS.log, KEYS.meta)
    assert courier.page() is None and not db.exists(CURSOR)


def test_a_namespace_without_a_log_has_no_webhooks(scripts, courier):
    publish(scripts, 3, "a", log_max=0)
    assert courier.page() is None


def test_epochs_that_ended_before_the_first_look_are_told(scripts, courier):
    publish(scripts, 2, "a")
    publish(scripts, 2, "b", run="second")
    publish(scripts, 1, "c", run="third")
    assert courier.send() == [("a", 0, "gap", "b", 1), ("b", 1), ("b", 2), ("b", 2, "gap", "c", 1), ("c", 1)]


def silent(published, epochs, told):
    """Published positions that were neither sent nor lie within a gap."""
    def place(epoch, offset):
        return epochs.index(epoch), offset

    left = set(published)
    for index, item in enumerate(told):
        if len(item) == 2:
            left.discard(item)
        else:
            start = place(*item[:2]) if index else (-1, 0)  # before its first event the receiver had none
            left = {each for each in left if not start < place(*each) < place(*item[3:])}
    return left


def test_a_courier_that_dies_at_any_point_passes_nothing_over(scripts, courier, db, rng):
    """Random ends of epochs, losses and pages, and couriers that die with a page in hand."""
    for _ in range(60):
        db.flushall()
        courier.told, published, epochs = [], [], []
        run = 0
        for number in range(rng.randrange(5, 25)):
            wanted = rng.choice(["publish", "publish", "send", "die", "end", "quiet end", "lose"])
            if wanted == "publish":
                got = scripts.publish(epoch=f"e{number}", run=f"r{run}", log_max=rng.choice([2, 99]))
                published.append(got[:2])
                epochs.append(got[0])
            elif wanted == "send":
                courier.send(most=rng.randrange(1, 4), count=rng.choice([1, 2, 64]))
            elif wanted == "die":
                courier.page()
                db.delete(LEASE)
            elif wanted == "lose":
                db.delete(rng.choice([KEYS.log, PAST]))
            else:
                run += 1
                if wanted == "quiet end":
                    epochs.append(scripts.subscribe(epoch=f"q{number}", run=f"r{run}").epoch)
        told = courier.send(count=2)
        assert courier.page() is None
        assert not silent(published, list(dict.fromkeys(epochs)), told), told
        if not any(len(item) == 5 for item in told):
            assert list(dict.fromkeys(told)) == published, "in order"
