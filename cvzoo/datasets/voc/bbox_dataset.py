"""Pascal VOC's bounding boxes, and those of any folder in its layout."""

import pathlib
from collections.abc import Sequence

from cvzoo.datasets.image_location import check_image_location, real_folder
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
from cvzoo.reporting.counted import counted
from cvzoo.typing.aliases import BBox, FilePath, Flags, Image, Label, LabelNames


class AbstractVOCBboxDataset(GetterDataset):
    """The base class of detection data sets with one XML file per image.

    img: (3, H, W) float32, RGB in [0, 255]; bbox: (R, 4) float32; label: (R,) int32
    difficult: (R,) bool, if requested
    label_names, label_colors: the classes, and one (R, G, B) per class
    """

    def __init__(
        self,
        images: Sequence[pathlib.Path],
        annotations: Sequence[pathlib.Path],
        label_names: LabelNames,
        *,
        one_based: bool,
        use_difficult: bool,
        return_difficult: bool,
    ) -> None:
        super().__init__()
        self.label_names = tuple(label_names)
        self.label_colors = class_colors(len(self.label_names))
        self._image_paths = images
        self._annotations = annotations
        self._numbers = {name: label for label, name in enumerate(self.label_names)}
        self._one_based = one_based
        self._use_difficult = use_difficult
        self.add_getter("img", self._get_img)
        self.add_getter(("bbox", "label", "difficult"), self._get_annotation)
        if not return_difficult:
            self.keys = ("img", "bbox", "label")
        self.name_examples(self._image_paths.__getitem__)
        self._real_folders: tuple[str, ...] = ()  # none: the images may be anywhere
        self._use_empty = True

    def __len__(self) -> int:
        return len(self._image_paths)

    def _get_img(self, i: int) -> Image:
        path = self._image_paths[i]
        check_image_location(path, self._real_folders, allow_outside=not self._real_folders)
        return read_image(path)

    def _get_annotation(self, i: int) -> tuple[BBox, Label, Flags]:
        path = self._annotations[i]
        bbox, names, difficult = read_voc_objects(path, one_based=self._one_based)
        label = label_of(names, self._numbers, path)
        kept = has_area(bbox) | self._use_empty
        if not self._use_difficult:
            kept &= ~difficult
        return bbox[kept], label[kept], difficult[kept]


class VOCBboxDataset(AbstractVOCBboxDataset):
    """Pascal VOC with bounding boxes of 20 classes (`voc_bbox_label_names`).

    data_dir: "auto" (downloaded to CVZOO_HOME), the folder VOC2007 or VOC2012, or a folder that contains VOCdevkit
    split: "train", "val" or "trainval"; for 2007 also "test"
    year: "2007" or "2012"
    use_difficult: include objects marked as difficult
    return_difficult: add a fourth value that marks them

    img: (3, H, W) float32; bbox: (R, 4) float32, the files' 1-based coordinates minus 1 (all four);
    label: (R,) int32; difficult: (R,) bool. Images without objects are included, with (0, 4) and (0,).
    Source: Everingham et al., "The Pascal Visual Object Classes (VOC) Challenge", 2010; order and coordinates as in
    ChainerCV.
    """

    def __init__(
        self,
        data_dir: FilePath = "auto",
        split: str = "train",
        year: str = "2012",
        use_difficult: bool = False,
        return_difficult: bool = False,
    ) -> None:
        root, ids_path = provide_voc(data_dir, year=year, split=split, image_set="Main")
        # the lists of single classes have a second column, others do not
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
    """A detection data set in VOC's layout: the folders JPEGImages, Annotations and, with `split`, ImageSets.

    data_dir: the folder; its subfolders may also be named images and annotations, as in many data sets on Kaggle
    split: the name of a list in ImageSets/Main, without ".txt"; None: every annotation, sorted by name
    list_dir: the folder of the lists, if not ImageSets/Main
    label_names: the classes in the order of their labels; None: those that occur in Annotations (of all splits), sorted
    one_based: coordinates are 1-based, as in VOC's own files; False: 0-based, as written by many tools
    use_difficult, return_difficult: as in VOCBboxDataset
    use_empty: include boxes with zero area, such as those one pixel wide, whose corners are the same
    allow_outside: images may be links to files outside of the folder; otherwise reading them raises

    Images may be in any format that `read_image` reads. Raises DatasetError if files are missing.
    """

    def __init__(
        self,
        data_dir: FilePath,
        split: str | None = None,
        *,
        list_dir: FilePath | None = None,
        label_names: LabelNames | None = None,
        one_based: bool = True,
        use_difficult: bool = False,
        return_difficult: bool = False,
        use_empty: bool = True,
        allow_outside: bool = False,
    ) -> None:
        root = pathlib.Path(data_dir)
        folders = voc_folders(root)
        for folder in (folders.annotations, folders.images):
            if not folder.is_dir():
                raise DatasetError(
                    f"{root} contains no folder {folder.name}", expected="JPEGImages, Annotations, ImageSets/Main"
                )
        files = {path.stem: path for path in list_image_files(folders.images)}
        if split is None:
            ids = sorted(path.stem for path in folders.annotations.glob("*.xml"))
        else:
            ids = [line.split()[0] for line in read_lines(pathlib.Path(list_dir or folders.lists) / f"{split}.txt")]
        missing = [id_ for id_ in ids if id_ not in files]
        if missing:
            raise DatasetError(
                f"{root}: {counted(len(missing), 'image is', 'images are')} not in {folders.images.name}",
                got=", ".join(missing[:5]),
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


def _find_names(folder: pathlib.Path) -> tuple[str, ...]:
    names = {name for path in folder.glob("*.xml") for name in read_voc_objects(path, one_based=False).names}
    return tuple(sorted(names))
