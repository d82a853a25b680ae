"""Names of classes that many published detectors share, in the order of their labels."""

# fmt: off
VOC_LABEL_NAMES = (
    "aeroplane", "bicycle", "bird", "boat", "bottle", "bus", "car", "cat", "chair", "cow", "diningtable", "dog",
    "horse", "motorbike", "person", "pottedplant", "sheep", "sofa", "train", "tvmonitor",
)

COCO_LABEL_NAMES = (
    "person", "bicycle", "car", "motorcycle", "airplane", "bus", "train", "truck", "boat", "traffic light",
    "fire hydrant", "stop sign", "parking meter", "bench", "bird", "cat", "dog", "horse", "sheep", "cow",
    "elephant", "bear", "zebra", "giraffe", "backpack", "umbrella", "handbag", "tie", "suitcase", "frisbee", "skis",
    "snowboard", "sports ball", "kite", "baseball bat", "baseball glove", "skateboard", "surfboard",
    "tennis racket", "bottle", "wine glass", "cup", "fork", "knife", "spoon", "bowl", "banana", "apple", "sandwich",
    "orange", "broccoli", "carrot", "hot dog", "pizza", "donut", "cake", "chair", "couch", "potted plant", "bed",
    "dining table", "toilet", "tv", "laptop", "mouse", "remote", "keyboard", "cell phone", "microwave", "oven",
    "toaster", "sink", "refrigerator", "book", "clock", "vase", "scissors", "teddy bear", "hair drier", "toothbrush",
)
# fmt: on

# numbers of categories that COCO once had; networks that count by category keep their places
COCO_GIVEN_UP = (12, 26, 29, 30, 45, 66, 68, 69, 71, 83)
_CATEGORY_NAMES = list(COCO_LABEL_NAMES)
for _number in COCO_GIVEN_UP:
    _CATEGORY_NAMES.insert(_number - 1, "N/A")
_NAMES_BY_COUNT = {80: COCO_LABEL_NAMES, 90: tuple(_CATEGORY_NAMES), 91: ("N/A", *_CATEGORY_NAMES)}


def torchvision_label_names(n_class: int) -> tuple[str, ...] | None:
    """Names of the classes of a detector of torchvision's file: of COCO's 80, or of the 90 that it counts to, or of
    these and an unused first; None for other numbers."""
    return _NAMES_BY_COUNT.get(n_class)
