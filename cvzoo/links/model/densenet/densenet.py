"""DenseNet, an image classifier (Huang et al., 2017)."""

import dataclasses
import os
from collections.abc import Iterator, Sequence
from functools import partial

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable, as_variable
from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.initializers.normal import HeNormal
from cvzoo.links.chain import Chain, ChainList
from cvzoo.links.connection.batch_normalization import BatchNormalization
from cvzoo.links.connection.conv_2d_bn_activ import ConvNormActiv
from cvzoo.links.connection.convolution_2d import Convolution2D
from cvzoo.links.connection.linear import Linear
from cvzoo.links.model.classifier import AbstractClassifier
from cvzoo.links.model.config import AbstractConfig, classes_field, count_field, preparation_field
from cvzoo.links.model.densenet.weights import NAMES, WEIGHTS
from cvzoo.links.model.preparation.center_crop import CenterCrop
from cvzoo.links.model.pretrained.classifier import classifier_source
from cvzoo.links.model.pretrained.load import load_pretrained
from cvzoo.links.model.variant import classifier_variant
from cvzoo.typing.aliases import Array

EPS = 1e-5  # torchvision's


class DenseLayer(Chain):
    """Dense layer: x and `growth` channels of conv(squeeze(relu(norm(x)))), 1 x 1 to 4 * growth, then 3 x 3."""

    def __init__(self, in_channels: int, growth: int):
        with self.init_scope():
            self.norm = BatchNormalization(in_channels, eps=EPS)
            self.squeeze = ConvNormActiv(in_channels, 4 * growth, 1, eps=EPS)
            self.conv = Convolution2D(4 * growth, growth, 3, 1, 1, nobias=True, initialW=HeNormal())

    def forward(self, x: Variable | Array) -> Variable:
        """(B, in_channels + growth, H, W) of x (B, in_channels, H, W)."""
        return F.concat((x, self.conv(self.squeeze(F.relu(self.norm(x))))), axis=1)


class DenseBlock(ChainList):
    """Dense block of `count` dense layers."""

    def __init__(self, in_channels: int, growth: int, count: int):
        super().__init__(*(DenseLayer(in_channels + i * growth, growth) for i in range(count)))

    def forward(self, x: Variable | Array) -> Variable:
        """(B, in_channels + count * growth, H, W) of x (B, in_channels, H, W)."""
        h = as_variable(x)
        for layer in self:
            h = layer(h)
        return h


