"""Published weights of LRASPP."""

from cvzoo.datasets.labels.voc import voc_semantic_segmentation_label_names
from cvzoo.links.model.short_side_preparation import describe_short_side
from cvzoo.links.model.torchvision_record import torchvision_weights

RECORDS = {
    "coco_voc": torchvision_weights(
        "lraspp_mobilenet_v3_large",
        "lraspp_mobilenet_v3_large-d234d4ea.pth",
        enum="LRASPP_MobileNet_V3_Large_Weights.COCO_WITH_VOC_LABELS_V1",
        score={"miou": 0.579, "pixel_accuracy": 0.912},  # on COCO val2017's photos with these classes
        preprocessing=describe_short_side(520),
        data="COCO train2017, the photos and pixels of the 20 classes of Pascal VOC",
        label_names=voc_semantic_segmentation_label_names,
    )
}
