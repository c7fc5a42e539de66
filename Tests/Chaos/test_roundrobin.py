"""A few seconds of clients that poll, round robin before two gateways that are restarted in turn."""

import argparse

import roundrobin
from Fixtures.seeds import seed_of
from wanderers import Findings, Ledger


def test_polling_clients_lose_nothing_behind_a_balancer_that_keeps_none(tmp_path):
    options = argparse.Namespace(
        seed=seed_of("round robin"), minutes=0.05, clients=20, rate=40, topics=4, drain_ms=800)
    summary, good = roundrobin.run(options, tmp_path, log=lambda text: None)
    assert good, "\n".join(summary["first violations"])
    # A run without load, hops or restarts would prove nothing.
    assert summary["inputs that took the hop"] > 50 and summary["delivered"] > 300, summary
    assert sum(summary["restarts"].values()) >= 2 and summary["sessions"] > 20, summary


def test_the_checker_sees_what_is_lost_doubled_or_anothers():
    """The proof that a run can fail."""
    def after(*events, joined=None):
        findings = Findings()
        ledger = Ledger("c1", ["shop:1"], findings)
        ledger.joined("shop:1", joined or {"epoch": "e", "offset": 4, "recovered": False})
        for offset, more in events:
            place = {"topic": more.pop("topic", "shop:1"), "epoch": more.pop("epoch", "e"), "offset": offset}
            ledger.event("told", {"at": 0} | more, place, prompt=False)
        return len(findings.violations)

    assert after((5, {}), (6, {})) == 0
    assert after((5, {}), (7, {})) == 1, "a hole"
    assert after((5, {}), (5, {})) == 1, "twice"
    assert after((5, {"epoch": "f"})) == 1, "another epoch, not told"
    assert after((5, {"to": "c2"})) == 1 and after((5, {"topic": "shop:2"})) == 1, "another's"
    assert after((5, {"op": "a"}), (6, {"op": "a"})) == 1, "done twice"
    findings = Findings()
    ledger = Ledger("c1", ["shop:1"], findings)
    ledger.joined("shop:1", {"epoch": "e", "offset": 4, "recovered": False})
    assert not ledger.caught_up({"shop:1": ("e", 5)})
    ledger.joined("shop:1", {"epoch": "e", "offset": 3, "recovered": True})
    ledger.joined("shop:1", {"epoch": "f", "offset": 0, "recovered": False})
    assert len(findings.violations) == 1 and findings.told == 1
