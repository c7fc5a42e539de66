"""Requests generated from the gateway's own description, to every route of every pack; what it says must be true.

usage: PYTHONPATH=Tests .venv/bin/python -m Fixtures.clients.generated_requests [--examples 30] [--seed N]

Schemathesis makes requests that fit the description and requests that do not, as a user and as a service. Valid ones
must be taken, others refused, and each answer must be as described. The gateway serves every built-in pack, and the
scripts of an operator: the guide's example, the auction room, and two that declare every type. Prints what was found;
exits with 1 when anything was.
"""

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from Fixtures.apps.operator_scripts import EXAMPLE, LUA, example, script, write_scripts
from Fixtures.clients.certificates import write_certificate
from Fixtures.clients.tokens import SECRET, sign
from Fixtures.processes.gateway import API_KEY, Gateway
from Fixtures.processes.node import ENVIRONMENT
from Fixtures.redis.server import RedisServer

SCHEMATHESIS = Path(sys.executable).with_name("st")
SIXTH_APP = Path(__file__).resolve().parents[1] / "apps" / "sixth_app"
#: Who asks: the claims of the token.
ROLES = {"user": {}, "service": {"role": "service"}}
# What a script's author may declare, in one script.
EVERY_TYPE = script(
    "every_type", "return {count = args.count, friends = array(args.friends or {}), more = args.size}",
    returns="{count: int, friends: [string], more: 'small'|'large', never?: {*: int}}",
    arg=["shopId id", "userId user optional", "text string 1..20", "count int -5..5", "ratio number 0..1 optional",
         "size enum small,large", "open bool = true", "note json 200 3 optional", "at time optional",
         "friends ids 0..3 optional"],
    http="PUT /v1/shops/{shopId}/every/{count}/{size}", errors="odd 422")
READER = script(
    "read_types", "return {}", drop="topic", readonly="", http="GET /v1/shops/{shopId}/types",
    arg=["shopId id", "text string 0..20 optional", "count int -5..5 = 1", "ratio number optional",
         "size enum small,large optional", "open bool = true", "note json 200 3 optional", "at time optional",
         "friends ids 0..3 optional"])


def serve(directory: Path, redis_url: str, certificate) -> Gateway:
    """A gateway with every pack and an operator's scripts, and no bounds that many requests would reach."""
    scripts = directory / "scripts"
    shutil.copytree(SIXTH_APP, scripts)
    write_scripts(scripts, every_type=EVERY_TYPE, read_types=READER, **{EXAMPLE: example()})
    (directory / "mint-secret").write_bytes(SECRET[::-1])
    limits = {"userActionsPerSecond": 1_000_000, "userRedisUsPerSecond": 100_000_000}
    return Gateway(directory / "gateway", redis_url, certificate, SECRET, "--packs", "all", "--scripts", str(scripts),
                   "--mint-secret-file", str(directory / "mint-secret"), limits=limits).start().wait_ready()


def document(gateway, key: str | None = API_KEY) -> dict:
    """The description, as the bearer of a key or a token gets it; a service gets all of it."""
    with gateway.http(key=key) as http:
        response = http.get("/v1/openapi.json")
    assert response.status_code == 200 and response.headers["content-type"] == "application/json"
    return response.json()


def _scripts_that_say(words: str) -> set[str]:
    """The commands whose body, or a part that they include, has these words."""
    texts = {path: path.read_text() for path in LUA.glob("**/*.lua")}
    parts = {match[1] for text in texts.values() if words in text
             if (match := re.search(r"^-- @part +(\w+)$", text, re.M))}
    return {path.stem for path, text in texts.items() if words in text
            or parts & set(re.findall(r"^-- @include +(\w+)$", text, re.M))}


def configuration(described: dict, each_once: bool) -> str:
    """What Schemathesis cannot read in the document, and nobody else.

    JSON Schema cannot say how many bytes a JSON text may have, no type says what a script refuses by
    `fail('bad_request', ...)`. Such an operation may answer 400, or what its pack makes of it, to what fits its schema.
    What a service outside answers is 503, since no courier runs.
    With `each_once`, a command that has a route of its own is asked by that route alone.
    """
    pickier, unavailable = _scripts_that_say("fail('bad_request'"), _scripts_that_say("fail('unavailable'")
    operations = [(path, operation) for path, methods in described["paths"].items() for operation in methods.values()]
    routed = {operation["tags"][0] for path, operation in operations if not path.startswith("/v1/commands/")}
    lines = []
    for path, operation in operations:
        name = operation["tags"][0]
        is_pickier = "JSON of at most" in json.dumps(operation) or name in pickier
        is_outside = "Answered by the service " in operation.get("description", "")
        more = []
        if each_once and path == f"/v1/commands/{name}" and name in routed:
            more.append("enabled = false")
        if is_pickier or is_outside:
            taken = ["2xx", "400", "401", "403", "404", "409", "422", "429"] + ["503"] * is_outside
            more.append(f"checks.positive_data_acceptance.expected-statuses = {json.dumps(taken)}")
        if name in unavailable or is_outside:
            more.append('checks.not_a_server_error.expected-statuses = ["2xx", "3xx", "4xx", "503"]')
        if more:
            lines += ["[[operations]]", f'include-operation-id = "{operation["operationId"]}"', *more]
    return "\n".join(lines)


def findings(gateway, directory: Path, role: str, *, examples: int, phases: str, seed: int, each_once: bool) -> str:
    """Runs Schemathesis as somebody of a role; what it has found, or nothing."""
    directory.mkdir()
    token = sign(SECRET, f"{role}-1", ttl=36_000, **ROLES[role])
    (directory / "schemathesis.toml").write_text(configuration(document(gateway, token), each_once))
    # The certificate is the gateway's own, so it is its own authority.
    words = [
        str(SCHEMATHESIS), "run", gateway.origin + "/v1/openapi.json", "--tls-verify", str(gateway.certificate.cert),
        "-H", f"apikey: {token}", "--seed", str(seed), "--phases", phases, "--max-examples", str(examples),
        "--continue-on-failure", "--no-color", "--warnings", "off"]
    result = subprocess.run(words, capture_output=True, text=True, cwd=directory, env=ENVIRONMENT)
    (directory / "schemathesis.log").write_text(result.stdout + result.stderr)
    told = "" if result.returncode == 0 else result.stdout[-20_000:] + result.stderr[-4_000:]
    if not re.search(r"[0-9]+ passed|No issues found", result.stdout):
        told += "\nnothing was asked: " + result.stdout[-2_000:]
    faults = [line for line in gateway.log_text.splitlines() if json.loads(line)["level"] == "error"]
    return "\n".join([told, *faults]).strip()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--examples", type=int, default=30, help="for each operation, beside those of the edges")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    found = False
    with tempfile.TemporaryDirectory() as place:
        directory = Path(place)
        redis = RedisServer(directory / "redis").start()
        try:
            gateway = serve(directory, redis.url, write_certificate(directory))
            try:
                for role in ROLES:
                    told = findings(gateway, directory / role, role, examples=options.examples, seed=options.seed,
                                    phases="examples,coverage,fuzzing,stateful", each_once=False)
                    print(f"{role}: {told or 'nothing found'}", flush=True)
                    found = found or bool(told)
            finally:
                gateway.stop()
        finally:
            redis.stop()
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