class Transition(Chain):
    """Transition layer to half the channels and sides: 2 x 2 average pooling of conv(relu(norm(x)))."""

    def __init__(self, in_channels: int):
        with self.init_scope():
            self.norm = BatchNormalization(in_channels, eps=EPS)
            self.conv = Convolution2D(in_channels, in_channels // 2, 1, nobias=True, initialW=HeNormal())

    def forward(self, x: Variable | Array) -> Variable:
        """(B, in_channels // 2, H // 2, W // 2) of x (B, in_channels, H, W)."""
        return F.average_pooling_2d(self.conv(F.relu(self.norm(x))), 2)


# layers -> (growth, channels of the first convolution, layers in each block); 13 is not in the paper
DEPTHS = {
    13: (32, 64, (1, 1, 1, 1)),
    121: (32, 64, (6, 12, 24, 16)),
    161: (48, 96, (6, 12, 36, 24)),
    169: (32, 64, (6, 12, 32, 32)),
    201: (32, 64, (6, 12, 48, 32)),
}


@dataclasses.dataclass(frozen=True, kw_only=True)
class DenseNetConfig(AbstractConfig):
    """What a DenseNet is built from; its fields are the constructor's arguments."""

    n_layer: int = count_field(help="121, 161, 169, 201 or 13")
    n_class: int = classes_field()
    growth: int = count_field(help="how many channels each layer adds")
    stem_channels: int = count_field(help="channels of the first convolution")
    preparation: CenterCrop = preparation_field()


class DenseNet(AbstractClassifier):
    """DenseNet, an image classifier (Huang et al., 2017).

    n_layer: 121, 161, 169 or 201; also 13
    n_class: number of classes; None: those of the file, or of label_names, else 1000
    pretrained_model: "imagenet" (torchvision), or a path of a file of torchvision or one that cvzoo saved
    label_names: class names
    growth: channels that each layer adds (growth rate); None: as in the paper
    stem_channels: of the first convolution; None: as in the paper
    preparation: how an image is preprocessed; None: as the weights were evaluated
    Raises ValueRangeError if names and classes differ in number, or for unknown weights or depth;
    WeightsMismatchError if the file does not fit.

    Stages: conv1, pool1, block1, transition1, block2, transition2, block3, transition3, block4 (normalized, after its
    relu), pool5, fc6.
    Source: Huang et al., Densely Connected Convolutional Networks, CVPR 2017.
    """

    layer_names = (
        "conv1", "pool1", "block1", "transition1", "block2", "transition2", "block3", "transition3", "block4", "pool5",
        "fc6",
    )  # fmt: skip

    def __init__(
        self,
        n_layer: int,
        n_class: int | None = None,
        pretrained_model: str | os.PathLike | None = None,
        *,
        label_names: Sequence[str] | None = None,
        growth: int | None = None,
        stem_channels: int | None = None,
        preparation: CenterCrop | None = None,
    ):
        if n_layer not in DEPTHS:
            raise ValueRangeError(
                "DenseNet: n_layer is not supported", expected=" or ".join(map(str, DEPTHS)), got=repr(n_layer)
            )
        source = classifier_source(
            pretrained_model,
            WEIGHTS.get(n_layer, {}),
            NAMES,
            heads=("fc",),
            n_class=n_class,
            label_names=label_names,
            default=CenterCrop(),
        )
        self.n_class, self.label_names = source.n_class, source.label_names
        self.preparation = source.preparation if preparation is None else preparation
        usual_growth, usual_stem, counts = DEPTHS[n_layer]
        growth = usual_growth if growth is None else growth
        n = usual_stem if stem_channels is None else stem_channels
        self.config = DenseNetConfig(
            n_layer=n_layer, n_class=self.n_class, growth=growth, stem_channels=n, preparation=self.preparation
        )
        with self.init_scope():
            self.conv1 = ConvNormActiv(3, n, 7, 2, eps=EPS)
            for i, count in enumerate(counts, start=1):
                self.add_link(f"block{i}", DenseBlock(n, growth, count))
                n += count * growth
                if i < len(counts):
                    self.add_link(f"transition{i}", Transition(n))
                    n //= 2
            self.norm5 = BatchNormalization(n, eps=EPS)
            self.fc = Linear(n, self.n_class)
        self.load_report = load_pretrained(self, source.file, may_start_anew=source.may_start_anew)

    def stages(self, x: Variable | Array) -> Iterator[tuple[str, Variable]]:
        """Each stage's name and output, for x (B, 3, H, W)."""
        h = self.conv1(x)
        yield "conv1", h
        h = F.max_pooling_2d(h, 3, 2, 1, cover_all=False)
        yield "pool1", h
        for name in self.layer_names[2:-3]:
            h = self[name](h)
            yield name, h
        h = F.relu(self.norm5(self["block4"](h)))
        yield "block4", h
        h = F.global_average_pooling_2d(h)
        yield "pool5", h
        yield "fc6", self.fc(h)


DenseNet121 = classifier_variant("DenseNet121", partial(DenseNet, 121), "A `DenseNet` of 121 layers")
DenseNet161 = classifier_variant("DenseNet161", partial(DenseNet, 161), "A `DenseNet` of 161 layers")
DenseNet169 = classifier_variant("DenseNet169", partial(DenseNet, 169), "A `DenseNet` of 169 layers")
DenseNet201 = classifier_variant("DenseNet201", partial(DenseNet, 201), "A `DenseNet` of 201 layers")
