"""Frames of videos and cameras come one at a time, as images do."""

import itertools
import time
import types

import cv2
import numpy as np
import pytest

from cvzoo.errors import DtypeError, ImageError, ValueRangeError
from cvzoo.images import VideoReader, read_video
from cvzoo.images.read_video import silent

COLORS = [(250, 20, 20), (20, 250, 20), (20, 20, 250), (128, 128, 128), (240, 240, 10)]


@pytest.fixture
def movie(tmp_path):
    path = tmp_path / "movie.avi"
    writer = cv2.VideoWriter(str(path), cv2.VideoWriter_fourcc(*"MJPG"), 10, (32, 16))
    for color in COLORS:
        writer.write(np.full((16, 32, 3), color[::-1], np.uint8))
    writer.release()
    return path


@pytest.mark.parametrize("dtype", [np.float32, np.uint8])
def test_the_frames_come_in_order_as_rgb(movie, dtype):
    frames = list(read_video(movie, dtype=dtype))
    assert len(frames) == 5
    for frame, color in zip(frames, COLORS):
        assert (frame.shape, frame.dtype) == ((3, 16, 32), dtype)
        np.testing.assert_allclose(frame[:, 8, 16].astype(int), color, atol=8)
    assert not np.shares_memory(frames[0], frames[1])


def test_a_step_leaves_frames_out(movie):
    every, some = list(read_video(movie)), list(read_video(str(movie), step=2))
    assert len(some) == 3
    np.testing.assert_array_equal(some, every[::2])


class Camera:
    """Stands in for OpenCV's capture of a camera: frames without an end."""

    opened, released = [], 0

    def __init__(self, source):
        self.opened.append(source)

    def isOpened(self):
        return self.opened[-1] != 7

    def get(self, number):
        return 0.0

    def grab(self):
        return True

    def retrieve(self):
        return True, np.zeros((4, 6, 3), np.uint8)

    def release(self):
        Camera.released += 1


def test_a_camera_is_named_by_its_number_and_let_go_when_nobody_looks(monkeypatch):
    monkeypatch.setattr(cv2, "VideoCapture", Camera)
    for source, opened in ((0, 0), ("1", 1), ("/dev/video3", "/dev/video3"), ("rtsp://host/1", "rtsp://host/1")):
        frames = read_video(source)
        assert [next(frames).shape for _ in range(3)] == [(3, 4, 6)] * 3
        frames.close()
        assert Camera.opened[-1] == opened
    assert Camera.released == 4
    with pytest.raises(ImageError, match="7: cannot be opened as a camera"):
        read_video(7)


def test_a_number_is_a_camera_next_to_a_file_of_that_name(monkeypatch, tmp_path):
    monkeypatch.setattr(cv2, "VideoCapture", Camera)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "3").write_bytes(b"")
    read_video(3)
    assert Camera.opened[-1] == 3


def test_what_is_no_video_is_refused(movie, tmp_path):
    with pytest.raises(DtypeError, match="source must be a path, an address or the number of a camera"):
        read_video(0.5)
    with pytest.raises(FileNotFoundError, match=r"none\.mp4"):
        read_video(tmp_path / "none.mp4")
    (tmp_path / "letter.mp4").write_bytes(b"dear reader")
    with pytest.raises(ImageError, match=r"letter\.mp4: cannot be opened as a video"):
        read_video(tmp_path / "letter.mp4")
    with pytest.raises(ValueRangeError, match="step"):
        read_video(movie, step=0)
    with pytest.raises(ImageError, match="frame 0: too many pixels"):
        next(read_video(movie, max_pixels=100))


def test_a_video_without_frames_is_an_error_and_a_broken_one_ends(movie, monkeypatch):
    whole = len(list(read_video(movie)))
    movie.write_bytes(movie.read_bytes()[:-900])
    assert 0 < len(list(read_video(movie))) <= whole
    monkeypatch.setattr(Camera, "grab", lambda self: False)
    monkeypatch.setattr(cv2, "VideoCapture", Camera)
    with pytest.raises(ImageError, match="no frame can be read"):
        next(read_video(movie))


def test_frames_have_their_numbers_and_times(movie):
    with VideoReader(movie) as video:
        assert (video.frame_rate, video.n_frame, video.is_live) == (10, 5, False)
        frames = list(video.frames(start=1, stop=4, step=2))
        assert video.n_read == 4
    assert [each.number for each in frames] == [1, 3]
    assert [each.time for each in frames] == pytest.approx([0.1, 0.3])
    np.testing.assert_allclose(frames[1].img[:, 8, 16], COLORS[3], atol=8)


def test_a_range_without_frames_is_empty_and_a_negative_one_is_refused(movie):
    with VideoReader(movie) as video:
        assert list(video.frames(start=50)) == []
        assert video.n_read == 5
    with VideoReader(movie) as video, pytest.raises(ValueRangeError, match="start and stop"):
        video.frames(start=-1)


def test_frames_of_a_camera_have_the_time_of_the_machine(monkeypatch):
    monkeypatch.setattr(cv2, "VideoCapture", Camera)
    with VideoReader(0) as video:
        assert (video.is_live, video.frame_rate, video.n_frame) == (True, None, None)
        frames = video.frames()
        times = [next(frames).time for _ in range(3)]
    assert times[0] == 0
    assert times == sorted(times)


class Stream(Camera):
    """A camera of ten frames a second whose frames wait in a buffer; `now` is the time."""

    now, n_taken = 0.0, 0

    def __init__(self, source):
        super().__init__(source)
        Stream.now, Stream.n_taken = 0.0, 0

    def get(self, number):
        return 10.0

    def grab(self):
        Stream.n_taken += 1
        Stream.now = max(Stream.now, Stream.n_taken / 10)  # waits for a frame that has not come yet
        return True


def test_frames_that_came_while_the_caller_worked_are_skipped(monkeypatch):
    monkeypatch.setattr(cv2, "VideoCapture", Stream)
    monkeypatch.setattr(time, "monotonic", lambda: Stream.now)
    with VideoReader(0) as video:
        seen = []
        for frame in video.frames():
            seen.append((frame.number, round(frame.time, 6)))
            Stream.now += 0.55 if len(seen) < 3 else 0.01  # first a slow network, then a fast one
            if len(seen) == 5:
                break
    assert [number for number, _ in seen] == [0, 5, 10, 11, 12]
    assert [b - a for (_, a), (_, b) in itertools.pairwise(seen)] == pytest.approx([0.55, 0.55, 0.01, 0.09])


def test_opencvs_own_messages_are_silent_only_while_a_video_is_opened(tmp_path):
    logging = cv2.utils.logging
    before = logging.getLogLevel()
    (tmp_path / "letter.mp4").write_bytes(b"dear reader")
    with pytest.raises(ImageError, match="cannot be opened"):
        VideoReader(tmp_path / "letter.mp4")
    assert logging.getLogLevel() == before


def test_messages_of_an_older_opencv_are_silenced_too():
    levels = [3]
    cv2 = types.SimpleNamespace(
        utils=types.SimpleNamespace(), getLogLevel=lambda: levels[-1], setLogLevel=levels.append
    )
    with silent(cv2):
        assert levels[-1] == 0
    assert levels[-1] == 3
