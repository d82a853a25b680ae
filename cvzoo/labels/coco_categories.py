"""COCO's classes by the numbers of its categories, 1 to 90, of which ten are unused: as torchvision counts them."""

from cvzoo.labels.coco import coco_bbox_label_names

# numbers of categories that COCO once had; networks that count by category keep their places
unused_coco_categories = (12, 26, 29, 30, 45, 66, 68, 69, 71, 83)
_category_names = list(coco_bbox_label_names)
for _number in unused_coco_categories:
    _category_names.insert(_number - 1, "N/A")
_names_by_count = {80: coco_bbox_label_names, 90: tuple(_category_names), 91: ("N/A", *_category_names)}


def torchvision_label_names(n_class: int) -> tuple[str, ...] | None:
    """Names of the classes of a detector of torchvision's file: of COCO's 80, or of the 90 that it counts to, or of
    these and an unused first; None for other numbers."""
    return _names_by_count.get(n_class)
