"""Fully connected and embedding layers."""

import math
from typing import Any

from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.singa.layers.layer import Layer, check_count, check_input
from cvzoo.singa.operators.arrays import embedding, gemm, matmul
from cvzoo.singa.operators.elementwise import add_bias
from cvzoo.singa.tensor_class import Tensor
from cvzoo.typing.aliases import Array


class Linear(Layer):
    """x W + b: (N, out) of x (N, in).

    Linear(out), or Linear(in, out) as older programs write it; the input's size is learned from the first input
    bias: whether b is added

    W (in, out) starts from a normal distribution of standard deviation sqrt(2 / (in + out)), b (out,) from 0.
    """

    def __init__(self, out_features: int, *args: Any, bias: bool = True):
        self.in_features = out_features if args else None
        self.out_features = args[0] if args else out_features
        check_count("Linear", "out_features", self.out_features)
        self.bias = args[1] if len(args) > 1 else bias

    def initialize(self, x: Tensor) -> None:
        """Create W and b."""
        check_input("Linear", x, 2)
        self.in_features = x.shape[1]
        self.W = Tensor((self.in_features, self.out_features), stores_grad=True)
        self.W.gaussian(0.0, math.sqrt(2.0 / (self.in_features + self.out_features)))
        self.b = Tensor((self.out_features,), stores_grad=True) if self.bias else None

    def forward(self, x: Tensor) -> Tensor:
        """(N, out) of x (N, in)."""
        check_input("Linear", x, 2, self.W.shape[0])
        y = matmul(x, self.W)
        return y if self.b is None else add_bias(y, self.b)


class Gemm(Layer):
    """alpha x' W' + beta b, where ' may transpose.

    nb_kernels: the length of an output row
    W is (nb_kernels, in) with transB, else (in, nb_kernels); b is (1, nb_kernels), or of `bias_shape`
    """

    def __init__(
        self,
        nb_kernels: int,
        alpha: float = 1.0,
        beta: float = 1.0,
        transA: bool = False,
        transB: bool = True,
        bias: bool = True,
        bias_shape: tuple[int, ...] | None = None,
    ):
        check_count("Gemm", "nb_kernels", nb_kernels)
        self.nb_kernels = nb_kernels
        self.alpha = alpha
        self.beta = beta
        self.transA = bool(transA)
        self.transB = bool(transB)
        self.bias = bias
        self.bias_shape = bias_shape

    def initialize(self, x: Tensor) -> None:
        """Create W and b."""
        n = x.shape[0] if self.transA else x.shape[-1]
        self.W = Tensor((self.nb_kernels, n) if self.transB else (n, self.nb_kernels), stores_grad=True)
        self.W.gaussian(0.0, math.sqrt(2.0 / (n + self.nb_kernels)))
        self.b = Tensor(self.bias_shape or (1, self.nb_kernels), stores_grad=True) if self.bias else None

    def forward(self, x: Tensor) -> Tensor:
        """(N, nb_kernels) of x (N, in), or (in, N) with transA."""
        return gemm(x, self.W, self.b, self.alpha, self.beta, self.transA, self.transB)


class Embedding(Layer):
    """Embedding: rows of a table W by index, (..., output_dim) of integers (...).

    input_dim: number of rows of W (input_dim, output_dim)
    initializer: "gaussian", of mean 0 and standard deviation 1, or "uniform", of -1 to 1
    """

    def __init__(self, input_dim: int, output_dim: int, initializer: str = "gaussian"):
        if initializer not in ("gaussian", "uniform"):
            raise ValueRangeError(f"Embedding: unknown initializer {initializer!r}", expected="'gaussian' or 'uniform'")
        check_count("Embedding", "input_dim", input_dim)
        check_count("Embedding", "output_dim", output_dim)
        self.input_dim = input_dim
        self.output_dim = output_dim
        self.initializer = initializer

    def initialize(self, x: Tensor) -> None:
        """Create W."""
        W = Tensor((self.input_dim, self.output_dim), stores_grad=True)
        self.W = W.uniform(-1.0, 1.0) if self.initializer == "uniform" else W.gaussian(0.0, 1.0)

    def from_pretrained(self, W: Tensor | Array, freeze: bool = True) -> None:
        """Load W; with `freeze` it is not trained."""
        self.initialize(Tensor())
        self.__dict__["_initialized"] = True
        self.W.copy_from(W)
        self.W.requires_grad = not freeze

    def forward(self, x: Tensor) -> Tensor:
        """(..., output_dim) of the indices x (...)."""
        return embedding(x, self.W)
