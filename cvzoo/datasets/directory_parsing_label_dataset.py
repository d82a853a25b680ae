"""ImageNet's layout: a folder a class."""

import pathlib

import numpy as np

from cvzoo.datasets.sliceable.getter_dataset import GetterDataset
from cvzoo.errors.exceptions import DatasetError
from cvzoo.images.list_image_files import list_image_files
from cvzoo.images.read_image import read_image
from cvzoo.labels.class_colors import class_colors


def directory_parsing_label_names(root, numerical_sort=False):
    """The names of the folders below `root`, sorted: the classes in the order of their labels.

    numerical_sort: as numbers, "2" before "10"
    Raises DatasetError if there is no folder, or a name is no number where numbers are asked for.
    """
    root = pathlib.Path(root)
    if not root.is_dir():
        raise DatasetError(f"{root} is not a folder")
    names = sorted(path.name for path in root.iterdir() if path.is_dir() and not path.name.startswith("."))
    if not names:
        raise DatasetError(f"{root}: no folder in it", expected="a folder a class")
    if numerical_sort:
        try:
            names.sort(key=int)
        except ValueError as error:
            raise DatasetError(f"{root}: not all folders have numbers for names", got=error) from error
    return names


class DirectoryParsingLabelDataset(GetterDataset):
    """Photos whose class is the folder they lie in, or in some folder below it; the layout of ImageNet's train.

    root: the folder with a folder a class in it
    check_img_file: a function of a path (str) that says whether the file is a photo; None: its ending does
    color: False: photos are grey, (1, H, W)
    numerical_sort: classes are sorted as numbers

    img: (3, H, W) float32; label: () int32
    img_paths: N of str; labels: (N,) int32; label_names; label_colors. Within a class photos are sorted by path.
    """

    def __init__(self, root, check_img_file=None, color=True, numerical_sort=False):
        super().__init__()
        self.label_names = tuple(directory_parsing_label_names(root, numerical_sort))
        self.label_colors = class_colors(len(self.label_names))
        self.img_paths = []
        counts = []
        for name in self.label_names:
            paths = _photos(pathlib.Path(root) / name, check_img_file)
            self.img_paths += paths
            counts.append(len(paths))
        self.labels = np.repeat(np.arange(len(counts), dtype=np.int32), counts)
        self._color = color
        self.add_getter("img", self._get_img)
        self.add_getter("label", self.labels.__getitem__)
        self.name_examples(self.img_paths.__getitem__)

    def __len__(self):
        return len(self.img_paths)

    def _get_img(self, i):
        return read_image(self.img_paths[i], color=self._color)


def _photos(folder, check_img_file):
    if check_img_file is None:
        return [str(path) for path in list_image_files(folder, recursive=True)]
    return [str(path) for path in sorted(folder.rglob("*")) if path.is_file() and check_img_file(str(path))]
