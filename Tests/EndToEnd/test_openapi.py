"""The gateway's description of itself is valid, and true: generated requests never find it wrong.

Each caller gets the part that it may call, with a tag for its cache.
"""

import re
import subprocess

import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator

from Fixtures.clients import generated_requests
from Fixtures.clients import rights_matrix
from Fixtures.clients.tokens import SECRET, sign
from Fixtures.processes.gateway import API_KEY, error_code
from Fixtures.processes.node import BINARY, ENVIRONMENT
from Fixtures.scripts.answer_types import named, read, schema_of
from Fixtures.scripts.lua_scripts import built_in
from Fixtures.seeds import seed_of
from Fixtures.waiting import eventually


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


def written_out(schema, schemas):
    """A schema of the document without descriptions, with what its references lead to."""
    if isinstance(schema, list):
        return [written_out(one, schemas) for one in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        return written_out(schemas[schema["$ref"].rsplit("/", 1)[1]], schemas)
    return {name: {member: written_out(one, schemas) for member, one in value.items()} if name == "properties"
            else written_out(value, schemas) for name, value in schema.items() if name != "description"}


def test_answers_and_events_are_of_the_types_that_tests_compare_answers_with(described):
    """The tests of scripts read the headers by a reader of their own."""
    document = generated_requests.document(described)
    schemas, count = document["components"]["schemas"], 0
    for path in built_in():
        operation = document["paths"].get(f"/v1/commands/{path.stem}", {}).get("post")
        if operation is None:
            continue
        types, known = read(path), named(path)
        answer = operation["responses"]["200"]["content"]["application/json"]["schema"]
        told = written_out(answer, schemas)
        told = told["allOf"][0] if "allOf" in told else told
        assert told == schema_of(types.returns, known), path.stem
        events = {event: written_out(schema, schemas) for event, schema in operation.get("x-emits", {}).items()}
        assert events == {event: schema_of(kind, known) for event, kind in reversed(types.emits)}, path.stem
        count += 1
    assert count > 90


@pytest.mark.slow
@pytest.mark.parametrize("role", [
    pytest.param(role, marks=[pytest.mark.thorough] * (role != "service")) for role in generated_requests.ROLES])
def test_generated_requests_find_no_difference(described, tmp_path, role):
    """Schemathesis with all its checks: valid requests are taken, invalid ones refused, answers are as described.

    A few requests for each operation; `generated_requests.py` makes as many as one likes.
    """
    told = generated_requests.findings(
        described, tmp_path / role, role, examples=1, phases="fuzzing", seed=seed_of(f"openapi {role}"), each_once=True)
    assert not told, told


# Who gets what


def operations(gateway, key) -> set[str]:
    """The operations that the bearer of a key or a token is shown."""
    paths = generated_requests.document(gateway, key)["paths"]
    return {f"{method.upper()} {path}" for path, methods in paths.items() for method in methods}


def test_a_caller_is_shown_what_it_may_call(described):
    """Anybody got the whole document: every command of every pack, and the services' routes."""
    anonymous, user = operations(described, None), operations(described, sign(SECRET, "ann"))
    service = operations(described, API_KEY)
    guests = {"POST /v1/commands/visit_ticket", "POST /api/v1/sessions/{id}/visit"}
    assert guests < anonymous and anonymous - guests < user < service and anonymous < service
    assert "POST /api/v2/bids" in service, "all of it, what only users call, too"
    assert {"GET /v1/openapi.json", "GET /v1/shops/{shopId}/queue", "POST /v1/commands/top"} <= anonymous
    assert not any("/v1/users/" in one or "conversation" in one or "dead" in one for one in anonymous), anonymous
    assert "POST /v1/commands/send_message" in user and "GET /v1/users/{userId}/data" in user
    assert not user & {"POST /v1/broadcast", "GET /v1/health", "POST /v1/revocations", "POST /v1/commands/add_points"}
    assert "GET /v1/topics/{topic}/audit" in service


def test_a_token_for_certain_topics_is_shown_their_commands(described):
    bound = operations(described, sign(SECRET, "kitchen", role="service", topics=["order:7"]))
    assert {"POST /v1/broadcast", "GET /v1/topics/{topic}/events", "POST /v1/commands/order_pass"} <= bound
    assert not bound & {"GET /v1/health", "POST /v1/revocations", "POST /v1/commands/queue", "POST /v1/commands/notify"}
    both = operations(described, sign(SECRET, "hall", role="service", topics=["order:*", "shop:1", "shop:2"]))
    assert bound < both and "POST /v1/commands/queue" not in bound
    guest = operations(described, rights_matrix.minted("session:s1", SECRET[::-1]))
    assert "POST /v1/commands/vote_song" in guest and "POST /v1/commands/send_message" not in guest
    assert not any("/data" in one for one in guest)


def test_a_closed_namespace_closes_its_commands_and_check_lists_what_is_open(gateway, tmp_path):
    """Its topics were refused without a token, and `queue` told what they would have."""
    gw = gateway(config={"namespaces": {"shop": {"subscribe": "user"}}})
    with gw.http(key=None) as http:
        for response in (http.get("/v1/shops/1/queue"), http.post("/v1/commands/queue", json={"shopId": "1"})):
            assert (response.status_code, error_code(response)) == (401, "unauthorized")
        assert http.get("/v1/shops/1/dj").status_code == 200
    with gw.client() as client:
        client.refused("queue", {"shopId": "1"}, "unauthorized")
    told = subprocess.run(
        [str(BINARY.absolute()), "check", "--config", str(gw.directory / "config.json"), "--ops", "127.0.0.1:0",
         "--redis", "redis://127.0.0.1:1", "--listen-plain", "127.0.0.1:0"], capture_output=True, text=True,
        env=ENVIRONMENT).stdout
    assert "ok: without a token anyone reads and subscribes to topics of: challenge, dj\n" in told
    assert "ok: without a token anyone publishes on topics of: none\n" in told
    calls = re.search(r"^ok: without a token anyone calls: (.*)$", told, re.M)[1]
    routes = re.search(r"^ok: without a token anyone asks: (.*)$", told, re.M)[1]
    listed = {f"POST /v1/commands/{name}" for name in re.findall(r"(?:^|, )(\w+)(?= \(|,|$)", calls)}
    listed |= set(re.findall(r"[A-Z]+ /[^,)]+", calls + ", " + routes))
    assert listed == operations(gw, None), "the same list"


def test_without_anonymous_callers_almost_nothing_is_shown(gateway):
    gw = gateway("--anonymous=false")
    assert operations(gw, None) == {"GET /v1/openapi.json"}
    with gw.http(key="no-such-key-0123456789") as http:
        assert http.get("/v1/openapi.json").status_code == 401


def test_a_document_is_sent_once(described):
    with described.http() as http:
        first = http.get("/v1/openapi.json")
        tag = first.headers["etag"]
        assert first.headers["cache-control"] == "private, no-cache"
        assert first.headers["vary"] == "apikey, Authorization"
        for known in (tag, f"W/{tag}", f'"other", {tag}', "*"):
            again = http.get("/v1/openapi.json", headers={"If-None-Match": known})
            assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", tag)
        assert http.get("/v1/openapi.json", headers={"If-None-Match": '"other"'}).content == first.content
        assert http.head("/v1/openapi.json").headers["content-length"] == str(len(first.content))
    with described.http(key=None) as http:
        other = http.get("/v1/openapi.json", headers={"If-None-Match": tag})
        assert other.status_code == 200 and other.headers["etag"] != tag, "another caller, another document"


def test_an_address_gets_so_many_documents_and_any_number_of_304(gateway):
    """One address took 1,400 of them a second, 390 kB each."""
    gw = gateway(limits={"documentsPerAddressPerSecond": 1})
    with gw.http() as http:
        def take():
            return http.get("/v1/openapi.json")

        tag = take().headers["etag"]
        refused = eventually(lambda: (answer := take()).status_code == 429 and answer, what="a refusal")
        assert error_code(refused) == "rate_limited" and int(refused.headers["retry-after"]) >= 1
        for _ in range(50):
            assert http.get("/v1/openapi.json", headers={"If-None-Match": tag}).status_code == 304
        assert http.get("/v1/shops/1/queue").status_code == 200, "other requests have a budget of their own"
