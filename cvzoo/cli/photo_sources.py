"""Which images the words of a command line mean: files, globs, folders, addresses, videos, and `-` for a list."""

import contextlib
import glob
import os
import pathlib
import re
import tempfile
import urllib.parse
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from cvzoo.cli.fetching import fetching
from cvzoo.cli.option_values import FrameRange
from cvzoo.errors.exceptions import CvzooError
from cvzoo.images.list_image_files import list_image_files
from cvzoo.images.read_image import read_image
from cvzoo.images.read_image_url import download_video, read_image_url
from cvzoo.images.read_video import VideoReader
from cvzoo.images.video_kind import camera_of, video_kind
from cvzoo.reporting.counted import counted

_HTTP = ("http://", "https://")
# a file with fewer frames than this of those that it states was truncated; the stated number may be an estimate
_WHOLE, _FEW = 0.98, 2
_SCHEME = re.compile(r"([a-zA-Z][a-zA-Z0-9+.-]*)://")


class Trouble(NamedTuple):
    """An image, or a word of the command line, that could not be used, and why.

    n_image: for how many images it counts: 0 for a video whose frames have been counted before
    """

    name: str
    why: str
    n_image: int = 1


class Address(str):
    """The http or https address of an image."""


class Video(str):
    """The path of a video, the number of a camera, the address of a stream."""


class Frame(NamedTuple):
    """A frame of a video: its number there, from 0, its time in seconds, and the rate of the frames that are used.

    rate: frames per second, None if unknown; is_live: whether they come in real time, from a camera or a stream
    """

    video: Video
    number: int
    img: np.ndarray
    time: float = 0.0
    rate: float | None = None
    is_live: bool = False

    def __str__(self) -> str:
        return f"{self.video}#{self.number}"


Photo = pathlib.Path | Address | Frame


def read_photo(image: Photo) -> np.ndarray:
    """As `read_image` and `read_image_url` give it, and raise."""
    if isinstance(image, Frame):
        return image.img
    return read_image_url(image) if isinstance(image, Address) else read_image(image)


def path_of(image: Photo) -> pathlib.PurePath:
    """The path after which its results are named; of an address that without host and query, of a frame its number."""
    if isinstance(image, Frame):
        return pathlib.PurePath(f"{video_stem(image.video)}_{image.number:06d}.jpg")
    if not isinstance(image, Address):
        return image
    path = urllib.parse.unquote(urllib.parse.urlsplit(image).path)
    return pathlib.PurePosixPath("".join(each if each.isprintable() and each != "\\" else "_" for each in path))


def video_stem(video: Video) -> str:
    """The name of a video for files: without folder, extension and query; of a camera "camera_0"."""
    number = camera_of(video)
    return f"camera_{number}" if number is not None else pathlib.PurePath(video.partition("?")[0]).stem


def photo_sources(
    words: Sequence[str],
    listed: Iterable[bytes],
    *,
    frames: FrameRange | None = None,
    quiet: bool = False,
    without: pathlib.Path | None = None,
) -> tuple[Iterable[Photo | Trouble], int | None]:
    """The images in order, and how many they are; None if that is not known before the list or a video has been read.

    words: paths of files, globs such as "photos/**/*.jpg", folders (the images in them and in folders below, but hidden
        ones), http and https addresses, videos and cameras, and "-"
    listed: the lines of the list that "-" stands for; it is read while the images are asked for, blank lines left out
    frames: those of videos, read when they are asked for; None: a video is a Trouble
    quiet: no progress of downloads of videos
    without: a folder whose images are left out if it is below another one: that of the results
    """
    if "-" in words:
        return _with_frames(_each(words, listed, without), frames, quiet), None
    sources = list(_each(words, (), without))
    images = _with_frames(sources, frames, quiet)
    if frames is None or not any(isinstance(each, Video) for each in sources):
        return list(images), len(sources)
    counts = [_n_frame(each, frames) if isinstance(each, Video) else 1 for each in sources]
    return images, None if None in counts else sum(count or 0 for count in counts)


