"""oneDNN's algorithms for the kinds of eltwise."""

from collections.abc import Callable

# kind: from (alpha, beta) to oneDNN's algorithm and its own alpha and beta. Without log: around 1 the
# error of version 3.2 is 3e-6 to 6e-6, a hundred times NumPy's, which takes a third of the time on one CPU
ELTWISE: dict[str, Callable[[float, float], tuple[int, float, float]]] = {
    "linear": lambda a, b: (0x26, a, b),
    "relu": lambda a, b: (0x20, 0.0, 0.0),
    "leaky_relu": lambda a, b: (0x20, a, 0.0),
    "elu": lambda a, b: (0x22, a, 0.0),
    "clamp": lambda a, b: (0x2F, a, b),
    "clip": lambda a, b: (0x2F, a, b),
    "sigmoid": lambda a, b: (0x29, 0.0, 0.0),
    "tanh": lambda a, b: (0x21, 0.0, 0.0),
    "softplus": lambda a, b: (0x27, a, 0.0),
    "swish": lambda a, b: (0x2C, a, 0.0),
    "gelu_erf": lambda a, b: (0x31, 0.0, 0.0),
    "gelu_tanh": lambda a, b: (0x2B, 0.0, 0.0),
    "hard_sigmoid": lambda a, b: (0x28, a, b),
    "hard_swish": lambda a, b: (0x34, a, b),
    "exp": lambda a, b: (0x2A, 0.0, 0.0),
    "sqrt": lambda a, b: (0x25, 0.0, 0.0),
    "square": lambda a, b: (0x23, 0.0, 0.0),
    "abs": lambda a, b: (0x24, 0.0, 0.0),
}

# the same for derivatives that are computed from the output
ELTWISE_FROM_OUTPUT: dict[str, Callable[[float, float], tuple[int, float, float]]] = {
    "relu": lambda a, b: (0x100, 0.0, 0.0),
    "leaky_relu": lambda a, b: (0x100, a, 0.0),
    "elu": lambda a, b: (0x102, a, 0.0),
    "sigmoid": lambda a, b: (0x104, 0.0, 0.0),
    "tanh": lambda a, b: (0x101, 0.0, 0.0),
    "sqrt": lambda a, b: (0x103, 0.0, 0.0),
    "exp": lambda a, b: (0x105, 0.0, 0.0),
}
