"""Inception v3, an image classifier (Szegedy et al., 2016)."""

import os
from collections.abc import Callable, Iterator, Sequence

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable
from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.initializers.normal import HeNormal
from cvzoo.links.chain import Chain
from cvzoo.links.connection.conv_2d_bn_activ import Conv2DBNActiv
from cvzoo.links.connection.linear import Linear
from cvzoo.links.model.classifier import AbstractClassifier
from cvzoo.links.model.googlenet.mixed import EPS, InceptionConfig, Layer, Mixed, Pool, convolution
from cvzoo.links.model.googlenet.weights import INCEPTION_V3, INCEPTION_V3_PREPARATION, inception_v3_names
from cvzoo.links.model.preparation.center_crop import CenterCrop
from cvzoo.links.model.pretrained.classifier import classifier_source
from cvzoo.links.model.pretrained.load import load_pretrained
from cvzoo.typing.aliases import Array

Branches = tuple[tuple[Layer, ...], ...]
Scaled = Callable[[int], int]


def block_35(scaled: Scaled, pool_channels: int) -> tuple[Branches, Pool]:
    """Figure 5 of the paper, on maps of 35 x 35."""
    return (
        (Layer("branch1x1", scaled(64)),),
        (Layer("branch5x5_1", scaled(48)), Layer("branch5x5_2", scaled(64), 5)),
        _double(scaled, 1),
        (Layer("branch_pool", scaled(pool_channels)),),
    ), "mean"


def _double(scaled: Scaled, stride: int) -> tuple[Layer, ...]:
    n = scaled(96)
    return (
        Layer("branch3x3dbl_1", scaled(64)),
        Layer("branch3x3dbl_2", n, 3),
        Layer("branch3x3dbl_3", n, 3, stride),
    )


def halve_35(scaled: Scaled) -> tuple[Branches, Pool]:
    """Figure 10: from 35 x 35 to 17 x 17."""
    return ((Layer("branch3x3", scaled(384), 3, 2),), _double(scaled, 2), ()), "halve"


def block_17(scaled: Scaled, channels: int) -> tuple[Branches, Pool]:
    """Figure 6, on maps of 17 x 17: 7 x 7 convolutions factorized into 7 x 1 and 1 x 7."""
    n, out = scaled(channels), scaled(192)
    row, column = (1, 7), (7, 1)
    return (
        (Layer("branch1x1", out),),
        (Layer("branch7x7_1", n), Layer("branch7x7_2", n, row), Layer("branch7x7_3", out, column)),
        (
            Layer("branch7x7dbl_1", n),
            Layer("branch7x7dbl_2", n, column),
            Layer("branch7x7dbl_3", n, row),
            Layer("branch7x7dbl_4", n, column),
            Layer("branch7x7dbl_5", out, row),
        ),
        (Layer("branch_pool", out),),
    ), "mean"


def halve_17(scaled: Scaled) -> tuple[Branches, Pool]:
    """From 17 x 17 to 8 x 8."""
    n = scaled(192)
    return (
        (Layer("branch3x3_1", n), Layer("branch3x3_2", scaled(320), 3, 2)),
        (
            Layer("branch7x7x3_1", n),
            Layer("branch7x7x3_2", n, (1, 7)),
            Layer("branch7x7x3_3", n, (7, 1)),
            Layer("branch7x7x3_4", n, 3, 2),
        ),
        (),
    ), "halve"


def block_8(scaled: Scaled) -> tuple[Branches, Pool]:
    """Figure 7, on maps of 8 x 8: 1 x 3 and 3 x 1 convolutions in parallel."""
    n = scaled(384)
    return (
        (Layer("branch1x1", scaled(320)),),
        (Layer("branch3x3_1", n), Layer("branch3x3_2a", n, (1, 3)), Layer("branch3x3_2b", n, (3, 1))),
        (
            Layer("branch3x3dbl_1", scaled(448)),
            Layer("branch3x3dbl_2", n, 3),
            Layer("branch3x3dbl_3a", n, (1, 3)),
            Layer("branch3x3dbl_3b", n, (3, 1)),
        ),
        (Layer("branch_pool", scaled(192)),),
    ), "mean"


def plan(scaled: Scaled) -> dict[str, tuple[Branches, Pool]]:
    """All blocks, by name, in order."""
    return {
        "mixed5b": block_35(scaled, 32),
        "mixed5c": block_35(scaled, 64),
        "mixed5d": block_35(scaled, 64),
        "mixed6a": halve_35(scaled),
        "mixed6b": block_17(scaled, 128),
        "mixed6c": block_17(scaled, 160),
        "mixed6d": block_17(scaled, 160),
        "mixed6e": block_17(scaled, 192),
        "mixed7a": halve_17(scaled),
        "mixed7b": block_8(scaled),
        "mixed7c": block_8(scaled),
    }


# channels, ksize, stride, pad
STEM = {
    "conv1a": (32, 3, 2, 0),
    "conv2a": (32, 3, 1, 0),
    "conv2b": (64, 3, 1, 1),
    "conv3b": (80, 1, 1, 0),
    "conv4a": (192, 3, 1, 0),
}


