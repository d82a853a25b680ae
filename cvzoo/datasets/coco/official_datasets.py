"""MS COCO's published splits: boxes, masks and keypoints."""

from cvzoo.datasets.coco.abstract import AbstractCOCODataset, chosen_keys
from cvzoo.datasets.coco.publication import provide_coco
from cvzoo.typing.aliases import FilePath


class COCOBboxDataset(AbstractCOCODataset):
    """MS COCO with bounding boxes of 80 classes (`coco_bbox_label_names`).

    data_dir: "auto" (downloaded to CVZOO_HOME), or a folder with annotations and train2017 (or images/train2017)
    split, year: "train" or "val" of "2017"; those, "minival" or "valminusminival" of "2014"
    use_crowded: include boxes around crowds
    img: (3, H, W) float32; bbox: (R, 4) float32; label: (R,) int32, 0 .. 79; and if requested, in this order,
    area: (R,) float32, the mask's; crowded: (R,) bool
    Source: Lin et al., "Microsoft COCO: Common Objects in Context", 2014.
    """

    def __init__(
        self,
        data_dir: FilePath = "auto",
        split: str = "train",
        year: str = "2017",
        use_crowded: bool = False,
        return_area: bool = False,
        return_crowded: bool = False,
    ) -> None:
        json_path, image_dir = provide_coco(data_dir, kind="instances", split=split, year=year)
        super().__init__(json_path, image_dir, use_crowded=use_crowded)
        self.add_getter("img", self._get_img)
        self.add_getter(("bbox", "label", "area", "crowded"), self._get_annotation)
        self.keys = chosen_keys(("img", "bbox", "label"), (("area", return_area), ("crowded", return_crowded)))


class COCOInstanceSegmentationDataset(AbstractCOCODataset):
    """MS COCO with instance masks of 80 classes, identical to pycocotools'.

    data_dir, split, year, use_crowded: as in COCOBboxDataset
    img: (3, H, W) float32; mask: (R, H, W) bool; label: (R,) int32; and if requested, in this order, area: (R,)
    float32; crowded: (R,) bool; bbox: (R, 4) float32, as in the file
    """

    def __init__(
        self,
        data_dir: FilePath = "auto",
        split: str = "train",
        year: str = "2017",
        use_crowded: bool = False,
        return_crowded: bool = False,
        return_area: bool = False,
        return_bbox: bool = False,
    ) -> None:
        json_path, image_dir = provide_coco(data_dir, kind="instances", split=split, year=year)
        super().__init__(json_path, image_dir, use_crowded=use_crowded, with_masks=True)
        self.add_getter("img", self._get_img)
        self.add_getter("mask", self._get_masks)
        self.add_getter(("bbox", "label", "area", "crowded"), self._get_annotation)
        self.keys = chosen_keys(
            ("img", "mask", "label"), (("area", return_area), ("crowded", return_crowded), ("bbox", return_bbox))
        )


class COCOKeypointDataset(AbstractCOCODataset):
    """MS COCO with the 17 keypoints of people (`coco_keypoint_names`).

    data_dir, use_crowded: as in COCOBboxDataset; split: "train" or "val"; year: "2014" or "2017"
    img: (3, H, W) float32; point: (R, 17, 2) float32, (y, x); visible: (R, 17) bool, whether the keypoint is labeled,
    visible or occluded; and if requested, in this order, bbox: (R, 4) float32; area: (R,) float32; crowded: (R,) bool
    Images without people are included.
    """

    def __init__(
        self,
        data_dir: FilePath = "auto",
        split: str = "train",
        year: str = "2017",
        use_crowded: bool = False,
        return_bbox: bool = False,
        return_area: bool = False,
        return_crowded: bool = False,
    ) -> None:
        json_path, image_dir = provide_coco(data_dir, kind="person_keypoints", split=split, year=year)
        super().__init__(json_path, image_dir, use_crowded=use_crowded, with_keypoints=True)
        self.keypoint_names = self._columns.keypoint_names
        self.add_getter("img", self._get_img)
        self.add_getter(("point", "visible"), self._get_points)
        self.add_getter(("bbox", "label", "area", "crowded"), self._get_annotation)
        self.keys = chosen_keys(
            ("img", "point", "visible"), (("bbox", return_bbox), ("area", return_area), ("crowded", return_crowded))
        )
