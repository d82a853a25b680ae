"""Published weights of ESPNet, and their preprocessing.

The names in the authors' files of ESPNet, and cvzoo's.
"""

import re

from cvzoo.errors.exceptions import WeightsMismatchError
from cvzoo.labels.camvid import camvid_label_names
from cvzoo.labels.cityscapes import cityscapes_semantic_segmentation_label_names
from cvzoo.links.model.espnet.frame_preparation import FramePreparation
from cvzoo.links.model.pretrained.names import Arrays, Names
from cvzoo.weights.record import Weights

# of modules; what is left over by one line is looked at by the next
_WORDS = (
    (r"^encoder\.classifier\.conv$", "score3"),
    (r"^encoder\.", ""),
    (r"^level3_C\.conv$", "score2"),
    (r"^level1\.", "stem."),
    (r"^b([123])\.", r"norm\1."),
    (r"^level([23])_0\.", r"down\1."),
    (r"^level([23])\.(\d+)\.", r"stage\1.\2."),
    (r"^br$", "norm_up3"),
    (r"^up_l3\.0$", "up3"),
    (r"^combine_l2_l3\.0\.", "norm_join."),
    (r"^combine_l2_l3\.1\.", "join."),
    (r"^up_l2\.0$", "up2"),
    (r"^up_l2\.1\.", "norm_up2."),
    (r"^conv\.", "mix."),
    (r"^classifier$", "up1"),
    (r"\.c1\.conv$", ".reduce"),
    (r"\.d(\d+)\.conv$", r".d\1"),
    # the strided block has its normalization and slopes as separate modules, the others have one for both
    (r"^(down\d|stage\d\.\d+|join)\.bn\.(bn|act)$", r"\1.norm.\2"),
    (r"^(down\d)\.(bn|act)$", r"\1.norm.\2"),
)


def espnet_place(module: str) -> str:
    """cvzoo's path of a module of the authors'."""
    for pattern, ours in _WORDS:
        module = re.sub(pattern, ours, module)
    return module.replace(".", "/")


# slopes are vectors, and are thus taken for weights of normalizations
NAMES = {
    "the authors": Names(
        marks=("encoder.level1.conv.weight",), modules=espnet_place, rules=[(r"(^|/)act/gamma$", r"\1act/W")]
    )
}


def depths_of(arrays: Arrays) -> tuple[int, int]:
    """The numbers of blocks of the second and the third stage, from arrays by cvzoo's names."""
    second, third = (len({name.split("/")[1] for name in arrays if name.startswith(f"stage{i}/")}) for i in (2, 3))
    return second, third


def mixes_colors(arrays: Arrays) -> bool:
    """Whether the last convolution of these arrays, by cvzoo's names, reads the downsampled image, too.

    Raises WeightsMismatchError if they are not of this network.
    """
    if not {"mix/conv/W", "norm1/bn/gamma"} <= arrays.keys():
        raise WeightsMismatchError("the file holds no ESPNet", got=", ".join(list(arrays)[:5]) or "no arrays")
    n_class = arrays["mix/conv/W"].shape[0]
    return arrays["mix/conv/W"].shape[1] - n_class == arrays["norm1/bn/gamma"].size


_COMMIT = "afe71c38edaee3514ca44e0adcafdf36109bf437"
_REPOSITORY = "sacmehta/ESPNet"

CAMVID_NAMES = (*camvid_label_names, "Void")
CITYSCAPES_NAMES = (*cityscapes_semantic_segmentation_label_names, "void")
CAMVID_FRAME = FramePreparation()
CITYSCAPES_FRAME = FramePreparation(
    (512, 1024), (72.3923111, 82.90893555, 73.15840149), (45.3192215, 46.15289307, 44.91483307)
)


def _record(name: str, file_name: str, sha256: str, size: int, score: dict[str, float], *, camvid: bool) -> Weights:
    frame = CAMVID_FRAME if camvid else CITYSCAPES_FRAME
    return Weights(
        name=f"espnet_{name}",
        url=f"https://raw.githubusercontent.com/{_REPOSITORY}/{_COMMIT}/pretrained/decoder/{file_name}",
        sha256=sha256,
        size=size,
        licence="MIT",
        data="CamVid, training frames" if camvid else "Cityscapes, finely labelled training frames",
        data_licence="CC BY-NC 4.0" if camvid else "Cityscapes terms: research, no commercial use",
        score=score,
        source=f"github.com/{_REPOSITORY} at {_COMMIT[:7]}",
        label_names=CAMVID_NAMES if camvid else CITYSCAPES_NAMES,
        preprocessing=frame.describe(),
    )


RECORDS: dict[str, Weights] = {
    "camvid": _record(
        "camvid",
        "espnet_p_2_q_8_camvid.pth",
        "7d354a257170322086dcd4c1e89a482454cf2c9d30b085e70883878dd59301af",
        1_460_677,
        {"miou": 0.5564},  # on the test frames, as the publisher says
        camvid=True,
    ),
    "cityscapes": _record(
        "cityscapes",
        "espnet_p_2_q_8.pth",
        "343b0e77e8545d36113c4f3efbf1ee349256f25c97c9f9d5ddefe45f2f49763e",
        1_501_621,
        {"miou": 0.60336},
        camvid=False,
    ),
    "cityscapes_q5": _record(
        "cityscapes_q5",
        "espnet_p_2_q_5.pth",
        "0378be45080ca5edfc416e9ba06b04e74ec5e2ec4baf56597f25a894a8593942",
        1_104_612,
        {},
        camvid=False,
    ),
    "cityscapes_q3": _record(
        "cityscapes_q3",
        "espnet_p_2_q_3.pth",
        "8f3eb198fb15e5da7fa8d258d5f0fc4a4213e1124f415f6fc54d2772d585a7fc",
        840_008,
        {},
        camvid=False,
    ),
}
