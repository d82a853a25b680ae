"""Videos, cameras and streams, told by their names."""

import os
import pathlib

VIDEO_ENDINGS = frozenset([".avi", ".flv", ".m4v", ".mkv", ".mov", ".mp4", ".mpeg", ".mpg", ".ts", ".webm", ".wmv"])
_STREAMS = ("rtsp://", "rtsps://", "rtmp://", "rtp://", "udp://", "mms://")


def video_kind(name: str) -> str | None:
    """ "a video", "a camera" or "a video stream", as the path or address says; None if it may hold an image.

    name: a path, which need not be there, or an address; a camera is a number, or below /dev/video
    """
    if name.lower().startswith(_STREAMS):
        return "a video stream"
    if pathlib.PurePath(name.partition("?")[0]).suffix.lower() in VIDEO_ENDINGS:
        return "a video"
    if (name.isdecimal() and not os.path.exists(name)) or name.startswith("/dev/video"):
        return "a camera"
    return None
