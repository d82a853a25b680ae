"""Your own photos with labels as YOLO's tools write them: a text file a photo."""

import math
import os
import pathlib

import numpy as np

from cvzoo.datasets.layouts.names_in_yaml import names_in_yaml
from cvzoo.datasets.photo_place import check_photo_place, real_folder
from cvzoo.datasets.sliceable.getter_dataset import GetterDataset
from cvzoo.datasets.text_files import read_lines, read_text
from cvzoo.errors.exceptions import DatasetError
from cvzoo.geometry.formats import from_cxcywh, from_normalized
from cvzoo.geometry.has_area import has_area
from cvzoo.images.list_image_files import list_image_files
from cvzoo.images.read_image import read_image
from cvzoo.images.read_image_size import read_image_size
from cvzoo.labels.class_colors import class_colors


class YOLOBboxDataset(GetterDataset):
    """Photos with boxes from lines `class center_x center_y width height`, in fractions of the photo.

    images: a folder of photos, looked through with the folders below; or a text file that lists photos, a line each,
        relative to its own folder, or to `root`, if not absolute
    label_names: the classes in the order of their numbers: a sequence of str, or the path of a file, a name a line, or
        of a data.yaml with `names:`
    root: the folder that a list's lines are relative to, if it is not the list's own
    label_dir: the folder of the text files, which have the photos' names and lie as the photos lie below `images`;
        None: for each photo the same path with the last folder "images" replaced by "labels", or the photo's own
        folder if there is none such
    use_empty: boxes without an area are there, too
    allow_outside: photos may lie outside of `images` (of the list's folder), by the list's words or by links; refused
        otherwise, when they are read

    img: (3, H, W) float32; bbox: (R, 4) float32, pixels; label: (R,) int32
    A photo without a text file has no boxes. A line of a class and a polygon's points (as for segmentation) gives the
    box around them. The photo's size is read from its header, EXIF orientation applied.
    Raises DatasetError that names the file and the line.
    """

    def __init__(
        self,
        images,
        label_names,
        *,
        root: str | os.PathLike | None = None,
        label_dir=None,
        use_empty: bool = True,
        allow_outside: bool = False,
    ):
        super().__init__()
        if isinstance(label_names, (str, os.PathLike)):
            label_names = _read_names(pathlib.Path(label_names))
        self.label_names = tuple(label_names)
        self.label_colors = class_colors(len(self.label_names))
        images = pathlib.Path(images)
        if images.is_dir():
            base, self._photos = images, list_image_files(images, recursive=True)
        else:
            base = images.parent if root is None else pathlib.Path(root)
            self._photos = [base / line for line in read_lines(images)]
        self._real_folders = tuple(real_folder(each, named=True) for each in (base, _above_images(base)))
        self._allow_outside = allow_outside
        self._use_empty = use_empty
        self._texts = [_text_path(photo, base, label_dir) for photo in self._photos]
        self.add_getter("img", self._get_img)
        self.add_getter(("bbox", "label"), self._get_annotation)
        self.name_examples(self._photos.__getitem__)

    def __len__(self):
        return len(self._photos)

    def _get_img(self, i):
        return read_image(self._photo(i))

    def _photo(self, i):
        path = self._photos[i]
        check_photo_place(path, self._real_folders, allow_outside=self._allow_outside)
        return path

    def _get_annotation(self, i):
        path = self._texts[i]
        if not path.exists():
            return np.zeros((0, 4), np.float32), np.zeros(0, np.int32)
        rows = [
            _row(line, f"{path}:{number}", len(self.label_names))
            for number, line in enumerate(read_text(path).splitlines(), 1)
            if line.strip()
        ]
        # in float64, so that what tools wrote with six decimals comes back as the pixels it was made of
        box = np.array([row[1:] for row in rows], np.float64).reshape(-1, 4)
        bbox = from_normalized(from_cxcywh(box), read_image_size(self._photo(i)))
        bbox, label = bbox.astype(np.float32), np.array([row[0] for row in rows], np.int32)
        kept = has_area(bbox) | self._use_empty
        return bbox[kept], label[kept]


def _read_names(path):
    if path.suffix.lower() not in (".yaml", ".yml"):
        return read_lines(path)
    names = names_in_yaml(read_text(path))
    if not names:
        raise DatasetError(f"{path}: no names of classes", expected="names: [cat, dog]")
    return names


def _above_images(folder):
    """The folder above the last folder "images", in which other parts of the same data set may lie."""
    return next((each.parent for each in (folder, *folder.parents) if each.name == "images"), folder)


def _text_path(photo, base, label_dir):
    if label_dir is not None:
        below = photo.relative_to(base) if photo.is_relative_to(base) else photo.name
        return (pathlib.Path(label_dir) / below).with_suffix(".txt")
    parts = list(photo.parts)
    for place in range(len(parts) - 2, -1, -1):
        if parts[place] == "images":
            parts[place] = "labels"
            break
    return pathlib.Path(*parts).with_suffix(".txt")


def _row(line, where, n_class):
    """[class, center x, center y, width, height] of a line."""
    try:
        number, *values = [float(text) for text in line.split()]
    except ValueError as error:
        raise DatasetError(f"{where}: not numbers", got=line[:80]) from error
    if not all(map(math.isfinite, (number, *values))):
        raise DatasetError(f"{where}: a number is not finite", got=line[:80])
    if number != int(number) or not 0 <= number < n_class:
        raise DatasetError(f"{where}: unknown class", expected=f"0 .. {n_class - 1}", got=line.split()[0])
    if len(values) >= 6 and len(values) % 2 == 0:
        x, y = values[0::2], values[1::2]
        values = [(min(x) + max(x)) / 2, (min(y) + max(y)) / 2, max(x) - min(x), max(y) - min(y)]
    if len(values) != 4 or values[2] < 0 or values[3] < 0:
        raise DatasetError(
            f"{where}: not a box",
            expected="class center_x center_y width height, the last two not negative",
            got=line[:80],
        )
    return [int(number), *values]
