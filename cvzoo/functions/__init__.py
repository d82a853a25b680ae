"""Every differentiable function; a forward and its backward in one file."""

from cvzoo.functions.activation.relu import relu
from cvzoo.functions.array.broadcast_to import broadcast_to, sum_to
from cvzoo.functions.array.concat import concat, split_axis
from cvzoo.functions.array.get_item import get_item, scatter_add
from cvzoo.functions.array.reshape import reshape
from cvzoo.functions.array.transpose import transpose
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

__all__ = [
    "absolute",
    "add",
    "average",
    "batch_matmul",
    "broadcast_to",
    "concat",
    "divide",
    "floor_divide",
    "get_item",
    "log",
    "matmul",
    "max",
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
]

install_operators()
