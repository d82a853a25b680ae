"""ResNet, ResNeXt, Wide ResNet, SE-ResNet and SE-ResNeXt: image classifiers of any depth and width, and by name."""

import dataclasses
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable
from cvzoo.links.connection.conv_2d_bn_activ import Norm
from cvzoo.links.connection.linear import Linear
from cvzoo.links.model.classifier import AbstractClassifier
from cvzoo.links.model.config import AbstractConfig, classes_field, config_field, count_field
from cvzoo.links.model.preparation.center_crop import CenterCrop
from cvzoo.links.model.preparation.stretch import Stretch
from cvzoo.links.model.pretrained.classifier import classifier_source
from cvzoo.links.model.pretrained.load import load_pretrained
from cvzoo.links.model.resnet.extractor import Arch, Pool, ResNetExtractor, Stem
from cvzoo.links.model.resnet.weights import CLASS_WEIGHTS, NAMES
from cvzoo.links.model.variant import variant
from cvzoo.typing.aliases import Array


@dataclasses.dataclass(frozen=True, kw_only=True)
class ResNetConfig(AbstractConfig):
    """What a ResNet is built from; its fields are the constructor's arguments."""

    n_layer: int = count_field(help="18, 34, 50, 101, 152 or 10")
    base_channels: int = count_field(help="channels of the first convolution; the others in proportion")
    arch: Arch = config_field(help="which convolution of a block has the stride: v1.5: the 3 x 3 one; he: the first")
    stem: Stem = config_field(help="photo: 7 x 7 and a pooling; cifar: 3 x 3; deep: three 3 x 3 and a pooling")
    pool: Pool = config_field(help="how the first pooling treats edges, see ResNetExtractor")
    groups: int = count_field(help="groups of the 3 x 3 convolutions (ResNeXt)")
    base_width: int = count_field(help="channels per group in the first stage")
    se: int = count_field(help="reduction of squeeze-and-excitation; 0: none", at_least=0)
    norm: Norm = config_field(help="normalization: batch, frozen or group")
    eps: float = config_field(help="epsilon of the normalizations", at_least=0)
    n_class: int = classes_field()
    preparation: CenterCrop = config_field(help="how an image is preprocessed", group="preparation")

    @classmethod
    def from_older(cls, settings: Mapping[str, Any]) -> Mapping[str, Any]:
        """A file's settings, completed for files older than groups, squeeze-and-excitation and preparations."""
        if "preparation" in settings or not {"short", "insize"} <= settings.keys():
            return settings
        how = CenterCrop(settings["short"], settings["insize"])
        plain = {"pool": "padded", "groups": 1, "base_width": 64, "se": 0, "preparation": how.to_json()}
        return {name: value for name, value in settings.items() if name not in ("short", "insize")} | plain


class Layout(NamedTuple):
    """Settings of a publisher's networks that the shapes of their arrays do not determine.

    arch, pool, eps: as in `ResNetExtractor`
    """

    arch: Arch = "v1.5"
    pool: Pool = "padded"
    eps: float = 1e-5


def _usual_layout(*, groups: int, se: int) -> Layout:
    """torchvision's; with squeeze-and-excitation the paper's, with Caffe's pooling and strides."""
    if not se:
        return Layout()
    return Layout("he" if groups == 1 else "v1.5", "cover")


def _layout_of(publisher: str | None, *, groups: int, se: int) -> Layout:
    """The layout of a publisher's network; None, for random weights and cvzoo's files: the usual one."""
    usual = _usual_layout(groups=groups, se=se)
    if publisher in ("the authors", "chainercv"):
        return Layout("he" if publisher == "the authors" else usual.arch, "cover", 2e-5)
    return Layout() if publisher == "torchvision" else usual


