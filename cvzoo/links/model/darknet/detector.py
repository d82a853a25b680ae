"""A detector from darknet's own files."""

import dataclasses
import os
import pathlib
from collections.abc import Sequence
from typing import Any

from cvzoo.autodiff.variable import Variable
from cvzoo.errors.exceptions import FileFormatError, UnsupportedError, ValueRangeError
from cvzoo.links.model.darknet.config import DarknetConfig, Sections, cfg_text
from cvzoo.links.model.darknet.network import DarknetNetwork
from cvzoo.links.model.decoding.grid_cells import GridCells
from cvzoo.links.model.detector import AbstractOneStageDetector, Preset
from cvzoo.links.model.preparation.letterbox import Letterbox
from cvzoo.links.model.preparation.stretch import Stretch
from cvzoo.links.model.yolo.preparation import Fit, darknet_letterbox, darknet_stretch


class DarknetDetector(AbstractOneStageDetector):
    """YOLOv2, YOLOv3, their tiny forms, YOLOv4, Yolo-Fastest and relatives from public `.cfg` and `.weights` files.

    cfg: the path of the cfg, its text, or its sections as `DarknetConfig` has them
    weights: the path of the `.weights`; None: random numbers
    label_names: the path of a `.names` file (a name a line), or the names themselves; None: numbers
    resize: "stretch" gives the photo the network's proportions, as AlexeyAB's darknet and Yolo-Fastest do;
        "letterbox" keeps the photo's and fills up with grey, as Redmon's darknet does (use it for his files);
        None: what `letter_box=` in the cfg's [net] says, else "stretch"
    size: (H, W) of the network's input, where it is not the cfg's: multiples of 32, as a rule
    clip: whether boxes are cut at the image's edges; else they are where the network places them, and may stick out
    Raises FileFormatError that names the line of the cfg, or the layer at which the weights do not fit;
    UnsupportedError for what cvzoo does not know; ValueRangeError if the names are not as many as the classes.

    >>> model = DarknetDetector("yolo-fastest-1.1.cfg", "yolo-fastest-1.1.weights", label_names="coco.names")
    >>> bboxes, labels, scores = model.predict(["dog.jpg"])
    """

    # 0.25 is the threshold of darknet's own command line
    presets = {"visualize": Preset(0.45, 0.25), "evaluate": Preset(0.45, 0.005)}

    def __init__(
        self,
        cfg: str | os.PathLike | Sections,
        weights: str | os.PathLike | None = None,
        *,
        label_names: str | os.PathLike | Sequence[str] | None = None,
        resize: Fit | None = None,
        size: tuple[int, int] | None = None,
        clip: bool = False,
    ):
        with self.init_scope():
            self.network = DarknetNetwork(cfg_text(cfg) if isinstance(cfg, tuple) else cfg, weights, size=size)
        heads = self.network.heads
        if not heads:
            raise UnsupportedError(
                "the cfg has no [yolo] and no [region], so it detects nothing", hint="DarknetNetwork for a classifier"
            )
        if self.network.in_channels != 3:
            raise UnsupportedError("DarknetDetector reads colour photos", expected=3, got=self.network.in_channels)
        self.n_fg_class = heads[0].n_class
        if any(head.n_class != self.n_fg_class for head in heads):
            raise FileFormatError("the cfg's heads differ in classes=", got=[head.n_class for head in heads])
        self.label_names = read_label_names(label_names, self.n_fg_class)
        if resize is None:
            resize = "letterbox" if self.network.net.get_bool("letter_box", False) else "stretch"
        if resize not in ("stretch", "letterbox"):
            raise ValueRangeError("DarknetDetector: resize", expected="'stretch' or 'letterbox'", got=repr(resize))
        self.resize = resize
        self.clip = bool(clip)
        sections = (self.network.net, *self.network.sections)
        self.config = DarknetConfig(
            cfg=tuple((section.name, dict(section.options)) for section in sections),
            resize=resize,
            size=self.network.input_size,
            clip=self.clip,
        )
        self.use_preset("visualize")

    @property
    def preparation(self) -> Letterbox | Stretch:  # type: ignore[override]
        """In [0, 1], as darknet has it: `resize`d."""
        make = darknet_letterbox if self.resize == "letterbox" else darknet_stretch
        header = ("channels", "mean", ("std", (1.0, 1.0, 1.0)), "fit", "height", "width")
        return dataclasses.replace(make(self.network.input_size), header=header)

    def forward(self, x: Any) -> tuple[Variable, ...]:
        """The inputs of the heads, (B, A * (5 + L), GH, GW) each; x (B, 3, H, W) float32, RGB in [0, 1]."""
        return self.network(x)

    @property
    def decoding(self) -> GridCells:
        """As in `AbstractOneStageDetector`."""
        return GridCells(heads=self.network.heads, letterbox=self.resize == "letterbox")

    def describe(self) -> str:
        return f"{self.n_fg_class} classes, resize={self.resize!r}"


def read_label_names(names: str | os.PathLike | Sequence[str] | None, n_class: int) -> tuple[str, ...] | None:
    """The names of the classes in order; from a file, one a line, blank lines left out; None for None.

    Raises ValueRangeError if they are not `n_class`, FileFormatError if the file is no text, OSError if it is absent.
    """
    if names is None:
        return None
    where = "label_names"
    if isinstance(names, str | os.PathLike):
        where = f"{names}"
        try:
            lines = pathlib.Path(names).read_text(encoding="utf-8-sig").splitlines()
        except UnicodeDecodeError as error:
            raise FileFormatError(f"{names}: not a list of names in UTF-8") from error
        names = [line.strip() for line in lines if line.strip()]
    names = tuple(str(name) for name in names)
    if len(names) != n_class:
        raise ValueRangeError(
            f"{where}: the number of names is not the network's number of classes", expected=n_class, got=len(names)
        )
    return names
