"""What the words of a command line mean."""

import os
import pathlib

import numpy as np
import pytest

from cvzoo.cli.option_values import FrameRange
from cvzoo.cli.photo_sources import Address, Trouble, path_of, photo_sources
from cvzoo.images import VideoFrame


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in (
        "b.jpg",
        "a.PNG",
        "notes.txt",
        ".hidden.jpg",
        "below/c.jpg",
        "a[1].jpg",
        "empty/notes.txt",
        ".cache/d.jpg",
    ):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.touch()
    return tmp_path


def meant(words, listed=()):
    """Names of what the words mean; a trouble's name stands in round brackets."""
    found, total = photo_sources(words, listed)
    found = list(found)
    assert total in (None, len(found))
    return [f"({each.name})" if isinstance(each, Trouble) else path_of(each).as_posix() for each in found]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["b.jpg"], ["b.jpg"]),
        (["gone.jpg"], ["gone.jpg"]),  # told when it is read
        (["notes.txt"], ["notes.txt"]),  # whoever names a file means it
        (["."], ["a.PNG", "a[1].jpg", "b.jpg", "below/c.jpg"]),  # images only, none that is hidden
        (["below"], ["below/c.jpg"]),
        (["empty"], ["(empty)"]),
        (["*.jpg"], ["a[1].jpg", "b.jpg"]),
        (["**/*.jpg"], ["a[1].jpg", "b.jpg", "below/c.jpg"]),
        (["*"], ["a.PNG", "a[1].jpg", "b.jpg", "notes.txt"]),  # no folders
        (["x*.jpg"], ["(x*.jpg)"]),
        (["a[1].jpg"], ["a[1].jpg"]),  # a file that is there is not a glob
        (["b.jpg", "b.jpg"], ["b.jpg", "b.jpg"]),
        ([""], ['("")']),  # and not the folder that we are in
        (["movie.mp4", "0", "rtsp://host/1"], ["(movie.mp4)", "(0)", "(rtsp://host/1)"]),
        (["https://example.org/a/dog.jpg?w=1"], ["/a/dog.jpg"]),
    ],
)
def test_words_mean_photos(folder, words, expected):
    assert meant(words) == expected


def test_a_list_is_read_line_by_line_and_only_when_asked(folder):
    lines = [b"b.jpg\n", b"\n", b"   \r\n", b"below\r\n", b" blank in front.jpg\n", b"x*\n", b"last.jpg"]
    expected = ["b.jpg", "below/c.jpg", " blank in front.jpg", "(x*)", "last.jpg"]
    assert meant(["-"], lines) == expected
    assert meant(["a.PNG", "-"], lines) == ["a.PNG", *expected]

    def endless():
        yield b"b.jpg\n"
        raise AssertionError("read too far")

    found, total = photo_sources(["-"], endless())
    assert total is None
    assert next(iter(found)) == pathlib.Path("b.jpg")


def test_a_dash_in_a_list_is_a_file_and_no_list(folder):
    assert meant(["-"], [b"-\n"]) == ["-"]


@pytest.mark.parametrize("lines", [[], [b"\n", b"  \n"]])
def test_an_empty_list_is_told(folder, lines):
    assert meant(["-"], lines) == ["(-)"]


def test_names_that_are_no_utf8_are_kept(folder):
    (found,) = photo_sources(["-"], [b"\xff.jpg\n"])[0]
    assert os.fsencode(found) == b"\xff.jpg"


def test_a_folder_without_images_is_told_and_results_below_it_are_no_images(folder):
    (trouble,) = photo_sources(["empty"], ())[0]
    assert trouble.why == "no images in this folder, nor in folders below"
    found, total = photo_sources(["."], (), without=folder / "below")
    assert ([path.name for path in found], total) == (["a.PNG", "a[1].jpg", "b.jpg"], 3)
    found, _ = photo_sources(["below"], (), without=folder / "below")
    assert [path.name for path in found] == ["c.jpg"]  # whoever names it means it


def test_an_address_stays_as_it_is_and_names_its_results_by_its_path():
    (found,) = photo_sources(["HTTPS://example.org/a//my%20dog%00.jpg?size=1#x"], ())[0]
    assert isinstance(found, Address)
    assert found == "HTTPS://example.org/a//my%20dog%00.jpg?size=1#x"
    assert path_of(found).name == "my dog_.jpg"


def test_a_video_is_a_trouble_where_images_are_wanted():
    (trouble,) = photo_sources(["clip.webm"], ())[0]
    assert trouble.name == "clip.webm"
    assert trouble.why.startswith("a video, and images are wanted")
    assert "ffmpeg" in trouble.why


def test_frames_stand_in_the_place_of_their_video(monkeypatch):
    read = []

    class Reader:
        frame_rate, n_frame, n_read, is_live = 10.0, 3, 3, False

        def __init__(self, source):
            if source == "b.mp4":
                raise FileNotFoundError(2, "No such file", source)
            self.source = source

        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

        def frames(self, *, start, stop, step):
            read.append((self.source, start, stop, step))
            return (VideoFrame(k, k / 10, np.zeros((3, 4, 4))) for k in range(start, 11, step))

    monkeypatch.setattr("cvzoo.cli.photo_sources.VideoReader", Reader)
    found, total = photo_sources(["a.jpg", "a.mp4", "b.mp4", "0"], (), frames=FrameRange(0, None, 5))
    assert (total, read) == (None, [])  # no frame is read before it is asked for, and a camera does not end
    found = list(found)
    paths = [each if isinstance(each, Trouble) else str(path_of(each)) for each in found]
    assert paths[:4] == ["a.jpg", "a_000000.jpg", "a_000005.jpg", "a_000010.jpg"]
    assert paths[4].name == "b.mp4"
    assert paths[5:] == ["camera_0_000000.jpg", "camera_0_000005.jpg", "camera_0_000010.jpg"]
    assert read == [("a.mp4", 0, None, 5), ("0", 0, None, 5)]
    assert found[2].rate == 2  # of ten frames a second every fifth
    assert photo_sources(["a.jpg", "a.mp4", "b.mp4"], (), frames=FrameRange(1))[1] == 1 + 2 + 1


@pytest.mark.parametrize("word", ["ftp://example.org/dog.jpg", "file:///photos/dog.jpg", "s3://photos/*.jpg"])
def test_an_address_that_is_not_fetched_is_told_whole(word):
    (trouble,) = photo_sources([word], ())[0]
    assert trouble.name == word
    assert trouble.why.startswith(f"an address of {word.partition(':')[0]}; only http and https")