class ResNet(AbstractClassifier):
    """ResNet, an image classifier (He et al., 2016).

    n_layer: 18, 34, 50, 101 or 152; also 10
    n_class: number of classes; None: those of the file, or of label_names, else 1000
    pretrained_model: "imagenet", or another name of `CLASS_WEIGHTS` for this depth, groups, base_width and se, such as
        "imagenet_v2", "imagenet_he", "imagenet_chainercv"; or a path of a file of torchvision, timm or ChainerCV, or of
        one that cvzoo saved
    label_names: class names
    arch, pool, eps: as in `ResNetExtractor`; None: as the file's publisher, else as torchvision, with
        squeeze-and-excitation as the paper ("he" without groups, "cover")
    base_channels, stem, groups, base_width, se, norm: as in `ResNetExtractor`
    preparation: how an image is preprocessed; None: as the weights were evaluated
    insize: side of the network's square input; None: the preparation's, or 32 with the stem "cifar", where images
        are resized to it without a crop
    short: short side of the resized image before the center crop; None: in proportion to the preparation's
    Raises ValueRangeError if names and classes differ in number, or for unknown weights or settings;
    WeightsMismatchError if the file does not fit.

    Source: He et al., Deep Residual Learning for Image Recognition, CVPR 2016; and see `ResNetExtractor`.
    """

    layer_names = ("conv1", "pool1", "res2", "res3", "res4", "res5", "pool5", "fc6")
    preparation: CenterCrop | Stretch

    def __init__(
        self,
        n_layer: int,
        n_class: int | None = None,
        pretrained_model: str | os.PathLike | None = None,
        *,
        label_names: Sequence[str] | None = None,
        base_channels: int = 64,
        arch: Arch | None = None,
        stem: Stem = "photo",
        pool: Pool | None = None,
        groups: int = 1,
        base_width: int = 64,
        se: int = 0,
        norm: Norm = "batch",
        eps: float | None = None,
        preparation: CenterCrop | None = None,
        insize: int | None = None,
        short: int | None = None,
    ):
        default = CenterCrop()
        source = classifier_source(
            pretrained_model,
            CLASS_WEIGHTS.get((n_layer, groups, base_width, se > 0), {}),
            NAMES,
            heads=("fc",),
            n_class=n_class,
            label_names=label_names,
            default=default,
        )
        layout = _layout_of(None if source.file is None else source.file.publisher, groups=groups, se=se)
        self.n_class, self.label_names = source.n_class, source.label_names
        usual_side = None
        if preparation is None:
            preparation = source.preparation
            usual_side = 32 if stem == "cifar" and preparation == default else None
        if insize is None:
            insize = preparation.crop if usual_side is None else usual_side
        if short is None:
            short = round(insize * preparation.short / preparation.crop)
        preparation = dataclasses.replace(preparation, crop=insize, short=short)
        resized = _with_input_size(preparation, stretched=stem == "cifar")
        self.preparation = resized  # pyright: ignore[reportIncompatibleVariableOverride]  # narrower, set once
        self.stem = stem
        self.config = self.settings = c = ResNetConfig(
            n_layer=n_layer,
            base_channels=base_channels,
            arch=layout.arch if arch is None else arch,
            stem=stem,
            pool=layout.pool if pool is None else pool,
            groups=groups,
            base_width=base_width,
            se=se,
            norm=norm,
            eps=layout.eps if eps is None else eps,
            n_class=self.n_class,
            preparation=preparation,
        )
        with self.init_scope():
            self.extractor = ResNetExtractor(
                n_layer,
                base_channels=base_channels,
                arch=c.arch,
                stem=stem,
                pool=c.pool,
                groups=groups,
                base_width=base_width,
                se=se,
                norm=norm,
                eps=c.eps,
            )
            self.fc = Linear(self.extractor.channels[-1], self.n_class)
        self.load_report = load_pretrained(self, source.file, may_start_anew=source.may_start_anew)

    def stages(self, x: Variable | Array) -> Iterator[tuple[str, Variable]]:
        """conv1, pool1, res2 to res5, pool5 (B, C), fc6: logits, for x (B, 3, H, W), normalized."""
        h: Variable | Array = x
        for name, h in self.extractor.stages(x):
            yield name, h
        h = F.global_average_pooling_2d(h)
        yield "pool5", h
        yield "fc6", self.fc(h)


def _with_input_size(how: CenterCrop, *, stretched: bool) -> CenterCrop | Stretch:
    """The preprocessing; stretched: a resize to the input size without a crop."""
    if not stretched:
        return dataclasses.replace(how, header=("channels", *how.usual_header))
    header = ("channels", ("interpolation", how.interpolation), "mean", "std", "stretched_to")
    return Stretch((how.crop, how.crop), mean=how.mean, std=how.std, value_range=1.0, header=header)


def _of_depth(
    n_layer: int,
    n_class: int | None = None,
    pretrained_model: str | os.PathLike | None = None,
    *,
    label_names: Sequence[str] | None = None,
    arch: Arch | None = None,
    stem: Stem = "photo",
    norm: Norm = "batch",
) -> ResNet:
    return ResNet(n_layer, n_class, pretrained_model, label_names=label_names, arch=arch, stem=stem, norm=norm)


ResNet18 = variant("ResNet18", _of_depth, 18, "A `ResNet` of 18 layers")
ResNet34 = variant("ResNet34", _of_depth, 34, "A `ResNet` of 34 layers")
ResNet50 = variant("ResNet50", _of_depth, 50, "A `ResNet` of 50 layers")
ResNet101 = variant("ResNet101", _of_depth, 101, "A `ResNet` of 101 layers")
ResNet152 = variant("ResNet152", _of_depth, 152, "A `ResNet` of 152 layers")


_SE = 16  # reduction of squeeze-and-excitation


class _Kind(NamedTuple):
    n_layer: int
    groups: int = 1
    base_width: int = 64
    se: int = 0


def _resnet(
    kind: _Kind,
    n_class: int | None = None,
    pretrained_model: str | os.PathLike | None = None,
    *,
    label_names: Sequence[str] | None = None,
    norm: Norm = "batch",
) -> ResNet:
    n_layer, groups, base_width, se = kind
    return ResNet(
        *(n_layer, n_class, pretrained_model),
        label_names=label_names,
        groups=groups,
        base_width=base_width,
        se=se,
        norm=norm,
    )


ResNeXt50_32x4d = variant(
    "ResNeXt50_32x4d",
    _resnet,
    _Kind(50, groups=32, base_width=4),
    "ResNeXt-50 32x4d (Xie et al., 2017), a `ResNet` with grouped convolutions",
)
ResNeXt101_32x4d = variant(
    "ResNeXt101_32x4d",
    _resnet,
    _Kind(101, groups=32, base_width=4),
    "ResNeXt-101 32x4d (Xie et al., 2017), a `ResNet` with grouped convolutions",
)
ResNeXt101_32x8d = variant(
    "ResNeXt101_32x8d",
    _resnet,
    _Kind(101, groups=32, base_width=8),
    "ResNeXt-101 32x8d (Xie et al., 2017), a `ResNet` with grouped convolutions",
)
ResNeXt101_64x4d = variant(
    "ResNeXt101_64x4d",
    _resnet,
    _Kind(101, groups=64, base_width=4),
    "ResNeXt-101 64x4d (Xie et al., 2017), a `ResNet` with grouped convolutions",
)
WideResNet50_2 = variant(
    "WideResNet50_2",
    _resnet,
    _Kind(50, base_width=128),
    "Wide ResNet-50-2 (Zagoruyko and Komodakis, 2016), a `ResNet` with twice the bottleneck width",
)
WideResNet101_2 = variant(
    "WideResNet101_2",
    _resnet,
    _Kind(101, base_width=128),
    "Wide ResNet-101-2 (Zagoruyko and Komodakis, 2016), a `ResNet` with twice the bottleneck width",
)
SEResNet50 = variant(
    "SEResNet50", _resnet, _Kind(50, se=_SE), "SE-ResNet-50 (Hu et al., 2018), a `ResNet` with squeeze-and-excitation"
)
SEResNet101 = variant(
    "SEResNet101",
    _resnet,
    _Kind(101, se=_SE),
    "SE-ResNet-101 (Hu et al., 2018), a `ResNet` with squeeze-and-excitation",
)
SEResNet152 = variant(
    "SEResNet152",
    _resnet,
    _Kind(152, se=_SE),
    "SE-ResNet-152 (Hu et al., 2018), a `ResNet` with squeeze-and-excitation",
)
SEResNeXt50 = variant(
    "SEResNeXt50",
    _resnet,
    _Kind(50, groups=32, base_width=4, se=_SE),
    "SE-ResNeXt-50 32x4d (Hu et al., 2018), a `ResNet` with squeeze-and-excitation",
)
SEResNeXt101 = variant(
    "SEResNeXt101",
    _resnet,
    _Kind(101, groups=32, base_width=4, se=_SE),
    "SE-ResNeXt-101 32x4d (Hu et al., 2018), a `ResNet` with squeeze-and-excitation",
)


def SEResNet(
    n_layer: int,
    n_class: int | None = None,
    pretrained_model: str | os.PathLike | None = None,
    *,
    label_names: Sequence[str] | None = None,
) -> ResNet:
    """SE-ResNet of `n_layer` layers, an image classifier (Hu et al., 2018); arguments as there."""
    return _resnet(_Kind(n_layer, se=_SE), n_class, pretrained_model, label_names=label_names)


def SEResNeXt(
    n_layer: int,
    n_class: int | None = None,
    pretrained_model: str | os.PathLike | None = None,
    *,
    label_names: Sequence[str] | None = None,
) -> ResNet:
    """SE-ResNeXt of `n_layer` layers with 32 groups, an image classifier (Hu et al., 2018); arguments as there."""
    return _resnet(_Kind(n_layer, groups=32, base_width=4, se=_SE), n_class, pretrained_model, label_names=label_names)
