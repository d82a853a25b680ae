"""SHA-256 of a file, remembered as long as the file keeps its size and date."""

import contextlib
import hashlib
import json
import os
import pathlib

from cvzoo.files.atomic_write import atomic_write


def sha256_of(path: str | os.PathLike) -> str:
    """The file's SHA-256, 64 hexadecimal digits."""
    digest = hashlib.sha256()
    with open(path, "rb", buffering=0) as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def remembered_sha256(path: pathlib.Path) -> str:
    """The file's SHA-256, from the stamp beside it if size and date are those of the stamp, else computed and stamped.

    A folder that cannot be written gets no stamp: the file is then read each time.
    """
    stat = path.stat()
    stamp = path.with_name(f".{path.name}.stamp")
    now = {"size": stat.st_size, "mtime_ns": stat.st_mtime_ns}
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        kept = json.loads(stamp.read_text(encoding="utf-8"))
        if {"size": kept["size"], "mtime_ns": kept["mtime_ns"]} == now and isinstance(kept["sha256"], str):
            return kept["sha256"]
    found = sha256_of(path)
    with contextlib.suppress(OSError), atomic_write(stamp) as file:
        file.write(json.dumps({**now, "sha256": found}).encode("utf-8"))
    return found
