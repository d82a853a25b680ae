"""Writing a network's numbers as darknet has them."""

import struct

import numpy as np


def write_darknet(path, model):
    """The numbers of all convolutions in the order in which darknet has them: biases, normalization, weights."""
    with open(path, "wb") as file:
        file.write(struct.pack("<3i", 0, 2, 0) + struct.pack("<Q", 1))
        arrays = model.state_arrays()
        for name in arrays:
            if not name.endswith("/W"):
                continue
            stem = name.removesuffix("/W")
            if stem.endswith("/conv"):
                norm = stem.removesuffix("conv") + "bn/"
                leaves = [arrays[norm + leaf] for leaf in ("beta", "gamma", "avg_mean", "avg_var")]
            else:
                leaves = [arrays[stem + "/b"]]
            for leaf in (*leaves, arrays[name]):
                np.asarray(leaf, "<f4").tofile(file)
