"""The checksum of record files."""

import pytest

from cvzoo.training.tensorboard.crc32c import crc32c, masked_crc32c

# RFC 3720, appendix B.4; the last is the check value of the CRC catalogue
KNOWN = [
    (bytes(32), 0x8A9136AA),
    (b"\xff" * 32, 0x62A8AB43),
    (bytes(range(32)), 0x46DD794E),
    (bytes(range(31, -1, -1)), 0x113FDB5C),
    (b"123456789", 0xE3069283),
    (b"", 0),
]


@pytest.mark.parametrize(("data", "expected"), KNOWN)
def test_checksums_are_those_of_the_standard(data, expected):
    assert crc32c(data) == expected


def test_a_changed_bit_changes_the_masked_checksum():
    seen = {masked_crc32c(bytes([*range(9), 1 << bit])) for bit in range(8)}
    assert len(seen) == 8
    assert all(0 <= each < 1 << 32 for each in seen)
