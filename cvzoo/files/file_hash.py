"""SHA-256 of a file, cached as long as its size and modification time are the same."""

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
    """The file's SHA-256, from the stamp file next to it if size and modification time match, otherwise computed.

    In a read-only folder there is no stamp, and the hash is computed each time.
    """
    stat = path.stat()
    stamp = path.with_name(f".{path.name}.stamp")
    now = {"size": stat.st_size, "mtime_ns": stat.st_mtime_ns}
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        stamped = json.loads(stamp.read_text(encoding="utf-8"))
        if {"size": stamped["size"], "mtime_ns": stamped["mtime_ns"]} == now and isinstance(stamped["sha256"], str):
            return stamped["sha256"]
    digest = sha256_of(path)
    with contextlib.suppress(OSError), atomic_write(stamp) as file:
        file.write(json.dumps({**now, "sha256": digest}).encode("utf-8"))
    return digest
