"""Plays every route and every command as every kind of caller, and prints the table of `docs/rights-table.md`.

usage: PYTHONPATH=Tests .venv/bin/python -m Fixtures.clients.rights_matrix [--write]

The routes and commands are those of a gateway with every pack, as its description for a service lists them. So a new
one has a row of its own, whoever adds it. Each command is called by its name over HTTP, by its own routes and as an
event of a socket. `--write` puts the table into the page; without it, the table is printed.
"""

import argparse
import hashlib
import hmac
import http.client
import itertools
import json
import re
import sys
import tempfile
from pathlib import Path
from urllib.parse import urlencode

import httpx
import jwt

from Fixtures.clients.certificates import write_certificate
from Fixtures.clients.native import Client
from Fixtures.clients.tokens import SECRET, assemble, sign
from Fixtures.processes.gateway import API_KEY, Gateway
from Fixtures.redis.server import RedisServer

PAGE = Path(__file__).resolve().parents[3] / "docs" / "rights-table.md"
START, END = "<!-- made by Tests/Fixtures/clients/rights_matrix.py -->", "<!-- end of what is made -->"
MINT_SECRET = b"a secret for tokens of the gateway's own"
KEYS = {"publishable": "web-key-0123456789abcdef", "reads": "read-key-0123456789abcdef",
        "writes": "write-key-0123456789abcdef", "taps": "tap-key-0123456789abcdef"}
CALLERS = ["none", "publishable", "anon", "user", "other user", "minted", "bound", "service", "reads", "writes", "taps"]
#: Callers without a user: they act for nobody.
NAMELESS = CALLERS[:3]
USER, OTHER, SESSION = "ann", "bob", "s1"
#: The rules of a namespace, each with a namespace of its own.
RULES = ["anyone", "user", "owner", "granted", "service"]
# Sentences by which the gateway refuses a caller for its rights; whatever else is answered comes after that.
SENTENCES = re.compile(
    r"only services .*|only services and the user himself may do this|this service's token is for its topics only"
    r"|this API key may not (read|write|tap)|only an API key with the right tap may tap"
    r"|This command is for .* only\.|This token is for the commands of .* only\."
    r"|This token makes no other token\.|'\w+' is another user; a user acts for none but itself"
    r"|Only services may do this\.|Only the user whose id the topic bears may do this\."
    r"|This token is for another topic\."
    r"|The token's topics do not name this topic, and its user is not one of its members\."
    r"|This token is for commands; it publishes nothing\.|there is no (such )?command.*|there is no such path")


def minted(topic: str, secret: bytes = MINT_SECRET, guest: str = "guest:1") -> str:
    """A token as the gateway signs it for a script, for a guest and that topic."""
    key = hmac.new(secret, b"switchboard grant, version 1", hashlib.sha256).digest()
    header = {"alg": "HS256", "typ": "switchboard-grant+jwt"}
    claims = {"sub": guest, "topic": topic, "iat": 1_700_000_000, "exp": 4_000_000_000, "jti": "t1", "anonymous": True}
    return assemble(header, claims, key)


def header(token: str) -> str:
    """The header of a token; a key has none."""
    return str(jwt.get_unverified_header(token)) if token.count(".") == 2 else ""


