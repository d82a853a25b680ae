"""Locates or downloads the files of Pascal VOC."""

import pathlib

from cvzoo.datasets.archive import Archive, provide
from cvzoo.datasets.text_files import check_choice
from cvzoo.errors.exceptions import DatasetError
from cvzoo.typing.aliases import FilePath

_SITE = "http://host.robots.ox.ac.uk/pascal/VOC"
_ARCHIVES = {
    ("2007", "trainval"): Archive(
        url=f"{_SITE}/voc2007/VOCtrainval_06-Nov-2007.tar",
        sha256="7d8cd951101b0957ddfd7a530bdc8a94f06121cfc1e511bb5937e973020c7508",
        size=460032000,
    ),
    ("2007", "test"): Archive(
        url=f"{_SITE}/voc2007/VOCtest_06-Nov-2007.tar",
        sha256="6836888e2e01dca84577a849d339fa4f73e1e4f135d312430c4856b5609b4892",
    ),
    ("2012", "trainval"): Archive(
        url=f"{_SITE}/voc2012/VOCtrainval_11-May-2012.tar",
        sha256="e14f763270cf193d0b5f74b169f44157a4b0c6efa708f4dd0ff78ee691763bcb",
        size=1999639040,
    ),
}
_SPLITS = {"2007": ("train", "val", "trainval", "test"), "2012": ("train", "val", "trainval")}


def provide_voc(data_dir: FilePath, *, year: str, split: str, image_set: str) -> tuple[pathlib.Path, pathlib.Path]:
    """(the folder VOC<year>, the path of the list of the split's image ids).

    data_dir: "auto", the folder VOC<year> itself, or a folder that contains VOCdevkit/VOC<year>
    split: a list of the publisher's, or of a folder of your own in that layout
    image_set: "Main" or "Segmentation"
    Raises ValueRangeError for a year or a split that does not exist, DatasetError, DownloadError as `provide`.
    """
    check_choice("year", year, tuple(_SPLITS))
    ids = f"ImageSets/{image_set}/{split}.txt"
    if data_dir != "auto":
        root = pathlib.Path(data_dir)
        if (root / ids).is_file():
            return root, root / ids
        lists = sorted(path.stem for path in (root / ids).parent.glob("*.txt"))
        if lists:
            raise DatasetError(f"{root / ids} does not exist", expected=f"a list of this data set: {', '.join(lists)}")
    check_choice("split", split, _SPLITS[year])
    root = provide(
        data_dir,
        "voc",
        needs=f"VOCdevkit/VOC{year}/{ids}",
        archives=(_ARCHIVES[year, "test" if split == "test" else "trainval"],),
        licence="database rights of the organisers; images under Flickr's terms",
        page=f"{_SITE}/voc{year}/",
    )
    return root / f"VOCdevkit/VOC{year}", root / f"VOCdevkit/VOC{year}" / ids
