"""gluon-cv's names in an SSD on VGG16, and ours; what its file says of the default boxes."""

import re
from collections.abc import Mapping

import numpy as np

from cvzoo.errors.exceptions import FileFormatError
from cvzoo.links.model.pretrained.names import own_names
from cvzoo.links.model.ssd.config import SSD300_SETTINGS, SSD512_SETTINGS, SSDSettings
from cvzoo.links.model.ssd.torchvision_names import reordered

_MEAN = (0.485 * 255, 0.456 * 255, 0.406 * 255)
_STD = np.array([0.229, 0.224, 0.225]) * 255
_HEADS = {"class": "multibox/conf", "box": "multibox/loc"}
_ANCHORS = re.compile(r"anchor_generators\.(\d+)\.anchors")


def is_gluon_ssd(arrays: Mapping[str, np.ndarray]) -> bool:
    """Whether these are the names of gluon-cv's SSD on VGG16."""
    return "features.norm4.scale" in arrays and "class_predictors.0.predictor.weight" in arrays


def gluon_place(module: str) -> str | None:
    """Our path of a module of gluon-cv's SSD, None where there is none."""
    match = re.fullmatch(r"features\.stages\.([0-5])\.([024])", module)
    if match:  # each convolution is followed by its relu, which counts
        stage, i = int(match[1]), int(match[2]) // 2
        return f"extractor/conv{6 + i}" if stage == 5 else f"extractor/conv{stage + 1}_{i + 1}"
    match = re.fullmatch(r"features\.extras\.(\d)\.([02])", module)
    if match:
        return f"extractor/conv{8 + int(match[1])}_{1 + int(match[2]) // 2}"
    match = re.fullmatch(r"(class|box)_predictors\.(\d)\.predictor", module)
    return None if match is None else f"{_HEADS[match[1]]}/{match[2]}"


def from_gluon(arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The arrays by our names and with our order of offsets; those that have no place here keep their names.

    The default boxes, and the factor that undoes the division by the standard deviation, are not among them.
    Raises FileFormatError if the factor is another.
    """
    arrays = {name: array for name, array in arrays.items() if not _ANCHORS.fullmatch(name)}
    factor = arrays.pop("features.init_scale", None)
    if factor is not None and not np.allclose(np.ravel(factor), _STD, rtol=1e-3):
        raise FileFormatError("features.init_scale is not 255 * (.229, .224, .225)", got=np.ravel(factor)[:3].tolist())
    scale = np.ravel(arrays.pop("features.norm4.scale"))
    named = own_names(arrays, gluon_place) | {"extractor/norm4/scale": scale}
    return reordered(named, lambda name: re.fullmatch(r"multibox/(loc|conf)/\d+/[Wb]", name), None)


def gluon_settings(arrays: Mapping[str, np.ndarray]) -> SSDSettings:
    """How the network of these arrays is built: its file holds its default boxes.

    Raises FileFormatError if it has another number of levels than the published ones.
    """
    cells = {int(_ANCHORS.fullmatch(name)[1]): array for name, array in arrays.items() if _ANCHORS.fullmatch(name)}
    known = {each.n_level: each for each in (SSD300_SETTINGS, SSD512_SETTINGS)}
    if sorted(cells) != list(range(len(cells))) or len(cells) not in known:
        raise FileFormatError("an SSD of gluon-cv has 6 or 7 levels of default boxes", got=len(cells))
    # of the first place: centre x, centre y, width, height of the small square, then of the large one
    first = [np.asarray(cells[i], np.float64)[0, 0, 0, 0].reshape(-1, 4) for i in range(len(cells))]
    sizes = [round(float(boxes[0, 2]), 3) for boxes in first]
    last = round(float(first[-1][1, 2] ** 2 / first[-1][0, 2]), 3)
    base = known[len(cells)]
    return SSDSettings(
        insize=base.insize,
        extras=base.extras,
        sizes=(*sizes, last),
        aspect_ratios=tuple((2,) if len(boxes) == 4 else (2, 3) for boxes in first),
        steps=tuple(round(2 * float(boxes[0, 1]), 3) for boxes in first),
        mean=_MEAN,
        antialias=True,
        limit=100,
    )
