"""The error message for videos, cameras and streams where an image is expected."""

import os
import pathlib
import shlex

VIDEO_ENDINGS = frozenset([".avi", ".flv", ".m4v", ".mkv", ".mov", ".mp4", ".mpeg", ".mpg", ".ts", ".webm", ".wmv"])
_STREAMS = ("rtsp://", "rtsps://", "rtmp://", "rtp://", "udp://", "mms://")


def why_no_image(name: str) -> str | None:
    """A line that says why a path or URL is not an image, and what to do; None if it may be one.

    name: a path, which need not exist, or a URL
    """
    where = name.partition("?")[0]
    if name.lower().startswith(_STREAMS):
        what, source = "a video stream", name
    elif pathlib.PurePath(where).suffix.lower() in VIDEO_ENDINGS:
        what, source = "a video", name
    elif (name.isdecimal() and not os.path.exists(name)) or name.startswith("/dev/video"):
        what, source = "a camera", name if name.startswith("/") else f"/dev/video{name}"
    else:
        return None
    return f"{what}, but cvzoo reads images; extract frames: ffmpeg -i {shlex.quote(source)} -vf fps=1 frame_%05d.jpg"
