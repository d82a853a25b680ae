"""Published weights of LRASPP."""

from cvzoo.links.model.publishers.torchvision import torchvision_segmenter

RECORDS = {
    "coco_voc": torchvision_segmenter(
        "lraspp_mobilenet_v3_large", "d234d4ea", "LRASPP_MobileNet_V3_Large", 0.579, 0.912
    )
}
