"""Weight files of YOLO networks: darknet's, ChainerCV's, or saved by cvzoo."""

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from cvzoo.errors.exceptions import FileFormatError
from cvzoo.labels.coco import coco_bbox_label_names
from cvzoo.labels.voc import voc_bbox_label_names
from cvzoo.links.chain import Chain
from cvzoo.links.connection.convolution_2d import Convolution2D
from cvzoo.links.model.pretrained.load import load_pretrained
from cvzoo.links.model.pretrained.names import Arrays, Names
from cvzoo.links.model.pretrained.source import PretrainedFile, pretrained_path, read_pretrained
from cvzoo.links.model.yolo.darknet import load_darknet
from cvzoo.weights.download import pin_weights
from cvzoo.weights.formats.darknet import DarknetWeightsFile
from cvzoo.weights.record import Weights
from cvzoo.weights.report import LoadReport
from cvzoo.weights.sniff import DARKNET, sniff

_STAGES = ("stage2", "stage4", "stage8", "stage16", "stage32")
_BRANCHES = ("branch32", "branch16", "branch8")


def _v2(named: dict[str, np.ndarray], n_class: int | None) -> dict[str, np.ndarray]:
    return _placed(named, _yolo_v2(named))


def _v3(named: dict[str, np.ndarray], n_class: int | None) -> dict[str, np.ndarray]:
    return _placed(named, _yolo_v3(named))


def _placed(arrays: Arrays, places: Mapping[str, str]) -> dict[str, np.ndarray]:
    """The arrays by cvzoo's names, boxes in darknet's order of values; unknown names stay as they are."""
    # the longest name first: "extractor/3/0" is no part of "extractor/3"
    prefixes = sorted(places, key=len, reverse=True)
    named = {}
    for name, array in arrays.items():
        prefix = next((each for each in prefixes if name.startswith(each + "/")), None)
        named[name if prefix is None else places[prefix] + name[len(prefix) :]] = array
    for place in {"out", *(f"{branch}/out" for branch in _BRANCHES)} & set(places.values()):
        n_anchor = _n_anchor(len(named[f"{place}/b"]), 5 if place == "out" else 3)
        for leaf in ("W", "b"):
            named[f"{place}/{leaf}"] = _swapped(named[f"{place}/{leaf}"], n_anchor)
    return named


def _yolo_v2(arrays: Arrays) -> dict[str, str]:
    """YOLOv2 (22 convolutions before the last) and YOLOv2-tiny (8)."""
    places = {"subnet": "out"}
    if "extractor/21/conv/W" not in arrays:
        return places | {f"extractor/{i}": f"conv{i + 1}" for i in range(8)}
    places |= {f"extractor/{i}": f"extractor/conv{i + 1}" for i in range(18)}
    last = ("conv19", "conv20", "passthrough", "conv21")
    return places | {f"extractor/{18 + i}": name for i, name in enumerate(last)}


def _yolo_v3(arrays: Arrays) -> dict[str, str]:
    """YOLOv3: lists of convolutions and residual blocks, identified by their order."""
    places = {"extractor/0": "extractor/stem"}
    i = 1
    for stage in _STAGES:
        places[f"extractor/{i}"] = f"extractor/{stage}/down"
        i += 1
        k = 0
        while f"extractor/{i}/0/conv/W" in arrays:
            for half in (0, 1):
                places[f"extractor/{i}/{half}"] = f"extractor/{stage}/blocks/{k}/conv{half + 1}"
            i, k = i + 1, k + 1
    for number, branch in enumerate(_BRANCHES):
        lateral = [branch.replace("branch", "lateral")] if number else []
        convs: Sequence[str] = [*lateral, *(f"{branch}/conv{k}" for k in range(1, 6))]
        for name in convs:
            places[f"extractor/{i}"] = name
            i += 1
        places[f"subnet/{number}/0"] = f"{branch}/conv6"
        places[f"subnet/{number}/1"] = f"{branch}/out"
    return places


def _n_anchor(n_channel: int, usual: int) -> int:
    """The number of anchors that an output of n channels has; the default one where it divides n."""
    return usual if n_channel % usual == 0 else 1


def _swapped(array: np.ndarray, n_anchor: int) -> np.ndarray:
    """(A * (5 + L), ...), y x h w of each anchor as x y w h."""
    rows = array.reshape(n_anchor, -1, *array.shape[1:]).copy()
    rows[:, :4] = rows[:, [1, 0, 3, 2]]
    return rows.reshape(array.shape)


# ChainerCV's lists of links are identified by their order
NAMES = {
    "chainercv, YOLOv3": Names(marks=("extractor/0/conv/W", "subnet/0/1/W"), finish=_v3),
    "chainercv, YOLOv2": Names(marks=("extractor/0/conv/W", "subnet/W"), finish=_v2),
}


