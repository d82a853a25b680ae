"""Published weights of the CIFAR ResNets.

The names in the published files of the CIFAR ResNets, and cvzoo's.
"""

import re

from cvzoo.links.model.preparation.abstract import FACTS_OF_255, MEAN_OF_255, STD_OF_255, checked_numbers
from cvzoo.links.model.preparation.stretch import Stretch
from cvzoo.links.model.pretrained.names import Names
from cvzoo.weights.record import Weights

_AROUND = {"conv1": "conv1/conv", "bn1": "conv1/bn", "linear": "fc"}


def cifar_resnet_place(module: str) -> str | None:
    """cvzoo's path of a module, or None."""
    module = module.removeprefix("module.")
    match = re.fullmatch(r"layer([123])\.(\d+)\.(conv|bn)([12])", module)
    if match is None:
        return _AROUND.get(module)
    stage, block, kind, k = match.groups()
    return f"stage{stage}/{block}/conv{k}/{kind}"


NAMES = {"the publisher": Names(marks=(), modules=cifar_resnet_place)}


CIFAR10_LABELS = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
PREPARATION = Stretch(
    (32, 32),
    mean=checked_numbers("mean", MEAN_OF_255),
    std=checked_numbers("std", STD_OF_255),
    header=("channels", *FACTS_OF_255, "interpolation", "stretched_to"),
)
_COMMIT = "d5489e8995e81e91ce6b1d69dcc98ad579b0b153"


def _record(n_layer: int, file_name: str, sha256: str, size: int, top1: float) -> Weights:
    return Weights(
        name=f"cifar_resnet{n_layer}_cifar10",
        url=f"https://raw.githubusercontent.com/akamaster/pytorch_resnet_cifar10/{_COMMIT}/pretrained_models/{file_name}",
        sha256=sha256,
        size=size,
        licence="BSD-2-Clause",
        data="CIFAR-10, 50,000 training images",
        data_licence="not stated",
        score={"top1": top1},  # on the 10,000 test images, as the publisher says
        source=f"github.com/akamaster/pytorch_resnet_cifar10 at {_COMMIT[:7]} (Y. Idelbayev)",
        label_names=CIFAR10_LABELS,
        preprocessing=PREPARATION.describe(),
    )


# number of layers -> name -> record
WEIGHTS: dict[int, dict[str, Weights]] = {
    20: {
        "cifar10": _record(
            20,
            "resnet20-12fca82f.th",
            "12fca82f0bebc4135bf1f32f6e3710e61d5108578464b84fd6d7f5c1b04036c8",
            1_099_231,
            0.9173,
        )
    },
    32: {
        "cifar10": _record(
            32,
            "resnet32-d509ac18.th",
            "d509ac1820d7f25398913559d7e81a13229b1e7adc5648e3bfa5e22dc137f850",
            1_890_043,
            0.9263,
        )
    },
    44: {
        "cifar10": _record(
            44,
            "resnet44-014dd654.th",
            "014dd6541728a1c700b1642ab640e211dc6eb8ed507d70697458dc8f8a0ae2e4",
            2_680_855,
            0.9310,
        )
    },
    56: {
        "cifar10": _record(
            56,
            "resnet56-4bfd9763.th",
            "4bfd97631478d6b638d2764fd2baff3edb1d7d82252d54439343b6596b9b5367",
            3_471_733,
            0.9339,
        )
    },
}
