"""Copies an image file, optionally with its EXIF orientation reset."""

import pathlib
import shutil
import struct

from cvzoo.errors.exceptions import ImageError

_ORIENTATION = 0x0112  # the EXIF tag


def copy_image(source: pathlib.Path, target: pathlib.Path, *, as_stored: bool = False) -> None:
    """Copies the file bit for bit; with `as_stored`, the EXIF orientation of a JPEG is set to 1 (upright).

    Raises ImageError for as_stored if the file has no EXIF orientation, OSError.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    if not as_stored:
        shutil.copyfile(source, target)
        return
    data = bytearray(source.read_bytes())
    at, order = _find_orientation(bytes(data), source.name)
    struct.pack_into(f"{order}H", data, at, 1)
    target.write_bytes(data)


def _find_orientation(data: bytes, name: str) -> tuple[int, str]:
    """(offset of the value, struct's letter of its byte order) in a JPEG. Source: EXIF 2.3, section 4.6; TIFF 6.0."""
    at = 2
    try:
        # from segment to segment: FFD8 begins the file, FFDA the compressed pixels, FFE1 is where EXIF is stored
        while data[:2] == b"\xff\xd8" and data[at] == 0xFF and data[at + 1] != 0xDA:
            (length,) = struct.unpack_from(">H", data, at + 2)
            if data[at + 1] == 0xE1 and data[at + 4 : at + 10] == b"Exif\0\0":
                start = at + 10
                order = {b"II": "<", b"MM": ">"}[data[start : start + 2]]
                (first,) = struct.unpack_from(f"{order}I", data, start + 4)
                (n_entry,) = struct.unpack_from(f"{order}H", data, start + first)
                for i in range(n_entry):
                    # tag, type and count take 8 of an entry's 12 bytes, before the value
                    entry = start + first + 2 + 12 * i
                    if struct.unpack_from(f"{order}H", data, entry)[0] == _ORIENTATION:
                        return entry + 8, order
            at += 2 + length
    except (IndexError, KeyError, struct.error):
        pass
    raise ImageError(f"{name} is not a JPEG with an EXIF orientation")
