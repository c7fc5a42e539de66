"""The gateway's description of itself is valid, and true: generated requests never find it wrong."""

import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator

import generated_requests
from support.seeds import seed_of


@pytest.fixture(scope="module")
def described(tmp_path_factory, shared_server, certificate):
    """A gateway with all packs and an operator's scripts."""
    gateway = generated_requests.serve(tmp_path_factory.mktemp("described"), shared_server.url, certificate)
    yield gateway
    gateway.stop()


def test_document_is_valid(described):
    OpenAPIV31SpecValidator(generated_requests.document(described)).validate()


def test_document_names_every_command_and_route(described):
    paths = generated_requests.document(described)["paths"]
    assert set(paths["/v1/commands/vote"]) == {"post"}
    assert "post" in paths["/v1/shops/{shopId}/tracks/{trackId}/vote"]
    assert "put" in paths["/v1/shops/{shopId}/every/{count}/{size}"]
    assert "post" in paths["/api/v1/sessions/create"], "QueueUp's"
    assert "post" in paths["/v1/conversations"] and "put" in paths["/v1/location"], "messaging's and Hearby's"
    assert "post" in paths["/api/v2/bids"], "the sixth app's"
    assert "/v1/commands/beat_user" not in paths, "the worker's own commands are nobody's business"


@pytest.mark.slow
@pytest.mark.parametrize("role", generated_requests.ROLES)
def test_generated_requests_find_no_difference(described, tmp_path, role):
    """Schemathesis with all its checks: valid requests are taken, invalid ones refused, answers are as described.

    A few requests for each operation; `generated_requests.py` makes as many as one likes.
    """
    told = generated_requests.findings(
        described, tmp_path / role, role, examples=1, phases="fuzzing", seed=seed_of(f"openapi {role}"), each_once=True)
    assert not told, told