class Matrix:
    """A gateway with every pack, and what it answers."""

    def __init__(self, directory: Path, redis: RedisServer, certificate, *flags: str):
        (directory / "mint-secret").write_bytes(MINT_SECRET)
        keys = [f"web:{KEYS['publishable']}:public", f"r:{KEYS['reads']}:read", f"w:{KEYS['writes']}:write",
                f"t:{KEYS['taps']}:tap"]
        many = 1_000_000
        limits = dict.fromkeys(
            ["userActionsPerSecond", "messagesPerSecond", "refusalsMax", "requestsPerAddressPerSecond",
             "joinsPerSecond", "fleetQuestionsPerSecond"], many)
        limits |= dict.fromkeys(
            ["userRedisUsPerSecond", "addressRedisUsPerSecond", "anonymousRedisUsPerSecond",
             "serviceRedisUsPerSecond"], 100_000_000)
        namespaces = {f"rule-{rule}": {"subscribe": rule, "publish": rule} for rule in RULES}
        self.db = redis.client()
        self.gateway = Gateway(
            directory / "gateway", redis.url, certificate, SECRET, "--packs", "all", "--mint-secret-file",
            str(directory / "mint-secret"), "--jwt-role", "anon=anonymous", "--listen-plain", "127.0.0.1:0",
            *flags, limits=limits, has_ops=False,
            config={"namespaces": namespaces}, keys=keys)
        self.gateway.start().wait_ready()
        host, port = self.gateway.address("plain")
        self.http, self.sockets = http.client.HTTPConnection(host, port, timeout=20), {}
        # Another one for each way of calling, so that no guest meets the rate of a script.
        self.guest, self.guests = "", itertools.count(1)
        self.described = self.ask("GET", "/v1/openapi.json", API_KEY).json()["paths"]

    def stop(self):
        for one in [*self.sockets.values(), self.http, self.db]:
            one.close()
        self.gateway.stop()

    # Callers

    def credentials(self, caller: str, topic: str | None = None) -> str | None:
        """What a caller shows; a token for one topic is for that one."""
        tokens = {
            "none": lambda: None, "anon": lambda: sign(SECRET, None, role="anon", ttl=10_000, exp=4_000_000_000),
            "user": lambda: sign(SECRET, USER, exp=4_000_000_000), "service": lambda: API_KEY,
            "other user": lambda: sign(SECRET, OTHER, exp=4_000_000_000),
            "minted": lambda: minted(topic, guest=self.guest),
            "bound": lambda: sign(SECRET, "kitchen", role="service", topics=[topic], exp=4_000_000_000)}
        return KEYS.get(caller) or tokens[caller]()

    def ask(self, method: str, url: str, shown: str | None, **options) -> httpx.Response:
        """A request of somebody; all share one connection, not encrypted, since there are thousands."""
        if "params" in options:
            url += "?" + urlencode(options["params"])
        body = json.dumps(options["json"]) if options.get("json") is not None else None
        fields = {} if shown is None else {"apikey": shown}
        self.http.request(method, url, body, fields)
        response = self.http.getresponse()
        return httpx.Response(response.status, content=response.read())

    def socket(self, shown: str | None):
        if shown not in self.sockets:
            headers = [] if shown is None else [("apikey", shown)]
            # The guests' sockets are many; each is used for one call.
            for old in [old for old in self.sockets if old and "switchboard-grant" in header(old)]:
                self.sockets.pop(old).close()
            host, port = self.gateway.address("plain")
            self.sockets[shown] = Client(f"ws://{host}:{port}/ws", None, headers=headers)
        return self.sockets[shown]

    # Outcomes

    def outcome(self, where: str, status: int, message: str, declared: set[str], code: str) -> str:
        """`yes`, or the status of a refusal for the caller's rights."""
        # A script's own rate is asked when only the home is left to be judged.
        if re.search(r"calls of \w+$", message or "") and "by minted" not in where and "by bound" not in where:
            return "yes"
        if status == 429 or code == "rate_limited":
            raise AssertionError(f"{where}: {message}")
        if status == 401 or code == "unauthorized":
            return "401"
        is_rights = SENTENCES.fullmatch(message or "") is not None
        if status == 403 and not is_rights and "forbidden" not in declared and code not in declared:
            raise AssertionError(f"{where}: nobody declared this refusal: {message}")
        return str(status) if is_rights and status in (403, 404) else "yes"

    def answered(self, where: str, response, declared: set[str]) -> str:
        """The outcome of a response, in the shape of whichever pack or client."""
        if response.status_code < 400:
            return "yes"
        body = response.json() if response.content else {}
        error = body.get("error", body.get("message", ""))
        code = error.get("code", "") if isinstance(error, dict) else ""
        message = error.get("message", "") if isinstance(error, dict) else error
        return self.outcome(where, response.status_code, message, declared, code)

    def both(self, caller: str, home: str | None, play) -> str:
        """Plays as a caller; a token for one topic is played within it, and elsewhere: `own` when only that differs."""
        self.guest = f"guest:{next(self.guests)}"
        if caller not in ("minted", "bound"):
            return play(self.credentials(caller))
        elsewhere = play(self.credentials(caller, "rule-granted:elsewhere" if caller == "bound" else "order:elsewhere"))
        if home is None:
            return elsewhere
        within = play(self.credentials(caller, home))
        return within if within == elsewhere else "own" if within == "yes" else f"{within} or {elsewhere}"

    # Rows

    def rows(self) -> dict[str, list[str]]:
        """The outcomes by route and command, in the order of CALLERS."""
        commands, rows = {}, {}
        for path, methods in self.described.items():
            for method, operation in methods.items():
                if operation["tags"] == ["gateway"]:
                    rows[f"`{method.upper()} {path}`"] = self.route(method.upper(), path)
                else:
                    name = operation["operationId"].partition("-")[0]
                    commands.setdefault(name, []).append((method.upper(), path, operation))
        for rule in RULES:
            for event in ("subscribe", "publish"):
                rows[f"{event}, rule `{rule}`"] = self.topic(event, rule)
        for name in sorted(commands):
            rows |= self.command(name, commands[name])
        return rows

    def route(self, method: str, path: str) -> list[str]:
        """A route of the gateway's own: of a topic that belongs to the user, where it names one."""
        topic = "rule-granted:1" if "members" in path or "broadcast" in path else f"user:{USER}"
        url = path.replace("{topic}", topic).replace("{userId}", USER).replace("{user}", "cem").replace("{event}", "e")
        url = url.replace("{id}", "node.0.1")
        if "/dead-letters" in path:
            url += "?service=spotify"
        if path.endswith("/trace"):
            url += "?offset=1"
        if path == "/v1/why":
            url += f"?user={USER}&topic={topic}&offset=1"
        body = {"/v1/broadcast": {"topic": topic, "event": "e", "data": {}}, "/v1/revocations": {"user": "nobody-1"},
                "/realtime/v1/api/broadcast": {"messages": [{"topic": topic, "event": "e", "payload": {}}]},
                "/realtime/v1/api/broadcast/{topic}/events/{event}": {}}.get(path)
        home = topic if "{topic}" in path or "broadcast" in path or path == "/v1/why" else None

        def play(shown):
            response = self.ask(method, url, shown, json=body)
            return self.answered(f"{method} {url}", response, set())

        return [self.both(caller, home if caller == "bound" else None, play) for caller in CALLERS]

    def topic(self, event: str, rule: str) -> list[str]:
        """A topic of a namespace of that rule; of the owner's, it is the user's."""
        topic = f"rule-{rule}:{USER}"
        data = {"topic": topic} | ({"event": "e", "data": {}} if event == "publish" else {})

        def play(shown):
            answer = self.event(shown, event, data)
            if event == "subscribe" and answer["event"] == "subscribed":
                self.event(shown, "unsubscribe", {"topic": topic})
            return self.told(f"{event} {topic}", answer, set())

        return [self.both(caller, topic, play) for caller in CALLERS]

    def event(self, shown: str | None, name: str, data: dict) -> dict:
        """The answer to a message of a socket; events meanwhile concern nobody."""
        client = self.socket(shown)
        ref = next(client.references)
        client.send(name, data, ref=ref)
        while (answer := client.receive()).get("ref") != ref:
            pass
        return answer

    def told(self, where: str, answer: dict, declared: set[str]) -> str:
        """The outcome of a socket's answer."""
        if answer["event"] != "error":
            return "yes"
        code = answer["data"]["code"]
        status = {"unauthorized": 401, "forbidden": 403, "not_found": 404}.get(code, 400)
        return self.outcome(where, status, answer["data"]["message"], declared, code)

    # Commands

    def command(self, name: str, ways: list) -> dict[str, list[str]]:
        """The row of a command; several rows when its ways do not agree."""
        operation = next(operation for _, path, operation in ways if path == f"/v1/commands/{name}")
        schema = operation["requestBody"]["content"]["application/json"]["schema"]
        properties = {key: value for key, value in schema["properties"].items() if key not in ("id",) or is_id(value)}
        users = {key for key, value in properties.items() if "{1,128}" in json.dumps(value)}
        arguments = {key: example(properties[key]) for key in properties if key in schema["required"] or key in users}
        home = self.home(operation.get("x-home"), arguments)
        mints = re.search(r"a token of the gateway's own, for (\w+):", json.dumps(operation["responses"]))
        if mints:
            self.mintable.add(mints[1])
        text = json.dumps([operation["responses"][status] for status in operation["responses"] if int(status) >= 400])
        declared = set(re.findall(r"[a-z_]+", " ".join(re.findall(r"Codes: ([^.]*)\.", text))))
        told = {}
        for method, path, _ in [*ways, ("EVENT", name, None)]:
            outcomes = tuple(
                self.both(caller, self.reached(caller, home), lambda shown, caller=caller, method=method, path=path: (
                    self.call(caller, home, shown, method, path, arguments, users, declared)))
                for caller in CALLERS)
            told.setdefault(outcomes, []).append((method, path))
        routes = [f"`{method} {path}`" for method, path, _ in ways if path != f"/v1/commands/{name}"]
        if len(told) == 1:
            return {", ".join([f"`{name}`", *routes]): list(next(iter(told)))}
        return {f"`{name}` by " + ", ".join(f"`{method} {path}`" for method, path in some): list(outcomes)
                for outcomes, some in told.items()}

    mintable = {"order", "session"}

    def home(self, template: str | None, arguments: dict) -> str | None:
        """The topic of a call, from the template in the description."""
        if template is None:
            return None
        return re.sub(r"\{(\w+)\}", lambda name: str(arguments.get(name[1], USER)), template)

    def reached(self, caller: str, home: str | None) -> str | None:
        """The topic of a token that reaches the call; none for tokens that no script makes."""
        if caller == "bound" or home is None:
            return home
        namespace, _, id = home.partition(":")
        return f"{namespace}:{SESSION if id == '*' else id}" if namespace in self.mintable else None

    def call(self, caller, home, shown, method, path, arguments, users, declared) -> str:
        """Calls a command in one way."""
        if home == "session:*":
            self.seed()
        given = {key: value for key, value in arguments.items()
                 if key not in users or caller not in [*NAMELESS, "minted"]}
        if method == "EVENT":
            return self.told(f"event {path} by {caller}", self.event(shown, path, given), declared)
        inside = re.findall(r"\{(\w+)\}", path)
        url = path
        for key in inside:
            own = self.guest if caller == "minted" else USER
            url = url.replace(f"{{{key}}}", str(arguments.get(key, own) if key not in users else own))
        rest = {key: value for key, value in given.items() if key not in inside}
        options = {"params": rest} if method == "GET" else {"json": rest}
        response = self.ask(method, url, shown, **options)
        return self.answered(f"{method} {url} by {caller}", response, declared)

    def seed(self):
        """Puts every user into a session, so that commands that look for one find it."""
        pipe = self.db.pipeline(transaction=False)
        for user in (USER, OTHER, self.guest):
            pipe.delete(f"user:{user}#listening")
            pipe.hset(f"user:{user}#listening", "session", SESSION)
        pipe.execute()


