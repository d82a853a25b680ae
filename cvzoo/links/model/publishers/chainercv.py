"""Records of ChainerCV's files: no hash is published, the first download is pinned."""

from collections.abc import Mapping

from cvzoo.labels.imagenet import imagenet_label_names
from cvzoo.links.model.preparation.center_crop import CenterCrop
from cvzoo.links.model.pretrained.classifier import ClassWeights
from cvzoo.links.model.publishers.imagenet import imagenet_classifier
from cvzoo.weights.record import Weights

_SITE = "https://chainercv-models.preferred.jp/"
_LICENCE = "not stated; the code is MIT"


def chainercv_weights(
    name: str,
    file: str,
    *,
    data: str,
    data_licence: str,
    source: str,
    preprocessing: str,
    licence: str = _LICENCE,
    score: Mapping[str, float] | None = None,
    label_names: tuple[str, ...] = (),
) -> Weights:
    """The record of a file.

    name: of the record, unique in the zoo
    file: its name on ChainerCV's site; the others as in `Weights`
    """
    return Weights(
        name=name,
        url=_SITE + file,
        sha256=None,
        licence=licence,
        data=data,
        data_licence=data_licence,
        score={} if score is None else score,
        source=source,
        label_names=label_names,
        preprocessing=preprocessing,
    )


def chainercv_classifier(
    name: str,
    file: str,
    top1: float,
    *,
    source: str,
    preparation: CenterCrop,
    licence: str = _LICENCE,
    label_names: tuple[str, ...] = imagenet_label_names,
) -> ClassWeights:
    """The record of an ImageNet classifier, and its preprocessing; arguments as in `imagenet_classifier`."""
    return imagenet_classifier(
        name,
        _SITE + file,
        top1,
        None,
        source=source,
        licence=licence,
        preparation=preparation,
        label_names=label_names,
    )
