"""Vision Transformers that classify photos."""

import dataclasses
import math
import os
from collections.abc import Iterator, Sequence
from typing import Any

import cvzoo.functions as F
from cvzoo.autodiff.parameter import Parameter
from cvzoo.autodiff.variable import Variable
from cvzoo.errors.exceptions import ShapeError, ValueRangeError
from cvzoo.initializers.normal import LeCunNormal, Normal
from cvzoo.initializers.uniform import GlorotUniform
from cvzoo.links.chain import Chain, ChainList
from cvzoo.links.connection.convolution_2d import Convolution2D
from cvzoo.links.connection.fused_linear import fused_linear
from cvzoo.links.connection.layer_normalization import LayerNormalization
from cvzoo.links.connection.linear import Linear
from cvzoo.links.connection.multi_head_attention import MultiHeadAttention
from cvzoo.links.model.classifier import AbstractClassifier
from cvzoo.links.model.config import AbstractConfig, classes_field, config_field, count_field, preparation_field
from cvzoo.links.model.preparation.center_crop import CenterCrop
from cvzoo.links.model.pretrained.classifier import ClassSource, classifier_source
from cvzoo.links.model.pretrained.load import load_pretrained
from cvzoo.links.model.vit.names import NAMES
from cvzoo.links.model.vit.plan import Plan, Size, plan_of
from cvzoo.links.model.vit.positions import resized_positions
from cvzoo.links.model.vit.weights import WEIGHTS


class ViTBlock(Chain):
    """x + attention(norm1(x)), then that + narrow(gelu(widen(norm2(that)))).

    n_unit: channels of a token; n_head: heads; n_hidden: outputs of `widen`
    """

    def __init__(self, n_unit: int, n_head: int, n_hidden: int):
        with self.init_scope():
            self.norm1 = LayerNormalization(n_unit, eps=1e-6)
            self.attention = MultiHeadAttention(n_unit, n_head)
            self.norm2 = LayerNormalization(n_unit, eps=1e-6)
            self.widen = Linear(n_unit, n_hidden, initialW=GlorotUniform(), initial_bias=Normal(1e-6))
            self.narrow = Linear(n_hidden, n_unit, initialW=GlorotUniform(), initial_bias=Normal(1e-6))

    def forward(self, x: Any) -> Variable:
        """(B, N, n_unit) of x (B, N, n_unit)."""
        h = self.attention(self.norm1(x), add=x)
        return fused_linear(self.narrow, fused_linear(self.widen, self.norm2(h), with_gelu=True), add=h)


@dataclasses.dataclass(frozen=True, kw_only=True)
class ViTConfig(AbstractConfig):
    """What a Vision Transformer is built of; its fields are the constructor's arguments."""

    size: Size = config_field(help="the published network that is meant")
    n_class: int = classes_field()
    insize: int = count_field(help="side of the square that the network sees", unit="pixels")
    plan: Plan = config_field(help="depths and widths")
    preparation: CenterCrop = preparation_field()


