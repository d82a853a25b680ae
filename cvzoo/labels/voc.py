"""The classes of Pascal VOC and their colors, in the order of their labels. Source: the VOC development kit."""

# fmt: off
voc_bbox_label_names = (
    "aeroplane", "bicycle", "bird", "boat", "bottle", "bus", "car", "cat", "chair", "cow", "diningtable", "dog",
    "horse", "motorbike", "person", "pottedplant", "sheep", "sofa", "train", "tvmonitor",
)

voc_instance_segmentation_label_names = voc_bbox_label_names
sbd_instance_segmentation_label_names = voc_bbox_label_names
voc_semantic_segmentation_label_names = ("background", *voc_bbox_label_names)

# bit k of the label sets bit 7 - k // 3 of channel k % 3: the rule of the VOC development kit
voc_semantic_segmentation_label_colors = (
    (0, 0, 0), (128, 0, 0), (0, 128, 0), (128, 128, 0), (0, 0, 128), (128, 0, 128), (0, 128, 128), (128, 128, 128),
    (64, 0, 0), (192, 0, 0), (64, 128, 0), (192, 128, 0), (64, 0, 128), (192, 0, 128), (64, 128, 128),
    (192, 128, 128), (0, 64, 0), (128, 64, 0), (0, 192, 0), (128, 192, 0), (0, 64, 128),
)
voc_semantic_segmentation_ignore_label_color = (224, 224, 192)
# fmt: on
