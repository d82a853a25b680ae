"""The Semantic Boundaries Dataset (SBD): masks for all images of VOC 2011."""

import pathlib

import numpy as np

from cvzoo.datasets.archive import Archive, provide
from cvzoo.datasets.mat_file import read_mat
from cvzoo.datasets.sliceable.getter_dataset import GetterDataset
from cvzoo.datasets.text_files import check_choice, read_lines
from cvzoo.datasets.voc.instance_masks import masks_of
from cvzoo.errors.exceptions import DatasetError
from cvzoo.images.read_image import read_image
from cvzoo.labels.class_colors import class_colors
from cvzoo.labels.voc import voc_bbox_label_names
from cvzoo.typing.aliases import ClassMap, FilePath, Image, Label, Mask

_BERKELEY = "vision/grouping/semantic_contours/benchmark.tgz"
_ARCHIVES = (
    Archive(
        url=f"http://www.eecs.berkeley.edu/Research/Projects/CS/{_BERKELEY}",
        mirrors=(f"https://www2.eecs.berkeley.edu/Research/Projects/CS/{_BERKELEY}",),
        md5="82b4d87ceb2ed10f6038a1cba92111cb",
    ),
    Archive(
        url="http://home.bharathh.info/pubs/codes/SBD/train_noval.txt",
        mirrors=("https://www.cs.cornell.edu/~bharathh/train_noval.txt",),
        md5="79bff800c5f0b1ec6b21080a3c066722",
        folder="benchmark_RELEASE/dataset",
        unpack=False,
    ),
)


class SBDInstanceSegmentationDataset(GetterDataset):
    """The Semantic Boundaries Dataset (SBD) with instance masks of VOC's 20 classes.

    data_dir: "auto", the folder `dataset` of the archive, or a folder that contains benchmark_RELEASE/dataset
    split: "train": the list train_noval.txt, which has no images of VOC 2012's val; "val": all other images,
        "trainval": all images; both sorted by name. This is ChainerCV's split, not SBD's own
    img: (3, H, W) float32; mask: (R, H, W) bool; label: (R,) int32
    Source: Hariharan et al., "Semantic Contours from Inverse Detectors", ICCV 2011.
    """

    def __init__(self, data_dir: FilePath = "auto", split: str = "train") -> None:
        super().__init__()
        check_choice("split", split, ("train", "val", "trainval"))
        self.label_names = voc_bbox_label_names
        self.label_colors = class_colors(len(self.label_names))
        self._root = _provide(data_dir)
        train = read_lines(self._root / "train_noval.txt")
        if split == "train":
            self._ids = train
        else:
            all_ids = set(read_lines(self._root / "train.txt")) | set(read_lines(self._root / "val.txt"))
            self._ids = sorted(all_ids if split == "trainval" else all_ids - set(train))
        self.add_getter("img", self._get_img)
        self.add_getter(("mask", "label"), self._get_masks)
        self.name_examples(self._image_path)

    def __len__(self) -> int:
        return len(self._ids)

    def _image_path(self, i: int) -> pathlib.Path:
        return self._root / f"img/{self._ids[i]}.jpg"

    def _get_img(self, i: int) -> Image:
        return read_image(self._image_path(i))

    def _get_masks(self, i: int) -> tuple[Mask, Label]:
        path = self._root / f"inst/{self._ids[i]}.mat"
        classes = _segmentation(self._root / f"cls/{self._ids[i]}.mat", "GTcls")
        return masks_of(classes, _segmentation(path, "GTinst"), path)


def _provide(data_dir: FilePath) -> pathlib.Path:
    needs = "benchmark_RELEASE/dataset/train_noval.txt"
    if data_dir != "auto" and (pathlib.Path(data_dir) / "train_noval.txt").is_file():
        return pathlib.Path(data_dir)
    root = provide(
        data_dir,
        "sbd",
        needs=needs,
        archives=_ARCHIVES,
        licence="not stated",
        page="http://home.bharathh.info/pubs/codes/SBD/download.html",
    )
    return root / "benchmark_RELEASE/dataset"


def _segmentation(path: pathlib.Path, variable: str) -> ClassMap:
    try:
        # MATLAB's arrays are column-major
        return np.ascontiguousarray(read_mat(path)[variable]["Segmentation"]).astype(np.uint8, casting="unsafe")
    except (KeyError, TypeError, IndexError) as error:
        raise DatasetError(f"{path} does not contain {variable}.Segmentation") from error
