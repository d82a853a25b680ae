"""Locates or downloads the files of MS COCO."""

import pathlib

from cvzoo.datasets.archive import Archive, provide
from cvzoo.datasets.layouts.coco_files import coco_image_folders
from cvzoo.datasets.text_files import check_choice
from cvzoo.errors.exceptions import DatasetError
from cvzoo.typing.aliases import FilePath

_SITE = "http://images.cocodataset.org"
_SPLITS = {"2014": ("train", "val", "minival", "valminusminival"), "2017": ("train", "val")}
_DROPBOX = "https://dl.dropboxusercontent.com/s"
_MINIVAL = {
    "minival": Archive(url=f"{_DROPBOX}/o43o90bna78omob/instances_minival2014.json.zip", folder="annotations"),
    "valminusminival": Archive(
        url=f"{_DROPBOX}/s3tw5zcg7395368/instances_valminusminival2014.json.zip", folder="annotations"
    ),
}
_PANOPTIC = Archive(url=f"{_SITE}/annotations/panoptic_annotations_trainval2017.zip")


def provide_coco(data_dir: FilePath, *, kind: str, split: str, year: str) -> tuple[pathlib.Path, pathlib.Path]:
    """(annotation file, image folder) of a split.

    data_dir: "auto", or a folder with `annotations` and either train2017 ... or images/train2017 ...
    kind: "instances", "person_keypoints" or "panoptic"
    """
    check_choice("year", year, tuple(_SPLITS) if kind != "panoptic" else ("2017",))
    splits = _SPLITS[year]
    check_choice("split", split, splits if kind == "instances" else splits[:2])
    images = f"{'train' if split == 'train' else 'val'}{year}"
    annotations = f"annotations/{kind}_{split}{year}.json"
    root = pathlib.Path()
    for needs, archive in (
        (annotations, _annotation_archive(kind, split, year)),
        (_image_dir_in(data_dir, images), None),
    ):
        root = provide(
            data_dir,
            "coco",
            needs=needs,
            archives=(archive or Archive(url=f"{_SITE}/zips/{images}.zip"),),
            licence="annotations CC BY 4.0; images under Flickr's terms",
            page="https://cocodataset.org/#download",
        )
    return root / annotations, root / _image_dir_in(root, images)


def _annotation_archive(kind: str, split: str, year: str) -> Archive:
    if kind == "panoptic":
        return _PANOPTIC
    return _MINIVAL.get(split) or Archive(url=f"{_SITE}/annotations/annotations_trainval{year}.zip")


def _image_dir_in(data_dir: FilePath, images: str) -> str:
    is_below = data_dir != "auto" and (pathlib.Path(data_dir) / "images" / images).is_dir()
    return f"images/{images}" if is_below else images


def find_image_dir(json_path: FilePath, image_dir: FilePath | None, first: str | None) -> pathlib.Path:
    """The image folder of a user's annotation file: `image_dir`, or the first of the usual folders that fits.

    first: the name of one image
    Raises DatasetError that lists the folders.
    """
    json_path = pathlib.Path(json_path)
    if image_dir is not None:
        return pathlib.Path(image_dir)
    folders = coco_image_folders(json_path)
    for folder in folders:
        if first is None or (folder / first).is_file():
            return folder
    raise DatasetError(
        f"{json_path}: its image {first} is not in any of the usual folders",
        expected=", ".join(map(str, folders)),
        hint="image_dir=",
    )
