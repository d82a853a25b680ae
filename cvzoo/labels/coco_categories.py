"""COCO's classes by category id, 1 to 90, of which ten are unused: the labels of torchvision's models."""

from cvzoo.labels.coco import coco_bbox_label_names

# ids of removed categories; networks whose labels are category ids have outputs for them
unused_coco_categories = (12, 26, 29, 30, 45, 66, 68, 69, 71, 83)
_category_names: list[str] = list(coco_bbox_label_names)
for _number in unused_coco_categories:
    _category_names.insert(_number - 1, "N/A")
_names_by_count = {80: coco_bbox_label_names, 90: tuple(_category_names), 91: ("N/A", *_category_names)}


def torchvision_label_names(n_class: int) -> tuple[str, ...] | None:
    """Names of the n_class classes of a torchvision detector: COCO's 80 classes, its 90 category ids, or these after an
    unused first (91); None for any other n_class."""
    return _names_by_count.get(n_class)