def is_id(schema: dict) -> bool:
    """Whether an argument called `id` is more than the name of the operation."""
    return "OperationId" not in json.dumps(schema)


def example(schema: dict):
    """A value that fits a schema."""
    if "anyOf" in schema:
        return example(schema["anyOf"][0])
    if "oneOf" in schema:
        return example(schema["oneOf"][0])
    kind = schema.get("type", "object")
    kind = kind[0] if isinstance(kind, list) else kind
    if "enum" in schema:
        return schema["enum"][0]
    if kind == "string":
        if "{1,128}" in schema.get("pattern", ""):
            return USER
        return "x1" if "{1,200}" in schema.get("pattern", "") else "x" * max(1, schema.get("minLength", 1))
    if kind in ("integer", "number"):
        return max(schema.get("minimum", 1), min(1, schema.get("maximum", 1)))
    if kind == "array":
        return ["x1"] * max(1, schema["minItems"])
    return {"boolean": True, "object": {}}[kind]


def table(rows: dict[str, list[str]]) -> list[str]:
    """The rows as Markdown."""
    return ["| | " + " | ".join(CALLERS) + " |", "|---" * (len(CALLERS) + 1) + "|",
            *(f"| {name} | " + " | ".join(cells) + " |" for name, cells in rows.items())]


