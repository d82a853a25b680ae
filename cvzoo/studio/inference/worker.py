"""A loaded model that answers messages: `python -m cvzoo.studio.inference.worker MODEL [DATA]`.

MODEL: a file, or a name of the zoo; DATA: the specification of a run's data. Messages come on standard input, answers
go to standard output; the process ends with its input, and with its parent. It decodes images of strangers, and
therefore gives up all rights but reading the program, the model and the data before the first message.
"""

import io
import os
import pathlib
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from PIL import Image as PILImage

from cvzoo.datasets.layouts.coco_files import coco_image_folders
from cvzoo.errors.exceptions import CvzooError, ImageError
from cvzoo.files.home import cvzoo_home
from cvzoo.images.read_image import read_image
from cvzoo.links.model.families import zoo_members
from cvzoo.links.model.raw_outputs import seeded_photo
from cvzoo.links.model.zoo_member import ZooMember
from cvzoo.serializers.model_file import load_model
from cvzoo.studio.inference.frames import read_frame, write_frame
from cvzoo.studio.inference.layers import activations_of, layers_of, weights_of
from cvzoo.studio.inference.predictions import facts_of, predicted, task_of
from cvzoo.studio.inference.validation_images import ValidationImages
from cvzoo.studio.inference.verified import verified
from cvzoo.studio.worker.landlock import restrict
from cvzoo.studio.worker.limits import limit
from cvzoo.studio.worker.parent import end_with_parent
from cvzoo.studio.worker.rights import program
from cvzoo.weights.cache import cached_path
from cvzoo.weights.record import Weights

MAX_PIXELS = 40_000_000
_MEMORY = 12 << 30  # of addresses, of which oneDNN reserves more than it uses
_SIZE = (480, 640)  # of the image that layers are listed for, as of `cvzoo info`
_N_TASK = 1024  # threads of a pool on many cores, but no fork bomb
Answer = tuple[dict[str, Any], bytes]
Files = Sequence[tuple[pathlib.Path, Weights | None]]


class Worker:
    """Answers the messages of a model. model: loaded; data: the specification of its run's data, "" if unknown

    files: of the model, as `verified` takes them
    """

    def __init__(self, model: Any, data: str, files: Files = ()):
        self._model, self._data, self._files = model, data, files
        self._images: ValidationImages | None = None
        self._known_layers: list[dict[str, Any]] | None = None

    def answer(self, asked: dict[str, Any], payload: bytes) -> Answer:
        """The answer to a message {"op": ...}. Raises CvzooError, KeyError."""
        operations: dict[str, Callable[[dict[str, Any], bytes], Answer]] = {
            "facts": lambda *_: (facts_of(self._model), b""),
            "predict": self._predict,
            "sample": self._sample,
            "layers": lambda *_: ({"size": list(_SIZE), "layers": self._layers()}, b""),
            "weights": lambda asked, _: ({"parameters": weights_of(self._model, str(asked["layer"]))}, b""),
            "activations": self._activations,
            "verify": lambda *_: (verified(self._model, self._files), b""),
        }
        return operations[asked["op"]](asked, payload)

    def _predict(self, asked: dict[str, Any], payload: bytes) -> Answer:
        start = time.perf_counter()
        img = read_image(payload, max_pixels=MAX_PIXELS)
        decoded = time.perf_counter()
        found = predicted(self._model, img, asked.get("nms"))
        times = {"decode": 1000 * (decoded - start), "predict": 1000 * (time.perf_counter() - decoded)}
        return {"height": img.shape[1], "width": img.shape[2], "ms": times, **found}, b""

    def _layers(self) -> list[dict[str, Any]]:
        if self._known_layers is None:
            img = seeded_photo(_SIZE)
            self._known_layers = layers_of(self._model, lambda: self._model.predict([img]))
        return self._known_layers

    def _activations(self, asked: dict[str, Any], payload: bytes) -> Answer:
        img = read_image(payload, max_pixels=MAX_PIXELS)
        tree, picture = activations_of(self._model, str(asked["layer"]), lambda: self._model.predict([img]))
        return tree, _png(picture[np.newaxis].repeat(3, 0))

    def _sample(self, asked: dict[str, Any], payload: bytes) -> Answer:
        if self._images is None:
            self._images = ValidationImages(str(task_of(self._model)), self._data)
        img, tree = self._images.example(int(asked["index"]))
        return {"height": img.shape[1], "width": img.shape[2], **tree}, _png(img)


