"""The link for each of Caffe's layer types. The names are Caffe's."""

from collections.abc import Callable

from cvzoo.errors.exceptions import UnsupportedError
from cvzoo.links.link import Link
from cvzoo.links.model.caffe.elementwise import (
    Power,
    make_absolute,
    make_dropout,
    make_elu,
    make_prelu,
    make_relu,
    make_sigmoid,
    make_softmax,
    make_tanh,
)
from cvzoo.links.model.caffe.joining import Concat, Eltwise, Silence, Slice, Split
from cvzoo.links.model.caffe.loss import SoftmaxWithLoss
from cvzoo.links.model.caffe.normalization import LRN, BatchNorm, Normalize, make_bias, make_scale
from cvzoo.links.model.caffe.shaping import Crop, Flatten, Permute, Reshape, Upsample
from cvzoo.links.model.caffe.windows import Pooling, make_convolution, make_deconvolution, make_inner_product
from cvzoo.weights.formats.caffe.net import CaffeLayer

MAKERS: dict[str, Callable[[CaffeLayer], Link]] = {
    "AbsVal": make_absolute,
    "BatchNorm": BatchNorm,
    "Bias": make_bias,
    "Concat": Concat,
    "Convolution": make_convolution,
    "Crop": Crop,
    "Deconvolution": make_deconvolution,
    "Dropout": make_dropout,
    "ELU": make_elu,
    "Eltwise": Eltwise,
    "Flatten": Flatten,
    "InnerProduct": make_inner_product,
    "LRN": LRN,
    "Normalize": Normalize,
    "PReLU": make_prelu,
    "Permute": Permute,
    "Pooling": Pooling,
    "Power": Power,
    "ReLU": make_relu,
    "Reshape": Reshape,
    "Scale": make_scale,
    "Sigmoid": make_sigmoid,
    "Silence": Silence,
    "Slice": Slice,
    "Softmax": make_softmax,
    "SoftmaxWithLoss": SoftmaxWithLoss,
    "Split": Split,
    "TanH": make_tanh,
    "Upsample": Upsample,
}
# minimum and maximum numbers of inputs and outputs of a layer, where they are not 1
_MANY = 1 << 16
N_BOTTOM = {
    "Bias": (1, 2),
    "Concat": (1, _MANY),
    "Crop": (2, 2),
    "Eltwise": (1, _MANY),
    "Scale": (1, 2),
    "Silence": (1, _MANY),
    "SoftmaxWithLoss": (2, 2),
}
N_TOP = {"Silence": (0, 0), "Slice": (1, _MANY), "SoftmaxWithLoss": (0, 2), "Split": (1, _MANY)}
# layers whose outputs are inputs of the network
SOURCES = frozenset(["Data", "DummyData", "HDF5Data", "ImageData", "Input", "MemoryData", "WindowData"])


def make_link(layer: CaffeLayer) -> Link | None:
    """The link that runs the layer, None if cvzoo does not support its type.

    Raises UnsupportedError or WeightsMismatchError, naming the layer, if its settings or blobs are invalid.
    """
    maker = MAKERS.get(layer.type)
    if maker is None:
        return None
    for what, names, table in (("bottoms", layer.bottoms, N_BOTTOM), ("tops", layer.tops, N_TOP)):
        least, most = table.get(layer.type, (1, 1))
        if not least <= len(names) <= most:
            want = f"{least}" if least == most else f"{least} or more" if most == _MANY else f"{least} to {most}"
            raise UnsupportedError(f"{layer}: the number of {what}", expected=want, got=list(names))
    return maker(layer)
