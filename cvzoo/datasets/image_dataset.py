"""Images from a list of paths."""

import os
import pathlib
from collections.abc import Sequence

from cvzoo.datasets.image_location import check_image_location, real_folder
from cvzoo.datasets.sliceable.getter_dataset import GetterDataset
from cvzoo.datasets.text_files import read_lines
from cvzoo.images.read_image import read_image
from cvzoo.typing.aliases import FilePath, Image


class ImageDataset(GetterDataset):
    """Images listed in a text file with one path per line, as in Chainer.

    paths: the path of such a file (UTF-8; empty lines are skipped), or the images' paths
    root: the folder of relative paths; None: that of the file, the current one for a list
    color: False: images are gray, (1, H, W)
    allow_outside: whether a file may list images outside of root; a list may

    Each example is an image, (3, H, W) float32 RGB in [0, 255]; img_paths: N of str, in the order of the list.
    Raises DatasetError if the file cannot be read or lists an image outside.
    """

    def __init__(
        self,
        paths: FilePath | Sequence[FilePath],
        root: FilePath | None = None,
        *,
        color: bool = True,
        allow_outside: bool = False,
    ) -> None:
        super().__init__()
        if isinstance(paths, str | os.PathLike):
            folder = pathlib.Path(paths).parent if root is None else pathlib.Path(root)
            self.img_paths = [os.path.join(folder, line) for line in read_lines(paths)]
            real = real_folder(folder, named=True)
            for path in self.img_paths:
                check_image_location(pathlib.Path(path), [real], allow_outside=allow_outside)
        else:
            self.img_paths = [os.path.join(root or ".", os.fspath(path)) for path in paths]
        self._color = color
        self.add_getter("img", self._get_img)
        self.keys = "img"
        self.name_examples(self.img_paths.__getitem__)

    def __len__(self) -> int:
        return len(self.img_paths)

    def _get_img(self, i: int) -> Image:
        return read_image(self.img_paths[i], color=self._color)