def documented() -> dict[str, list[str]]:
    """The rows of the page."""
    made = PAGE.read_text().partition(START)[2].partition(END)[0]
    rows = {}
    for line in made.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == len(CALLERS) + 1 and cells[0] and cells[0] != "---":
            rows[cells[0]] = cells[1:]
    return rows


def differences(played: dict[str, list[str]], written: dict[str, list[str]]) -> list[str]:
    """What differs between the gateway and the page, a sentence each."""
    told = [f"{name}: the page has no row" for name in played if name not in written]
    told += [f"{name}: a row of the page for what the gateway does not have" for name in written if name not in played]
    for name in played.keys() & written.keys():
        told += [f"{name}, {caller}: {is_now}, and the page says {was}"
                 for caller, is_now, was in zip(CALLERS, played[name], written[name], strict=True) if is_now != was]
    return sorted(told)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="put the table into docs/rights-table.md")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        redis = RedisServer(Path(place) / "redis").start()
        try:
            matrix = Matrix(Path(place), redis, write_certificate(Path(place)))
            try:
                text = "\n".join(table(matrix.rows()))
            finally:
                matrix.stop()
        finally:
            redis.stop()
    if not options.write:
        print(text)
        return 0
    head, _, rest = PAGE.read_text().partition(START)
    PAGE.write_text(f"{head}{START}\n\n{text}\n\n{END}{rest.partition(END)[2]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
