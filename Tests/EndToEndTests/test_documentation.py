"""docs/protocol.md is true where a machine can tell: its close codes and metric labels are the gateway's."""

import re
from pathlib import Path

PROTOCOL = (Path(__file__).resolve().parents[2] / "docs" / "protocol.md").read_text()
SOURCE = (Path(__file__).resolve().parents[2] / "Sources" / "Core" / "CloseReason.swift").read_text()


def test_close_codes_are_those_of_the_table():
    codes = dict(re.findall(r"case ((?:\.\w+(?:, )?)+): (\d{4})", SOURCE))
    assert len(codes) >= 15
    documented = dict(re.findall(r"^\| (\d{4}) \| (`[a-z_`, ]+`) \|", PROTOCOL, re.M))
    assert set(codes.values()) == set(documented)


def test_labels_are_those_of_the_metric(gw):
    labels = gw.metrics().label_values("switchboard_connections_closed_total", "reason")
    rows = "\n".join(re.findall(r"^\| \d{4} \|.*$", PROTOCOL, re.M))
    named = set(re.findall(r"`(\w+)`", rows)) - {"draining", "reconnectAfterMs"}
    assert named <= labels, named - labels
