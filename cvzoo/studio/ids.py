"""Identifiers: a prefix of two letters, an underscore and 16 base-32 digits; the server makes all of them."""

import base64
import hashlib
import re
import secrets

_ID = re.compile(r"[a-z]{2}_[a-z2-7]{16}")


def new_id(prefix: str) -> str:
    """A new random identifier, such as jb_k3v...; prefix: two letters"""
    return f"{prefix}_{_digits(secrets.token_bytes(10))}"


def id_of_path(prefix: str, path: str) -> str:
    """The identifier of a path: always the same one, so that links to a watched folder outlive the server."""
    return f"{prefix}_{_digits(hashlib.sha256(path.encode('utf-8', 'surrogateescape')).digest()[:10])}"


def is_id(text: str, prefix: str) -> bool:
    """Whether the text is an identifier with this prefix."""
    return text.startswith(f"{prefix}_") and _ID.fullmatch(text) is not None


def _digits(data: bytes) -> str:
    return base64.b32encode(data).decode().lower()