class InceptionV3Aux(Chain):
    """Auxiliary classifier fc(mean of conv1(conv0(5 x 5 average pooling))), for maps of at least 17 x 17.

    channels: of conv0; conv1 has 6 times as many
    """

    def __init__(self, in_channels: int, channels: int, n_class: int):
        with self.init_scope():
            self.conv0 = convolution(in_channels, Layer("conv0", channels))
            self.conv1 = Conv2DBNActiv(channels, 6 * channels, 5, initialW=HeNormal(), bn_eps=EPS)
            self.fc = Linear(6 * channels, n_class)

    def forward(self, x: Variable | Array) -> Variable:
        """Logits (B, n_class) of x (B, in_channels, H, W)."""
        h = self.conv1(self.conv0(F.average_pooling_2d(x, 5, 3)))
        return self.fc(F.global_average_pooling_2d(h))


class InceptionV3(AbstractClassifier):
    """Inception v3, an image classifier (Szegedy et al., 2016).

    n_class: number of classes; None: those of the file, or of label_names, else 1000
    pretrained_model: "imagenet" (torchvision), or a path of a file of torchvision or one that cvzoo saved
    label_names: class names
    aux: whether there is the auxiliary classifier, for training (`scores_and_aux`)
    width: factor of the paper's channels
    dropout: ratio before the last layer, in training
    preparation: how an image is preprocessed; None: as the weights were evaluated
    Raises ValueRangeError if names and classes differ in number, or for unknown weights;
    WeightsMismatchError if the file does not fit.

    Stages: conv1a, conv2a, conv2b, pool1, conv3b, conv4a, pool2, mixed5b ... mixed5d, mixed6a ... mixed6e, mixed7a ...
    mixed7c, pool5, fc6. Images have at least 75 x 75 pixels.
    Source: Szegedy et al., Rethinking the Inception Architecture for Computer Vision, CVPR 2016; as in torchvision.
    """

    layer_names = (
        "conv1a", "conv2a", "conv2b", "pool1", "conv3b", "conv4a", "pool2", "mixed5b", "mixed5c", "mixed5d", "mixed6a",
        "mixed6b", "mixed6c", "mixed6d", "mixed6e", "mixed7a", "mixed7b", "mixed7c", "pool5", "fc6",
    )  # fmt: skip

    def __init__(
        self,
        n_class: int | None = None,
        pretrained_model: str | os.PathLike | None = None,
        *,
        label_names: Sequence[str] | None = None,
        aux: bool = False,
        width: float = 1.0,
        dropout: float = 0.5,
        preparation: CenterCrop | None = None,
    ):
        source = classifier_source(
            pretrained_model,
            INCEPTION_V3,
            inception_v3_names(aux=aux),
            heads=("fc", "aux/fc"),
            n_class=n_class,
            label_names=label_names,
            default=INCEPTION_V3_PREPARATION,
        )
        self.n_class, self.label_names = source.n_class, source.label_names
        self.preparation = source.preparation if preparation is None else preparation
        self.has_aux = aux
        self.dropout = dropout
        self.config = InceptionConfig(
            n_class=self.n_class, aux=aux, width=width, dropout=dropout, preparation=self.preparation
        )

        def scaled(n: int) -> int:
            return max(1, round(n * width))

        n, outs = 3, {}
        with self.init_scope():
            for name, (channels, ksize, stride, pad) in STEM.items():
                channels = scaled(channels)
                layer = Conv2DBNActiv(n, channels, ksize, stride, pad, initialW=HeNormal(), bn_eps=EPS)
                self.add_link(name, layer)
                n = channels
            for name, (branches, pool) in plan(scaled).items():
                block = self.add_link(name, Mixed(n, branches, pool))
                n = outs[name] = block.channels
            self.fc = Linear(n, self.n_class)
            self.aux = InceptionV3Aux(outs["mixed6e"], scaled(128), self.n_class) if aux else None
        self.load_report = load_pretrained(self, source.file, may_start_anew=source.may_start_anew)

    def stages(self, x: Variable | Array) -> Iterator[tuple[str, Variable]]:
        """Each stage's name and output, for x (B, 3, H, W)."""
        h = x
        for name in self.layer_names[:-2]:
            h = F.max_pooling_2d(h, 3, 2, cover_all=False) if name.startswith("pool") else self[name](h)
            yield name, h
        h = F.global_average_pooling_2d(h)
        yield "pool5", h
        yield "fc6", self.fc(F.dropout(h, self.dropout))

    def scores_and_aux(self, x: Variable | Array) -> tuple[Variable, Variable]:
        """The logits (B, n_class), and those of the auxiliary classifier, whose loss has a weight of 0.4 in training.

        Raises ValueRangeError if the network was built without `aux`.
        """
        if self.aux is None:
            raise ValueRangeError(
                "InceptionV3 was built without the auxiliary classifier", hint="InceptionV3(aux=True)"
            )
        maps = dict(self.stages(x))
        return maps["fc6"], self.aux(maps["mixed6e"])
