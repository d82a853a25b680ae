"""Published weights of the face detector.

Array names in the published files.
"""

from collections.abc import Mapping

from cvzoo.links.model.preparation.stretch import Stretch
from cvzoo.links.model.pretrained.names import Names
from cvzoo.weights.record import Weights


def face_names(has_block: bool) -> Mapping[str, Names]:
    """The publisher's names and cvzoo's.
    has_block: whether the base has a receptive field block
    """
    modules = {"base_net.0.0": "base/0/conv", "base_net.0.1": "base/0/bn"}
    for i in range(1, 13):
        if has_block and i == 7:
            modules.update(_block(f"base_net.{i}", f"base/{i}"))
            continue
        for part, first in (("depthwise", 0), ("pointwise", 3)):
            modules[f"base_net.{i}.{first}"] = f"base/{i}/{part}/conv"
            modules[f"base_net.{i}.{first + 1}"] = f"base/{i}/{part}/bn"
    modules |= {"extras.0.0": "extra/0/conv", "extras.0.2.0": "extra/1/conv", "extras.0.2.2": "extra/2/conv"}
    for theirs, ours in (("classification_headers", "score_heads"), ("regression_headers", "box_heads")):
        for i in range(3):
            modules[f"{theirs}.{i}.0"] = f"{ours}/{i}/0/conv"
            modules[f"{theirs}.{i}.2"] = f"{ours}/{i}/1"
        modules[f"{theirs}.3"] = f"{ours}/3"
    return {"the publisher": Names(marks=("base_net.0.0.weight",), modules=modules)}


def _block(theirs: str, ours: str) -> dict[str, str]:
    places = {f"branch{k}.{i}": f"branch{k}/{i}" for k, n in ((0, 3), (1, 3), (2, 4)) for i in range(n)}
    places |= {"ConvLinear": "join", "shortcut": "shortcut"}
    return {
        f"{theirs}.{place}.{part}": f"{ours}/{path}/{part}" for place, path in places.items() for part in ("conv", "bn")
    }


FACE_LABELS = ("face",)
PREPARATION = Stretch(
    (240, 320),
    mean=(127.0, 127.0, 127.0),
    std=(128.0, 128.0, 128.0),
    header=("channels", ("mean", (127 / 255,) * 3), ("std", (128 / 255,) * 3), "fit", "height", "width"),
)
_COMMIT = "dffdddda9794a50607cba8f318507a28c1c27cab"
_REPOSITORY = "Linzaer/Ultra-Light-Fast-Generic-Face-Detector-1MB"


def _record(variant: str, file_name: str, sha256: str, size: int, score: dict[str, float]) -> Weights:
    return Weights(
        name=f"ultra_light_face_{variant}",
        url=f"https://raw.githubusercontent.com/{_REPOSITORY}/{_COMMIT}/models/pretrained/{file_name}",
        sha256=sha256,
        size=size,
        licence="MIT",
        data="WIDER FACE, training images, with the cleaned labels of RetinaFace",
        data_licence="not stated",
        score=score,  # on WIDER FACE's validation images at 320 x 240, as the publisher says
        source=f"github.com/{_REPOSITORY} at {_COMMIT[:7]}",
        label_names=FACE_LABELS,
        preprocessing=PREPARATION.describe(),
    )


# variant -> name -> record
WEIGHTS: dict[str, dict[str, Weights]] = {
    "rfb_320": {
        "wider_face": _record(
            "rfb_320",
            "version-RFB-320.pth",
            "c722b4427cc71642768baef6e15c659931b56f07425e5d2b0ec033ad41b145b3",
            1_168_374,
            {"AP easy": 0.787, "AP medium": 0.698, "AP hard": 0.438},
        )
    },
    "slim_320": {
        "wider_face": _record(
            "slim_320",
            "version-slim-320.pth",
            "cd24abce45da5dbc7cfd8167cd3d5f955382dfc9d9ae9459f0026abd3c2e38a4",
            1_091_283,
            {"AP easy": 0.77, "AP medium": 0.671, "AP hard": 0.395},
        )
    },
}
