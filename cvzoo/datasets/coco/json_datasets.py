"""Your own photos with annotations in COCO's JSON form: boxes, masks or key points."""

from cvzoo.datasets.coco.abstract import AbstractCOCODataset, chosen_keys
from cvzoo.errors.exceptions import DatasetError


class COCOJSONBboxDataset(AbstractCOCODataset):
    """Photos with boxes, from a JSON file of COCO's form; the classes are the file's (`dataset.label_names`).

    json_path: such as ROOT/annotations/instances_val2017.json
    image_dir: the folder of the photos; None: ROOT/val2017, ROOT/images/val2017, ROOT/images, ROOT and so on
    use_crowded: boxes around crowds are there, too
    allow_outside: photos may lie outside of that folder, by names such as ../x.jpg or by links; refused otherwise
    img: (3, H, W) float32; bbox: (R, 4) float32; label: (R,) int32; and if asked for, in this order, area: (R,)
    float32, the mask's pixels (the box's where the file does not say); crowded: (R,) bool
    Raises DatasetError that names the file and the annotation.
    """

    def __init__(
        self,
        json_path,
        image_dir=None,
        *,
        use_crowded=False,
        return_area=False,
        return_crowded=False,
        allow_outside: bool = False,
    ):
        super().__init__(json_path, image_dir, use_crowded=use_crowded, allow_outside=allow_outside)
        self.add_getter("img", self._get_img)
        self.add_getter(("bbox", "label", "area", "crowded"), self._get_annotation)
        self.keys = chosen_keys(("img", "bbox", "label"), (("area", return_area), ("crowded", return_crowded)))


class COCOJSONInstanceSegmentationDataset(AbstractCOCODataset):
    """Photos with masks, from a JSON file of COCO's form; polygons become the same pixels as with pycocotools.

    json_path, image_dir, use_crowded, allow_outside: as in COCOJSONBboxDataset
    img: (3, H, W) float32; mask: (R, H, W) bool; label: (R,) int32; and if asked for, in this order, area: (R,)
    float32; crowded: (R,) bool; bbox: (R, 4) float32, the file's
    """

    def __init__(
        self,
        json_path,
        image_dir=None,
        *,
        use_crowded=False,
        return_area=False,
        return_crowded=False,
        return_bbox=False,
        allow_outside: bool = False,
    ):
        super().__init__(json_path, image_dir, use_crowded=use_crowded, with_masks=True, allow_outside=allow_outside)
        self.add_getter("img", self._get_img)
        self.add_getter("mask", self._get_masks)
        self.add_getter(("bbox", "label", "area", "crowded"), self._get_annotation)
        self.keys = chosen_keys(
            ("img", "mask", "label"), (("area", return_area), ("crowded", return_crowded), ("bbox", return_bbox))
        )


class COCOJSONKeypointDataset(AbstractCOCODataset):
    """Photos with the key points of objects, from a JSON file of COCO's form (person_keypoints_*.json).

    json_path, image_dir, use_crowded, allow_outside: as in COCOJSONBboxDataset
    img: (3, H, W) float32; point: (R, K, 2) float32, (y, x); visible: (R, K) bool, the point was marked, be it in
    sight or hidden (v of 1 or 2); and if asked for, in this order, label: (R,) int32; bbox: (R, 4) float32;
    area: (R,) float32; crowded: (R,) bool
    keypoint_names: K of str
    Objects none of whose points is marked are there, too.
    """

    def __init__(
        self,
        json_path,
        image_dir=None,
        *,
        use_crowded=False,
        return_label=False,
        return_bbox=False,
        return_area=False,
        return_crowded=False,
        allow_outside: bool = False,
    ):
        super().__init__(
            json_path, image_dir, use_crowded=use_crowded, with_keypoints=True, allow_outside=allow_outside
        )
        self.keypoint_names = self._columns.keypoint_names
        if not self.keypoint_names:
            raise DatasetError(f"{json_path}: no category has key points", hint="person_keypoints_*.json")
        self.add_getter("img", self._get_img)
        self.add_getter(("point", "visible"), self._get_points)
        self.add_getter(("bbox", "label", "area", "crowded"), self._get_annotation)
        self.keys = chosen_keys(
            ("img", "point", "visible"),
            (("label", return_label), ("bbox", return_bbox), ("area", return_area), ("crowded", return_crowded)),
        )
