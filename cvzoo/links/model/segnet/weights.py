"""Published weights of SegNet.

ChainerCV's names in a SegNet, and ours: its normalizations are next to their convolutions, ours inside of layers.
"""

from cvzoo.labels.camvid import camvid_label_names
from cvzoo.links.model.preparation.as_is import AsIs
from cvzoo.links.model.pretrained.names import Names
from cvzoo.links.model.publishers.chainercv import chainercv_weights

NAMES = {
    "chainercv": Names(
        marks=(),
        rules=[
            (r"^(conv\d|conv_decode\d)/W$", r"\1/conv/W"),
            (r"^(conv\d|conv_decode\d)_bn/", r"\1/bn/"),
        ],
    )
}


RECORDS = {
    "camvid": chainercv_weights(
        "segnet_camvid",
        "segnet_camvid_trained_2018_12_05.npz",
        data="CamVid, 367 training frames of 480 x 360",
        data_licence="CC BY-NC 4.0",
        # on CamVid's test frames, as the publisher says
        score={"miou": 0.494, "mean_class_accuracy": 0.671, "pixel_accuracy": 0.827},
        source="ChainerCV 0.12",
        label_names=camvid_label_names,
        preprocessing=f"{AsIs().describe()}, any size",
    )
}
