"""The inverted residual block of mobile networks (Sandler et al., 2018)."""

from collections.abc import Iterator

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable
from cvzoo.links.chain import Chain
from cvzoo.links.connection.conv_2d_bn_activ import ConvNormActiv, Norm
from cvzoo.links.connection.fused_convolution import Activ
from cvzoo.links.connection.se_block import SqueezeExcite2D
from cvzoo.typing.aliases import Array


class InvertedResidual(Chain):
    """project(excite(depthwise(expand(x)))), plus x where the shapes allow.

    expanded: channels of the depthwise convolution; if it is in_channels there is no `expand`
    stride, dilate: of the depthwise convolution; if dilate is above 1 the stride is not applied, but x is added only
        for a stride of 1
    squeezed: hidden channels of the squeeze-and-excite before `project`; None: there is none
    activ: after `expand` and `depthwise`
    squeeze_activ, gate: of the squeeze-and-excite
    shortcut: False: x is never added
    drop: stochastic depth: the probability that the block is skipped in training, where x is added
    norm, eps, decay, pad_end: as in `ConvNormActiv`

    Source: Sandler et al., MobileNetV2, CVPR 2018; with squeeze-and-excite: Tan et al., MnasNet, CVPR 2019.
    """

    def __init__(
        self,
        in_channels: int,
        expanded: int,
        out_channels: int,
        ksize: int = 3,
        stride: int = 1,
        *,
        dilate: int = 1,
        squeezed: int | None = None,
        activ: Activ = F.relu,
        squeeze_activ: Activ = F.relu,
        gate: Activ = F.sigmoid,
        shortcut: bool = True,
        drop: float = 0.0,
        norm: Norm = "batch",
        eps: float = 1e-5,
        decay: float = 0.9,
        pad_end: bool = False,
    ):
        self.has_shortcut = shortcut and stride == 1 and in_channels == out_channels
        self.drop = drop
        with self.init_scope():
            self.expand = None
            # as published: there is no layer for an expansion by 1
            if expanded != in_channels:
                self.expand = ConvNormActiv(in_channels, expanded, 1, activ=activ, norm=norm, eps=eps, decay=decay)
            self.depthwise = ConvNormActiv(
                expanded,
                expanded,
                ksize,
                # a dilation replaces the stride: the map keeps its resolution
                stride if dilate == 1 else 1,
                dilate=dilate,
                groups=expanded,
                activ=activ,
                norm=norm,
                eps=eps,
                decay=decay,
                pad_end=pad_end,
            )
            self.se = None
            if squeezed is not None:
                self.se = SqueezeExcite2D(expanded, squeezed, activ=squeeze_activ, gate=gate)
            self.project = ConvNormActiv(expanded, out_channels, 1, activ=None, norm=norm, eps=eps, decay=decay)

    def forward(self, x: Variable | Array) -> Variable:
        """(B, out_channels, H / stride, W / stride), sides rounded up, of x (B, in_channels, H, W)."""
        return self.after_expand(x if self.expand is None else self.expand(x), x)

    def after_expand(self, h: Variable | Array, x: Variable | Array | None = None) -> Variable:
        """The output of `forward`, from that of `expand` (B, expanded, H, W).

        x: the block's input; not needed without a shortcut
        """
        h = self.depthwise(h)
        if self.se is not None:
            h = self.se(h)
        if not self.has_shortcut:
            return self.project(h)
        assert x is not None  # a shortcut adds it
        if self.drop:
            return F.stochastic_depth(self.project(h), self.drop) + x
        # x as an addend, so that inference fuses the sum into the convolution
        return self.project(h, x)


def sequential_places(theirs: str, ours: str, *, expand: bool, excite: bool) -> Iterator[tuple[str, str]]:
    """(torch's name of a module, our path) of a block whose layers torch numbers 0.0, 0.1, 1.0, ...

    theirs, ours: of the block, such as "features.4.block" and "features/4"
    """
    roles = ("expand",) * expand + ("depthwise",) + ("se",) * excite + ("project",)
    for i, role in enumerate(roles):
        inner = (("fc1", "fc1"), ("fc2", "fc2")) if role == "se" else (("0", "conv"), ("1", "bn"))
        for name, path in inner:
            yield f"{theirs}.{i}.{name}", f"{ours}/{role}/{path}"
