"""The files for Prometheus and Grafana: right by promtool, and about metrics, alerts and rows that exist."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from Fixtures.metric_table import ROOT, families, named

PROMETHEUS = ROOT / "deploy" / "prometheus"
DASHBOARD = json.loads((ROOT / "deploy" / "grafana" / "dashboard.json").read_text())
RULES = [rule for group in yaml.safe_load((PROMETHEUS / "rules.yaml").read_text())["groups"] for rule in group["rules"]]
TESTS = yaml.safe_load((PROMETHEUS / "rules_test.yaml").read_text())["tests"]
ROWS = {name: (anchor, severity, after) for anchor, name, severity, after in re.findall(
    r'^\| <a id="([a-z]+)"></a>`(\w+)` \| (\w+) \| ([\w ]+) \| [^|]{20,} \| [^|]{10,} \|$',
    (ROOT / "docs" / "alerts.md").read_text(), re.M)}
METRICS = families()
#: Names that Prometheus makes itself.
PROMETHEUS_OWN = {"up", "ALERTS"}


def promtool(*arguments) -> str:
    program = shutil.which("promtool")
    assert program, "Debian's package prometheus is not installed: scripts/packages.sh test"
    run = subprocess.run([program, *arguments], cwd=PROMETHEUS, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout + run.stderr


def test_the_rules_and_the_example_are_right():
    assert f"{len(RULES)} rules found" in promtool("check", "rules", "rules.yaml")
    promtool("check", "config", "scrape.yaml")


def test_each_alert_fires_for_its_cause_and_is_silent_without():
    assert "SUCCESS" in promtool("test", "rules", "rules_test.yaml")


def test_each_alert_has_tests_of_both_kinds():
    names = {rule["alert"] for rule in RULES}
    assert len(names) == len(RULES) >= 20
    asked = [(one["alertname"], bool(one["exp_alerts"])) for test in TESTS for one in test["alert_rule_test"]]
    assert {name for name, fires in asked if fires} == names
    assert {name for name, fires in asked if not fires} == names


def test_each_alert_has_its_row():
    assert set(ROWS) == {rule["alert"] for rule in RULES}
    for rule in RULES:
        anchor, severity, after = ROWS[rule["alert"]]
        assert rule["labels"] == {"severity": severity} and severity in ("critical", "warning", "info")
        assert rule.get("for", "at once") == after, rule["alert"]
        assert rule["annotations"]["runbook_url"] == f"docs/alerts.md#{anchor}" and anchor == rule["alert"].lower()
        assert len(rule["annotations"]["summary"]) > 15


def test_alerts_and_panels_ask_for_metrics_that_exist():
    assert len(METRICS) > 100
    asked = {name for rule in RULES for name in named(rule["expr"], METRICS)} | named(json.dumps(DASHBOARD), METRICS)
    assert len(asked) > 60
    assert asked - PROMETHEUS_OWN <= set(METRICS), asked - set(METRICS)


def test_labels_of_alerts_are_those_of_the_metrics():
    for rule in RULES:
        for name, selector in re.findall(r"((?:switchboard|process)_[a-z_]+)\{([^}]*)\}", rule["expr"]):
            labels = set(re.findall(r"(\w+)(?:=~|!~|!=|=)", selector)) - {"job", "instance"}
            assert labels <= set(METRICS[name].labels), f"{rule['alert']}: {name}{{{selector}}}"


def source(path: str) -> str:
    return (ROOT / "Sources" / path).read_text()


def cases(path: str) -> set[str]:
    """The raw values of an enum of texts."""
    found = re.findall(r'^    case (\w+)(?: = "(\w+)")?$', source(path), re.M)
    return {raw or name for name, raw in found}


def values(metric: str, label: str) -> set[str]:
    """The values that the label of a metric may have, as the code has them."""
    match metric, label:
        case "switchboard_ready", "row":
            return cases("Operations/ReadinessRow.swift")
        case "switchboard_connections_closed_total", "reason":
            return cases("Core/CloseReason.swift")
        case "switchboard_limit", "name":
            return set(re.findall(r'LimitEntry\(\s*name: "(\w+)"', source("Core/LimitTable.swift")))
        case "switchboard_http_responses_total", "status":
            return {f"{digit}xx" for digit in range(1, 6)}
        case "switchboard_http_responses_total", "route":
            return set(re.findall(r'\("\w+", "(\w+)"\)', source("Operations/AnsweredRoutes.swift"))) | set(
                re.findall(r'"(/[^"]*)"', source("Commands/Routes/GatewayRoutes.swift")))
    pages = "".join(source(f"Operations/Metrics{part}.swift") for part in ("", "+Masters", "+Readiness", "+Traffic"))
    page = re.search(rf'"{metric}",(.*?)\]\)', pages, re.S)
    return set(re.findall(rf'\("{label}", "(\w+)"', page[1])) if page else set()


def test_values_of_labels_in_alerts_exist():
    """An alert about `row="redis_evicts"` would never fire, and every test of its own would succeed."""
    count = 0
    for rule in RULES:
        for metric, selector in re.findall(r"(switchboard_[a-z_]+)\{([^}]*)\}", rule["expr"]):
            for label, operator, wanted in re.findall(r'(\w+)(=~|!~|!=|=)"([^"]*)"', selector):
                if label in ("job", "instance"):
                    continue
                named_here = set(wanted.split("|") if "~" in operator else [wanted])
                assert named_here <= values(metric, label), f"{rule['alert']}: {metric} {label} {wanted}"
                count += 1
    assert count > 40


def test_no_single_instance_silences_an_alert_about_others():
    for rule in RULES:
        for others in re.findall(r"unless on \(([^)]*)\) (?:label_replace\()?(\(?\w+)", rule["expr"]):
            labels, begin = others
            assert "instance" in labels or begin.strip("(") == "max", f"{rule['alert']}: unless on ({labels}) {begin}"


@pytest.mark.parametrize("panel", [one for one in DASHBOARD["panels"] if one["type"] != "row"],
                         ids=lambda panel: panel["title"])
def test_each_panel_is_whole(panel):
    assert panel["description"].endswith(".") and panel["targets"]
    assert all(target["expr"] and target["legendFormat"] for target in panel["targets"])
    # A picture of one gateway must not mix in another's.
    assert all('job=~"$job",instance=~"$instance"' in target["expr"] or "ALERTS" in target["expr"]
               for target in panel["targets"])


def test_panels_do_not_lie_over_each_other():
    taken = set()
    for panel in DASHBOARD["panels"]:
        place = panel["gridPos"]
        cells = {(x, y) for x in range(place["x"], place["x"] + place["w"])
                 for y in range(place["y"], place["y"] + place["h"])}
        assert not cells & taken, panel["title"]
        assert place["x"] + place["w"] <= 24
        taken |= cells
    assert len({panel["id"] for panel in DASHBOARD["panels"]}) == len(DASHBOARD["panels"])
