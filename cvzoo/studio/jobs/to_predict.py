"""The images of a job that proposes, and what it has predicted of them, over all of its attempts."""

import os
import pathlib
from collections.abc import Iterable, Iterator

from cvzoo.files.atomic_write import atomic_write
from cvzoo.images.list_image_files import IMAGE_ENDINGS
from cvzoo.studio.jobs.json_file import open_regular
from cvzoo.studio.jobs.rows import Row, read_rows
from cvzoo.studio.jobs.spec import PREDICTED, TO_PREDICT

_BEFORE = "predicted_before.jsonl"  # the rows of attempts that were killed


def link_images(folder: pathlib.Path, images: Iterable[tuple[int, str, pathlib.Path]]) -> None:
    """Makes the folder of a job's images: links, through which the job cannot change them.

    images: (ordinal, name, path) of each; the links have the ordinals as names
    """
    links = folder / TO_PREDICT
    links.mkdir(mode=0o700)
    for ordinal, name, path in images:
        ending = pathlib.PurePath(name).suffix.lower()
        os.symlink(path, links / f"{ordinal}{ending if ending in IMAGE_ENDINGS else '.jpg'}")


def set_aside(folder: pathlib.Path) -> None:
    """Before the next attempt: keeps what the last one predicted, and takes these images from its folder, but one if
    all are done, without which `cvzoo predict` fails. Links that the job made instead of its files are not followed.
    """
    path, links = folder / PREDICTED["jsonl"], folder / TO_PREDICT
    fresh = _bytes_of(path)
    if not fresh:
        return  # the first attempt, or one that came to no image
    before = _bytes_of(folder / _BEFORE)
    with atomic_write(folder / _BEFORE) as file:
        file.write(before + fresh)
    path.unlink()
    if links.is_symlink():
        return
    done = predicted_rows(folder)
    left = sorted(links.iterdir())
    gone = [each for each in left if _ordinal_of(each.name) in done]
    for link in gone[len(gone) == len(left) :]:
        link.unlink()


def predicted_rows(folder: pathlib.Path) -> dict[int, Row]:
    """The last line of results of each image, by its ordinal."""
    found = {}
    for name in (_BEFORE, PREDICTED["jsonl"]):
        for row in _rows(folder / name):
            ordinal = _ordinal_of(pathlib.PurePath(str(row.get("photo"))).name)
            if ordinal is not None:
                found[ordinal] = row
    return found


def _bytes_of(path: pathlib.Path) -> bytes:
    """The whole lines of a file; none of one that is not there, or is none."""
    try:
        with open_regular(path) as file:
            data = file.read()
    except OSError:
        return b""
    return data[: data.rfind(b"\n") + 1]


def _rows(path: pathlib.Path) -> Iterator[Row]:
    offset = 0
    while True:
        rows, end = read_rows(path, offset)
        yield from rows
        if end == offset:
            return
        offset = end


def _ordinal_of(name: str) -> int | None:
    stem = name.partition(".")[0]
    return int(stem) if stem.isascii() and stem.isdigit() and len(stem) < 11 else None
