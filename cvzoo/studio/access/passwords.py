"""Passwords, stored as scrypt's hash with a random salt."""

import hashlib
import hmac
import secrets

MIN_LENGTH = 10
MAX_LENGTH = 200
COST = 2**15  # of scrypt, a power of two: 32 MiB and a tenth of a second a password
_N_SALT = 16
_N_HASH = 32


def hash_of(password: str) -> bytes:
    """What is stored: the salt and the hash."""
    salt = secrets.token_bytes(_N_SALT)
    return salt + _scrypt(password, salt)


def is_password(password: str, stored: bytes | None) -> bool:
    """Whether the password is the stored one; it takes as long if none is stored, as of an unknown user."""
    salt = (stored or bytes(_N_SALT))[:_N_SALT]
    is_equal = hmac.compare_digest(_scrypt(password, salt), (stored or b"")[_N_SALT:])
    return is_equal and stored is not None


def _scrypt(password: str, salt: bytes) -> bytes:
    secret = password.encode("utf-8", "surrogatepass")
    return hashlib.scrypt(secret, salt=salt, n=COST, r=8, p=1, maxmem=64 << 20, dklen=_N_HASH)
