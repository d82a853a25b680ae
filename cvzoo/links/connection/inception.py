"""GoogLeNet's Inception modules."""

from cvzoo.autodiff.variable import Variable, as_variable
from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.functions.activation.relu import relu
from cvzoo.functions.array.concat import concat
from cvzoo.functions.pooling.pooling_2d import average_pooling_2d, max_pooling_2d
from cvzoo.links.chain import Chain
from cvzoo.links.connection.batch_normalization import BatchNormalization
from cvzoo.links.connection.convolution_2d import Convolution2D
from cvzoo.links.link import InitialValue
from cvzoo.typing.aliases import Array


class Inception(Chain):
    """The inception module of GoogLeNet: convolutions by 1, 3 and 5 pixels and a max pooling, concatenated.

    in_channels: None: inferred from the first input
    out1: channels of the 1 x 1 convolution
    proj3, out3: input and output channels of the 3 x 3 convolution
    proj5, out5: of the 5 x 5 convolution
    proj_pool: channels of the projection of the pooled input
    conv_init, bias_init: initial filters and biases; LeCunNormal and 0 by default

    Source: Szegedy et al., "Going deeper with convolutions", CVPR 2015. Names are Chainer's.
    """

    def __init__(
        self,
        in_channels: int | None,
        out1: int,
        proj3: int,
        out3: int,
        proj5: int,
        out5: int,
        proj_pool: int,
        conv_init: InitialValue = None,
        bias_init: InitialValue = None,
    ):
        super().__init__()

        def conv(n_in: int | None, n_out: int, ksize: int) -> Convolution2D:
            return Convolution2D(n_in, n_out, ksize, 1, ksize // 2, False, conv_init, bias_init)

        with self.init_scope():
            self.conv1 = conv(in_channels, out1, 1)
            self.proj3 = conv(in_channels, proj3, 1)
            self.conv3 = conv(proj3, out3, 3)
            self.proj5 = conv(in_channels, proj5, 1)
            self.conv5 = conv(proj5, out5, 5)
            self.projp = conv(in_channels, proj_pool, 1)

    def forward(self, x: Variable | Array) -> Variable:
        """(B, out1 + out3 + out5 + proj_pool, H, W) of x (B, C, H, W)."""
        parts = (
            self.conv1(x),
            self.conv3(relu(self.proj3(x))),
            self.conv5(relu(self.proj5(x))),
            self.projp(max_pooling_2d(x, 3, stride=1, pad=1)),
        )
        return relu(concat(parts, axis=1))


class InceptionBN(Chain):
    """The inception module with batch normalization: as `Inception`, with two convolutions by 3 for that by 5 pixels.

    in_channels: None: inferred from the first input
    out1: channels of the 1 x 1 convolution; 0 for none, as with a stride
    proj3, out3: input and output channels of the 3 x 3 convolution
    proj33, out33: of the two consecutive 3 x 3 convolutions
    pooltype: "max" or "avg"
    proj_pool: channels of the projection of the pooled input; None: no projection
    stride: of the last convolution of each branch and of the pooling
    conv_init: initial filters; LeCunNormal by default
    Raises ValueRangeError for an unknown pooltype, or out1 with a stride or without proj_pool.

    Source: Ioffe and Szegedy, "Batch normalization", ICML 2015. Names are Chainer's.
    """

    def __init__(
        self,
        in_channels: int | None,
        out1: int,
        proj3: int,
        out3: int,
        proj33: int,
        out33: int,
        pooltype: str,
        proj_pool: int | None = None,
        stride: int = 1,
        conv_init: InitialValue = None,
    ):
        super().__init__()
        if pooltype not in ("max", "avg"):
            raise ValueRangeError(f"InceptionBN: there is no pooltype {pooltype!r}", expected="'max' or 'avg'")
        if out1 and (stride != 1 or proj_pool is None):
            raise ValueRangeError(
                "InceptionBN: out1 needs stride 1 and a proj_pool", got=f"stride {stride}, proj_pool {proj_pool}"
            )
        self.pooltype = pooltype
        self.stride = stride
        self.out1 = out1

        def add(name: str, n_in: int | None, n_out: int, ksize: int, step: int = 1) -> None:
            setattr(self, name, Convolution2D(n_in, n_out, ksize, step, ksize // 2, True, conv_init))
            setattr(self, f"{name}n", BatchNormalization(n_out))

        with self.init_scope():
            add("proj3", in_channels, proj3, 1)
            add("conv3", proj3, out3, 3, stride)
            add("proj33", in_channels, proj33, 1)
            add("conv33a", proj33, out33, 3)
            add("conv33b", out33, out33, 3, stride)
            if out1:
                add("conv1", in_channels, out1, 1)
            if proj_pool is not None:
                add("poolp", in_channels, proj_pool, 1)

    def forward(self, x: Variable | Array) -> Variable:
        """(B, out1 + out3 + out33 + proj_pool or C, OH, OW) of x (B, C, H, W)."""
        if self.pooltype == "max":
            pooled = max_pooling_2d(x, 3, self.stride, 1, cover_all=False)
        else:
            pooled = average_pooling_2d(x, 3, self.stride, 1)
        parts = [self._through(x, "conv1")] if self.out1 else []
        parts += [self._through(x, "proj3", "conv3"), self._through(x, "proj33", "conv33a", "conv33b")]
        parts.append(self._through(pooled, "poolp") if "poolp" in self._children else pooled)
        return concat(parts, axis=1)

    def _through(self, x: Variable | Array, *names: str) -> Variable:
        h = as_variable(x)
        for name in names:
            h = relu(self[f"{name}n"](self[name](h)))
        return h
