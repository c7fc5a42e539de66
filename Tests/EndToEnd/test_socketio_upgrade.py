"""Socket.IO: a session that polls moves to a WebSocket."""

import threading

import pytest
from websockets.exceptions import InvalidStatus

from Fixtures.clients.socketio import Phone, Probe, Session
from Fixtures.waiting import eventually


def test_the_library_moves_to_a_websocket_under_traffic(gateway, topic, held):
    """Every event is published while sessions poll, try a WebSocket and move, and each comes once and in order."""
    gw = gateway("--shards", "4")
    stop = threading.Event()

    def publish():
        count = 0
        while not stop.is_set():
            count = gw.publish(topic, "queue:update", {"n": count})["offset"]
        return count

    with Phone(gw, transports=("polling",)) as witness:
        witness.call("subscribe", {"topic": topic})
        publishing = held(publish)
        phones = []
        try:
            for _ in range(6):
                phones.append(Phone(gw, transports=("polling", "websocket"), namespaces=["/queue"]))
                phones[-1].joined = phones[-1].call("subscribe", {"topic": topic}, "/queue")["offset"]
            eventually(lambda: len(witness.heard) > 50, 20, "traffic")
            stop.set()
            last = publishing.result()
            for phone in [*phones, witness]:
                eventually(lambda heard=phone.heard: heard and heard[-1][2]["n"] == last - 1, 10, "all events")
                numbers = [event[2]["n"] for event in phone.heard]
                assert numbers == list(range(numbers[0], last))
            for phone in phones:
                assert phone.transport == "websocket"
                assert phone.heard[0][2]["n"] <= phone.joined
        finally:
            stop.set()
            for phone in phones:
                phone.__exit__()


def test_a_session_moves_with_what_waits_for_it(gateway, topic, held):
    gw = gateway("--shards", "1")
    with Session(gw) as session:
        assert session.opening["upgrades"] == ["websocket"]
        session.enters()
        session.says('421["subscribe",{"topic":"%s"}]' % topic)
        assert session.hears()[0].startswith("431[")
        poll = held(session.get)
        with Probe(gw, session) as probe:
            assert poll.result().text == "6", "a held poll is released"
            probe.send_raw("2probe")
            assert probe.packet() == "3probe"
            assert session.get().text == "6", "and the next one as well"
            gw.publish(topic, "queue:update", {"n": 1})
            probe.send_raw("5")
            assert probe.packet() == '42["queue:update",{"n":1}]'
            gw.publish(topic, "queue:update", {"n": 2})
            assert probe.packet() == '42["queue:update",{"n":2}]'
            session.fault(session.get(), 1)
            session.fault(session.post("3"), 1)
            with pytest.raises(InvalidStatus) as refused:
                Probe(gw, session)
            assert refused.value.response.status_code == 400
            probe.send_raw('422["ping"]')
            assert probe.packet() == "432[{}]"
            eventually(lambda: gw.metric("switchboard_polling_sessions") == 0, what="the end of the polling")


@pytest.mark.parametrize("packets", [
    ["5"], ["2"], ["2other"], ["40"], [b"\x01"], ["2probe", "2probe"], ["2probe", "3"]])
def test_another_packet_ends_the_trial_and_the_session_goes_on(gateway, packets):
    gw = gateway("--shards", "1")
    with Session(gw) as session:
        session.enters()
        with Probe(gw, session) as probe:
            for packet in packets:
                probe.send_raw(packet)
            if packets[0] == "2probe":
                assert probe.packet() == "3probe"
            probe.ends(4400)
        session.says('421["ping"]')
        assert session.hears() == ["431[{}]"]
        with Probe(gw, session) as again:
            again.send_raw("2probe")
            assert again.packet() == "3probe"


def test_a_trial_has_a_deadline(gateway):
    gw = gateway("--shards", "1", limits={"authenticateMs": 500})
    with Session(gw) as session:
        session.enters()
        session.says('421["subscribe",{"topic":"shop:trial"}]')
        session.hears()
        with Probe(gw, session) as probe:
            with pytest.raises(InvalidStatus):
                Probe(gw, session)
            probe.ends(4408)
        session.says('422["ping"]')
        assert session.hears() == ["432[{}]"]


def test_pages_of_other_origins_move_nothing(gateway):
    gw = gateway("--shards", "1")
    with Session(gw) as session, pytest.raises(InvalidStatus) as refused:
        Probe(gw, session, headers=[("Origin", "https://elsewhere.example")])
    assert refused.value.response.status_code == 403


# A WebSocket comes to another shard than its session's


def test_a_websocket_goes_to_the_shard_of_its_session(gateway, topic):
    """Browsers open a WebSocket on a connection of its own, and the kernel gives it to any shard."""
    gw = gateway("--shards", "4")
    before = gw.metric("switchboard_connections")
    for number in range(16):
        with Session(gw) as session:
            session.enters("/queue,")
            session.says('42/queue,1["subscribe",{"topic":"%s"}]' % topic)
            assert session.hears()[0].startswith("43/queue,1[{")
            with Probe(gw, session) as probe:
                probe.send_raw("2probe")
                assert probe.packet() == "3probe"
                probe.send_raw("5")
                gw.publish(topic, "queue:update", {"n": number})
                assert probe.packet() == '42/queue,["queue:update",{"n":%d}]' % number
                probe.send_raw('42/queue,2["ping"]')
                assert probe.packet() == "43/queue,2[{}]"
                session.fault(session.get(), 1)
    assert gw.metric("switchboard_connections_moved_total") > 0, "sixteen in a row came to the right shard"
    eventually(lambda: gw.metric("switchboard_connections") <= before, what="the end of all connections")
    eventually(lambda: gw.metric("switchboard_sessions") == 0, what="the end of all sessions")


def test_a_websocket_that_goes_elsewhere_finds_no_session(gateway):
    gw = gateway("--shards", "2")
    before = gw.metric("switchboard_connections")
    with Session(gw) as session:
        node, shard, secret = session.opening["sid"].split(".")
        for home in (0, 1):
            for name in (f"{node}.{home}.{secret[:-2]}xx", f"{node}.{1 - int(shard)}.{secret}", f"{node}.7.{secret}"):
                session.opening["sid"] = name
                with pytest.raises(InvalidStatus) as refused:
                    Probe(gw, session)
                assert refused.value.response.status_code == 400
        session.says("1")
    eventually(lambda: gw.metric("switchboard_connections") <= before, what="the end of all connections")


def test_connections_that_move_keep_their_place(gateway):
    """Each has one place for its address, wherever it goes, and gives one back."""
    gw = gateway("--shards", "4", limits={"connectionsPerAddressMax": 12})
    for _ in range(20):
        with Session(gw) as session, Probe(gw, session) as probe:
            probe.send_raw("2probe")
            assert probe.packet() == "3probe"
            probe.send_raw("5")
            probe.send_raw("40")
            assert probe.packet().startswith("40{")


def test_a_drain_ends_moved_connections(gateway):
    gw = gateway("--shards", "4", limits={"drainMs": 1_000})
    phones = [Phone(gw, transports=("polling", "websocket")) for _ in range(8)]
    try:
        assert {phone.transport for phone in phones} == {"websocket"}
        gw.process.terminate()
        assert gw.process.wait(10) == 0
    finally:
        for phone in phones:
            phone.__exit__()
