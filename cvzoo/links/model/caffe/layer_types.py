"""Which link runs a layer of each of Caffe's types. The names are Caffe's own, read from files."""

from collections.abc import Callable

from cvzoo.links.link import Link
from cvzoo.links.model.caffe.convolution import make_convolution, make_deconvolution, make_inner_product
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
from cvzoo.links.model.caffe.pooling import Pooling
from cvzoo.links.model.caffe.shaping import Crop, Flatten, Permute, Reshape, Upsample
from cvzoo.weights.caffe.net import CaffeLayer

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
# layers whose tops come from outside: whoever calls the network gives them as inputs
SOURCES = frozenset(["Data", "DummyData", "HDF5Data", "ImageData", "Input", "MemoryData", "WindowData"])
