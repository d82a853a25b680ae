"""SegNet-Basic, a semantic segmentation network (Badrinarayanan et al., 2017)."""

import dataclasses
import os
from collections.abc import Sequence

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable
from cvzoo.functions.activation.relu import relu
from cvzoo.initializers.normal import HeNormal
from cvzoo.labels.camvid import camvid_label_names
from cvzoo.links.chain import Chain
from cvzoo.links.connection.batch_normalization import BatchNormalization
from cvzoo.links.connection.convolution_2d import Convolution2D
from cvzoo.links.connection.fused_convolution import can_fold, fused_convolution
from cvzoo.links.model.config import AbstractConfig, classes_field, count_field
from cvzoo.links.model.preparation.as_is import AsIs
from cvzoo.links.model.preparation.stretch import Stretch
from cvzoo.links.model.pretrained.classifier import segmenter_source
from cvzoo.links.model.pretrained.load import load_pretrained
from cvzoo.links.model.segmenter import AbstractImageSegmenter
from cvzoo.links.model.segnet.weights import NAMES, RECORDS
from cvzoo.typing.aliases import Array


class SegNetLayer(Chain):
    """SegNet's layer relu(bn(conv(x))), 7 x 7; activ=False leaves out the relu, as the decoder does."""

    def __init__(self, in_channels: int, out_channels: int, *, activ: bool):
        self.activ = activ
        with self.init_scope():
            self.conv = Convolution2D(in_channels, out_channels, 7, 1, 3, nobias=True, initialW=HeNormal())
            self.bn = BatchNormalization(out_channels, initial_beta=0.001)

    def forward(self, x: Variable | Array) -> Variable:
        """(B, out_channels, H, W) of x (B, in_channels, H, W)."""
        if can_fold(self.conv, self.bn):
            return fused_convolution(self.conv, self.bn)(x, activation="relu" if self.activ else None)
        h = self.bn(self.conv(x))
        return relu(h) if self.activ else h


@dataclasses.dataclass(frozen=True, kw_only=True)
class SegNetConfig(AbstractConfig):
    """What a SegNet is built from; its fields are the constructor's arguments."""

    n_class: int = classes_field()
    channels: int = count_field(help="channels of all feature maps")
    insize: tuple[int, int] | None = count_field(
        None, help="(H, W) to which images are resized; None: their own", unit="pixels", group="preparation"
    )


class SegNetBasic(AbstractImageSegmenter):
    """SegNet (basic), a semantic segmentation network with max unpooling (Badrinarayanan et al., 2017).

    n_class: number of classes; None: those of the file, or of label_names, else CamVid's 11
    pretrained_model: "camvid", or the path of a ChainerCV `.npz` or of a file that cvzoo saved
    label_names: class names
    channels: of all feature maps
    insize: (H, W) to which images are resized; None: they keep their own size
    Raises ValueRangeError if names and classes differ in number, or for unknown weights; WeightsMismatchError if the
    file does not fit.

    Source: Badrinarayanan, Kendall and Cipolla, SegNet, PAMI 2017; the network as ChainerCV has it. Where we differ:
    images with sides that are not multiples of 16 keep their resolution, instead of being rounded up and resized.
    """

    preparation: AsIs | Stretch = AsIs(header=("channels", "range"))

    def __init__(
        self,
        n_class: int | None = None,
        pretrained_model: str | os.PathLike | None = None,
        *,
        label_names: Sequence[str] | None = None,
        channels: int = 64,
        insize: tuple[int, int] | None = None,
    ):
        source = segmenter_source(
            pretrained_model,
            RECORDS,
            NAMES,
            heads=("conv_classifier",),
            n_class=n_class,
            label_names=label_names,
            usual_names=(camvid_label_names,),
        )
        self.n_class, self.label_names = source.n_class, source.label_names
        self.config = SegNetConfig(n_class=self.n_class, channels=channels, insize=insize)
        if insize is not None:
            self.preparation = Stretch(insize)  # pyright: ignore[reportIncompatibleMethodOverride]  # an attribute, as the base class allows
        with self.init_scope():
            self.conv1 = SegNetLayer(3, channels, activ=True)
            self.conv2 = SegNetLayer(channels, channels, activ=True)
            self.conv3 = SegNetLayer(channels, channels, activ=True)
            self.conv4 = SegNetLayer(channels, channels, activ=True)
            self.conv_decode4 = SegNetLayer(channels, channels, activ=False)
            self.conv_decode3 = SegNetLayer(channels, channels, activ=False)
            self.conv_decode2 = SegNetLayer(channels, channels, activ=False)
            self.conv_decode1 = SegNetLayer(channels, channels, activ=False)
            self.conv_classifier = Convolution2D(channels, self.n_class, 1, initialW=HeNormal())
        self.load_report = load_pretrained(self, source.file, may_start_anew=source.may_start_anew)

    def training_scores(self, x: Variable | Array) -> tuple[Variable, ...]:
        """The logits, in a tuple of one."""
        return (self.coarse_scores(x),)

    def coarse_scores(self, x: Variable | Array) -> Variable:
        """Logits (B, n_class, H, W) for x (B, 3, H, W) in [0, 255]."""
        h = F.local_response_normalization(x, 5, 1, 1e-4 / 5, 0.75)
        taken = []
        for layer in (self.conv1, self.conv2, self.conv3, self.conv4):
            h = layer(h)
            size = h.shape[2:]
            h, indices = F.max_pooling_2d(h, 2, 2, return_indices=True)
            taken.append((indices, size))
        for layer in (self.conv_decode4, self.conv_decode3, self.conv_decode2, self.conv_decode1):
            indices, size = taken.pop()
            h = layer(F.upsampling_2d(h, indices, 2, 2, outsize=size))
        return self.conv_classifier(h)
