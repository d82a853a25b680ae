"""What is stored of a password."""

import hashlib

from cvzoo.studio.access import passwords

PASSWORD = "correct horse battery"


def test_a_password_is_stored_as_scrypt_of_32_mib_with_a_salt_of_its_own(monkeypatch, cost_of_passwords):
    monkeypatch.setattr(passwords, "COST", cost_of_passwords)
    stored = passwords.hash_of(PASSWORD)
    salt, digest = stored[:16], stored[16:]
    assert digest == hashlib.scrypt(PASSWORD.encode(), salt=salt, n=2**15, r=8, p=1, maxmem=64 << 20, dklen=32)
    assert salt not in passwords.hash_of(PASSWORD)
    assert passwords.is_password(PASSWORD, stored)
    assert not passwords.is_password(PASSWORD + " ", stored)
