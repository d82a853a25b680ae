"""ChainerCV's names in the YOLO networks, and ours; its order of a box's numbers."""

from collections.abc import Mapping, Sequence

import numpy as np

from cvzoo.links.model.pretrained.names import Arrays, Names

_STAGES = ("stage2", "stage4", "stage8", "stage16", "stage32")
_BRANCHES = ("branch32", "branch16", "branch8")


def _v2(named: dict[str, np.ndarray], n_class: int | None) -> dict[str, np.ndarray]:
    return _placed(named, _yolo_v2(named))


def _v3(named: dict[str, np.ndarray], n_class: int | None) -> dict[str, np.ndarray]:
    return _placed(named, _yolo_v3(named))


def _placed(arrays: Arrays, places: Mapping[str, str]) -> dict[str, np.ndarray]:
    """The arrays by our names and with darknet's order of a box's numbers; those without a place here keep theirs."""
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
    """YOLOv3: a list of convolutions and residual blocks, whose order says what is what."""
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
    """How many anchors share so many numbers: as many as ever, if that can be."""
    return usual if n_channel % usual == 0 else 1


def _swapped(array: np.ndarray, n_anchor: int) -> np.ndarray:
    """(A * (5 + L), ...), y x h w of each anchor as x y w h."""
    rows = array.reshape(n_anchor, -1, *array.shape[1:]).copy()
    rows[:, :4] = rows[:, [1, 0, 3, 2]]
    return rows.reshape(array.shape)


# ChainerCV's lists of links say by their order what is what
NAMES = {
    "chainercv, YOLOv3": Names(marks=("extractor/0/conv/W", "subnet/0/1/W"), finish=_v3),
    "chainercv, YOLOv2": Names(marks=("extractor/0/conv/W", "subnet/W"), finish=_v2),
}
