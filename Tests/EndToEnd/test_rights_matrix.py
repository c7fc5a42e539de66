"""Every route and every command, played as every kind of caller, does what `docs/rights-table.md` says."""

import pytest

from Fixtures.apps.operator_scripts import script, write_scripts
from Fixtures.clients import rights_matrix
from Fixtures.clients.rights_matrix import Matrix, differences, documented
from Fixtures.redis.server import RedisServer

ADDED = script("added", "return {}", http="POST /v1/shops/{shopId}/added")
ADDED_ROW = "`added`, `POST /v1/shops/{shopId}/added`"


@pytest.fixture(scope="module")
def played(tmp_path_factory, certificate):
    """The rows of a gateway that serves every pack, and one command more than the page has."""
    directory = tmp_path_factory.mktemp("matrix")
    redis = RedisServer(directory / "redis").start()
    try:
        matrix = Matrix(directory, redis, certificate, "--scripts", write_scripts(directory / "scripts", added=ADDED))
        try:
            yield matrix.rows()
        finally:
            matrix.stop()
    finally:
        redis.stop()


def test_every_route_and_command_admits_whom_the_page_says_and_one_without_a_row_is_found(played):
    assert differences(played, documented()) == [f"{ADDED_ROW}: the page has no row"]


def test_a_row_without_a_route_and_another_outcome_are_found(played):
    rows = {name: cells for name, cells in played.items() if name != ADDED_ROW}
    assert not differences(rows, documented())
    assert differences(rows, documented() | {"`GET /v1/nowhere`": ["401"] * len(rights_matrix.CALLERS)}) == [
        "`GET /v1/nowhere`: a row of the page for what the gateway does not have"]
    assert differences(rows | {"`GET /v1/nowhere`": ["yes"] * len(rights_matrix.CALLERS)}, documented()) == [
        "`GET /v1/nowhere`: the page has no row"]
    health = "`GET /v1/health`"
    assert differences(rows | {health: ["yes", *rows[health][1:]]}, documented()) == [
        f"{health}, none: yes, and the page says 401"]


def test_the_page_shows_every_kind_of_caller(played):
    """A table in which everybody may do everything would say nothing."""
    for number, caller in enumerate(rights_matrix.CALLERS):
        outcomes = {cells[number] for cells in played.values()}
        assert "yes" in outcomes or "own" in outcomes, caller
        assert outcomes & {"401", "403"} or caller == "service", caller
