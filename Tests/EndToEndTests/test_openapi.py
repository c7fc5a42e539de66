"""The gateway's description of itself is valid, and true: generated requests never find it wrong."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator

from gateway_process import API_KEY
from node_process import ENVIRONMENT
from operator_scripts import EXAMPLE, GUIDE, example, script, write_scripts
from support.seeds import seed_of

SCHEMATHESIS = Path(sys.executable).with_name("st")
SECONDS_MAX = 45
# What a script's author may declare, in one script.
EVERY_TYPE = script(
    "every_type", "return {count = args.count}",
    arg=["shopId id", "userId user optional", "text string 1..20", "count int -5..5", "ratio number 0..1 optional",
         "size enum small,large", "open bool = true", "note json 200 3 optional", "at time optional",
         "friends ids 0..3 optional"],
    http="PUT /v1/shops/{shopId}/every/{count}/{size}", errors="odd 422")
READER = script(
    "read_types", "return {}", drop="topic", readonly="", http="GET /v1/shops/{shopId}/types",
    arg=["shopId id", "text string 0..20 optional", "count int -5..5 = 1", "ratio number optional",
         "size enum small,large optional", "open bool = true", "note json 200 3 optional", "at time optional",
         "friends ids 0..3 optional"])


@pytest.fixture
def described(gateway, tmp_path):
    """A gateway with the embedded scripts and an operator's, and no bounds that many requests would reach."""
    directory = write_scripts(tmp_path / "scripts", every_type=EVERY_TYPE,
                              read_types=READER, **{EXAMPLE: example()})
    return gateway("--scripts", directory)


def document(gw) -> dict:
    with gw.http(key=None) as http:
        response = http.get("/v1/openapi.json")
    assert response.status_code == 200 and response.headers["content-type"] == "application/json"
    return response.json()


def test_document_is_valid(described):
    OpenAPIV31SpecValidator(document(described)).validate()


def test_document_names_every_command_and_route(described):
    paths = document(described)["paths"]
    assert set(paths["/v1/commands/vote"]) == {"post"}
    assert "post" in paths["/v1/shops/{shopId}/tracks/{trackId}/vote"]
    assert "put" in paths["/v1/shops/{shopId}/every/{count}/{size}"]
    assert "/v1/commands/beat_user" not in paths, "the worker's own commands are nobody's business"


def configuration(gw) -> str:
    """What Schemathesis cannot read in the document, and nobody else.

    JSON Schema cannot say how many bytes a JSON text may have, and no type says what a script refuses by
    `fail('bad_request', ...)`. Such an operation may answer 400 to what fits its schema.
    """
    pickier = {path.stem for path in GUIDE.parent.glob("*/*.lua") if "fail('bad_request'" in path.read_text()}
    lines = []
    for methods in document(gw)["paths"].values():
        for operation in methods.values():
            if "JSON of at most" in json.dumps(operation) or operation["tags"][0] in pickier:
                lines += ["[[operations]]", f'include-operation-id = "{operation["operationId"]}"',
                          '[operations.checks]',
                          'positive_data_acceptance.expected-statuses = ["2xx", "400", "401", "403", "404", "409"]']
    assert lines
    return "\n".join(lines)


@pytest.mark.slow
def test_generated_requests_find_no_difference(described, tmp_path):
    """Schemathesis with all its checks: valid requests are taken, invalid ones refused, answers are as described."""
    (tmp_path / "schemathesis.toml").write_text(configuration(described))
    # The certificate is the gateway's own, so it is its own authority.
    words = [
        str(SCHEMATHESIS), "run", described.origin + "/v1/openapi.json", "--tls-verify",
        str(described.certificate.cert), "-H", f"apikey: {API_KEY}", "--seed", str(seed_of("openapi")), "--max-time",
        str(SECONDS_MAX), "--max-examples", "15", "--continue-on-failure", "--no-color"]
    result = subprocess.run(words, capture_output=True, text=True, cwd=tmp_path, timeout=SECONDS_MAX * 3,
                            env=ENVIRONMENT)
    (tmp_path / "schemathesis.log").write_text(result.stdout + result.stderr)
    assert result.returncode == 0, result.stdout[-20_000:] + result.stderr[-4_000:]
    assert re.search(r"[0-9]+ passed|No issues found", result.stdout), result.stdout[-2_000:]
    faults = [line for line in described.log_text.splitlines() if json.loads(line)["level"] == "error"]
    assert faults == []
