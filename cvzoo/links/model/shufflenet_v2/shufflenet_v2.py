"""ShuffleNetV2 as a classifier."""

import dataclasses
import os
from collections.abc import Iterator, Sequence
from typing import Any

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable
from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.initializers.normal import Normal
from cvzoo.links.connection.linear import Linear
from cvzoo.links.model.classifier import AbstractClassifier
from cvzoo.links.model.config import AbstractConfig, classes_field, count_field, preparation_field, width_field
from cvzoo.links.model.preparation.center_crop import CenterCrop
from cvzoo.links.model.pretrained.classifier import classifier_source
from cvzoo.links.model.pretrained.load import load_pretrained
from cvzoo.links.model.shufflenet_v2.extractor import CHANNELS, COUNTS, ShuffleNetV2Extractor
from cvzoo.links.model.shufflenet_v2.names import NAMES
from cvzoo.links.model.shufflenet_v2.weights import WEIGHTS


@dataclasses.dataclass(frozen=True, kw_only=True)
class ShuffleNetV2Config(AbstractConfig):
    """What a ShuffleNetV2 is built of; its fields are the constructor's arguments."""

    width: float = width_field()
    n_class: int = classes_field()
    channels: tuple[int, ...] | None = count_field(
        help="of the stem, the stages and the last convolution; None: the width's"
    )
    counts: tuple[int, ...] = count_field(help="blocks of the stages")
    preparation: CenterCrop = preparation_field()


class ShuffleNetV2(AbstractClassifier):
    """Names what a photo shows.

    width: 0.5, 1.0, 1.5 or 2.0; any number where channels are given
    n_class: number of classes; None: as many as the file's, or label_names, else 1000
    pretrained_model: "imagenet", or a path of a torchvision file or one that cvzoo saved
    label_names: names of the classes
    channels, counts: as in `ShuffleNetV2Extractor`; None: those of the width
    preparation: how a photo is seen; None: as the weights were measured
    Raises ValueRangeError if names and classes do not agree, or there are no such weights or settings;
    WeightsMismatchError if the file does not fit.

    Stages: conv1, pool1, res2, res3, res4, conv5, pool5, fc6.
    Source: Ma et al., ShuffleNet V2, ECCV 2018.
    """

    layer_names = ("conv1", "pool1", "res2", "res3", "res4", "conv5", "pool5", "fc6")

    def __init__(
        self,
        width: float = 1.0,
        n_class: int | None = None,
        pretrained_model: str | os.PathLike | None = None,
        *,
        label_names: Sequence[str] | None = None,
        channels: Sequence[int] | None = None,
        counts: Sequence[int] = COUNTS,
        preparation: CenterCrop | None = None,
    ):
        if channels is None and width not in CHANNELS:
            raise ValueRangeError("ShuffleNetV2: width", expected=", ".join(map(str, CHANNELS)), got=width)
        source = classifier_source(
            pretrained_model,
            WEIGHTS.get(width, {}) if channels is None else {},
            NAMES,
            heads=("fc",),
            n_class=n_class,
            label_names=label_names,
            default=CenterCrop(),
        )
        self.n_class, self.label_names = source.n_class, source.label_names
        self.preparation = source.preparation if preparation is None else preparation
        self.config = ShuffleNetV2Config(
            width=width,
            n_class=self.n_class,
            channels=None if channels is None else tuple(channels),
            counts=tuple(counts),
            preparation=self.preparation,
        )
        with self.init_scope():
            self.extractor = ShuffleNetV2Extractor(CHANNELS[width] if channels is None else channels, counts)
            self.fc = Linear(self.extractor.channels[-1], self.n_class, initialW=Normal(0.01))
        self.load_report = load_pretrained(self, source.file, may_start_anew=source.may_start_anew)

    def stages(self, x: Any) -> Iterator[tuple[str, Variable]]:
        """Each stage's name and output, for x (B, 3, H, W)."""
        h = self.extractor.stem(x)
        yield "conv1", h
        h = F.max_pooling_2d(h, 3, 2, 1, cover_all=False)
        yield "pool1", h
        for i, stage in enumerate(self.extractor.stages):
            for block in stage:
                h = block(h)
            yield f"res{i + 2}", h
        h = self.extractor.last(h)
        yield "conv5", h
        h = F.global_average_pooling_2d(h)
        yield "pool5", h
        yield "fc6", self.fc(h)
