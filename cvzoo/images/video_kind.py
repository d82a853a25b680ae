"""Recognizes videos, cameras and streams by their names."""

import os
import pathlib

VIDEO_ENDINGS = frozenset([".avi", ".flv", ".m4v", ".mkv", ".mov", ".mp4", ".mpeg", ".mpg", ".ts", ".webm", ".wmv"])
_STREAMS = ("rtsp://", "rtsps://", "rtmp://", "rtp://", "udp://", "mms://")
_HTTP_STREAM_ENDINGS = (".m3u8", ".mpd", ".mjpg", ".mjpeg")  # HLS, DASH, the frames of many cameras


def video_kind(name: str) -> str | None:
    """ "a video", "a camera" or "a video stream", according to the path or URL; None if it may be an image.

    name: a path, which need not exist, or a URL; a camera is an integer, camera:0, or begins with /dev/video
    """
    lower = name.lower()
    ending = pathlib.PurePath(lower.partition("?")[0]).suffix
    if lower.startswith(_STREAMS) or (lower.startswith(("http://", "https://")) and ending in _HTTP_STREAM_ENDINGS):
        return "a video stream"
    if ending in VIDEO_ENDINGS:
        return "a video"
    if camera_of(name) is not None:
        return None if os.path.exists(name) else "a camera"
    return "a camera" if name.startswith("/dev/video") else None


def camera_of(name: str) -> int | None:
    """The index of the camera that "0" or "camera:0" names; None for another name."""
    number = name.removeprefix("camera:")
    return int(number) if number.isascii() and number.isdecimal() else None
