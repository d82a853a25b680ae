"""Vision Transformer, an image classifier (Dosovitskiy et al., 2021)."""

import dataclasses
import math
import os
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

import numpy as np

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
from cvzoo.links.model.plan_checks import check_plan_numbers, one_of
from cvzoo.links.model.preparation.center_crop import CenterCrop
from cvzoo.links.model.pretrained.classifier import ClassSource, classifier_source
from cvzoo.links.model.pretrained.load import load_pretrained
from cvzoo.links.model.variant import variant
from cvzoo.links.model.vit.weights import NAMES, WEIGHTS
from cvzoo.typing.aliases import Array

Size = Literal["b_16", "b_32", "l_16", "l_32", "h_14"]


class ViTDimensions(NamedTuple):
    """Depth and widths of a Vision Transformer.

    patch: side of a patch, pixels
    n_layer: number of blocks
    n_head: attention heads per block
    n_unit: channels of a token
    n_hidden: hidden units of the MLP
    """

    patch: int
    n_layer: int
    n_head: int
    n_unit: int
    n_hidden: int


# the paper's table 1
PLANS: dict[str, ViTDimensions] = {
    "b_16": ViTDimensions(16, 12, 12, 768, 3072),
    "b_32": ViTDimensions(32, 12, 12, 768, 3072),
    "l_16": ViTDimensions(16, 24, 16, 1024, 4096),
    "l_32": ViTDimensions(32, 24, 16, 1024, 4096),
    "h_14": ViTDimensions(14, 32, 16, 1280, 5120),
}


def plan_of(size: str, plan: ViTDimensions | None) -> ViTDimensions:
    """The plan, or without one that of the size. Raises ValueRangeError for an unknown size or invalid values."""
    usual = one_of(PLANS, size, "ViT: there is no size")
    if plan is None:
        return usual
    check_plan_numbers("ViT: plan", plan._asdict())
    return plan


_CUBIC = -0.75  # the cubic of torch and OpenCV; Pillow's is -0.5


def resized_positions(positions: np.ndarray, side: int) -> np.ndarray:
    """(1, 1 + side * side, C) position embeddings of (1, 1 + N, C); the first, the class token's, is unchanged.

    Raises ShapeError if N is not a square number.
    Source: torchvision: bicubic interpolation (a = -0.75) with aligned corners.
    """
    n = positions.shape[1] - 1 if positions.ndim == 3 else 0
    old = math.isqrt(max(n, 0))
    if n < 1 or old * old != n or len(positions) != 1:
        raise ShapeError(
            "position embeddings are not those of a square of patches",
            expected="(1, 1 + n * n, C)",
            got=positions.shape,
        )
    if old == side:
        return positions
    weights = _cubic_weights(old, side)
    grid = positions[0, 1:].reshape(old, old, -1).astype(np.float64)
    grid = np.einsum("yi,xj,ijc->yxc", weights, weights, grid)
    rest = grid.reshape(1, side * side, -1).astype(positions.dtype)
    return np.concatenate([positions[:, :1], rest], axis=1)


def _cubic_weights(old: int, new: int) -> np.ndarray:
    """(new, old): cubic interpolation weights; positions beyond the ends are clamped."""
    weights = np.zeros((new, old))
    for i in range(new):
        place = i * (old - 1) / (new - 1) if new > 1 else 0.0
        first = math.floor(place)
        for k in range(first - 1, first + 3):
            weights[i, min(max(k, 0), old - 1)] += _cubic(abs(place - k))
    return weights


def _cubic(d: float) -> float:
    if d <= 1:
        return ((_CUBIC + 2) * d - (_CUBIC + 3)) * d * d + 1
    if d < 2:
        return ((_CUBIC * d - 5 * _CUBIC) * d + 8 * _CUBIC) * d - 4 * _CUBIC
    return 0.0


class ViTBlock(Chain):
    """Transformer encoder block: h = x + attention(norm1(x)), then h + narrow(gelu(widen(norm2(h)))).

    n_unit: channels of a token; n_head: heads; n_hidden: outputs of `widen`
    """

    def __init__(self, n_unit: int, n_head: int, n_hidden: int):
        with self.init_scope():
            self.norm1 = LayerNormalization(n_unit, eps=1e-6)
            self.attention = MultiHeadAttention(n_unit, n_head)
            self.norm2 = LayerNormalization(n_unit, eps=1e-6)
            self.widen = Linear(n_unit, n_hidden, initialW=GlorotUniform(), initial_bias=Normal(1e-6))
            self.narrow = Linear(n_hidden, n_unit, initialW=GlorotUniform(), initial_bias=Normal(1e-6))

    def forward(self, x: Variable | Array) -> Variable:
        """(B, N, n_unit) of x (B, N, n_unit)."""
        h = self.attention(self.norm1(x), add=x)
        return fused_linear(self.narrow, fused_linear(self.widen, self.norm2(h), with_gelu=True), add=h)


