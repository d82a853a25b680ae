"""ADE20K, in the form of MIT's scene parsing benchmark."""

import pathlib

from cvzoo.datasets.archive import Archive, provide
from cvzoo.datasets.sliceable.getter_dataset import GetterDataset
from cvzoo.datasets.text_files import check_choice
from cvzoo.errors.exceptions import DatasetError
from cvzoo.images.list_image_files import list_image_files
from cvzoo.images.read_image import read_image
from cvzoo.images.read_label import read_label
from cvzoo.labels.ade20k import (
    ade20k_semantic_segmentation_label_colors,
    ade20k_semantic_segmentation_label_names,
)
from cvzoo.reporting.counted import counted
from cvzoo.typing.aliases import ClassMap, FilePath, Image

_SITE = "http://data.csail.mit.edu/places/ADEchallenge"
_PAGE = "http://sceneparsing.csail.mit.edu"
_LICENCE = "BSD 3-clause for the annotations; images for research and teaching"


class ADE20KSemanticSegmentationDataset(GetterDataset):
    """ADE20K's scenes with label maps of 150 classes (`ade20k_semantic_segmentation_label_names`).

    data_dir: "auto" (downloaded to CVZOO_HOME), the folder ADEChallengeData2016, of whatever name, with images and
        annotations, or the one that contains it
    split: "train" (20,210) or "val" (2,000)
    img: (3, H, W) float32; label: (H, W) int32, -1 for the file's "other"
    Source: Zhou et al., "Scene Parsing through ADE20K Dataset", CVPR 2017.
    """

    def __init__(self, data_dir: FilePath = "auto", split: str = "train") -> None:
        super().__init__()
        check_choice("split", split, ("train", "val"))
        self.label_names = ade20k_semantic_segmentation_label_names
        self.label_colors = ade20k_semantic_segmentation_label_colors
        part = "training" if split == "train" else "validation"
        root = _provide(data_dir, f"annotations/{part}")
        self._image_paths = list_image_files(root / f"images/{part}")
        self._maps = [root / f"annotations/{part}/{path.stem}.png" for path in self._image_paths]
        missing = [str(path) for path in self._maps if not path.is_file()]
        if missing:
            raise DatasetError(
                f"ADE20K: {counted(len(missing), 'label map is', 'label maps are')} missing", got=missing[0]
            )
        self.add_getter("img", self._get_img)
        self.add_getter("label", self._get_label)
        self.name_examples(self._image_paths.__getitem__)

    def __len__(self) -> int:
        return len(self._image_paths)

    def _get_img(self, i: int) -> Image:
        return read_image(self._image_paths[i])

    def _get_label(self, i: int) -> ClassMap:
        return read_label(self._maps[i]) - 1


def _provide(data_dir: FilePath, needs: str) -> pathlib.Path:
    """The folder that contains `needs`, ADEChallengeData2016 of the archive."""
    if data_dir != "auto" and (pathlib.Path(data_dir) / needs).is_dir():
        return pathlib.Path(data_dir)
    inner = "ADEChallengeData2016"
    archive = Archive(url=f"{_SITE}/{inner}.zip")
    root = provide(data_dir, "ade20k", needs=f"{inner}/{needs}", archives=(archive,), licence=_LICENCE, page=_PAGE)
    return root / inner


class ADE20KTestImageDataset(GetterDataset):
    """The 3,352 test images of ADE20K's scene parsing benchmark; an example is the image itself, not a tuple.

    data_dir: "auto" (downloaded to CVZOO_HOME), or a folder that contains release_test
    img: (3, H, W) float32
    """

    def __init__(self, data_dir: FilePath = "auto") -> None:
        super().__init__()
        root = provide(
            data_dir,
            "ade20k",
            needs="release_test/testing",
            archives=(Archive(url=f"{_SITE}/release_test.zip"),),
            licence=_LICENCE,
            page=_PAGE,
        )
        self._image_paths = list_image_files(root / "release_test/testing")
        self.add_getter("img", self._get_img)
        self.keys = "img"
        self.name_examples(self._image_paths.__getitem__)

    def __len__(self) -> int:
        return len(self._image_paths)

    def _get_img(self, i: int) -> Image:
        return read_image(self._image_paths[i])
