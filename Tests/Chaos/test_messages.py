"""A short run of the conversation that lives through kills, so that a change that breaks it is seen early."""

import argparse

import messages
import pytest
from Fixtures.seeds import seed_of


def test_a_conversation_lives_through_kills(tmp_path):
    options = argparse.Namespace(seed=seed_of("messages"), messages=240, rate=80)
    summary, good = messages.run(options, tmp_path, log=lambda text: None)
    assert good, "\n".join(summary["first violations"])
    # A run without kills, pages or deliveries would prove nothing.
    assert summary["kills"] >= 1 and summary["pages"] > 20 and summary["delivered"] > 240 * 3, summary


def test_the_checker_sees_what_is_lost_doubled_or_out_of_order():
    """The proof that a run can fail."""
    def after(*heard):
        findings = messages.Findings()
        device = messages.Device("ann-0", "ann", None, {}, findings)
        device.hear({"event": "subscribed", "topic": messages.TOPIC, "data": {
            "epoch": "e", "offset": 4, "recovered": False, "state": {"messages": [], "members": []}}})
        for offset, event, data in heard:
            device.hear({"event": event, "topic": messages.TOPIC, "offset": offset, "data": data})
        return len(findings.violations)

    def added(id, ms):
        return "message:added", {"id": id, "timestampMs": ms}

    def read(after_ms, up_to_ms):
        return "messages:read", {"userId": "bob", "status": "read", "afterMs": after_ms, "upToMs": up_to_ms}

    assert after((5, *added("a", 1)), (6, *added("b", 2)), (7, *read(0, 1)), (8, *read(1, 2))) == 0
    assert after((5, *added("a", 1)), (7, *added("b", 2))) == 1, "a hole"
    assert after((5, *added("a", 1)), (6, *added("a", 1))) == 1, "twice"
    assert after((5, *added("a", 2)), (6, *added("b", 1))) == 1, "out of order"
    assert after((5, *read(0, 2)), (6, *read(2, 1))) == 1 and after((5, *read(0, 2)), (6, *read(0, 3))) == 1, "back"
    order = {id: place for place, id in enumerate("edcba")}
    for walk, violations in (("dcb", 0), ("edcba", 0), ("", 0), ("dba", 1), ("ddc", 1), ("zed", 1)):
        findings = messages.Findings()
        messages.judge_walk(list(walk), order, findings)
        assert len(findings.violations) == violations, walk


@pytest.mark.parametrize("flaw", ["", "lost", "doubled", "changed order", "not on a device", "twice on a device"])
def test_the_end_of_a_run_is_judged(flaw):
    """One flaw in what pages and devices have at the end is one violation."""
    sent = {id: 0.0 for id in "abcd"}
    told = list("dcba")
    findings = messages.Findings()
    devices = [messages.Device(f"{user}-0", user, None, sent, findings) for user in messages.USERS]
    for device in devices:
        device.messages = {id: time for time, id in enumerate("abcd", 1)}
    if flaw == "lost":
        told.remove("c")
        for device in devices:
            del device.messages["c"]
    elif flaw == "doubled":
        sent.pop("c")
    elif flaw == "changed order":
        devices[1].messages |= {"a": 2, "b": 1}
    elif flaw == "not on a device":
        del devices[0].messages["b"]
    elif flaw == "twice on a device":
        devices[0].messages["b again"] = 3.5
    messages.judge(told, sent, devices, [told[1:]], findings)
    assert len(findings.violations) == bool(flaw), findings.violations
