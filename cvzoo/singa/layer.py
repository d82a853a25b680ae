"""SINGA's `layer`: layers, with parameters and without."""

from cvzoo.singa.layers.affine import Embedding, Gemm, Linear
from cvzoo.singa.layers.batch_norm import BatchNorm2d
from cvzoo.singa.layers.convolution import Conv2d, SeparableConv2d
from cvzoo.singa.layers.layer import Layer
from cvzoo.singa.layers.pooling import AvgPool1d, AvgPool2d, MaxPool1d, MaxPool2d, Pooling2d
from cvzoo.singa.layers.recurrent import LSTM, RNN, CudnnRNN
from cvzoo.singa.layers.stateless import (
    Add,
    BinaryCrossEntropy,
    Cat,
    CrossEntropy,
    Dropout,
    Flatten,
    Gelu,
    MeanSquareError,
    ReLU,
    Reshape,
    Sigmoid,
    SoftMax,
    SoftMaxCrossEntropy,
    Tanh,
)

__all__ = [
    "Add",
    "AvgPool1d",
    "AvgPool2d",
    "BatchNorm2d",
    "BinaryCrossEntropy",
    "Cat",
    "Conv2d",
    "CrossEntropy",
    "CudnnRNN",
    "Dropout",
    "Embedding",
    "Flatten",
    "Gelu",
    "Gemm",
    "Layer",
    "Linear",
    "LSTM",
    "MaxPool1d",
    "MaxPool2d",
    "MeanSquareError",
    "Pooling2d",
    "ReLU",
    "Reshape",
    "RNN",
    "SeparableConv2d",
    "Sigmoid",
    "SoftMax",
    "SoftMaxCrossEntropy",
    "Tanh",
]
