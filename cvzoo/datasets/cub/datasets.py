"""Caltech-UCSD Birds-200-2011: species, keypoints and masks."""

import pathlib

import numpy as np

from cvzoo.datasets.cub.publication import provide_cub, provide_cub_masks, read_paths, read_table
from cvzoo.datasets.sliceable.getter_dataset import GetterDataset
from cvzoo.datasets.text_files import read_lines
from cvzoo.errors.exceptions import DatasetError
from cvzoo.images.read_image import read_image
from cvzoo.images.read_image_size import read_image_size
from cvzoo.labels.class_colors import class_colors
from cvzoo.labels.cub import cub_keypoint_names, cub_label_names
from cvzoo.typing.aliases import Array, BBox, FilePath, Image, Label, Mask, Point

_N_POINT = len(cub_keypoint_names)


class AbstractCUBDataset(GetterDataset):
    """The base class of CUB's data sets: images, a box and a map of the probability that a pixel belongs to the bird.

    labels: (N,) int32, the species
    """

    def __init__(self, data_dir: FilePath, prob_map_dir: FilePath, *, needs_maps: bool) -> None:
        super().__init__()
        self.label_names = cub_label_names
        self.label_colors = class_colors(len(cub_label_names))
        self._root = provide_cub(data_dir)
        self._map_root = provide_cub_masks(prob_map_dir) if needs_maps else None
        self._paths = read_paths(self._root)
        n_image = len(self._paths)
        self.labels = read_table(self._root / "image_class_labels.txt", n_image, 1)[:, 0].astype(np.int32) - 1
        x, y, width, height = read_table(self._root / "bounding_boxes.txt", n_image, 4).T
        self._bbox = np.stack([y, x, y + height, x + width], axis=1).astype(np.float32)
        self.name_examples(self._image_path)

    def __len__(self) -> int:
        return len(self._paths)

    def _image_path(self, i: int) -> pathlib.Path:
        return self._root / "images" / self._paths[i]

    def _get_img(self, i: int) -> Image:
        return read_image(self._image_path(i))

    def _get_bbox(self, i: int) -> BBox:
        return self._bbox[i : i + 1]

    def _get_prob_map(self, i: int) -> Array:
        if self._map_root is None:
            raise DatasetError("the probability maps of this data set are not read", hint="return_prob_map=True")
        path = (self._map_root / self._paths[i]).with_suffix(".png")
        return read_image(path, color=False)[0] / np.float32(255)


class CUBLabelDataset(AbstractCUBDataset):
    """Caltech-UCSD Birds-200-2011: 11,788 images with their species (`cub_label_names`).

    data_dir: "auto" (downloaded to CVZOO_HOME), the folder CUB_200_2011, or its parent
    prob_map_dir: likewise for the folder segmentations; used only if maps are requested
    img: (3, H, W) float32; label: () int32; and if requested, in this order, bbox: (1, 4) float32; prob_map: (H, W)
    float32 in [0, 1], the fraction of five annotators who marked the pixel
    Source: Wah et al., "The Caltech-UCSD Birds-200-2011 Dataset", 2011.
    """

    def __init__(
        self,
        data_dir: FilePath = "auto",
        return_bbox: bool = False,
        prob_map_dir: FilePath = "auto",
        return_prob_map: bool = False,
    ) -> None:
        super().__init__(data_dir, prob_map_dir, needs_maps=return_prob_map)
        self.add_getter("img", self._get_img)
        self.add_getter("label", self.labels.__getitem__)
        if return_bbox:
            self.add_getter("bbox", self._get_bbox)
        if return_prob_map:
            self.add_getter("prob_map", self._get_prob_map)


class CUBKeypointDataset(AbstractCUBDataset):
    """Caltech-UCSD Birds-200-2011 with 15 keypoints (`cub_keypoint_names`).

    data_dir, prob_map_dir: as in CUBLabelDataset
    img: (3, H, W) float32; point: (1, 15, 2) float32, (y, x); visible: (1, 15) bool; and if requested, in this order,
    bbox: (1, 4) float32; prob_map: (H, W) float32
    Keypoints outside of the image are marked as not visible.
    """

    def __init__(
        self,
        data_dir: FilePath = "auto",
        return_bbox: bool = False,
        prob_map_dir: FilePath = "auto",
        return_prob_map: bool = False,
    ) -> None:
        super().__init__(data_dir, prob_map_dir, needs_maps=return_prob_map)
        self._points = _read_points(self._root / "parts/part_locs.txt", len(self))
        self.add_getter("img", self._get_img)
        self.add_getter(("point", "visible"), self._get_points)
        if return_bbox:
            self.add_getter("bbox", self._get_bbox)
        if return_prob_map:
            self.add_getter("prob_map", self._get_prob_map)

    def _get_points(self, i: int) -> tuple[Point, Array]:
        x, y, visible = self._points[i].T
        point = np.stack([y, x], axis=1).astype(np.float32)
        is_inside = ((point >= 0) & (point <= read_image_size(self._image_path(i)))).all(axis=1)
        return point[None], ((visible != 0) & is_inside)[None]


class CUBInstanceSegmentationDataset(AbstractCUBDataset):
    """Caltech-UCSD Birds-200-2011 with a mask: the pixels that more than half of five annotators marked.

    data_dir, prob_map_dir: as in CUBLabelDataset
    img: (3, H, W) float32; mask: (1, H, W) bool; label: (1,) int32
    """

    def __init__(self, data_dir: FilePath = "auto", prob_map_dir: FilePath = "auto") -> None:
        super().__init__(data_dir, prob_map_dir, needs_maps=True)
        self.add_getter("img", self._get_img)
        self.add_getter("mask", self._get_mask)
        self.add_getter("label", self._get_label)

    def _get_mask(self, i: int) -> Mask:
        return self._get_prob_map(i)[None] > 0.5

    def _get_label(self, i: int) -> Label:
        return self.labels[i : i + 1]


def _read_points(path: pathlib.Path, n_image: int) -> Array:
    """(n_photo, 15, 3) float64 x, y, visible, from lines of image id, part id, x, y, visible."""
    try:
        rows = np.array([line.split() for line in read_lines(path)], np.float64).reshape(-1, _N_POINT, 5)
    except ValueError as error:
        raise DatasetError(f"{path}: expected {_N_POINT} lines of five numbers per image", got=error) from error
    images, parts = np.arange(1, n_image + 1)[:, None], np.arange(1, _N_POINT + 1)
    if len(rows) != n_image or (rows[:, :, 0] != images).any() or (rows[:, :, 1] != parts).any():
        raise DatasetError(f"{path}: images or parts are missing or out of order")
    return rows[:, :, 2:]
