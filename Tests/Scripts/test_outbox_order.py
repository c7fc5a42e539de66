"""Calls of the outbox come in any order between payers, and the end is that of their arrival.

`ORDER_ROUNDS=n` makes n schedules of each scenario instead of a few.
"""

import os

import pytest

from Fixtures.scripts.command_scripts import Header
from Fixtures.scripts.lua_scripts import built_in
from Fixtures.scripts.order_scenes import SCENES
from Fixtures.scripts.outbox_order import PACKS, RELAY_LATER_MS, Road, differences, state_of

ROUNDS = int(os.environ.get("ORDER_ROUNDS", "6"))

#: Every command that is called through the outbox, with a scene in which calls of several payers for it meet.
CALLEES = {
    "list_conversation": "messages", "cut_log": "messages", "forget_preview": "messages", "list_again": "joins",
    "remove_member": "joins", "end_group": "joins", "notify": "bookings", "note_host": "listening",
    "beat_host": "listening",
    "change_walls": "walls",
    "show_presence": "presence", "erase_member": "erased", "erase_chats": "erased",
    "blocked_by": "walls", "pair_blocked": "walls", "muted_by": "walls", "erase_people": "erased",
    "forget_muted": "erased",
    "user_place": "visits", "beat_shop": "visits", "shop_blocks": "visits",
    "booking_changed": "bookings", "user_booking": "bookings",
    "user_pending": "bookings", "end_booking": "bookings", "user_challenge": "customer_erased",
    "forget_visitor": "customer_erased", "forget_booking": "customer_erased", "forget_score": "customer_erased",
    "forget_booking_topic": "customer_erased", "erase_barbershop": "customer_erased",
    "set_sees": "followers", "sync_listener": "followers", "drop_follower": "listener_erased",
    "erase_nearby": "listener_erased",
    "depart": "listening", "forget_listener": "listening", "note_blocks": "listening",
    "cut_events": "listening",
    "beat_guest": "guests", "withdraw_listener": "guests",
    "claim_token": "devices", "free_token": "devices", "drop_token": "devices", "call_pushes": "devices",
}


@pytest.fixture
def road(db):
    return Road(db)


def acted(road, scene):
    """A scene up to the moment at which its entries wait."""
    before, act = SCENES[scene]
    before(road)
    road.relay()
    road.refresh_all()
    road.called.clear()
    # An erasure knows older words by their time: people act after what the worker did before.
    road.now_ms, road.relay_ms = road.relay_ms, road.relay_ms + RELAY_LATER_MS
    act(road)
    return road.keep()


def test_every_command_of_the_outbox_has_a_scene():
    headers = [Header.read(path) for path in built_in("core", "orders", *PACKS)]
    assert {name for header in headers for name in header.calls} == set(CALLEES)
    assert set(CALLEES.values()) == set(SCENES)


@pytest.mark.parametrize("scene", sorted(SCENES))
def test_the_end_is_the_same_in_every_order(road, rng, scene):
    moment = acted(road, scene)
    road.relay()
    road.refresh_all()
    expected = state_of(road)
    for number in range(ROUNDS):
        road.back_to(moment)
        road.relay_shuffled(rng)
        road.refresh_all()
        assert differences(expected, state_of(road)) == [], f"round {number}"
    assert {name for name, place in CALLEES.items() if place == scene} <= road.called, "calls that the scene is for"
