"""Tokens, good and forged."""

import base64
import hashlib
import hmac
import json
import time

import jwt

SECRET = b"end-to-end-secret-of-more-than-32-bytes!"


def sign(secret: bytes, sub: str = "u1", ttl: float = 600, algorithm: str = "HS256", headers: dict | None = None,
         **claims) -> str:
    """A token as an issuer would make it; a claim given as None is left out."""
    payload = {"sub": sub, "exp": int(time.time() + ttl)} | claims
    payload = {name: value for name, value in payload.items() if value is not None}
    return jwt.encode(payload, secret, algorithm=algorithm, headers=headers)


def encode(raw: bytes) -> str:
    """Base64url without padding."""
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def assemble(header: bytes | dict, payload: bytes | dict, secret: bytes) -> str:
    """A token of any two texts, correctly signed with HMAC-SHA-256."""
    parts = [part if isinstance(part, bytes) else json.dumps(part).encode() for part in (header, payload)]
    signed = ".".join(map(encode, parts))
    return signed + "." + encode(hmac.new(secret, signed.encode(), hashlib.sha256).digest())


def claims(**more) -> dict:
    """Claims that are good unless overridden."""
    return {"sub": "u1", "exp": int(time.time() + 600)} | more
