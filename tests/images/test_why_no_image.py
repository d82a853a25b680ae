"""Videos, cameras and streams are refused by their name."""

import pathlib

import pytest

from cvzoo.errors import ImageError
from cvzoo.images import read_image
from cvzoo.images.why_no_image import why_no_image


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("movie.mp4", "a video, "),
        ("holidays/beach day.MOV", "a video, "),
        ("https://example.org/clip.webm?start=3", "a video, "),
        ("rtsp://camera.example/1", "a video stream"),
        ("0", "a camera"),
        ("/dev/video2", "a camera"),
    ],
)
def test_what_is_a_video_is_called_one_and_how_to_make_images_of_it_is_said(name, what):
    said = why_no_image(name)
    assert said.startswith(what)
    assert "ffmpeg -i" in said
    assert "\n" not in said


def test_the_command_can_be_pasted():
    assert "ffmpeg -i 'beach day.mov' -vf" in why_no_image("beach day.mov")
    assert "ffmpeg -i /dev/video0 " in why_no_image("0")


def test_images_are_not_refused(tmp_path, monkeypatch):
    for name in ("dog.jpg", "anim.gif", "mp4", "0.png", "photos", "https://example.org/dog.jpg?as=.mp4", "-"):
        assert why_no_image(name) is None
    monkeypatch.chdir(tmp_path)
    pathlib.Path("0").write_bytes(b"an image without an ending")
    assert why_no_image("0") is None


def test_read_image_says_so_too():
    for source in ("movie.mp4", pathlib.Path("movie.mp4")):
        with pytest.raises(ImageError, match=r"^movie\.mp4 is a video, but cvzoo reads images; extract frames"):
            read_image(source)
