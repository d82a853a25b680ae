"""The training and evaluation sets of a semantic segmentation network, from a specification such as camvid:ROOT."""

from typing import NamedTuple

from cvzoo.datasets.ade20k_datasets import ADE20KSemanticSegmentationDataset
from cvzoo.datasets.camvid_dataset import CamVidDataset
from cvzoo.datasets.cityscapes_datasets import CityscapesSemanticSegmentationDataset
from cvzoo.datasets.label_map_folder_dataset import LabelMapFolderDataset
from cvzoo.datasets.sliceable.abstract import AbstractSliceableDataset
from cvzoo.datasets.sliceable.getter_dataset import GetterDataset
from cvzoo.datasets.voc.segmentation_datasets import VOCSemanticSegmentationDataset
from cvzoo.errors.exceptions import ConfigError
from cvzoo.labels.ade20k import ade20k_semantic_segmentation_label_names
from cvzoo.labels.camvid import camvid_label_names
from cvzoo.labels.cityscapes import cityscapes_semantic_segmentation_label_names


class LabelMapSplits(NamedTuple):
    """A training set and an evaluation set with the same classes.

    train, val: examples are (img, label)
    label_names: the classes in the order of their labels
    """

    train: AbstractSliceableDataset
    val: AbstractSliceableDataset
    label_names: tuple[str, ...]


def label_map_splits(spec: str) -> LabelMapSplits:
    """The training set and the evaluation set that a specification names.

    spec: "camvid:ROOT", "cityscapes:ROOT" (fine labels), "ade20k:ROOT" or "voc:ROOT" (2012, or a folder in its layout),
        ROOT as data_dir of those data sets; without ":ROOT", the data set below CVZOO_HOME, downloaded where that is
        allowed. Of your own: "folder:ROOT", see `LabelMapFolderDataset`
    Raises ConfigError for a malformed specification, DatasetError if files are missing.
    """
    train, label_names = label_map_split(spec, "train")
    val, _ = label_map_split(spec, "val")
    return LabelMapSplits(train, val, label_names)


def label_map_split(spec: str, split: str) -> tuple[GetterDataset, tuple[str, ...]]:
    """One split of the data set that a specification names, and its classes. spec, Raises: as `label_map_splits`."""
    kind, _, root = spec.partition(":")
    if kind == "folder" and root:
        dataset = LabelMapFolderDataset(root, split)
        return dataset, dataset.label_names
    if kind not in _MAKERS and kind != "voc":
        known = ("folder:ROOT", *(f"{each}[:ROOT]" for each in (*_MAKERS, "voc")))
        raise ConfigError(f"{spec}: unknown kind of data set", expected=" or ".join(known))
    if kind == "voc":
        voc = VOCSemanticSegmentationDataset(root or "auto", split)
        return voc, voc.label_names
    make, label_names = _MAKERS[kind]
    return make(root or "auto", split), label_names


_MAKERS = {
    "ade20k": (
        lambda root, split: ADE20KSemanticSegmentationDataset(root, split=split),
        ade20k_semantic_segmentation_label_names,
    ),
    "camvid": (lambda root, split: CamVidDataset(root, split=split), camvid_label_names),
    "cityscapes": (
        lambda root, split: CityscapesSemanticSegmentationDataset(root, "fine", split),
        cityscapes_semantic_segmentation_label_names,
    ),
}
