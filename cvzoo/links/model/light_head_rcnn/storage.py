"""What a file says of a Light-Head R-CNN in it."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from cvzoo.links.model.faster_rcnn.proposal_creator import ProposalCreator
from cvzoo.links.model.light_head_rcnn.light_head_rcnn_resnet101 import LightHeadRCNNResNet101


def light_head_settings(model: LightHeadRCNNResNet101) -> dict[str, Any]:
    """The constructor's arguments as JSON has them; widths: n_layer, then base, rpn, mid and fc channels."""
    return {
        "n_fg_class": model.n_fg_class,
        "min_size": model.min_size,
        "max_size": model.max_size,
        "ratios": list(model.ratios),
        "anchor_scales": list(model.anchor_scales),
        "proposal_creator": dataclasses.asdict(model.rpn.proposal_creator),
        "widths": list(model.widths),
    }


def light_head_from_settings(settings: Mapping[str, Any], label_names: Sequence[str] | None) -> LightHeadRCNNResNet101:
    """The model with random values. Raises what is wrong with the settings: KeyError, TypeError, ValueRangeError ..."""
    n_layer, base, rpn, mid, fc = settings["widths"]
    return LightHeadRCNNResNet101(
        settings["n_fg_class"],
        label_names=label_names,
        min_size=settings["min_size"],
        max_size=settings["max_size"],
        ratios=settings["ratios"],
        anchor_scales=settings["anchor_scales"],
        proposal_creator=ProposalCreator(**settings["proposal_creator"]),
        n_layer=n_layer,
        base_channels=base,
        rpn_channels=rpn,
        mid_channels=mid,
        fc_channels=fc,
    )
