"""Pascal VOC's boxes, and those of any folder in its layout."""

import os
import pathlib

import numpy as np

from cvzoo.datasets.photo_place import check_photo_place, real_folder
from cvzoo.datasets.sliceable.getter_dataset import GetterDataset
from cvzoo.datasets.text_files import read_lines
from cvzoo.datasets.voc.annotation import label_of, read_voc_objects
from cvzoo.datasets.voc.folders import voc_folders
from cvzoo.datasets.voc.publication import provide_voc
from cvzoo.errors.exceptions import DatasetError
from cvzoo.geometry.has_area import has_area
from cvzoo.images.list_image_files import list_image_files
from cvzoo.images.read_image import read_image
from cvzoo.labels.class_colors import class_colors
from cvzoo.labels.voc import voc_bbox_label_names


class AbstractVOCBboxDataset(GetterDataset):
    """Photos and XML files side by side.

    img: (3, H, W) float32, RGB in [0, 255]; bbox: (R, 4) float32; label: (R,) int32
    difficult: (R,) bool, if asked for
    label_names, label_colors: the classes, and an (R, G, B) for each
    """

    def __init__(self, photos, annotations, label_names, *, one_based, use_difficult, return_difficult):
        super().__init__()
        self.label_names = tuple(label_names)
        self.label_colors = class_colors(len(self.label_names))
        self._photos = photos
        self._annotations = annotations
        self._numbers = {name: label for label, name in enumerate(self.label_names)}
        self._one_based = one_based
        self._use_difficult = use_difficult
        self.add_getter("img", self._get_img)
        self.add_getter(("bbox", "label", "difficult"), self._get_annotation)
        if not return_difficult:
            self.keys = ("img", "bbox", "label")
        self.name_examples(self._photos.__getitem__)
        self._real_folders = ()  # none: the photos may lie anywhere
        self._use_empty = True

    def __len__(self):
        return len(self._photos)

    def _get_img(self, i):
        path = self._photos[i]
        check_photo_place(path, self._real_folders, allow_outside=not self._real_folders)
        return read_image(path)

    def _get_annotation(self, i):
        path = self._annotations[i]
        bbox, names, difficult = read_voc_objects(path, one_based=self._one_based)
        label = label_of(names, self._numbers, path)
        kept = has_area(bbox) | self._use_empty
        if not self._use_difficult:
            kept &= ~difficult
        return bbox[kept], label[kept], difficult[kept]


class VOCBboxDataset(AbstractVOCBboxDataset):
    """Pascal VOC's photos with boxes of 20 classes (`voc_bbox_label_names`).

    data_dir: "auto" (fetched below CVZOO_HOME), the folder VOC2007 or VOC2012, or a folder with VOCdevkit in it
    split: "train", "val" or "trainval"; for 2007 also "test"
    year: "2007" or "2012"
    use_difficult: objects marked as difficult are there, too
    return_difficult: examples have a fourth value that says which they are

    img: (3, H, W) float32; bbox: (R, 4) float32, from which the files' 1 is taken off (all four coordinates);
    label: (R,) int32; difficult: (R,) bool. A photo whose objects are all left out has (0, 4) and (0,).
    Source: Everingham et al., "The Pascal Visual Object Classes (VOC) Challenge", 2010; order and coordinates as
    ChainerCV has them.
    """

    def __init__(self, data_dir="auto", split="train", year="2012", use_difficult=False, return_difficult=False):
        root, ids_path = provide_voc(data_dir, year=year, split=split, image_set="Main")
        # the lists of single classes have a second column, this one has none
        ids = [line.split()[0] for line in read_lines(ids_path)]
        super().__init__(
            [root / f"JPEGImages/{id_}.jpg" for id_ in ids],
            [root / f"Annotations/{id_}.xml" for id_ in ids],
            voc_bbox_label_names,
            one_based=True,
            use_difficult=use_difficult,
            return_difficult=return_difficult,
        )


class VOCFolderBboxDataset(AbstractVOCBboxDataset):
    """Your own photos with boxes, in a folder with VOC's layout: JPEGImages, Annotations and, with `split`, ImageSets.

    data_dir: the folder; images and annotations are understood, too, as in many sets of Kaggle
    split: the name of a list in ImageSets/Main, without ".txt"; None: every annotation, sorted by name
    list_dir: where the lists are, if not in ImageSets/Main
    label_names: the classes in the order of their labels; None: those that occur in Annotations (of all splits),
        sorted; `dataset.label_names` tells them
    one_based: the files call the first pixel 1, as VOC's own do; False: 0, as many tools write
    use_difficult, return_difficult: as in VOCBboxDataset
    use_empty: boxes without an area are there, too, such as those of one pixel's width, whose corners are the same
    allow_outside: photos may be links that lead out of the folder; refused otherwise, when they are read

    Photos may be of any kind that `read_image` reads. Raises DatasetError if files are absent.
    """

    def __init__(
        self,
        data_dir,
        split=None,
        *,
        list_dir: str | os.PathLike | None = None,
        label_names=None,
        one_based=True,
        use_difficult=False,
        return_difficult=False,
        use_empty: bool = True,
        allow_outside: bool = False,
    ):
        root = pathlib.Path(data_dir)
        folders = voc_folders(root)
        for folder in (folders.annotations, folders.photos):
            if not folder.is_dir():
                raise DatasetError(
                    f"{root}: no folder {folder.name}", expected="JPEGImages, Annotations, ImageSets/Main"
                )
        files = {path.stem: path for path in list_image_files(folders.photos)}
        if split is None:
            ids = sorted(path.stem for path in folders.annotations.glob("*.xml"))
        else:
            ids = [line.split()[0] for line in read_lines(pathlib.Path(list_dir or folders.lists) / f"{split}.txt")]
        missing = [id_ for id_ in ids if id_ not in files]
        if missing:
            raise DatasetError(
                f"{root}: {len(missing)} photos are not in {folders.photos.name}", got=", ".join(missing[:5])
            )
        if label_names is None:
            label_names = _find_names(folders.annotations)
        super().__init__(
            [files[id_] for id_ in ids],
            [folders.annotations / f"{id_}.xml" for id_ in ids],
            label_names,
            one_based=one_based,
            use_difficult=use_difficult,
            return_difficult=return_difficult,
        )
        self._use_empty = use_empty
        if not allow_outside:
            self._real_folders = (real_folder(root, named=True),)


def _find_names(folder):
    return tuple(
        np.unique([name for path in sorted(folder.glob("*.xml")) for name in read_voc_objects(path, one_based=0).names])
        .astype(str)
        .tolist()
    )
