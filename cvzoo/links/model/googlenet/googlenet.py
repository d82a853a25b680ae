"""GoogLeNet, an image classifier (Szegedy et al., 2015)."""

import os
from collections.abc import Iterator, Sequence

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable
from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.initializers.normal import HeNormal
from cvzoo.links.chain import Chain
from cvzoo.links.connection.conv_2d_bn_activ import Conv2DBNActiv
from cvzoo.links.connection.linear import Linear
from cvzoo.links.model.classifier import AbstractClassifier
from cvzoo.links.model.googlenet.mixed import EPS, InceptionConfig, Layer, Mixed, convolution
from cvzoo.links.model.googlenet.weights import GOOGLENET, GOOGLENET_PREPARATION, googlenet_names
from cvzoo.links.model.preparation.center_crop import CenterCrop
from cvzoo.links.model.pretrained.classifier import classifier_source
from cvzoo.links.model.pretrained.load import load_pretrained
from cvzoo.typing.aliases import Array

# channels of the branches of each block: 1 x 1; 1 x 1 and 3 x 3; 1 x 1 and 3 x 3; after max pooling
BLOCKS = {
    "inception3a": (64, 96, 128, 16, 32, 32),
    "inception3b": (128, 128, 192, 32, 96, 64),
    "inception4a": (192, 96, 208, 16, 48, 64),
    "inception4b": (160, 112, 224, 24, 64, 64),
    "inception4c": (128, 128, 256, 24, 64, 64),
    "inception4d": (112, 144, 288, 32, 64, 64),
    "inception4e": (256, 160, 320, 32, 128, 128),
    "inception5a": (256, 160, 320, 32, 128, 128),
    "inception5b": (384, 192, 384, 48, 128, 128),
}


def _block(in_channels: int, widths: Sequence[int]) -> Mixed:
    n1, n2, n3, n4, n5, n6 = widths
    branches = (
        (Layer("branch1", n1),),
        (Layer("branch2_0", n2), Layer("branch2_1", n3, 3)),
        (Layer("branch3_0", n4), Layer("branch3_1", n5, 3)),
        (Layer("branch4_1", n6),),
    )
    return Mixed(in_channels, branches, "max")


class GoogLeNetAux(Chain):
    """Auxiliary classifier fc2(relu(fc1(conv(4 x 4 average pooling of x)))).

    channels: of the 1 x 1 convolution; fc1 has 8 times as many
    """

    def __init__(self, in_channels: int, channels: int, n_class: int):
        with self.init_scope():
            self.conv = convolution(in_channels, Layer("conv", channels))
            self.fc1 = Linear(16 * channels, 8 * channels)
            self.fc2 = Linear(8 * channels, n_class)

    def forward(self, x: Variable | Array) -> Variable:
        """Logits (B, n_class) of x (B, in_channels, H, W)."""
        h = F.relu(self.fc1(self.conv(F.adaptive_average_pooling_2d(x, 4))))
        return self.fc2(F.dropout(h, 0.7))  # the paper's ratio of the auxiliary classifiers


class GoogLeNet(AbstractClassifier):
    """GoogLeNet, an image classifier of Inception modules (Szegedy et al., 2015).

    n_class: number of classes; None: those of the file, or of label_names, else 1000
    pretrained_model: "imagenet" (torchvision), or a path of a file of torchvision or one that cvzoo saved
    label_names: class names
    aux: whether there are the two auxiliary classifiers, for training (`scores_and_aux`)
    width: factor of the paper's channels
    dropout: ratio before the last layer, in training
    preparation: how an image is preprocessed; None: as the weights were evaluated
    Raises ValueRangeError if names and classes differ in number, or for unknown weights;
    WeightsMismatchError if the file does not fit.

    Stages: conv1, pool1, conv2, conv3, pool2, inception3a, inception3b, pool3, inception4a ... inception4e, pool4,
    inception5a, inception5b, pool5, fc6.
    Source: Szegedy et al., Going Deeper with Convolutions, CVPR 2015. As in torchvision: batch normalizations, and
    3 x 3 where the paper has 5 x 5.
    """

    layer_names = (
        "conv1", "pool1", "conv2", "conv3", "pool2", "inception3a", "inception3b", "pool3", "inception4a",
        "inception4b", "inception4c", "inception4d", "inception4e", "pool4", "inception5a", "inception5b", "pool5",
        "fc6",
    )  # fmt: skip

    def __init__(
        self,
        n_class: int | None = None,
        pretrained_model: str | os.PathLike | None = None,
        *,
        label_names: Sequence[str] | None = None,
        aux: bool = False,
        width: float = 1.0,
        dropout: float = 0.2,
        preparation: CenterCrop | None = None,
    ):
        source = classifier_source(
            pretrained_model,
            GOOGLENET,
            googlenet_names(aux=aux),
            heads=("fc", "aux1/fc2", "aux2/fc2"),
            n_class=n_class,
            label_names=label_names,
            default=GOOGLENET_PREPARATION,
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

        n = scaled(192)
        outs = {}
        with self.init_scope():
            self.conv1 = Conv2DBNActiv(3, scaled(64), 7, 2, 3, initialW=HeNormal(), bn_eps=EPS)
            self.conv2 = convolution(scaled(64), Layer("conv2", scaled(64)))
            self.conv3 = convolution(scaled(64), Layer("conv3", n, 3))
            for name, widths in BLOCKS.items():
                block = self.add_link(name, _block(n, [scaled(count) for count in widths]))
                n = outs[name] = block.channels
            self.fc = Linear(n, self.n_class)
            self.aux1 = GoogLeNetAux(outs["inception4a"], scaled(128), self.n_class) if aux else None
            self.aux2 = GoogLeNetAux(outs["inception4d"], scaled(128), self.n_class) if aux else None
        self.load_report = load_pretrained(self, source.file, may_start_anew=source.may_start_anew)

    def stages(self, x: Variable | Array) -> Iterator[tuple[str, Variable]]:
        """Each stage's name and output, for x (B, 3, H, W)."""
        h = x
        for name in self.layer_names[:-2]:
            if name.startswith("pool"):
                h = F.max_pooling_2d(h, 2 if name == "pool4" else 3, 2, cover_all=True)
            else:
                h = self[name](h)
            yield name, h
        h = F.global_average_pooling_2d(h)
        yield "pool5", h
        yield "fc6", self.fc(F.dropout(h, self.dropout))

    def scores_and_aux(self, x: Variable | Array) -> tuple[Variable, Variable, Variable]:
        """The logits (B, n_class), and those of the auxiliary classifiers, whose losses have a weight of 0.3 in
        training.

        Raises ValueRangeError if the network was built without `aux`.
        """
        if self.aux1 is None or self.aux2 is None:
            raise ValueRangeError("GoogLeNet was built without classifiers in the middle", hint="GoogLeNet(aux=True)")
        maps = dict(self.stages(x))
        return maps["fc6"], self.aux1(maps["inception4a"]), self.aux2(maps["inception4d"])