_NAMES = {len(names): names for names in (voc_bbox_label_names, coco_bbox_label_names)}


class PretrainedYOLO:
    """A file of weights for a network that is being built: `counted` gives its number of classes before the heads are
    built, `load` fills the network.

    pretrained_model: a name in `records`, or a path
    architecture: name of the network in files that cvzoo saved
    Raises ValueRangeError for an unknown name, and what reading the file raises.

    is_darknet: whether it is a `.weights` file: values without names, in the order of the layers
    """

    def __init__(self, pretrained_model: str | os.PathLike, records: Mapping[str, Weights], *, architecture: str):
        path = pretrained_path(pretrained_model, records)
        self.is_darknet = path.suffix.lower() == ".weights" or sniff(path) == DARKNET
        if self.is_darknet:
            self._file = PretrainedFile(os.fspath(path), {})
        else:
            self._file = read_pretrained(path, {}, NAMES, architecture=architecture)

    def anchors(self, *, n_head: int | None = None) -> Any:
        """The anchors in the file, ((height, width), ...), or such for each of n_head; None if it has none.

        Raises FileFormatError if they are malformed.
        """
        stored = None if self._file.header is None else self._file.header.settings.get("anchors")
        if stored is None:
            return None
        try:
            if n_head is None:
                return _pairs(stored)
            heads = tuple(map(_pairs, stored))
            if len(heads) != n_head:
                raise ValueError(f"there are anchors of {len(heads)} heads")
        except (TypeError, ValueError) as error:
            raise FileFormatError(f"{self._file.path}: its anchors are malformed", got=str(error)[:200]) from error
        return heads

    def counted(self, body: Chain, heads: Mapping[str, tuple[int, int]]) -> PretrainedFile:
        """The file with its number of classes; the arrays of a `.weights` are read by `load`.

        body: the network without its heads
        heads: path of a head's convolution -> (channels that it reads, anchors)
        """
        file = self._file
        n = _n_by_count(file.path, body, heads) if self.is_darknet else _n_by_bias(file.arrays, heads)
        names = _NAMES.get(n or 0) if file.header is None else file.header.label_names
        self._file = file._replace(n_class=n, label_names=names)
        return self._file

    def load(self, model: Chain, heads: Mapping[str, tuple[int, int]], *, n_fg_class: int) -> LoadReport:
        """Fill the model; returns the report of what did not fit. Heads of different classes are initialized anew.

        model: the whole network, of n_fg_class classes; heads: as above
        Raises FileFormatError that names the layer in which a `.weights` ends or how much is left over;
        WeightsMismatchError that lists the names of another file.
        """
        file = self._file
        n_class = file.n_class
        if self.is_darknet and (n_class is None or n_class == n_fg_class):
            load_darknet(model, file.path)  # raises for a file of the wrong size
            pin_weights(file.path)
            return LoadReport()
        if (
            self.is_darknet and n_class is not None
        ):  # the heads' values are between the others, and have to be read to get at those
            others = {
                path: Convolution2D(in_channels, n_anchor * (5 + n_class), 1, initialW=0)
                for path, (in_channels, n_anchor) in heads.items()
            }
            load_darknet(model, file.path, instead=others)
            arrays = model.state_arrays()
            for path, conv in others.items():
                arrays |= {f"{path}/{name}": array for name, array in conv.state_arrays().items()}
            file = file._replace(arrays=arrays)
        return load_pretrained(model, file, may_start_anew=tuple(heads))


def _pairs(stored: Sequence[Sequence[float]]) -> tuple[tuple[float, float], ...]:
    return tuple((float(height), float(width)) for height, width in stored)


def _n_by_count(path: str | os.PathLike, body: Chain, heads: Mapping[str, tuple[int, int]]) -> int | None:
    """The number of classes with which the network has as many parameters as the file; None if there is none."""
    with DarknetWeightsFile(path) as file:
        n_float = file.n_float
    n_body = sum(np.size(array) for name, array in body.state_arrays().items() if not name.endswith("/N"))
    # every output value of every anchor has a weight for each channel, and a bias
    each = sum((in_channels + 1) * n_anchor for in_channels, n_anchor in heads.values())
    n, rest = divmod(n_float - n_body - 5 * each, each)
    return n if n > 0 and not rest else None


def _n_by_bias(arrays: Mapping[str, np.ndarray], heads: Mapping[str, tuple[int, int]]) -> int | None:
    """The number of classes of the first head; None without such a head, or if it has different anchors."""
    path, (_, n_anchor) = next(iter(heads.items()))
    n, rest = divmod(np.size(arrays.get(f"{path}/b", ())), n_anchor)
    return n - 5 if n > 5 and not rest else None
