"""Visualizations in the folder of a training: the first batch, and predictions."""

import math
import pathlib
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from cvzoo.datasets.sliceable.abstract import AbstractSliceableDataset
from cvzoo.files.atomic_write import atomic_write
from cvzoo.images.write_image import write_image
from cvzoo.training.extension import AbstractExtension
from cvzoo.training.output_folder import write_or_warn
from cvzoo.typing.aliases import Array, ArrayLike, Image
from cvzoo.visualizations.contact_sheet import contact_sheet

if TYPE_CHECKING:
    from cvzoo.training.trainer import Trainer
    from cvzoo.training.triggers.abstract import TriggerLike

_MAX_IMAGES = 8  # on one contact sheet
_MAX_SAMPLES = 24
_COLUMNS = 4
_SIDE = 320  # pixels of each image on it


class FirstBatchImage:
    """A converter that also draws the first batch of the run, with its data augmentation.

    converter: the actual converter
    path: the file, which is not overwritten, since a resumed run has drawn its first batch
    draw: an example's image in [0, 255], and its caption
    """

    def __init__(
        self, converter: Callable[..., Any], path: pathlib.Path, draw: Callable[[tuple[Array, ...]], tuple[Image, str]]
    ):
        self._converter = converter
        self._path = path
        self._draw = draw
        self._is_drawn = False

    def __call__(self, batch: Sequence[tuple[Array, ...]], device: str | int | None = None) -> Any:
        if not self._is_drawn:
            self._is_drawn = True
            if not self._path.exists():
                write_or_warn(self._path, lambda: self._write(batch[:_MAX_IMAGES]))
        return self._converter(batch, device)

    def _write(self, batch: Sequence[tuple[Array, ...]]) -> None:
        _write(self._path, [self._draw(each) for each in batch])


class PredictionImages(AbstractExtension):
    """Draws the model's predictions on images spread over a data set, and rewrites the file each time.

    dataset: the first value of an example is an image (3, H, W); path: the file
    draw: an example's image with what is predicted, and the end of its caption, which begins with the file's name
    seconds: approximate time limit, after which it makes do with the images that it has; clock: seconds, for tests
    samples: a folder for copies as epoch_*.jpg, of which at most 24 are kept, spread over the training; None: no copies
    """

    default_name = "prediction_images"

    def __init__(
        self,
        dataset: AbstractSliceableDataset,
        path: pathlib.Path,
        draw: Callable[[tuple[Array, ...]], tuple[Image, str]],
        *,
        trigger: "TriggerLike",
        seconds: float = math.inf,
        samples: pathlib.Path | None = None,
        clock: Callable[[], float] = time.monotonic,
    ):
        self.trigger = trigger
        self._seconds = seconds
        self._clock = clock
        self._dataset = dataset
        self._path = path
        self._draw = draw
        self._samples = samples

    def __call__(self, trainer: "Trainer") -> None:
        drawn: list[tuple[Image, str]] = []
        n = len(self._dataset)
        end = self._clock() + self._seconds
        # those of a folder for each class would begin with eight of one class
        for i in np.linspace(0, n - 1, min(_MAX_IMAGES, n)).astype(int).tolist():
            if drawn and self._clock() > end:
                break
            img, caption = self._draw(self._dataset[i])
            drawn.append((img, f"{pathlib.Path(self._dataset.name(i)).name}: {caption}"))
        write_or_warn(self._path, lambda: _write(self._path, drawn))
        if self._samples is not None:
            copy = self._samples / f"epoch_{trainer.updater.epoch}.jpg"
            write_or_warn(copy, lambda: _keep_copy(self._path, copy))


def denormalized(img: Array, *, mean: ArrayLike, std: ArrayLike) -> Image:
    """A normalized image (3, H, W) as pixels in [0, 255]. mean, std: of its channels, or of all"""
    mean, std = (np.reshape(np.asarray(each, np.float32), (-1, 1, 1)) for each in (mean, std))
    return np.clip(np.rint(img * std + mean), 0, 255).astype(np.float32)


def example_sheet(drawn: Sequence[tuple[Image, str]]) -> Array:
    """Images with their captions as one image (3, H, W)."""
    imgs, captions = zip(*drawn)
    return contact_sheet(map(_enlarged, imgs), captions, columns=_COLUMNS, side=_SIDE)


def _write(path: pathlib.Path, drawn: Sequence[tuple[Image, str]]) -> None:
    path.parent.mkdir(exist_ok=True)
    write_image(example_sheet(drawn), path)


def _keep_copy(path: pathlib.Path, copy: pathlib.Path) -> None:
    """Copies the file, and removes every second one of the earlier copies where there are too many."""
    copy.parent.mkdir(exist_ok=True)
    with atomic_write(copy) as file:
        file.write(path.read_bytes())
    kept = sorted(copy.parent.glob("epoch_*.jpg"), key=lambda each: (len(each.name), each.name))
    if len(kept) > _MAX_SAMPLES:
        for each in kept[1:-1:2]:
            each.unlink(missing_ok=True)


def _enlarged(img: Image) -> Image:
    """The image with every pixel repeated as often as its place has room: CIFAR's have 32 x 32."""
    times = max(_SIDE // max(img.shape[1:]), 1)
    return img.repeat(times, axis=1).repeat(times, axis=2)
