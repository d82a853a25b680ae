"""Detection data in YOLO's format: one text file per image."""

import math
import os
import pathlib
from collections.abc import Sequence

import numpy as np

from cvzoo.datasets.image_location import check_image_location, real_folder
from cvzoo.datasets.layouts.names_in_yaml import names_in_yaml
from cvzoo.datasets.sliceable.getter_dataset import GetterDataset
from cvzoo.datasets.text_files import read_lines, read_text
from cvzoo.errors.exceptions import DatasetError
from cvzoo.geometry.formats import from_cxcywh, from_normalized
from cvzoo.geometry.has_area import has_area
from cvzoo.images.list_image_files import list_image_files
from cvzoo.images.read_image import read_image
from cvzoo.images.read_image_size import read_image_size
from cvzoo.labels.class_colors import class_colors
from cvzoo.typing.aliases import BBox, FilePath, Image, Label, LabelNames


class YOLOBboxDataset(GetterDataset):
    """Images with boxes from lines `class center_x center_y width height`, in fractions of the image size.

    images: a folder of images, searched recursively; or a text file with one path per line, relative to the file's
        folder, or to `root`, unless absolute
    label_names: the classes in the order of their labels: a sequence of str, or the path of a file with one name per
        line, or of a data.yaml with `names:`
    root: the folder of relative paths in a list, if it is not the list's own
    label_dir: the folder of the text files, with the same names and subfolders as the images below `images`; None: for
        each image the same path with the last folder "images" replaced by "labels", or the image's own folder if there
        is no such folder
    use_empty: include boxes with zero area
    allow_outside: images may be outside of `images` (of the list's folder), by their paths or by links; otherwise
        reading them raises

    img: (3, H, W) float32; bbox: (R, 4) float32, pixels; label: (R,) int32
    An image without a text file has no boxes. For a line with a polygon, as for segmentation, the box is that around
    its points. The image's size is read from its header, EXIF orientation applied.
    Raises DatasetError that names the file and the line.
    """

    def __init__(
        self,
        images: FilePath,
        label_names: LabelNames | FilePath,
        *,
        root: FilePath | None = None,
        label_dir: FilePath | None = None,
        use_empty: bool = True,
        allow_outside: bool = False,
    ) -> None:
        super().__init__()
        if isinstance(label_names, (str, os.PathLike)):
            label_names = _read_names(pathlib.Path(label_names))
        self.label_names = tuple(label_names)
        self.label_colors = class_colors(len(self.label_names))
        images = pathlib.Path(images)
        if images.is_dir():
            base, self._image_paths = images, list_image_files(images, recursive=True)
        else:
            base = images.parent if root is None else pathlib.Path(root)
            self._image_paths = [base / line for line in read_lines(images)]
        self._real_folders = tuple(real_folder(each, named=True) for each in (base, _above_images(base)))
        self._allow_outside = allow_outside
        self._use_empty = use_empty
        self._texts = [_text_path(image, base, label_dir) for image in self._image_paths]
        self.add_getter("img", self._get_img)
        self.add_getter(("bbox", "label"), self._get_annotation)
        self.name_examples(self._image_paths.__getitem__)

    def __len__(self) -> int:
        return len(self._image_paths)

    def _get_img(self, i: int) -> Image:
        return read_image(self._image_path(i))

    def _image_path(self, i: int) -> pathlib.Path:
        path = self._image_paths[i]
        check_image_location(path, self._real_folders, allow_outside=self._allow_outside)
        return path

    def _get_annotation(self, i: int) -> tuple[BBox, Label]:
        path = self._texts[i]
        # an image without objects has no file, in YOLO's format
        if not path.exists():
            return np.zeros((0, 4), np.float32), np.zeros(0, np.int32)
        rows = [
            _row(line, f"{path}:{number}", len(self.label_names))
            for number, line in enumerate(read_text(path).splitlines(), 1)
            if line.strip()
        ]
        # float64, so that fractions with six decimals are converted back to the pixels they were computed from
        box = np.array([row[1:] for row in rows], np.float64).reshape(-1, 4)
        bbox = from_normalized(from_cxcywh(box), read_image_size(self._image_path(i)))
        bbox, label = bbox.astype(np.float32), np.array([row[0] for row in rows], np.int32)
        kept = has_area(bbox) | self._use_empty
        return bbox[kept], label[kept]


def _read_names(path: pathlib.Path) -> Sequence[str]:
    if path.suffix.lower() not in (".yaml", ".yml"):
        return read_lines(path)
    names = names_in_yaml(read_text(path))
    if not names:
        raise DatasetError(f"{path} does not list the classes", expected="names: [cat, dog]")
    return names


def _above_images(folder: pathlib.Path) -> pathlib.Path:
    """The parent of the last folder "images", which may contain other parts of the same data set."""
    return next((each.parent for each in (folder, *folder.parents) if each.name == "images"), folder)


def _text_path(image: pathlib.Path, base: pathlib.Path, label_dir: FilePath | None) -> pathlib.Path:
    if label_dir is not None:
        below = image.relative_to(base) if image.is_relative_to(base) else image.name
        return (pathlib.Path(label_dir) / below).with_suffix(".txt")
    parts = list(image.parts)
    for position in range(len(parts) - 2, -1, -1):
        if parts[position] == "images":
            parts[position] = "labels"
            break
    return pathlib.Path(*parts).with_suffix(".txt")


def _row(line: str, where: str, n_class: int) -> list[float]:
    """[class, center x, center y, width, height] of a line."""
    try:
        number, *values = [float(text) for text in line.split()]
    except ValueError as error:
        raise DatasetError(f"{where}: a line must be numbers", got=line[:80]) from error
    if not all(map(math.isfinite, (number, *values))):
        raise DatasetError(f"{where}: a number is not finite", got=line[:80])
    if number != int(number) or not 0 <= number < n_class:
        raise DatasetError(f"{where}: unknown class number", expected=f"0 .. {n_class - 1}", got=line.split()[0])
    # a polygon, as segmentation data sets have in the same files: its box
    if len(values) >= 6 and len(values) % 2 == 0:
        x, y = values[0::2], values[1::2]
        values = [(min(x) + max(x)) / 2, (min(y) + max(y)) / 2, max(x) - min(x), max(y) - min(y)]
    if len(values) != 4 or values[2] < 0 or values[3] < 0:
        raise DatasetError(
            f"{where}: not a valid box",
            expected="class center_x center_y width height, the last two non-negative",
            got=line[:80],
        )
    return [int(number), *values]
