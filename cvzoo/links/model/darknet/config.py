"""What a darknet detector is built of, as plain values."""

import dataclasses
from collections.abc import Mapping
from typing import Literal

from cvzoo.links.model.config import AbstractConfig, config_field, count_field

Sections = tuple[tuple[str, Mapping[str, str]], ...]


@dataclasses.dataclass(frozen=True, kw_only=True)
class DarknetConfig(AbstractConfig):
    """What a DarknetDetector is built of; its fields are the constructor's arguments."""

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
    """A cfg of these sections; with its last line break it is a text, which is never taken for a path."""
    lines = []
    for name, options in sections:
        lines += [f"[{name}]", *(f"{option}={text}" for option, text in options.items())]
    return "\n".join(lines) + "\n"
