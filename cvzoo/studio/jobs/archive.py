"""The files of a run as one tar file, which is made while it is sent."""

import os
import pathlib
from collections.abc import Iterator

from cvzoo.studio.jobs.files import run_file, run_files, run_images
from cvzoo.studio.jobs.json_file import open_regular

_CHUNK = 1 << 18  # bytes: no more of a file is in memory


def archive(run: pathlib.Path, name: str) -> Iterator[bytes]:
    """The tar file in parts: what `run_files` and `run_images` list, in a folder of this name.

    A log that a resumed training cuts off meanwhile ends with empty lines; all others are replaced, never changed.
    """
    import tarfile  # 0.5 MB, which an idle server does without

    for each in [*(file for file, _ in run_files(run)), *run_images(run)]:
        path = run_file(run, each)
        try:
            file = None if path is None else open_regular(path)
        except OSError:
            file = None
        if file is None:  # a training replaces its snapshots
            continue
        with file:
            status = os.fstat(file.fileno())
            info = tarfile.TarInfo(f"{name}/{each}")
            info.size, info.mtime, info.mode = status.st_size, int(status.st_mtime), 0o644
            yield info.tobuf()
            left = info.size
            while left:
                size = min(_CHUNK, left)
                yield file.read(size).ljust(size, b"\n")
                left -= size
            yield bytes(-info.size % tarfile.BLOCKSIZE)
    yield bytes(2 * tarfile.BLOCKSIZE)
