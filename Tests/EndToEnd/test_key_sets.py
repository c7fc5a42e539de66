"""A courier fetches an identity provider's key set into the file that gateways read, and never takes a bad one over."""

import base64
import json
import time

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec

from Fixtures.clients.tokens import SECRET
from Fixtures.outside.server import Answer, OutsideServer
from Fixtures.processes.courier import CourierProcess
from Fixtures.processes.gateway import Gateway
from Fixtures.waiting import eventually

SOON = {"keySetRefreshMs": 300, "keySetRetryMs": 100, "keySetMs": 1_000}


def number(value: int) -> str:
    return base64.urlsafe_b64encode(value.to_bytes(32, "big")).decode().rstrip("=")


class Provider:
    """An identity provider with one key at a time; `next` is answered before the set."""

    def __init__(self):
        self.rotate()
        self.next, self.always = [], None

    def rotate(self):
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.kid = f"k-{time.monotonic_ns()}"

    @property
    def set(self) -> dict:
        public = self.key.public_key().public_numbers()
        return {"keys": [{"kty": "EC", "crv": "P-256", "use": "sig", "alg": "ES256", "kid": self.kid,
                          "x": number(public.x), "y": number(public.y)}]}

    def token(self, user: str) -> str:
        claims = {"sub": user, "exp": int(time.time()) + 600}
        return jwt.encode(claims, self.key, algorithm="ES256", headers={"kid": self.kid})

    def __call__(self, asked) -> Answer:
        if self.always:
            return self.always
        return self.next.pop(0) if self.next else Answer.of(self.set)


@pytest.fixture
def provider(certificate):
    with OutsideServer(certificate, Provider()) as server:
        yield server


@pytest.fixture
def courier(tmp_path, shared_server, certificate, provider):
    one = CourierProcess(
        tmp_path / "courier", shared_server.url, certificate, {}, "--jwks-url", provider.url + "/keys",
        "--jwks-file", str(tmp_path / "keys.json"), limits=SOON)
    one.keys = tmp_path / "keys.json"
    yield one
    one.stop()


def fetches(courier, outcome: str) -> float:
    return courier.metric("switchboard_courier_key_set_fetches_total", outcome=outcome)


def stored(courier):
    return json.loads(courier.keys.read_text()) if courier.keys.exists() else None


def test_tokens_of_a_new_key_are_taken_without_a_reload(tmp_path, shared_server, certificate, provider, courier):
    courier.start()
    eventually(lambda: stored(courier) == provider.answer.set, 10, "the key set in the file")
    gateway = Gateway(tmp_path / "gateway", shared_server.url, certificate, SECRET, "--jwks", str(courier.keys))
    gateway.start().wait_ready()
    try:
        gateway.client(token=provider.answer.token("ann")).close()
        provider.answer.rotate()
        eventually(lambda: stored(courier) == provider.answer.set, 10, "the new key set in the file")

        def is_taken():
            with gateway.http(key=None) as http:
                token = {"Authorization": "Bearer " + provider.answer.token("ann")}
                return http.get("/v1/openapi.json", headers=token).status_code == 200
        eventually(is_taken, 10, "a token of the new key")
    finally:
        gateway.stop()


SECRET_SET = {"keys": [{"kty": "oct", "kid": "s", "k": base64.urlsafe_b64encode(b"s" * 32).decode().rstrip("=")}]}
PRIVATE_SET = {"keys": [{"kty": "EC", "crv": "P-256", "x": number(1), "y": number(2), "d": number(3)}]}
BAD = [
    (Answer.of({}, 500), "status"), (Answer(302, headers={"location": "https://127.0.0.1:1/keys"}), "status"),
    (Answer.of({"keys": []}), "content"), (Answer.of(SECRET_SET), "content"), (Answer.of(PRIVATE_SET), "content"),
    (Answer(200, b"<html>"), "content"), (Answer(200, b"[" * 300_000), "content"),
    (Answer(200, b"x" * 2_000_000), "unanswered"), (Answer(cut=True), "unanswered"), (Answer(never=True), "unanswered"),
]


@pytest.mark.parametrize(("answer", "outcome"), BAD, ids=range(len(BAD)))
def test_what_is_no_set_of_public_keys_changes_nothing(provider, courier, answer, outcome):
    courier.start()
    eventually(lambda: stored(courier) == provider.answer.set, 10, "the key set in the file")
    before = stored(courier)
    provider.answer.always = answer
    eventually(lambda: fetches(courier, outcome) >= 2, 15, f"two fetches that end as {outcome}")
    assert stored(courier) == before
    assert courier.log_text.count("the key set cannot be fetched") == 1, "told once for one cause"
    provider.answer.always = None
    provider.answer.rotate()
    eventually(lambda: stored(courier) == provider.answer.set, 10, "the next good key set")


def test_a_courier_without_a_key_set_is_not_ready(provider, courier):
    provider.answer.always = Answer.of({}, 503)
    courier.start()
    eventually(lambda: fetches(courier, "status") >= 1, 10, "a fetch that fails")
    assert courier.ops("/readyz").status_code == 503
    assert courier.metric("switchboard_courier_key_set_age_seconds") == -1
    provider.answer.always = None
    eventually(lambda: courier.ops("/readyz").status_code == 200, 10, "a courier that is ready")
