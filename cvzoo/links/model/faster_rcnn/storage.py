"""What a file says of a Faster R-CNN on VGG16 in it."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from cvzoo.links.model.faster_rcnn.abstract_faster_rcnn import AbstractFasterRCNN
from cvzoo.links.model.faster_rcnn.faster_rcnn_vgg16 import FasterRCNNVGG16
from cvzoo.links.model.faster_rcnn.proposal_creator import ProposalCreator


def vgg16_settings(model: FasterRCNNVGG16) -> dict[str, Any]:
    """The constructor's arguments as JSON has them."""
    return {
        "n_fg_class": model.n_fg_class,
        "min_size": model.min_size,
        "max_size": model.max_size,
        "ratios": list(model.ratios),
        "anchor_scales": list(model.anchor_scales),
        "proposal_creator": dataclasses.asdict(model.rpn.proposal_creator),
        "base_channels": model.base_channels,
        "rpn_channels": model.rpn_channels,
        "fc_channels": model.fc_channels,
    }


def vgg16_from_settings(settings: Mapping[str, Any], label_names: Sequence[str] | None) -> FasterRCNNVGG16:
    """The model with random values. Raises what is wrong with the settings: KeyError, TypeError, ValueRangeError ..."""
    return FasterRCNNVGG16(
        settings["n_fg_class"],
        label_names=label_names,
        min_size=settings["min_size"],
        max_size=settings["max_size"],
        ratios=settings["ratios"],
        anchor_scales=settings["anchor_scales"],
        proposal_creator=ProposalCreator(**settings["proposal_creator"]),
        base_channels=settings["base_channels"],
        rpn_channels=settings["rpn_channels"],
        fc_channels=settings["fc_channels"],
    )


def mean_preprocessing(model: AbstractFasterRCNN) -> dict[str, Any]:
    """How a photo is prepared, for readers other than cvzoo."""
    return {
        "channels": "RGB",
        "mean": list(model.mean),
        "std": [1.0, 1.0, 1.0],
        "short_side": model.min_size,
        "long_side_at_most": model.max_size,
        "interpolation": "bilinear, antialiased",
    }
