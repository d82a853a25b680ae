"""Data sets in COCO's JSON format: boxes, masks or keypoints."""

from cvzoo.datasets.coco.abstract import AbstractCOCODataset, chosen_keys
from cvzoo.errors.exceptions import DatasetError
from cvzoo.typing.aliases import FilePath


class COCOJSONBboxDataset(AbstractCOCODataset):
    """Images with boxes, from a JSON file in COCO's format; the classes are the file's (`dataset.label_names`).

    json_path: such as ROOT/annotations/instances_val2017.json
    image_dir: the folder of the images; None: the first that fits of ROOT/val2017, ROOT/images/val2017, ROOT/images ...
    use_crowded: include boxes around crowds
    allow_outside: images may be outside of that folder, by names such as ../x.jpg or by links; otherwise that raises
    img: (3, H, W) float32; bbox: (R, 4) float32; label: (R,) int32; and if requested, in this order, area: (R,)
    float32, of the mask in pixels (of the box if the file does not state it); crowded: (R,) bool
    Raises DatasetError that names the file and the annotation.
    """

    def __init__(
        self,
        json_path: FilePath,
        image_dir: FilePath | None = None,
        *,
        use_crowded: bool = False,
        return_area: bool = False,
        return_crowded: bool = False,
        allow_outside: bool = False,
    ) -> None:
        super().__init__(json_path, image_dir, use_crowded=use_crowded, allow_outside=allow_outside)
        self.add_getter("img", self._get_img)
        self.add_getter(("bbox", "label", "area", "crowded"), self._get_annotation)
        self.keys = chosen_keys(("img", "bbox", "label"), (("area", return_area), ("crowded", return_crowded)))


class COCOJSONInstanceSegmentationDataset(AbstractCOCODataset):
    """Images with instance masks, from a JSON file in COCO's format, identical to pycocotools'.

    json_path, image_dir, use_crowded, allow_outside: as in COCOJSONBboxDataset
    img: (3, H, W) float32; mask: (R, H, W) bool; label: (R,) int32; and if requested, in this order, area: (R,)
    float32; crowded: (R,) bool; bbox: (R, 4) float32, as in the file
    """

    def __init__(
        self,
        json_path: FilePath,
        image_dir: FilePath | None = None,
        *,
        use_crowded: bool = False,
        return_area: bool = False,
        return_crowded: bool = False,
        return_bbox: bool = False,
        allow_outside: bool = False,
    ) -> None:
        super().__init__(json_path, image_dir, use_crowded=use_crowded, with_masks=True, allow_outside=allow_outside)
        self.add_getter("img", self._get_img)
        self.add_getter("mask", self._get_masks)
        self.add_getter(("bbox", "label", "area", "crowded"), self._get_annotation)
        self.keys = chosen_keys(
            ("img", "mask", "label"), (("area", return_area), ("crowded", return_crowded), ("bbox", return_bbox))
        )

    @property
    def n_without_mask(self) -> int:
        """The number of objects of the file that have a box only, whose images cannot be read."""
        spans = self._columns.mask_spans
        return 0 if spans is None else int((spans[:, 0] < 0).sum())


class COCOJSONKeypointDataset(AbstractCOCODataset):
    """Images with the keypoints of objects, from a JSON file in COCO's format (person_keypoints_*.json).

    json_path, image_dir, use_crowded, allow_outside: as in COCOJSONBboxDataset
    img: (3, H, W) float32; point: (R, K, 2) float32, (y, x); visible: (R, K) bool, whether the keypoint is labeled,
    visible or occluded (v of 1 or 2); and if requested, in this order, label: (R,) int32; bbox: (R, 4) float32;
    area: (R,) float32; crowded: (R,) bool
    keypoint_names: K of str
    Objects without labeled keypoints are included.
    """

    def __init__(
        self,
        json_path: FilePath,
        image_dir: FilePath | None = None,
        *,
        use_crowded: bool = False,
        return_label: bool = False,
        return_bbox: bool = False,
        return_area: bool = False,
        return_crowded: bool = False,
        allow_outside: bool = False,
    ) -> None:
        super().__init__(
            json_path, image_dir, use_crowded=use_crowded, with_keypoints=True, allow_outside=allow_outside
        )
        self.keypoint_names = self._columns.keypoint_names
        if not self.keypoint_names:
            raise DatasetError(f"{json_path}: no category defines keypoints", hint="person_keypoints_*.json")
        self.add_getter("img", self._get_img)
        self.add_getter(("point", "visible"), self._get_points)
        self.add_getter(("bbox", "label", "area", "crowded"), self._get_annotation)
        self.keys = chosen_keys(
            ("img", "point", "visible"),
            (("label", return_label), ("bbox", return_bbox), ("area", return_area), ("crowded", return_crowded)),
        )
