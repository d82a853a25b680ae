"""What a two-stage detector on a pyramid is to be built as, and of what its file may have been written."""

import os
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from cvzoo.labels.coco import coco_bbox_label_names
from cvzoo.links.chain import Chain
from cvzoo.links.model.faster_rcnn_fpn.config import FasterRCNNFPNConfig, with_n_anchor
from cvzoo.links.model.faster_rcnn_fpn.names import NAMES, count_classes
from cvzoo.links.model.mobilenet_v3.weights import WEIGHTS as MOBILENET_WEIGHTS
from cvzoo.links.model.pretrained.detector import DetectorFiles, DetectorSource, detector_source, networks_of_file
from cvzoo.links.model.resnet.weights import WEIGHTS as RESNET_WEIGHTS
from cvzoo.weights.record import Weights


def region_source(
    pretrained_model: str | os.PathLike | None,
    weights: Mapping[str, tuple[Weights, FasterRCNNFPNConfig]],
    *,
    architecture: str,
    n_fg_class: int | None,
    label_names: Sequence[str] | None,
    config: FasterRCNNFPNConfig | None,
    known_names: Sequence[tuple[str, ...]] = (coco_bbox_label_names,),
) -> DetectorSource:
    """All that a constructor's arguments lead to, see `detector_source`; its config is never None.

    weights: name -> (record, config)
    """
    records = {name: record for name, (record, _) in weights.items()}
    if config is not None and config.backbone == "mobilenet_v3_large":
        records |= {name: each.record for name, each in MOBILENET_WEIGHTS["large"].items() if "timm" not in name}
    else:
        records |= RESNET_WEIGHTS.get(50 if config is None else config.n_layer, {})
    source = detector_source(
        pretrained_model,
        records,
        DetectorFiles(architecture, NAMES, count_classes, FasterRCNNFPNConfig, known_names),
        n_fg_class=n_fg_class,
        label_names=label_names,
        config=config,
        published={name: config for name, (_, config) in weights.items()},
    )
    return source if source.config is not None else source._replace(config=FasterRCNNFPNConfig())


def region_networks_of_file(
    source: DetectorSource, make: Callable[[int, FasterRCNNFPNConfig], Chain]
) -> list[Callable[[], Chain]]:
    """As `networks_of_file`. make: from classes and a config, the detector."""
    return networks_of_file(
        source,
        source.config,
        make,
        lambda config, arrays: with_n_anchor(config, max(np.size(arrays.get("regions/rpn/conf/b", ())), 1)),
    )
