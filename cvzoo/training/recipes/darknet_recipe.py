"""The training recipe of detectors from darknet's cfg files."""

import dataclasses
import os
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal

import numpy as np

from cvzoo.errors.exceptions import ConfigError
from cvzoo.files.file_bytes import file_bytes
from cvzoo.geometry.fit_anchors import cluster_boxes
from cvzoo.links.model.config import AbstractConfig, config_field, count_field
from cvzoo.links.model.darknet.detector import DarknetDetector
from cvzoo.links.model.darknet.heads import listed_anchors, with_heads
from cvzoo.links.model.darknet.pretrained import load_for_training
from cvzoo.links.model.darknet.weights import MOBILENET_V2_YOLO_V3_NANO_VOC, YOLO_FASTEST_COCO, DarknetFiles
from cvzoo.training.recipes.recipe import AbstractRecipe, Splits
from cvzoo.training.recipes.yolo_v3_recipe import AbstractYOLORecipe
from cvzoo.typing.aliases import Array
from cvzoo.weights.download import fetch_weights
from cvzoo.weights.formats.darknet import CFG_LIMIT

PUBLISHED: Mapping[str, DarknetFiles] = MappingProxyType(
    {"yolo_fastest": YOLO_FASTEST_COCO, "mobilenet_v2_yolo_v3_nano": MOBILENET_V2_YOLO_V3_NANO_VOC}
)


@dataclasses.dataclass(frozen=True, kw_only=True)
class DarknetNetworkOfFile(AbstractConfig):
    """The cfg that defines a network, and what is changed in it. Raises ValueRangeError."""

    cfg: str | None = config_field(
        None,
        help=f"the network's .cfg: a path, the text, or {' or '.join(PUBLISHED)}; its number of classes is replaced",
        group="model",
    )
    size: tuple[int, int] | None = count_field(
        None, help="(H, W) of the network's input; None: the cfg's", unit="pixels", group="preparation"
    )
    resize: Literal["stretch", "letterbox"] | None = config_field(
        None,
        help="how images become the network's input, without or with keeping their proportions; None: as the cfg says",
        group="preparation",
    )
    anchors: tuple[tuple[float, float], ...] | None = config_field(
        None,
        help="(height, width) each, as many as the cfg lists; None: the cfg's; cvzoo data anchors finds them",
        unit="pixels of the network's input, of [region] cells",
        above=0,
        group="anchors",
    )


@dataclasses.dataclass(frozen=True, kw_only=True)
class DarknetRecipe(AbstractYOLORecipe):
    """All settings of the training of a detector that a darknet cfg defines: YOLO, Yolo-Fastest and relatives.

    pretrained: a path of `.weights`, also of other classes or of the first layers alone, or of a file of cvzoo, or a
        name that model.cfg has

    The loss is YOLOv3's; the cfg's own settings of the training are not read.
    Source: Redmon and Farhadi, YOLOv3: An Incremental Improvement, 2018.
    """

    model: DarknetNetworkOfFile = config_field(DarknetNetworkOfFile(), help="the network", group="model")

    def summary(self) -> str:
        return f"{self.model.cfg} by darknet's cfg" if self.model.cfg else "the detector of a darknet cfg, model.cfg="

    def build_model(self, label_names: Sequence[str]) -> DarknetDetector:
        text = with_heads(_text(self.model.cfg), len(label_names), self.model.anchors)
        model = DarknetDetector(text, label_names=label_names, resize=self.model.resize, size=self.model.size)
        if self.pretrained is not None:
            files = PUBLISHED.get(self.pretrained)
            load_for_training(model, self.pretrained if files is None else fetch_weights(files.weights))
        network: Any = model.network
        self.start_heads([network[f"layer{index}"].conv for index in network.head_layers], model.heads)
        return model

    def anchor_settings(self, bbox: Array) -> Mapping[str, Any]:
        """Clusters of the boxes' sides from small to large, as cfgs list them."""
        side = bbox[:, 2:] - bbox[:, :2]
        n_listed = listed_anchors(_text(self.model.cfg))
        if len(np.unique(side, axis=0)) < n_listed:
            return {}
        return {"model.anchors": [[round(float(each), 1) for each in pair] for pair in cluster_boxes(side, n_listed)]}

    def with_splits(self, splits: Splits) -> AbstractRecipe:
        """The recipe with the cfg's text in place of its path: the run can be resumed without the file."""
        return dataclasses.replace(self, model=dataclasses.replace(self.model, cfg=_text(self.model.cfg)))

    def with_size(self, side: int) -> AbstractRecipe:
        """Height and width of the network's input; anchors stay, as those of pretrained weights must."""
        return dataclasses.replace(self, model=dataclasses.replace(self.model, size=(side, side)))


def _text(cfg: str | None) -> str:
    if cfg is None:
        raise ConfigError("the recipe names no network", hint="model.cfg=FILE.cfg, a file of darknet's")
    if "\n" in cfg:
        return cfg
    if cfg in PUBLISHED and not os.path.exists(cfg):
        cfg = os.fspath(fetch_weights(PUBLISHED[cfg].cfg))
    return file_bytes(cfg, limit=CFG_LIMIT).decode("utf-8", errors="replace")


DARKNET_RECIPES: Mapping[str, DarknetRecipe] = MappingProxyType(
    {
        "darknet": DarknetRecipe(),
        **{name: DarknetRecipe(model=DarknetNetworkOfFile(cfg=name), pretrained=name) for name in PUBLISHED},
    }
)
