"""Image classification data with one folder per class, as ImageNet's."""

import pathlib
from collections.abc import Callable

import numpy as np

from cvzoo.datasets.sliceable.getter_dataset import GetterDataset
from cvzoo.errors.exceptions import DatasetError
from cvzoo.images.list_image_files import list_image_files
from cvzoo.images.read_image import read_image
from cvzoo.labels.class_colors import class_colors
from cvzoo.typing.aliases import FilePath, Image


def directory_parsing_label_names(root: FilePath, numerical_sort: bool = False) -> list[str]:
    """The sorted names of the subfolders of `root`: the classes in the order of their labels.

    numerical_sort: sorted as numbers, "2" before "10"
    Raises DatasetError if there is no subfolder, or with numerical_sort, if a name is not a number.
    """
    root = pathlib.Path(root)
    if not root.is_dir():
        raise DatasetError(f"{root} is not a folder")
    names = sorted(path.name for path in root.iterdir() if path.is_dir() and not path.name.startswith("."))
    if not names:
        raise DatasetError(f"{root} contains no subfolders", expected="one folder per class")
    if numerical_sort:
        try:
            names.sort(key=int)
        except ValueError as error:
            raise DatasetError(f"{root}: the name of a folder is not a number", got=error) from error
    return names


class DirectoryParsingLabelDataset(GetterDataset):
    """Images with one folder per class, which may have subfolders: the layout of ImageNet's training set.

    root: the folder that contains the folders of the classes
    check_img_file: a function that returns whether the file at a path (str) is an image; None: by its extension
    color: False: images are gray, (1, H, W)
    numerical_sort: sort the classes as numbers

    img: (3, H, W) float32; label: () int32
    img_paths: N of str; labels: (N,) int32; label_names; label_colors. Within a class images are sorted by path.
    """

    def __init__(
        self,
        root: FilePath,
        check_img_file: Callable[[str], bool] | None = None,
        color: bool = True,
        numerical_sort: bool = False,
    ) -> None:
        super().__init__()
        self.label_names = tuple(directory_parsing_label_names(root, numerical_sort))
        self.label_colors = class_colors(len(self.label_names))
        self.img_paths = []
        counts = []
        for name in self.label_names:
            paths = _image_paths(pathlib.Path(root) / name, check_img_file)
            self.img_paths += paths
            counts.append(len(paths))
        self.labels = np.repeat(np.arange(len(counts), dtype=np.int32), counts)
        self._color = color
        self.add_getter("img", self._get_img)
        self.add_getter("label", self.labels.__getitem__)
        self.name_examples(self.img_paths.__getitem__)

    def __len__(self) -> int:
        return len(self.img_paths)

    def _get_img(self, i: int) -> Image:
        return read_image(self.img_paths[i], color=self._color)


def _image_paths(folder: pathlib.Path, check_img_file: Callable[[str], bool] | None) -> list[str]:
    if check_img_file is None:
        return [str(path) for path in list_image_files(folder, recursive=True)]
    return [str(path) for path in sorted(folder.rglob("*")) if path.is_file() and check_img_file(str(path))]
