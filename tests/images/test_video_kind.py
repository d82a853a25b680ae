"""Videos, cameras and streams are told by their names."""

import pathlib

import pytest

from cvzoo.errors import DtypeError, ImageError
from cvzoo.images import read_image
from cvzoo.images.video_kind import video_kind


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("movie.mp4", "a video"),
        ("holidays/beach day.MOV", "a video"),
        ("https://example.org/clip.webm?start=3", "a video"),
        ("rtsp://camera.example/1", "a video stream"),
        ("https://camera.example/live.m3u8?key=1", "a video stream"),
        ("http://camera.example/video.mjpg", "a video stream"),
        ("0", "a camera"),
        ("camera:1", "a camera"),
        ("/dev/video2", "a camera"),
    ],
)
def test_a_video_is_called_one(name, kind):
    assert video_kind(name) == kind


def test_images_are_no_videos(tmp_path, monkeypatch):
    for name in (
        "dog.jpg",
        "anim.gif",
        "mp4",
        "0.png",
        "photos",
        "camera:front",
        "https://example.org/dog.jpg?as=.mp4",
        "-",
    ):
        assert video_kind(name) is None
    monkeypatch.chdir(tmp_path)
    pathlib.Path("0").write_bytes(b"an image without an ending")
    assert video_kind("0") is None


def test_where_an_image_is_wanted_the_error_names_what_reads_the_frames():
    with pytest.raises(ImageError, match=r"movie\.mp4 is a video, not an image") as caught:
        read_image("movie.mp4")
    assert "cvzoo.images.read_video('movie.mp4')" in str(caught.value)
    with pytest.raises(DtypeError, match="the number 0 is not an image") as caught:
        read_image(0)
    assert "read_video" in str(caught.value)
