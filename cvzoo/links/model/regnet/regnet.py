"""RegNet, an image classifier (Radosavovic et al., 2020)."""

import dataclasses
import os
from collections.abc import Iterator, Sequence
from functools import partial

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable
from cvzoo.initializers.normal import Normal
from cvzoo.links.connection.linear import Linear
from cvzoo.links.model.classifier import AbstractClassifier
from cvzoo.links.model.config import AbstractConfig, classes_field, config_field, count_field, preparation_field
from cvzoo.links.model.preparation.center_crop import CenterCrop
from cvzoo.links.model.pretrained.classifier import classifier_source
from cvzoo.links.model.pretrained.load import load_pretrained
from cvzoo.links.model.regnet.extractor import Design, RegNetExtractor
from cvzoo.links.model.regnet.weights import NAMES, WEIGHTS
from cvzoo.links.model.variant import classifier_variant
from cvzoo.typing.aliases import Array


@dataclasses.dataclass(frozen=True, kw_only=True)
class RegNetConfig(AbstractConfig):
    """What a RegNet is built from; its fields are the constructor's arguments."""

    design: str | tuple[int, int, float, float, int, float | None] = config_field(
        help="name of a published network, or a Design"
    )
    n_class: int = classes_field()
    stem: int = count_field(help="channels of the first convolution")
    preparation: CenterCrop = preparation_field()


class RegNet(AbstractClassifier):
    """RegNet, an image classifier (Radosavovic et al., 2020).

    design: a name, "x_400mf" to "x_32gf" or "y_400mf" to "y_128gf", or a Design
    n_class: number of classes; None: those of the file, or of label_names, else 1000
    pretrained_model: "imagenet", "imagenet_v2", "imagenet_swag" and "imagenet_swag_linear" (y, from 16 GF on; not for
        commercial use), or a path of a torchvision file or one that cvzoo saved
    label_names: class names
    stem: channels of the first convolution
    preparation: how an image is preprocessed; None: as the weights were evaluated
    Raises ValueRangeError if names and classes differ in number, or for unknown weights or settings;
    WeightsMismatchError if the file does not fit.

    Stages: conv1, res2 to res5 (as many as the design has), pool5, fc6.
    Source: Radosavovic et al., Designing Network Design Spaces, CVPR 2020.
    """

    def __init__(
        self,
        design: str | Design,
        n_class: int | None = None,
        pretrained_model: str | os.PathLike | None = None,
        *,
        label_names: Sequence[str] | None = None,
        stem: int = 32,
        preparation: CenterCrop | None = None,
    ):
        source = classifier_source(
            pretrained_model,
            WEIGHTS.get(design, {}) if isinstance(design, str) else {},
            NAMES,
            heads=("fc",),
            n_class=n_class,
            label_names=label_names,
            default=CenterCrop(),
        )
        self.n_class, self.label_names = source.n_class, source.label_names
        self.preparation = source.preparation if preparation is None else preparation
        self.config = RegNetConfig(design=design, n_class=self.n_class, stem=stem, preparation=self.preparation)
        with self.init_scope():
            self.extractor = RegNetExtractor(design, stem=stem)
            self.fc = Linear(self.extractor.channels[-1], self.n_class, initialW=Normal(0.01))
        stages = [f"res{i + 2}" for i in range(len(self.extractor.channels))]
        self.layer_names = ("conv1", *stages, "pool5", "fc6")
        self.load_report = load_pretrained(self, source.file, may_start_anew=source.may_start_anew)

    def stages(self, x: Variable | Array) -> Iterator[tuple[str, Variable]]:
        """Each stage's name and output, for x (B, 3, H, W)."""
        h = self.extractor.stem(x)
        yield "conv1", h
        for i, stage in enumerate(self.extractor.stages):
            for block in stage.children():
                h = block(h)
            yield f"res{i + 2}", h
        h = F.global_average_pooling_2d(h)
        yield "pool5", h
        yield "fc6", self.fc(h)


RegNetX400MF = classifier_variant("RegNetX400MF", partial(RegNet, "x_400mf"), "A `RegNet` X of 400 MF")
RegNetX800MF = classifier_variant("RegNetX800MF", partial(RegNet, "x_800mf"), "A `RegNet` X of 800 MF")
RegNetX1_6GF = classifier_variant("RegNetX1_6GF", partial(RegNet, "x_1_6gf"), "A `RegNet` X of 1.6 GF")
RegNetX3_2GF = classifier_variant("RegNetX3_2GF", partial(RegNet, "x_3_2gf"), "A `RegNet` X of 3.2 GF")
RegNetX8GF = classifier_variant("RegNetX8GF", partial(RegNet, "x_8gf"), "A `RegNet` X of 8 GF")
RegNetX16GF = classifier_variant("RegNetX16GF", partial(RegNet, "x_16gf"), "A `RegNet` X of 16 GF")
RegNetX32GF = classifier_variant("RegNetX32GF", partial(RegNet, "x_32gf"), "A `RegNet` X of 32 GF")
RegNetY400MF = classifier_variant("RegNetY400MF", partial(RegNet, "y_400mf"), "A `RegNet` Y of 400 MF")
RegNetY800MF = classifier_variant("RegNetY800MF", partial(RegNet, "y_800mf"), "A `RegNet` Y of 800 MF")
RegNetY1_6GF = classifier_variant("RegNetY1_6GF", partial(RegNet, "y_1_6gf"), "A `RegNet` Y of 1.6 GF")
RegNetY3_2GF = classifier_variant("RegNetY3_2GF", partial(RegNet, "y_3_2gf"), "A `RegNet` Y of 3.2 GF")
RegNetY8GF = classifier_variant("RegNetY8GF", partial(RegNet, "y_8gf"), "A `RegNet` Y of 8 GF")
RegNetY16GF = classifier_variant("RegNetY16GF", partial(RegNet, "y_16gf"), "A `RegNet` Y of 16 GF")
RegNetY32GF = classifier_variant("RegNetY32GF", partial(RegNet, "y_32gf"), "A `RegNet` Y of 32 GF")
RegNetY128GF = classifier_variant("RegNetY128GF", partial(RegNet, "y_128gf"), "A `RegNet` Y of 128 GF")
