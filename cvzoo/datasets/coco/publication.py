"""Where MS COCO is published, and its two folders."""

import pathlib

from cvzoo.datasets.archive import Archive, provide
from cvzoo.datasets.text_files import check_choice
from cvzoo.errors.exceptions import DatasetError

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


def provide_coco(data_dir, *, kind, split, year):
    """(the annotation file, the folder of photos) of a split.

    data_dir: "auto", or a folder with `annotations` and either train2017 ... or images/train2017 ... in it
    kind: "instances", "person_keypoints" or "panoptic"
    """
    check_choice("year", year, tuple(_SPLITS) if kind != "panoptic" else ("2017",))
    splits = _SPLITS[year]
    check_choice("split", split, splits if kind == "instances" else splits[:2])
    photos = f"{'train' if split == 'train' else 'val'}{year}"
    annotations = f"annotations/{kind}_{split}{year}.json"
    root = None
    for needs, archive in ((annotations, _annotation_archive(kind, split, year)), (_photos_in(data_dir, photos), None)):
        root = provide(
            data_dir,
            "coco",
            needs=needs,
            archives=(archive or Archive(url=f"{_SITE}/zips/{photos}.zip"),),
            licence="annotations CC BY 4.0; photos under Flickr's terms",
            page="https://cocodataset.org/#download",
        )
    return root / annotations, root / _photos_in(root, photos)


def _annotation_archive(kind, split, year):
    if kind == "panoptic":
        return _PANOPTIC
    return _MINIVAL.get(split) or Archive(url=f"{_SITE}/annotations/annotations_trainval{year}.zip")


def _photos_in(data_dir, photos):
    is_below = data_dir != "auto" and (pathlib.Path(data_dir) / "images" / photos).is_dir()
    return f"images/{photos}" if is_below else photos


def find_photos(json_path, image_dir, first):
    """The folder of the photos of an annotation file that a user gives: `image_dir`, or where photos mostly lie.

    first: the name of one photo
    Raises DatasetError that lists where it looked.
    """
    json_path = pathlib.Path(json_path)
    if image_dir is not None:
        return pathlib.Path(image_dir)
    here, above = json_path.parent, json_path.parent.parent
    name = json_path.stem.split("_")[-1]
    places = [above / name, above / "images" / name, above / "images", above, here / "images", here / name, here]
    for place in places:
        if first is None or (place / first).is_file():
            return place
    raise DatasetError(
        f"{json_path}: its photo {first} is in none of the usual folders",
        expected=", ".join(map(str, places)),
        hint="image_dir=",
    )
