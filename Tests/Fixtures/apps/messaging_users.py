"""Users of the messaging app, each test's own, on the fixture `node` of the file that imports these."""

import itertools

import pytest

from Fixtures.apps.messaging import App

_numbers = itertools.count(1)


@pytest.fixture
def people(node, token):
    """Makers of apps: `people("ann", "bob")`, each with an id of this test's own, in that order."""
    number, apps = next(_numbers), []

    def make(*names):
        apps.extend(App(node, token, f"{name}-{number}") for name in names)
        return apps[-len(names):]

    yield make
    for app in apps:
        app.close()


@pytest.fixture
def pair(people):
    """ann, bob and the id of their conversation."""
    ann, bob = people("ann", "bob")
    return ann, bob, f"{ann.user}_{bob.user}"
