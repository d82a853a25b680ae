"""Recognizes videos, cameras and streams by their names."""

import os
import pathlib

VIDEO_ENDINGS = frozenset([".avi", ".flv", ".m4v", ".mkv", ".mov", ".mp4", ".mpeg", ".mpg", ".ts", ".webm", ".wmv"])
_STREAMS = ("rtsp://", "rtsps://", "rtmp://", "rtp://", "udp://", "mms://")


def video_kind(name: str) -> str | None:
    """ "a video", "a camera" or "a video stream", according to the path or URL; None if it may be an image.

    name: a path, which need not exist, or a URL; a camera is an integer, or begins with /dev/video
    """
    if name.lower().startswith(_STREAMS):
        return "a video stream"
    if pathlib.PurePath(name.partition("?")[0]).suffix.lower() in VIDEO_ENDINGS:
        return "a video"
    if (name.isdecimal() and not os.path.exists(name)) or name.startswith("/dev/video"):
        return "a camera"
    return None
