"""What is said of videos, cameras and streams where an image is wanted."""

import os
import pathlib
import shlex

VIDEO_ENDINGS = frozenset([".avi", ".flv", ".m4v", ".mkv", ".mov", ".mp4", ".mpeg", ".mpg", ".ts", ".webm", ".wmv"])
_STREAMS = ("rtsp://", "rtsps://", "rtmp://", "rtp://", "udp://", "mms://")


def why_no_image(name: str) -> str | None:
    """Why a path or address holds no image, and what to do, in a line; None if it may hold one.

    name: a path, which need not be there, or an address
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
    return f"{what}, and cvzoo reads images; extract frames: ffmpeg -i {shlex.quote(source)} -vf fps=1 frame_%05d.jpg"
