"""Which converter makes ONNX operators of which function: a list of real classes."""

from collections.abc import Callable

from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.export.onnx.converters import activation, arithmetic, arrays, connection, indexing, normalization, pooling
from cvzoo.export.onnx.converters.resizing import resize_images
from cvzoo.export.onnx.onnx_graph import OnnxGraph
from cvzoo.export.onnx.step import Step
from cvzoo.functions.activation.elu import ELU
from cvzoo.functions.activation.gelu import GELU, GELUByTanh
from cvzoo.functions.activation.hard_sigmoid import HardSigmoid, HardSwish
from cvzoo.functions.activation.leaky_relu import LeakyReLU
from cvzoo.functions.activation.prelu import PReLU
from cvzoo.functions.activation.relu import ReLU
from cvzoo.functions.activation.sigmoid import Sigmoid
from cvzoo.functions.activation.softmax import LogSoftmax, Softmax
from cvzoo.functions.activation.softplus import Softplus
from cvzoo.functions.activation.swish import Swish
from cvzoo.functions.activation.tanh import Tanh
from cvzoo.functions.array.broadcast_to import BroadcastTo
from cvzoo.functions.array.cast import Cast
from cvzoo.functions.array.channel_shuffle import ChannelShuffle
from cvzoo.functions.array.concat import Concat, SplitAxis
from cvzoo.functions.array.copy import Copy
from cvzoo.functions.array.get_item import GetItem
from cvzoo.functions.array.pad import Pad
from cvzoo.functions.array.reshape import Reshape
from cvzoo.functions.array.resize_images import ResizeImages
from cvzoo.functions.array.roll import Roll
from cvzoo.functions.array.transpose import Transpose
from cvzoo.functions.array.where import Where
from cvzoo.functions.connection.convolution_2d import Convolution2D, Deconvolution2D
from cvzoo.functions.connection.embed_id import EmbedID
from cvzoo.functions.connection.fused_convolution_2d import FusedConvolution2D
from cvzoo.functions.connection.linear import Linear
from cvzoo.functions.math.absolute import Absolute
from cvzoo.functions.math.add import Add, AddConstant, Negative, Subtract, SubtractConstant, SubtractFromConstant
from cvzoo.functions.math.clip import Clip
from cvzoo.functions.math.divide import Divide, DivideByConstant, DivideConstant
from cvzoo.functions.math.erf import Erf
from cvzoo.functions.math.exp import Exp
from cvzoo.functions.math.extremum import Extremum
from cvzoo.functions.math.log import Log
from cvzoo.functions.math.matmul import MatMul
from cvzoo.functions.math.maximum import Maximum, Minimum
from cvzoo.functions.math.multiply import Multiply, MultiplyConstant
from cvzoo.functions.math.norm import Norm
from cvzoo.functions.math.power import Power, PowerByConstant
from cvzoo.functions.math.prod import Prod
from cvzoo.functions.math.sqrt import Sqrt
from cvzoo.functions.math.square import Square
from cvzoo.functions.math.sum import Sum
from cvzoo.functions.normalization.fixed_batch_normalization import FixedBatchNormalization
from cvzoo.functions.normalization.group_normalization import GroupNormalization
from cvzoo.functions.normalization.layer_normalization import LayerNormalization
from cvzoo.functions.normalization.local_response_normalization import LocalResponseNormalization
from cvzoo.functions.pooling.adaptive_average_pooling_2d import WeighRowsAndColumns
from cvzoo.functions.pooling.average_pooling_2d import AveragePooling2D
from cvzoo.functions.pooling.max_pooling_2d import MaxPooling2D
from cvzoo.functions.pooling.upsampling_2d import Upsampling2D

Converter = Callable[[OnnxGraph, Step], tuple[str, ...]]
named, number = activation.pointwise, arithmetic.with_constant

CONVERTERS: dict[type[FunctionNode], Converter] = {
    # element by element
    Absolute: activation.elementwise,
    Clip: activation.elementwise,
    ELU: activation.elementwise,
    Erf: named("Erf"),
    Exp: activation.elementwise,
    GELU: activation.elementwise,
    GELUByTanh: activation.elementwise,
    HardSigmoid: activation.elementwise,
    HardSwish: activation.elementwise,
    LeakyReLU: activation.elementwise,
    Log: activation.elementwise,
    Negative: named("Neg"),
    PReLU: named("PRelu"),
    ReLU: activation.elementwise,
    Sigmoid: activation.elementwise,
    Softplus: activation.elementwise,
    Sqrt: activation.elementwise,
    Square: arithmetic.square,
    Swish: activation.elementwise,
    Tanh: activation.elementwise,
    LogSoftmax: activation.log_softmax,
    Softmax: activation.softmax,
    # of two arrays, or an array and a number
    Add: named("Add"),
    AddConstant: number("Add"),
    Divide: named("Div"),
    DivideByConstant: number("Div"),
    DivideConstant: number("Div", first=True),
    MatMul: arithmetic.mat_mul,
    Maximum: named("Max"),
    Minimum: named("Min"),
    Multiply: named("Mul"),
    MultiplyConstant: number("Mul"),
    Power: named("Pow"),
    PowerByConstant: number("Pow"),
    Subtract: named("Sub"),
    SubtractConstant: number("Sub"),
    SubtractFromConstant: number("Sub", first=True),
    # along axes
    Extremum: arithmetic.extremum,
    Norm: arithmetic.norm,
    Prod: arithmetic.prod,
    Sum: arithmetic.sum_,
    # with parameters
    Convolution2D: connection.convolution_2d,
    Deconvolution2D: connection.deconvolution_2d,
    EmbedID: connection.embed_id,
    FixedBatchNormalization: normalization.fixed_batch_normalization,
    FusedConvolution2D: connection.fused_convolution_2d,
    GroupNormalization: normalization.group_normalization,
    LayerNormalization: normalization.layer_normalization,
    Linear: connection.linear,
    LocalResponseNormalization: normalization.local_response_normalization,
    # windows
    AveragePooling2D: pooling.average_pooling_2d,
    MaxPooling2D: pooling.max_pooling_2d,
    Upsampling2D: pooling.upsampling_2d,
    WeighRowsAndColumns: pooling.weigh_rows_and_columns,
    # moving numbers
    BroadcastTo: arrays.broadcast_to,
    Cast: arithmetic.cast,
    ChannelShuffle: arrays.channel_shuffle,
    Concat: arrays.concat,
    Copy: named("Identity"),
    GetItem: indexing.get_item,
    Pad: arrays.pad,
    Reshape: arrays.reshape,
    ResizeImages: resize_images,
    Roll: arrays.roll,
    SplitAxis: arrays.split_axis,
    Transpose: arrays.transpose,
    Where: arrays.where,
}
