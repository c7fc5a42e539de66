"""Forged and malformed tokens: each gets `unauthorized` and close 4401, and nothing reaches Redis."""

import base64
import hashlib
import hmac
import http.server
import json
import threading
import time

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from Fixtures.clients.tokens import assemble, claims, encode, sign

HEADER = {"alg": "HS256", "typ": "JWT"}


@pytest.fixture(scope="module")
def ec_key():
    return ec.generate_private_key(ec.SECP256R1())


@pytest.fixture(scope="module")
def rsa_key():
    return rsa.generate_private_key(65_537, 2_048)


def public_pem(key) -> bytes:
    return key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)


def refuse(gw, watch, forged: str) -> None:
    with gw.client() as client, watch() as seen:
        client.send("authenticate", {"token": forged}, ref=1)
        client.expect_error("unauthorized", ref=1)
        client.expect_close(4401)
    assert seen.on_behalf_of_clients() == []


def unsigned(alg) -> str:
    return f"{encode(json.dumps({'alg': alg, 'typ': 'JWT'}).encode())}.{encode(json.dumps(claims()).encode())}."


@pytest.mark.parametrize("alg", [
    "none", "None", "NONE", "nOnE", "", None, [], ["HS256"], {}, 0, "hs256", "HS256 ", "HS384", "HS512", "RS256",
    "ES256", "EdDSA", "PS256", "HS256\u0000", "dir", "A128KW",
], ids=repr)
def test_algorithm(gw, watch, secret, alg):
    refuse(gw, watch, unsigned(alg))
    refuse(gw, watch, assemble({"alg": alg, "typ": "JWT"}, claims(), secret))


def test_algorithm_missing(gw, watch, secret):
    refuse(gw, watch, assemble({"typ": "JWT"}, claims(), secret))


@pytest.mark.parametrize("header", [
    HEADER | {"crit": ["exp"]}, HEADER | {"crit": []}, HEADER | {"b64": False}, HEADER | {"zip": "DEF"},
    HEADER | {"enc": "A128GCM"}, HEADER | {"cty": "JWT"}, HEADER | {"typ": "JOSE"}, HEADER | {"typ": 1},
    HEADER | {"kid": 1}, HEADER | {"kid": ""}, HEADER | {"kid": None}, HEADER | {"kid": "../../dev/null"},
    HEADER | {"kid": "/dev/null"}, HEADER | {"kid": "' OR 1=1 --"}, HEADER | {"kid": "a\u0000b"},
    HEADER | {"kid": "k" * 5_000}, HEADER | {"kid": ["a"]}, [], "HS256", None, {"alg": {"alg": "HS256"}},
], ids=lambda value: repr(value)[:60])
def test_header(gw, watch, secret, header):
    refuse(gw, watch, assemble(header, claims(), secret))


def test_key_id_of_an_unnamed_key_is_only_a_name(gw, secret):
    """Some issuers name the key though there is one; it selects nothing, and the signature still decides."""
    with gw.client() as client:
        client.authenticate(assemble(HEADER | {"kid": "main-2026"}, claims(), secret))


@pytest.mark.parametrize("text", [
    b'{"alg":"HS256","alg":"none"}', b'{"alg":"none","alg":"HS256"}', b'{"alg":"HS256"}x', b'{"alg":"HS256",}',
    b"{'alg':'HS256'}", b'\xef\xbb\xbf{"alg":"HS256"}', b'{"alg":"HS256","a":"\xff"}', b"", b"{", b"null",
    b'{"alg":"HS256","a":' + b"[" * 500 + b"]" * 500 + b"}",
], ids=range(11))
def test_header_text(gw, watch, secret, text):
    refuse(gw, watch, assemble(text, claims(), secret))


