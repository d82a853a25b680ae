"""The checksum of TensorFlow's record files."""

_POLYNOMIAL = 0x82F63B78  # Castagnoli's, its bits reversed


def _row(byte: int) -> int:
    for _ in range(8):
        byte = (byte >> 1) ^ (_POLYNOMIAL if byte & 1 else 0)
    return byte


_TABLE = tuple(_row(byte) for byte in range(256))


def crc32c(data: bytes) -> int:
    """CRC-32C of the bytes, 32 bits. Source: RFC 3720, appendix B.4."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = (crc >> 8) ^ _TABLE[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


def masked_crc32c(data: bytes) -> int:
    """Masked CRC-32C of TFRecord: rotated by 15 bits plus a constant, since checksums of checksums are weak."""
    crc = crc32c(data)
    return (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF
