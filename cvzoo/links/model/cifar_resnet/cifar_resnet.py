"""ResNets for CIFAR (He et al., 2016)."""

import dataclasses
import os
from collections.abc import Iterator, Sequence

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable
from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.links.chain import Chain, ChainList
from cvzoo.links.connection.conv_2d_bn_activ import Conv2DBNActiv
from cvzoo.links.connection.fused_convolution import can_fold, fused_convolution
from cvzoo.links.connection.linear import Linear
from cvzoo.links.model.cifar_resnet.weights import CIFAR10_LABELS, NAMES, PREPARATION, WEIGHTS
from cvzoo.links.model.classifier import AbstractClassifier
from cvzoo.links.model.config import AbstractConfig, classes_field, count_field
from cvzoo.links.model.preparation.center_crop import CenterCrop
from cvzoo.links.model.pretrained.classifier import ClassWeights, classifier_source
from cvzoo.links.model.pretrained.load import load_pretrained
from cvzoo.typing.aliases import Array


class BasicBlock(Chain):
    """relu(conv2(conv1(x)) + x).

    Where the stride is 2 the shortcut takes every second pixel, and is padded with zero channels, half of them before
    its own (option A of the paper).
    """

    def __init__(self, in_channels: int, out_channels: int, stride: int):
        self.stride = stride
        self.n_new = out_channels - in_channels
        with self.init_scope():
            self.conv1 = Conv2DBNActiv(in_channels, out_channels, 3, stride, 1, bn_eps=1e-5)
            self.conv2 = Conv2DBNActiv(out_channels, out_channels, 3, 1, 1, activ=None, bn_eps=1e-5)

    def forward(self, x: Variable | Array) -> Variable:
        """(B, out_channels, H / stride, W / stride) of x (B, in_channels, H, W)."""
        h = self.conv1(x)
        if self.stride > 1:
            x = x[:, :, :: self.stride, :: self.stride]
        if self.n_new:
            front = self.n_new // 2
            x = F.pad(x, ((0, 0), (front, self.n_new - front), (0, 0), (0, 0)), "constant")
        last = self.conv2
        if can_fold(last.conv, last.bn):
            return fused_convolution(last.conv, last.bn)(h, add=x, activation="relu")
        return F.relu(last(h) + x)


_PREPARATION = CenterCrop(32, 32)  # required by weight records; images are resized without a crop


@dataclasses.dataclass(frozen=True, kw_only=True)
class CIFARResNetConfig(AbstractConfig):
    """What a CIFAR ResNet is built from; its fields are the constructor's arguments."""

    n_layer: int = count_field(help="20, 32, 44, 56, or another 6 n + 2")
    n_class: int = classes_field()


class CIFARResNet(AbstractClassifier):
    """CIFAR ResNet of 6 n + 2 layers, an image classifier for 32 x 32 pixels (He et al., 2016).

    n_layer: 20, 32, 44, 56, or another 6 n + 2
    n_class: number of classes; None: those of label_names, else of the file, else 10
    pretrained_model: "cifar10" (20, 32, 44 or 56 layers), or a path of a torch file or one that cvzoo saved; with
        a different number of classes the last layer is initialized anew (see `load_report`)
    label_names: class names; None: CIFAR-10's if there are 10
    Raises ValueRangeError for an invalid depth, unknown weights, or if names and classes differ in number;
    WeightsMismatchError if the file does not fit.
    Source: He et al., Deep Residual Learning for Image Recognition, CVPR 2016, section 4.2, shortcuts of option A.
    Where we differ: images of another size are resized to 32 x 32.
    """

    preparation = PREPARATION
    layer_names = ("conv1", "stage1", "stage2", "stage3", "pool", "fc")

    def __init__(
        self,
        n_layer: int = 20,
        n_class: int | None = None,
        pretrained_model: str | os.PathLike | None = None,
        *,
        label_names: Sequence[str] | None = None,
    ):
        if n_layer < 8 or n_layer % 6 != 2:
            raise ValueRangeError("CIFARResNet: n_layer must be 6 n + 2", expected="20, 32, 44, 56 ...", got=n_layer)
        if n_class is None and label_names is None and pretrained_model is None:
            n_class = len(CIFAR10_LABELS)
        source = classifier_source(
            pretrained_model,
            {name: ClassWeights(record, _PREPARATION) for name, record in WEIGHTS.get(n_layer, {}).items()},
            NAMES,
            heads=("fc",),
            n_class=n_class,
            label_names=label_names,
            default=_PREPARATION,
        )
        self.n_layer = n_layer
        self.config = CIFARResNetConfig(n_layer=n_layer, n_class=source.n_class)
        self.n_class = source.n_class
        is_cifar10 = source.label_names is None and source.n_class == len(CIFAR10_LABELS)
        self.label_names = CIFAR10_LABELS if is_cifar10 else source.label_names
        n = (n_layer - 2) // 6
        with self.init_scope():
            self.conv1 = Conv2DBNActiv(3, 16, 3, 1, 1, bn_eps=1e-5)
            self.stage1 = _stage(16, 16, n, 1)
            self.stage2 = _stage(16, 32, n, 2)
            self.stage3 = _stage(32, 64, n, 2)
            self.fc = Linear(64, self.n_class)
        self.load_report = load_pretrained(self, source.file, may_start_anew=source.may_start_anew)

    def stages(self, x: Variable | Array) -> Iterator[tuple[str, Variable]]:
        """conv1, stage1 to stage3, pool (B, 64), fc: logits (B, n_class), for x (B, 3, H, W)."""
        h = self.conv1(x)
        yield "conv1", h
        for name, stage in zip(("stage1", "stage2", "stage3"), (self.stage1, self.stage2, self.stage3)):
            for block in stage:
                h = block(h)
            yield name, h
        h = F.global_average_pooling_2d(h)
        yield "pool", h
        yield "fc", self.fc(h)


def _stage(in_channels: int, out_channels: int, n: int, stride: int) -> ChainList:
    rest = (BasicBlock(out_channels, out_channels, 1) for _ in range(n - 1))
    return ChainList(BasicBlock(in_channels, out_channels, stride), *rest)
