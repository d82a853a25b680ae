"""Videos are written frame by frame, and are complete whenever writing ends."""

import os

import cv2
import numpy as np
import pytest

from cvzoo.errors import ImageError, ShapeError, ValueRangeError
from cvzoo.images import VideoReader, VideoWriter

COLORS = [(250, 20, 20), (20, 250, 20), (20, 20, 250)]


def plain(color, size=(16, 32)):
    return np.broadcast_to(np.float32(color)[:, None, None], (3, *size))


@pytest.mark.parametrize("ending", [".mp4", ".mkv", ".avi", ".webm"])
def test_a_video_is_read_back_with_its_rate_size_and_frames(tmp_path, ending):
    with VideoWriter(tmp_path / f"movie{ending}", frame_rate=12.5) as video:
        for color in COLORS:
            video.write(plain(color))
    assert (video.size, video.n_frame) == ((16, 32), 3)
    with VideoReader(video.path) as read:
        assert read.frame_rate == pytest.approx(12.5)
        frames = list(read.frames())
    assert [each.time for each in frames] == pytest.approx([0, 0.08, 0.16], abs=1e-3)
    for frame, color in zip(frames, COLORS):
        assert frame.img.shape == (3, 16, 32)
        np.testing.assert_allclose(frame.img[:, 8, 16], color, atol=20)
    assert os.listdir(tmp_path) == [video.path.name]


def test_what_was_written_before_an_exception_is_a_complete_video(tmp_path):
    path = tmp_path / "movie.mp4"

    def interrupted():
        with VideoWriter(path, frame_rate=10) as video:
            video.write(plain(COLORS[0]))
            assert not path.exists()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    with VideoReader(path) as read:
        assert len(list(read.frames())) == 1


def test_odd_sizes_lose_their_last_row_or_column(tmp_path):
    with VideoWriter(tmp_path / "odd.mp4", frame_rate=5) as video:
        video.write(plain(COLORS[0], (17, 33)))
    with VideoReader(video.path) as read:
        assert next(read.frames()).img.shape == (3, 16, 32)


def test_without_a_frame_there_is_no_file(tmp_path):
    with VideoWriter(tmp_path / "movie.mp4", frame_rate=5):
        pass
    assert os.listdir(tmp_path) == []


def test_what_cannot_be_written_is_refused(tmp_path, monkeypatch):
    with pytest.raises(ImageError, match=r"movie\.gif: unsupported video format"):
        VideoWriter(tmp_path / "movie.gif", frame_rate=5)
    with pytest.raises(ValueRangeError, match="frame_rate"):
        VideoWriter(tmp_path / "movie.mp4", frame_rate=0)
    with VideoWriter(tmp_path / "movie.mp4", frame_rate=5) as video:
        video.write(plain(COLORS[0]))
        with pytest.raises(ShapeError, match="one size"):
            video.write(plain(COLORS[0], (32, 32)))
    with pytest.raises(FileNotFoundError, match="gone"):
        VideoWriter(tmp_path / "gone" / "movie.mp4", frame_rate=5).write(plain(COLORS[0]))
    monkeypatch.setattr(cv2.VideoWriter, "fourcc", lambda *letters: 0x12345678)
    with pytest.raises(ImageError, match="with the codec mp4v"):
        VideoWriter(tmp_path / "none.mp4", frame_rate=5).write(plain(COLORS[0]))
    assert sorted(os.listdir(tmp_path)) == ["movie.mp4"]
