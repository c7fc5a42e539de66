"""Socket.IO: connection state recovery, as clients of version 4.6 and later ask for it."""

import json

import pytest

from Fixtures.clients.socketio import WEBSOCKET, Wire
from Fixtures.waiting import eventually


def comes(gw, path=WEBSOCKET, **auth):
    """A connection that asks for recovery: the wire, its CONNECT answer, and the packets that came before it."""
    wire, before = Wire(gw, path), []
    wire.send_raw("40" + json.dumps({"recovery": True} | auth))
    while not (packet := wire.packet()).startswith("40{"):
        before.append(packet)
    return wire, json.loads(packet[len("40"):]), before


def told(wire):
    """The next packet, and the last argument of it, which clients keep as their offset."""
    packet = json.loads(wire.packet()[len("42"):])
    return packet, packet[-1]


def test_a_client_comes_back_to_another_node_as_if_it_had_not_gone(gateway, gw, token, topics):
    other, shop, secret = gateway(), topics("shop"), topics("conversation")
    mine = {"token": token("u1", topics=[secret])}
    eventually(lambda: "pid" in comes(other, **mine)[1], what="the secret of the nodes")
    wire, granted, _ = comes(gw, **mine)
    with wire:
        assert told(wire) == (["offset", "."], ".")
        for number, topic in enumerate((shop, secret)):
            wire.asks("", number, "subscribe", {"topic": topic})
            told(wire)
        gw.publish(shop, "e", {"n": 1})
        packet, offset = told(wire)
        assert packet[:2] == ["e", {"n": 1}] and shop in offset and secret in offset
    for number in (2, 3):
        gw.publish(shop, "e", {"n": number})
    gw.publish(secret, "said", {"n": 4})
    wire, back, missed = comes(other, pid=granted["pid"], offset=offset, **mine)
    with wire:
        assert back == granted, "the same sid and pid are what clients call recovered"
        heard = [json.loads(packet[len("42"):])[:2] for packet in missed]
        while len(heard) < 3:
            packet, offset = told(wire)
            heard += [packet[:2]] if packet[0] != "offset" else []
        assert sorted(heard, key=lambda event: event[1]["n"]) == [
            ["e", {"n": 2}], ["e", {"n": 3}], ["said", {"n": 4}]]
        other.publish(secret, "said", {"n": 5})
        while told(wire)[0][:2] != ["said", {"n": 5}]:
            pass


@pytest.mark.parametrize("change", ["pid", "user", "namespace", "rights", "log", "offset"])
def test_a_client_that_cannot_have_all_of_it_back_begins_anew(gw, db, token, topics, change):
    shop, secret = topics("shop"), topics("conversation")
    mine = {"token": token("u1", topics=[secret])}
    wire, granted, _ = comes(gw, **mine)
    with wire:
        told(wire)
        for number, topic in enumerate((shop, secret)):
            wire.asks("", number, "subscribe", {"topic": topic})
            offset = told(wire)[1]
        gw.publish(shop, "e", {"n": 1})
    pid = granted["pid"]
    if change == "pid":
        pid = pid[:-1] + ("A" if pid[-1] != "A" else "B")
    if change == "user":
        mine = {"token": token("u2", topics=[secret])}
    if change == "rights":
        mine = {"token": token("u1")}
    if change == "log":
        db.delete(f"{shop}#log")
        gw.publish(shop, "e", {"n": 2})
    if change == "offset":
        offset = "-"
    if change == "namespace":
        with Wire(gw) as wire:
            wire.send_raw("40/queue," + json.dumps({"recovery": True, "pid": pid, "offset": offset} | mine))
            assert json.loads(wire.packet()[len("40/queue,"):])["pid"] != pid
        return
    wire, back, _ = comes(gw, pid=pid, offset=offset, **mine)
    with wire:
        assert back["sid"] != granted["sid"] and back["pid"] != granted["pid"]
        while (packet := told(wire))[0][0] != "offset":
            pass
        assert packet[1] == "."
        gw.publish(shop, "e", {"n": 9})
        assert wire.asks("", 7, "ping") == {}
