"""Pretrained weights for darknet's detectors of other classes."""

import os
import warnings

import numpy as np

from cvzoo.links.model.darknet.convolution import DarknetConnected, DarknetConvolution
from cvzoo.links.model.darknet.detector import DarknetDetector, cfg_text
from cvzoo.links.model.darknet.heads import with_heads
from cvzoo.links.model.darknet.network import DarknetNetwork
from cvzoo.links.model.pretrained.load import load_pretrained
from cvzoo.links.model.pretrained.source import PretrainedFile, read_pretrained
from cvzoo.reporting.counted import counted
from cvzoo.weights.formats.darknet import DarknetWeightsFile
from cvzoo.weights.sniff import DARKNET, sniff


def load_for_training(model: DarknetDetector, path: str | os.PathLike) -> None:
    """Load what fits of a file to train the detector further.

    path: `.weights` of the same cfg with any number of classes, `.weights` of its first layers alone (such as
        yolov4.conv.137), or a file of a DarknetDetector that cvzoo saved
    The last convolutions of heads of other classes keep their random values, as do layers that the file does not reach;
    a warning says which. Raises FileFormatError that names the layer in which the file ends, or how much is left over;
    WeightsMismatchError that lists the names of another file.
    """
    heads = tuple(f"network/layer{index}/conv" for index in model.network.head_layers)
    if sniff(path) != DARKNET:
        load_pretrained(model, read_pretrained(path, {}, {}, architecture="DarknetDetector"), may_start_anew=heads)
        return
    n_class = _n_class(model, path)
    if n_class is None:
        _load_first_layers(model.network, path)
        return
    network = DarknetNetwork(with_heads(cfg_text(model.config.cfg), n_class), path, size=model.network.input_size)
    arrays = {f"network/{name}": array for name, array in network.state_arrays().items()}
    load_pretrained(model, PretrainedFile(os.fspath(path), arrays), may_start_anew=heads)


def _n_class(model: DarknetDetector, path: str | os.PathLike) -> int | None:
    """The number of classes with which the network has as many values as the file; None if there is none."""
    with DarknetWeightsFile(path) as file:
        n_float = file.n_float
    network = model.network
    arrays = network.state_arrays()
    n_own = sum(np.size(array) for name, array in arrays.items() if not name.endswith("/N"))
    # each class has a value of every anchor, with a weight for every value of the kernel and a bias
    kernels = [arrays[f"layer{index}/conv/W"][0] for index in network.head_layers]
    each = sum((kernel.size + 1) * len(head.anchors) for kernel, head in zip(kernels, network.heads))
    more, rest = divmod(n_float - n_own, each)
    n_class = model.n_fg_class + more
    return n_class if n_class > 0 and not rest else None


def _load_first_layers(network: DarknetNetwork, path: str | os.PathLike) -> None:
    n_loaded = 0
    with DarknetWeightsFile(path) as file:
        for index, layer in enumerate(network.layers):
            if isinstance(layer.run, DarknetConvolution | DarknetConnected) and file.left:
                layer.run.load(file, f"layer {index} ({layer.section})")
                n_loaded = index + 1
        file.expect_end()
    warnings.warn(
        f"{os.fspath(path)}: the first {n_loaded} of {counted(len(network.layers), 'layer')} were loaded, the "
        "others initialized "
        "anew",
        stacklevel=3,
    )
