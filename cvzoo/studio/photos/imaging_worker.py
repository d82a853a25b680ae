"""A process that decodes images, of which any may be hostile: `python -m cvzoo.studio.photos.imaging_worker`.

It reads a JSON object a line from standard input, {"path": the file, "name": its name, "out": path without an ending},
and writes OUT.jpg, a thumbnail, OUT.view.jpg if browsers do not decode the format, and OUT.json, the properties; it
answers with a line. It has 2 GB of memory and ends with its parent.
"""

import base64
import json
import os
import pathlib
import resource
import signal
import sys
from typing import Any

import numpy as np
from PIL import Image

from cvzoo.datasets.doctor.image_facts import ImageFacts, image_facts
from cvzoo.errors.exceptions import ImageError
from cvzoo.files.atomic_write import atomic_write
from cvzoo.images.decode import identify, load, open_file, upright
from cvzoo.studio.worker.parent import end_with_parent
from cvzoo.typing.aliases import Array

MEMORY = 2 << 30
_FILE_SIZE = 256 << 20
THUMBNAIL_SIDE, _VIEW_SIDE = 256, 4096
_BROWSERS = ("JPEG", "PNG", "GIF", "WEBP", "MPO")


def look(path: pathlib.Path, name: str, out: pathlib.Path) -> dict[str, Any]:
    """Writes the files of an image, and returns {"height", "width"} of its pixels, 0 if it cannot be decoded."""
    facts = image_facts(path, name)
    if facts.trouble is None:
        _write_jpeg(path, out.with_suffix(".jpg"), THUMBNAIL_SIDE)
        if facts.format not in _BROWSERS:
            _write_jpeg(path, out.with_suffix(".view.jpg"), _VIEW_SIDE)
    with atomic_write(out.with_suffix(".json")) as file:
        file.write(json.dumps(as_json(facts)).encode())
    height, width = facts.size or (0, 0)
    return {"height": height, "width": width}


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


def _write_jpeg(path: pathlib.Path, target: pathlib.Path, side: int) -> None:
    with open_file(path) as file:
        pil = identify(file, path.name)
        pil.draft("RGB", (side, side))  # a JPEG is decoded at a fraction of its size
        image = upright(load(pil, name=path.name))
        if image.mode in ("RGBA", "LA", "PA") or "transparency" in image.info:
            image = image.convert("RGBA")
            background = Image.new("RGBA", image.size, "white")
            background.alpha_composite(image)
            image = background
        if image.mode.startswith("I"):  # 16 bits
            values = np.asarray(image).astype(np.float32)
            scale = 255 / max(float(np.ptp(values)), 1)
            image = Image.fromarray(((values - values.min()) * scale).astype(np.uint8))
        image = image.convert("RGB")
        image.thumbnail((side, side))
        with atomic_write(target) as out:
            image.save(out, "JPEG", quality=80)


def limit() -> None:
    """Limits this process: memory, sizes of files, no core; it ends with its parent."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_FSIZE, (_FILE_SIZE, _FILE_SIZE))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    end_with_parent(listens=True)
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def main() -> None:
    """Answers each line of standard input, until it ends."""
    limit()
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a library prints is no answer
    for line in sys.stdin:
        asked = json.loads(line)
        try:
            answer = look(pathlib.Path(asked["path"]), asked["name"], pathlib.Path(asked["out"]))
        except (ImageError, OSError, ValueError, MemoryError) as error:
            answer = {"error": f"{type(error).__name__}: {error}".splitlines()[0][:300]}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