def _n_frame(video: Video, frames: FrameRange) -> int | None:
    """The number of frames of a file that are used, None if unknown."""
    if video_kind(video) != "a video" or video.lower().startswith(_HTTP):
        return None
    try:
        with VideoReader(video) as reader:
            n = reader.n_frame
    except (CvzooError, OSError):
        return 1  # the trouble
    return None if n is None else len(range(*slice(*frames).indices(n)))


def _with_frames(
    sources: Iterable[Photo | Video | Trouble], frames: FrameRange | None, quiet: bool
) -> Iterator[Photo | Trouble]:
    """The sources, with videos replaced by their frames."""
    for each in sources:
        if not isinstance(each, Video):
            yield each
        elif frames is None:
            yield Trouble(each, f"{video_kind(each)}, and images are wanted; extract frames: ffmpeg")
        else:
            try:
                yield from _frames(each, frames, quiet)
            except (CvzooError, OSError) as error:
                strerror = error.strerror if isinstance(error, OSError) else None
                yield Trouble(each, strerror or str(error).removeprefix(f"{each}: "))


def _frames(video: Video, wanted: FrameRange, quiet: bool) -> Iterator[Frame | Trouble]:
    with contextlib.ExitStack() as ends:
        source: str | pathlib.Path = video
        if video_kind(video) == "a video" and video.lower().startswith(_HTTP):
            folder = ends.enter_context(tempfile.TemporaryDirectory(prefix="cvzoo-"))
            with fetching(video, quiet=quiet) as progress:
                source = download_video(video, folder, progress=progress)
        reader = ends.enter_context(VideoReader(source))
        rate = None if reader.frame_rate is None else reader.frame_rate / wanted.step
        n = 0
        for each in reader.frames(start=wanted.start, stop=wanted.stop, step=wanted.step):
            n += 1
            yield Frame(video, each.number, each.img, each.time, rate, reader.is_live)
        stated = reader.n_frame or 0
        expected = stated if wanted.stop is None else min(stated, wanted.stop)
        if reader.n_read < _WHOLE * expected - _FEW:
            yield Trouble(
                video, f"ends after {reader.n_read} of {counted(stated, 'frame')}: the file is truncated or damaged", 0
            )
        elif n == 0:
            yield Trouble(video, f"has {counted(reader.n_read, 'frame')}, none of them in --frames {wanted}", 0)


def _each(
    words: Iterable[str], listed: Iterable[bytes], without: pathlib.Path | None
) -> Iterator[Photo | Video | Trouble]:
    for word in words:
        if word == "-":
            empty = True
            for line in listed:
                name = os.fsdecode(line.rstrip(b"\r\n"))
                if name.strip():
                    empty = False
                    yield from _meant_by(name, without)
            if empty:  # as with an empty folder, who lists images expects some
                yield Trouble("-", "the list on standard input is empty")
        else:
            yield from _meant_by(word, without)


def _meant_by(word: str, without: pathlib.Path | None) -> Iterator[Photo | Video | Trouble]:
    path = pathlib.Path(word)
    try:
        if not word:  # which would be the folder that we are in
            yield Trouble('""', "an empty path names no image")
        elif video_kind(word) is not None and not path.is_dir():
            if glob.has_magic(word) and _SCHEME.match(word) is None and not path.exists():
                names = sorted(glob.iglob(word, recursive=True))
                yield from map(Video, names) if names else [Trouble(word, "no file matches")]
            else:
                yield Video(word)
        elif word.lower().startswith(_HTTP):
            yield Address(word)
        elif (scheme := _SCHEME.match(word)) is not None and not path.exists():
            yield Trouble(word, f"an address of {scheme[1]}; only http and https are fetched, and a path stands alone")
        elif path.is_dir():
            files = _images_below(path, without)
            if not files:
                yield Trouble(word, "no images in this folder, nor in folders below")
            yield from files
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


def _images_below(folder: pathlib.Path, without: pathlib.Path | None) -> list[pathlib.Path]:
    """The images in the folder and in those below that are not hidden."""
    left_out = None if without is None or without.resolve() == folder.resolve() else without.resolve()
    return [
        path
        for path in list_image_files(folder, recursive=True)
        if not any(part.startswith(".") for part in path.relative_to(folder).parts)
        and (left_out is None or not path.resolve().is_relative_to(left_out))
    ]
