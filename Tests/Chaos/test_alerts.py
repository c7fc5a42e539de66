"""Three faults of the night before a real Prometheus: a change that silences an alert is seen."""

import alerts
import pytest
from night_faults import FAULTS

#: At once, by a rate, and after a wait.
SHORT = ("certificate_is_junk", "upgrade_dropped", "redis_may_evict")


def test_each_fault_of_the_night_has_an_alert():
    assert set(alerts.EXPECTED) == set(FAULTS) - {"drained"}


@pytest.mark.thorough
@pytest.mark.parametrize("fault", SHORT)
def test_the_alert_of_a_fault_fires_alone(fault):
    found = alerts.played(fault, observed_seconds=45)
    _, is_good = alerts.line(fault, found)
    assert is_good, found