@pytest.mark.parametrize("text", [
    b'{"sub":"u1","sub":"u2","exp":99999999999}', b'{"sub":"u1","exp":1,"exp":99999999999}', b"[]", b"", b"null",
    b'{"sub":"u1","exp":99999999999}x', b'{"sub":"\xff","exp":99999999999}', b'{"sub":"u1","exp":1e400}',
    b'{"sub":"u1","exp":NaN}', b'{"sub":"u1","exp":Infinity}', b'{"sub":"u1","exp":0x7fffffff}',
    b'{"sub":"u1","exp":18446744073709551616}', b'{"sub":"u1","exp":9223372036854775807}',
    b'{"sub":"u1","exp":99999999999.5}', b'{"sub":"u1","exp":1e11}', b'{"sub":"u1","exp":-1}',
    b'{"sub":"u1","exp":"99999999999"}', b'{"sub":"u1","exp":true}', b'{"sub":"u1","exp":[99999999999]}',
    b'{"sub":"u1","exp":' + b"9" * 400 + b"}", b'{"sub":"u1","exp":99999999999,"a":' + b"[" * 500 + b"]" * 500 + b"}",
], ids=range(21))
def test_claims_text(gw, watch, secret, text):
    refuse(gw, watch, assemble(HEADER, text, secret))


@pytest.mark.parametrize("change", [
    {"exp": None}, {"exp": 0}, {"exp": 1}, {"nbf": 99_999_999_999}, {"nbf": "0"}, {"nbf": 1.5}, {"nbf": -1},
    {"iat": "0"}, {"iat": -1}, {"iat": 2**64},
    {"sub": None}, {"sub": ""}, {"sub": 1}, {"sub": []}, {"sub": "a b"}, {"sub": "a#b"}, {"sub": "é"},
    {"sub": "u1\n"}, {"sub": "u\u0000"}, {"sub": "*"}, {"sub": "x" * 129},
    {"role": "admin"}, {"role": ""}, {"role": 1}, {"role": ["service"]}, {"role": "Service"}, {"role": "service "},
    {"topics": "order:*"}, {"topics": [1]}, {"topics": ["*"]}, {"topics": ["*:*"]}, {"topics": ["order*"]},
    {"topics": ["order:*:*"]}, {"topics": [""]}, {"topics": ["order:a b"]}, {"topics": {"order": "*"}},
    {"topics": ["order:*"] * 257},
], ids=lambda value: repr(value)[:60])
def test_claims(gw, watch, secret, change):
    payload = {name: value for name, value in (claims() | change).items() if value is not None}
    refuse(gw, watch, assemble(HEADER, payload, secret))


def mangled(token: str) -> dict[str, str]:
    head, payload, signature = token.split(".")
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    trailing = alphabet[alphabet.index(signature[-1]) | 1]
    if trailing == signature[-1]:
        trailing = alphabet[alphabet.index(signature[-1]) ^ 2]
    wide = base64.b64encode(base64.urlsafe_b64decode(signature + "=")).decode().rstrip("=")
    forms = {
        "empty": "", "one segment": head, "two segments": f"{head}.{payload}", "no signature": f"{head}.{payload}.",
        "four segments": token + ".x", "five segments": f"{head}.x.x.x.{signature}", "dots": "." * 60_000,
        "two dots": "..", "padding": token + "=", "padded header": f"{head}==.{payload}.{signature}",
        "space before": " " + token, "space after": token + " ", "newline": token + "\n",
        "newline inside": f"{head}.\n{payload}.{signature}", "trailing bits": token[:-1] + trailing,
        "swapped": f"{payload}.{head}.{signature}", "cut signature": token[:-2], "long signature": token + "AAAA",
        "empty payload": f"{head}..{signature}", "NUL": token + "\u0000", "é": token + "é",
        "bearer": "Bearer " + token, "hex signature": f"{head}.{payload}.{'ab' * 32}",
        "megabyte": "a" * 20_000 + "." + payload + "." + signature,
    }
    if wide != signature:
        forms["other alphabet"] = f"{head}.{payload}.{wide}"
    return forms


