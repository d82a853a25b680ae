"""Which images the words of a command line mean: files, globs, folders, addresses, videos, and `-` for a list."""

import glob
import os
import pathlib
import re
import urllib.parse
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from cvzoo.errors.exceptions import CvzooError
from cvzoo.images.list_image_files import list_image_files
from cvzoo.images.read_image import read_image
from cvzoo.images.read_image_url import read_image_url
from cvzoo.images.read_video import read_video
from cvzoo.images.video_kind import video_kind

_SCHEME = re.compile(r"([a-zA-Z][a-zA-Z0-9+.-]*)://")


class Trouble(NamedTuple):
    """An image, or a word of the command line, that could not be used, and why."""

    name: str
    why: str


class Address(str):
    """The http or https address of an image."""


class Video(str):
    """The path of a video, the number of a camera, the address of a stream."""


class Frame(NamedTuple):
    """A frame of a video, and its place there, counted from 0."""

    video: Video
    number: int
    img: np.ndarray

    def __str__(self) -> str:
        return f"{self.video}#{self.number}"


Photo = pathlib.Path | Address | Frame


def read_photo(photo: Photo) -> np.ndarray:
    """As `read_image` and `read_image_url` give it, and raise."""
    if isinstance(photo, Frame):
        return photo.img
    return read_image_url(photo) if isinstance(photo, Address) else read_image(photo)


def path_of(photo: Photo) -> pathlib.PurePath:
    """The path after which its results are named; of an address that without host and query, of a frame its number."""
    if isinstance(photo, Frame):
        stem = (
            f"camera_{photo.video}" if photo.video.isdecimal() else pathlib.PurePath(photo.video.partition("?")[0]).stem
        )
        return pathlib.PurePath(f"{stem}_{photo.number:06d}.jpg")
    if not isinstance(photo, Address):
        return photo
    path = urllib.parse.unquote(urllib.parse.urlsplit(photo).path)
    return pathlib.PurePosixPath("".join(each if each.isprintable() and each != "\\" else "_" for each in path))


def photo_sources(
    words: Sequence[str], listed: Iterable[bytes], *, frame_step: int | None = None
) -> tuple[Iterable[Photo | Trouble], int | None]:
    """The images in order, and how many they are; None if that is not known before the list or a video has been read.

    words: paths of files, globs such as "photos/**/*.jpg", folders (the images in them, not in folders below), http and
        https addresses, videos and cameras, and "-"
    listed: the lines of the list that "-" stands for; it is read while the images are asked for, blank lines left out
    frame_step: of so many frames of a video one is given, read when it is asked for; None: a video is a Trouble
    """
    if "-" in words:
        return _with_frames(_each(words, listed), frame_step), None
    found = list(_each(words, ()))
    n = len(found)
    is_known = frame_step is None or not any(isinstance(each, Video) for each in found)
    photos = _with_frames(found, frame_step)
    return (list(photos), n) if is_known else (photos, None)


def _with_frames(found: Iterable[Photo | Video | Trouble], step: int | None) -> Iterator[Photo | Trouble]:
    """What was found, with the frames of videos in their place."""
    for each in found:
        if not isinstance(each, Video):
            yield each
        elif step is None:
            yield Trouble(each, f"{video_kind(each)}, and images are wanted; extract frames: ffmpeg")
        else:
            try:
                for k, img in enumerate(read_video(each, step=step)):
                    yield Frame(each, k * step, img)
            except (CvzooError, OSError) as error:
                strerror = error.strerror if isinstance(error, OSError) else None
                yield Trouble(each, strerror or str(error).removeprefix(f"{each}: "))


def _each(words: Iterable[str], listed: Iterable[bytes]) -> Iterator[Photo | Video | Trouble]:
    for word in words:
        if word == "-":
            empty = True
            for line in listed:
                name = os.fsdecode(line.rstrip(b"\r\n"))
                if name.strip():
                    empty = False
                    yield from _meant_by(name)
            if empty:  # as with an empty folder, who lists images expects some
                yield Trouble("-", "the list on standard input is empty")
        else:
            yield from _meant_by(word)


def _meant_by(word: str) -> Iterator[Photo | Video | Trouble]:
    path = pathlib.Path(word)
    try:
        if not word:  # which would be the folder that we are in
            yield Trouble('""', "an empty path names no image")
        elif video_kind(word) is not None and not path.is_dir():
            if glob.has_magic(word) and not path.exists():
                names = sorted(glob.iglob(word, recursive=True))
                yield from map(Video, names) if names else [Trouble(word, "no file matches")]
            else:
                yield Video(word)
        elif word.lower().startswith(("http://", "https://")):
            yield Address(word)
        elif (scheme := _SCHEME.match(word)) is not None and not path.exists():
            yield Trouble(word, f"an address of {scheme[1]}; only http and https are fetched, and a path stands alone")
        elif path.is_dir():
            found = list_image_files(path)
            if not found:
                deeper = pathlib.Path(glob.escape(word)) / "**" / "*.jpg"
                yield Trouble(word, f"no images in this folder; for those in folders below: '{deeper}'")
            yield from found
        elif path.exists() or not glob.has_magic(word):
            # a file that is not there is told when it is read, like any other that cannot be
            yield path
        else:
            names = sorted(name for name in glob.iglob(word, recursive=True) if not os.path.isdir(name))
            if not names:
                yield Trouble(word, "no file matches")
            yield from [pathlib.Path(name) for name in names]
    except (OSError, ValueError) as error:  # a folder that may not be looked into; a name with a zero byte
        yield Trouble(word, str(error))
