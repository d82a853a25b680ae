"""Cityscapes: street scenes with fine or coarse label maps."""

import pathlib

import numpy as np

from cvzoo.datasets.archive import provide
from cvzoo.datasets.sliceable.getter_dataset import GetterDataset
from cvzoo.datasets.text_files import check_choice
from cvzoo.errors.exceptions import DatasetError
from cvzoo.images.read_image import read_image
from cvzoo.images.read_label import read_label
from cvzoo.labels.cityscapes import (
    cityscapes_file_label_colors,
    cityscapes_file_label_names,
    cityscapes_label_ids,
    cityscapes_semantic_segmentation_label_colors,
    cityscapes_semantic_segmentation_label_names,
)
from cvzoo.typing.aliases import ClassMap, FilePath, Image

_PAGE = "https://www.cityscapes-dataset.com/downloads"
_LICENCE = "non-commercial, after registration, no redistribution"
_LICENCE_PLATE = -1  # the one negative id; 8-bit files hold it as 255
_LABEL_OF_ID = np.full(256, -1, np.int32)
_LABEL_OF_ID[list(cityscapes_label_ids)] = np.arange(len(cityscapes_label_ids))


class CityscapesSemanticSegmentationDataset(GetterDataset):
    """Cityscapes: street scenes with label maps of 19 classes (`cityscapes_semantic_segmentation_label_names`).

    data_dir: a folder that contains leftImg8bit and gtFine or gtCoarse, or one of these; "auto": that below
        CVZOO_HOME, to which you have to copy the files yourself, since their license forbids redistribution
    label_resolution: "fine" or "coarse"
    split: "train" or "val"; for "coarse" also "train_extra"
    ignore_labels: True: the 19 evaluated classes, all others are -1; False: the ids of the files, 0 .. 33, with their
        label_names and label_colors

    img: (3, H, W) float32; label: (H, W) int32. Images are sorted by city and name.
    Source: Cordts et al., "The Cityscapes Dataset for Semantic Urban Scene Understanding", CVPR 2016.
    """

    def __init__(
        self,
        data_dir: FilePath = "auto",
        label_resolution: str | None = None,
        split: str = "train",
        ignore_labels: bool = True,
    ) -> None:
        super().__init__()
        check_choice("label_resolution", label_resolution, ("fine", "coarse"))
        check_choice(
            "split", split, ("train", "val", "train_extra") if label_resolution == "coarse" else ("train", "val")
        )
        self.label_names: tuple[str, ...] = cityscapes_semantic_segmentation_label_names
        self.label_colors: tuple[tuple[int, int, int], ...] = cityscapes_semantic_segmentation_label_colors
        if not ignore_labels:
            self.label_names = cityscapes_file_label_names
            self.label_colors = cityscapes_file_label_colors
        kind = "gtFine" if label_resolution == "fine" else "gtCoarse"
        place = pathlib.Path(data_dir).absolute()
        if place.name in ("leftImg8bit", kind):  # a part of the data set
            data_dir = place.parent
        for needs in (f"leftImg8bit/{split}", f"{kind}/{split}"):
            root = provide(data_dir, "cityscapes", needs=needs, archives=(), licence=_LICENCE, page=_PAGE)
        ending = f"_{kind}_labelIds.png"
        self._maps = sorted((root / kind / split).glob(f"*/*{ending}"))
        self._image_paths = [
            root / "leftImg8bit" / split / path.parent.name / f"{path.name.removesuffix(ending)}_leftImg8bit.png"
            for path in self._maps
        ]
        if not self._maps:
            raise DatasetError(f"{root / kind / split} contains no files */*{ending}", hint=f"get them at {_PAGE}")
        self._ignore_labels = ignore_labels
        self.add_getter("img", self._get_img)
        self.add_getter("label", self._get_label)
        self.name_examples(self._image_paths.__getitem__)

    def __len__(self) -> int:
        return len(self._image_paths)

    def _get_img(self, i: int) -> Image:
        return read_image(self._image_paths[i])

    def _get_label(self, i: int) -> ClassMap:
        label = read_label(self._maps[i], dtype=np.uint8)
        if self._ignore_labels:
            return _LABEL_OF_ID[label]
        label = label.astype(np.int32)
        label[label == 255] = _LICENCE_PLATE
        return label


class CityscapesTestImageDataset(GetterDataset):
    """The 1,525 test images of Cityscapes; an example is the image itself, not a tuple.

    data_dir: a folder that contains leftImg8bit/test; "auto": that below CVZOO_HOME
    img: (3, H, W) float32
    """

    def __init__(self, data_dir: FilePath = "auto") -> None:
        super().__init__()
        needs = "leftImg8bit/test"
        root = provide(data_dir, "cityscapes", needs=needs, archives=(), licence=_LICENCE, page=_PAGE)
        self._image_paths = sorted((root / needs).glob("*/*_leftImg8bit.png"))
        self.add_getter("img", self._get_img)
        self.keys = "img"
        self.name_examples(self._image_paths.__getitem__)

    def __len__(self) -> int:
        return len(self._image_paths)

    def _get_img(self, i: int) -> Image:
        return read_image(self._image_paths[i])
