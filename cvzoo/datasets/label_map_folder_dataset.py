"""Images with label maps of one's own: a folder of images, a folder of label maps, a file of class names."""

import pathlib

from cvzoo.datasets.sliceable.getter_dataset import GetterDataset
from cvzoo.datasets.text_files import read_lines
from cvzoo.errors.exceptions import DatasetError
from cvzoo.images.list_image_files import list_image_files
from cvzoo.images.read_image import read_image
from cvzoo.images.read_image_size import read_image_size
from cvzoo.images.read_label import read_label
from cvzoo.typing.aliases import ClassMap, FilePath, Image

_IGNORED = 255


class LabelMapFolderDataset(GetterDataset):
    """Images with label maps of your own, for semantic segmentation.

    data_dir: has images/SPLIT with images, labels/SPLIT with a label map of the same stem for each (a PNG whose pixels
        are indices of classes, 255 where unlabeled), and classes.txt, a class a line
    split: a folder's name
    img: (3, H, W) float32; label: (H, W) int32, -1 for unlabeled pixels
    Raises DatasetError that names the file if folders, label maps or classes are missing; when an example is read, if
    its label map has another size than the image, or a value that is no class.
    """

    def __init__(self, data_dir: FilePath, split: str = "train") -> None:
        super().__init__()
        root = pathlib.Path(data_dir)
        self.label_names = tuple(read_lines(root / "classes.txt"))
        if not self.label_names:
            raise DatasetError(f"{root / 'classes.txt'} names no class")
        folders = root / "images" / split, root / "labels" / split
        for folder in folders:
            if not folder.is_dir():
                raise DatasetError(f"{folder} is not a folder", expected=f"images/{split} and labels/{split}")
        maps = {path.stem: path for path in list_image_files(folders[1])}
        self._pairs = []
        for path in list_image_files(folders[0]):
            if path.stem not in maps:
                raise DatasetError(f"{path} has no label map", expected=f"{folders[1] / path.stem}.png")
            self._pairs.append((path, maps[path.stem]))
        if not self._pairs:
            raise DatasetError(f"{folders[0]} has no images")
        self.add_getter("img", self._get_img)
        self.add_getter("label", self._get_label)
        self.name_examples(self._image_path)

    def __len__(self) -> int:
        return len(self._pairs)

    def _image_path(self, i: int) -> pathlib.Path:
        return self._pairs[i][0]

    def _get_img(self, i: int) -> Image:
        return read_image(self._image_path(i))

    def _get_label(self, i: int) -> ClassMap:
        path = self._pairs[i][1]
        label = read_label(path)
        size = read_image_size(self._image_path(i))
        if label.shape != size:
            raise DatasetError(f"{path} has another size than its image", expected=size, got=label.shape)
        label[label == _IGNORED] = -1
        if label.max(initial=-1) >= len(self.label_names):
            n = len(self.label_names)
            raise DatasetError(
                f"{path} has a pixel of no class", expected=f"0 .. {n - 1}, or 255", got=int(label.max())
            )
        return label


def is_label_map_folder(data_dir: FilePath) -> bool:
    """Whether the folder has the layout of `LabelMapFolderDataset`, not a folder per class."""
    root = pathlib.Path(data_dir)
    return (root / "classes.txt").is_file() and (root / "labels").is_dir()
