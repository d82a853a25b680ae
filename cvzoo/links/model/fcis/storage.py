"""What a file says of an FCIS in it."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from cvzoo.links.model.faster_rcnn.proposal_creator import ProposalCreator
from cvzoo.links.model.fcis.fcis_resnet101 import FCISResNet101


def fcis_settings(model: FCISResNet101) -> dict[str, Any]:
    """The constructor's arguments as JSON has them; widths: n_layer, then base, rpn and mid channels."""
    return {
        "n_fg_class": model.n_fg_class,
        "min_size": model.min_size,
        "max_size": model.max_size,
        "roi_size": model.roi_size,
        "group_size": model.group_size,
        "ratios": list(model.ratios),
        "anchor_scales": list(model.anchor_scales),
        "proposal_creator": dataclasses.asdict(model.rpn.proposal_creator),
        "iter2": model.iter2,
        "widths": list(model.widths),
    }


def fcis_from_settings(settings: Mapping[str, Any], label_names: Sequence[str] | None) -> FCISResNet101:
    """The model with random values. Raises what is wrong with the settings: KeyError, TypeError, ValueRangeError ..."""
    n_layer, base, rpn, mid = settings["widths"]
    return FCISResNet101(
        settings["n_fg_class"],
        label_names=label_names,
        min_size=settings["min_size"],
        max_size=settings["max_size"],
        roi_size=settings["roi_size"],
        group_size=settings["group_size"],
        ratios=settings["ratios"],
        anchor_scales=settings["anchor_scales"],
        proposal_creator=ProposalCreator(**settings["proposal_creator"]),
        iter2=settings["iter2"],
        n_layer=n_layer,
        base_channels=base,
        rpn_channels=rpn,
        mid_channels=mid,
    )


def fcis_preprocessing(model: FCISResNet101) -> dict[str, Any]:
    """How a photo is prepared, for readers other than cvzoo."""
    return {
        "channels": "RGB",
        "mean": list(model.mean),
        "std": [1.0, 1.0, 1.0],
        "short_side": model.min_size,
        "long_side_at_most": model.max_size,
        "interpolation": "bilinear, antialiased",
    }
