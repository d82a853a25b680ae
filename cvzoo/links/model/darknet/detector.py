"""Detectors from darknet's cfg and weights files."""

import dataclasses
import os
import pathlib
from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from cvzoo.autodiff.variable import Variable
from cvzoo.errors.exceptions import FileFormatError, UnsupportedError, ValueRangeError
from cvzoo.links.model.config import AbstractConfig, config_field, count_field
from cvzoo.links.model.darknet.network import DarknetNetwork
from cvzoo.links.model.darknet.weights import MOBILENET_V2_YOLO_V3_NANO_VOC, YOLO_FASTEST_COCO, DarknetFiles
from cvzoo.links.model.decoding.grid_cells import GridCells, RegionHead, YoloHead
from cvzoo.links.model.detector import AbstractOneStageDetector, Preset
from cvzoo.links.model.preparation.letterbox import Letterbox
from cvzoo.links.model.preparation.stretch import Stretch
from cvzoo.links.model.yolo.preparation import Fit, darknet_letterbox, darknet_stretch
from cvzoo.typing.aliases import Array
from cvzoo.weights.download import fetch_weights

Sections = tuple[tuple[str, Mapping[str, str]], ...]


@dataclasses.dataclass(frozen=True, kw_only=True)
class DarknetConfig(AbstractConfig):
    """What a DarknetDetector is built from; its fields are the constructor's arguments."""

    cfg: Sections = config_field(help="sections of the cfg, each its name and its options")
    resize: Literal["stretch", "letterbox"] = config_field(
        help="how an image becomes the network's input: with or without keeping its proportions", adjustable=True
    )
    size: tuple[int, int] = count_field(help="(H, W) of the network's input", unit="pixels")
    clip: bool = config_field(False, help="whether boxes are clipped to the image", adjustable=True)

    def check_together(self) -> None:
        """Raises ValueRangeError for a cfg without sections."""
        self.require(len(self.cfg) > 0, "cfg", "at least one section")


def cfg_text(sections: Sections) -> str:
    """The text of a cfg of these sections; its line breaks distinguish it from a path."""
    lines = []
    for name, options in sections:
        lines += [f"[{name}]", *(f"{option}={text}" for option, text in options.items())]
    return "\n".join(lines) + "\n"


class DarknetDetector(AbstractOneStageDetector):
    """YOLOv2, YOLOv3, their tiny forms, YOLOv4, Yolo-Fastest and relatives from public `.cfg` and `.weights` files.

    cfg: the path of the cfg, its text, or its sections as in `DarknetConfig`
    weights: the path of the `.weights`; None: random initialization
    label_names: the path of a `.names` file (one name per line), or the names themselves; None: no names
    resize: "stretch": resize without keeping the aspect ratio, as AlexeyAB's darknet and Yolo-Fastest do;
        "letterbox": keep it and pad with gray, as Redmon's darknet does (use it for his files); None: according to
        `letter_box=` in the cfg's [net], else "stretch"
    size: (H, W) of the network's input if not the cfg's, usually multiples of 32
    clip: whether boxes are clipped to the image; otherwise they may extend beyond it
    Raises FileFormatError that names the line of the cfg, or the layer for which the weights do not match;
    UnsupportedError for unsupported sections and options; ValueRangeError if names and classes differ in number.

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
            raise UnsupportedError("DarknetDetector reads colour images", expected=3, got=self.network.in_channels)
        self.n_fg_class = heads[0].n_class
        if any(head.n_class != self.n_fg_class for head in heads):
            raise FileFormatError("the cfg's heads differ in classes=", got=[head.n_class for head in heads])
        self.label_names = read_label_names(label_names, self.n_fg_class)
        if resize is None:
            resize = "letterbox" if self.network.net.get_bool("letter_box", False) else "stretch"
        if resize not in ("stretch", "letterbox"):
            raise ValueRangeError(
                "DarknetDetector: resize is unknown", expected="'stretch' or 'letterbox'", got=repr(resize)
            )
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
    def heads(self) -> tuple[YoloHead | RegionHead, ...]:
        """How each output is read."""
        return self.network.heads

    @property
    def preparation(self) -> Letterbox | Stretch:
        """Resized as `resize` says; RGB in [0, 1], as in darknet."""
        make = darknet_letterbox if self.resize == "letterbox" else darknet_stretch
        header = ("channels", "mean", ("std", (1.0, 1.0, 1.0)), "fit", "height", "width")
        return dataclasses.replace(make(self.network.input_size), header=header)

    def forward(self, x: Variable | Array) -> tuple[Variable, ...]:
        """The inputs of the heads, (B, A * (5 + L), GH, GW) each; x (B, 3, H, W) float32, RGB in [0, 1]."""
        outputs = self.network(x)
        return outputs if isinstance(outputs, tuple) else (outputs,)

    @property
    def decoding(self) -> GridCells:
        """As in `AbstractOneStageDetector`."""
        return GridCells(heads=self.heads, letterbox=self.resize == "letterbox")

    def describe(self) -> str:
        return f"{self.n_fg_class} classes, resize={self.resize!r}"


def read_label_names(names: str | os.PathLike | Sequence[str] | None, n_class: int) -> tuple[str, ...] | None:
    """The class names in order; from a file, one per line without blank lines; None for None.

    Raises ValueRangeError if their number is not `n_class`, FileFormatError if the file is no text, OSError if missing.
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


def yolo_fastest(*, progress: Callable[[int, int | None], object] | None = None) -> DarknetDetector:
    """Yolo-Fastest 1.1 for the 80 classes of COCO: 0.35 million parameters, 320 x 320. Downloads 1.4 MB the first time.

    progress: called with (downloaded bytes, total bytes or None) during the download
    Raises DownloadError if a file cannot be downloaded.
    """
    return fetch_detector(YOLO_FASTEST_COCO, progress=progress)


def mobilenet_v2_yolo_v3_nano(*, progress: Callable[[int, int | None], object] | None = None) -> DarknetDetector:
    """MobileNetV2-YOLOv3-Nano for the 20 classes of Pascal VOC, 320 x 320. Downloads 3.1 MB the first time.

    progress: called with (downloaded bytes, total bytes or None) during the download
    Raises DownloadError if a file cannot be downloaded.
    """
    return fetch_detector(MOBILENET_V2_YOLO_V3_NANO_VOC, progress=progress)


def fetch_detector(
    files: DarknetFiles, *, progress: Callable[[int, int | None], object] | None = None
) -> DarknetDetector:
    """The detector of the three records. Raises DownloadError if a file cannot be downloaded."""
    cfg, weights, names = (fetch_weights(record, progress=progress) for record in files)
    return DarknetDetector(cfg, weights, label_names=names)