@pytest.mark.parametrize("form", sorted(set(mangled(sign(b"x" * 32))) | {"other alphabet"}))
def test_form(gw, watch, secret, form):
    for attempt in range(1_000):
        forms = mangled(sign(secret, jti=str(attempt)))
        if form in forms:
            return refuse(gw, watch, forms[form])
    raise AssertionError("no signature with + or / was found")


@pytest.mark.parametrize("forged", ["", "x" * 32, "secret", "\u0000" * 32], ids=range(4))
def test_another_secret(gw, watch, forged):
    refuse(gw, watch, assemble(HEADER, claims(), forged.encode()))


def test_every_changed_signature_byte(gw, watch, secret):
    head, payload, signature = sign(secret).split(".")
    raw = base64.urlsafe_b64decode(signature + "=")
    for index in range(0, 32, 5):
        changed = raw[:index] + bytes([raw[index] ^ 1]) + raw[index + 1:]
        refuse(gw, watch, f"{head}.{payload}.{encode(changed)}")


@pytest.mark.parametrize("name", ["sub", "role", "topics"])
def test_changed_payload(gw, watch, secret, name):
    head, _, signature = sign(secret).split(".")
    payload = claims() | {name: {"sub": "u2", "role": "service", "topics": ["order:*"]}[name]}
    refuse(gw, watch, f"{head}.{encode(json.dumps(payload).encode())}.{signature}")


@pytest.mark.parametrize("kind", ["ES256", "RS256"])
def test_key_of_another_algorithm_is_not_a_secret(gateway, watch, tmp_path, ec_key, rsa_key, kind):
    """CVE-2015-9235: the public key must never serve as an HMAC secret."""
    key = ec_key if kind == "ES256" else rsa_key
    (tmp_path / "public.pem").write_bytes(public_pem(key))
    gw = gateway("--jwt-key", str(tmp_path / "public.pem"))
    with gw.client() as client:
        client.authenticate(jwt.encode(claims(), key, algorithm=kind))
    pem = public_pem(key)
    for secret in (pem, pem.strip(), pem.replace(b"\n", b"\r\n"), key.public_key().public_bytes(
            serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)):
        refuse(gw, watch, assemble(HEADER, claims(), secret))
        signed = encode(json.dumps({"alg": kind}).encode()) + "." + encode(json.dumps(claims()).encode())
        refuse(gw, watch, signed + "." + encode(hmac.new(secret, signed.encode(), hashlib.sha256).digest()))


@pytest.mark.parametrize("signature", [
    b"\x00" * 64, b"\x00" * 63, b"\x00" * 65, b"", b"\xff" * 64, b"\x30\x06\x02\x01\x00\x02\x01\x00",
], ids=["zero", "short", "long", "empty", "ones", "der zero"])
def test_elliptic_signature(gateway, watch, tmp_path, ec_key, signature):
    """CVE-2022-21449: r = s = 0 verified everything."""
    (tmp_path / "public.pem").write_bytes(public_pem(ec_key))
    gw = gateway("--jwt-key", str(tmp_path / "public.pem"))
    signed = encode(b'{"alg":"ES256","typ":"JWT"}') + "." + encode(json.dumps(claims()).encode())
    refuse(gw, watch, signed + "." + encode(signature))


