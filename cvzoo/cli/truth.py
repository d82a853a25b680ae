"""The ground truth of a command line: COCO's annotations, or a folder in VOC's layout."""

import argparse
import dataclasses
import pathlib
from collections.abc import Sequence

import numpy as np

from cvzoo.cli.detection_files import sizes_of_files
from cvzoo.datasets.doctor.fault import Severity
from cvzoo.datasets.image_location import check_image_location
from cvzoo.datasets.layouts.coco_files import INSTANCES, KEYPOINTS, coco_file, coco_image_folders
from cvzoo.datasets.layouts.data_spec import KINDS, DataSpec, parse_data_spec
from cvzoo.datasets.layouts.read import read_annotated_set
from cvzoo.datasets.voc.bbox_dataset import VOCFolderBboxDataset
from cvzoo.errors.exceptions import ConfigError, DatasetError
from cvzoo.evaluations.coco.ground_truth import COCOGroundTruth
from cvzoo.evaluations.coco.image_names import read_image_names
from cvzoo.evaluations.coco.parameters import COCOParameters
from cvzoo.evaluations.coco.read_ground_truth import read_coco_ground_truth
from cvzoo.evaluations.results.box_records import spellings
from cvzoo.labels.voc import voc_bbox_label_names
from cvzoo.reporting.counted import counted
from cvzoo.typing.aliases import FilePath, Size


@dataclasses.dataclass(frozen=True, eq=False)
class COCOTruth:
    """COCO's annotations: the file, the objects, and the images' names by their ids.

    known_paths: of the images, if known already
    allow_outside: images may be outside of the data set's folder
    has_own_ids: results may refer to the ids although the data set is not COCO's
    """

    path: pathlib.Path
    gt: COCOGroundTruth
    file_names: dict[int, str]
    known_paths: Sequence[pathlib.Path | None] | None = None
    allow_outside: bool = False
    has_own_ids: bool = False

    @property
    def images_by_name(self) -> dict[str, int]:
        """The id of each image, by all accepted spellings of its name."""
        return spellings(list(self.file_names.values()), list(self.file_names))

    @property
    def labels(self) -> dict[str, int]:
        """Every spelling of a class, and its id: names first, then numbers."""
        ids = self.gt.cat_ids.tolist()
        return {str(number): number for number in ids} | dict(zip(self.gt.cat_names or (), ids))

    @property
    def label_names(self) -> tuple[str, ...]:
        """The classes in the order of their ids."""
        names = self.gt.cat_names or tuple(map(str, self.gt.cat_ids.tolist()))
        return tuple(names[k] for k in np.argsort(self.gt.cat_ids))

    def sizes(self) -> dict[str, Size]:
        """(H, W) of each image by its name: from the annotations, otherwise from the files, if they are known.

        Raises DatasetError if a size is unknown.
        """
        names = [name or str(number) for number, name in self.file_names.items()]
        if self.gt.img_sizes is None:
            return sizes_of_files(names, self.known_paths or [None] * len(names))
        place = dict(zip(self.gt.img_ids.tolist(), self.gt.img_sizes.tolist()))
        return {name: tuple(place[number]) for name, number in zip(names, self.file_names)}

    def photo_paths(self, folder: FilePath | None) -> list[pathlib.Path]:
        """The paths of the images, in the order of the ids' records.

        Raises DatasetError if the first does not exist, or one is outside of the data set's folder.
        """
        if self.known_paths is not None:
            return [path for path in self.known_paths if path is not None]
        folders = [pathlib.Path(folder)] if folder is not None else coco_image_folders(self.path)
        names = list(self.file_names.values())
        if not names:
            raise DatasetError(f"{self.path} lists no images")
        for each in folders:
            if (each / names[0]).is_file():
                return self._checked([each / name for name in names], each, folder is not None)
        raise DatasetError(
            f"{self.path}: its image {names[0]} does not exist",
            expected="in " + " or ".join(map(str, folders)),
            hint="--images DIR",
        )

    def _checked(self, paths: list[pathlib.Path], folder: pathlib.Path, is_named: bool) -> list[pathlib.Path]:
        named = folder if is_named else None
        real_folders = DataSpec("coco", self.path, named).real_folders((folder,))
        for path in paths:
            check_image_location(path, real_folders, allow_outside=self.allow_outside)
        return paths


@dataclasses.dataclass(frozen=True, eq=False)
class VOCTruth:
    """Ground truth for VOC's metric, usually a folder in its layout.

    bboxes, labels, difficults: lists with one array per image; (R, 4) float, 0-based
    last_pixel: 1 if y_max and x_max are the last pixel of the box, as in VOCBboxDataset; 0 if they are half-open
    """

    path: pathlib.Path
    names: tuple[str, ...]
    photo_names: list[str]
    photo_paths: Sequence[pathlib.Path | None]
    bboxes: list[np.ndarray]
    labels: list[np.ndarray]
    difficults: list[np.ndarray]
    last_pixel: int = 1

    def sizes(self) -> dict[str, Size]:
        """(H, W) of each image by its name. Raises DatasetError if the files are not known."""
        return sizes_of_files(self.photo_names, self.photo_paths)

    @property
    def images_by_name(self) -> dict[str, int]:
        """The index of each image, by all accepted spellings of its name."""
        return spellings(self.photo_names, range(len(self.photo_names)))