def _member(name: str) -> ZooMember:
    for member in zoo_members():
        if member.name == name:
            return member
    raise CvzooError(f"the zoo has no model {name[:80]!r}")


def _load(word: str) -> tuple[Any, Files]:
    """(the model of a file or of a name of the zoo, its files)."""
    if os.path.isfile(word):
        return load_model(word), [(pathlib.Path(word), None)]
    member = _member(word)
    return member.make(), [(cached_path(record), record) for record in member.files]


def _png(img: np.ndarray) -> bytes:
    pixels = np.clip(np.rint(img), 0, 255).astype(np.uint8).transpose(1, 2, 0)
    file = io.BytesIO()
    PILImage.fromarray(pixels).save(file, "PNG", compress_level=1)
    return file.getvalue()


def confine(model: str, data: str) -> str:
    """Gives up all rights but reading the program, the model and its data; returns what keeps them, in words."""
    limit(memory=_MEMORY, n_task=_N_TASK, file_size=0)
    readable = [*program(), str(cvzoo_home() / "weights"), model, *_folders(data)]
    return restrict(readable=readable, writable=["/dev/null"], network=False)


def _folders(data: str) -> list[str]:
    """What the data of a specification are in: its folders, and for COCO's files those of their images."""
    _, _, rest = data.partition(":")
    words = [word.rpartition("=")[2] for word in rest.split(",")]
    found = []
    for path in [path for path in map(pathlib.Path, filter(None, words)) if path.exists()]:
        found += [path]
        if path.is_file():
            above = path.absolute().parent.parent
            # what is above a file is all of a user's files if this is a user's folder
            found += [each for each in coco_image_folders(path) if each.absolute() != above]
            found += [above] if path.parent.name == "annotations" else []
    return list(map(str, found))


def main(model: str, data: str = "") -> int:
    """0 when the input ends."""
    end_with_parent(listens=True)
    incoming, outgoing = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints is no message
    try:
        sandbox = confine(model, data)
        loaded, files = _load(model)
        if task_of(loaded) is None:
            raise CvzooError(f"the predictions of a {type(loaded).__name__} cannot be shown")
        worker = Worker(loaded, data, files)
        write_frame(outgoing, {"sandbox": sandbox})
    except (CvzooError, OSError, MemoryError) as error:
        write_frame(outgoing, _error(error))
        return 1
    while True:
        try:
            asked, payload = read_frame(incoming)
        except EOFError:
            return 0
        try:
            tree, bytes_back = worker.answer(asked, payload)
        except (CvzooError, OSError, ValueError, MemoryError, ArithmeticError, LookupError) as error:
            tree, bytes_back = _error(error, f"{len(payload)} bytes: "), b""
        write_frame(outgoing, tree, bytes_back)


def _error(error: BaseException, name: str = "") -> dict[str, Any]:
    """name: how errors begin that are about the payload, which the asker has another name for"""
    if isinstance(error, MemoryError):
        return {"error": "there is not enough memory", "is_image": False}
    first, *rest = str(error).splitlines() or [""]
    pairs = (line.strip().partition(":") for line in rest if isinstance(error, CvzooError))
    more = {key: value.strip()[:400] for key, _, value in pairs if key in ("expected", "got")}
    first = first.removeprefix(name) or type(error).__name__
    return {"error": first[:400], "is_image": isinstance(error, ImageError), **more}


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
