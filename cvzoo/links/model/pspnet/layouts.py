"""What two makers of PSPNets built differently."""

from typing import Literal, NamedTuple

Layout = Literal["chainercv", "gluon"]


class PSPLayout(NamedTuple):
    """Settings that a file's shapes do not show.

    dilate_first: as in `ResNetExtractor`
    eps: of the normalizations
    pyramids: into how many parts each level of the pyramid divides a side, in the order of the levels
    mean, std: of RGB in [0, 255]
    aux_ksize: of the auxiliary head's last convolution
    aux_channels: of its first, as a share of the channels that it sees
    """

    dilate_first: bool
    eps: float
    pyramids: tuple[int, ...]
    mean: tuple[float, float, float]
    std: tuple[float, float, float]
    aux_ksize: int
    aux_channels: float


LAYOUTS: dict[str, PSPLayout] = {
    "chainercv": PSPLayout(True, 2e-5, (6, 3, 2, 1), (123.68, 116.779, 103.939), (1.0, 1.0, 1.0), 3, 1 / 2),
    "gluon": PSPLayout(False, 1e-5, (1, 2, 3, 6), (123.675, 116.28, 103.53), (58.395, 57.12, 57.375), 1, 1 / 4),
}