@dataclasses.dataclass(frozen=True, kw_only=True)
class ViTConfig(AbstractConfig):
    """What a Vision Transformer is built from; its fields are the constructor's arguments."""

    size: Size = config_field(help="the published variant")
    n_class: int = classes_field()
    insize: int = count_field(help="side of the network's square input", unit="pixels")
    plan: ViTDimensions = config_field(help="depths and widths")
    preparation: CenterCrop = preparation_field()


class ViT(AbstractClassifier):
    """Vision Transformer (ViT), an image classifier (Dosovitskiy et al., 2021).

    size: "b_16", "b_32", "l_16", "l_32" or "h_14": base, large or huge, and the side of a patch
    n_class: number of classes; None: those of the file, or of label_names, else 1000
    pretrained_model: "imagenet" (not for "h_14"), "imagenet_swag" (fine-tuned at a higher resolution) or
        "imagenet_swag_linear" (only the last layer fine-tuned) for "b_16", "l_16" and "h_14", not for commercial use;
        or a path of a torchvision file or one that cvzoo saved
    label_names: class names
    insize: side of the network's square input, a multiple of a patch; None: as in the file, else 224. If the
        file's is different, its position embeddings are interpolated.
    plan: depths and widths other than those of `size`
    preparation: how an image is preprocessed, with a crop of insize; None: as the weights were evaluated, in proportion
    Raises ValueRangeError if names and classes differ in number, or for unknown weights or settings;
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
        plan: ViTDimensions | None = None,
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
            raise ValueRangeError("ViT: the preparation's crop is not insize", expected=insize, got=preparation.crop)
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

    def stages(self, x: Variable | Array) -> Iterator[tuple[str, Variable]]:
        """Each stage's name and output, for x (B, 3, insize, insize). Raises ShapeError for another size."""
        if x.shape[2:] != (self.insize, self.insize):
            raise ShapeError(
                "ViT: the input has the wrong size for the position embeddings",
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
    """The side of the input, and the file with position embeddings for it."""
    in_file = None
    if source.file is not None and "positions" in source.file.arrays:
        in_file = patch * math.isqrt(max(source.file.arrays["positions"].shape[1] - 1, 0))
    if insize is None:
        insize = source.preparation.crop if in_file is None else in_file
    if isinstance(insize, bool) or not isinstance(insize, int) or insize < patch or insize % patch:
        raise ValueRangeError("ViT: insize must be a multiple of the patch", expected=f"{patch} * n", got=repr(insize))
    if source.file is None or in_file in (None, insize):
        return insize, source
    arrays = source.file.arrays
    positions = resized_positions(arrays["positions"], insize // patch)
    return insize, source._replace(file=source.file._replace(arrays={**arrays, "positions": positions}))


def _in_proportion(preparation: CenterCrop, insize: int) -> CenterCrop:
    if preparation.crop == insize:
        return preparation
    short = round(preparation.short * insize / preparation.crop)
    return dataclasses.replace(preparation, short=short, crop=insize)


def _vit(
    size: Size,
    n_class: int | None = None,
    pretrained_model: str | os.PathLike | None = None,
    *,
    label_names: Sequence[str] | None = None,
    insize: int | None = None,
) -> ViT:
    return ViT(size, n_class, pretrained_model, label_names=label_names, insize=insize)


ViTB16 = variant("ViTB16", _vit, "b_16", "The base `ViT` on patches of 16 pixels, 87 million parameters")
ViTB32 = variant("ViTB32", _vit, "b_32", "The base `ViT` on patches of 32 pixels, 88 million parameters")
ViTL16 = variant("ViTL16", _vit, "l_16", "The large `ViT` on patches of 16 pixels, 304 million parameters")
ViTL32 = variant("ViTL32", _vit, "l_32", "The large `ViT` on patches of 32 pixels, 307 million parameters")
ViTH14 = variant("ViTH14", _vit, "h_14", "The huge `ViT` on patches of 14 pixels, 632 million parameters")
