"""Records of torchvision's segmenters, all of which know the classes of Pascal VOC."""

from cvzoo.labels.voc import voc_semantic_segmentation_label_names
from cvzoo.links.model.preparation.short_side import ShortSide
from cvzoo.links.model.torchvision_record import torchvision_weights
from cvzoo.weights.record import Weights


def torchvision_segmenter(name: str, digits: str, model: str, miou: float, pixel_accuracy: float) -> Weights:
    """The record of a file.

    name: of the record, and of the file up to the `digits` of its hash
    model: torchvision's name of it, such as "FCN_ResNet50"
    miou, pixel_accuracy: as the publisher says, on COCO val2017's photos with these classes
    """
    return torchvision_weights(
        name.removesuffix("_coco"),
        f"{name}-{digits}.pth",
        enum=f"{model}_Weights.COCO_WITH_VOC_LABELS_V1",
        score={"miou": miou, "pixel_accuracy": pixel_accuracy},
        preprocessing=ShortSide(520).describe(),
        data="COCO train2017, the photos and pixels of the 20 classes of Pascal VOC",
        label_names=voc_semantic_segmentation_label_names,
    )
