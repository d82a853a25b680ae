"""MS COCO as it is published: boxes, masks and key points."""

from cvzoo.datasets.coco.abstract import AbstractCOCODataset, chosen_keys
from cvzoo.datasets.coco.publication import provide_coco


class COCOBboxDataset(AbstractCOCODataset):
    """COCO's photos with boxes of 80 classes (`coco_bbox_label_names`).

    data_dir: "auto" (fetched below CVZOO_HOME), or a folder with annotations and train2017 (or images/train2017) in it
    split, year: "train" or "val" of "2017"; those, "minival" or "valminusminival" of "2014"
    use_crowded: boxes around crowds are there, too
    img: (3, H, W) float32; bbox: (R, 4) float32; label: (R,) int32, 0 .. 79; and if asked for, in this order,
    area: (R,) float32, the mask's; crowded: (R,) bool
    Source: Lin et al., "Microsoft COCO: Common Objects in Context", 2014.
    """

    def __init__(
        self,
        data_dir="auto",
        split="train",
        year="2017",
        use_crowded=False,
        return_area=False,
        return_crowded=False,
    ):
        json_path, image_dir = provide_coco(data_dir, kind="instances", split=split, year=year)
        super().__init__(json_path, image_dir, use_crowded=use_crowded)
        self.add_getter("img", self._get_img)
        self.add_getter(("bbox", "label", "area", "crowded"), self._get_annotation)
        self.keys = chosen_keys(("img", "bbox", "label"), (("area", return_area), ("crowded", return_crowded)))


class COCOInstanceSegmentationDataset(AbstractCOCODataset):
    """COCO's photos with masks of 80 classes, the same pixels as with pycocotools.

    data_dir, split, year, use_crowded: as in COCOBboxDataset
    img: (3, H, W) float32; mask: (R, H, W) bool; label: (R,) int32; and if asked for, in this order, area: (R,)
    float32; crowded: (R,) bool; bbox: (R, 4) float32, the file's
    """

    def __init__(
        self,
        data_dir="auto",
        split="train",
        year="2017",
        use_crowded=False,
        return_crowded=False,
        return_area=False,
        return_bbox=False,
    ):
        json_path, image_dir = provide_coco(data_dir, kind="instances", split=split, year=year)
        super().__init__(json_path, image_dir, use_crowded=use_crowded, with_masks=True)
        self.add_getter("img", self._get_img)
        self.add_getter("mask", self._get_masks)
        self.add_getter(("bbox", "label", "area", "crowded"), self._get_annotation)
        self.keys = chosen_keys(
            ("img", "mask", "label"), (("area", return_area), ("crowded", return_crowded), ("bbox", return_bbox))
        )


class COCOKeypointDataset(AbstractCOCODataset):
    """COCO's photos with the 17 key points of people (`coco_keypoint_names`).

    data_dir, use_crowded: as in COCOBboxDataset; split: "train" or "val"; year: "2014" or "2017"
    img: (3, H, W) float32; point: (R, 17, 2) float32, (y, x); visible: (R, 17) bool, the point was marked, be it in
    sight or hidden; and if asked for, in this order, bbox: (R, 4) float32; area: (R,) float32; crowded: (R,) bool
    Photos without people are there, too.
    """

    def __init__(
        self,
        data_dir="auto",
        split="train",
        year="2017",
        use_crowded=False,
        return_bbox=False,
        return_area=False,
        return_crowded=False,
    ):
        json_path, image_dir = provide_coco(data_dir, kind="person_keypoints", split=split, year=year)
        super().__init__(json_path, image_dir, use_crowded=use_crowded, with_keypoints=True)
        self.keypoint_names = self._columns.keypoint_names
        self.add_getter("img", self._get_img)
        self.add_getter(("point", "visible"), self._get_points)
        self.add_getter(("bbox", "label", "area", "crowded"), self._get_annotation)
        self.keys = chosen_keys(
            ("img", "point", "visible"), (("bbox", return_bbox), ("area", return_area), ("crowded", return_crowded))
        )