def load_truth(
    args: argparse.Namespace, parameters: COCOParameters, *, limit: int | None = None
) -> COCOTruth | VOCTruth:
    """The ground truth of --data or --gt. Raises ConfigError for an unknown kind, and errors of reading the files.

    limit: only the first images
    """
    if (args.data is None) == (args.gt is None):
        raise ConfigError(
            "evaluate needs one ground truth", hint="--data SPEC to run a model, or --gt FILE for --results"
        )
    spec = args.data if args.gt is None else args.gt
    kind = spec.partition(":")[0]
    if kind not in KINDS and args.gt is not None and not pathlib.Path(spec).is_dir():
        spec = f"coco:{spec}"  # of any file name
    # as for `cvzoo data`, the layout may be detected, and photos=, split= and base= may be part of the SPEC
    named = parse_data_spec(spec)
    args.split = args.split or named.split
    args.photos = args.photos or named.photos
    named = dataclasses.replace(named, outside=named.outside or args.allow_outside)
    if named.kind == "voc":
        return _load_voc(named, args.split, limit, with_photos=args.data is not None)
    if named.kind in ("yolo", "sroie", "labelme"):
        return _load_layout(dataclasses.replace(named, split=args.split), limit)
    if named.path.is_dir():
        first = KEYPOINTS if args.iou_type == "keypoints" else INSTANCES
        named = dataclasses.replace(named, path=coco_file(named.path, args.split, first=first))
    elif args.split is not None:
        raise ConfigError("--split applies to folders; a file of COCO is one split", hint="coco:ROOT --split val")
    return _load_coco(named, parameters, limit)


def _load_coco(named: DataSpec, parameters: COCOParameters, limit: int | None) -> COCOTruth:
    path = named.path
    source = path.read_bytes()
    file_names = read_image_names(source, name=str(path))
    gt = read_coco_ground_truth(source, parameters)
    if limit is not None and limit < len(file_names):
        file_names = dict(list(file_names.items())[:limit])
    return COCOTruth(path, gt, file_names, allow_outside=named.outside)


def _load_voc(named: DataSpec, split: str | None, limit: int | None, *, with_photos: bool) -> VOCTruth:
    root = named.path
    names = voc_label_names(root)
    dataset = VOCFolderBboxDataset(
        root,
        split,
        list_dir=named.lists,
        label_names=names,
        one_based=named.base == 1,
        use_difficult=True,
        return_difficult=True,
        allow_outside=named.outside,
    )
    n = len(dataset) if limit is None else min(limit, len(dataset))
    rows = dataset.slice[:n, ("bbox", "label", "difficult")]
    bboxes, labels, difficults = (list(each) for each in zip(*rows)) if n else ([], [], [])
    paths = [pathlib.Path(dataset.name(i)) for i in range(n)]
    for path in paths if with_photos else ():
        check_image_location(path, named.real_folders(()), allow_outside=named.outside)
    photo_names = [path.name for path in paths]
    return VOCTruth(root, names, photo_names, paths if with_photos else [None] * n, bboxes, labels, difficults)


def _load_layout(named: DataSpec, limit: int | None) -> COCOTruth:
    """Boxes in YOLO's, SROIE's or labelme's layout. Raises DatasetError that names the first file that is malformed."""
    annotated = read_annotated_set(named)
    errors = [f"{each.where}: {each.message}" for each in annotated.findings if each.severity is Severity.ERROR]
    images = annotated.images[:limit]
    errors += [f"{image.name}: there is no image" for image in images if image.path is None]
    errors += [f"{image.name} cannot be read" for image in images if image.path is not None and image.size is None]
    if errors:
        raise DatasetError(
            f"the annotations have {counted(len(errors), 'error')}: {errors[0]}", hint=f"cvzoo data check {named}"
        )
    if not images:
        raise DatasetError(f"{named} contains no images", hint="--split NAME")
    names = annotated.used_names()
    label = {name: l for l, name in enumerate(names, 1)}
    rows = [
        (i, label[each.name], *each.bbox)
        for i, image in enumerate(images, 1)
        for each in image.objects
        if each.name is not None and each.bbox is not None
    ]
    image_id, category_id, y_min, x_min, y_max, x_max = np.array(rows, np.float64).reshape(-1, 6).T
    bbox = np.stack((x_min, y_min, x_max - x_min, y_max - y_min), axis=1)
    gt = COCOGroundTruth(
        img_ids=np.arange(1, len(images) + 1),
        cat_ids=np.arange(1, len(names) + 1),
        image_id=image_id.astype(np.int64),
        category_id=category_id.astype(np.int64),
        bbox=bbox,
        area=bbox[:, 2] * bbox[:, 3],
        crowd=np.zeros(len(rows), bool),
        img_sizes=np.array([image.size for image in images], np.int64),
        cat_names=names,
    )
    paths = [image.path for image in images]
    return COCOTruth(named.path, gt, {i: image.name for i, image in enumerate(images, 1)}, paths)


def voc_label_names(root: pathlib.Path) -> tuple[str, ...]:
    """The classes of a folder in VOC's layout in order of label: VOC's own 20, or those that occur, sorted."""
    names = VOCFolderBboxDataset(root).label_names
    return voc_bbox_label_names if set(names) <= set(voc_bbox_label_names) else names
