"""A process that decodes images, of which any may be hostile: `python -m cvzoo.studio.photos.imaging_worker`.

It reads messages from standard input, {"path": the file, "name": its name}, and answers with the properties of the
image and the bytes of a thumbnail, and of a JPEG of its pixels if browsers do not decode the format. It has 2 GB of
memory, reads the program and the folder of the images, writes nothing, has no network, and ends with its parent.
"""

import base64
import io
import os
import pathlib
import signal
import sys
from typing import Any

import numpy as np
from PIL import Image

from cvzoo.datasets.doctor.image_facts import ImageFacts, decoded_facts
from cvzoo.errors.exceptions import ImageError
from cvzoo.images.import_cv2 import import_cv2
from cvzoo.studio.inference.frames import read_frame, write_frame
from cvzoo.studio.worker.landlock import restrict
from cvzoo.studio.worker.limits import limit
from cvzoo.studio.worker.parent import end_with_parent
from cvzoo.studio.worker.rights import program
from cvzoo.typing.aliases import Array

MEMORY = 2 << 30
_N_TASK = 256  # threads of a decoder on many cores, but no fork bomb
THUMBNAIL_SIDE, _VIEW_SIDE = 256, 4096
_NO_ALIASES = 1.5  # times that an image can be shrunk by interpolation of neighbors only
_MANY = 64  # pixels, of which one that is the mean of fewer than others moves no edge
_BROWSERS = ("JPEG", "PNG", "GIF", "WEBP", "MPO")


def look(path: pathlib.Path, name: str) -> tuple[dict[str, Any], bytes]:
    """({"facts": the properties, "n_thumbnail", "n_view": bytes}, the bytes of both) of an image."""
    facts, pixels = decoded_facts(path, name)
    thumbnail = view = b""
    if pixels is not None:
        image = _in_color(pixels)
        if facts.format not in _BROWSERS:
            view = _jpeg(image, _VIEW_SIDE)
        thumbnail = _jpeg(image, THUMBNAIL_SIDE)
    return {"facts": as_json(facts), "n_thumbnail": len(thumbnail), "n_view": len(view)}, thumbnail + view


def as_json(facts: ImageFacts) -> dict[str, Any]:
    """The properties for a file, without the digest, which is its name."""
    return {
        "trouble": None if facts.trouble is None else [facts.trouble[0].slug, facts.trouble[1]],
        "size": facts.size,
        "stored_size": facts.stored_size,
        "orientation": facts.orientation,
        "format": facts.format,
        "ending_fits": facts.ending_fits,
        "is_blank": facts.is_blank,
        "fingerprint": _as_text(facts.fingerprint),
        "look": _as_text(facts.look),
    }


def _as_text(array: Array | None) -> str | None:
    return None if array is None else base64.b64encode(array.tobytes()).decode()


def _in_color(image: Image.Image) -> Image.Image:
    """The image in RGB, on white where it is transparent."""
    if image.mode in ("RGBA", "LA", "PA") or "transparency" in image.info:
        image = image.convert("RGBA")
        background = Image.new("RGBA", image.size, "white")
        background.alpha_composite(image)
        image = background
    if image.mode.startswith("I"):  # 16 bits
        values = np.asarray(image).astype(np.float32)
        scale = 255 / max(float(np.ptp(values)), 1)
        image = Image.fromarray(((values - values.min()) * scale).astype(np.uint8))
    return image.convert("RGB") if image.mode != "RGB" else image


def _jpeg(image: Image.Image, side: int) -> bytes:
    scale = min(side / max(image.size), 1)
    size = max(round(image.width * scale), 1), max(round(image.height * scale), 1)
    if size != image.size:
        image = _shrunk(image, size)
    out = io.BytesIO()
    image.save(out, "JPEG", quality=80)
    return out.getvalue()


def _shrunk(image: Image.Image, size: tuple[int, int]) -> Image.Image:
    """The image, in RGB, in a smaller size (W, H)."""
    factor = max(min(image.width // size[0], image.height // size[1]), 1)
    left = max(image.width / size[0], image.height / size[1]) / factor
    if left > _NO_ALIASES or min(size) < _MANY:
        return image.resize(size, Image.Resampling.BICUBIC, reducing_gap=1)
    # of means of squares of pixels; Pillow takes three times as long, a third of the time of an image
    cv2 = import_cv2()
    return Image.fromarray(cv2.resize(np.asarray(image.reduce(factor)), size, interpolation=cv2.INTER_LINEAR))


def answer(asked: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
    """The answer to a message: as of `look`, or {"error": ...}."""
    try:
        return look(pathlib.Path(asked["path"]), asked["name"])
    except (ImageError, OSError, ValueError, MemoryError) as error:
        return {"error": f"{type(error).__name__}: {error}".splitlines()[0][:300]}, b""


def confine(root: str) -> str:
    """Gives up all rights but reading the program and the images; returns what keeps them, in words."""
    limit(memory=MEMORY, n_task=_N_TASK, file_size=0)
    end_with_parent(listens=True)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    return restrict(readable=[*program(), root], writable=["/dev/null"], network=False)


def main(root: str) -> None:
    """Answers each message of standard input, until it ends. root: the folder of the images"""
    confine(root)
    import_cv2().setNumThreads(0)  # another process looks at the next image
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints is no answer
    while True:
        try:
            asked, _ = read_frame(sys.stdin.buffer)
        except EOFError:
            return
        write_frame(answers, *answer(asked))


if __name__ == "__main__":
    main(sys.argv[1])
