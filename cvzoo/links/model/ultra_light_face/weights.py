"""Published weights of the face detector."""

from cvzoo.links.model.preparation.stretch import Stretch
from cvzoo.weights.record import Weights

FACE_LABELS = ("face",)
PREPARATION = Stretch(
    (240, 320),
    mean=(127.0,) * 3,
    std=(128.0,) * 3,
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
