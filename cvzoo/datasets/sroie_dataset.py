"""SROIE: scanned receipts with lines of text, for text detection."""

import math
import pathlib

import numpy as np

from cvzoo.datasets.archive import provide
from cvzoo.datasets.image_location import check_image_location, real_folder
from cvzoo.datasets.sliceable.getter_dataset import GetterDataset
from cvzoo.datasets.text_files import read_lines, read_text
from cvzoo.errors.exceptions import DatasetError
from cvzoo.geometry.has_area import has_area
from cvzoo.geometry.quads import quad_to_bbox
from cvzoo.images.list_image_files import list_image_files
from cvzoo.images.read_image import read_image
from cvzoo.labels.class_colors import class_colors
from cvzoo.typing.aliases import Array, BBox, FilePath, Image, Label

sroie_label_names = ("text",)
_PAGE = "https://rrc.cvc.uab.es/?ch=13"


class SROIETextDataset(GetterDataset):
    """Scanned receipts of ICDAR 2019's SROIE challenge with a box around each line of text.

    data_dir: "auto": the folder below CVZOO_HOME, to which you have to copy the files; or a folder that contains `img`
        (images), `box` (one .csv or .txt per image: x1,y1,x2,y2,x3,y3,x4,y4,text) and, with `split`, lists of names
        such as train.txt; images and text files may also be in one folder, as the challenge distributes them
    split: the name of a list, without ".txt"; None: every image, sorted by name
    list_dir: the folder of the lists, if they are not in that folder
    return_quad: add `quad`: (R, 4, 2) float32, (y, x) of the corners in the file's order
    return_text: add `text`: R of str
    use_empty: include boxes with zero area
    allow_outside: images may be links to files outside of the folder; otherwise reading them raises

    img: (3, H, W) float32; bbox: (R, 4) float32, axis-aligned boxes around the corners; label: (R,) int32, all 0
    Source: Huang et al., "ICDAR2019 Competition on Scanned Receipt OCR and Information Extraction", 2019. The images
    are for research, available from the challenge after registration only.
    """

    def __init__(
        self,
        data_dir: FilePath = "auto",
        split: str | None = None,
        *,
        list_dir: FilePath | None = None,
        return_quad: bool = False,
        return_text: bool = False,
        use_empty: bool = True,
        allow_outside: bool = False,
    ) -> None:
        super().__init__()
        self.label_names = sroie_label_names
        self.label_colors = class_colors(len(self.label_names))
        root = provide(
            data_dir,
            "sroie",
            needs="." if split is None or list_dir is not None else f"{split}.txt",
            archives=(),
            licence="research use, after registration",
            page=_PAGE,
        )
        image_dir = root / "img" if (root / "img").is_dir() else root
        self._text_dir = root / "box" if (root / "box").is_dir() else image_dir
        images = {path.stem: path for path in list_image_files(image_dir)}
        ids = (
            sorted(images)
            if split is None
            else [pathlib.Path(line).stem for line in read_lines(pathlib.Path(list_dir or root) / f"{split}.txt")]
        )
        missing = [id_ for id_ in ids if id_ not in images]
        if missing or not ids:
            raise DatasetError(
                f"{image_dir}: images are missing",
                got=", ".join(missing[:5]) or "no images",
                hint=f"get them at {_PAGE}",
            )
        self._image_paths = [images[id_] for id_ in ids]
        self._real_folders = (real_folder(root, named=True),)
        self._allow_outside = allow_outside
        self._use_empty = use_empty
        self.add_getter("img", self._get_img)
        self.add_getter(("bbox", "label", "quad", "text"), self._get_regions)
        self.keys = ("img", "bbox", "label", *(("quad",) if return_quad else ()), *(("text",) if return_text else ()))
        self.name_examples(self._image_paths.__getitem__)

    def __len__(self) -> int:
        return len(self._image_paths)

    def _get_img(self, i: int) -> Image:
        path = self._image_paths[i]
        check_image_location(path, self._real_folders, allow_outside=self._allow_outside)
        return read_image(path)

    def _get_regions(self, i: int) -> tuple[BBox, Label, Array, tuple[str, ...]]:
        stem = self._image_paths[i].stem
        path = self._text_dir / f"{stem}.csv"
        quad, text = read_quads(path if path.is_file() else path.with_suffix(".txt"))
        bbox = quad_to_bbox(quad)
        if not self._use_empty:
            kept = np.flatnonzero(has_area(bbox))
            bbox, quad, text = bbox[kept], quad[kept], tuple(text[r] for r in kept)
        return bbox, np.zeros(len(bbox), np.int32), quad, text


def read_quads(path: FilePath) -> tuple[Array, tuple[str, ...]]:
    """(quad (R, 4, 2) float32, text R of str) from a file of lines x1,y1,x2,y2,x3,y3,x4,y4,text.

    quad: (y, x) of four corners, in the file's order; text: the rest of the line, with its commas; surrounding quotes
    are part of the text, as in the challenge
    Raises DatasetError that names the file and the line.
    """
    corners, texts = [], []
    for number, line in enumerate(read_text(path).splitlines(), 1):
        if not line.strip():
            continue
        # the text itself may contain commas
        parts = line.split(",", 8)
        try:
            values = [float(part) for part in parts[:8]]
        except ValueError:
            values = []
        if len(values) != 8 or not all(map(math.isfinite, values)):
            raise DatasetError(f"{path}:{number}: a line must be eight numbers and a text", got=line[:80])
        corners.append(values)
        texts.append(parts[8] if len(parts) > 8 else "")
    return np.array(corners, np.float32).reshape(-1, 4, 2)[:, :, ::-1].copy(), tuple(texts)