def test_key_from_the_token_is_never_used_nor_fetched(gw, watch, secret, rsa_key):
    """`jwk`, `jku`, `x5u`, `x5c` are ignored; a canary server sees no request (CVE-2018-0114, CVE-2026-32301)."""
    requests = []

    class Canary(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            requests.append(self.path)
            self.send_response(404)
            self.end_headers()

        def log_message(self, *_):
            pass

    canary = http.server.HTTPServer(("127.0.0.1", 0), Canary)
    thread = threading.Thread(target=canary.serve_forever, daemon=True)
    thread.start()
    try:
        url = f"http://127.0.0.1:{canary.server_port}/keys"
        jwk = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(rsa_key.public_key()))
        for header in ({"jwk": jwk}, {"jku": url}, {"x5u": url}, {"x5c": ["MIIB"]}):
            refuse(gw, watch, jwt.encode(claims(iss=url), rsa_key, algorithm="RS256", headers=header))
            with gw.client() as client:
                client.authenticate(assemble(HEADER | header, claims(iss=url), secret))
        assert requests == []
    finally:
        canary.shutdown()
        thread.join()
        canary.server_close()


@pytest.mark.parametrize("kid", ["k2", "K1", "k", "k11"])
def test_key_id_is_only_a_name(gateway, watch, tmp_path, ec_key, secret, kid):
    """A name finds the key of that name or none."""
    jwk = json.loads(jwt.algorithms.ECAlgorithm.to_jwk(ec_key.public_key()))
    jwk |= {"kid": "k1", "alg": "ES256", "use": "sig"}
    (tmp_path / "keys.json").write_text(json.dumps({"keys": [jwk]}))
    gw = gateway("--jwks", str(tmp_path / "keys.json"))
    with gw.client() as client:
        client.authenticate(jwt.encode(claims(), ec_key, algorithm="ES256", headers={"kid": "k1"}))
    refuse(gw, watch, jwt.encode(claims(), ec_key, algorithm="ES256", headers={"kid": kid}))
    # The shared secret has no name; a token that it signed is good whatever name it carries.
    with gw.client() as client:
        client.authenticate(assemble(HEADER | {"kid": kid}, claims(), secret))


def test_nested_and_encrypted_tokens(gw, watch, secret):
    inner = sign(secret)
    refuse(gw, watch, assemble(HEADER, inner.encode(), secret))
    refuse(gw, watch, assemble(HEADER | {"cty": "JWT"}, inner.encode(), secret))
    parts = [b'{"alg":"dir","enc":"A128GCM"}', b"", b"iv", b"x", b"tag"]
    refuse(gw, watch, ".".join(map(encode, parts)))


@pytest.mark.parametrize("change", [
    {}, {"iss": "other"}, {"iss": "https://issuer.example/"}, {"iss": 1}, {"iss": "https://issuer.example", "aud": "x"},
    {"iss": "https://issuer.example"}, {"iss": "https://issuer.example", "aud": []},
    {"iss": "https://issuer.example", "aud": ["x", 1]}, {"aud": "switchboard"},
], ids=repr)
def test_wrong_issuer_or_audience(gateway, watch, secret, change):
    gw = gateway("--jwt-issuer", "https://issuer.example", "--jwt-audience", "switchboard")
    good = {"iss": "https://issuer.example"}
    with gw.client() as client:
        client.authenticate(sign(secret, aud=["x", "switchboard"], **good))
    refuse(gw, watch, sign(secret, **change) if change.get("iss") != 1 else assemble(HEADER, claims(**change), secret))


@pytest.mark.parametrize("late,name", [(5, "exp"), (-5, "nbf")])
def test_times_beyond_the_leeway(gateway, watch, secret, late, name):
    gw = gateway(limits={"tokenLeewaySeconds": 2})
    refuse(gw, watch, sign(secret, **{name: int(time.time()) - late}))


def test_all_attacks_also_fail_at_the_upgrade_and_over_http(gw, secret, watch):
    """The same verifier stands behind every door; a sample is enough."""
    samples = [unsigned("none"), sign(b"y" * 32), sign(secret, ttl=-3_600), mangled(sign(secret))["padding"]]
    with gw.http(key=None) as http_client, watch() as seen:
        for forged in samples:
            response = http_client.get("/v1/topics/shop:1", headers={"authorization": f"Bearer {forged}"})
            assert response.status_code == 401
    assert seen.on_behalf_of_clients() == []