class ViT(AbstractClassifier):
    """Names what a photo shows.

    size: "b_16", "b_32", "l_16", "l_32" or "h_14": base, large or huge, and the side of a patch
    n_class: number of classes; None: as many as the file's, or label_names, else 1000
    pretrained_model: "imagenet" (not for "h_14"), "imagenet_swag" (trained on at larger photos) or
        "imagenet_swag_linear" (only the last layer trained) for "b_16", "l_16" and "h_14", not for commercial use; or
        a path of a torchvision file or one that cvzoo saved
    label_names: names of the classes
    insize: side of the square that the network sees, a multiple of a patch; None: as in the file, else 224. For another
        one than in the file the position embeddings are interpolated.
    plan: depths and widths other than those of `size`
    preparation: how a photo is seen, whose crop is insize; None: as the weights were measured, in proportion
    Raises ValueRangeError if names and classes do not agree, or there are no such weights or settings;
    WeightsMismatchError if the file does not fit.

    Stages: patches, block1 and on, norm (all of them (B, 1 + N, n_unit), the class token first, but "patches" without
    it), token (B, n_unit), head.
    Source: Dosovitskiy et al., An image is worth 16x16 words, ICLR 2021.
    """

    def __init__(
        self,
        size: Size = "b_16",
        n_class: int | None = None,
        pretrained_model: str | os.PathLike | None = None,
        *,
        label_names: Sequence[str] | None = None,
        insize: int | None = None,
        plan: Plan | None = None,
        preparation: CenterCrop | None = None,
    ):
        plan = plan_of(size, plan)
        source = classifier_source(
            pretrained_model,
            WEIGHTS[size],
            NAMES,
            heads=("head",),
            n_class=n_class,
            label_names=label_names,
            default=CenterCrop(),
        )
        self.n_class, self.label_names = source.n_class, source.label_names

        self.plan = plan
        if preparation is not None and insize is not None and preparation.crop != insize:
            raise ValueRangeError("ViT: the preparation has another crop", expected=insize, got=preparation.crop)
        wanted = insize if preparation is None else preparation.crop
        self.insize, source = _fitted(source, wanted, self.plan.patch)
        self.preparation = _in_proportion(source.preparation, self.insize) if preparation is None else preparation
        self.config = ViTConfig(
            size=size, n_class=self.n_class, insize=self.insize, plan=plan, preparation=self.preparation
        )
        patch, n_layer, n_head, n_unit, n_hidden = plan
        n_token = 1 + (self.insize // patch) ** 2
        with self.init_scope():
            self.patches = Convolution2D(3, n_unit, patch, patch, initialW=LeCunNormal())
            self.token = Parameter(0, (1, 1, n_unit))
            self.positions = Parameter(Normal(0.02), (1, n_token, n_unit))
            self.blocks = ChainList(*(ViTBlock(n_unit, n_head, n_hidden) for _ in range(n_layer)))
            self.norm = LayerNormalization(n_unit, eps=1e-6)
            self.head = Linear(n_unit, self.n_class, initialW=Normal(0.01))
        self.layer_names = ("patches", *(f"block{i + 1}" for i in range(n_layer)), "norm", "token", "head")
        self.load_report = load_pretrained(self, source.file, may_start_anew=source.may_start_anew)

    def stages(self, x: Any) -> Iterator[tuple[str, Variable]]:
        """Each stage's name and output, for x (B, 3, insize, insize). Raises ShapeError for another size."""
        if x.shape[2:] != (self.insize, self.insize):
            raise ShapeError(
                "ViT: its position embeddings are for photos of one size",
                expected=f"(B, 3, {self.insize}, {self.insize})",
                got=x.shape,
                hint="ViT(..., insize=...)",
            )
        h = self.patches(x)
        b, c = h.shape[:2]
        h = F.transpose(F.reshape(h, (b, c, -1)), (0, 2, 1))  # (B, N, n_unit)
        yield "patches", h
        h = F.concat([F.broadcast_to(self.token, (b, 1, c)), h], axis=1) + self.positions
        for i, block in enumerate(self.blocks):
            h = block(h)
            yield f"block{i + 1}", h
        h = self.norm(h)
        yield "norm", h
        h = h[:, 0]
        yield "token", h
        yield "head", self.head(h)


def _fitted(source: ClassSource, insize: int | None, patch: int) -> tuple[int, ClassSource]:
    """The side of the photo, and the source with position embeddings for it."""
    in_file = None
    if source.file is not None and "positions" in source.file.arrays:
        in_file = patch * math.isqrt(max(source.file.arrays["positions"].shape[1] - 1, 0))
    if insize is None:
        insize = source.preparation.crop if in_file is None else in_file
    if isinstance(insize, bool) or not isinstance(insize, int) or insize < patch or insize % patch:
        raise ValueRangeError("ViT: insize must be a multiple of the patch", expected=f"{patch} * n", got=repr(insize))
    if in_file in (None, insize):
        return insize, source
    arrays = source.file.arrays
    positions = resized_positions(arrays["positions"], insize // patch)
    return insize, source._replace(file=source.file._replace(arrays={**arrays, "positions": positions}))


def _in_proportion(preparation: CenterCrop, insize: int) -> CenterCrop:
    if preparation.crop == insize:
        return preparation
    short = round(preparation.short * insize / preparation.crop)
    return dataclasses.replace(preparation, short=short, crop=insize)
