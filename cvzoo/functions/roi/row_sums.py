"""Sparse weighted sums of rows, and their transpose: each result is made of a few rows that an index names."""

from typing import Any

import numpy as np

from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.backends.dispatch import backend_of


class RowSums(FunctionNode):
    """x (N, C) to (M, C): y[m] = sum over k of weights[m, k] * x[places[m, k]].

    places: (M, K) rows of x
    weights: (M, K) float32
    """

    in_float32 = True

    def __init__(self, places: np.ndarray, weights: np.ndarray):
        self.places, self.weights = places, weights

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        (x,) = inputs
        self.n_row = x.shape[0]
        y = np.zeros((len(self.places), x.shape[1]), backend_of(x).to_numpy(x).dtype)
        for place, weight in zip(self.places.T, self.weights.T):
            used = np.flatnonzero(weight)
            if len(used) == len(weight):
                y += weight[:, None] * x[place]
            else:
                y[used] += weight[used, None] * x[place[used]]
        return (y,)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Any, ...]) -> tuple[Any, ...]:
        return RowSumsGrad(self.n_row, self.places, self.weights).apply(gys)


class RowSumsGrad(FunctionNode):
    """gy (M, C) to gx (N, C), in one order, so that sums are the same bits in every run."""

    in_float32 = True

    def __init__(self, n_row: int, places: np.ndarray, weights: np.ndarray):
        self.n_row, self.places, self.weights = n_row, places, weights

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        (gy,) = inputs
        gx = np.zeros((self.n_row, gy.shape[1]), backend_of(gy).to_numpy(gy).dtype)
        for place, weight in zip(self.places.T, self.weights.T):
            used = np.flatnonzero(weight)
            if len(used):
                used = used[np.argsort(place[used], kind="stable")]
                place = place[used]
                first = np.flatnonzero(np.diff(place, prepend=-1))
                gx[place[first]] += np.add.reduceat(weight[used, None] * gy[used], first, axis=0)
        return (gx,)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Any, ...]) -> tuple[Any, ...]:
        return RowSums(self.places, self.weights).apply(gys)
