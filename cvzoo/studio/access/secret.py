"""Random secrets, of which only the hash is stored."""

import hashlib
import secrets


def new_secret() -> str:
    """256 random bits as text for an address or a header."""
    return secrets.token_urlsafe(32)


def digest_of(secret: str) -> bytes:
    """What is stored of a secret; it has 256 random bits, so that a plain SHA-256 cannot be reversed."""
    return hashlib.sha256(secret.encode("utf-8", "surrogateescape")).digest()
