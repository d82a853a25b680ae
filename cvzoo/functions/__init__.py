"""Every differentiable function; a forward and its backward in one file."""

from cvzoo.functions.activation.relu import relu
from cvzoo.functions.array.broadcast_to import broadcast_to, sum_to
from cvzoo.functions.array.concat import concat, split_axis
from cvzoo.functions.array.get_item import get_item, scatter_add
from cvzoo.functions.array.reshape import reshape
from cvzoo.functions.array.transpose import transpose
from cvzoo.functions.connection.channel_sum import channel_sum
from cvzoo.functions.connection.convolution_2d import convolution_2d, deconvolution_2d
from cvzoo.functions.connection.linear import linear
from cvzoo.functions.math.absolute import absolute
from cvzoo.functions.math.add import add, negative, subtract
from cvzoo.functions.math.average import average, mean
from cvzoo.functions.math.divide import divide
from cvzoo.functions.math.extremum import max, min
from cvzoo.functions.math.floor_divide import floor_divide
from cvzoo.functions.math.log import log
from cvzoo.functions.math.matmul import batch_matmul, matmul
from cvzoo.functions.math.multiply import multiply
from cvzoo.functions.math.operators import install_operators
from cvzoo.functions.math.power import power
from cvzoo.functions.math.square import square
from cvzoo.functions.math.sum import sum
from cvzoo.functions.normalization.batch_normalization import batch_normalization
from cvzoo.functions.normalization.fixed_batch_normalization import fixed_batch_normalization
from cvzoo.functions.pooling.average_pooling_2d import average_pooling_2d
from cvzoo.functions.pooling.global_average_pooling_2d import global_average_pooling_2d
from cvzoo.functions.pooling.global_max_pooling_2d import global_max_pooling_2d
from cvzoo.functions.pooling.max_pooling_2d import max_pooling_2d
from cvzoo.functions.pooling.unpooling_2d import unpooling_2d
from cvzoo.functions.pooling.upsampling_2d import upsampling_2d

__all__ = [
    "absolute",
    "add",
    "average",
    "average_pooling_2d",
    "batch_matmul",
    "batch_normalization",
    "broadcast_to",
    "channel_sum",
    "concat",
    "convolution_2d",
    "deconvolution_2d",
    "divide",
    "fixed_batch_normalization",
    "floor_divide",
    "get_item",
    "global_average_pooling_2d",
    "global_max_pooling_2d",
    "linear",
    "log",
    "matmul",
    "max",
    "max_pooling_2d",
    "mean",
    "min",
    "multiply",
    "negative",
    "power",
    "relu",
    "reshape",
    "scatter_add",
    "split_axis",
    "square",
    "subtract",
    "sum",
    "sum_to",
    "transpose",
    "unpooling_2d",
    "upsampling_2d",
]

install_operators()
