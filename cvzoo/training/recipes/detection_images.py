"""Visualizations in the folder of a detector's training: the first batch, and predictions."""

import pathlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from cvzoo.images.write_image import write_image
from cvzoo.training.extension import AbstractExtension
from cvzoo.training.output_folder import write_or_warn
from cvzoo.typing.aliases import Array
from cvzoo.visualizations.contact_sheet import contact_sheet
from cvzoo.visualizations.draw_bbox import draw_bbox

if TYPE_CHECKING:
    from cvzoo.training.trainer import Trainer

_MAX_IMAGES = 8
_COLUMNS = 4


class FirstBatchImage:
    """A converter that also draws the first batch of the run, with its data augmentation.

    converter: the actual converter; examples are (img, bbox, label, ignored), img normalized by mean and std (3,)
    path: the file, which is not overwritten, since a resumed run has drawn its first batch
    """

    def __init__(
        self,
        converter: Callable[..., Any],
        path: pathlib.Path,
        *,
        label_names: Sequence[str],
        mean: Array,
        std: Array,
    ):
        self._converter = converter
        self._path = path
        self._label_names = tuple(label_names)
        self._mean, self._std = (np.reshape(each, (-1, 1, 1)) for each in (mean, std))
        self._is_drawn = False

    def __call__(self, batch: Sequence[tuple], device: Any = None) -> Any:
        if not self._is_drawn:
            self._is_drawn = True
            if not self._path.exists():
                write_or_warn(self._path, lambda: self._draw(batch[:_MAX_IMAGES]))
        return self._converter(batch, device)

    def _draw(self, batch: Sequence[tuple]) -> None:
        imgs, captions = [], []
        for img, bbox, label, ignored in batch:
            photo = np.clip(np.rint(img * self._std + self._mean), 0, 255).astype(np.float32)
            imgs.append(draw_bbox(photo, bbox[~ignored], label[~ignored], label_names=self._label_names))
            n = int(ignored.sum())
            captions.append(f"{len(bbox) - n} boxes" + (f", {n} ignored" if n else ""))
        _write(self._path, imgs, captions)


class PredictionImages(AbstractExtension):
    """Draws the model's predictions on the first images of a data set, and rewrites the file each time.

    model: `predict(imgs)` returns bboxes, labels, scores
    dataset: the first value of an example is an image (3, H, W); path: the file
    score_thresh: detections of a lower confidence score are not drawn
    """

    default_name = "prediction_images"

    def __init__(
        self,
        model: Any,
        dataset: Any,
        path: pathlib.Path,
        *,
        label_names: Sequence[str],
        trigger: Any,
        score_thresh: float = 0.3,
    ):
        self.trigger = trigger
        self._model = model
        self._dataset = dataset
        self._path = path
        self._label_names = tuple(label_names)
        self._score_thresh = score_thresh

    def __call__(self, trainer: "Trainer") -> None:
        imgs, captions = [], []
        for i in range(min(_MAX_IMAGES, len(self._dataset))):
            img = self._dataset[i][0]
            (bbox,), (label,), (score,) = self._model.predict([img])
            shown = score >= self._score_thresh
            imgs.append(draw_bbox(img, bbox[shown], label[shown], score[shown], label_names=self._label_names))
            captions.append(
                f"{pathlib.Path(self._dataset.name(i)).name}: {shown.sum()} of {self._score_thresh} or more"
            )
        write_or_warn(self._path, lambda: _write(self._path, imgs, captions))


def _write(path: pathlib.Path, imgs: Sequence[Array], captions: Sequence[str]) -> None:
    path.parent.mkdir(exist_ok=True)
    write_image(contact_sheet(imgs, captions, columns=_COLUMNS), path)
