"""The data set that `cvzoo predict --save-format` writes: the images, annotated with the predictions."""

import dataclasses
import pathlib
import shutil
import tempfile
from typing import Any

import numpy as np

from cvzoo.cli.options.predict import FORMATS
from cvzoo.cli.photo_sources import path_of
from cvzoo.cli.picture_names import PictureNames
from cvzoo.cli.presentation import Predicted
from cvzoo.datasets.convert.losses import losses
from cvzoo.datasets.layouts.annotated_set import AnnotatedImage
from cvzoo.datasets.layouts.mask_polygons import with_polygons
from cvzoo.datasets.layouts.new_folder import check_new
from cvzoo.datasets.layouts.write import write_new_set
from cvzoo.errors.exceptions import ConfigError
from cvzoo.evaluations.results.box_records import BoxRecords
from cvzoo.evaluations.results.class_results import write_class_results
from cvzoo.evaluations.results.csv_results import write_csv_results
from cvzoo.images.list_image_files import IMAGE_ENDINGS
from cvzoo.images.write_image import write_image
from cvzoo.links.chain import Chain
from cvzoo.links.model.classifications import Classifications
from cvzoo.links.model.classifier import AbstractClassifier
from cvzoo.links.model.label_maps import LabelMaps
from cvzoo.links.model.result_annotations import annotated_image, annotated_set, as_voc, voc_label_map
from cvzoo.links.model.segmenter import AbstractSegmenter
from cvzoo.reporting.counted import counted

_LIST = "predicted"  # VOC's list of images with label maps


class PredictedSet:
    """Collects predictions, and writes them as a data set to OUT/FORMAT, or as OUT/results.csv.

    model: of any task; out: the folder of the results; kind: of FORMATS
    Images are copied bit for bit, frames and downloaded images are written as JPEG.
    Raises ConfigError if the format cannot hold the model's predictions, or its folder exists.
    """

    def __init__(self, model: Chain, out: pathlib.Path, kind: str) -> None:
        if isinstance(model, AbstractClassifier) and kind != "csv":
            raise ConfigError(f"--save-format {kind} cannot hold the classes of whole images", expected="csv")
        if isinstance(model, AbstractSegmenter) and kind == "csv":
            raise ConfigError("--save-format csv cannot hold label maps", expected=", ".join(FORMATS[:-1]))
        self.kind = kind
        self.target = out / ("results.csv" if kind == "csv" else kind)
        if kind != "csv":
            check_new(self.target)
        self._names = PictureNames()
        self._images: list[AnnotatedImage] = []
        self._classes: list[tuple[str, Classifications, int]] = []
        self._rows: list[tuple[str, str, float, list[float]]] = []
        self._last: Any = None
        self._stored = pathlib.Path(tempfile.mkdtemp(prefix=".predicted-", dir=out))

    def add(self, each: Predicted) -> None:
        """One more image."""
        self._last = each.found
        if isinstance(each.found, Classifications):
            self._classes.append((str(each.path), each.found, each.i))
        elif self.kind == "csv":
            self._add_rows(each)
        else:
            self._add_image(each)

    def _add_rows(self, each: Predicted) -> None:
        result = each.found
        for bb, label, score in zip(result.bboxes[each.i], result.labels[each.i], result.scores[each.i]):
            name = str(label) if result.label_names is None else result.label_names[label]
            self._rows.append((str(each.path), name, float(score), bb.tolist()))

    def _add_image(self, each: Predicted) -> None:
        stem, ending = self._names.of(path_of(each.path))
        path = each.path if isinstance(each.path, pathlib.Path) else None
        if path is None or path.suffix.lower() not in IMAGE_ENDINGS:
            path = self._stored / f"{stem}{ending}"
            write_image(each.img, path)
        image = annotated_image(each.found, each.i, f"{stem}{path.suffix}", each.img.shape[1:], path)
        if self.kind in ("yolo", "labelme"):
            image = with_polygons(image)
        if self.kind == "voc" and isinstance(each.found, LabelMaps):
            (self._stored / f"{stem}.map").write_bytes(voc_label_map(each.found[each.i]))
            image = dataclasses.replace(image, objects=())
        self._images.append(image)

    def write(self) -> list[str]:
        """Writes what was collected and returns lines about it; nothing without an image. Raises OSError."""
        try:
            return self._written() if self._last is not None else []
        finally:
            shutil.rmtree(self._stored, ignore_errors=True)

    def _written(self) -> list[str]:
        if self.kind == "csv":
            return [self._written_csv()]
        annotated = annotated_set(self._last, self._images)
        lacks = [each for each in losses(annotated, self.kind) if each.what.startswith(("masks", "keypoints"))]
        written = annotated
        if self.kind == "voc":
            written = dataclasses.replace(annotated, images=tuple(map(as_voc, self._images)))
        write_new_set(written, self.target, kind=self.kind, finish=self._finish)
        n_object = sum(len(image.objects) for image in self._images)
        counts = f"{counted(len(self._images), 'image')}, {counted(n_object, 'object')}"
        line = f"{self.target}: {counts}; cvzoo data check {self.spec}"
        return [line, *(f"{self.kind} cannot represent {each}" for each in lacks)]

    @property
    def spec(self) -> str:
        """The specification of the data set for other commands."""
        return f"{self.kind}:{self.target}"

    def _finish(self, folder: pathlib.Path) -> None:
        """Adds the label maps of VOC's layout."""
        maps = sorted(self._stored.glob("*.map"))
        if not maps:
            return
        (folder / "SegmentationClass").mkdir()
        (folder / "ImageSets" / "Segmentation").mkdir(parents=True)
        for path in maps:
            shutil.copyfile(path, folder / "SegmentationClass" / f"{path.stem}.png")
        names = "".join(f"{path.stem}\n" for path in maps)
        (folder / "ImageSets" / "Segmentation" / f"{_LIST}.txt").write_text(names, encoding="utf-8")

    def _written_csv(self) -> str:
        if self._classes:
            probs = np.stack([result.probs[i] for _, result, i in self._classes])
            names = self._last.label_names or tuple(map(str, range(probs.shape[1])))
            write_class_results(self.target, [image for image, _, _ in self._classes], names, probs)
            return f"{self.target}: {counted(len(self._classes), 'image')}"
        images, labels, scores, boxes = zip(*self._rows) if self._rows else ((), (), (), ())
        table = np.array(boxes, np.float64).reshape(-1, 4)
        records = BoxRecords(list(images), list(labels), np.array(scores, np.float64), table, [""] * len(images))
        write_csv_results(self.target, records)
        return f"{self.target}: {counted(len(images), 'object')}"
